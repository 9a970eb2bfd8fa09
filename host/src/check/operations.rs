//! The operations of a pickle, as a list to read. Nothing is run.

use super::pickle_names::name;
use crate::base::error::Error;
use crate::base::text::Text;
#[cfg(feature = "pytorch")]
use crate::check::checkpoint::paths::Paths;
use crate::check::pickle_part::PicklePart;
use crate::check::pickles::Global;
use crate::check::scan::memory::Memory;
use crate::input::reader::Input;
use alloc::borrow::Cow;
use alloc::collections::VecDeque;
use alloc::format;
use alloc::string::{String, ToString as _};
use alloc::vec;
use alloc::vec::Vec;
use weighbridge_core::codec::{Decoder, Size, Tolerance, Undecoded};
use weighbridge_core::pickle::{
    Import, PickleEnd, PickleEvent, PickleScan, PickleStop, PickleValue, Spelling,
};
use weighbridge_core::{Encoding, Source, Span, limits};

/// Most operations of one list.
const MOST: usize = 10_000;
/// Most bytes of an argument that are shown.
const ARGUMENT: usize = 96;

/// Paths are those of values, which only the reader of checkpoints builds.
#[cfg(not(feature = "pytorch"))]
#[derive(Debug)]
struct Paths;

#[cfg(not(feature = "pytorch"))]
impl Paths {
    fn of(_: &[u8], _: u64) -> Paths {
        Paths
    }

    fn get(&self, _: u64) -> Option<&str> {
        None
    }
}

/// An operation of a pickle.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct Operation {
    /// Its number, from 0.
    pub number: u64,
    /// Its offset in the file; among decoded bytes if the pickle is compressed.
    pub offset: u64,
    /// Its name in Python's `pickletools`; empty if no operation has its byte.
    pub name: &'static str,
    /// Its argument, or the beginning; empty if it has none.
    pub argument: String,
    /// What is wrong with it.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub fault: Option<String>,
}

/// The bytes of one pickle.
#[derive(Debug)]
pub struct PickleCode<'b> {
    bytes: Cow<'b, [u8]>,
    /// Where the pickle begins in `bytes`, and the offset of their first byte as it is shown.
    start: u64,
    base: u64,
    paths: Paths,
}

impl<'b> PickleCode<'b> {
    /// The pickle with these [stored](PicklePart::offset) bytes. `None` if they cannot be decoded, or
    /// an archive around it is compressed as well.
    ///
    /// ```
    /// use weighbridge::PickleCode;
    ///
    /// let bytes = b"cposix\nsystem\n(S'true'\ntR.";
    /// let report = weighbridge::check(bytes)?;
    /// let part = &report.pickles().unwrap().parts()[0];
    /// let code = PickleCode::new(part, bytes).unwrap();
    /// let names: Vec<_> = code.around(&[0], 2).iter().map(|it| it.name).collect();
    /// assert_eq!(names, ["GLOBAL", "MARK", "STRING"]);
    /// # Ok::<(), weighbridge::Error>(())
    /// ```
    pub fn new(part: &PicklePart, stored: &'b [u8]) -> Option<Self> {
        if part.is_nested {
            return None;
        }
        let (bytes, start, base) = match part.decoded {
            Some(start) => (Cow::Owned(inflated(stored)?), start, 0),
            None => (Cow::Borrowed(stored), 0, part.stored.offset),
        };
        Some(PickleCode { paths: Paths::of(&bytes, start), bytes, start, base })
    }

    /// Reads a pickle, of at most 64 MiB. `None` as for [`new`](Self::new), or if it is longer.
    ///
    /// ```
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("model.pt");
    /// # std::fs::write(&path, weighbridge_tests::samples::checkpoint())?;
    /// use weighbridge::{FileInput, Options, PickleCode};
    ///
    /// let report = weighbridge::check_path(&path, &Options::new())?;
    /// let part = &report.pickles().unwrap().parts()[0];
    /// let code = PickleCode::read(&FileInput::open(&path)?, part)?.unwrap();
    /// assert_eq!(code.around(&[part.offset()], 0)[0].name, "PROTO");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// When the bytes cannot be read.
    pub fn read(
        input: &dyn Input,
        part: &PicklePart,
    ) -> Result<Option<PickleCode<'static>>, Error> {
        let Span { offset, len } = part.stored;
        let Some(len) = usize::try_from(len).ok().filter(|_| len <= limits::PICKLE_DECODED) else {
            return Ok(None);
        };
        let mut stored = vec![0; len];
        input.read_at(offset, &mut stored)?;
        Ok(PickleCode::new(part, &stored).map(|code| PickleCode {
            bytes: Cow::Owned(code.bytes.into_owned()),
            start: code.start,
            base: code.base,
            paths: code.paths,
        }))
    }

    /// The keys that lead to what an import makes, joined by dots: empty for the object as a whole,
    /// `None` if the object does not have it, or the pickle is broken.
    ///
    /// ```
    /// # let bytes = weighbridge_tests::samples::checkpoint();
    /// let report = weighbridge::check(&bytes)?;
    /// let pickles = report.pickles().unwrap();
    /// let part = &pickles.parts()[0];
    /// let stored = &bytes[part.offset() as usize..][..part.len() as usize];
    /// let code = weighbridge::PickleCode::new(part, stored).unwrap();
    /// let rebuild = pickles.globals().iter().find(|it| it.name().contains("_rebuild")).unwrap();
    /// assert_eq!(code.path(rebuild), Some("model.w"));
    /// # Ok::<(), weighbridge::Error>(())
    /// ```
    pub fn path(&self, global: &Global) -> Option<&str> {
        let place = global.decoded.unwrap_or(global.offset).checked_sub(self.base)?;
        self.paths.get(place)
    }

    /// The operations at these offsets, in ascending order, with `count` before and after each; at
    /// most 10,000. Numbers that do not follow one another show a gap.
    ///
    /// ```
    /// # let bytes = weighbridge_tests::samples::checkpoint();
    /// let report = weighbridge::check(&bytes)?;
    /// let part = &report.pickles().unwrap().parts()[0];
    /// let stored = &bytes[part.offset() as usize..][..part.len() as usize];
    /// let code = weighbridge::PickleCode::new(part, stored).unwrap();
    /// let all = code.around(&[part.offset()], usize::MAX);
    /// assert_eq!(all.last().unwrap().name, "STOP");
    /// # Ok::<(), weighbridge::Error>(())
    /// ```
    pub fn around(&self, offsets: &[u64], count: usize) -> Vec<Operation> {
        let source = Source::whole(&self.bytes);
        let (mut memory, len) = (Memory::default(), self.bytes.len() as u64);
        let mut scan = PickleScan::of(Span::between(self.start, len)).watched();
        let mut excerpt = Excerpt::new(self, offsets, count);
        loop {
            let ended = scan.step(&source, memory.room(), &mut |event| excerpt.event(&event));
            match ended {
                Err(stop @ (PickleStop::NeedStack(_) | PickleStop::NeedMemo(_))) => {
                    if memory.make(stop).is_err() {
                        break;
                    }
                }
                Ok(PickleEnd::Unchecked(at)) => {
                    let fault = "it takes more memory than this reader gives".to_string();
                    excerpt.fault(at, fault);
                    break;
                }
                Ok(_) | Err(_) => break,
            }
            if excerpt.is_done() {
                break;
            }
        }
        excerpt.finish()
    }

    fn argument(&self, value: PickleValue, import: Option<&Import>) -> String {
        if let Some(import) = import {
            return Text::from(format!("{} {}", import.module, import.name)).to_string();
        }
        match value {
            PickleValue::Bool(value) => value.to_string(),
            PickleValue::Integer(value) => value.to_string(),
            PickleValue::Long => "an integer beyond 64 bits".to_string(),
            PickleValue::Float(value) => value.to_string(),
            PickleValue::Text(span, spelling) => self.text(span, spelling),
            _ => String::new(),
        }
    }

    fn text(&self, span: Span, spelling: Spelling) -> String {
        let from = usize::try_from(span.offset).unwrap_or(usize::MAX);
        let len = usize::try_from(span.len).unwrap_or(usize::MAX);
        let bytes = self.bytes.get(from..).unwrap_or_default();
        let shown = bytes.get(..len.min(ARGUMENT).min(bytes.len())).unwrap_or_default();
        let text = Text::from(shown.to_vec());
        let more = if len > ARGUMENT { format!("… ({len} bytes)") } else { String::new() };
        match spelling {
            Spelling::Plain => format!("\"{text}\"{more}"),
            _ => format!("{text}{more}"),
        }
    }
}

/// An operation that may be shown.
struct Seen {
    number: u64,
    at: u64,
    byte: u8,
    value: PickleValue,
    import: Option<Import>,
}

/// Picks the operations around some offsets.
struct Excerpt<'c, 'b> {
    code: &'c PickleCode<'b>,
    offsets: &'c [u64],
    count: usize,
    /// The last operations that are not listed, one more than are shown before an offset.
    before: VecDeque<Seen>,
    /// How many of the next are listed.
    after: usize,
    number: u64,
    import: Option<Import>,
    listed: Vec<Operation>,
}

impl<'c, 'b> Excerpt<'c, 'b> {
    fn new(code: &'c PickleCode<'b>, offsets: &'c [u64], count: usize) -> Self {
        let count = count.min(MOST);
        let (before, listed) = (VecDeque::new(), Vec::new());
        Excerpt { code, offsets, count, before, after: 0, number: 0, import: None, listed }
    }

    fn event(&mut self, event: &PickleEvent) {
        match *event {
            PickleEvent::Import(import) => self.import = Some(import),
            PickleEvent::Operation { at, byte, value } => {
                let import = self.import.take().filter(|import| import.at == at);
                let number = self.number;
                self.number += 1;
                self.pass(Seen { number, at, byte, value, import });
            }
            PickleEvent::Fault { at, fault } => self.fault(at, fault.to_string()),
            _ => {}
        }
    }

    /// Takes the next operation: the one before it holds all offsets below this one's.
    fn pass(&mut self, seen: Seen) {
        let at = seen.at.saturating_add(self.code.base);
        let reached = self.offsets.iter().take_while(|offset| **offset < at).count();
        self.settle(reached);
        if self.offsets.first() == Some(&at) || self.after > 0 {
            self.trim();
            self.flush();
            self.list(&seen);
            self.after = self.after.saturating_sub(1);
            if self.offsets.first() == Some(&at) {
                self.offsets = self.offsets.get(1..).unwrap_or_default();
                self.after = self.count;
            }
            return;
        }
        if self.before.len() > self.count {
            self.before.pop_front();
        }
        self.before.push_back(seen);
    }

    /// Lists what is around offsets inside the last operation.
    fn settle(&mut self, reached: usize) {
        if reached == 0 {
            return;
        }
        self.offsets = self.offsets.get(reached..).unwrap_or_default();
        // It may have been listed already.
        self.flush();
        self.after = self.count;
    }

    /// Leaves out the operation that would hold an offset before the next operation.
    fn trim(&mut self) {
        if self.before.len() > self.count {
            self.before.pop_front();
        }
    }

    fn flush(&mut self) {
        for seen in core::mem::take(&mut self.before) {
            self.list(&seen);
        }
    }

    fn list(&mut self, seen: &Seen) {
        if self.listed.len() < MOST {
            self.listed.push(Operation {
                number: seen.number,
                offset: seen.at.saturating_add(self.code.base),
                name: name(seen.byte),
                argument: self.code.argument(seen.value, seen.import.as_ref()),
                fault: None,
            });
        }
    }

    fn fault(&mut self, at: u64, fault: String) {
        let offset = at.saturating_add(self.code.base);
        let is_near = self.after > 0 || self.offsets.first().is_some_and(|it| *it <= offset);
        if !is_near || self.listed.len() >= MOST {
            return;
        }
        self.trim();
        self.flush();
        let byte = usize::try_from(at).ok().and_then(|at| self.code.bytes.get(at));
        let name = byte.map_or("", |byte| name(*byte));
        let (number, argument) = (self.number, String::new());
        self.listed.push(Operation { number, offset, name, argument, fault: Some(fault) });
    }

    /// Whether nothing more is listed.
    fn is_done(&self) -> bool {
        self.listed.len() >= MOST || self.offsets.is_empty() && self.after == 0
    }

    /// The list. Offsets behind the last operation belong to it.
    fn finish(mut self) -> Vec<Operation> {
        let has_fault = self.listed.last().is_some_and(|it| it.fault.is_some());
        if !self.offsets.is_empty() && !has_fault {
            self.flush();
        }
        self.listed
    }
}

/// The decoded bytes of a deflate stream, as far as it is sound and within limits.
fn inflated(stored: &[u8]) -> Option<Vec<u8>> {
    let len = stored.len() as u64;
    let most =
        len.saturating_mul(limits::PICKLE_RATIO).saturating_add(limits::PICKLE_DECODED_LEAST);
    let most = most.min(limits::PICKLE_DECODED);
    let (mut decoder, mut out) = (Decoder::new(), Vec::new());
    let mut buffer = vec![0; weighbridge_core::codec::WINDOW];
    decoder.start(Encoding::Deflate, Span::new(0, len), Size::AtMost(u64::MAX));
    decoder.tolerate(Tolerance::Rest);
    loop {
        match decoder.next(&Source::whole(stored), &mut buffer) {
            Ok(Some(piece)) if (out.len() as u64) < most => out.extend_from_slice(piece),
            Err(Undecoded::Absent(_) | Undecoded::Fault(_)) if out.is_empty() => return None,
            Ok(_) | Err(_) => return Some(out),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CODE: &[u8] = b"\x80\x02}q\x00X\x01\x00\x00\x00aK\x07s.";

    fn listed(bytes: &[u8], offsets: &[u64], count: usize) -> Vec<(u64, &'static str)> {
        let part = PicklePart {
            name: None,
            stored: Span::new(100, bytes.len() as u64),
            decoded: None,
            is_nested: false,
        };
        let code = PickleCode::new(&part, bytes).expect("it is stored as it is");
        code.around(offsets, count).iter().map(|it| (it.offset, it.name)).collect()
    }

    #[test]
    fn operations_around_an_offset_are_listed() {
        let near = [(102, "EMPTY_DICT"), (103, "BINPUT"), (105, "BINUNICODE")];
        assert_eq!(listed(CODE, &[103], 1), near);
        // Inside an operation.
        assert_eq!(listed(CODE, &[104], 1), near);
        assert_eq!(listed(CODE, &[114], 0), [(114, "STOP")]);
        assert_eq!(listed(CODE, &[900], 0), [(114, "STOP")]);
        assert_eq!(listed(CODE, &[100], 99).len(), 7);
    }

    #[test]
    fn neighbouring_offsets_list_an_operation_once() {
        assert_eq!(listed(CODE, &[102, 103, 104], 1).len(), 4);
        let apart = [(100, "PROTO"), (113, "SETITEM")];
        assert_eq!(listed(CODE, &[100, 113], 0), apart);
    }

    #[test]
    fn fault_ends_the_list() {
        let broken = b"\x80\x02}\x00";
        assert_eq!(listed(broken, &[103], 1), [(102, "EMPTY_DICT"), (103, "")]);
        assert_eq!(listed(broken, &[100], 0), [(100, "PROTO")]);
    }
}
