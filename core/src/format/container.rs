//! The trait that each format implements.

use crate::codec::checksum::Checksum;
#[cfg(feature = "sweep")]
use crate::format::Memory;
use crate::format::{Fault, Marks};
use crate::input::{Absent, Source, Span};
use crate::model::{
    Chunk, Chunks, Endianness, Metadata, Name, NameAt, Part, Region, Tensor, Value, Version,
};
#[cfg(feature = "payloads")]
use crate::model::{parted::Parted, texts::Texts};
use crate::parse::{Cursor, Reader, State};
use crate::rule::{EntryKind, Halt, Rule};

/// A container format. Its rules for checks that all formats share are in `rules::shared` of its
/// folder.
pub(crate) trait Container: Sized {
    /// State kept from one entry to the next.
    type State: State;

    /// Names of the types of metadata values, by number.
    const VALUE_TYPES: &[&str] = &[];

    /// The rules whose messages quote the text at the place of the finding: the name of a type.
    const QUOTING: &[Rule] = &[];

    /// Whether what surrounds an entry may name it. Such an entry, read by itself, has another
    /// name than in a listing, or none.
    const NAMED_AROUND: bool = false;

    /// Whether the first bytes (nine, or all `len` of them) belong to this format.
    fn detect(head: &[u8], len: u64) -> bool;

    /// Validates the header. The other functions rely on it.
    ///
    /// `c` is kept between calls, for formats whose header is longer than an
    /// entry. Findings about the header are reported after all its bytes have been read.
    fn open(r: &mut Reader<'_, '_>, c: &mut Cursor<Self::State>) -> Result<Self, Halt>;

    /// The rule for a fault that a shared check finds, if this file's differs from the one of the
    /// format, which is `shared`.
    fn rule(&self, _: Fault, shared: Option<Rule>) -> Option<Rule> {
        shared
    }

    /// The version recorded in the file; `None` if the format has no versions.
    fn version(&self) -> Option<Version>;

    /// The file length recorded in the file, if any.
    fn file_len(&self) -> Option<u64> {
        None
    }

    /// The byte order of numbers in metadata.
    fn endianness(&self) -> Endianness {
        Endianness::Little
    }

    /// The alignment to which payloads are padded, in bytes; 1 if there is none.
    fn alignment(&self) -> u64 {
        1
    }

    /// Whether empty payloads, too, must lie outside all others.
    fn places_empty(&self) -> bool {
        false
    }

    /// End of the index, if tensor names are one-byte numbers and all data comes after the
    /// index.
    fn numbered_until(&self) -> Option<u64> {
        None
    }

    /// Number of tensors declared by the file.
    fn tensor_count(&self) -> u64;

    /// Reads and validates the next metadata entry. At the end, finishes the cursor and
    /// returns `None`. With several tables, the cursor's phase is the current table.
    fn meta(
        &self,
        _: &mut Reader<'_, '_>,
        c: &mut Cursor<Self::State>,
    ) -> Result<Option<Metadata>, Halt> {
        c.finish();
        Ok(None)
    }

    /// Reads and validates the next tensor. At the end, finishes the cursor and returns
    /// `None`.
    fn tensor(
        &self,
        r: &mut Reader<'_, '_>,
        c: &mut Cursor<Self::State>,
    ) -> Result<Option<Tensor>, Halt>;

    /// Whether this entry may have the name of another of its kind, although a rule forbids that
    /// for most.
    fn may_repeat(&self, _kind: EntryKind, _index: u32) -> bool {
        false
    }

    /// Reads the next metadata entry of one tensor. At the end, finishes the cursor and
    /// returns `None`.
    fn attribute(
        &self,
        _: &mut Reader<'_, '_>,
        _tensor: &Tensor,
        c: &mut Cursor<Self::State>,
    ) -> Result<Option<Metadata>, Halt> {
        c.finish();
        Ok(None)
    }

    /// Reports the non-resident parts of tables that are scattered over the file.
    fn missing(&self, _: &mut Reader<'_, '_>, _report: &mut dyn FnMut(Absent)) {}

    /// The value of a metadata entry; `None` if it cannot be read.
    fn value(&self, _: &mut Reader<'_, '_>, _meta: &Metadata) -> Result<Option<Value>, Halt> {
        Ok(None)
    }

    /// Chunk number `chunk` of a tensor's data. The tensor must have that many.
    fn chunk(
        &self,
        _: &mut Reader<'_, '_>,
        tensor: &Tensor,
        _chunk: u64,
    ) -> Result<Option<Chunk>, Halt> {
        Ok(Chunk::raw(tensor))
    }

    /// The recorded checksum of a tensor's stored bytes; `None` if there is none or its
    /// form is unknown.
    fn checksum(&self, _: &Source<'_>, _tensor: &Tensor) -> Result<Option<Checksum>, Absent> {
        Ok(None)
    }

    /// Where the elements of a tensor have text, for tensors whose `width` says that they have it.
    #[cfg(feature = "payloads")]
    fn texts(&self, _: &mut Reader<'_, '_>, _tensor: &Tensor) -> Result<Texts, Halt> {
        Ok(Texts::NONE)
    }

    /// The parts of a sparse tensor whose indices must be decoded before they can be followed;
    /// `None` if it has none.
    #[cfg(feature = "payloads")]
    fn parted(&self, _: &mut Reader<'_, '_>, _tensor: &Tensor) -> Result<Option<Parted>, Halt> {
        Ok(None)
    }

    /// The next used part of the file: header, table, value or payload. Broken entries have
    /// none. The audit validates the bytes between parts.
    fn region(
        &self,
        r: &mut Reader<'_, '_>,
        c: &mut Cursor<Self::State>,
    ) -> Result<Option<Region>, Halt>;

    /// One step of the checks that need more than one entry, or the bytes of values.
    fn audit(&self, _: &mut Reader<'_, '_>, c: &mut Cursor<Self::State>) -> Result<(), Halt> {
        c.finish();
        Ok(())
    }

    /// Number of entries that [`audit_marking`](Self::audit_marking) can mark at the same time; 0
    /// if it needs no memory for them.
    fn marks(&self) -> u32 {
        0
    }

    /// [`audit`](Self::audit) with memory for [`marks`](Self::marks), or for none: then entries are
    /// passed more than once.
    fn audit_marking(
        &self,
        r: &mut Reader<'_, '_>,
        c: &mut Cursor<Self::State>,
        _marks: &mut dyn Marks,
    ) -> Result<(), Halt> {
        self.audit(r, c)
    }

    /// Number of places in memory that [`prove`](Self::prove) takes for a file that is resident as a
    /// whole; `None` if it would prove nothing, or take longer than what it makes unnecessary.
    #[cfg(feature = "sweep")]
    fn proof_places(&self, _: &Source<'_>) -> Option<u32> {
        None
    }

    /// Proves in one pass that listing the tensors, comparing their names and comparing the parts of
    /// the file report nothing but what this function reports. Returns the end of the last part, and
    /// leaves in the cursor the start of an [`audit`](Self::audit) of what was not proved. `None` if
    /// something may be wrong; then nothing was reported.
    #[cfg(feature = "sweep")]
    fn prove(
        &self,
        _: &mut Reader<'_, '_>,
        _: &mut Cursor<Self::State>,
        _: &mut impl Memory,
    ) -> Option<u64> {
        None
    }

    /// Skips tensors for which [`tensor`](Self::tensor) would report nothing, while they are
    /// resident and `goes_on` returns true.
    fn sweep<'a>(
        &self,
        _: &mut Reader<'_, 'a>,
        _: &mut Cursor<Self::State>,
        _goes_on: &mut dyn FnMut(&Glance<'a>) -> bool,
    ) {
    }

    /// Sweeps again up to entry `until`, with fewer checks. [`sweep`](Self::sweep) must have
    /// skipped all of these entries before.
    fn sweep_again<'a>(
        &self,
        r: &mut Reader<'_, 'a>,
        c: &mut Cursor<Self::State>,
        _until: u32,
        goes_on: &mut dyn FnMut(&Glance<'a>) -> bool,
    ) {
        self.sweep(r, c, goes_on);
    }

    /// Turns the cursor at the end of the tensor listing into the start cursor of
    /// [`audit`](Self::audit), which need not repeat checks that the listing has done.
    fn start_audit(&self, c: &mut Cursor<Self::State>) {
        *c = Cursor::START;
    }

    /// Whether the tensor listing that ended at `listed` has proved that the parts of the
    /// file are in order with only valid padding between them.
    fn is_covered(&self, _listed: &Cursor<Self::State>) -> bool {
        false
    }

    /// Whether the last parts are the tensors' data in index order, one part per tensor with
    /// data, as [`payload`](Self::payload) returns them.
    const ENDS_WITH_TENSORS: bool = false;

    /// The data of the next tensor with data, as a part of the file.
    fn payload(
        &self,
        r: &mut Reader<'_, '_>,
        c: &mut Cursor<Self::State>,
    ) -> Result<Option<Region>, Halt> {
        while let Some(tensor) = self.tensor(r, c)? {
            if let Chunks::One(span) = tensor.chunks {
                return Ok(Some(data_of(tensor.index, span)));
            }
        }
        Ok(None)
    }
}

/// A tensor's data as a part of the file.
#[inline(always)]
pub(crate) fn data_of(tensor: u32, span: Span) -> Region {
    Region { part: Part::Payload, span, kind: EntryKind::Tensor, entry: tensor }
}

/// A tensor that a sweep is about to skip.
pub(crate) struct Glance<'a> {
    /// Position in the index.
    pub(crate) index: u32,
    /// Absolute offset of its entry.
    pub(crate) at: u64,
    /// Location of its name.
    pub(crate) name_at: NameAt,
    /// Its name.
    pub(crate) name: Name<'a>,
}
