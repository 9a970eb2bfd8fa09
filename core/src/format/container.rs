//! The trait that each format implements.

use crate::codec::checksum::Checksum;
use crate::format::Policy;
use crate::input::{Absent, Source, Span};
use crate::model::{
    Chunk, Chunks, Endianness, Metadata, Name, NameAt, Part, Region, Tensor, Value, Version,
};
use crate::parse::{Cursor, Reader, State};
use crate::rule::{EntryKind, Halt};

/// A container format.
pub(crate) trait Container: Sized {
    /// What it remembers from one entry to the next.
    type State: State;

    /// Which of its rules stand for the checks that all formats share.
    const POLICY: Policy;

    /// Whether the first bytes (nine, or all `len` of them) belong to this format.
    fn detect(head: &[u8], len: u64) -> bool;

    /// Validates the header, on which the other functions rely.
    ///
    /// `c` is kept between calls, for formats whose header is longer than an
    /// entry. Findings of the header are reported when all its bytes were taken.
    fn open(r: &mut Reader<'_, '_>, c: &mut Cursor<Self::State>) -> Result<Self, Halt>;

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

    /// The alignment of payloads in bytes, up to which they are padded; 1 if there is none.
    fn alignment(&self) -> u64 {
        Self::POLICY.align
    }

    /// Where the index ends if tensors have numbers of one byte for names, and all data
    /// lies after it.
    fn numbered_until(&self) -> Option<u64> {
        None
    }

    /// Number of tensors that the file declares.
    fn tensor_count(&self) -> u64;

    /// The next metadata entry, validated; `None` at the end, where the cursor is
    /// finished. Of several tables, the cursor's phase says which one it is in.
    fn meta(
        &self,
        _: &mut Reader<'_, '_>,
        c: &mut Cursor<Self::State>,
    ) -> Result<Option<Metadata>, Halt> {
        c.finish();
        Ok(None)
    }

    /// The next tensor, validated; `None` at the end, where the cursor is finished.
    fn tensor(
        &self,
        r: &mut Reader<'_, '_>,
        c: &mut Cursor<Self::State>,
    ) -> Result<Option<Tensor>, Halt>;

    /// The next metadata entry of one tensor; `None` at the end, where
    /// the cursor is finished.
    fn attribute(
        &self,
        _: &mut Reader<'_, '_>,
        _tensor: &Tensor,
        c: &mut Cursor<Self::State>,
    ) -> Result<Option<Metadata>, Halt> {
        c.finish();
        Ok(None)
    }

    /// Reports what is not resident of tables that lie scattered over the file.
    fn missing(&self, _: &mut Reader<'_, '_>, _report: &mut dyn FnMut(Absent)) {}

    /// What a metadata entry holds; `None` if that cannot be read.
    fn value(&self, _: &mut Reader<'_, '_>, _meta: &Metadata) -> Result<Option<Value>, Halt> {
        Ok(None)
    }

    /// Piece `chunk` of the data of a tensor, which has that many.
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

    /// The next part of the file that something refers to: header, tables, values,
    /// payloads. Broken entries have none. What lies between parts is validated by the
    /// audit.
    fn region(
        &self,
        r: &mut Reader<'_, '_>,
        c: &mut Cursor<Self::State>,
    ) -> Result<Option<Region>, Halt>;

    /// One step of what needs more than one entry, or bytes of values.
    fn audit(&self, _: &mut Reader<'_, '_>, c: &mut Cursor<Self::State>) -> Result<(), Halt> {
        c.finish();
        Ok(())
    }

    /// Looks at what readers of models rely on beyond the format, as far as bytes are
    /// resident. The cursor and `keys` are kept when bytes are missing.
    fn keys(
        &self,
        _: &mut Reader<'_, '_>,
        c: &mut Cursor<Self::State>,
        _keys: &mut crate::format::Keys,
    ) -> Result<(), Halt> {
        c.finish();
        Ok(())
    }

    /// Passes over tensors for which [`tensor`](Self::tensor) would report nothing, while
    /// they are resident and `goes_on` returns true.
    fn sweep<'a>(
        &self,
        _: &mut Reader<'_, 'a>,
        _: &mut Cursor<Self::State>,
        _goes_on: &mut dyn FnMut(&Glance<'a>) -> bool,
    ) {
    }

    /// The same up to entry `until`, if [`sweep`](Self::sweep) has passed over all of these
    /// before: fewer checks suffice.
    fn sweep_again<'a>(
        &self,
        r: &mut Reader<'_, 'a>,
        c: &mut Cursor<Self::State>,
        _until: u32,
        goes_on: &mut dyn FnMut(&Glance<'a>) -> bool,
    ) {
        self.sweep(r, c, goes_on);
    }

    /// Turns the cursor at which listing all tensors ended into that at which
    /// [`audit`](Self::audit) begins, which need not prove again what listing has proved.
    #[cfg(feature = "sweep")]
    fn start_audit(&self, c: &mut Cursor<Self::State>) {
        *c = Cursor::START;
    }

    /// Whether listing all tensors, which ended at `listed`, has proved that the
    /// parts of the file come in order with nothing but sound padding between them.
    fn is_covered(&self, _listed: &Cursor<Self::State>) -> bool {
        false
    }

    /// Whether the last parts are the data of tensors, one for each that has any, in index
    /// order: those that [`payload`](Self::payload) returns.
    const ENDS_WITH_TENSORS: bool = false;

    /// The data of the next tensor that has any, as a part of the file.
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

/// The data of a tensor as a part of the file.
#[inline(always)]
pub(crate) fn data_of(tensor: u32, span: Span) -> Region {
    Region { part: Part::Payload, span, kind: EntryKind::Tensor, entry: tensor }
}

/// A tensor that a sweep is about to pass over.
pub(crate) struct Glance<'a> {
    /// Position in the index.
    pub(crate) index: u32,
    /// Absolute offset of its entry.
    pub(crate) at: u64,
    /// The place of its name.
    pub(crate) name_at: NameAt,
    /// Its name.
    pub(crate) name: Name<'a>,
}
