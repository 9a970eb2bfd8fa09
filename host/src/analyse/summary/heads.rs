//! Derives the number of KV heads from flags.

use super::facts::{Fact, Origin, Settings};
use crate::base::value::Value;
use alloc::string::String;
use alloc::vec::Vec;

/// Architectures whose heads share keys and values unless a flag says otherwise.
const SHARING: [&str; 8] = [
    "FalconForCausalLM",
    "falcon",
    "RWForCausalLM",
    "RefinedWeb",
    "RefinedWebModel",
    "GPTBigCodeForCausalLM",
    "GPTBigCodeModel",
    "gpt_bigcode",
];

/// Sets the number of KV heads from the flags that imply it. Returns whether heads may share
/// keys and values, so that the number of heads does not imply that of KV heads.
pub(super) fn settle(settings: &Settings, facts: &mut Vec<Fact>) -> bool {
    let stated = facts.iter().find(|fact| fact.name == "head_count_kv").map(|fact| fact.from);
    if stated == Some(Origin::Metadata) {
        return true;
    }
    let flag = |key: &str| {
        let (key, value) = settings.configured(key)?;
        Some((key, value.as_bool().or_else(|| Some(value.as_int()? != 0))))
    };
    // Falcon's newer decoder groups heads, whatever this flag says.
    let newer = matches!(flag("new_decoder_architecture"), Some((_, Some(true))));
    match flag("multi_query") {
        Some((key, Some(true))) if !newer => return set(facts, 1, key),
        Some((_, Some(_))) => return newer,
        Some((_, None)) => return true,
        None => {}
    }
    if let Some((_, grouped)) = flag("multi_query_attention") {
        let groups = "multi_query_group_num";
        return match settings.configured_number(groups).zip(settings.configured(groups)) {
            Some((count, (key, _))) if grouped == Some(true) => set(facts, count, key),
            _ => grouped != Some(false),
        };
    }
    let named = Fact::value(facts, "architecture").and_then(Value::as_str);
    named.is_some_and(|named| SHARING.contains(&named))
}

fn set(facts: &mut Vec<Fact>, count: u64, key: String) -> bool {
    facts.retain(|fact| fact.name != "head_count_kv");
    let value = Value::Int(count.into());
    facts.push(Fact { name: "head_count_kv", value, from: Origin::Config, key });
    true
}
