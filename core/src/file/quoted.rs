//! Texts that findings quote: names of types that no format has.

use crate::base::widen;
use crate::format::Format;
use crate::input::{Source, Span};
use crate::model::{Name, NameEncoding};
use crate::rule::Finding;
use core::fmt;

/// The most bytes of a text that a finding holds: as many as its two numbers have.
const MOST: usize = 16;
/// The bytes that are read: with what encloses the text.
const READ: u64 = 18;
/// The last byte that a finding holds of a longer text. No UTF-8 has it.
const CUT: u8 = 0xFF;
/// Stands for the rest of a longer text.
const REST: &[u8] = "…".as_bytes();

/// The text that a finding quotes, or its start.
///
/// `Display` writes it between quotes, in the form that is safe to show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Quoted {
    bytes: [u8; MOST + REST.len()],
    len: usize,
}

impl Quoted {
    /// The bytes of the text. A longer text ends in an ellipsis.
    pub fn as_bytes(&self) -> &[u8] {
        self.bytes.get(..self.len).unwrap_or_default()
    }
}

impl fmt::Display for Quoted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\"{}\"", Name::new(self.as_bytes(), NameEncoding::Plain))
    }
}

impl Finding {
    /// Keeps the start of the text at the place of the finding, if its message quotes it and the
    /// text is resident. Readers leave this to hosts.
    ///
    /// ```
    /// use weighbridge_core::{Findings, MappedAudit, File, Slot, Source};
    ///
    /// let header = br#"{"x":{"dtype":"Q7_Z","shape":[1],"data_offsets":[0,1]}}"#;
    /// let bytes = [&(header.len() as u64).to_le_bytes()[..], header, b"!"].concat();
    /// let source = Source::whole(&bytes);
    /// let mut found = None;
    /// let file = File::open(&source, &mut |_| {})?;
    /// let mut cursor = Default::default();
    /// file.next_tensor(&source, &mut cursor, &mut |finding| found = Some(finding))?;
    /// let mut finding = found.unwrap();
    /// finding.quote(&source);
    /// assert_eq!(finding.quoted().unwrap().to_string(), "\"Q7_Z\"");
    /// assert!(finding.to_string().starts_with("the element type \"Q7_Z\" is not one"));
    /// # Ok::<(), weighbridge_core::Stop>(())
    /// ```
    pub fn quote(&mut self, source: &Source<'_>) {
        if !self.quotes() {
            return;
        }
        let len = u64::from(self.len);
        let start = source.get(Span::new(self.offset, len.min(READ)));
        let last = source.get(Span::new(self.offset.saturating_add(len.saturating_sub(1)), 1));
        let (Ok(start), Ok([last])) = (start, last) else { return };
        let Some((text, more)) = unwrapped(start, *last, len) else { return };
        let mut held = [0; MOST];
        held.iter_mut().zip(text).for_each(|(to, from)| *to = *from);
        if let (true, Some(end)) = (more, held.last_mut()) {
            *end = CUT;
        }
        let ([found, expected], _) = held.as_chunks() else { return };
        self.found = u64::from_le_bytes(*found);
        self.expected = u64::from_le_bytes(*expected);
    }

    /// The text that the message quotes, if it was [kept](Self::quote).
    pub fn quoted(&self) -> Option<Quoted> {
        if !self.quotes() {
            return None;
        }
        let mut bytes = [0; MOST + REST.len()];
        let held = self.found.to_le_bytes().into_iter().chain(self.expected.to_le_bytes());
        bytes.iter_mut().zip(held).for_each(|(to, from)| *to = from);
        let all = bytes.get(..MOST).unwrap_or_default();
        let cut = all.last() == Some(&CUT);
        let all = all.strip_suffix(&[CUT]).unwrap_or(all);
        let mut len =
            all.iter().rposition(|byte| *byte != 0).map_or(0, |last| last.saturating_add(1));
        if cut {
            // A character may be cut as well.
            if let Some(Err(broken)) = all.get(..len).map(core::str::from_utf8)
                && broken.error_len().is_none()
            {
                len = broken.valid_up_to();
            }
            let rest = bytes.iter_mut().skip(len).zip(REST);
            rest.for_each(|(to, from)| *to = *from);
            len = len.saturating_add(REST.len());
        }
        (len > 0).then_some(Quoted { bytes, len })
    }

    /// Whether the message quotes the text at the place of the finding.
    fn quotes(&self) -> bool {
        self.rule.format().map_or(&[][..], Format::quoting).contains(&self.rule)
    }
}

/// A text of `len` bytes without what encloses it: quotes, or its head in CBOR. `start` has its
/// first bytes, and whether more follow is returned. Nothing if it is no text.
fn unwrapped(start: &[u8], last: u8, len: u64) -> Option<(&[u8], bool)> {
    let (first, rest) = start.split_first()?;
    let whole = widen(start.len()) == len;
    let is_quote = matches!(first, b'"' | b'\'') && *first == last && len > 1;
    let text = match (is_quote, rest) {
        (true, [inner @ .., _]) if whole => inner,
        (true, _) => rest,
        (false, _) if u64::from(*first) == len.saturating_add(0x5F) && len <= 24 => rest,
        (false, [size, rest @ ..])
            if *first == 0x78 && u64::from(*size) == len.saturating_sub(2) =>
        {
            rest
        }
        _ => return None,
    };
    let more = !whole || text.len() > MOST;
    Some((text, more))
}

#[cfg(all(test, feature = "safetensors", feature = "npy"))]
mod tests {
    use super::*;
    use crate::format::{npy, safetensors};
    use crate::rule::{EntryKind, Rule, Subject};
    use std::string::{String, ToString as _};

    fn quoted(rule: Rule, text: &[u8]) -> Option<String> {
        let (kind, part) = (EntryKind::File, Subject::NO_PART);
        let len = u32::try_from(text.len()).unwrap();
        let mut finding =
            Finding { offset: 0, expected: 0, found: 0, len, entry: 0, part, rule, kind };
        finding.quote(&Source::whole(text));
        finding.quoted().map(|text| text.to_string())
    }

    #[test]
    fn name_of_a_type_is_quoted_without_what_encloses_it() {
        let rule = safetensors::rules::DTYPE_UNKNOWN;
        for (text, said) in [
            (&b"\"Q7_Z\""[..], Some("\"Q7_Z\"")),
            (b"'<x4'", Some("\"<x4\"")),
            (b"\x64q7_z", Some("\"q7_z\"")),
            (b"\"sixteen_bytes_16\"", Some("\"sixteen_bytes_16\"")),
            (b"\"seventeen_bytes17\"", Some("\"seventeen_bytes…\"")),
            (b"\x78\x1athe_letters_of_an_alphabet", Some("\"the_letters_of_…\"")),
            (b"\"\"", None),
            (b"5", None),
            (b"\"", None),
            (b"\"Q7_Z'", None),
            (b"", None),
        ] {
            assert_eq!(quoted(rule, text).as_deref(), said, "{text:?}");
        }
    }

    #[test]
    fn hostile_name_of_a_type_is_escaped() {
        let rule = npy::rules::NPY_DESCR;
        for (text, said) in [
            (&b"'\x1b[2J'"[..], "\"\\u{1b}[2J\""),
            (b"'\xff\xfe'", "\"\\xff\\xfe\""),
            ("'\u{202e}8f'".as_bytes(), "\"\\u{202e}8f\""),
            (b"'a\0b'", "\"a\\u{0}b\""),
            (b"'{found}'", "\"{found}\""),
            ("'fourteen_bytesé_and_more'".as_bytes(), "\"fourteen_bytes…\""),
        ] {
            assert_eq!(quoted(rule, text).as_deref(), Some(said), "{text:?}");
        }
    }

    #[test]
    fn other_rules_keep_their_numbers() {
        assert_eq!(quoted(safetensors::rules::DTYPE_TYPE, b"\"Q7_Z\""), None);
    }
}
