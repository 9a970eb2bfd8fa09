//! What the pickles of a file import.

use super::RawDocument;
use crate::pack::Pack;
use crate::text::Texts;
use js_sys::Uint8Array;
use wasm_bindgen::prelude::*;
use weighbridge::{Global, Pickles};

#[wasm_bindgen]
impl RawDocument {
    /// The names that the pickles of the file import, where they stand, whether they are called, and
    /// the offsets of the imports.
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
        pack.done()
    }
}
