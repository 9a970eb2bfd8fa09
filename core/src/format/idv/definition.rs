//! Codec definitions, as stored.
//!
//! | field | type |
//! |---|---|
//! | loadname | string |
//! | n | LEB128 |
//! | parameters | n bytes |
//!
//! The parameters of `VBuffer`, `Key` and `Key2` begin with the definition of their items.

use super::family::{self, Family};
use super::leb128::{LARGEST, NUMBER, Text};
use super::rules;
use crate::base::{Word, limits, wide, widen, word};
use crate::input::Span;
use crate::model::{DimEncoding, DimsAt};
use crate::parse::Reader;
use crate::rule::Rule;

/// A parsed definition.
#[derive(Clone, Copy, Debug)]
pub(super) struct Definition {
    at: Word,
    end: Word,
    /// Offset and number of a vector's dims.
    dims: Word,
    rank: u32,
    /// The product of the dims; 0 for single values and vectors of varying length.
    pub(super) size: u32,
    pub(super) vector: bool,
    /// The type of the values, or of the items of vectors.
    pub(super) item: Family,
    /// Whether the definition has no fault that makes it unreadable.
    pub(super) sound: bool,
}

impl Definition {
    /// An empty definition.
    pub(super) const NONE: Definition = Definition {
        at: 0,
        end: 0,
        dims: 0,
        rank: 0,
        size: 0,
        vector: false,
        item: family::UNKNOWN,
        sound: false,
    };

    pub(super) fn span(&self) -> Span {
        Span::new(wide(self.at), wide(self.end.wrapping_sub(self.at)))
    }

    /// Location of a vector's dims; empty for other values.
    pub(super) fn dims(&self) -> DimsAt {
        DimsAt {
            offset: wide(self.dims),
            len: self.rank.wrapping_mul(4),
            rank: self.rank,
            lead: None,
            encoding: if self.vector { DimEncoding::U32 } else { DimEncoding::U64 },
        }
    }

    /// Whether every part of the definition is known.
    pub(super) fn is_known(&self) -> bool {
        self.item != family::UNKNOWN
    }

    /// Resets the parameters to unknown, because they cannot be read.
    fn forget(&mut self) {
        (self.item, self.vector) = (family::UNKNOWN, false);
        (self.size, self.dims, self.rank) = (0, 0, 0);
        self.sound = false;
    }
}

/// The common start of the entries in both tables of contents.
#[derive(Clone, Copy, Debug)]
pub(super) struct Head {
    /// Start of the entry.
    pub(super) at: Word,
    /// The name of a column, or the kind of an annotation.
    pub(super) name: Text,
    pub(super) definition: Definition,
    /// The compression kind.
    pub(super) compression: u8,
}

impl Head {
    /// A head before anything has been read.
    pub(super) const NONE: Head =
        Head { at: 0, name: Text::NONE, definition: Definition::NONE, compression: 0 };

    /// Reads the head at the current position and validates the definition. A name whose
    /// length is malformed breaks `rule`.
    pub(super) fn take(&mut self, r: &mut Reader<'_, '_>, rule: Rule) {
        self.at = r.here();
        r.string(rule, &mut self.name);
        definition(r, &mut self.definition);
        self.compression = r.next_u8();
    }

    /// Offset of the compression kind.
    pub(super) fn compression_at(&self) -> Word {
        self.definition.end
    }

    /// Whether the data is unreadable because the codec or compression is unknown.
    pub(super) fn is_dead(&self) -> bool {
        !self.definition.is_known() || self.compression > 2
    }
}

/// One of several nested definitions.
#[derive(Clone, Copy)]
struct Level {
    /// Start and end of the parameters.
    at: Word,
    end: Word,
    family: Family,
    sound: bool,
}

/// Maximum number of nested definitions; deeper ones are not read.
#[allow(clippy::as_conversions, reason = "a small number")]
const LEVELS: usize = limits::CODEC_DEPTH as usize;

/// Reads and validates a definition. A fault inside the parameters is reported and leaves
/// the rest of the entry readable; the reader halts if the end of the definition is unknown.
///
/// Definitions nest. Names and lengths are read on the way in and kept, because recursion
/// would take too much of a small stack; parameters are read on the way out. After a fault in
/// an inner definition, the parameters around it are not read.
pub(super) fn definition(r: &mut Reader<'_, '_>, d: &mut Definition) {
    *d = Definition { at: r.here(), ..Definition::NONE };
    let (outer, rule) = (r.end(), r.overrun_rule());
    let none = Level { at: 0, end: 0, family: family::UNKNOWN, sound: false };
    let mut levels = [none; LEVELS + 1];
    let mut depth = 0_usize;
    while let Some(level) = levels.get_mut(depth) {
        enter(r, level, depth);
        if r.is_halted() || !family::nests(level.family) {
            break;
        }
        depth = depth.wrapping_add(1);
    }
    if r.is_halted() {
        // A fault in the outermost name or length breaks the whole entry.
        let Some(before) = depth.checked_sub(1) else { return };
        depth = before;
    }
    while let Some(level) = levels.get(depth) {
        let mut sound = level.sound;
        if !r.is_halted() {
            parameters(r, d, level);
        }
        if let Err(halt) = r.settle() {
            if halt.is_absent() {
                return r.halt(halt);
            }
            if let Some(rule) = halt.unreported() {
                let len = level.end.wrapping_sub(level.at);
                let taken = r.here().wrapping_sub(level.at);
                let takes = wide(taken).saturating_add(r.needed());
                r.flag(rule, wide(level.at), wide(len), takes, wide(len));
            }
            d.forget();
            break;
        }
        let taken = r.here();
        if sound && taken != level.end && level.family != family::UNKNOWN {
            let len = wide(level.end.wrapping_sub(level.at));
            let taken = wide(taken.wrapping_sub(level.at));
            r.flag(rules::T_CODEC_PARAM, wide(level.at), len, taken, len);
            sound = false;
        }
        d.sound = sound;
        let Some(before) = depth.checked_sub(1) else { break };
        if !sound {
            d.forget();
            break;
        }
        leave(r, level.end, levels.get(before).map_or(outer, |around| wide(around.end)));
        depth = before;
    }
    d.end = levels.first().map_or(0, |level| level.end);
    leave(r, d.end, outer);
    r.overrun(rule);
}

/// Moves to the end of a definition, and widens the region to `outer`.
fn leave(r: &mut Reader<'_, '_>, end: Word, outer: u64) {
    r.limit(outer, rules::T_CODEC_PARAM);
    let left = end.wrapping_sub(r.here());
    if let Err(halt) = r.skip(wide(left)) {
        r.halt(halt);
    }
}

/// Reads the name and the length, and stops before the parameters.
fn enter(r: &mut Reader<'_, '_>, level: &mut Level, depth: usize) {
    let mut name = Text::NONE;
    let bytes = r.string(rules::T_CODEC_NAME, &mut name);
    let length_at = r.here();
    let largest = i64::MAX.unsigned_abs();
    let len = r.leb(rules::T_CODEC_LEN, NUMBER, largest);
    let taken = wide(r.here().wrapping_sub(length_at));
    if len > largest {
        r.fail(rules::T_CODEC_LEN, length_at, taken, largest, len);
    } else if len > r.left() {
        // Breaks the rule of the region, and leaves the reader before the parameters.
        if let Err(halt) = r.skip(len) {
            r.halt(halt);
        }
    }
    if r.is_halted() {
        return;
    }
    let mut sound = true;
    let span = name.span();
    if name.is_empty() || !name.utf8 {
        r.flag(rules::T_CODEC_NAME, span.offset, span.len, 0, 0);
        sound = false;
    }
    let mut family = family::of(bytes);
    if depth >= LEVELS {
        let levels = u64::from(limits::CODEC_DEPTH);
        r.flag(rules::T_CODEC_DEPTH, span.offset, span.len, levels, levels.saturating_add(1));
        (family, sound) = (family::UNKNOWN, false);
    }
    let at = r.here();
    *level = Level { at, end: at.wrapping_add(word(len)), family, sound };
    if family != family::UNKNOWN {
        r.limit(wide(level.end), rules::T_CODEC_PARAM);
    }
}

/// Reads the parameters of a family. If they begin with a definition, the reader stands after
/// it, and `d` holds its result.
fn parameters(r: &mut Reader<'_, '_>, d: &mut Definition, level: &Level) {
    match level.family {
        family::VECTOR => vector(r, d, level.at),
        family::KEY | family::OLD_KEY => key(r, d, level),
        item => d.item = item,
    }
}

/// Length of the inner definition, which begins the parameters at `at`.
fn inner(r: &Reader<'_, '_>, at: Word) -> u64 {
    wide(r.here().wrapping_sub(at))
}

// Each family's parameters have their own stack frame, because the stack is small.
fn vector(r: &mut Reader<'_, '_>, d: &mut Definition, start: Word) {
    if d.vector {
        let len = inner(r, start);
        return r.fail(rules::T_CODEC_VEC_INNER, start, len, 0, 0);
    }
    let count_at = r.here();
    let rank = r.next_u32();
    if u64::from(rank) > LARGEST {
        return r.fail(rules::T_CODEC_VEC_DIMS, count_at, 4, 0, u64::from(rank));
    }
    let at = r.here();
    let dims = r.bytes(word(u64::from(rank)).saturating_mul(4));
    let mut size = 1;
    for dim in dims.as_chunks::<4>().0 {
        let dim = u64::from(u32::from_le_bytes(*dim));
        // The product must fit at every step, even if a later dim is 0.
        let product = u64::from(size).wrapping_mul(dim);
        if dim > LARGEST || product > LARGEST {
            return r.fail(rules::T_CODEC_VEC_DIMS, at, widen(dims.len()), 0, 0);
        }
        size = u32::try_from(product).unwrap_or(0);
    }
    d.vector = true;
    (d.size, d.dims, d.rank) = (size, at, rank);
    if rank == 0 {
        // No dims means one varying dim; the count, which is 0, doubles as that dim.
        (d.size, d.dims, d.rank) = (0, count_at, 1);
    }
}

fn key(r: &mut Reader<'_, '_>, d: &mut Definition, level: &Level) {
    let old = level.family == family::OLD_KEY;
    let at = r.here();
    let len = inner(r, level.at);
    let (mut contiguous, mut min, mut count_at) = (1, 0, at);
    let count;
    if old {
        contiguous = r.next_u8();
        if contiguous > 1 {
            return r.fail(rules::T_CODEC_KEY_CONTIG, at, 1, 1, u64::from(contiguous));
        }
        min = r.next_u64();
        count_at = r.here();
        count = u64::from(r.next_u32());
    } else {
        count = r.next_u64();
    }
    if r.is_halted() || !(d.vector || d.is_known()) {
        return;
    }
    let Some((item, mut most)) = family::key_of(d.item).filter(|_| !d.vector) else {
        return r.fail(rules::T_CODEC_KEY_INNER, level.at, len, 0, 0);
    };
    d.item = item;
    let mut least = 1;
    let mut count_len = 8;
    if old {
        most = if contiguous == 1 { most.min(LARGEST) } else { 0 };
        (least, count_len) = (0, 4);
        let (flag_at, min_at) = (wide(at), wide(at.wrapping_add(1)));
        r.check(contiguous == 1, rules::T_CODEC_KEY_GAPS, Span::new(flag_at, 1), 1, 0);
        r.check(min == 0, rules::T_CODEC_KEY_MIN, Span::new(min_at, 8), 0, min);
    }
    // A count below the minimum wraps and does not fit.
    let fits = count.wrapping_sub(least) <= most.wrapping_sub(least);
    r.check(fits, rules::T_CODEC_KEY_COUNT, Span::new(wide(count_at), count_len), most, count);
}
