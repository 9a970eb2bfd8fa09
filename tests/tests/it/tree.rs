//! The tree of names: nodes are parts of the keys that lead to a tensor.

use weighbridge::table::{Filter, Group, Selection, Sort};
use weighbridge::{Index, Model};
use weighbridge_tests::encode::pickle::Pickle;
use weighbridge_tests::encode::pytorch::{Checkpoint, View, floats};

/// The nodes below another, a line each, with a dot in a key at the start of what follows it.
fn lines(index: &Index, above: Option<&Group>, depth: usize, out: &mut Vec<String>) {
    let mut selection = Selection::default();
    let (prefix, like) = above.map_or((0, 0), |it| (it.segment.end, it.first));
    let name = |group: &Group| index.name_bytes(group.first as usize).to_vec();
    let text = above.map(name).unwrap_or_default();
    let filter = Filter { prefix: text[..prefix].to_vec(), ..Filter::default() };
    selection.select(index, Sort::default(), filter, &[]);
    for group in selection.groups(index, prefix, like) {
        let segment = name(&group)[group.segment.clone()].to_vec();
        let segment = String::from_utf8(segment).unwrap();
        let label = if group.leaf { &segment[..] } else { &segment[..segment.len() - 1] };
        let dot = if above.is_some_and(|it| it.in_key) { "." } else { "" };
        out.push(format!("{:depth$}{dot}{label} {}", "", group.count));
        if !group.leaf {
            lines(index, Some(&group), depth + 1, out);
        }
    }
}

fn tree(object: Pickle) -> Vec<String> {
    let bytes = Checkpoint::new(object.stop(), &[&floats(1)]).encode();
    let index = Model::from_bytes(&bytes).unwrap().index().unwrap();
    let mut out = Vec::new();
    lines(&index, None, 0, &mut out);
    out
}

fn one(pickle: Pickle, key: &str) -> Pickle {
    pickle.text(key).of(&View::floats("0", &[1])).op(b's')
}

#[test]
fn dots_in_keys_and_dots_between_keys_make_different_nodes() {
    let start = Pickle::new(2).op(b'}').text("a").op(b'}');
    let inner = one(one(start, "b.w"), "b.x").op(b's').text("a.b").op(b'}');
    let both = one(inner, "w").op(b's');
    assert_eq!(tree(both), ["a 2", " b 2", "  .w 1", "  .x 1", "a.b 1", " w 1"]);
}

#[test]
fn parts_of_one_key_are_one_node_where_nothing_else_begins_with_them() {
    let start = Pickle::new(2).op(b'}').text("state").op(b'}');
    let first = one(one(start, "net.layers.0.w"), "net.layers.1.w");
    let all = one(first, "net.layers.1.b").op(b's');
    let expected = ["state 3", " net.layers 3", "  .0.w 1", "  .1 2", "   .b 1", "   .w 1"];
    assert_eq!(tree(all), expected);
}

#[test]
fn dictionaries_of_one_tensor_are_nodes() {
    let start = Pickle::new(2).op(b'}').text("a").op(b'}').text("b/c").op(b'}');
    assert_eq!(tree(one(start, "d.e").op(b's').op(b's')), ["a 1", " b/c 1", "  d.e 1"]);
}
