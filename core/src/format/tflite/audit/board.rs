//! The audit of a model that is wholly in memory: one pass, with less code than the steps in
//! `steps.rs`, for boards.
//!
//! It has the rules on which a runtime relies: every index, every operator, and quantisation. What
//! it leaves out, it names: overlaps, gaps and equal names always; indices of sparse tensors,
//! texts, scales in other tensors, data in other files, and calls to earlier subgraphs where a
//! model has them. Lints but that of alignment are for hosts.

use super::{ALIGN, BITS, Bits, fits, found, is_inside};
use crate::base::{Word, limits, place, wide, word};
use crate::format::flatbuffer::reads::{Memo, Reads, Table, Vector, ready, slice};
use crate::format::tflite::operators::CALLS;
use crate::format::tflite::tensor::{self, Fields};
use crate::format::tflite::{Cursor, Header, codes, list, rules};
use crate::input::Span;
use crate::model::DType;
use crate::parse::Reader;
use crate::rule::general::{COVERAGE_UNCHECKED, DATA_UNCHECKED, NAMES_UNCHECKED, SHARED_UNCHECKED};
use crate::rule::{EntryKind, Halt, Rule};

/// The audit of a model.
struct Check<'c, 'r, 'a> {
    header: &'c Header,
    r: &'c mut Reader<'r, 'a>,
    memo: Memo,
    /// Tensors from a base on that have a value: constants, inputs, results.
    bits: Bits,
    base: u32,
    /// The tensors of the current subgraph, and its number.
    tensors: Vector,
    subgraph: u32,
    /// Number of the next tensor in all subgraphs.
    entry: u32,
    /// Number of items of lists that may still be read.
    left: Word,
    /// Something was reported that stands for all others of its kind.
    misaligned: bool,
    backward: bool,
}

/// What the tensors in a list are for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Use {
    /// Only named.
    Named,
    /// Given a value from outside.
    Given,
    /// Read, so one that has a value.
    Read,
    /// Written, so one that has none.
    Written,
    /// Subgraphs that are called.
    Called,
}

/// What the audit keeps between steps: it has one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(in crate::format::tflite) struct State;

impl State {
    pub(in crate::format::tflite) const START: State = State;
}

/// Validates everything that listing leaves out.
pub(in crate::format::tflite) fn audit(
    header: &Header,
    r: &mut Reader<'_, '_>,
    c: &mut Cursor,
) -> Result<(), Halt> {
    c.finish();
    // Four bytes each, of as many as entries may refer to.
    let left = place(r.source().len()).saturating_add(word(limits::SHARED >> 2));
    let mut check = Check {
        header,
        r,
        memo: Memo::NONE,
        bits: Bits::NONE,
        base: 0,
        tensors: Vector::NONE,
        subgraph: 0,
        entry: 0,
        left,
        misaligned: false,
        backward: false,
    };
    check.all()
}

impl<'r, 'a> Check<'_, 'r, 'a> {
    fn reads(&mut self) -> Reads<'_, '_, 'r, 'a> {
        self.memo.clear();
        Reads::new(self.r, &mut self.memo)
    }

    #[inline(never)]
    fn about(&mut self, kind: EntryKind, entry: u32) {
        self.r.about(kind, entry);
    }

    fn flag(&mut self, rule: Rule, place: Span, expected: u64, found: u64) {
        self.r.flag(rule, place.offset, place.len, expected, found);
    }

    fn all(&mut self) -> Result<(), Halt> {
        let header = self.header;
        self.about(EntryKind::File, 0);
        for index in 0..header.list(list::CODES).count {
            self.code(index)?;
        }
        for subgraph in 0..header.list(list::SUBGRAPHS).count {
            self.subgraph = subgraph;
            let mut reads = self.reads();
            let table = reads.item(header.list(list::SUBGRAPHS), subgraph)?;
            self.tensors = reads.vector(&table, 0)?;
            self.operators(table)?;
        }
        for index in 0..header.list(list::SIGNATURES).count {
            self.about(EntryKind::Metadata, header.signature(index));
            self.signature(index)?;
        }
        self.about(EntryKind::File, 0);
        self.base = 0;
        self.indices(
            header.list(list::OLD_METADATA),
            header.list(list::BUFFERS).count,
            rules::M_OLD_METADATA,
            Use::Named,
        )?;
        let whole = Span::new(0, 4);
        if self.backward {
            self.flag(rules::O_UNCHECKED, whole, 0, header.list(list::SUBGRAPHS).count.into());
        }
        self.flag(NAMES_UNCHECKED, whole, 0, 0);
        self.flag(COVERAGE_UNCHECKED, whole, 0, 0);
        Ok(())
    }

    fn code(&mut self, index: u32) -> Result<(), Halt> {
        let header = self.header;
        let code = codes::read(header, &mut self.reads(), index)?;
        codes::check(self.r, &code);
        Ok(())
    }

    /// Checks a tensor of the current subgraph, and marks it if it has a value.
    #[inline(never)]
    fn tensor(&mut self, index: u32, mark: u32) -> Result<(), Halt> {
        let (header, tensors) = (self.header, self.tensors);
        let mut reads = self.reads();
        let table = reads.item(tensors, index)?;
        let fields = Fields::read(header, &mut reads, table)?;
        let signature = reads.vector(&table, 7)?;
        let quantised = reads.inner(&table, 4)?;
        let dtype = tensor::dtype(fields.code.value).unwrap_or(DType::Unknown);
        let (data, place) = (fields.data(), table.span());
        let (stored, external) = (!data.is_empty(), fields.external.value != 0);
        let filled = stored || external;
        if filled && !fields.variable && self.bits.has(mark) {
            self.flag(rules::G_CONSTANT, place, 0, index.into());
        }
        // A constant may have no elements, and then data of no bytes.
        let written = data.offset != 0 && fields.buffer.value != 0;
        if filled || fields.variable || (written && self.least(fields.shape) < 1) {
            self.bits.set(mark);
        }
        self.about(EntryKind::Tensor, self.entry);
        self.entry = self.entry.wrapping_add(1);
        self.alignment(data);
        if fields.sparse || (stored && dtype == DType::Text) {
            self.flag(DATA_UNCHECKED, place, 0, 0);
        }
        if external {
            self.flag(rules::E_UNCHECKED, place, 0, 0);
        }
        let (span, count) = (signature.span(4), signature.count);
        let rank = fields.shape.count;
        if count > 0 && count != rank {
            self.flag(rules::T_SIGNATURE_RANK, span, rank.into(), count.into());
        }
        if self.least(signature) < -1 {
            self.flag(rules::T_SIGNATURE_DIM, span, 0, 0);
        }
        match quantised {
            Some(quantised) => self.quantised(quantised, fields.shape, dtype),
            None => Ok(()),
        }
    }

    /// The least extent in a list; 1 if all are larger, or there are none.
    fn least(&self, extents: Vector) -> i32 {
        let (extents, _) = slice(self.r, extents, 4).as_chunks::<4>();
        extents.iter().fold(1, |least, extent| least.min(i32::from_le_bytes(*extent)))
    }

    /// Checks the alignment of data in the file: only that of the first unaligned tensor is reported.
    fn alignment(&mut self, data: Span) {
        let past = data.offset & ALIGN.wrapping_sub(1);
        if past == 0 || data.is_empty() || self.misaligned || self.r.source().get(data).is_err() {
            return;
        }
        self.misaligned = true;
        self.flag(rules::B_ALIGN, data, ALIGN, past);
    }

    /// Checks scales and zero points.
    fn quantised(&mut self, table: Table, shape: Vector, dtype: DType) -> Result<(), Halt> {
        let mut reads = self.reads();
        let scales = reads.vector(&table, 2)?;
        let zero_points = reads.vector(&table, 3)?;
        let kind = reads.value(&table, 4, 1)?;
        let axis = reads.int(&table, 6, 0)?;
        ready(reads.r, scales, 4)?;
        ready(reads.r, zero_points, 8)?;
        let (floats, _) = slice(reads.r, scales, 4).as_chunks::<4>();
        let (zeros, _) = slice(reads.r, zero_points, 8).as_chunks::<8>();
        let place = table.span();
        if kind != 0 {
            self.flag(DATA_UNCHECKED, place, 0, 0);
            return Ok(());
        }
        if scales.count != zero_points.count {
            let (expected, found) = (scales.count.into(), zero_points.count.into());
            self.flag(rules::Q_COUNT, place, expected, found);
        }
        if axis < 0 || (scales.count > 1 && !is_inside(axis, shape.count)) {
            self.flag(rules::Q_AXIS, place, shape.count.into(), found(axis));
        } else if scales.count > 1 {
            let at = shape.place(axis.cast_unsigned(), 4);
            let extent = self.reads().number(at, 4)?;
            if extent != scales.count.into() {
                let many = scales.count.into();
                self.flag(rules::Q_CHANNELS, scales.span(4), extent, many);
            }
        }
        let mut at = scales.at;
        for scale in floats {
            // Positive and finite; a scale of 0 is a lint.
            let bits = u32::from_le_bytes(*scale);
            if bits >= f32::INFINITY.to_bits() && bits != (-0.0_f32).to_bits() {
                self.flag(rules::Q_SCALE, Span::new(at.into(), 4), 0, bits.into());
                break;
            }
            at = at.wrapping_add(4);
        }
        at = zero_points.at;
        for zero in zeros {
            let zero = i64::from_le_bytes(*zero);
            if !fits(dtype, zero) {
                let found = zero.cast_unsigned();
                self.flag(rules::Q_ZERO_POINT, Span::new(at.into(), 8), 0, found);
                break;
            }
            at = at.wrapping_add(8);
        }
        Ok(())
    }

    /// Checks the lists of a subgraph, and its operators: once for each [`BITS`] tensors.
    #[inline(never)]
    fn operators(&mut self, table: Table) -> Result<(), Halt> {
        let tensors = self.tensors;
        let mut reads = self.reads();
        let inputs = reads.vector(&table, 1)?;
        let outputs = reads.vector(&table, 2)?;
        let operators = reads.vector(&table, 3)?;
        if tensors.count == 0 && (inputs.count | outputs.count | operators.count) != 0 {
            self.flag(rules::G_TENSORS, table.span(), 1, 0);
        }
        self.base = 0;
        loop {
            self.bits = Bits::NONE;
            self.indices(inputs, tensors.count, rules::G_INPUT, Use::Given)?;
            self.indices(outputs, tensors.count, rules::G_OUTPUT, Use::Named)?;
            for place in 0..BITS {
                let index = self.base.wrapping_add(place);
                if index < tensors.count {
                    self.tensor(index, place)?;
                }
            }
            self.about(EntryKind::File, 0);
            for index in 0..operators.count {
                let operator = self.reads().item(operators, index)?;
                self.operator(operator)?;
                if self.left == 0 {
                    let most = self.r.allowance();
                    self.flag(SHARED_UNCHECKED, operator.span(), most, most);
                    return Ok(());
                }
            }
            self.base = self.base.wrapping_add(BITS);
            if self.base >= tensors.count {
                return Ok(());
            }
        }
    }

    /// Checks an operator.
    #[inline(never)]
    fn operator(&mut self, table: Table) -> Result<(), Halt> {
        let (header, tensors) = (self.header, self.tensors.count);
        let mut reads = self.reads();
        let code = reads.value(&table, 0, 4)?;
        let inputs = reads.vector(&table, 1)?;
        let outputs = reads.vector(&table, 2)?;
        let mutating = reads.vector(&table, 7)?;
        let internal = reads.vector(&table, 8)?;
        let offset = reads.long(&table, 9)?;
        let size = reads.long(&table, 10)?;
        let place = table.span();
        // The lists are read again for other tensors, everything else once.
        if self.base == 0 {
            let mut checked = |holds: bool, rule: Rule| self.r.check(holds, rule, place, 0, 0);
            checked(code < header.list(list::CODES).count, rules::O_CODE);
            checked(outputs.is_present(), rules::O_NO_OUTPUTS);
            checked(mutating.count == 0 || mutating.count == inputs.count, rules::O_MUTATING);
            let len = word(self.r.source().len());
            let end = offset.checked_add(size).filter(|end| *end <= len);
            let none = offset <= 1 && size == 0;
            self.r.check(none || end.is_some(), rules::O_LARGE, place, wide(offset), wide(size));
            self.indices(internal, tensors, rules::O_INTERMEDIATE, Use::Named)?;
            self.calls(table)?;
        }
        self.indices(inputs, tensors, rules::O_INPUT, Use::Read)?;
        self.indices(outputs, tensors, rules::O_OUTPUT, Use::Written)
    }

    /// Checks a list of indices below `count`.
    fn indices(&mut self, list: Vector, count: u32, rule: Rule, what: Use) -> Result<(), Halt> {
        let items = place(list.count.into());
        self.left = self.left.saturating_sub(items).saturating_sub(1);
        ready(self.r, list, 4)?;
        let (items, _) = slice(self.r, list, 4).as_chunks::<4>();
        let mut next = list.at;
        for item in items {
            let index = i32::from_le_bytes(*item);
            let span = Span::new(next.into(), 4);
            next = next.wrapping_add(4);
            if what == Use::Read && index == -1 {
                // An optional input.
                continue;
            }
            if !is_inside(index, count) {
                if self.base == 0 {
                    self.flag(rule, span, count.into(), found(index));
                }
                continue;
            }
            self.backward |= what == Use::Called && index.cast_unsigned() <= self.subgraph;
            let place = index.cast_unsigned().wrapping_sub(self.base);
            if place >= BITS || matches!(what, Use::Named | Use::Called) {
                continue;
            }
            let has = self.bits.has(place);
            match what {
                Use::Read if !has => self.flag(rules::O_UNPRODUCED, span, 0, found(index)),
                Use::Written if has => self.flag(rules::O_WRITTEN, span, 0, found(index)),
                _ => {}
            }
            if what != Use::Read {
                self.bits.set(place);
            }
        }
        Ok(())
    }

    /// Checks the numbers of the subgraphs that an operator calls.
    fn calls(&mut self, table: Table) -> Result<(), Halt> {
        let count = self.header.list(list::SUBGRAPHS).count;
        for call in &CALLS {
            let mut reads = self.reads();
            if reads.value(&table, call.union, 1)? != call.kind.into() {
                continue;
            }
            let Some(options) = reads.inner(&table, call.union.wrapping_add(1))? else { continue };
            let list = if call.list {
                reads.vector(&options, call.field)?
            } else {
                let at = reads.field(&options, call.field)?;
                // An absent number is 0, which is no later subgraph.
                self.backward |= at == 0;
                Vector { at: u32::try_from(at).unwrap_or(0), count: (at != 0).into() }
            };
            self.indices(list, count, rules::O_SUBGRAPH, Use::Called)?;
        }
        Ok(())
    }

    /// Checks a signature: each named input is an input of its subgraph, and each output an output.
    fn signature(&mut self, index: u32) -> Result<(), Halt> {
        let header = self.header;
        let mut reads = self.reads();
        let table = reads.item(header.list(list::SIGNATURES), index)?;
        let subgraph = reads.value(&table, 4, 4)?;
        if subgraph >= header.list(list::SUBGRAPHS).count {
            // Reported with the metadata.
            return Ok(());
        }
        let graph = reads.item(header.list(list::SUBGRAPHS), subgraph)?;
        for part in 0..2_u8 {
            let mut reads = self.reads();
            let names = reads.vector(&table, part)?;
            let list = reads.vector(&graph, part.wrapping_add(1))?;
            ready(reads.r, list, 4)?;
            let (items, _) = slice(reads.r, list, 4).as_chunks::<4>();
            for name in 0..names.count {
                let mut reads = self.reads();
                let name = reads.item(names, name)?;
                let tensor = reads.value(&name, 1, 4)?;
                let own = |item: &[u8; 4]| u32::from_le_bytes(*item) == tensor;
                if !items.iter().any(own) {
                    self.flag(rules::K_TENSOR, name.span(), 0, tensor.into());
                }
            }
        }
        Ok(())
    }
}
