//! The whole file as a row of parts, with what lies between them.

use crate::sort;
use crate::words::Words;
use alloc::vec;
use alloc::vec::Vec;
use weighbridge_core::{EntryKind, Finding, Part, Region};

/// Parts beyond this number are left out of the layout.
pub const MOST: usize = 4 << 20;

/// Pieces that are looked at for one that reaches over those after it.
const FAR: usize = 10_000;

/// Bits of [`Layout::strip`].
mod bit {
    pub(super) const GAP: u16 = 64;
    pub(super) const OVERLAP: u16 = 128;
    pub(super) const FINDING: u16 = 256;
}

/// A part of the file, or a gap between parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    /// Absolute offset of its first byte.
    pub at: u64,
    /// Number of bytes.
    pub len: u64,
    /// Bytes at its start that pieces before it hold too.
    pub overlap: u64,
    /// What it is used for; `None` for a gap.
    pub part: Option<Part>,
    /// The kind of entry that it belongs to.
    pub kind: EntryKind,
    /// That entry's position in its table.
    pub entry: u32,
}

impl Piece {
    fn end(&self) -> u64 {
        self.at.saturating_add(self.len)
    }
}

/// The parts of a file in file order.
#[derive(Debug, Default)]
pub struct Layout {
    regions: Vec<Region>,
    pieces: Vec<Piece>,
}

impl Layout {
    /// Takes note of a region.
    pub fn push(&mut self, region: Region) {
        if self.regions.len() < MOST && !region.span.is_empty() {
            self.regions.push(region);
        }
    }

    /// Puts the regions in order and finds the gaps of a file of `len` bytes.
    pub fn settle(&mut self, len: u64) {
        let regions = core::mem::take(&mut self.regions);
        let key = |i: u32| regions.get(i as usize).map(|region| region.span);
        let order = sort::sorted(regions.len(), &mut |a, b| key(a) < key(b));
        let mut end = 0_u64;
        for region in order.iter().filter_map(|i| regions.get(*i as usize)) {
            let at = region.span.offset;
            self.gap(end, at);
            self.pieces.push(Piece {
                at,
                len: region.span.len,
                overlap: end.saturating_sub(at).min(region.span.len),
                part: Some(region.part),
                kind: region.kind,
                entry: region.entry,
            });
            end = end.max(region.span.end().unwrap_or(u64::MAX));
        }
        self.gap(end, len);
    }

    fn gap(&mut self, at: u64, end: u64) {
        if at < end {
            let piece = Piece {
                at,
                len: end - at,
                overlap: 0,
                part: None,
                kind: EntryKind::File,
                entry: 0,
            };
            self.pieces.push(piece);
        }
    }

    /// All parts and gaps, by offset.
    pub fn pieces(&self) -> &[Piece] {
        &self.pieces
    }

    /// The piece that holds the byte at `at`: of several, the one that begins
    /// last.
    pub fn locate(&self, at: u64) -> Option<usize> {
        let after = self.pieces.partition_point(|piece| piece.at <= at);
        let holds = |i: &usize| self.pieces.get(*i).is_some_and(|piece| at < piece.end());
        // A long piece may hold many short ones.
        (0..after).rev().take(FAR).find(holds)
    }

    /// The piece before piece `index` that holds its first byte too: of several,
    /// the one that begins last.
    pub fn partner(&self, index: usize) -> Option<&Piece> {
        let piece = self.pieces.get(index).filter(|piece| piece.overlap > 0)?;
        let before = self.pieces.get(..index).unwrap_or_default();
        before.iter().rev().take(FAR).find(|other| other.end() > piece.at)
    }

    /// Which pieces touch each of `columns` equal columns over `len` bytes from
    /// `at`, as bits: the part, gap, overlap, finding.
    pub fn strip(&self, at: u64, len: u64, columns: usize, findings: &[Finding]) -> Vec<u16> {
        let mut strip = vec![0_u16; columns];
        let last = columns.saturating_sub(1);
        // Of lengths from 128 TiB on, the last bits are left out, so that the product fits.
        let shift = 17_u32.saturating_sub(len.leading_zeros());
        let column = |offset: u64| {
            let place = (offset.saturating_sub(at) >> shift).saturating_mul(columns as u64);
            usize::try_from(place / (len >> shift).max(1)).unwrap_or(last).min(last)
        };
        let end = at.saturating_add(len);
        let mut paint = |from: u64, to: u64, bits: u16| {
            if from < to && from < end && to > at {
                let to = (to - 1).min(end.saturating_sub(1));
                for slot in strip.get_mut(column(from)..=column(to)).unwrap_or_default() {
                    *slot |= bits;
                }
            }
        };
        for piece in &self.pieces {
            paint(piece.at, piece.end(), part_bit(piece.part));
            paint(piece.at, piece.at.saturating_add(piece.overlap), bit::OVERLAP);
        }
        for finding in findings {
            paint(finding.offset, finding.offset.saturating_add(1), bit::FINDING);
        }
        strip
    }
}

fn part_bit(part: Option<Part>) -> u16 {
    match part {
        None => bit::GAP,
        Some(Part::Header) => 1,
        Some(Part::Table) => 2,
        Some(Part::Metadata) => 4,
        Some(Part::Payload) => 8,
        Some(Part::Quantization) => 16,
        Some(_) => 32,
    }
}

/// What a piece is called.
pub fn part_word(part: Option<Part>, words: &mut Words) -> u16 {
    words.code(part.map_or("gap", Part::name))
}

/// What a kind of entry is called.
pub fn kind_word(kind: EntryKind, words: &mut Words) -> u16 {
    words.code(match kind {
        EntryKind::Tensor => "tensor",
        EntryKind::Metadata => "metadata",
        EntryKind::SizeVar => "sizevar",
        EntryKind::Attribute => "attribute",
        _ => "file",
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use weighbridge_core::Span;

    fn layout(parts: &[(Part, u64, u64)], len: u64) -> Layout {
        let mut layout = Layout::default();
        for (part, at, size) in parts {
            let span = Span::new(*at, *size);
            layout.push(Region { part: *part, span, ..Region::default() });
        }
        layout.settle(len);
        layout
    }

    #[test]
    fn gaps_and_overlaps() {
        let parts = [(Part::Payload, 20, 30), (Part::Header, 0, 10), (Part::Payload, 40, 20)];
        let layout = layout(&parts, 100);
        let pieces: Vec<_> =
            layout.pieces().iter().map(|p| (p.at, p.len, p.overlap, p.part)).collect();
        assert_eq!(
            pieces,
            [
                (0, 10, 0, Some(Part::Header)),
                (10, 10, 0, None),
                (20, 30, 0, Some(Part::Payload)),
                (40, 20, 10, Some(Part::Payload)),
                (60, 40, 0, None),
            ]
        );
        let partners: Vec<_> = (0..5).map(|i| layout.partner(i).map(|p| p.at)).collect();
        assert_eq!(partners, [None, None, None, Some(20), None]);
        assert_eq!(layout.locate(45), Some(3));
        assert_eq!(layout.locate(99), Some(4));
        assert_eq!(layout.locate(100), None);
        assert_eq!(layout.strip(0, 100, 10, &[]), [1, 64, 8, 8, 136, 8, 64, 64, 64, 64]);
        assert_eq!(layout.strip(0, u64::MAX, 2, &[]), [1 | 8 | 64 | 128, 0]);
    }
}
