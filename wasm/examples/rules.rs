//! Writes the rule catalogue as the JavaScript module `rules.js`: so that the
//! texts are not in the WebAssembly, where every visitor would load them twice.

use weighbridge::{Format, RuleInfo, general};

fn main() {
    println!("// Made from the rule catalogue: [id, severity, basis, message, rule].");
    println!("export const general = [");
    rows(general::RULES);
    println!("];\nexport const formats = {{");
    for format in Format::ALL {
        println!("{}: {{ name: '{}', rules: [", *format as u8, format.name());
        rows(format.rules());
        println!("] }},");
    }
    println!("}};");
}

fn rows(rules: &[RuleInfo]) {
    for rule in rules {
        let fields = [rule.id, rule.severity.name(), rule.basis.name(), rule.message, rule.spec];
        let fields = fields.map(quoted).join(",");
        println!("[{fields}],");
    }
}

/// A text as JavaScript has it.
fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            c if c.is_control() || matches!(c, '\u{2028}' | '\u{2029}') => {
                out.push_str(&format!("\\u{:04x}", u32::from(c)));
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}
