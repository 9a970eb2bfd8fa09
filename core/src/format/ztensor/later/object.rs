//! One object of the manifest: its name, and a map that describes the parts.

use super::super::cbor::Pull;
use super::super::nest::Levels;
use super::super::rules;
use super::node::{Node, Nodes};
use super::{Generation, Header, form, notes, too_deep};
use crate::base::limits::ZTENSOR_PARTS;
use crate::base::wide;
use crate::input::Span;
use crate::parse::Reader;
use crate::rule::Halt;

/// What follows in the map of objects.
#[allow(clippy::large_enum_variant, reason = "it is taken apart at once, and there is no heap")]
pub(super) enum Read<'a> {
    Object(Object<'a>),
    /// Nothing; the map has ended here.
    End(u64),
}

/// How the parts of an object make up a tensor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// One part has the elements.
    Dense,
    /// Compressed rows.
    Csr,
    /// Coordinates and values.
    Coo,
    /// Codes in groups that share a scale.
    Groups,
    /// Unknown.
    Other,
}

/// An object, all of whose bytes are resident.
#[derive(Clone, Copy)]
pub(super) struct Object<'a> {
    pub(super) key: Node<'a>,
    pub(super) value: Node<'a>,
    pub(super) shape: Option<Node<'a>>,
    pub(super) layout: Option<Node<'a>>,
    pub(super) parts: Option<Node<'a>>,
    pub(super) attributes: Option<Node<'a>>,
    /// The type of the elements, in generation 1.0.
    pub(super) dtype: Option<Node<'a>>,
    pub(super) kind: Kind,
    /// Offset of what follows.
    pub(super) end: u64,
}

impl<'a> Object<'a> {
    /// Reads the object at `at`, if there is one; `left` is the number of items left in the map,
    /// and `before` the place of the key before. All bytes are resident afterwards.
    pub(super) fn read(
        header: &Header,
        r: &mut Reader<'_, 'a>,
        at: u64,
        before: (u64, u64),
        left: &mut u32,
    ) -> Result<Read<'a>, Halt> {
        let two = header.generation == Generation::Two;
        let from = if before.0 > 0 { before.0 } else { at };
        let end = header.manifest.end().unwrap_or(u64::MAX);
        r.region(from, end, rules::CBOR_TRUNCATED);
        r.skip(at.saturating_sub(from))?;
        let compared = !two && !r.is_muted();
        let mut pull = Pull::new(r);
        let mut rest = *left;
        pull.key(&mut rest);
        if pull.head.is_break() {
            pull.done()?;
            return Ok(Read::End(wide(pull.at())));
        }
        let start = wide(pull.start);
        pull.skip(3);
        let middle = wide(pull.at());
        pull.item(3, false);
        let mut levels = Levels::new(pull.at(), pull.r.resident(), compared);
        pull.skip_with(3, &mut levels);
        too_deep(&mut pull, header.generation, start);
        pull.done()?;
        let stop = wide(pull.at());
        let last = match before.0 {
            0 => &[],
            _ => pull.r.get(Span::between(before.0, before.1))?,
        };
        let bytes = pull.r.get(Span::between(start, stop))?;
        notes(&mut pull, header.generation);
        let len = usize::try_from(middle.saturating_sub(start)).unwrap_or(usize::MAX);
        let (key, value) = bytes.split_at_checked(len).unwrap_or((bytes, &[]));
        if two && !r.is_muted() {
            if !last.is_empty() {
                form::order(r, last, key, start);
            }
            form::check(r, key, start, 2);
            form::check(r, value, middle, 2);
        }
        *left = rest;
        Ok(Read::Object(Object::of(header.generation, bytes, start)))
    }

    /// The object in `bytes`, which lie at `at`: its name and its map.
    pub(super) fn of(generation: Generation, bytes: &'a [u8], at: u64) -> Object<'a> {
        let mut nodes = Nodes::new(bytes, at);
        let (key, value) = (nodes.next().unwrap_or_default(), nodes.next().unwrap_or_default());
        let two = generation == Generation::Two;
        let (layout, parts) = if two { ("layout", "parts") } else { ("format", "components") };
        let mut object = Object {
            key,
            value,
            shape: None,
            layout: None,
            parts: None,
            attributes: None,
            dtype: None,
            kind: Kind::Other,
            end: value.end,
        };
        for (name, field) in value.pairs() {
            let Some(name) = name.text() else { continue };
            let place = if name == *"shape" {
                &mut object.shape
            } else if name == *layout {
                &mut object.layout
            } else if name == *parts {
                &mut object.parts
            } else if name == *"attributes" {
                &mut object.attributes
            } else if name == *"dtype" && generation == Generation::One0 {
                &mut object.dtype
            } else {
                continue;
            };
            place.get_or_insert(field);
        }
        let word = object.layout.and_then(|layout| layout.text());
        object.kind = word.map_or(Kind::Other, |word| Kind::of(two, &word));
        object
    }

    /// The parts, with their roles.
    pub(super) fn parts(&self) -> impl Iterator<Item = (Node<'a>, Node<'a>)> + use<'a> {
        self.parts.unwrap_or_default().pairs()
    }

    /// Number of parts, at most one more than are listed.
    pub(super) fn part_count(&self) -> u32 {
        let most = usize::try_from(ZTENSOR_PARTS).unwrap_or(0).saturating_add(1);
        u32::try_from(self.parts().take(most).count()).unwrap_or(u32::MAX)
    }

    /// Whether the parts have entries of their own, after the one of the object.
    pub(super) fn has_entries(&self) -> bool {
        self.kind != Kind::Dense && self.is_listed()
    }

    /// Whether names and number of the parts allow them to be listed.
    pub(super) fn is_listed(&self) -> bool {
        self.key.is_plain_text()
            && self.part_count() <= ZTENSOR_PARTS
            && self.parts().all(|(key, _)| key.is_plain_text())
    }

    /// Number of entries in the list of tensors.
    pub(super) fn entries(&self) -> u32 {
        let parts = if self.has_entries() { self.part_count() } else { 0 };
        parts.saturating_add(1)
    }
}

impl Kind {
    fn of(two: bool, word: &crate::model::Name<'_>) -> Kind {
        const ONE: [(&str, Kind); 4] = [
            ("dense", Kind::Dense),
            ("sparse_csr", Kind::Csr),
            ("sparse_coo", Kind::Coo),
            ("quantized_group", Kind::Groups),
        ];
        const TWO: [(&str, Kind); 4] = [
            ("dense", Kind::Dense),
            ("zt.sparse_csr/1", Kind::Csr),
            ("zt.sparse_coo/1", Kind::Coo),
            ("zt.quant_group/1", Kind::Groups),
        ];
        let words = if two { TWO } else { ONE };
        let found = words.iter().find(|(name, _)| *word == **name);
        found.map_or(Kind::Other, |(_, kind)| *kind)
    }

    /// The roles of the parts: required ones first, then optional ones.
    pub(super) fn roles(self, two: bool) -> (&'static [&'static str], &'static [&'static str]) {
        match self {
            Kind::Dense => (&["data"], &[]),
            Kind::Csr => (&["values", "indices", "indptr"], &[]),
            Kind::Coo => (&["values", "coords"], &[]),
            Kind::Groups if two => (&["data", "scales"], &["zeros"]),
            Kind::Groups => (&["packed_weight", "scales", "zeros"], &[]),
            Kind::Other => (&[], &[]),
        }
    }
}
