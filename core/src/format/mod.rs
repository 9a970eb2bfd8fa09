//! One module a format, all of the same shape: `rules` (its catalogue), `Header`
//! (what opening proved, plain numbers), and on the header what `Container`
//! asks for, which [`File`](crate::File) dispatches to.

use crate::checksum::Checksum;
use crate::codec;
use crate::cursor::Cursor;
use crate::file::Format;
use crate::finding::Kind;
use crate::name::{Name, NameAt};
use crate::read::{Halt, Reader};
use crate::rule::Rule;
use crate::source::{Absent, Source, Span};
use crate::sparse;
use crate::tensor::{Chunk, Chunks, Endianness, Meta, Part, Region, Tensor, Value, Version};

#[cfg(feature = "bintensors")]
pub mod bintensors;
#[cfg(feature = "gguf")]
pub mod gguf;
#[cfg(feature = "idv")]
pub mod idv;
#[cfg(feature = "oinf")]
pub mod oinf;
#[cfg(feature = "safetensors")]
pub mod safetensors;
#[cfg(feature = "shards")]
pub mod shards;
#[cfg(feature = "stb")]
pub mod stb;
#[cfg(feature = "ztensor")]
pub mod ztensor;

impl Format {
    /// The format that is named `name` in options and reports.
    pub fn by_name(name: &str) -> Option<Format> {
        Format::ALL.iter().copied().find(|format| format.name().eq_ignore_ascii_case(name))
    }

    /// Whether the first bytes of a file prove it to be of this format. Otherwise
    /// its name tells more.
    ///
    /// BinTensors begins with a length; that it is plausible proves little. Nor
    /// does it that a JSON document begins with one of the keys of an index.
    pub const fn has_magic(self) -> bool {
        !matches!(self, Format::BinTensors | Format::Shards)
    }

    /// The format that the name of a file promises: one of its
    /// [extensions](Format::extensions), in any case, behind something and a dot.
    pub fn by_file_name(name: &str) -> Option<Format> {
        // An extension may have a dot inside.
        let ends = |extension: &&str| {
            let at = name.len().checked_sub(extension.len());
            let parts = at.and_then(|at| name.as_bytes().split_at_checked(at));
            parts.is_some_and(|(stem, end)| {
                end.eq_ignore_ascii_case(extension.as_bytes()) && matches!(stem, [_, .., b'.'])
            })
        };
        Format::ALL.iter().copied().find(|format| format.extensions().iter().any(ends))
    }
}

impl core::fmt::Display for Format {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(self.title())
    }
}

/// A container format.
pub(crate) trait Container: Sized {
    /// Which of its rules stand for the checks that all formats share.
    const POLICY: Policy;

    /// Whether the first bytes, nine or all there are of `len`, are of this format.
    fn detect(head: &[u8], len: u64) -> bool;

    /// Proves what the other functions rely on.
    ///
    /// `c` is kept between calls, for formats whose header is longer than an
    /// entry. Findings of the header are reported when all its bytes were taken.
    fn open(r: &mut Reader<'_, '_>, c: &mut Cursor) -> Result<Self, Halt>;

    /// The version that the file states; `None` if the format has none.
    fn version(&self) -> Option<Version>;

    /// The length that the file records; `None` if it records none.
    fn file_len(&self) -> Option<u64> {
        None
    }

    /// The byte order of numbers in metadata.
    fn endianness(&self) -> Endianness {
        Endianness::Little
    }

    /// The alignment of payloads in bytes, up to which they are padded; 1 if there is
    /// none.
    fn alignment(&self) -> u64 {
        Self::POLICY.align
    }

    /// How many tensors the file declares.
    fn tensor_count(&self) -> u64;

    /// The next metadata entry, judged; `None` at the end, of which the cursor is
    /// told. Several tables are told apart by the cursor's phase and by the kind of
    /// what comes.
    fn meta(&self, _: &mut Reader<'_, '_>, c: &mut Cursor) -> Result<Option<Meta>, Halt> {
        c.finish();
        Ok(None)
    }

    /// The next tensor, judged; `None` at the end, of which the cursor is told.
    fn tensor(&self, r: &mut Reader<'_, '_>, c: &mut Cursor) -> Result<Option<Tensor>, Halt>;

    /// The next metadata entry of one tensor; `None` at the end, of which the
    /// cursor is told.
    fn attribute(
        &self,
        _: &mut Reader<'_, '_>,
        _tensor: &Tensor,
        c: &mut Cursor,
    ) -> Result<Option<Meta>, Halt> {
        c.finish();
        Ok(None)
    }

    /// What a metadata entry holds; `None` if that cannot be read.
    fn value(&self, _: &mut Reader<'_, '_>, _meta: &Meta) -> Result<Option<Value>, Halt> {
        Ok(None)
    }

    /// Where piece `chunk` of the data of a tensor lies, which has as many.
    fn chunk(
        &self,
        _: &mut Reader<'_, '_>,
        tensor: &Tensor,
        _chunk: u64,
    ) -> Result<Option<Chunk>, Halt> {
        Ok(Chunk::raw(tensor))
    }

    /// What the stored bytes of a tensor are said to sum up to; `None` if nothing
    /// is said, or nothing that is understood.
    fn checksum(&self, _: &Source<'_>, _tensor: &Tensor) -> Result<Option<Checksum>, Absent> {
        Ok(None)
    }

    /// The next part of the file that something refers to: header, tables, values,
    /// payloads. Broken entries have none. What lies between parts is judged by the
    /// audit.
    fn region(&self, r: &mut Reader<'_, '_>, c: &mut Cursor) -> Result<Option<Region>, Halt>;

    /// One step of what needs more than one entry, or bytes of values.
    fn audit(&self, _: &mut Reader<'_, '_>, c: &mut Cursor) -> Result<(), Halt> {
        c.finish();
        Ok(())
    }

    /// Passes over tensors that [`tensor`](Self::tensor) would report nothing of,
    /// while they are resident and `goes_on` agrees.
    fn sweep<'a>(
        &self,
        _: &mut Reader<'_, 'a>,
        _: &mut Cursor,
        _goes_on: &mut dyn FnMut(&Glance<'a>) -> bool,
    ) {
    }

    /// The same up to entry `until`, where [`sweep`](Self::sweep) has passed over
    /// all of these before: a shorter look at each suffices.
    #[cfg(feature = "sweep")]
    fn sweep_again<'a>(
        &self,
        r: &mut Reader<'_, 'a>,
        c: &mut Cursor,
        _until: u32,
        goes_on: &mut dyn FnMut(&Glance<'a>) -> bool,
    ) {
        self.sweep(r, c, goes_on);
    }

    /// Whether listing all tensors, which ended at `listed`, has proved that the
    /// parts of the file come in order with nothing but sound padding between them.
    fn is_covered(&self, _listed: &Cursor) -> bool {
        false
    }

    /// Whether the last parts are the data of tensors, one of each that has any, in
    /// the order of the index: what [`payload`](Self::payload) goes through.
    const ENDS_WITH_TENSORS: bool = false;

    /// The data of the next tensor that has any, as a part of the file.
    fn payload(&self, r: &mut Reader<'_, '_>, c: &mut Cursor) -> Result<Option<Region>, Halt> {
        while let Some(tensor) = self.tensor(r, c)? {
            if let Chunks::One(span) = tensor.chunks {
                return Ok(Some(data_of(tensor.index, span)));
            }
        }
        Ok(None)
    }
}

/// The data of a tensor as a part of the file.
#[inline(always)]
pub(crate) fn data_of(tensor: u32, span: Span) -> Region {
    Region { part: Part::Payload, span, kind: Kind::Tensor, entry: tensor }
}

/// A tensor that a sweep is about to pass over.
pub(crate) struct Glance<'a> {
    /// Position in the index.
    pub(crate) index: u32,
    /// Absolute offset of its entry.
    pub(crate) at: u64,
    /// Where its name is stored.
    #[cfg_attr(
        not(feature = "sweep"),
        allow(dead_code, reason = "only an audit that sweeps keeps it")
    )]
    pub(crate) name_at: NameAt,
    /// Its name.
    pub(crate) name: Name<'a>,
}

/// Which rules of a format stand for the checks that all formats share; `None`
/// where the format makes the fault impossible or harmless.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Policy {
    /// Two tensors have one name.
    pub(crate) duplicate_tensor: Option<Rule>,
    /// Two metadata entries have one key.
    pub(crate) duplicate_meta: Option<Rule>,
    /// Two metadata entries of one tensor have one key, stored plainly. With a
    /// rule here the audit judges every tensor's metadata entries.
    pub(crate) duplicate_attribute: Option<Rule>,
    /// Two size variables have one name.
    pub(crate) duplicate_size: Option<Rule>,
    /// Two parts of the file share some bytes.
    pub(crate) overlap: Option<Rule>,
    /// Two payloads are the same range of bytes.
    pub(crate) alias: Option<Rule>,
    /// Whether payloads without bytes must not lie inside others either.
    pub(crate) empties: bool,
    /// Bytes that are not padding belong to nothing.
    pub(crate) gap: Option<Rule>,
    /// The same at the end of the file.
    pub(crate) trailing: Option<Rule>,
    /// Bytes up to the next multiple of the alignment belong to nothing and are not
    /// all zero.
    pub(crate) padding: Option<Rule>,
    /// The alignment of payloads in bytes.
    pub(crate) align: u64,
    /// A `bool` byte is neither 0 nor 1.
    pub(crate) boolean: Option<Rule>,
    /// A two-bit ternary code is 10.
    pub(crate) ternary: Option<Rule>,
    /// Unused bits of the last byte of packed elements are not zero.
    pub(crate) tail_bits: Option<Rule>,
    /// The checksum of stored bytes is not what the file says.
    pub(crate) checksum: Option<Rule>,
    /// What a fault of an encoded stream breaks; with encodings other than raw
    /// it must not be `None`.
    pub(crate) stream: Option<fn(codec::Fault) -> Rule>,
    /// What a fault of the indices of a sparse tensor breaks.
    pub(crate) sparse: Option<fn(sparse::Fault) -> Rule>,
    /// What a fault in the structure of Zstandard frames breaks.
    pub(crate) frame: Option<fn(codec::zstd::walk::Fault) -> Rule>,
}

impl Policy {
    /// No shared check applies.
    pub(crate) const NONE: Policy = Policy {
        duplicate_tensor: None,
        duplicate_meta: None,
        duplicate_attribute: None,
        duplicate_size: None,
        overlap: None,
        alias: None,
        empties: false,
        gap: None,
        trailing: None,
        padding: None,
        align: 1,
        boolean: None,
        ternary: None,
        tail_bits: None,
        checksum: None,
        stream: None,
        sparse: None,
        frame: None,
    };

    /// Whether a part of the file is compared with others.
    #[cfg_attr(
        not(any(feature = "names", feature = "windows")),
        allow(dead_code, reason = "data is all that is compared")
    )]
    pub(crate) fn places(&self, region: &Region) -> bool {
        !region.span.is_empty() || (self.empties && region.kind == Kind::Tensor)
    }

    /// Whether the regions of the file are compared with one another.
    pub(crate) const fn covers(&self) -> bool {
        self.overlap.is_some()
            || self.alias.is_some()
            || self.gap.is_some()
            || self.padding.is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::format;

    #[test]
    fn names_of_files_promise_formats() {
        let named = |name: &str| Format::by_file_name(name).map(Format::name);
        for format in Format::ALL {
            for extension in format.extensions() {
                assert_eq!(named(&format!("model.v1.{extension}")), Some(format.name()));
                let upper = format!("\u{e9}.{}", extension.to_uppercase());
                assert_eq!(named(&upper), Some(format.name()));
            }
        }
        assert_eq!(named("model.safetensors.index.json"), Some("shards"));
        for none in
            ["", "stb", ".stb", "model", "model.json", "xstb", "index.json", "a.stb.", "a.stb/"]
        {
            assert_eq!(named(none), None, "{none}");
        }
    }
}
