//! A file as a sequence of areas.

use crate::base::sort::sorted;
use alloc::vec;
use alloc::vec::Vec;
use weighbridge_core::{EntryKind, Finding, Part, Region};

/// Most areas to search back for one that reaches over those after it.
const FAR: usize = 10_000;

/// A part of the file that something refers to, or a gap between parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Area {
    /// Absolute offset of its first byte.
    pub at: u64,
    /// Number of bytes.
    pub len: u64,
    /// Bytes at its start that earlier areas contain too.
    pub overlap: u64,
    /// Its purpose, or `None` for a gap.
    pub part: Option<Part>,
    /// The kind of entry that it belongs to.
    pub kind: EntryKind,
    /// That entry's position in its table.
    pub entry: u32,
}

impl Area {
    fn end(&self) -> u64 {
        self.at.saturating_add(self.len)
    }
}

/// The layout of a file: its parts in order, and the gaps between them.
///
/// ```
/// # let bytes = weighbridge_tests::samples::safetensors();
/// let model = weighbridge::Model::from_bytes(&bytes)?;
/// for area in model.map()?.areas() {
///     println!("{} bytes at {}: {:?}", area.len, area.at, area.part);
/// }
/// # Ok::<(), weighbridge::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct FileMap {
    areas: Vec<Area>,
}

impl FileMap {
    /// Most parts in a map, because entries may share tables of parts. Others are left out.
    pub const MOST: usize = 4 << 20;

    /// The bit of a gap in a [`strip`](Self::strip).
    pub const GAP: u16 = 64;
    /// The bit of bytes that several parts contain.
    pub const OVERLAP: u16 = 128;
    /// The bit of a byte that a finding is about.
    pub const FINDING: u16 = 256;

    /// The map of a file of `len` bytes with these regions.
    ///
    /// ```
    /// use weighbridge::weighbridge_core::{Part, Region};
    /// use weighbridge::{FileMap, Span};
    ///
    /// let header = Region { part: Part::Header, span: Span::new(0, 8), ..Region::default() };
    /// let map = FileMap::of(&[header], 10);
    /// assert_eq!(map.areas()[1].part, None); // two bytes that nothing refers to
    /// ```
    pub fn of(regions: &[Region], len: u64) -> Self {
        let mut map = FileMap::default();
        let mut end = 0_u64;
        let span = |i: u32| regions.get(i as usize).map(|region| region.span);
        let order = sorted(regions.len(), &mut |a, b| span(a) < span(b));
        for region in order.iter().filter_map(|i| regions.get(*i as usize)) {
            let at = region.span.offset;
            map.gap(end, at);
            map.areas.push(Area {
                at,
                len: region.span.len,
                overlap: end.saturating_sub(at).min(region.span.len),
                part: Some(region.part),
                kind: region.kind,
                entry: region.entry,
            });
            end = end.max(region.span.end().unwrap_or(u64::MAX));
        }
        map.gap(end, len);
        map
    }

    fn gap(&mut self, at: u64, end: u64) {
        if at < end {
            let (len, kind) = (end - at, EntryKind::File);
            self.areas.push(Area { at, len, overlap: 0, part: None, kind, entry: 0 });
        }
    }

    /// Appends the areas of another file, each changed by `shift`, as if the files were
    /// concatenated.
    ///
    /// ```
    /// # let bytes = weighbridge_tests::samples::safetensors();
    /// let model = weighbridge::Model::from_bytes(&bytes)?;
    /// let mut map = model.map()?;
    /// map.join(&model.map()?, |area| area.at += bytes.len() as u64);
    /// let last = map.areas().last().unwrap();
    /// assert_eq!(last.at + last.len, 2 * bytes.len() as u64);
    /// # Ok::<(), weighbridge::Error>(())
    /// ```
    pub fn join(&mut self, other: &FileMap, shift: impl Fn(&mut Area)) {
        let from = self.areas.len();
        self.areas.extend_from_slice(&other.areas);
        self.areas.iter_mut().skip(from).for_each(shift);
        if !self.areas.is_sorted_by_key(|area| area.at) {
            self.areas.sort_by_key(|area| area.at);
        }
    }

    /// All parts and gaps, by offset.
    ///
    /// ```
    /// # let bytes = weighbridge_tests::samples::safetensors();
    /// let model = weighbridge::Model::from_bytes(&bytes)?;
    /// let map = model.map()?;
    /// assert_eq!(map.areas()[0].at, 0);
    /// # Ok::<(), weighbridge::Error>(())
    /// ```
    pub fn areas(&self) -> &[Area] {
        &self.areas
    }

    /// The index of the area that contains the byte at `at`; if several do, the one that begins
    /// last.
    ///
    /// ```
    /// # let bytes = weighbridge_tests::samples::safetensors();
    /// let model = weighbridge::Model::from_bytes(&bytes)?;
    /// let map = model.map()?;
    /// assert_eq!(map.locate(0), Some(0));
    /// assert_eq!(map.locate(bytes.len() as u64), None);
    /// # Ok::<(), weighbridge::Error>(())
    /// ```
    pub fn locate(&self, at: u64) -> Option<usize> {
        let after = self.areas.partition_point(|area| area.at <= at);
        let holds = |i: &usize| self.areas.get(*i).is_some_and(|area| at < area.end());
        // A long area may contain many short ones.
        (0..after).rev().take(FAR).find(holds)
    }

    /// The area before area `index` that also contains its first byte; if several do, the one
    /// that begins last.
    ///
    /// ```
    /// # let bytes = weighbridge_tests::samples::safetensors();
    /// let model = weighbridge::Model::from_bytes(&bytes)?;
    /// let map = model.map()?;
    /// assert_eq!(map.partner(1), None); // nothing overlaps
    /// # Ok::<(), weighbridge::Error>(())
    /// ```
    pub fn partner(&self, index: usize) -> Option<&Area> {
        let area = self.areas.get(index).filter(|area| area.overlap > 0)?;
        let before = self.areas.get(..index).unwrap_or_default();
        before.iter().rev().take(FAR).find(|other| other.end() > area.at)
    }

    /// The content of each of `columns` equal columns over `len` bytes from `at`, as bits: 1
    /// for a header, 2 for a table, 4 for metadata, 8 for a payload, 16 for quantisation, 32
    /// for anything else, [`GAP`](Self::GAP), [`OVERLAP`](Self::OVERLAP),
    /// [`FINDING`](Self::FINDING).
    ///
    /// ```
    /// # let bytes = weighbridge_tests::samples::safetensors();
    /// let model = weighbridge::Model::from_bytes(&bytes)?;
    /// let map = model.map()?;
    /// let columns = map.strip(0, model.len(), 2, &[]);
    /// assert_eq!(columns[0] & 1, 1); // the header comes first
    /// # Ok::<(), weighbridge::Error>(())
    /// ```
    pub fn strip(&self, at: u64, len: u64, columns: usize, findings: &[Finding]) -> Vec<u16> {
        let mut strip = vec![0_u16; columns];
        let last = columns.saturating_sub(1);
        // From 128 TiB on, the lowest bits of lengths are dropped, so that the product fits.
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
        for area in &self.areas {
            paint(area.at, area.end(), part_bit(area.part));
            paint(area.at, area.at.saturating_add(area.overlap), FileMap::OVERLAP);
        }
        for finding in findings {
            paint(finding.offset, finding.offset.saturating_add(1), FileMap::FINDING);
        }
        strip
    }
}

fn part_bit(part: Option<Part>) -> u16 {
    match part {
        None => FileMap::GAP,
        Some(Part::Header) => 1,
        Some(Part::Table) => 2,
        Some(Part::Metadata) => 4,
        Some(Part::Payload) => 8,
        Some(Part::Quantization) => 16,
        Some(_) => 32,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use weighbridge_core::Span;

    fn map(parts: &[(Part, u64, u64)], len: u64) -> FileMap {
        let region = |(part, at, size): &(Part, u64, u64)| Region {
            part: *part,
            span: Span::new(*at, *size),
            ..Region::default()
        };
        let regions: Vec<_> = parts.iter().map(region).collect();
        FileMap::of(&regions, len)
    }

    #[test]
    fn file_map_has_gaps_and_overlaps() {
        let parts = [(Part::Header, 0, 10), (Part::Payload, 20, 30), (Part::Payload, 40, 20)];
        let map = map(&parts, 100);
        let areas: Vec<_> = map.areas().iter().map(|p| (p.at, p.len, p.overlap, p.part)).collect();
        assert_eq!(
            areas,
            [
                (0, 10, 0, Some(Part::Header)),
                (10, 10, 0, None),
                (20, 30, 0, Some(Part::Payload)),
                (40, 20, 10, Some(Part::Payload)),
                (60, 40, 0, None),
            ]
        );
        let partners: Vec<_> = (0..5).map(|i| map.partner(i).map(|p| p.at)).collect();
        assert_eq!(partners, [None, None, None, Some(20), None]);
        assert_eq!(map.locate(45), Some(3));
        assert_eq!(map.locate(99), Some(4));
        assert_eq!(map.locate(100), None);
        assert_eq!(map.strip(0, 100, 10, &[]), [1, 64, 8, 8, 136, 8, 64, 64, 64, 64]);
        assert_eq!(map.strip(0, u64::MAX, 2, &[]), [1 | 8 | 64 | 128, 0]);
    }
}
