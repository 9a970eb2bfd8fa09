//! Human-readable model summaries.

use crate::human::{bold, dim};
use std::io::{self, Write};
use weighbridge::text::{bytes, plural, thousands};
use weighbridge::weighbridge_core::DType;
use weighbridge::{ModelSummary, Origin, Share, Text, Value};

/// Writes a summary.
pub(crate) fn show(out: &mut dyn Write, summary: &ModelSummary) -> io::Result<()> {
    writeln!(out, "{}", bold("model"))?;
    for fact in &summary.facts {
        let from = match fact.from {
            Origin::Metadata => String::new(),
            Origin::Computed => dim("  (computed)"),
            from => dim(format!("  (from {})", from.name())),
        };
        writeln!(out, "  {:28}  {}{from}", fact.name, value(&fact.value))?;
    }
    let all = &summary.all;
    writeln!(out, "{} {}", bold("parameters"), line(all))?;
    if let Some(active) = summary.active {
        writeln!(out, "  {} active per token", thousands(active))?;
    }
    if summary.others > 0 {
        writeln!(out, "  {} are not parameters", plural(summary.others, "element"))?;
    }
    for (name, share) in &summary.parts {
        writeln!(out, "  {:12}  {}", name.name(), line(share))?;
    }
    for (name, share) in &summary.dtypes {
        writeln!(out, "  {name:12}  {}", line(share))?;
    }
    writeln!(out, "{} {} for weights", bold("memory"), bytes(all.bytes))?;
    let without = &summary.without_data;
    if without.tensors > 0 {
        let (taken, tensors) = (bytes(without.bytes), plural(without.tensors, "tensor"));
        writeln!(out, "  {taken} for {tensors} without data, such as activations")?;
    }
    match (&summary.cache, &summary.no_cache) {
        (Some(cache), _) => {
            let context = summary.fact("context_length").and_then(Value::as_int);
            let context = context.and_then(|it| u64::try_from(it).ok()).unwrap_or(4096);
            let dtypes = [DType::F16, DType::Q8_0];
            for dtype in dtypes.into_iter().filter(|_| !cache.groups.is_empty()) {
                let taken = bytes(cache.bytes(context, dtype).unwrap_or(0.0) as u64);
                let (positions, name) = (plural(context, "position"), dtype.name());
                writeln!(out, "  {taken} for the KV cache of {positions} in {name}")?;
            }
            if let Some((state, taken)) = cache.state.and_then(|it| Some((it, it.bytes()?))) {
                let (taken, layers) = (bytes(taken), plural(state.layers, "layer"));
                writeln!(out, "  {taken} for the state of {layers}")?;
            }
            for assumed in &cache.assumes {
                writeln!(out, "  {}", dim(Text::from(assumed.as_str())))?;
            }
        }
        (None, Some(why)) => {
            writeln!(out, "  {}", dim(format!("KV cache: {}", Text::from(why.as_str()))))?;
        }
        (None, None) => {}
    }
    for note in &summary.notes {
        writeln!(out, "{} {}", bold("note"), Text::from(note.as_str()))?;
    }
    Ok(())
}

fn line(share: &Share) -> String {
    let bits = share.bits_per_weight().map(|bits| format!(", {bits:.2} bits each"));
    format!(
        "{} in {}, {}{}",
        thousands(share.parameters),
        plural(share.tensors, "tensor"),
        bytes(share.bytes),
        bits.unwrap_or_default()
    )
}

/// A value; a list has one per block.
fn value(value: &Value) -> String {
    match value {
        Value::Text(text) => text.to_string(),
        Value::Int(number) => match u64::try_from(*number) {
            Ok(number) => thousands(number),
            Err(_) => number.to_string(),
        },
        value => {
            let text = value.to_string();
            let cut: String = text.chars().take(120).collect();
            if cut.len() < text.len() { format!("{cut}…") } else { cut }
        }
    }
}
