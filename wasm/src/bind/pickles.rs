//! The pickles of the file: what they import, their operations, the storages of a checkpoint.

use super::RawDocument;
use crate::pack::Pack;
use crate::text::Texts;
use alloc::vec::Vec;
use js_sys::Uint8Array;
use wasm_bindgen::prelude::*;
use weighbridge::{Global, Operation, PickleCode, PicklePart, Pickles, Storage, Text};

#[wasm_bindgen]
impl RawDocument {
    /// The names that the pickles of the file import, where they stand, whether they are called, the
    /// offsets of the imports, the number of the pickle of each, and the offsets of the operations.
    pub fn globals(&self) -> Uint8Array {
        let globals = self.inner.session.pickles().map(Pickles::globals).unwrap_or_default();
        let mut names = Texts::default();
        globals.iter().for_each(|global| names.push(global.name()));
        let mut pack = Pack::default();
        pack.texts(&names);
        pack.items(8, globals, Global::offset);
        pack.items(1, globals, |global| global.is_called().into());
        pack.items(1, globals, |global| match global.standing() {
            "listed" => 0,
            "plain data" => 1,
            _ => 2,
        });
        pack.items(4, globals, Global::part);
        pack.items(8, globals, |global| global.decoded_offset().unwrap_or(global.offset()));
        pack.done()
    }

    /// Where the pickles are: names, offsets, lengths, whether they are compressed.
    pub fn pickles(&self) -> Uint8Array {
        let parts = self.inner.session.pickles().map(Pickles::parts).unwrap_or_default();
        let mut names = Texts::default();
        parts
            .iter()
            .for_each(|part| names.push_safe(part.name().unwrap_or_default().as_bytes(), 256));
        let mut pack = Pack::default();
        pack.texts(&names);
        pack.items(8, parts, PicklePart::offset);
        pack.items(8, parts, PicklePart::len);
        pack.items(1, parts, |part| part.is_compressed().into());
        pack.done()
    }

    /// The path of what each name makes that a pickle imports first, and the operations around
    /// offsets. `stored` has the bytes of the pickle in the file.
    pub fn pickle(&self, number: u32, stored: &[u8], offsets: Vec<u64>, count: u32) -> Uint8Array {
        let pickles = self.inner.session.pickles();
        let part = pickles.and_then(|it| it.parts().get(number as usize));
        let code = part.and_then(|part| PickleCode::new(part, stored));
        let globals = pickles.map(Pickles::globals).unwrap_or_default();
        let mut paths = Texts::default();
        let mut has = Vec::new();
        for global in globals {
            let own = code.as_ref().filter(|_| global.part() == u64::from(number));
            let path = own.and_then(|code| code.path(global));
            paths.push_safe(path.unwrap_or_default().as_bytes(), 256);
            has.push(path.is_some());
        }
        let operations = code.map(|code| code.around(&offsets, count as usize)).unwrap_or_default();
        let mut pack = Pack::default();
        pack.texts(&paths);
        pack.items(1, &has, |has| (*has).into());
        pack_operations(&operations, &mut pack);
        pack.done()
    }

    /// The storages of a checkpoint: keys, offsets, bytes in the file, bytes, bytes used, and the
    /// numbers of their tensors, with the end of each list.
    pub fn storages(&self) -> Uint8Array {
        let session = &self.inner.session;
        let listed = session.file().map(|file| session.look(|source| Storage::list(file, source)));
        let storages = listed.and_then(Result::ok).unwrap_or_default();
        let mut keys = Texts::default();
        storages.iter().for_each(|it| keys.push_safe(it.key.as_bytes(), 256));
        let mut pack = Pack::default();
        pack.texts(&keys);
        pack.items(8, &storages, |it| it.offset);
        pack.items(8, &storages, |it| it.stored);
        pack.items(8, &storages, |it| it.size);
        pack.items(8, &storages, |it| it.used);
        let mut end = 0;
        pack.items(4, &storages, |it| {
            end += it.tensors.len() as u64;
            end
        });
        let tensors: Vec<u32> = storages.iter().flat_map(|it| it.tensors.iter().copied()).collect();
        pack.words(tensors.into_iter());
        pack.done()
    }
}

fn pack_operations(operations: &[Operation], pack: &mut Pack) {
    let [mut names, mut arguments, mut faults] = <[Texts; 3]>::default();
    for operation in operations {
        names.push(operation.name);
        arguments.push(&operation.argument);
        let fault = operation.fault.as_deref().unwrap_or_default();
        faults.push(&Text::from(fault).lossy());
    }
    pack.items(8, operations, |operation| operation.number);
    pack.items(8, operations, |operation| operation.offset);
    pack.texts(&names);
    pack.texts(&arguments);
    pack.texts(&faults);
}
