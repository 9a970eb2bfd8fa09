//! Files that the tensors of a model refer to.

use super::{Answer, RawDocument, stopped};
use crate::pack::Pack;
use crate::text::Texts;
use alloc::vec::Vec;
use wasm_bindgen::prelude::*;
use weighbridge_core::Span;

#[wasm_bindgen]
impl RawDocument {
    /// The paths of the files that the tensors name.
    #[wasm_bindgen(js_name = otherFiles)]
    pub fn other_files(&mut self) -> Answer {
        let mut names = Texts::default();
        match self.inner.other_files() {
            Ok(others) => others.paths().for_each(|path| names.push(path)),
            Err(stop) => return stopped(&self.inner, stop),
        }
        let mut pack = Pack::default();
        pack.texts(&names);
        Ok(Some(pack.done()))
    }

    /// Appends the files at these offsets, 0 for a file that is missing, with these lengths.
    pub fn attach(&mut self, bases: &[u64], lengths: &[u64]) {
        let spans = bases.iter().zip(lengths);
        let files: Vec<_> =
            spans.map(|(base, len)| (*base > 0).then(|| Span::new(*base, *len))).collect();
        self.inner.attach(&files);
    }
}
