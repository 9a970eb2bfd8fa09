//! The links of nodes and initialisers that need no full check.

use super::super::links::{Link, Links, Role};
use super::{INITIALIZER, NODE, Rest, has_room, plain};
use crate::base::{limits::ONNX_TEXT, widen};
use crate::format::onnx::schema::field;
use crate::model::{Name, NameAt, NameEncoding, name};
use crate::parse::Reader;

/// The keys of names in a node, of its attributes, and of the name of one.
const INPUT: u8 = 0x0A;
const OUTPUT: u8 = 0x12;
const ATTRIBUTE: u8 = 0x2A;
const ATTRIBUTE_NAME: u8 = 0x0A;

/// Passes nodes and initialisers of the graph that is open, and calls `goes_on` with each of their
/// links. Returns false if that did: the links are of no use then.
pub(in super::super) fn sweep_links(
    links: &mut Links,
    r: &mut Reader<'_, '_>,
    goes_on: &mut dyn FnMut(&Link) -> bool,
) -> bool {
    // In functions, attributes and calls are links as well.
    if links.function > 0 || !has_room(&links.cursor) {
        return true;
    }
    let Some(mut rest) = Rest::of(r, &links.cursor) else { return true };
    let seed = links.seed;
    let scope = links.cursor.state.open.top().copied().unwrap_or_default();
    let (from, until) = if scope.note == 0 { (0, u64::MAX) } else { (scope.at, scope.end) };
    let depth = links.cursor.state.open.depth().saturating_add(1);
    let of = |role, text: &[u8], place: u64| Link {
        role,
        hash: name::hash(seed, 0, &Name::new(text, NameEncoding::Plain)) | 1,
        domain: 0,
        name: NameAt::plain(place, widen(text.len())),
        at: from,
        until,
        graph: scope.note,
        depth,
        function: 0,
        elem: 0,
        dims: None,
    };
    loop {
        if let Some((message, after)) = rest.field(INITIALIZER)
            && let Some(plain) = plain::tensor(message)
        {
            let left = after.len().saturating_add(plain.after_name);
            let place = rest.at(left.saturating_add(plain.name.len()));
            let link = of(Role::Initializer, plain.name, place);
            let dims = Some(plain.shape.dims());
            if !goes_on(&Link { elem: plain.code, dims, ..link }) {
                return false;
            }
            rest.pass(field::GRAPH_INITIALIZER, after);
        } else if let Some((message, after)) = rest.field(NODE)
            && widen(message.len()) <= ONNX_TEXT
            && plain::node(message).is_some()
        {
            let (begin, end) = (rest.next(), rest.at(after.len()));
            let mut fields = message;
            while let Some((key, inside)) = fields.split_first()
                && let Some((content, others)) = plain::bytes(inside)
            {
                let at = |left: usize| rest.at(after.len().saturating_add(left));
                let content_at = at(others.len().saturating_add(content.len()));
                let link = match *key {
                    INPUT => Link { at: at(fields.len()), ..of(Role::Read, content, content_at) },
                    OUTPUT => Link { at: end, ..of(Role::Made, content, content_at) },
                    ATTRIBUTE => {
                        let (text, left) = plain::text(content, ATTRIBUTE_NAME).unwrap_or_default();
                        let left = others.len().saturating_add(left).saturating_add(text.len());
                        let link = of(Role::Attribute, text, at(left));
                        let depth = depth.saturating_add(1);
                        Link { at: begin, until: end, depth, ..link }
                    }
                    _ => Link { name: NameAt::default(), ..of(Role::Read, &[], 0) },
                };
                if link.name.len > 0 && !goes_on(&link) {
                    return false;
                }
                fields = others;
            }
            rest.pass(field::GRAPH_NODE, after);
        } else {
            break;
        }
    }
    rest.keep(&mut links.cursor);
    true
}
