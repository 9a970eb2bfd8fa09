//! C declarations from Rust items.

use std::fmt::Write as _;

/// A comment of at most 100 columns.
pub(super) fn comment(text: &str, indent: &str) -> String {
    let mut out = String::new();
    let mut line = format!("{indent}/*");
    for (n, paragraph) in text.split("\n\n").enumerate() {
        if n > 0 {
            write!(out, "{line}\n{indent} *\n").unwrap();
            line = format!("{indent} *");
        }
        for word in paragraph.split_whitespace() {
            if line.len() + 1 + word.len() > 96 {
                writeln!(out, "{line}").unwrap();
                line = format!("{indent} *");
            }
            write!(line, " {word}").unwrap();
        }
    }
    writeln!(out, "{line} */").unwrap();
    out
}

/// The documentation right before the line that begins with `item`.
pub(super) fn docs_before(source: &str, item: &str) -> String {
    let end = source.find(&format!("\n{item}")).unwrap_or_else(|| panic!("{item}"));
    docs(&source[..end])
}

/// The documentation at the end of `source`, before attributes; backquotes are left out.
fn docs(source: &str) -> String {
    let mut lines = Vec::new();
    for line in source.lines().rev() {
        let line = line.trim();
        match line.strip_prefix("///") {
            Some(doc) => lines.push(doc.trim()),
            None if line.starts_with("#[") && lines.is_empty() => {}
            None => break,
        }
    }
    lines.reverse();
    lines
        .join("\n")
        .replace("# Safety\n\n", "Requires: ")
        .replace("# Safety\n", "Requires: ")
        .replace('`', "")
}

/// The body of the item that begins with `item`, without its braces.
fn body<'a>(source: &'a str, item: &str) -> &'a str {
    let start = source.find(item).unwrap_or_else(|| panic!("{item}")) + item.len();
    &source[start..start + source[start..].find("\n}").unwrap()]
}

/// The members of a body: documentation and text.
fn members(body: &str) -> Vec<(String, &str)> {
    let mut before = String::new();
    let mut members = Vec::new();
    for line in body.lines() {
        let trimmed = line.trim();
        if trimmed.starts_with("///") {
            before += line;
            before.push('\n');
        } else if !trimmed.is_empty() {
            members.push((docs(&before), trimmed.trim_end_matches(',')));
            before.clear();
        }
    }
    members
}

/// `CamelCase` in another form.
fn snake(name: &str) -> String {
    let mut out = String::new();
    for c in name.chars() {
        if c.is_uppercase() && !out.is_empty() {
            out.push('_');
        }
        out.extend(c.to_lowercase());
    }
    out
}

/// An enumeration; one of `i32` also gets the type that functions return.
pub(super) fn enumeration(source: &str, name: &str, prefix: &str) -> String {
    let item = format!("pub enum {name} {{");
    let mut out = comment(&docs_before(source, &item), "");
    let lower = snake(name);
    // In C++ the tag of an enumeration is a type.
    let plural = if name == "Code" { "s" } else { "" };
    writeln!(out, "enum wb_{lower}{plural} {{").unwrap();
    for (docs, text) in members(body(source, &item)) {
        let (name, number) = text.split_once(" = ").unwrap();
        out += &comment(&docs, "  ");
        writeln!(out, "  {prefix}{} = {number},", snake(name).to_uppercase()).unwrap();
    }
    out += "};\n";
    if name == "Code" {
        out += "typedef int32_t wb_code;\n";
    }
    out + "\n"
}

/// A structure with public fields.
pub(super) fn structure(source: &str, name: &str) -> String {
    let item = format!("pub struct {name} {{");
    let lower = snake(name);
    let mut out = comment(&docs_before(source, &item), "");
    writeln!(out, "typedef struct wb_{lower} {{").unwrap();
    for (docs, text) in members(body(source, &item)) {
        let (field, rust) = text.strip_prefix("pub ").unwrap().split_once(": ").unwrap();
        out += &comment(&docs, "  ");
        writeln!(out, "  {};", variable(rust, field)).unwrap();
    }
    writeln!(out, "}} wb_{lower};\n").unwrap();
    out
}

/// The size of a structure as an assertion: pointers, and the other fields.
pub(super) fn assertion(source: &str, name: &str) -> String {
    let (mut pointers, mut rest) = (0, 0);
    for (_, text) in members(body(source, &format!("pub struct {name} {{"))) {
        match text.split_once(": ").unwrap().1 {
            "usize" => pointers += 1,
            rust if rust.starts_with('*') => pointers += 1,
            rust => rest += rust[1..].parse::<usize>().unwrap() / 8,
        }
    }
    let lower = snake(name);
    match pointers {
        0 => format!("WB_ASSERT(sizeof(wb_{lower}) == {rest}, \"wb_{lower}\");\n"),
        1 => format!("WB_ASSERT(sizeof(wb_{lower}) == sizeof(void *) + {rest}, \"wb_{lower}\");\n"),
        n => format!(
            "WB_ASSERT(sizeof(wb_{lower}) == {n} * sizeof(void *) + {rest}, \"wb_{lower}\");\n"
        ),
    }
}

/// A prototype: `before` ends with its documentation, `after` begins with its signature.
pub(super) fn function(before: &str, after: &str) -> String {
    let signature = after.split(" {\n").next().unwrap();
    let (name, rest) = signature.split_once("fn ").unwrap().1.split_once('(').unwrap();
    let (arguments, result) = rest.rsplit_once(") -> ").unwrap();
    let arguments: Vec<String> = arguments
        .split(',')
        .map(str::trim)
        .filter(|argument| !argument.is_empty())
        .map(|argument| {
            let (name, rust) = argument.split_once(": ").unwrap();
            variable(rust, name)
        })
        .collect();
    let start = variable(result, name);
    let mut text = format!("{start}({});", arguments.join(", "));
    if text.len() > 100 {
        let indent = format!(",\n{}", " ".repeat(start.len() + 1));
        text = format!("{start}({});", arguments.join(&indent));
    }
    comment(&docs(before), "") + &text + "\n\n"
}

/// The declaration of a variable of a Rust type, or of a function that returns it.
fn variable(rust: &str, name: &str) -> String {
    let pointer = |to: &str| match to {
        "c_void" => "void".into(),
        "c_char" => "char".into(),
        other => plain(other),
    };
    if let Some(to) = rust.strip_prefix("*const ") {
        format!("const {} *{name}", pointer(to))
    } else if let Some(to) = rust.strip_prefix("*mut ") {
        format!("{} *{name}", pointer(to))
    } else {
        format!("{} {name}", plain(rust))
    }
}

fn plain(rust: &str) -> String {
    match rust {
        "usize" => "size_t".into(),
        "u8" | "u16" | "u32" | "u64" => format!("uint{}_t", &rust[1..]),
        name => format!("wb_{}", snake(name)),
    }
}
