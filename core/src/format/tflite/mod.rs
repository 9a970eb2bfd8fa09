//! TensorFlow Lite (`.tflite`): one flatbuffer with the identifier `TFL3`.
//!
//! | table | contains |
//! |---|---|
//! | model | version, operator codes, subgraphs, buffers, metadata, signatures, external buffers |
//! | operator code | a number, or the name of a custom operator; a version |
//! | subgraph | tensors, inputs, outputs, operators in order of execution |
//! | tensor | extents, element type, number of a buffer, name, quantisation, sparsity |
//! | operator | number of a code, of tensors read and written, options |
//! | buffer | data, or the place of data behind the flatbuffer |
//!
//! Opening verifies the whole flatbuffer (`flatbuffer`, shared code) and refuses a
//! file in which an object cannot be read. Listing validates tensors and their buffers. The audit
//! validates what remains: quantisation, sparsity, texts, operators and how they are connected,
//! signatures, and buffers that nothing uses.
//!
//! All tensors of all subgraphs are listed. Computed tensors have no data. Names
//! may be missing or equal; a lookup finds the first.
//!
//! Order of suppression. A fatal fault of the flatbuffer ends validation. Of a tensor, only the
//! first of `T-TYPE`, `T-DIM`, `T-PRODUCT`, `B-INDEX`, `B-RANGE`, `T-RESOURCE`, `T-SHORT` and
//! `T-LONG` is reported, and a broken one is not validated further. An index that is outside is not
//! followed.

pub mod rules;

mod audit;
mod codes;
mod ends;
mod open;
mod operations;
mod operators;
mod parts;
#[cfg(feature = "sweep")]
mod proof;
mod quantization;
mod schema;
mod tensor;
mod text;

use crate::format::Container;
#[cfg(feature = "windows")]
use crate::format::Marks;
#[cfg(feature = "sweep")]
use crate::format::Memory;
use crate::format::flatbuffer::{Kept, reads, shape};
use crate::input::Source;
use crate::model::{Metadata, Region, Tensor, Value, Version};
use crate::parse::{self, Reader};
use crate::rule::Halt;
pub use operations::{OperatorCode, OperatorCursor};
pub use quantization::Quantization;
use reads::{Memo, Vector};
use shape::Shape;

/// The validated model, as plain numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Header {
    /// The lists of the model, by the numbers in [`list`].
    lists: [Vector; list::FIELDS.len()],
    tensors: u32,
    operators: u32,
    custom: u32,
}

/// Numbers of the lists of a model.
mod list {
    pub(super) const CODES: usize = 0;
    pub(super) const SUBGRAPHS: usize = 1;
    pub(super) const BUFFERS: usize = 2;
    pub(super) const OLD_METADATA: usize = 3;
    pub(super) const METADATA: usize = 4;
    pub(super) const SIGNATURES: usize = 5;
    pub(super) const GROUPS: usize = 6;
    pub(super) const EXTERNALS: usize = 7;
    /// The fields of the model that refer to them.
    pub(super) const FIELDS: [u8; 8] = [1, 2, 4, 5, 6, 7, 8, 9];
}

/// State kept between calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct State {
    /// The tensor at the cursor is read by itself.
    alone: bool,
    /// What was read of the current entry.
    memo: Memo,
    /// The extents of the current tensor, as far as they have been read.
    shape: Kept<Shape>,
    /// The tensors of the current subgraph.
    place: Place,
    /// While opening, and while parts are listed.
    scan: Kept<open::Scan>,
    /// While the model is audited.
    audit: audit::State,
}

impl parse::State for State {
    const START: State = State {
        alone: false,
        memo: Memo::NONE,
        shape: Kept::new(Shape::START),
        place: Place::START,
        scan: Kept::new(open::Scan::START),
        audit: audit::State::START,
    };
    const ALONE: State = State { alone: true, ..State::START };
}

/// A position among the tensors of all subgraphs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Place {
    /// Number of subgraphs entered.
    subgraphs: u32,
    /// The tensors of the last one, and the number of those passed.
    tensors: Vector,
    passed: u32,
}

impl Place {
    const START: Place = Place { subgraphs: 0, tensors: Vector::NONE, passed: 0 };
}

/// Position of an iteration.
type Cursor = parse::Cursor<State>;

/// What the number in [`Metadata::tag`] means.
mod tag {
    /// Bytes of a buffer.
    pub(super) const BYTES: u32 = 0;
    /// Text, with zero bytes after it.
    pub(super) const TEXT: u32 = 1;
    /// The number of a subgraph.
    pub(super) const SUBGRAPH: u32 = 2;
}

impl Container for Header {
    type State = State;

    fn detect(head: &[u8], _: u64) -> bool {
        schema::MODEL.identifies(head)
    }

    fn open(r: &mut Reader<'_, '_>, c: &mut Cursor) -> Result<Header, Halt> {
        open::open(r, c)
    }

    fn version(&self) -> Option<Version> {
        Some(Version::major(3))
    }

    fn tensor_count(&self) -> u64 {
        self.tensors.into()
    }

    /// The metadata, then the signatures, each with its key.
    fn meta(&self, r: &mut Reader<'_, '_>, c: &mut Cursor) -> Result<Option<Metadata>, Halt> {
        text::next(self, r, c)
    }

    fn value(&self, r: &mut Reader<'_, '_>, meta: &Metadata) -> Result<Option<Value>, Halt> {
        text::value(r, meta)
    }

    fn tensor(&self, r: &mut Reader<'_, '_>, c: &mut Cursor) -> Result<Option<Tensor>, Halt> {
        tensor::next(self, r, c)
    }

    /// The objects of the flatbuffer, then the data of tensors and of metadata. Objects may be
    /// shared, so that equal parts are no fault.
    fn region(&self, r: &mut Reader<'_, '_>, c: &mut Cursor) -> Result<Option<Region>, Halt> {
        parts::next(self, r, c)
    }

    /// Continues the validation of everything that listing leaves out.
    fn audit(&self, r: &mut Reader<'_, '_>, c: &mut Cursor) -> Result<(), Halt> {
        audit::audit(self, r, c)
    }

    #[cfg(feature = "sweep")]
    fn proof_places(&self, source: &Source<'_>) -> Option<u32> {
        proof::places(self, source)
    }

    #[cfg(feature = "sweep")]
    fn prove(
        &self,
        r: &mut Reader<'_, '_>,
        c: &mut Cursor,
        memory: &mut impl Memory,
    ) -> Option<u64> {
        proof::prove(self, r, c, memory)
    }

    /// Tensors and buffers are marked. A model of up to [`audit::BITS`] of each needs no memory.
    #[cfg(feature = "windows")]
    fn marks(&self) -> u32 {
        let most = self.tensors.max(self.list(list::BUFFERS).count);
        if most > audit::BITS { most } else { 0 }
    }

    #[cfg(feature = "windows")]
    fn audit_marking(
        &self,
        r: &mut Reader<'_, '_>,
        c: &mut Cursor,
        marks: &mut dyn Marks,
    ) -> Result<(), Halt> {
        match marks.most() {
            0 => self.audit(r, c),
            _ => audit::audit_marking(self, r, c, marks),
        }
    }
}

impl Header {
    /// A list of the model.
    #[inline(always)]
    fn list(&self, number: usize) -> Vector {
        self.lists.get(number).copied().unwrap_or(Vector::NONE)
    }

    /// Position of a signature in the list of metadata: after all others.
    fn signature(&self, index: u32) -> u32 {
        self.list(list::METADATA).count.wrapping_add(index)
    }

    /// Number of operators in all subgraphs.
    pub const fn operators(&self) -> u32 {
        self.operators
    }

    /// Number of operator codes with a name: those of custom operators.
    pub const fn custom_codes(&self) -> u32 {
        self.custom
    }

    /// Number of subgraphs.
    pub const fn subgraphs(&self) -> u32 {
        let [_, subgraphs, ..] = &self.lists;
        subgraphs.count
    }

    /// Number of signatures.
    pub const fn signatures(&self) -> u32 {
        let [.., signatures, _, _] = &self.lists;
        signatures.count
    }
}

/// The flatbuffer: the file, up to the length that offsets can reach.
fn extent(source: &Source<'_>) -> u64 {
    source.len().min(u32::MAX.into())
}
