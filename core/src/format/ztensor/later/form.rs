//! The form of CBOR that generation 2 requires: Core Deterministic Encoding (RFC 8949 §4.2.1),
//! without tags, and nested at most 32 levels deep.

use super::super::rules;
use super::node::Nodes;
use crate::base::cbor::{Head, double_is_single, major, single_is_half};
use crate::base::widen;
use crate::parse::Reader;
use crate::rule::Rule;
use core::cmp::Ordering;

/// How many levels below the root an item may lie.
pub(super) const DEPTH: usize = 32;

/// An open array or map.
#[derive(Clone, Copy, Default)]
struct Level {
    /// Number of items left.
    left: u64,
    map: bool,
    /// Start of the current key, and where the key before it starts and ends.
    key: usize,
    before: Option<(usize, usize)>,
}

/// Reports the departures of the well-formed items in `bytes`, which lie at `at`, `depth` levels
/// below the root: the first of each kind.
pub(super) fn check(r: &mut Reader<'_, '_>, bytes: &[u8], at: u64, depth: usize) {
    let mut seen = Seen { r, at, rules: [None; 8] };
    let mut levels = [Level::default(); DEPTH + 1];
    let mut open = 0_usize;
    let mut run = bytes;
    let mut head = Head::default();
    let place = |run: &[u8]| bytes.len().saturating_sub(run.len());
    while !run.is_empty() {
        let start = place(run);
        if let Some(level) = open.checked_sub(1).and_then(|top| levels.get_mut(top))
            && level.map
            && level.left & 1 == 0
        {
            level.key = start;
        }
        let Some(rest) = head.split(run) else { return };
        let deep = depth.saturating_add(open);
        if deep > DEPTH {
            return seen.flag(rules::FORM_DEPTH, start, widen(DEPTH), widen(deep));
        }
        run = rest;
        if let Some(rule) = fault(&head) {
            seen.flag(rule, start, 0, 0);
        }
        match head.major {
            // The item of a tag follows.
            major::TAG => continue,
            major::BYTES | major::TEXT => {
                if head.is_indefinite() {
                    // Its content is passed over.
                    let Some(node) = Nodes::new(bytes.get(start..).unwrap_or_default(), 0).next()
                    else {
                        return;
                    };
                    let len = usize::try_from(node.end).unwrap_or(usize::MAX);
                    run = bytes.get(start.saturating_add(len)..).unwrap_or_default();
                } else {
                    let len = usize::try_from(head.argument).unwrap_or(usize::MAX);
                    run = run.get(len..).unwrap_or_default();
                }
            }
            major::ARRAY | major::MAP => {
                let map = head.major == major::MAP;
                let left = match head.is_indefinite() {
                    true => u64::MAX,
                    false => head.argument.saturating_mul(if map { 2 } else { 1 }),
                };
                if left > 0 {
                    let Some(level) = levels.get_mut(open) else {
                        let deep = widen(deep).saturating_add(1);
                        return seen.flag(rules::FORM_DEPTH, start, widen(DEPTH), deep);
                    };
                    *level = Level { left, map, key: 0, before: None };
                    open = open.saturating_add(1);
                    continue;
                }
            }
            major::BREAK => open = open.saturating_sub(1),
            _ => {}
        }
        // An item has ended, and perhaps the arrays and maps around it.
        let end = place(run);
        while let Some(top) = open.checked_sub(1)
            && let Some(level) = levels.get_mut(top)
        {
            if level.left == u64::MAX {
                // Not the required form, and keys are not compared.
                break;
            }
            level.left = level.left.saturating_sub(1);
            if level.map && level.left & 1 == 1 {
                let (key, before) = ((level.key, end), level.before.replace((level.key, end)));
                seen.order(bytes, before, key);
            }
            if level.left > 0 {
                break;
            }
            open = top;
        }
    }
}

/// Compares the encoded key `key`, at `at`, with the one before it.
pub(super) fn order(r: &mut Reader<'_, '_>, before: &[u8], key: &[u8], at: u64) {
    let rule = match before.cmp(key) {
        Ordering::Less => return,
        Ordering::Equal => rules::FORM_DUPLICATE,
        Ordering::Greater => rules::FORM_ORDER,
    };
    r.flag(rule, at, widen(key.len()), 0, 0);
}

/// The rules that items have broken so far.
struct Seen<'s, 'r, 'a> {
    r: &'s mut Reader<'r, 'a>,
    at: u64,
    rules: [Option<Rule>; 8],
}

impl Seen<'_, '_, '_> {
    fn flag(&mut self, rule: Rule, place: usize, expected: u64, found: u64) {
        for slot in &mut self.rules {
            match slot {
                Some(seen) if *seen == rule => return,
                Some(_) => {}
                None => {
                    *slot = Some(rule);
                    break;
                }
            }
        }
        self.r.flag(rule, self.at.saturating_add(widen(place)), 1, expected, found);
    }

    fn order(&mut self, bytes: &[u8], before: Option<(usize, usize)>, key: (usize, usize)) {
        let part = |(from, to): (usize, usize)| bytes.get(from..to).unwrap_or_default();
        match before.map(|before| part(before).cmp(part(key))) {
            Some(Ordering::Equal) => self.flag(rules::FORM_DUPLICATE, key.0, 0, 0),
            Some(Ordering::Greater) => self.flag(rules::FORM_ORDER, key.0, 0, 0),
            _ => {}
        }
    }
}

/// The rule that a head breaks by itself.
fn fault(head: &Head) -> Option<Rule> {
    let argument = head.argument;
    match (head.major, head.info) {
        (major::TAG, _) => Some(rules::FORM_TAG),
        (major::BREAK, _) => None,
        (major::OTHER, 20..=22) => None,
        (major::OTHER, 25) => not(argument & 0x7FFF <= 0x7C00 || argument == 0x7E00),
        (major::OTHER, 26) => not(argument & 0x7FFF_FFFF <= 0x7F80_0000 && !is_half(argument)),
        (major::OTHER, 27) => {
            let number = argument & (u64::MAX >> 1) <= 0x7FF << 52;
            not(number && !is_single(argument))
        }
        (major::OTHER, _) => Some(rules::FORM_SIMPLE),
        _ if head.is_indefinite() => Some(rules::FORM_INDEFINITE),
        _ if head.is_wide() => Some(rules::FORM_SHORTEST),
        _ => None,
    }
}

fn not(holds: bool) -> Option<Rule> {
    (!holds).then_some(rules::FORM_FLOAT)
}

/// Whether single-precision bits fit half precision, subnormal halves included.
fn is_half(bits: u64) -> bool {
    let exponent = (bits >> 23) & 0xFF;
    // The least subnormal half is 2^-24; each step up leaves one more bit of the significand.
    let subnormal = (103..=112).contains(&exponent) && {
        let kept = u32::try_from(exponent.wrapping_sub(103)).unwrap_or(0);
        bits & (0x7F_FFFF_u64.wrapping_shr(kept)) == 0
    };
    single_is_half(bits) || subnormal
}

/// Whether double-precision bits fit single precision, subnormals included.
fn is_single(bits: u64) -> bool {
    let exponent = (bits >> 52) & 0x7FF;
    let subnormal = (874..=896).contains(&exponent) && {
        let kept = u32::try_from(exponent.wrapping_sub(874)).unwrap_or(0);
        bits & (0xF_FFFF_FFFF_FFFF_u64.wrapping_shr(kept)) == 0
    };
    double_is_single(bits) || subnormal
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::input::Source;
    use std::vec::Vec;

    fn faults(bytes: &[u8], depth: usize) -> Vec<(&'static str, u64)> {
        let mut found = Vec::new();
        let mut sink = |finding: crate::Finding| found.push((finding.rule.id(), finding.offset));
        let source = Source::whole(bytes);
        check(&mut Reader::new(&source, &mut sink), bytes, 0, depth);
        found
    }

    #[test]
    fn departures_from_deterministic_form_are_found() {
        for sound in [
            &b"\xA2\x61a\x01\x62aa\x02"[..],
            b"\xA2\x01\xA1\x61b\x80\x61a\xF6",
            b"\x83\xF9\x7E\x00\xFA\x7F\x7F\xFF\xFF\xFB\x3F\xB9\x99\x99\x99\x99\x99\x9A",
            b"\x82\x18\x18\x20",
        ] {
            assert_eq!(faults(sound, 0), [], "{sound:X?}");
        }
        let broken: &[(&[u8], &str, u64)] = &[
            (b"\x82\x01\xC0\x01", "FORM-TAG", 2),
            (b"\x82\x01\x9F\xFF", "FORM-INDEFINITE", 2),
            (b"\x82\x01\x18\x17", "FORM-SHORTEST", 2),
            (b"\x82\x01\xF9\x7E\x01", "FORM-FLOAT", 2),
            (b"\x82\x01\xFA\x3F\xC0\x00\x00", "FORM-FLOAT", 2),
            (b"\x82\x01\xFA\x33\x80\x00\x00", "FORM-FLOAT", 2),
            (b"\x82\x01\xFB\x36\xA0\x00\x00\x00\x00\x00\x00", "FORM-FLOAT", 2),
            (b"\x82\x01\xF7", "FORM-SIMPLE", 2),
            (b"\xA2\x62aa\x01\x61b\x02", "FORM-ORDER", 5),
            (b"\xA2\x61a\x01\x61a\x02", "FORM-DUPLICATE", 4),
        ];
        for (bytes, rule, at) in broken {
            assert_eq!(faults(bytes, 0), [(*rule, *at)], "{bytes:X?}");
        }
    }

    #[test]
    fn nesting_is_counted_from_the_root() {
        let nested = |levels: usize| {
            let mut bytes = std::vec![0x81; levels];
            bytes.push(0x00);
            bytes
        };
        assert_eq!(faults(&nested(32), 0), []);
        assert_eq!(faults(&nested(33), 0), [("FORM-DEPTH", 33)]);
        assert_eq!(faults(&nested(30), 2), []);
        assert_eq!(faults(&nested(31), 2), [("FORM-DEPTH", 31)]);
        assert_eq!(faults(&nested(40), 2), [("FORM-DEPTH", 31)]);
    }
}
