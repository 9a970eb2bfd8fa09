//! Which payloads have rules: `Audit::has_rules` covers every fault that an audit can find.

use weighbridge::weighbridge_core::{Audit, Cursor};
use weighbridge::{Format, Goal, Options, Session, Severity};
use weighbridge_tests::fixtures;

/// The number of findings up to `goal` that report a fault.
fn wrong(bytes: &[u8], format: Option<Format>, goal: Goal) -> u64 {
    let options = Options::new();
    let options = format.map_or(options.clone(), |format| options.format(format));
    let mut session = Session::whole(bytes, options);
    assert!(session.advance(goal), "all bytes are there");
    let tally = session.tally();
    [Severity::Fatal, Severity::Violation, Severity::Lint].map(|it| tally.count(it)).iter().sum()
}

/// Whether the data of some tensor is subject to rules.
fn is_ruled(bytes: &[u8], format: Option<Format>) -> bool {
    let options = Options::new();
    let options = format.map_or(options.clone(), |format| options.format(format));
    let mut session = Session::whole(bytes, options);
    assert!(session.advance(Goal::Header));
    let ruled = session.ask(|file, source| {
        let mut cursor = Cursor::default();
        while let Some(entry) = file.next_tensor(source, &mut cursor, &mut |_| {})? {
            if Audit::has_rules(file, source, &entry.tensor)? {
                return Ok(true);
            }
        }
        Ok(false)
    });
    matches!(ruled, Ok(Some(true)))
}

#[test]
fn payload_finding_belongs_to_a_listed_rule() {
    let (mut with, mut without) = (0, 0);
    for (name, fixtures) in fixtures::for_hosts() {
        let format = Format::by_name(name);
        for fixture in fixtures {
            let ruled = is_ruled(&fixture.bytes, format);
            let more = wrong(&fixture.bytes, format, Goal::Payloads)
                - wrong(&fixture.bytes, format, Goal::Structure);
            assert!(more == 0 || ruled, "{name} {}: {more} findings in payloads", fixture.name);
            with += u32::from(more > 0);
            without += u32::from(!ruled);
        }
    }
    assert!(with > 20 && without > 100, "{with} {without}");
}

#[test]
fn safetensors_and_gguf_have_no_rules_for_payloads() {
    let none = ["safetensors", "gguf"];
    for (name, fixtures) in
        fixtures::for_hosts().into_iter().filter(|(name, _)| none.contains(name))
    {
        for fixture in fixtures {
            assert!(!is_ruled(&fixture.bytes, Format::by_name(name)), "{name} {}", fixture.name);
        }
    }
}
