//! Inputs and outputs of a subgraph, for programs that run a model.

use super::reads::{Memo, Reads};
use super::{Header, list};
use crate::input::Source;
use crate::parse::{Reader, Stop};
use crate::rule::Halt;

/// The fields of a subgraph.
const INPUTS: u8 = 1;
const OUTPUTS: u8 = 2;

impl Header {
    /// Input `number` of a subgraph, as the position of its tensor in the listing; `None` if there
    /// is no such input, or no such tensor.
    ///
    /// # Errors
    /// [`Stop::NeedBytes`]: the tables on the way must be resident at the same time.
    pub fn input(
        &self,
        source: &Source<'_>,
        subgraph: u32,
        number: u32,
    ) -> Result<Option<u32>, Stop> {
        self.end(source, INPUTS, subgraph, number)
    }

    /// Output `number` of a subgraph, likewise.
    ///
    /// # Errors
    /// As [`input`](Self::input).
    pub fn output(
        &self,
        source: &Source<'_>,
        subgraph: u32,
        number: u32,
    ) -> Result<Option<u32>, Stop> {
        self.end(source, OUTPUTS, subgraph, number)
    }

    fn end(
        &self,
        source: &Source<'_>,
        field: u8,
        subgraph: u32,
        number: u32,
    ) -> Result<Option<u32>, Stop> {
        let mut sink = |_| {};
        let mut r = Reader::new(source, &mut sink);
        self.place_of(&mut r, field, subgraph, number).map_err(|halt| r.stop(halt))
    }

    fn place_of(
        &self,
        r: &mut Reader<'_, '_>,
        field: u8,
        subgraph: u32,
        number: u32,
    ) -> Result<Option<u32>, Halt> {
        let list = self.list(list::SUBGRAPHS);
        if subgraph >= list.count {
            return Ok(None);
        }
        let mut memo = Memo::NONE;
        let mut before = 0_u32;
        for earlier in 0..subgraph {
            memo.clear();
            let mut reads = Reads::new(r, &mut memo);
            let table = reads.item(list, earlier)?;
            before = before.saturating_add(reads.vector(&table, 0)?.count);
        }
        memo.clear();
        let mut reads = Reads::new(r, &mut memo);
        let table = reads.item(list, subgraph)?;
        let tensors = reads.vector(&table, 0)?;
        let ends = reads.vector(&table, field)?;
        if number >= ends.count {
            return Ok(None);
        }
        let index = u32::try_from(reads.number(ends.place(number, 4), 4)?).unwrap_or(u32::MAX);
        Ok((index < tensors.count).then(|| before.saturating_add(index)))
    }
}
