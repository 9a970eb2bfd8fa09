//! JSON that is safe to print.

use serde::Serialize;
use serde_json::ser::{Formatter, Serializer};
use std::io::{self, Write};
use weighbridge_core::is_hidden;

/// Writes `value` on one line, with control and other characters that hide as `\u`
/// escapes, and a line feed.
pub(crate) fn line(out: &mut dyn Write, value: &impl Serialize) -> io::Result<()> {
    write(out, value)?;
    out.write_all(b"\n")
}

/// Writes `value`, with control and other characters that hide as `\u` escapes.
pub(crate) fn write(out: &mut dyn Write, value: &(impl Serialize + ?Sized)) -> io::Result<()> {
    Ok(value.serialize(&mut Serializer::with_formatter(out, Safe))?)
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

/// The compact layout, in which no character of a string can mislead a reader.
struct Safe;

impl Formatter for Safe {
    fn write_string_fragment<W>(&mut self, out: &mut W, fragment: &str) -> io::Result<()>
    where
        W: ?Sized + Write,
    {
        let mut plain = 0;
        for (at, c) in fragment.char_indices().filter(|(_, c)| is_hidden(*c)) {
            out.write_all(&fragment.as_bytes()[plain..at])?;
            for unit in c.encode_utf16(&mut [0; 2]) {
                write!(out, "\\u{unit:04x}")?;
            }
            plain = at + c.len_utf8();
        }
        out.write_all(&fragment.as_bytes()[plain..])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

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

    #[test]
    fn what_misleads_is_escaped_and_reads_back_equal() {
        let value = json!({"na\u{202e}me": ["\u{1b}[2J\n\"\\", "重み \u{7f}\u{9b}", "\u{e0041}"]});
        let mut out = Vec::new();
        line(&mut out, &value).expect("a vector takes all");
        let text = String::from_utf8(out).expect("JSON is UTF-8");
        assert_eq!(
            text,
            "{\"na\\u202eme\":[\"\\u001b[2J\\n\\\"\\\\\",\"重み \\u007f\\u009b\",\"\\udb40\\udc41\"]}\n"
        );
        assert_eq!(serde_json::from_str::<serde_json::Value>(&text).expect("valid JSON"), value);
    }
}
