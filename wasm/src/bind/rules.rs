//! The rule catalogue: the full module has its texts inside.

use crate::pack::Pack;
use crate::text::Texts;
use js_sys::Uint8Array;
use wasm_bindgen::prelude::*;
use weighbridge_core::{Format, RuleInfo, general};

/// For each format its number, its name, and five texts a rule: id, severity,
/// basis, message, rule. Number 0 has the rules that belong to no format.
#[wasm_bindgen(js_name = rawRules)]
#[allow(unreachable_pub, reason = "called from JavaScript")]
pub fn raw_rules() -> Uint8Array {
    let mut pack = Pack::default();
    pack.u32(Format::ALL.len() as u32 + 1);
    write(0, "", general::RULES, &mut pack);
    for format in Format::ALL {
        write(*format as u32, format.name(), format.rules(), &mut pack);
    }
    pack.done()
}

fn write(number: u32, name: &str, rules: &[RuleInfo], pack: &mut Pack) {
    pack.u32(number);
    pack.text(name);
    let mut texts = Texts::default();
    for rule in rules {
        for text in [rule.id, rule.severity.name(), rule.basis.name(), rule.message, rule.spec] {
            texts.push(text);
        }
    }
    pack.texts(&texts);
}
