//! Every advisory has a fixture, which is rejected by the rule in the table.

use std::collections::BTreeSet;
use weighbridge::{Format, Options, Profile, check_with};
use weighbridge_tests::{advisories, fixtures};

#[test]
fn advisory_file_is_refused_by_its_rule() {
    let fixtures = fixtures::for_hosts();
    let mut ids = BTreeSet::new();
    let mut files = 0;
    for row in advisories::all() {
        let id = row.get("id");
        assert!(ids.insert(id), "{id} occurs twice");
        for key in ["id", "format", "reader", "field", "source", "confirmed"] {
            assert!(!row.get(key).is_empty(), "{id} has no {key}");
        }
        let confirmed = ["fix", "report", "code", "named", "no"];
        assert!(confirmed.contains(&row.get("confirmed")), "{id}");
        if row.get("fixture").is_empty() {
            assert!(!row.get("why").is_empty(), "{id} has neither a file nor a reason");
            continue;
        }
        let file =
            row.file(&fixtures).unwrap_or_else(|| panic!("{id}: no file {}", row.get("fixture")));
        let format = Format::by_name(row.get("format")).unwrap();
        let report = check_with(&file.bytes, &Options::new().format(format)).unwrap();
        let found = report.findings().iter().find(|found| found.rule() == row.get("rule"));
        let found = found.unwrap_or_else(|| panic!("{id}: {report:?}")).finding();
        assert!(!Profile::Strict.accepts(found.severity()), "{id}: {found:?}");
        files += 1;
    }
    assert!(files >= 50, "{files}");
}
