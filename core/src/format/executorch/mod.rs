//! ExecuTorch: programs (`.pte`, identifier `ET12`) and tensor data (`.ptd`, identifier `FT01`).
//!
//! | part of a program | contains |
//! |---|---|
//! | start | root offset, identifier, and an extended header if there are segments |
//! | flatbuffer | methods, each with values, operators, delegates, chains of instructions, and the sizes of its memory buffers; the places of segments, constants and named data |
//! | segments | constants, initial values of mutable tensors, data of delegates, named data |
//!
//! | part of tensor data | contains |
//! |---|---|
//! | start | root offset, identifier, header |
//! | flatbuffer | keys, each with a segment and, for a tensor, its type, extents and order |
//! | segments | the data of one key each |
//!
//! Opening verifies the whole flatbuffer (`flatbuffer`, shared code) and the places of segments, and
//! refuses a file in which an object cannot be read. Listing validates tensors, named data,
//! delegates and operators. The audit validates what remains: lists of indices, memory plans,
//! instructions, offsets of constants, and the bytes between segments.
//!
//! The tensors of all methods are listed, in the order of their values. Computed tensors have no
//! data, and most have no name. Methods, named data, delegates and operators are metadata; a
//! method's value is the sizes of its memory buffers. The bytes of delegates are not read.
//!
//! Order of suppression. A fatal fault of the flatbuffer ends validation. A segment whose place is
//! wrong is reported once, and everything in it is broken. Of a tensor, only the first of `T-TYPE`,
//! `T-RANK`, `T-DIM`, `T-PRODUCT`, `T-ORDER`, `T-LOCATION`, `T-MEMORY`, `T-PLANNED`, `T-INDEX`,
//! `T-MUTABLE`, `T-RANGE` and `T-SHORT` is reported. An index that is outside is not followed.

pub mod rules;

mod audit;
#[cfg(feature = "windows")]
mod data;
mod head;
mod library;
mod meta;
mod open;
mod parts;
mod place;
mod schema;
mod segment;
mod tensor;
mod types;

use crate::base::features::WINDOWS;
use crate::format::Container;
use crate::format::flatbuffer::Kept;
use crate::format::flatbuffer::reads::{Memo, Reads, Vector};
use crate::format::flatbuffer::shape::Shape;
use crate::model::{Metadata, Region, Tensor, Value, Version};
use crate::parse::{self, Reader};
use crate::rule::{EntryKind, Halt};
use audit::Run;
use head::{Head, Kind};
use segment::Segments;

/// The validated file, as plain numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Header {
    kind: Kind,
    /// As in [`Head`]. Flat, so that a file stays small.
    head_len: u32,
    end: u32,
    base: u64,
    size: u64,
    /// The version of the schema, at most what 16 bits hold.
    version: u16,
    plans: Vector,
    /// Constants in the flatbuffer, which old programs have.
    buffers: Vector,
    /// Data of delegates in the flatbuffer.
    inline: Vector,
    segments: Segments,
    /// Whether each segment is inside, and after those before it.
    sorted: bool,
    /// The segment of constants, the place of that number, and their offsets in it.
    constant: u32,
    constant_at: u32,
    offsets: Vector,
    mutable: Vector,
    named: Vector,
    tensors: u32,
    operators: u32,
    delegates: u32,
}

/// State kept between calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct State {
    /// The tensor at the cursor is read by itself.
    alone: bool,
    /// The table of metadata that is listed.
    part: u8,
    /// What was read of the current entry.
    memo: Memo,
    /// The extents of the current tensor, as far as they have been read.
    shape: Kept<Shape>,
    /// The current method.
    place: Place,
    /// While opening, and while parts are listed.
    scan: Kept<open::Scan>,
    /// While the file is audited.
    run: Run,
}

impl parse::State for State {
    const START: State = State {
        alone: false,
        part: 0,
        memo: Memo::NONE,
        shape: Kept::new(Shape::START),
        place: Place::START,
        scan: Kept::new(open::Scan::START),
        run: Run::START,
    };
    const ALONE: State = State { alone: true, ..State::START };
}

/// A position in a list that each method has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Place {
    /// Number of methods entered.
    plans: u32,
    /// The list of the last one, and the number of its items passed.
    list: Vector,
    passed: u32,
    /// The sizes of its memory buffers.
    sizes: Vector,
}

impl Place {
    const START: Place = Place { plans: 0, list: Vector::NONE, passed: 0, sizes: Vector::NONE };
}

/// Position of an iteration.
type Cursor = parse::Cursor<State>;

/// Numbers of a method's fields.
mod field {
    pub(super) const VALUES: u8 = 2;
    pub(super) const OPERATORS: u8 = 6;
    pub(super) const DELEGATES: u8 = 7;
    pub(super) const SIZES: u8 = 8;
}

/// Kinds of values.
mod kind {
    pub(super) const NULL: u32 = 1;
    pub(super) const INT: u32 = 2;
    pub(super) const BOOL: u32 = 3;
    pub(super) const TENSOR: u32 = 5;
    pub(super) const TEXT: u32 = 6;
    pub(super) const INTS: u32 = 7;
    pub(super) const TENSORS: u32 = 10;
    pub(super) const OPTIONAL_TENSORS: u32 = 11;
}

impl Container for Header {
    type State = State;

    fn detect(head: &[u8], _: u64) -> bool {
        schema::PROGRAM.identifies(head) || WINDOWS && schema::DATA.identifies(head)
    }

    fn open(r: &mut Reader<'_, '_>, c: &mut Cursor) -> Result<Header, Halt> {
        open::open(r, c)
    }

    fn version(&self) -> Option<Version> {
        Some(Version::major(self.version))
    }

    fn tensor_count(&self) -> u64 {
        self.tensors.into()
    }

    /// Methods, named data, delegates and operators; of tensor data, the keys. Each is a table of its
    /// own, in which names are compared: a key may be that of a method.
    fn meta(&self, r: &mut Reader<'_, '_>, c: &mut Cursor) -> Result<Option<Metadata>, Halt> {
        let entry = meta::next(self, r, c)?;
        c.phase = c.state.part;
        Ok(entry)
    }

    /// The names of tensors are those of a model's weights, which two methods may share, and so are
    /// the names of delegates and operators.
    fn may_repeat(&self, kind: EntryKind, index: u32) -> bool {
        kind == EntryKind::Metadata && index >= self.plans.count.saturating_add(self.named.count)
    }

    fn value(&self, _: &mut Reader<'_, '_>, meta: &Metadata) -> Result<Option<Value>, Halt> {
        Ok(Some(meta::value(meta)))
    }

    fn tensor(&self, r: &mut Reader<'_, '_>, c: &mut Cursor) -> Result<Option<Tensor>, Halt> {
        #[cfg(feature = "windows")]
        if !self.is_program() {
            return data::next(self, r, c);
        }
        tensor::next(self, r, c)
    }

    /// The objects of the flatbuffer, then the data of tensors, delegates and keys. Objects may be
    /// shared, so that equal parts are no fault.
    fn region(&self, r: &mut Reader<'_, '_>, c: &mut Cursor) -> Result<Option<Region>, Halt> {
        parts::next(self, r, c)
    }

    /// Continues the validation of everything that listing leaves out.
    fn audit(&self, r: &mut Reader<'_, '_>, c: &mut Cursor) -> Result<(), Halt> {
        audit::audit(self, r, c)
    }
}

impl Header {
    /// The start of the file.
    fn head(&self) -> Head {
        let Header { kind, head_len: len, end, base, size, .. } = *self;
        Head { kind, len, end, base, size }
    }

    /// Whether the file is a program, and not tensor data.
    pub const fn is_program(&self) -> bool {
        !WINDOWS || matches!(self.kind, Kind::Program)
    }

    /// Number of methods.
    pub const fn methods(&self) -> u32 {
        self.plans.count
    }

    /// Number of operators that methods name; one that two methods name counts twice.
    pub const fn operators(&self) -> u32 {
        self.operators
    }

    /// Number of delegates of all methods.
    pub const fn delegates(&self) -> u32 {
        self.delegates
    }

    /// Number of entries of named data.
    pub const fn named_data(&self) -> u32 {
        self.named.count
    }

    /// Number of segments.
    pub const fn segments(&self) -> u32 {
        self.segments.list.count
    }
}

/// Moves to the next item of a list that each method has; false after the last method.
fn enter(header: &Header, r: &mut Reader<'_, '_>, c: &mut Cursor, field: u8) -> Result<bool, Halt> {
    let State { memo, place, .. } = &mut c.state;
    loop {
        if place.passed < place.list.count {
            return Ok(true);
        }
        if place.plans >= header.plans.count {
            return Ok(false);
        }
        let mut reads = Reads::new(r, memo);
        let plan = reads.item(header.plans, place.plans)?;
        let list = reads.vector(&plan, field)?;
        let sizes = reads.vector(&plan, field::SIZES)?;
        memo.clear();
        let plans = place.plans.wrapping_add(1);
        *place = Place { plans, list, passed: 0, sizes };
    }
}
