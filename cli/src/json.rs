//! JSON objects that are streamed member by member, and never held in memory as a whole.

use serde::Serialize;
use std::io::{self, Write};
pub(crate) use weighbridge::json::{SCHEMA_CHECK, SCHEMA_STATS, TOOL, Tool, line, write};
use weighbridge::save::SCHEMA_CONVERT;
use weighbridge::{Report, Text, Unchecked, Verdict};

/// The schema of `inspect` output, in `docs/schema/` of the repository. Members may be added
/// to a version; existing members keep their meaning.
pub(crate) const SCHEMA_INSPECT: &str = "weighbridge/inspect-1";

/// Begins the object of an unread file, up to its size. The caller must end it.
fn unread<'o>(out: &'o mut dyn Write, file: &Text) -> io::Result<Object<'o>> {
    let mut object = Object::begin(out)?;
    object.member("file", &file.lossy())?;
    object.optional("file_hex", file.hex())?;
    for key in ["format", "version", "size"] {
        object.member(key, &None::<u8>)?;
    }
    Ok(object)
}

/// Writes the line of an unreadable file whose tensors would be listed.
pub(crate) fn without_tensors(
    out: &mut dyn Write,
    file: &Text,
    key: &'static str,
    why: &str,
    schema: &str,
) -> io::Result<()> {
    let mut object = unread(out, file)?;
    for key in ["verdict", key] {
        object.member(key, &None::<u8>)?;
    }
    object.list("tensors")?.end()?;
    object.member("error", why)?;
    object.member("schema", schema)?;
    object.member("tool", &TOOL)?;
    object.end()?;
    out.write_all(b"\n")
}

/// Writes the line of a model that could not be converted because of this error.
pub(crate) fn not_converted(out: &mut dyn Write, file: &Text, why: &str) -> io::Result<()> {
    let mut object = unread(out, file)?;
    object.member("verdict", &None::<u8>)?;
    object.list("findings")?.end()?;
    object.member("written", &false)?;
    for key in ["files", "left_out", "metadata_left_out", "tied", "notes"] {
        object.list(key)?.end()?;
    }
    object.member("error", why)?;
    object.member("schema", SCHEMA_CONVERT)?;
    object.member("tool", &TOOL)?;
    object.end()?;
    out.write_all(b"\n")
}

/// The members of a report on a file that was not read, either because it is something else
/// (`diagnosis`) or because of this `error`. The caller must end the object.
pub(crate) fn unchecked<'o>(
    out: &'o mut dyn Write,
    file: &Text,
    diagnosis: Option<&str>,
    error: Option<&str>,
) -> io::Result<Object<'o>> {
    let mut object = unread(out, file)?;
    object.member("verdict", &diagnosis.map(|_| Verdict::Unsupported.name()))?;
    object.optional("diagnosis", diagnosis)?;
    object.list("checked")?.end()?;
    let mut list = object.list("unchecked")?;
    let why =
        if error.is_some() { "the file could not be read" } else { "the file was not examined" };
    list.item(&Unchecked::new(None, why, true))?;
    list.end()?;
    object.list("findings")?.end()?;
    object.optional("error", error)?;
    Ok(object)
}

/// An object that is streamed member by member.
pub(crate) struct Object<'o> {
    out: &'o mut dyn Write,
    empty: bool,
}

impl<'o> Object<'o> {
    pub(crate) fn begin(out: &'o mut dyn Write) -> io::Result<Self> {
        out.write_all(b"{")?;
        Ok(Object { out, empty: true })
    }

    pub(crate) fn member(
        &mut self,
        key: &'static str,
        value: &(impl Serialize + ?Sized),
    ) -> io::Result<()> {
        write(self.key(key)?, value)
    }

    /// The members of a report up to its verdict.
    pub(crate) fn report(&mut self, report: &Report) -> io::Result<()> {
        let name = report.name();
        self.member("file", &name.map(Text::lossy))?;
        self.optional("file_hex", name.and_then(Text::hex))?;
        self.member("format", &report.format().map(|format| format.name()))?;
        self.member("version", &report.version().map(|version| version.to_string()))?;
        self.member("size", &report.size())?;
        self.member("verdict", report.verdict_on_checked().name())
    }

    /// Writes a member, unless there is no value.
    pub(crate) fn optional(
        &mut self,
        key: &'static str,
        value: Option<impl Serialize>,
    ) -> io::Result<()> {
        value.map_or(Ok(()), |value| self.member(key, &value))
    }

    /// Begins a list as a member. The caller must end it.
    pub(crate) fn list(&mut self, key: &'static str) -> io::Result<List<'_>> {
        let out = self.key(key)?;
        out.write_all(b"[")?;
        Ok(List { out, empty: true })
    }

    pub(crate) fn end(self) -> io::Result<()> {
        self.out.write_all(b"}")
    }

    fn key(&mut self, key: &'static str) -> io::Result<&mut dyn Write> {
        let comma = if self.empty { "" } else { "," };
        self.empty = false;
        write!(self.out, "{comma}\"{key}\":")?;
        Ok(&mut *self.out)
    }
}

/// A list that is streamed item by item.
pub(crate) struct List<'o> {
    out: &'o mut dyn Write,
    empty: bool,
}

impl List<'_> {
    pub(crate) fn item(&mut self, value: &(impl Serialize + ?Sized)) -> io::Result<()> {
        write(self.next()?, value)
    }

    /// Begins an object as an item. The caller must end it.
    pub(crate) fn object(&mut self) -> io::Result<Object<'_>> {
        Object::begin(self.next()?)
    }

    pub(crate) fn end(self) -> io::Result<()> {
        self.out.write_all(b"]")
    }

    fn next(&mut self) -> io::Result<&mut dyn Write> {
        if !self.empty {
            self.out.write_all(b",")?;
        }
        self.empty = false;
        Ok(&mut *self.out)
    }
}
