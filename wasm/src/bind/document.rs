//! A document, and facts about it as a whole.

use super::thrown::{self, error};
use crate::document::{Document, Goal};
use crate::pack::Pack;
use crate::text::push_decimal;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;
use js_sys::{Error, Uint8Array};

use wasm_bindgen::prelude::*;
use weighbridge::{Diagnosis, DiagnosisKind, Options};
use weighbridge_core::{Format, Profile, Severity, Stop};

#[wasm_bindgen]
extern "C" {
    /// Avoids the assertion in `Uint8Array::copy_to`, which would pull in `core::fmt`.
    #[wasm_bindgen(js_namespace = ["Uint8Array", "prototype", "set"], js_name = call)]
    fn copy(into: &mut [u8], from: &Uint8Array);
}

/// A document, as JavaScript holds it.
#[wasm_bindgen]
#[derive(Debug)]
pub struct RawDocument {
    pub(super) inner: Document,
}

/// A packed answer: `undefined` if bytes are missing.
pub(super) type Answer = Result<Option<Uint8Array>, Error>;

/// Packs the parser's answer with `write`: `undefined` if bytes are missing, or if the file is not
/// open.
pub(super) fn answer<T>(
    document: &Document,
    result: Result<Option<T>, Stop>,
    write: impl FnOnce(T, &mut Pack),
) -> Answer {
    match result {
        Ok(Some(value)) => {
            let mut pack = Pack::default();
            write(value, &mut pack);
            Ok(Some(pack.done()))
        }
        Ok(None) => Ok(None),
        Err(stop) => stopped(document, stop),
    }
}

/// Why there is no answer.
#[inline(never)]
pub(super) fn stopped(document: &Document, stop: Stop) -> Answer {
    match stop {
        Stop::NeedBytes(_) => Ok(None),
        Stop::Invalid(rule) => {
            let known = document.session.findings().iter().find(|finding| finding.rule == rule);
            Err(thrown::broken(rule, known.map(|finding| finding.offset)))
        }
        Stop::NeedSlots { .. } | Stop::NeedBuffer { .. } => Err(error("not enough memory", None)),
    }
}

#[wasm_bindgen]
impl RawDocument {
    /// A document of a file of `length` bytes. `format` and `file_name` may be
    /// empty.
    #[wasm_bindgen(constructor)]
    pub fn new(
        length: u64,
        format: &str,
        file_name: &str,
        seed: u64,
        budget: f64,
        granule: f64,
    ) -> RawDocument {
        let options = Options::new().granule(granule as u64).kept(budget as u64).seed(seed);
        let format = Format::by_name(format).filter(|format| format.is_available());
        let options = match format {
            Some(format) => options.format(format),
            None => options.file_name(file_name),
        };
        RawDocument { inner: Document::new(length, options) }
    }

    /// Works towards a goal: 0 index, 1 structure, 2 payloads.
    pub fn advance(&mut self, goal: u32) -> bool {
        self.inner.advance(match goal {
            0 => Goal::Index,
            1 => Goal::Structure,
            _ => Goal::Payloads,
        })
    }

    /// Pairs of offset and length that are missing.
    pub fn need(&self) -> Vec<u64> {
        let mut pairs = Vec::new();
        for need in self.inner.session.needs() {
            pairs.push(need.offset);
            pairs.push(need.len);
        }
        pairs
    }

    /// Adds bytes of the file, which are copied.
    pub fn supply(&mut self, at: u64, bytes: &Uint8Array) {
        let mut kept = vec![0; bytes.length() as usize];
        copy(&mut kept, bytes);
        self.inner.session.supply(at, kept);
    }

    /// Stage, entries, bytes supplied.
    pub fn progress(&self) -> Uint8Array {
        let (stage, entries) = self.inner.progress();
        let mut pack = Pack::default();
        pack.text(stage);
        pack.u32(entries);
        pack.u64(self.inner.session.supplied());
        pack.done()
    }

    /// What the header says, and how much is listed.
    pub fn facts(&self) -> Uint8Array {
        let inner = &self.inner;
        let mut pack = Pack::default();
        let format = inner.session.format();
        pack.optional_text(format.map(|format| format.name()));
        pack.optional_text(format.map(|format| format.title()));
        let mut version = String::new();
        for part in
            inner.session.file().and_then(|file| file.version()).iter().flat_map(|v| v.shown())
        {
            if !version.is_empty() {
                version.push('.');
            }
            push_decimal((*part).into(), &mut version);
        }
        pack.optional_text(Some(version.as_str()).filter(|version| !version.is_empty()));
        let flags = [inner.refused(), inner.is_unknown(), inner.is_cut(), inner.needs_full()];
        for flag in flags {
            pack.u32(flag.into());
        }
        pack.u32(inner.index.len() as u32);
        pack.u32(inner.metadata.len() as u32);
        pack.u32(inner.all_findings().len() as u32);
        pack.done()
    }

    /// Words from number `from` on, for the codes in packed tables.
    pub fn words(&self, from: u32) -> Uint8Array {
        let mut pack = Pack::default();
        let words = self.inner.words.all().get(from as usize..).unwrap_or_default();
        let mut texts = crate::text::Texts::default();
        for word in words {
            texts.push(word);
        }
        pack.texts(&texts);
        pack.done()
    }

    /// The verdict that follows from the findings.
    pub fn verdict(&self, lenient: bool) -> Uint8Array {
        let findings = self.inner.tally();
        let profile = if lenient { Profile::Lenient } else { Profile::Strict };
        let mut pack = Pack::default();
        pack.u32(findings.accepted(profile).into());
        pack.u32(self.inner.session.is_unsupported_in(profile).into());
        let own = self.inner.session.diagnosis();
        let diagnosis = own.as_ref().map(|own| ("", own));
        #[cfg(feature = "full")]
        let diagnosis = self.inner.joint.as_ref().map_or(diagnosis, |joint| joint.diagnosis());
        describe(diagnosis, &mut pack);
        pack.optional_text(self.inner.left_out());
        pack.optional_text(findings.worst().map(Severity::name));
        for severity in [Severity::Fatal, Severity::Violation, Severity::Lint, Severity::Unchecked]
        {
            pack.f64(findings.count(severity) as f64);
        }
        pack.f64(findings.total().saturating_sub(self.inner.all_findings().len() as u64) as f64);
        let mut texts = crate::text::Texts::default();
        for goal in self.inner.checked() {
            texts.push(goal);
        }
        pack.texts(&texts);
        let left: Vec<_> = findings.rules().filter(|count| count.found > count.kept).collect();
        pack.items(2, &left, |it| it.rule.code().into());
        pack.items(8, &left, |it| it.found - it.kept);
        pack.u32(self.inner.is_ruled().into());
        pack.done()
    }
}

/// Packs a diagnosis: the file's name in a set, missing bytes and tensors, a sentence, a rule
/// whose message is one, and the number of the kind, from 1 on.
fn describe(diagnosis: Option<(&str, &Diagnosis)>, pack: &mut Pack) {
    pack.optional_text(diagnosis.map(|(name, _)| name).filter(|name| !name.is_empty()));
    let (missing, tensors, sentence, kind) = match diagnosis {
        Some((_, Diagnosis::CutOff { missing, tensors })) => {
            (Some(*missing), *tensors, None, DiagnosisKind::Incomplete as u32 + 1)
        }
        // Other formats are left to the module of every format.
        Some((_, other)) if cfg!(feature = "full") => {
            (None, 0, Some(other.sentence()), other.kind() as u32 + 1)
        }
        _ => (None, 0, None, 0),
    };
    pack.optional(missing);
    pack.u64(tensors);
    let sentence = sentence.as_ref().map(Result::as_deref);
    pack.optional_text(sentence.and_then(Result::ok));
    pack.u32(sentence.and_then(Result::err).map_or(0, |rule| rule.code().into()));
    pack.u32(kind);
}

/// The formats that this build reads: name, title, extensions.
#[wasm_bindgen(js_name = rawFormats)]
#[allow(unreachable_pub, reason = "called from JavaScript")]
pub fn raw_formats() -> Uint8Array {
    let mut pack = Pack::default();
    let mut texts = crate::text::Texts::default();
    for format in Format::ALL.iter().filter(|format| format.is_available()) {
        let mut row = String::from(format.name());
        row.push('\t');
        row.push_str(format.title());
        for extension in format.extensions() {
            row.push('\t');
            row.push_str(extension);
        }
        texts.push(&row);
    }
    pack.texts(&texts);
    pack.done()
}
