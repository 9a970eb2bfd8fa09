//! Documents of several files that form one model.

use super::{Answer, RawDocument, stopped};
use crate::pack::Pack;
use crate::text::Texts;
use wasm_bindgen::prelude::*;
use weighbridge::{SetCheck, SetPlace};
use weighbridge_core::Profile;

#[wasm_bindgen]
impl RawDocument {
    /// Adds the tensors of a file that begins at `base`.
    pub fn join(&mut self, part: &RawDocument, base: u64) {
        self.inner.index.join(&part.inner.index, base);
    }

    /// The names of the files that this index lists, how many tensors it lists for each, and
    /// how many of them that has.
    pub fn listed(&mut self, seed: u64) -> Answer {
        let mut names = Texts::default();
        match self.inner.listed(seed) {
            Ok(set) => set.files().for_each(|name| names.push(name)),
            Err(stop) => return stopped(&self.inner, stop),
        }
        let mut pack = Pack::default();
        pack.texts(&names);
        let listed = || self.inner.listed.as_ref().map(|(set, _)| set.counts());
        let counts = self.inner.joint.as_ref().and_then(SetCheck::counts).or_else(listed);
        let counts = counts.unwrap_or_default();
        let count = |i: usize| counts.get(i).copied().unwrap_or_default();
        pack.column(4, counts.len(), &mut |i| count(i).0.into());
        pack.column(4, counts.len(), &mut |i| count(i).1.into());
        Ok(Some(pack.done()))
    }

    /// Begins to compare the files of the set; `false` when bytes are missing.
    pub fn begin(&mut self, lenient: bool, seed: u64) -> bool {
        let profile = if lenient { Profile::Lenient } else { Profile::Strict };
        self.inner.begin(profile, seed).is_ok()
    }

    /// Compares file number `no`, from 0, which is there; `first` and `first_entry` are its first
    /// tensor and metadata entry among all.
    #[wasm_bindgen(js_name = addPart)]
    pub fn add_part(
        &mut self,
        part: &RawDocument,
        no: u32,
        name: &str,
        base: u64,
        first: u32,
        first_entry: u32,
    ) {
        self.inner.add_part(&part.inner, SetPlace { no, name, base, first, first_entry });
    }

    /// Notes that file number `no` is missing, or cannot be read.
    #[wasm_bindgen(js_name = addAbsent)]
    pub fn add_absent(&mut self, no: u32, missing: bool) {
        if let Some(joint) = &mut self.inner.joint {
            joint.absent(no, missing);
        }
    }

    /// Compares what all files together have; `false` when bytes are missing.
    pub fn end(&mut self) -> bool {
        self.inner.end().is_ok()
    }
}
