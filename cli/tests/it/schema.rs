//! The schemas of the output (`docs/schema/`), and a validator for the keywords they use.
//!
//! It is stricter than others: a member that no schema names is an error, because it is
//! undocumented, and so is a keyword that the validator does not support.

use super::*;
use serde_json::Map;
use std::sync::LazyLock;
use weighbridge::Format;
use weighbridge_tests::fixtures;

static SCHEMAS: LazyLock<Vec<(String, Value)>> = LazyLock::new(|| {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/schema");
    let entries = std::fs::read_dir(folder).expect("the schemas");
    let read = |entry: std::io::Result<std::fs::DirEntry>| {
        let path = entry.expect("an entry").path();
        let text = std::fs::read_to_string(&path).expect("a schema");
        let name = path.file_stem().expect("a name").to_string_lossy().into_owned();
        (format!("weighbridge/{name}"), serde_json::from_str(&text).expect("a schema is JSON"))
    };
    entries.map(read).collect()
});

/// How each report begins.
const REPORTS: [&str; 2] = ["{\"file\"", "{\"a\":{\"file\""];

/// Validates each JSON object on standard output that is a report.
pub(super) fn validate_output(out: &str) {
    for line in out.lines().filter(|line| REPORTS.iter().any(|start| line.starts_with(start))) {
        let Ok(value) = serde_json::from_str::<Value>(line) else { continue };
        let name = value["schema"].as_str().unwrap_or_else(|| panic!("it names no schema: {line}"));
        let schema = SCHEMAS.iter().find(|(known, _)| known == name);
        let (_, schema) = schema.unwrap_or_else(|| panic!("there is no schema {name}"));
        if let Err(why) = validate(schema, &value) {
            panic!("{why}: {}", line.chars().take(2_000).collect::<String>());
        }
    }
}

/// Validates a value against a schema; returns the reason if it does not match.
pub(super) fn validate(schema: &Value, value: &Value) -> Result<(), String> {
    Validator { root: schema }.check(schema, value, "$")
}

struct Validator<'s> {
    root: &'s Value,
}

impl Validator<'_> {
    fn check(&self, schema: &Value, value: &Value, at: &str) -> Result<(), String> {
        let Some(keywords) = schema.as_object() else {
            return Err(format!("{at}: a schema is an object, not {schema}"));
        };
        for (keyword, wanted) in keywords {
            self.keyword(keywords, keyword, wanted, value, at)?;
        }
        // Every member is documented.
        if let (Some(known), Some(members)) = (keywords.get("properties"), value.as_object()) {
            for member in members.keys() {
                if known.get(member).is_none() {
                    return Err(format!("{at} has the member {member:?}, which no schema names"));
                }
            }
        }
        Ok(())
    }

    fn keyword(
        &self,
        all: &Map<String, Value>,
        keyword: &str,
        wanted: &Value,
        value: &Value,
        at: &str,
    ) -> Result<(), String> {
        let number = wanted.as_f64().unwrap_or(f64::NAN);
        let fails = |why: String| Err(format!("{at}: {value} {why}"));
        match keyword {
            "$schema" | "$id" | "title" | "description" | "$defs" => {}
            "$ref" => {
                let name = wanted.as_str().unwrap_or_default();
                let path = name.strip_prefix('#').ok_or_else(|| format!("{name} is elsewhere"))?;
                let schema =
                    self.root.pointer(path).ok_or_else(|| format!("there is no {name}"))?;
                self.check(schema, value, at)?;
            }
            "type" => {
                let names = wanted.as_array().cloned().unwrap_or_else(|| vec![wanted.clone()]);
                if !names.iter().any(|name| is(value, name.as_str().unwrap_or_default())) {
                    return fails(format!("is not of the type {wanted}"));
                }
            }
            "const" if value != wanted => return fails(format!("is not {wanted}")),
            "enum" if !wanted.as_array().is_some_and(|all| all.contains(value)) => {
                return fails(format!("is none of {wanted}"));
            }
            "minimum" if value.as_f64().is_some_and(|value| value < number) => {
                return fails(format!("is less than {wanted}"));
            }
            "minLength" if value.as_str().is_some_and(|it| (it.len() as f64) < number) => {
                return fails("is too short".to_owned());
            }
            "minItems" if value.as_array().is_some_and(|it| (it.len() as f64) < number) => {
                return fails("has too few items".to_owned());
            }
            "pattern" => {
                let matches = pattern(wanted.as_str().unwrap_or_default());
                if !value.as_str().is_none_or(matches) {
                    return fails(format!("does not match {wanted}"));
                }
            }
            "required" => {
                for name in wanted.as_array().into_iter().flatten().filter_map(Value::as_str) {
                    if value.is_object() && value.get(name).is_none() {
                        return Err(format!("{at} has no member {name:?}"));
                    }
                }
            }
            "properties" => {
                for (name, schema) in wanted.as_object().into_iter().flatten() {
                    if let Some(member) = value.get(name) {
                        self.check(schema, member, &format!("{at}.{name}"))?;
                    }
                }
            }
            "items" => {
                for (i, item) in value.as_array().into_iter().flatten().enumerate() {
                    self.check(wanted, item, &format!("{at}[{i}]"))?;
                }
            }
            "anyOf" => {
                let any = |schema: &Value| self.check(schema, value, at).is_ok();
                if !wanted.as_array().is_some_and(|all| all.iter().any(any)) {
                    return fails(format!("is as none of {wanted}"));
                }
            }
            "const" | "enum" | "minimum" | "minLength" | "minItems" => {}
            unknown => {
                return Err(format!("{at}: the keyword {unknown:?} of {all:?} is not known"));
            }
        }
        Ok(())
    }
}

fn is(value: &Value, name: &str) -> bool {
    match name {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "null" => value.is_null(),
        "number" => value.is_number(),
        "integer" => value.is_i64() || value.is_u64(),
        name => panic!("no type is called {name:?}"),
    }
}

/// The patterns used in the schemas.
fn pattern(pattern: &str) -> fn(&str) -> bool {
    fn is_hex(text: &str) -> bool {
        text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
    }
    match pattern {
        "^([0-9a-f]{2})*$" => |text| text.len() % 2 == 0 && is_hex(text),
        "^[0-9a-f]{64}$" => |text| text.len() == 64 && is_hex(text),
        "^[0-9]{4}-[0-9]{2}-[0-9]{2}$" => |text| {
            let shape = |(i, c): (usize, char)| {
                if i == 4 || i == 7 { c == '-' } else { c.is_ascii_digit() }
            };
            text.len() == 10 && text.chars().enumerate().all(shape)
        },
        pattern => panic!("the pattern {pattern} is not known"),
    }
}

/// Every line for every fixture, and the complete output of `inspect`.
#[test]
fn json_of_every_fixture_matches_schema() {
    let folder = Folder::new();
    let mut names = Vec::new();
    for (format, fixtures) in fixtures::for_hosts() {
        let format = Format::by_name(format).expect("a fixture of a known format");
        for (i, fixture) in fixtures.iter().enumerate() {
            let name = format!("{}-{i:03}.{}", format.name(), format.extensions()[0]);
            folder.write(&name, &fixture.bytes);
            names.push(name);
        }
    }
    assert!(names.len() > 400, "{}", names.len());
    for args in [
        &["check", ".", "--json", "--jobs", "2"][..],
        &["check", ".", "--json", "--sha256", "--structure"],
    ] {
        assert_eq!(run(&folder, args).lines().len(), names.len());
    }
    for name in names.iter().step_by(3) {
        let inspected = run(&folder, &["inspect", name, "--json", "--values", "3", "--stats"]);
        assert_eq!(inspected.json()["schema"], "weighbridge/inspect-1");
        let stats = run(&folder, &["stats", name, "--json"]);
        assert_eq!(stats.json()["schema"], "weighbridge/stats-1");
    }
    // The extremes of booleans are booleans.
    let flags = weighbridge_tests::encode::npy::Npy::new("'|b1'", 1, &[2]);
    folder.write("flags.npy", &flags.encode());
    let stats = run(&folder, &["stats", "flags.npy", "--json"]).json();
    assert!(stats["tensors"][0]["min"].is_boolean(), "{stats}");
}

/// The validator itself finds errors.
#[test]
fn line_outside_schema_is_refused() {
    let folder = Folder::new();
    folder.write("a.stb", &with_flags());
    let good = run(&folder, &["check", "a.stb", "--json"]).json();
    let (_, schema) =
        SCHEMAS.iter().find(|(name, _)| name == "weighbridge/check-1").expect("it is there");
    assert_eq!(validate(schema, &good), Ok(()));
    for (pointer, value, words) in [
        ("/verdict", serde_json::json!("fine"), "is none of"),
        ("/size", serde_json::json!(-1), "less than"),
        ("/findings/0/offset", serde_json::json!("5"), "type"),
        ("/findings/0", serde_json::json!({}), "has no member"),
        ("/tool/name", serde_json::json!("other"), "is not \"weighbridge\""),
    ] {
        let mut bad = good.clone();
        *bad.pointer_mut(pointer).expect("it is there") = value;
        let why = validate(schema, &bad).expect_err(pointer);
        assert!(why.contains(words), "{why}");
    }
    let mut more = good;
    more["more"] = Value::Null;
    assert!(validate(schema, &more).is_err_and(|why| why.contains("\"more\"")));
}
