//! What a file is if it is not a sound file of its format: another format, an error page, the
//! start of a download.

use crate::base::text::{plural, thousands};
use crate::check::pickles::Pickles;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;
use weighbridge_core::format::{PickleWalk, Pickled};
use weighbridge_core::{
    Absent, File, Finding, Format, Rule, Severity, Source, Span, Tally, Window,
};

pub(crate) mod archive;
pub(crate) mod kind;
mod magic;
mod scanned;

use archive::{Members, NPZ, ZIP};
use magic::{MAGICS, NPY, ONNX, PROGRAM, PROGRAM_DATA, TAR, TFLITE};

const OBJECTS: &str = "a NumPy array (.npy) of objects, a pickle";
const PICKLE: &str = "a pickle";
const XET: &str = "a Xet pointer, not the file that it stands for";

/// How much of the file is examined.
const HEAD: u64 = 4 << 10;

/// What a file is instead of a sound file of its format.
///
/// ```
/// let report = weighbridge::check(b"\x89HDF\r\n\x1A\n and so on")?;
/// assert_eq!(report.diagnosis().unwrap().to_string(), "an HDF5 file");
/// # Ok::<(), weighbridge::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Diagnosis {
    /// A known format, but a generation that this build does not read.
    Generation(Rule),
    /// Another format, with its name.
    Other(&'static str),
    /// A pickle, or an archive that contains one.
    Pickle(&'static str),
    /// The same, after its pickles have been followed.
    Scanned(&'static str, Pickles),
    /// A Git LFS pointer, with the size of the file it stands for, if it states one.
    LfsPointer(Option<u64>),
    /// A page or a message from a server in place of the file.
    Message(&'static str),
    /// An unknown format, where that is not a fault:
    /// [`Options::unknown_is_unsupported`](crate::Options::unknown_is_unsupported).
    Unknown,
    /// An empty file.
    Empty,
    /// Zeros from the first byte on, at least this many.
    Zeros(u64),
    /// An archive without its directory, which is at the end.
    NoDirectory {
        /// Number of members from the first on that are there to their end, as far as counted.
        whole: u64,
    },
    /// The beginning of a file that was cut off.
    CutOff {
        /// Minimum number of missing bytes.
        missing: u64,
        /// Number of tensors that reach past the end, as far as known.
        tensors: u64,
    },
}

impl Diagnosis {
    /// Diagnoses a file that could not be opened, by its first bytes and its findings. For
    /// hosts that drive the core themselves.
    ///
    /// ```
    /// use weighbridge::{Diagnosis, weighbridge_core::Source};
    ///
    /// let found = Diagnosis::of(&Source::whole(b"PAR1"), &[]).unwrap();
    /// assert_eq!(found, Some(Diagnosis::Other("a Parquet file")));
    /// ```
    ///
    /// # Errors
    /// The bytes that are missing.
    pub fn of(source: &Source<'_>, findings: &[Finding]) -> Result<Option<Diagnosis>, Absent> {
        let (mut walk, mut members) = (PickleWalk::default(), Members::default());
        Diagnosis::walking(source, findings, &mut walk, &mut members)
    }

    /// The same, for a source whose windows come and go: the walks over the operations of a pickle
    /// and over the members of an archive continue where they needed bytes.
    pub(crate) fn walking(
        source: &Source<'_>,
        findings: &[Finding],
        walk: &mut PickleWalk,
        members: &mut Members,
    ) -> Result<Option<Diagnosis>, Absent> {
        if let Some(finding) = findings.iter().find(|finding| GENERATIONS.contains(&finding.rule)) {
            return Ok(Some(Diagnosis::Generation(finding.rule)));
        }
        if findings.iter().any(|finding| OBJECTS_RULES.contains(&finding.rule)) {
            return Ok(Some(Diagnosis::Pickle(OBJECTS)));
        }
        // First: the strings of a pickle may have whatever identifies other formats.
        let pickled = walk.step(source)?;
        if pickled.can_run_code() || pickled == Pickled::Data(source.len()) {
            return Ok(Some(Diagnosis::Pickle(PICKLE)));
        }
        let head = source.get(Span::new(0, source.len().min(HEAD)))?;
        let diagnosis = match Diagnosis::of_other(head) {
            Some(Diagnosis::Other(ZIP | NPZ)) => Some(archive::diagnose(source)?),
            diagnosis => diagnosis,
        };
        // The file is of the format that it was read as, but damaged.
        let own = match diagnosis {
            Some(Diagnosis::Other(NPY)) => Some(Format::Npy),
            Some(Diagnosis::Other(NPZ)) => Some(Format::Npz),
            Some(Diagnosis::Other(ONNX)) => Some(Format::Onnx),
            Some(Diagnosis::Other(TFLITE)) => Some(Format::Tflite),
            Some(Diagnosis::Other(PROGRAM | PROGRAM_DATA)) => Some(Format::ExecuTorch),
            _ => None,
        };
        let damaged =
            own.is_some_and(|own| findings.iter().any(|it| it.rule.format() == Some(own)));
        let cut = Diagnosis::without_directory(source, findings, members)?;
        Ok(cut.or_else(|| diagnosis.filter(|_| !damaged)))
    }

    /// Diagnoses an archive that was cut off before its directory.
    pub(crate) fn without_directory(
        source: &Source<'_>,
        findings: &[Finding],
        members: &mut Members,
    ) -> Result<Option<Diagnosis>, Absent> {
        if !findings.iter().any(|it| NO_DIRECTORY.contains(&it.rule)) {
            return Ok(None);
        }
        Ok(Some(Diagnosis::NoDirectory { whole: members.step(source)? }))
    }

    /// Diagnoses a file of `len` bytes by its first bytes.
    pub(crate) fn of_head(head: &[u8], len: u64) -> Option<Diagnosis> {
        match begins_with_pickle(head, len) {
            true => Some(Diagnosis::Pickle(PICKLE)),
            false => Diagnosis::of_other(head),
        }
    }

    /// Diagnoses a file that is no pickle by its first bytes.
    fn of_other(head: &[u8]) -> Option<Diagnosis> {
        if head.is_empty() {
            return Some(Diagnosis::Empty);
        }
        if head.iter().all(|byte| *byte == 0) {
            return Some(Diagnosis::Zeros(head.len() as u64));
        }
        if head.starts_with(b"\x93NUMPY") && is_of_objects(head) {
            return Some(Diagnosis::Pickle(OBJECTS));
        }
        let known = MAGICS.iter().find(|magic| {
            head.get(magic.offset..).is_some_and(|from| from.starts_with(magic.bytes))
        });
        if let Some(magic) = known {
            return Some(Diagnosis::Other(magic.name));
        }
        if head.starts_with(b"PK\x03\x04") {
            return Some(archive::of_head(head));
        }
        match head {
            // Field 1, the version; then the producer, the graph or the operator sets.
            [0x08, 1..=32, 0x12 | 0x3A | 0x42, _, rest @ ..] if is_onnx(head, rest) => {
                return Some(Diagnosis::Other(ONNX));
            }
            _ => {}
        }
        text(head)
    }

    /// What is missing from a file of `len` bytes that was opened, if that explains every fatal
    /// finding. `found` lists findings, and `all` counts all of them. For hosts that drive the
    /// core themselves.
    ///
    /// ```
    /// use weighbridge::Diagnosis;
    /// use weighbridge::weighbridge_core::{File, Source, Tally};
    ///
    /// # let bytes = weighbridge_tests::samples::safetensors();
    /// let file = File::open(&Source::whole(&bytes), &mut |_| {})?;
    /// assert_eq!(Diagnosis::cut_off(&file, bytes.len() as u64, &[], &Tally::default()), None);
    /// # Ok::<(), weighbridge::weighbridge_core::Stop>(())
    /// ```
    pub fn cut_off(file: &File, len: u64, found: &[Finding], all: &Tally) -> Option<Diagnosis> {
        let recorded = file.recorded_len().and_then(|recorded| recorded.checked_sub(len));
        // Formats that record their length have no rule of their own for data past the end.
        if PAST_THE_END.is_empty() {
            let missing = recorded.filter(|missing| *missing > 0)?;
            return Some(Diagnosis::CutOff { missing, tensors: 0 });
        }
        let past = |rule: Rule| PAST_THE_END.contains(&rule);
        let mut tensors = 0;
        for count in all.rules().filter(|count| count.rule.severity() == Severity::Fatal) {
            if past(count.rule) {
                tensors += count.found;
            } else if recorded.is_none() {
                return None;
            }
        }
        let findings = found.iter().filter(|finding| past(finding.rule));
        let missing = findings.map(|finding| finding.expected.abs_diff(finding.found)).max();
        let missing = missing.max(recorded).filter(|missing| *missing > 0)?;
        Some(Diagnosis::CutOff { missing, tensors })
    }

    /// Whether the file may be sound, but has a format or generation that this build does not
    /// read.
    ///
    /// ```
    /// let report = weighbridge::check(b"\x89HDF\r\n\x1A\n and so on")?;
    /// assert!(report.diagnosis().unwrap().is_unsupported());
    /// # Ok::<(), weighbridge::Error>(())
    /// ```
    pub const fn is_unsupported(&self) -> bool {
        matches!(
            self,
            Diagnosis::Generation(_)
                | Diagnosis::Other(_)
                | Diagnosis::Pickle(_)
                | Diagnosis::Scanned(..)
                | Diagnosis::Unknown
        )
    }

    /// Whether the file is a pickle, or has some.
    ///
    /// ```
    /// let report = weighbridge::check(b"\x80\x02}q\0.")?;
    /// assert!(report.diagnosis().unwrap().is_pickle());
    /// # Ok::<(), weighbridge::Error>(())
    /// ```
    pub const fn is_pickle(&self) -> bool {
        matches!(self, Diagnosis::Pickle(_) | Diagnosis::Scanned(..))
    }

    /// Whether the file is a pointer of Git LFS or Xet to another.
    ///
    /// ```
    /// let report = weighbridge::check(b"version https://git-lfs.github.com/spec/v1\noid sha256:0\n")?;
    /// assert!(report.diagnosis().unwrap().is_pointer());
    /// # Ok::<(), weighbridge::Error>(())
    /// ```
    pub fn is_pointer(&self) -> bool {
        matches!(self, Diagnosis::LfsPointer(_)) || *self == Diagnosis::Message(XET)
    }

    /// Whether the file is of another kind, rather than damaged.
    ///
    /// ```
    /// let report = weighbridge::check(b"<!DOCTYPE html><title>404</title>")?;
    /// let diagnosis = report.diagnosis().unwrap();
    /// assert!(diagnosis.is_other() && !diagnosis.is_unsupported());
    /// # Ok::<(), weighbridge::Error>(())
    /// ```
    pub const fn is_other(&self) -> bool {
        self.is_unsupported() || matches!(self, Diagnosis::LfsPointer(_) | Diagnosis::Message(_))
    }
}

/// Whether a file of `len` bytes is a pickle, as far as its first bytes show: if more than one
/// operation begins in them, those after them are not needed.
pub(crate) fn begins_with_pickle(head: &[u8], len: u64) -> bool {
    let window = [Window { offset: 0, bytes: head }];
    match PickleWalk::default().step(&Source::windows(len, &window)) {
        Ok(found) => found.can_run_code() || found == Pickled::Data(len),
        Err(absent) => (1..=head.len() as u64).contains(&absent.offset),
    }
}

impl Diagnosis {
    /// The diagnosis as a sentence, or the rule whose message describes it, for hosts that keep
    /// rule messages elsewhere. `Display` writes either.
    ///
    /// ```
    /// let report = weighbridge::check(b"")?;
    /// assert_eq!(report.diagnosis().unwrap().sentence().as_deref(), Ok("an empty file"));
    /// # Ok::<(), weighbridge::Error>(())
    /// ```
    ///
    /// # Errors
    /// The rule that describes it.
    pub fn sentence(&self) -> Result<String, Rule> {
        Ok(match self {
            Diagnosis::Generation(rule) => return Err(*rule),
            Diagnosis::Other(what) | Diagnosis::Message(what) => String::from(*what),
            Diagnosis::Pickle(what) => format!("{what}, which can run code when it is loaded"),
            Diagnosis::Scanned(what, pickles) => format!("{what}, {}", pickles.sentence()),
            Diagnosis::LfsPointer(size) => {
                let mut text = String::from("a Git LFS pointer, not the file that it stands for");
                if let Some(size) = size {
                    text += &format!("; `git lfs pull` fetches its {}", plural(*size, "byte"));
                }
                text
            }
            Diagnosis::Unknown => String::from("of no known format"),
            Diagnosis::Empty => String::from("an empty file"),
            Diagnosis::Zeros(len) => {
                let len = plural(*len, "byte");
                format!("zeros: its first {len} are 0, as after a failed copy")
            }
            Diagnosis::NoDirectory { whole } => {
                let whole = match whole {
                    0 => String::from("no member is known to be whole"),
                    1 => String::from("1 member is whole"),
                    n if *n < Members::MOST => format!("{} members are whole", thousands(*n)),
                    n => format!("{} members or more are whole", thousands(*n)),
                };
                format!(
                    "cut off: the directory at the end of the archive is missing; {whole}; \
                     download it again"
                )
            }
            Diagnosis::CutOff { missing, tensors } => {
                let past = match tensors {
                    0 => String::new(),
                    1 => String::from("; 1 tensor reaches past the end"),
                    n => format!("; {} tensors reach past the end", thousands(*n)),
                };
                format!("{} short{past}: download it again", plural(*missing, "byte"))
            }
        })
    }
}

impl fmt::Display for Diagnosis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.sentence() {
            Ok(text) => f.write_str(&text),
            Err(rule) => f.write_str(rule.info().message),
        }
    }
}

/// Rules broken by a file of a known generation that is not read.
const GENERATIONS: &[Rule] = &[
    #[cfg(feature = "gguf")]
    weighbridge_core::format::gguf::rules::VERSION_1,
];

/// Rules broken by an archive that has lost its end.
const NO_DIRECTORY: &[Rule] = &[
    #[cfg(feature = "npz")]
    weighbridge_core::format::npz::rules::ZIP_END,
];

/// Rules broken by an array whose data is a pickle.
const OBJECTS_RULES: &[Rule] = &[
    #[cfg(feature = "npy")]
    weighbridge_core::format::npy::rules::NPY_OBJECT,
];

/// Rules broken by a tensor that ends past the end of the file; their expected and found values
/// differ by the number of missing bytes.
const PAST_THE_END: &[Rule] = &[
    #[cfg(feature = "gguf")]
    weighbridge_core::format::gguf::rules::DATA_BOUNDS,
    #[cfg(feature = "bintensors")]
    weighbridge_core::format::bintensors::rules::B2,
    #[cfg(feature = "safetensors")]
    weighbridge_core::format::safetensors::rules::OFFSET_BOUNDS,
];

/// Whether a NumPy array's header declares elements that are objects.
pub(crate) fn is_of_objects(head: &[u8]) -> bool {
    const KEY: &[u8] = b"'descr':";
    let line = head.iter().take_while(|byte| **byte != b'\n');
    let header: Vec<u8> = line.copied().filter(|byte| *byte != b' ').collect();
    let Some(at) = header.windows(KEY.len()).position(|here| here == KEY) else { return false };
    let descr = header.get(at + KEY.len()..).unwrap_or_default();
    if let Some(text) = descr.strip_prefix(b"'") {
        // A type, or several with counts and shapes: `3O`, `i4,O`, `(2,)O`, `object`, `T`.
        let text = text.split(|byte| *byte == b'\'').next().unwrap_or_default();
        let is_type = |at: usize| text.get(at + 1).is_none_or(|next| !next.is_ascii_alphabetic());
        let mut types = text.iter().enumerate().filter(|(_, byte)| **byte == b'O');
        return types.any(|(at, _)| is_type(at)) || text.starts_with(b"object") || text == b"T";
    }
    let has = |what: &[u8]| descr.windows(what.len()).any(|here| here == what);
    descr.starts_with(b"[") && (has(b"O'") || has(b",'T')") || has(b"'object'"))
}

/// Whether a Protocol Buffers message is an ONNX model: it names its producer in printable
/// characters, or continues with a graph or operator sets.
fn is_onnx(head: &[u8], rest: &[u8]) -> bool {
    let [_, _, field, len, ..] = head else { return false };
    let producer = rest.get(..usize::from(*len)).unwrap_or_default();
    *field != 0x12 || (*len > 0 && *len < 0x80 && producer.iter().all(u8::is_ascii_graphic))
}

/// Diagnoses a text in place of a file.
fn text(head: &[u8]) -> Option<Diagnosis> {
    if let Some(pointer) = head.strip_prefix(b"version https://git-lfs.github.com/spec/") {
        return Some(Diagnosis::LfsPointer(lfs_size(pointer)));
    }
    if head.starts_with(b"# xet version") {
        return Some(Diagnosis::Message(XET));
    }
    let head = head.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(head).trim_ascii_start();
    let start: Vec<u8> = head.iter().take(512).map(u8::to_ascii_lowercase).collect();
    let says = |key: &&[u8]| start.windows(key.len()).any(|here| here == *key);
    if start.starts_with(b"<!doctype html") || start.starts_with(b"<html") {
        return Some(Diagnosis::Message("an HTML page, as servers send in place of a file"));
    }
    if start.starts_with(b"<?xml") || start.starts_with(b"<error") {
        return Some(Diagnosis::Message("an XML document, as servers send in place of a file"));
    }
    if start.starts_with(b"{") && SERVER_KEYS.iter().any(says) {
        return Some(Diagnosis::Message("a server's message (JSON) in place of a file"));
    }
    None
}

/// Keys of a server's message that do not occur in a safetensors header.
const SERVER_KEYS: &[&[u8]] = &[b"\"error\"", b"\"message\"", b"\"detail\"", b"\"errors\""];

/// The size of the file that a Git LFS pointer stands for.
fn lfs_size(pointer: &[u8]) -> Option<u64> {
    let line = pointer.split(|byte| *byte == b'\n').find_map(|it| it.strip_prefix(b"size "));
    str::from_utf8(line?.trim_ascii()).ok()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::{String, ToString as _};

    fn shown(head: &[u8]) -> Option<String> {
        let found = Diagnosis::of(&Source::whole(head), &[]).expect("all bytes are there");
        found.map(|diagnosis| diagnosis.to_string())
    }

    #[test]
    fn other_format_is_named() {
        let zip = |name: &str| {
            let mut bytes = b"PK\x03\x04".to_vec();
            bytes.resize(26, 0);
            bytes.extend((name.len() as u16).to_le_bytes());
            bytes.extend([0, 0]);
            bytes.extend(name.as_bytes());
            bytes.extend(b"data");
            shown(&bytes).expect("an archive")
        };
        assert!(zip("archive/data.pkl").starts_with("a PyTorch archive"));
        assert_eq!(zip("weight.npy"), "an archive of NumPy arrays (.npz)");
        assert_eq!(zip("readme.txt"), "a zip archive");
        assert!(shown(b"\x80\x02}q\0.").is_some_and(|it| it.contains("can run code")));
        assert!(
            shown(b"\x80\x04\x95\x0A\0\0\0\0\0\0\0}\x94.")
                .is_some_and(|it| it.contains("can run code"))
        );
        assert_eq!(shown(b"\x08\x08\x12\x07pytorch:").as_deref(), Some("an ONNX model"));
        assert_eq!(shown(b"\x1C\0\0\0TFL3\0\0").as_deref(), Some("a TensorFlow Lite model"));
        assert_eq!(shown(b"\x1F\x8B\x08\0\0").as_deref(), Some("data compressed with gzip"));
        assert_eq!(shown(b"\x89HDF\r\n\x1A\n\0").as_deref(), Some("an HDF5 file"));
        assert_eq!(shown(b"PAR1\x15\x04").as_deref(), Some("a Parquet file"));
    }

    #[test]
    fn web_page_and_pointer_are_diagnosed() {
        let pointer = b"version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 4970\n";
        assert_eq!(Diagnosis::of_other(pointer), Some(Diagnosis::LfsPointer(Some(4970))));
        assert!(shown(pointer).is_some_and(|it| it.ends_with("fetches its 4,970 bytes")));
        let page = b"\n<!DOCTYPE html><html><title>404</title>";
        assert!(matches!(Diagnosis::of_other(page), Some(Diagnosis::Message(_))));
        let json = br#"{"error":"Repository not found"}"#;
        assert!(matches!(Diagnosis::of_other(json), Some(Diagnosis::Message(_))));
        assert_eq!(shown(br#"{"weight_map": {}}"#), None);
    }

    #[test]
    fn empty_file_and_zeros_are_diagnosed() {
        assert_eq!(shown(b"").as_deref(), Some("an empty file"));
        assert!(shown(&[0; 99]).is_some_and(|it| it.contains("its first 99 bytes are 0")));
        assert_eq!(shown(b"\x01\x02\x03"), None);
    }
}
