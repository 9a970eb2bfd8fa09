//! `catalogue [FORMAT...]` prints the rules of these formats, or of all, as JSON: for each format
//! its name, the names of its value types, and its rules, as [id, severity, basis, message, rule,
//! reason]. A rule without a reason has five fields. The key is the format's number, or 0 for the
//! general rules.

use weighbridge_core::{Format, RuleInfo, general};

#[allow(clippy::as_conversions, reason = "the number of a format is its discriminant")]
fn main() {
    print!("{{\"0\":{{\"name\":\"\",\"types\":[],\"rules\":[");
    rows(general::RULES);
    print!("]}}");
    let wanted: Vec<String> = std::env::args().skip(1).collect();
    let is_wanted =
        |format: &Format| wanted.is_empty() || wanted.iter().any(|it| it == format.name());
    for format in Format::ALL.iter().filter(|format| is_wanted(format)) {
        let types: Vec<String> = format.value_types().iter().copied().map(quoted).collect();
        let (name, types) = (quoted(format.name()), types.join(","));
        print!(",\n\"{}\":{{\"name\":{name},\"types\":[{types}],\"rules\":[", *format as u8);
        rows(format.rules());
        print!("]}}");
    }
    println!("}}");
}

fn rows(rules: &[RuleInfo]) {
    for (i, rule) in rules.iter().enumerate() {
        let fields = [rule.id, rule.severity.name(), rule.basis.name(), rule.message, rule.spec];
        let fields: Vec<_> = fields.into_iter().chain(rule.why).map(quoted).collect();
        let comma = if i == 0 { "" } else { "," };
        print!("{comma}\n[{}]", fields.join(","));
    }
}

/// The text as a JSON string.
fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            c if c.is_control() => out.push_str(&format!("\\u{:04x}", u32::from(c))),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}
