//! Every public function has an example in its documentation that runs and calls it.

use std::path::Path;

/// The public functions below `folder` without an example: `file:line name`.
fn without_example(folder: &Path, missing: &mut Vec<String>) -> usize {
    let mut seen = 0;
    for entry in std::fs::read_dir(folder).expect("a folder of sources") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            seen += without_example(&path, missing);
            continue;
        }
        let text = std::fs::read_to_string(&path).expect("a source file");
        let mut doc = String::new();
        for (line, number) in text.lines().map(str::trim).zip(1..) {
            if let Some(comment) = line.strip_prefix("///") {
                doc.extend([comment.trim(), "\n"]);
            } else if let Some(name) = public_function(line) {
                seen += 1;
                if !is_used(&name, &doc) {
                    missing.push(format!("{}:{number} {name}", path.display()));
                }
                doc.clear();
            } else if !line.starts_with("#[") {
                doc.clear();
            }
        }
    }
    seen
}

/// The name of the public function that a line declares.
fn public_function(line: &str) -> Option<String> {
    let mut rest = line.strip_prefix("pub ")?;
    for word in ["const ", "async "] {
        rest = rest.strip_prefix(word).unwrap_or(rest);
    }
    let is_name = |c: &char| c.is_alphanumeric() || *c == '_';
    Some(rest.strip_prefix("fn ")?.chars().take_while(is_name).collect())
}

/// Whether a code block that is compiled and run calls the function.
fn is_used(name: &str, doc: &str) -> bool {
    let blocks = doc.split("```").skip(1).step_by(2);
    let mut run = blocks.filter(|block| block.starts_with('\n'));
    run.any(|block| [format!("{name}("), format!("{name}::<")].iter().any(|it| block.contains(it)))
}

#[test]
fn public_function_has_example() {
    let mut missing = Vec::new();
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let seen = without_example(&source, &mut missing);
    assert!(seen > 140, "only {seen} functions");
    assert!(missing.is_empty(), "without an example:\n{}", missing.join("\n"));
}

/// The number of lines, without comments, in the body of an example's function.
fn lines(example: &str, function: &str) -> usize {
    let path = format!("{}/examples/{example}.rs", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(path).expect("an example");
    let start = text.find(&format!("fn {function}")).expect("the function");
    let body = text[start..].split_once("{\n").expect("a body").1;
    body.lines()
        .take_while(|line| *line != "}")
        .filter(|line| !line.trim().starts_with("//"))
        .count()
}

#[test]
fn example_is_short() {
    let most = [("gate", "gate(", 5), ("read", "list(", 5), ("read", "read(", 3)];
    for (example, function, most) in most.into_iter().chain([("ranges", "check<", 20)]) {
        let lines = lines(example, function);
        assert!((1..=most).contains(&lines), "{example}, {function}: {lines} lines");
    }
}

#[test]
fn example_is_run() {
    assert_eq!(public_function("pub const fn name(&self) -> T {").as_deref(), Some("name"));
    assert_eq!(public_function("pub(crate) fn name() {"), None);
    assert!(is_used("name", "It is.\n\n```\nx.name();\n```\n"));
    assert!(!is_used("name", "It is.\n\n```ignore\nx.name();\n```\n"));
    assert!(!is_used("name", "`name()` is.\n\n```\nx.other();\n```\n"));
}
