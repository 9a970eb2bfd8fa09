//! The audits of files fully in memory find the same as the audit of files in windows: each finding
//! with its rule, location, subject and numbers.

use weighbridge_core::{
    Audit, File, Finding, Format, MappedAudit, NumberedAudit, Opening, Slot, Source, Stop, general,
};
use weighbridge_fuzz_bodies::kept;
use weighbridge_tests::{corpus, fixtures};

/// All compared properties of the findings, sorted independently of the audit's order.
fn sorted(findings: Vec<Finding>) -> Vec<String> {
    let mut all: Vec<_> = findings.iter().map(|finding| format!("{finding:?}")).collect();
    all.sort();
    all
}

/// The findings of `step` with as many slots as it asks for.
fn findings(
    mut step: impl FnMut(&mut [Slot], &mut dyn FnMut(Finding)) -> Result<(), Stop>,
) -> Vec<Finding> {
    let (mut found, mut slots) = (Vec::new(), Vec::new());
    loop {
        match step(&mut slots, &mut |finding| found.push(finding)) {
            Ok(()) | Err(Stop::Invalid(_)) => return found,
            Err(Stop::NeedSlots { needed }) => slots.resize(needed as usize, Slot::EMPTY),
            Err(stop) => panic!("{stop}"),
        }
    }
}

/// Compares the audits of one file and counts the comparisons made with each.
fn compare(name: &str, bytes: &[u8], format: Option<Format>) -> [usize; 2] {
    let source = Source::whole(bytes);
    let opened = Opening::of(format).step(&source, &mut |_| {});
    let Ok(file): Result<File, _> = opened else { return [0; 2] };
    let mut audit = Audit::new(file).structure_only();
    let expected = findings(|slots, sink| audit.step(&source, slots, sink));
    // Only this audit ends a stage on excessive sharing: see docs/design/core.md.
    if expected.iter().any(|finding| finding.rule == general::SHARED_UNCHECKED) {
        return [0; 2];
    }
    let expected = sorted(expected);
    let mut mapped = MappedAudit::new(file);
    let found = findings(|slots, sink| mapped.step(&source, slots, sink));
    assert_eq!(sorted(found), expected, "{name}");
    let Some(mut numbered) = NumberedAudit::new(file) else { return [1, 0] };
    let found = findings(|slots, sink| numbered.step(&source, slots, sink));
    assert_eq!(sorted(found), expected, "{name}, by number");
    [1, 1]
}

#[test]
fn audits_agree_on_fixtures() {
    let mut compared = [0; 2];
    for (format, fixtures) in fixtures::all() {
        for fixture in fixtures {
            let name = format!("{format} {}", fixture.name);
            let of = compare(&name, &fixture.bytes, Format::by_name(format));
            compared = [compared[0] + of[0], compared[1] + of[1]];
        }
    }
    assert!(compared[0] > 500 && compared[1] > 20, "{compared:?}");
}

#[test]
fn audits_agree_on_fuzz_seeds() {
    let mut compared = 0;
    for (format, kept) in kept::of_formats() {
        compared += compare(&kept.name, &kept.input, Some(format))[0];
    }
    assert!(compared > 100, "{compared}");
}

/// Fixtures with a few bytes changed, by a fixed sequence.
#[test]
fn audits_agree_on_damaged_fixtures() {
    let (mut compared, mut state) = (0, 1_u64);
    let mut next = |below: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (state >> 33) as usize % below.max(1)
    };
    for (format, fixtures) in fixtures::all() {
        for fixture in fixtures.iter().filter(|fixture| !fixture.bytes.is_empty()) {
            for round in 0..10 {
                let mut bytes = fixture.bytes.clone();
                for _ in 0..=next(3) {
                    let at = next(bytes.len().min(4096));
                    bytes[at] = [next(256) as u8, bytes[at] ^ 1, 0, 0xFF][next(4)];
                }
                let name = format!("{format} {} damaged {round}", fixture.name);
                compared += compare(&name, &bytes, Format::by_name(format))[0];
            }
        }
    }
    assert!(compared > 3000, "{compared}");
}

#[test]
fn audits_agree_on_corpus() {
    let Some(folder) = corpus::folder() else { return };
    let (mut open, mut compared) = (vec![folder], 0);
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.display().to_string();
            if path.is_dir() {
                open.push(path);
            } else if Format::by_file_name(&name).is_some() {
                let bytes = std::fs::read(&path).unwrap();
                compared += compare(&name, &bytes, Format::by_file_name(&name))[0];
            }
        }
    }
    assert!(compared > 100, "{compared}");
}
