//! Writes `include/weighbridge.h` from the sources of the interface and the lists of the core, and
//! `include/weighbridge_rules.h` from the catalogues. `WEIGHBRIDGE_HEADER=write cargo test` writes
//! them; otherwise a difference is a failure.

mod declare;

use declare::{assertion, comment, enumeration, function, structure};
use std::fmt::Write as _;
use std::path::Path;
use weighbridge_core::{DType, Format, RuleInfo, Severity, general};

const RAW: &str = include_str!("../raw.rs");
const TYPES: &str = include_str!("../types.rs");

#[test]
fn header_equals_interface() {
    compare("weighbridge.h", &header());
}

#[test]
fn rules_header_equals_catalogues() {
    compare("weighbridge_rules.h", &rules_header());
}

#[test]
fn rule_ids_equal_catalogues() {
    for (format, rules) in catalogues() {
        for (position, rule) in rules.iter().enumerate() {
            let id = crate::raw::wb_rule_id(code(format, position, rule));
            assert_eq!(crate::tests::text(id), rule.id);
        }
        let past = code(format, rules.len(), &rules[0]);
        assert_eq!(crate::tests::text(crate::raw::wb_rule_id(past)), "");
    }
    for none in [0, 0xF801, 0xFFFF] {
        assert_eq!(crate::tests::text(crate::raw::wb_rule_id(none)), "", "{none:#x}");
    }
}

/// Compares a header with its text, or writes it.
fn compare(name: &str, text: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("include").join(name);
    if std::env::var_os("WEIGHBRIDGE_HEADER").is_some_and(|value| value == "write") {
        std::fs::write(&path, text).unwrap();
    }
    let stored = std::fs::read_to_string(&path).unwrap();
    assert!(stored == text, "{name} differs: WEIGHBRIDGE_HEADER=write scripts/c.sh header");
}

fn header() -> String {
    let mut out = PREAMBLE.to_string();
    let version = env!("CARGO_PKG_VERSION");
    writeln!(out, "#define WB_VERSION \"{version}\"\n").unwrap();
    out += &comment("A format, for the mode of wb_open.", "");
    out += "enum wb_format {\n  /* By the first bytes of the file. */\n  WB_DETECT = 0,\n";
    for format in Format::ALL.iter().filter(|format| format.is_available()) {
        let name = format.name().to_uppercase();
        writeln!(out, "  WB_FORMAT_{name} = {}, /* {} */", *format as u8, format.title()).unwrap();
    }
    out += "};\n\n";
    for (name, prefix) in [
        ("Code", "WB_"),
        ("Severity", "WB_SEVERITY_"),
        ("Status", "WB_STATUS_"),
        ("Kind", "WB_KIND_"),
    ] {
        out += &enumeration(TYPES, name, prefix);
    }
    out += &dtypes();
    out += REGION;
    for name in ["Finding", "Findings", "Tensor"] {
        out += &structure(TYPES, name);
    }
    for (name, words) in [
        ("File", crate::types::FILE_WORDS),
        ("Cursor", crate::types::CURSOR_WORDS),
        ("Slot", crate::types::SLOT_WORDS),
    ] {
        out += &opaque(name, words);
    }
    out += ASSERT;
    for name in ["Finding", "Findings", "Tensor"] {
        out += &assertion(TYPES, name);
    }
    for name in ["file", "cursor", "slot"] {
        writeln!(out, "WB_ASSERT(WB_ALIGNOF(wb_{name}) == 8, \"wb_{name}\");").unwrap();
    }
    out += "\n#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n";
    for part in RAW.split("#[unsafe(no_mangle)]\n").collect::<Vec<_>>().windows(2) {
        out += &function(part[0], part[1]);
    }
    out + END
}

/// The number of words in 64 bits and in 32, as `types.rs` chooses them.
fn opaque(name: &str, words: usize) -> String {
    let upper = format!("pub const {}_WORDS: usize", name.to_uppercase());
    let line = TYPES.lines().find(|line| line.starts_with(&upper)).unwrap();
    let numbers: Vec<&str> =
        line.split(|c: char| !c.is_ascii_digit()).filter(|number| !number.is_empty()).collect();
    let [_, wide, narrow] = numbers[..] else { panic!("{line}") };
    assert_eq!(wide.parse(), Ok(words), "this test runs in 64 bits");
    let docs = declare::docs_before(TYPES, &format!("pub struct {name}("));
    let lower = name.to_lowercase();
    let words = format!("sizeof(void *) > 4 ? {wide} : {narrow}");
    comment(&docs, "")
        + &format!("typedef struct wb_{lower} {{\n  uint64_t opaque[{words}];\n}} wb_{lower};\n\n")
}

fn dtypes() -> String {
    let mut list = comment(
        "Every type of elements: X(constant, number, name, bits of an element, elements in a block, \
         bytes of a block). A type has bits or blocks; both are 0 if neither is fixed.",
        "",
    );
    list += "#define WB_DTYPES(X)";
    for dtype in DType::ALL {
        let constant: String = dtype
            .name()
            .chars()
            .map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_uppercase() } else { '_' })
            .collect();
        let constant = constant.trim_end_matches('_');
        let (elements, bytes) = dtype.block().unwrap_or_default();
        let (number, name, bits) = (*dtype as u8, dtype.name(), dtype.bits());
        write!(
            list,
            " \\\n  X(WB_DTYPE_{constant}, {number}, \"{name}\", {bits}, {elements}, {bytes})"
        )
        .unwrap();
    }
    list += "\n\n/* The type of an element. */\nenum wb_dtype {\n";
    list += "#define WB_DTYPE(constant, number, name, bits, elements, bytes) constant = number,\n";
    list + "  WB_DTYPES(WB_DTYPE)\n#undef WB_DTYPE\n};\n\n"
}

/// The catalogues that a board may have, with the numbers of their formats.
fn catalogues() -> Vec<(u16, &'static [RuleInfo])> {
    let formats = Format::ALL.iter().filter(|format| format.is_available());
    let formats = formats.map(|format| (u16::from(*format as u8), format.rules()));
    [(0, general::RULES)].into_iter().chain(formats).collect()
}

/// The number of a rule, as the core counts.
fn code(format: u16, position: usize, rule: &RuleInfo) -> u16 {
    format << 11 | (rule.severity as u16) << 9 | (position as u16 + 1)
}

fn rules_header() -> String {
    let mut out = RULES_PREAMBLE.to_string();
    for (format, rules) in catalogues() {
        let name = Format::ALL.iter().find(|other| u16::from(**other as u8) == format);
        let name = name.map_or("GENERAL".into(), |format| format.name().to_uppercase());
        write!(out, "#define WB_RULES_{name}(X)").unwrap();
        for (position, rule) in rules.iter().enumerate() {
            let severity = match rule.severity {
                Severity::Unchecked => "UNCHECKED",
                Severity::Lint => "LINT",
                Severity::Violation => "VIOLATION",
                Severity::Fatal => "FATAL",
            };
            let text = rule.spec.replace('\\', "\\\\").replace('"', "\\\"").replace("??", "?\\?");
            let code = code(format, position, rule);
            write!(
                out,
                " \\\n  X({code:#06x}, \"{}\", WB_SEVERITY_{severity}, \"{text}\")",
                rule.id
            )
            .unwrap();
        }
        out += "\n\n";
    }
    out += "/* Those of every format. */\n#define WB_RULES(X) WB_RULES_GENERAL(X)";
    for (format, _) in catalogues().into_iter().skip(1) {
        let format = Format::ALL.iter().find(|other| u16::from(**other as u8) == format).unwrap();
        write!(out, " \\\n  WB_RULES_{}(X)", format.name().to_uppercase()).unwrap();
    }
    out + "\n\n#endif\n"
}

const PREAMBLE: &str = "\
/* Weighbridge for C: validates tensor files in mapped memory. No heap, no globals, no panic; every
 * function is reentrant. docs/c.md shows how to use it.
 *
 * Written from c/src by a test: WEIGHBRIDGE_HEADER=write scripts/c.sh header. Do not edit. */
#ifndef WEIGHBRIDGE_H
#define WEIGHBRIDGE_H

#include <stddef.h>
#include <stdint.h>

";

const REGION: &str = "\
/* In the mode of wb_open, added to a format: the memory may go on after the file, as a partition
 * does. A format that records its length (STB, OINF, IDV) is checked against that length. */
#define WB_REGION 0x100u

";

const ASSERT: &str = "\
/* Initialises a wb_findings for an array of wb_finding. */
#define WB_FINDINGS(array) \\
  { (array), (uint32_t)(sizeof(array) / sizeof((array)[0])), 0, 0, 0, 0, 0 }

/* The sizes that the library was built with. */
#if defined(__cplusplus)
#define WB_ASSERT(condition, what) static_assert(condition, what)
#define WB_ALIGNOF(type) alignof(type)
#else
#define WB_ASSERT(condition, what) _Static_assert(condition, what)
#define WB_ALIGNOF(type) _Alignof(type)
#endif
";

const END: &str = "\
#ifdef __cplusplus
}
#endif

/* The first tensor with this name, which ends with a zero: wb_find_bytes. */
static inline wb_code wb_find(const wb_file *file, const char *name, wb_tensor *tensor) {
  size_t len = 0;
  while (name[len] != '\\0') {
    len++;
  }
  return wb_find_bytes(file, name, len, tensor);
}

#endif
";

const RULES_PREAMBLE: &str = "\
/* The rules of each format: X(number, id, severity, what the rule requires). Texts cost memory only
 * where a program uses them, for example in a switch over the number of a finding.
 *
 * Written from the catalogues by a test: WEIGHBRIDGE_HEADER=write scripts/c.sh header. Do not edit.
 * Numbers are those of this release; ids never change. */
#ifndef WEIGHBRIDGE_RULES_H
#define WEIGHBRIDGE_RULES_H

#include \"weighbridge.h\"

";
