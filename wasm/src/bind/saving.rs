//! A document as a safetensors file.

use super::thrown::{broken, error};
use super::{Answer, RawDocument};
use crate::pack::Pack;
use crate::text::Texts;
use alloc::string::ToString as _;
use js_sys::{Error, Uint8Array};
use wasm_bindgen::prelude::*;
use weighbridge::save::{LeftOut, Saving, Step};
use weighbridge_core::Profile;

/// A safetensors file in the making.
#[wasm_bindgen]
#[derive(Debug)]
pub struct RawSaving {
    inner: Saving,
}

/// An error for JavaScript, without the texts of rules and numbers that only others have.
fn thrown(why: weighbridge::Error) -> Error {
    match why {
        weighbridge::Error::Unsupported(why) | weighbridge::Error::NoArray(why) => {
            error(&why, None)
        }
        weighbridge::Error::Invalid(rule) => broken(rule, None),
        weighbridge::Error::Undecodable(fault) => error(&fault.to_string(), None),
        weighbridge::Error::Memory(_) => error("it takes too much memory", None),
        _ => error("its data cannot be read", None),
    }
}

#[wasm_bindgen]
impl RawSaving {
    /// Without a plan. `force` converts an invalid file too.
    #[wasm_bindgen(constructor)]
    pub fn new(force: bool) -> RawSaving {
        let inner = Saving::new();
        RawSaving { inner: if force { inner.force() } else { inner } }
    }

    /// Plans the file; `false` when bytes are missing.
    ///
    /// # Errors
    /// Why the document cannot be converted.
    pub fn plan(&mut self, document: &mut RawDocument, lenient: bool) -> Result<bool, Error> {
        let document = &mut document.inner;
        if document.is_cut() {
            return Err(error("it has more tensors than fit into memory", None));
        }
        if document.joint.is_some() {
            return Err(error("files of one model are converted by the command only", None));
        }
        let profile = if lenient { Profile::Lenient } else { Profile::Strict };
        let planned = self.inner.plan(&mut document.session, &document.index, profile);
        planned.map_err(thrown)
    }

    /// The length of the file and what is in it: its tensors, and those and the metadata that are
    /// left out, with reasons; tied names, with the names that are kept.
    pub fn facts(&self) -> Uint8Array {
        let mut pack = Pack::default();
        pack.u64(self.inner.len().unwrap_or(0));
        pack.u32(self.inner.tensors() as u32);
        for left in [self.inner.left_out(), self.inner.metadata_left_out()] {
            pack.texts(&texts(left, |it: &LeftOut| it.name.lossy()));
            pack.texts(&texts(left, |it| it.why.as_str().into()));
        }
        let tied = self.inner.tied();
        pack.texts(&texts(tied, |it| it.name.as_str().into()));
        pack.texts(&texts(tied, |it| it.kept.as_str().into()));
        pack.done()
    }

    /// The next part: bytes (0), a range of the document's file (1), or nothing (2). `undefined` when
    /// bytes are missing.
    pub fn next(&mut self, document: &mut RawDocument) -> Answer {
        let document = &mut document.inner;
        let step = self.inner.next(&mut document.session, &document.index);
        let mut pack = Pack::default();
        match step.map_err(thrown)? {
            Step::Need => return Ok(None),
            Step::Bytes(bytes) => {
                pack.u32(0);
                pack.bytes(&bytes);
            }
            Step::Copy(span) => {
                pack.u32(1);
                pack.u64(span.offset);
                pack.u64(span.len);
            }
            Step::Done => pack.u32(2),
        }
        Ok(Some(pack.done()))
    }
}

fn texts<T>(items: &[T], text: impl Fn(&T) -> alloc::borrow::Cow<'_, str>) -> Texts {
    let mut texts = Texts::default();
    items.iter().for_each(|item| texts.push(&text(item)));
    texts
}
