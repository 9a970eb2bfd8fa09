//! The ids of all rules of this build as C strings. The catalogues have more texts, which a board
//! has no room for; this table is made from them while compiling, and has only the ids.

use weighbridge_core::{Format, Rule, RuleInfo, general};

/// Format numbers are below this.
const FORMATS: usize = 32;

/// The catalogue of a format by its number; that of no format has number 0.
#[allow(
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    reason = "evaluated while compiling"
)]
const fn catalogue(number: usize) -> &'static [RuleInfo] {
    if number == 0 {
        return general::RULES;
    }
    let mut i = 0;
    while i < Format::ALL.len() {
        if Format::ALL[i] as usize == number {
            return Format::ALL[i].rules();
        }
        i += 1;
    }
    &[]
}

/// Writes the table into `N` bytes, and returns it with its length: for each format number, the ids,
/// each with a zero after it, and another zero.
#[allow(
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    reason = "evaluated while compiling"
)]
const fn table<const N: usize>() -> ([u8; N], usize) {
    let (mut bytes, mut len, mut number) = ([0; N], 0, 0);
    while number < FORMATS {
        let rules = catalogue(number);
        let mut i = 0;
        while i < rules.len() {
            let (id, mut at) = (rules[i].id.as_bytes(), 0);
            while at < id.len() {
                if len < N {
                    bytes[len] = id[at];
                }
                len += 1;
                at += 1;
            }
            len += 1;
            i += 1;
        }
        len += 1;
        number += 1;
    }
    (bytes, len)
}

const LEN: usize = table::<0>().1;
static TABLE: [u8; LEN] = table::<LEN>().0;

/// The id of a rule, with a zero after it; empty if this build has no such rule.
pub(crate) fn id(code: u16) -> &'static [u8] {
    let none = [].as_slice();
    let Some(rule) = Rule::from_code(code) else { return none };
    let mut formats = rule.format_code();
    let mut rules = rule.position();
    let mut rest = TABLE.as_slice();
    loop {
        let end = rest.iter().position(|byte| *byte == 0);
        let Some((id, after)) = end.and_then(|end| rest.split_at_checked(end.saturating_add(1)))
        else {
            return none;
        };
        match (formats, id.len(), rules) {
            // The end of a format's ids.
            (0, 1, _) => return none,
            (0, _, 0) => return id,
            (0, _, _) => rules = rules.saturating_sub(1),
            (_, 1, _) => formats = formats.saturating_sub(1),
            _ => {}
        }
        rest = after;
    }
}
