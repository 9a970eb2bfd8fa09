//! The bytes of a stream, as they pass: text and the indices of sparse data.

use super::super::Audit;
use super::points::LAST;
use super::report;
use super::stream::Progress;
use crate::file::Slot;
use crate::format;
use crate::model::{DType, Tensor};
use crate::parse::Reader;
use crate::rule::Rule;

/// The rule for text, if the tensor is text.
pub(super) fn text_rule(audit: &Audit, tensor: &Tensor) -> Option<Rule> {
    let element = audit.file.rule(format::Fault::Element(DType::Utf32));
    element.filter(|_| tensor.dtype == DType::Utf32)
}

impl Progress {
    /// Checks the next decoded bytes.
    pub(super) fn feed(
        &mut self,
        audit: &Audit,
        r: &mut Reader<'_, '_>,
        piece: &[u8],
        slots: &mut [Slot],
    ) {
        if let Some(points) = &mut self.points
            && let Some((_, found)) = points.feed(piece)
            && let Some(rule) = audit.file.rule(format::Fault::Element(DType::Utf32))
        {
            let stored = self.chunk.stored;
            r.flag(rule, stored.offset, stored.len, LAST.into(), found.into());
            self.points = None;
        }
        if let Some(fields) = &mut self.fields
            && let Some((at, found)) = fields.feed(piece)
            && let Some(rule) = audit.file.rule(format::Fault::Element(DType::Utf32))
        {
            let place = report::place(&self.chunk, at, 4);
            r.flag(rule, place.offset, place.len, LAST.into(), found.into());
            self.fields = None;
        }
        let chunk = self.chunk;
        if let Some(indices) = &mut self.indices {
            indices.feed(piece, slots, &mut |fault, offset, expected, found| {
                report::index(audit, r, fault, report::place(&chunk, offset, 0), expected, found);
            });
            return;
        }
        let Some(sparse) = &mut self.sparse else { return };
        sparse.feed(piece, slots, &mut |fault, offset, expected, found| {
            report::index(audit, r, fault, report::place(&chunk, offset, 8), expected, found);
        });
    }
}
