//! The table of shards: other files that hold data of this model.

use super::super::rules;
use super::digest;
use super::node::Node;
use crate::model::Name;
use crate::parse::Reader;
use crate::rule::Rule;

/// Longest name of a shard.
pub(super) const LONGEST: usize = 64;
/// Smallest file.
const SMALLEST: u64 = 48;

/// Checks the table.
pub(super) fn check(r: &mut Reader<'_, '_>, table: &Node<'_>) {
    let mut flag = |rule: Rule, node: &Node<'_>, expected, found| {
        let span = node.span();
        r.flag(rule, span.offset, span.len, expected, found);
    };
    if !table.is_map() {
        return flag(rules::SHARDS_MAP, table, 0, 0);
    }
    for (key, value) in table.pairs() {
        if !key.text().is_some_and(|name| is_name(&name)) {
            flag(rules::SHARD_NAME, &key, 0, 0);
        }
        if !value.is_map() {
            flag(rules::SHARDS_MAP, &value, 0, 0);
            continue;
        }
        match size(&value) {
            Some(bytes) if bytes >= SMALLEST => {}
            found => flag(rules::SHARD_SIZE, &value, SMALLEST, found.unwrap_or(0)),
        }
        let text = value.get("digest").and_then(|digest| digest.text());
        if !text.is_some_and(|text| digest::is_formed(&text)) {
            flag(rules::SHARD_DIGEST, &value, 0, 0);
        }
    }
}

/// The size of a shard's file.
pub(super) fn size(shard: &Node<'_>) -> Option<u64> {
    shard.get("size").and_then(|size| size.uint())
}

fn is_name(name: &Name<'_>) -> bool {
    let (mut len, mut allowed) = (0_usize, true);
    for byte in name.bytes().take(LONGEST.saturating_add(1)) {
        allowed &= matches!(byte, b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'_' | b'-')
            || byte == b'.' && len > 0;
        len = len.saturating_add(1);
    }
    allowed && (1..=LONGEST).contains(&len)
}
