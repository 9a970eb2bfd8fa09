//! JSON objects that are written member by member, and never in memory as a whole.

use serde::Serialize;
use std::io::{self, Write};
pub(crate) use weighbridge::json::{SCHEMA_CHECK, TOOL, Tool, line, write};
use weighbridge::{Report, Text, Unchecked};

/// The schemas of what is printed, `docs/schema/` in the repository. Members may be added to
/// a version, and those that are there keep their meaning.
pub(crate) const SCHEMA_COMPARE: &str = "weighbridge/compare-1";
pub(crate) const SCHEMA_DIGEST: &str = "weighbridge/digest-1";
pub(crate) const SCHEMA_INSPECT: &str = "weighbridge/inspect-1";
pub(crate) const SCHEMA_STATS: &str = "weighbridge/stats-1";

/// Begins the object of a file that could not be read, with `key` after the verdict. It is to
/// be ended.
pub(crate) fn unread<'o>(
    out: &'o mut dyn Write,
    file: &Text,
    key: Option<&'static str>,
) -> io::Result<Object<'o>> {
    let mut object = Object::begin(out)?;
    object.member("file", &file.lossy())?;
    object.optional("file_hex", file.hex())?;
    for key in ["format", "version", "size", "verdict"].into_iter().chain(key) {
        object.member(key, &None::<u8>)?;
    }
    Ok(object)
}

/// Writes the line of a file that could not be read, whose tensors would be listed.
pub(crate) fn without_tensors(
    out: &mut dyn Write,
    file: &Text,
    key: &'static str,
    why: &str,
    schema: &str,
) -> io::Result<()> {
    let mut object = unread(out, file, Some(key))?;
    object.list("tensors")?.end()?;
    object.member("error", why)?;
    object.member("schema", schema)?;
    object.member("tool", &TOOL)?;
    object.end()?;
    out.write_all(b"\n")
}

/// The members of a report on a file that could not be read. The object is to be ended.
pub(crate) fn failed<'o>(out: &'o mut dyn Write, file: &Text, why: &str) -> io::Result<Object<'o>> {
    let mut object = unread(out, file, None)?;
    object.list("checked")?.end()?;
    let mut list = object.list("unchecked")?;
    list.item(&Unchecked::new(None, "the file could not be read", true))?;
    list.end()?;
    object.list("findings")?.end()?;
    object.member("error", why)?;
    Ok(object)
}

/// An object that is written member by member, and never in memory as a whole.
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

    /// A member that is left out where there is no value.
    pub(crate) fn optional(
        &mut self,
        key: &'static str,
        value: Option<impl Serialize>,
    ) -> io::Result<()> {
        value.map_or(Ok(()), |value| self.member(key, &value))
    }

    /// A list as a member. It is to be ended.
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

/// A list that is written item by item.
pub(crate) struct List<'o> {
    out: &'o mut dyn Write,
    empty: bool,
}

impl List<'_> {
    pub(crate) fn item(&mut self, value: &(impl Serialize + ?Sized)) -> io::Result<()> {
        write(self.next()?, value)
    }

    /// An object as an item. It is to be ended.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_in_parts_reads_as_a_whole() {
        let mut out = Vec::new();
        let write = |out: &mut Vec<u8>| -> io::Result<()> {
            let mut object = Object::begin(out)?;
            object.member("a", &1)?;
            object.optional("b", None::<u8>)?;
            let mut list = object.list("c")?;
            list.item("x")?;
            let mut inner = list.object()?;
            inner.list("d")?.end()?;
            inner.end()?;
            list.end()?;
            object.optional("e", Some(false))?;
            object.end()
        };
        write(&mut out).expect("a vector takes all");
        assert_eq!(out, br#"{"a":1,"c":["x",{"d":[]}],"e":false}"#);
    }
}
