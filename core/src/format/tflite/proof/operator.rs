//! Proves that an operator is sound: its code, its options, and the tensors that it reads and writes.

use super::super::list;
use super::super::operators::{self, Calls, UNIONS};
use super::{Proof, items};
use crate::format::Memory;
use crate::format::flatbuffer::Found;

/// Whether options of this kind have numbers of subgraphs.
#[inline]
fn call(union: u8, kind: u8) -> bool {
    kind != 0 && operators::calls(union, kind) != Calls::None
}

impl<M: Memory> Proof<'_, '_, M> {
    /// Proves the next operator of the current subgraph.
    pub(super) fn operator(&mut self, found: &Found<'_>) -> Option<()> {
        let file = self.bytes;
        let [first, second] = UNIONS;
        let kind = file.byte(found.field(first))?;
        if call(first, kind) || call(second, file.byte(found.field(second))?) {
            return None;
        }
        self.code(file.number(found.field(0))?, kind)?;
        // Options behind the flatbuffer are rare.
        if file.long(found.field(9))? != 0 || file.long(found.field(10))? != 0 {
            return None;
        }
        let inputs = file.vector(found.field(1))?;
        let outputs = file.vector(found.field(2))?;
        let mutating = file.vector(found.field(7))?.count;
        let internal = file.vector(found.field(8))?;
        if outputs.at == 0 || mutating != 0 && mutating != inputs.count {
            return None;
        }
        for index in file.items(inputs)? {
            // An optional input is left out.
            if *index == [u8::MAX; 4] {
                continue;
            }
            let tensor = self.index(*index)?;
            if !self.is_marked(self.written, tensor)? {
                return None;
            }
        }
        for index in file.items(outputs)? {
            let tensor = self.index(*index)?;
            if self.mark(self.written, tensor)? {
                return None;
            }
        }
        for index in file.items(internal)? {
            self.index(*index)?;
        }
        Some(())
    }

    /// The code exists, and the options are of its kind.
    #[inline]
    fn code(&self, number: u32, kind: u8) -> Option<()> {
        let file = self.bytes;
        let codes = self.header.list(list::CODES);
        if number >= codes.count {
            return None;
        }
        if kind == 0 {
            return Some(());
        }
        let table = file.open(file.table(items(codes), usize::try_from(number).ok()?)?)?;
        let old = file.byte(table.field(0))?.cast_signed();
        let new = file.number(table.field(3))?.cast_signed();
        // A wrong code is reported with the codes.
        let Ok(code) = u32::try_from(new.max(old.into())) else { return Some(()) };
        let is_known = code <= operators::LAST && code != operators::PLACEHOLDER;
        (!is_known || operators::options(code) == kind).then_some(())
    }
}
