//! Generations 1.0, 1.1, 1.2 and 2.
//!
//! | | 1.0 | 1.1, 1.2 | 2 |
//! |---|---|---|---|
//! | first 8 bytes | `ZTEN1000` | `ZTEN1000` | `89 5A 54 32 0D 0A 1A 0A` |
//! | blobs | at multiples of 64 | at multiples of 64 | at multiples of 4096, from 4096 on |
//! | manifest | before the length | before the length | where the footer says |
//! | end | its length, 8 bytes | length and magic, 16 bytes | footer, 40 bytes |
//! | objects | `tensors` | `objects` | `objects` |
//! | layout | `format` | `format` | `layout` |
//! | parts | `components` | `components` | `parts` |
//! | type | one per object | `dtype`, 1.2: `type` | `dtype`, `type` |
//! | place | `offset`, `length` | `offset`, `length` | `blob`, `shard` |
//! | digest over | stored bytes | stored bytes | decoded bytes |
//!
//! A dense object is one tensor. Any other object is an entry without data, which has the shape,
//! followed by an entry for each part, which is called by the name of the object, a point, and the
//! role of the part. So every blob is listed and checked.
//!
//! Order of suppression: a map that is not well formed ends the list. Of an object, the roles of
//! its parts come before their sizes, and a broken part has no size. `FORM-DEPTH` ends the check of
//! the form of an object. Two objects of the same name break `NAME-DUPLICATE` only.

mod attributes;
mod audit;
mod digest;
mod form;
mod groups;
mod layout;
mod list;
mod node;
mod object;
mod open;
mod part;
#[cfg(feature = "payloads")]
mod parted;
mod references;
mod shards;
mod sparse;
mod types;

use super::cbor::Pull;
use super::{Cursor, field, rules};
use crate::codec::checksum::Checksum;
use crate::codec::zstd::walk;
use crate::format::{self, Fault};
use crate::input::{Absent, Source, Span};
#[cfg(feature = "payloads")]
use crate::model::parted::Parted;
use crate::model::{
    Chunk, Chunks, DType, Encoding, Metadata, Name, Part, Region, Status, Tensor, Value, Version,
};
use crate::parse::Reader;
use crate::rule::{EntryKind, Halt, Rule};

pub(super) use open::open;

/// The alignments of blobs in generation 2, and in its canonical form.
const PAGE: u64 = 4096;
const CANONICAL: u64 = 65_536;

/// A generation, as far as the container tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Generation {
    /// 1.0.
    One0,
    /// 1.1 or 1.2.
    One1,
    /// 2.
    Two,
}

/// A known key of the root.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Root {
    Objects,
    Attributes,
    Shards,
    Generator,
    Version,
}

impl Root {
    /// A number for each key.
    fn bit(self) -> u8 {
        match self {
            Root::Objects => 0,
            Root::Attributes => 1,
            Root::Shards => 2,
            Root::Generator => 3,
            Root::Version => 4,
        }
    }
}

impl Generation {
    fn root_key(self, key: &Name<'_>) -> Option<Root> {
        const KEYS: [(&str, Root, [bool; 3]); 6] = [
            ("tensors", Root::Objects, [true, false, false]),
            ("objects", Root::Objects, [false, true, true]),
            ("attributes", Root::Attributes, [true, true, true]),
            ("shards", Root::Shards, [false, false, true]),
            ("generator", Root::Generator, [true, true, false]),
            ("version", Root::Version, [true, true, false]),
        ];
        let column = match self {
            Generation::One0 => 0,
            Generation::One1 => 1,
            Generation::Two => 2,
        };
        let is = |has: &[bool; 3]| has.get(column).copied().unwrap_or(false);
        KEYS.iter().find(|(word, _, has)| *key == **word && is(has)).map(|(_, root, _)| *root)
    }
}

/// A value of the root, from the start of the manifest; empty if it is missing. A manifest is no
/// longer than 1 GiB.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Place {
    at: u32,
    len: u32,
}

impl Place {
    const NONE: Place = Place { at: 0, len: 0 };

    fn of(manifest: Span, span: Span) -> Place {
        let at = span.offset.saturating_sub(manifest.offset);
        let narrow = |n: u64| u32::try_from(n).unwrap_or(u32::MAX);
        Place { at: narrow(at), len: narrow(span.len) }
    }
}

/// The validated end of the file and root of the manifest, in few bytes: all files have the size
/// of the largest header.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Header {
    generation: Generation,
    /// The second part of the version, before generation 2.
    minor: u8,
    /// The map of objects could not be read to its end.
    cut: bool,
    /// The manifest; empty in a data shard.
    manifest: Span,
    /// Where the length after the manifest begins, or the footer.
    tail: u64,
    /// Offset of the first object, and the number of items in the map of objects.
    objects_at: u64,
    left: u32,
    /// Number of entries.
    count: u32,
    attributes: Place,
    shards: Place,
    generator: Place,
    stated: Place,
}

/// State kept between calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct State {
    walk: open::Walk,
    place: list::Place,
    audit: audit::Progress,
}

impl State {
    pub(super) const START: State =
        State { walk: open::Walk::START, place: list::Place::START, audit: audit::Progress::START };
}

impl Header {
    const NONE: Header = Header {
        generation: Generation::One0,
        minor: 0,
        cut: false,
        manifest: Span { offset: 0, len: 0 },
        tail: 0,
        objects_at: 0,
        left: 0,
        count: 0,
        attributes: Place::NONE,
        shards: Place::NONE,
        generator: Place::NONE,
        stated: Place::NONE,
    };

    pub(super) fn version(&self) -> Version {
        match self.generation {
            Generation::Two => Version::major(2),
            _ => Version::minor(1, self.minor.into()),
        }
    }

    /// The manifest.
    pub(super) fn index(&self) -> Span {
        self.manifest
    }

    /// What follows the data: a length, or the footer.
    fn tail(&self) -> Span {
        let len = match self.generation {
            Generation::One0 => 8,
            Generation::One1 => 16,
            Generation::Two => open::FOOTER,
        };
        Span::new(self.tail, len)
    }

    /// Where blobs must end.
    fn data_end(&self) -> u64 {
        match self.generation {
            Generation::Two => self.tail,
            _ => self.manifest.offset,
        }
    }

    /// Where a value of the root lies.
    fn value_at(&self, place: Place) -> Span {
        Span::new(self.manifest.offset.saturating_add(place.at.into()), place.len.into())
    }

    /// The table of shards; empty if there is none.
    fn shards(&self) -> Span {
        self.value_at(self.shards)
    }

    /// The distance within which bytes after a blob are padding. In generation 2 writers choose it;
    /// up to that of the canonical form, it is the usual one.
    pub(super) fn alignment(&self) -> u64 {
        match self.generation {
            Generation::Two => CANONICAL,
            _ => field::ALIGN,
        }
    }

    pub(super) fn tensor_count(&self) -> u64 {
        self.count.into()
    }

    pub(super) fn rule(&self, fault: Fault, shared: Option<Rule>) -> Option<Rule> {
        if self.generation != Generation::Two {
            return shared;
        }
        match fault {
            Fault::Overlap => Some(rules::PAGE_OVERLAP),
            // Sharing a blob is intended, and so are several frames.
            Fault::Alias | Fault::StoredChecksum | Fault::Frame(walk::Fault::Frames) => None,
            Fault::DecodedChecksum => Some(rules::DIGEST_MISMATCH),
            Fault::Element(DType::Bool) => Some(rules::ELEMENT_BOOL),
            Fault::TailBits => Some(rules::ELEMENT_NIBBLE),
            Fault::Sparse(crate::model::sparse::Fault::ColumnTwice) => Some(rules::INDEX_ORDER),
            _ => shared,
        }
    }

    /// The parts of a sparse object whose indices must be decoded.
    #[cfg(feature = "payloads")]
    pub(super) fn parted(
        &self,
        r: &mut Reader<'_, '_>,
        tensor: &Tensor,
    ) -> Result<Option<Parted>, Halt> {
        parted::read(self, r, tensor)
    }

    pub(super) fn meta(
        &self,
        r: &mut Reader<'_, '_>,
        c: &mut Cursor,
    ) -> Result<Option<Metadata>, Halt> {
        attributes::next(self, r, c)
    }

    pub(super) fn tensor(
        &self,
        r: &mut Reader<'_, '_>,
        c: &mut Cursor,
    ) -> Result<Option<Tensor>, Halt> {
        list::next(self, r, c)
    }

    pub(super) fn attribute(
        &self,
        r: &mut Reader<'_, '_>,
        tensor: &Tensor,
        c: &mut Cursor,
    ) -> Result<Option<Metadata>, Halt> {
        attributes::of_tensor(self, r, tensor, c)
    }

    pub(super) fn value(
        &self,
        r: &mut Reader<'_, '_>,
        meta: &Metadata,
    ) -> Result<Option<Value>, Halt> {
        attributes::value(r, meta)
    }

    pub(super) fn chunk(&self, tensor: &Tensor) -> Option<Chunk> {
        let Chunks::One(stored) = tensor.chunks else { return None };
        let Tensor { encoding, elements, status, .. } = *tensor;
        let decoded = match encoding {
            Encoding::Raw => Some(stored.len),
            Encoding::Zstd if status == Status::Sound => tensor.bytes(),
            _ => None,
        };
        Some(Chunk { stored, decoded, encoding, row: 0, elements, lead: 0 })
    }

    pub(super) fn checksum(
        &self,
        source: &Source<'_>,
        tensor: &Tensor,
    ) -> Result<Option<Checksum>, Absent> {
        if tensor.extra.is_empty() {
            return Ok(None);
        }
        let bytes = source.get(tensor.extra)?;
        let map = node::Nodes::new(bytes, tensor.extra.offset).next().unwrap_or_default();
        let text = map.get("digest").and_then(|digest| digest.text());
        Ok(text.and_then(|text| match self.generation {
            Generation::Two => digest::value(&text),
            _ => super::checksum::value(&text),
        }))
    }

    /// The parts of the file: the magic, the blobs in the order of the manifest, the manifest, and
    /// what follows.
    pub(super) fn region(
        &self,
        r: &mut Reader<'_, '_>,
        c: &mut Cursor,
    ) -> Result<Option<Region>, Halt> {
        let own = |part, span| Region { part, span, kind: EntryKind::File, entry: 0 };
        loop {
            let phase = c.phase;
            let region = match phase {
                0 => own(Part::Header, Span::new(0, field::MAGIC_LEN)),
                1 if self.manifest.is_empty() => {
                    own(Part::Payload, Span::between(PAGE.min(self.tail), self.tail))
                }
                1 => match self.tensor(r, c)? {
                    Some(tensor) => match tensor.chunks {
                        Chunks::One(span) if !span.is_empty() => {
                            return Ok(Some(format::data_of(tensor.index, span)));
                        }
                        _ => continue,
                    },
                    None => {
                        c.next_phase();
                        continue;
                    }
                },
                2 => own(Part::Table, self.manifest),
                _ => {
                    c.finish();
                    return Ok(Some(own(Part::Tail, self.tail())));
                }
            };
            c.next_phase();
            if !region.span.is_empty() {
                return Ok(Some(region));
            }
        }
    }

    pub(super) fn audit(&self, r: &mut Reader<'_, '_>, c: &mut Cursor) -> Result<(), Halt> {
        audit::step(self, r, c)
    }
}

/// Reports an item at `at` that the parser gave up because it nests too deep: generation 2 forbids
/// that.
fn too_deep(pull: &mut Pull<'_, '_, '_>, generation: Generation, at: u64) {
    if generation == Generation::Two && pull.done() == Err(Halt::refused(rules::CBOR_DEPTH)) {
        let most = crate::base::widen(crate::base::limits::CBOR_DEPTH);
        pull.r.flag(rules::FORM_DEPTH, at, 1, crate::base::widen(form::DEPTH), most);
    }
}

/// Reports what a pull parser noted. In generation 2, the form is checked in a pass of its own.
fn notes(pull: &mut Pull<'_, '_, '_>, generation: Generation) {
    use super::cbor::odd;
    const ALL: [(usize, Rule, bool); 9] = [
        (odd::UTF8, rules::CBOR_UTF8, true),
        (odd::SIMPLE, rules::CBOR_SIMPLE, false),
        (odd::TAG, rules::CBOR_TAG, false),
        (odd::INDEFINITE, rules::CBOR_INDEFINITE, false),
        (odd::WIDE, rules::CBOR_SHORTEST, false),
        (odd::FLOAT, rules::CBOR_FLOAT, false),
        (odd::KEY_TWICE, rules::CBOR_KEY_DUPLICATE, false),
        (odd::KEYS, rules::CBOR_KEYS, false),
        (odd::KEY_NESTED, rules::CBOR_KEY_NESTED, false),
    ];
    for (what, rule, always) in ALL {
        let at = pull.seen.get(what).copied().unwrap_or(u64::MAX);
        if at != u64::MAX && (always || generation != Generation::Two) {
            let limit = match what {
                odd::KEYS => field::KEYS,
                odd::KEY_NESTED => field::KEY_DEPTH,
                _ => 0,
            };
            pull.r.flag(rule, at, 1, limit, 0);
        }
    }
}
