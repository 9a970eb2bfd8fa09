//! A file that arrives in parts gives the same result as the whole file.

use weighbridge_core::{Cursor, Format, Opening, Part};
use weighbridge_tests::fixtures;
use weighbridge_tests::survey::{Access, Host, index, survey, survey_whole};

fn each(mut check: impl FnMut(&str, &[u8], Option<Format>)) {
    for (name, fixtures) in fixtures::all() {
        for fixture in fixtures {
            let format = Format::by_name(name);
            check(&format!("{name} {}", fixture.name), &fixture.bytes, format);
        }
    }
}

#[test]
fn rounded_requests_give_same_findings() {
    each(|name, bytes, format| {
        let whole = survey_whole(bytes, format);
        for unit in [1, 7, 64, 4096] {
            let mut host = Host::new(bytes, Access::Rounded(unit));
            assert_eq!(survey(&mut host, format).unwrap(), whole, "{name}, units of {unit}");
        }
        let mut host = Host::new(bytes, Access::Ahead);
        assert_eq!(survey(&mut host, format).unwrap(), whole, "{name}, reading ahead");
    });
}

#[test]
fn one_small_buffer_gives_same_findings() {
    let mut fitted = 0;
    let mut all = 0;
    each(|name, bytes, format| {
        all += 1;
        match survey(&mut Host::new(bytes, Access::Single(512)), format) {
            Ok(survey) => {
                assert_eq!(survey, survey_whole(bytes, format), "{name}");
                fitted += 1;
            }
            Err(too_small) => assert!(too_small.needed > 512, "{name}"),
        }
    });
    assert!(fitted * 10 > all * 8, "{fitted} of {all} fixtures fit 512 bytes");
}

/// Iterators report each finding once, however the bytes arrive.
#[test]
fn entry_reports_once_in_windows() {
    let listed = |bytes: &[u8], format: Option<Format>, access: Access| {
        let mut host = Host::new(bytes, access);
        let mut opening = Opening::of(format);
        let opened = host.drive(|s| opening.step(s, &mut |_| {})).unwrap();
        let mut findings = Vec::new();
        let Ok(file) = opened else { return findings };
        let mut cursor = Cursor::default();
        let sink = &mut |finding| findings.push(finding);
        while let Ok(Some(_)) = host
            .drive(|s| Ok(file.next_meta(s, &mut cursor, sink)?.map(|entry| entry.metadata)))
            .unwrap()
        {}
        let mut cursor = Cursor::default();
        while let Ok(Some(_)) = host
            .drive(|s| Ok(file.next_tensor(s, &mut cursor, sink)?.map(|entry| entry.tensor)))
            .unwrap()
        {}
        findings
    };
    each(|name, bytes, format| {
        let least = listed(bytes, format, Access::Least);
        assert_eq!(least, listed(bytes, format, Access::Whole), "{name}");
    });
}

/// A host only has to provide the requested bytes, so nothing may depend on earlier requests.
#[test]
fn least_bytes_give_same_findings() {
    each(|name, bytes, format| {
        let least = survey(&mut Host::new(bytes, Access::Least), format);
        assert_eq!(least.unwrap(), survey_whole(bytes, format), "{name}");
    });
}

#[test]
fn index_takes_few_rounds_and_no_payload() {
    each(|name, bytes, format| {
        // The headers of an archive's arrays are inside its members.
        if format == Some(Format::Npz) {
            return;
        }
        let mut host = Host::new(bytes, Access::Ahead);
        index(&mut host, None).unwrap();
        assert!(host.asked.len() <= 4, "{name}: {:?}", host.asked);

        let mut host = Host::new(bytes, Access::Rounded(1));
        index(&mut host, format).unwrap();
        let whole = survey_whole(bytes, format);
        let payloads = whole.regions.iter().filter(|r| r.part == Part::Payload && r.span.len > 0);
        if whole.broken().is_empty() {
            for payload in payloads {
                let (at, end) = (payload.span.offset, payload.span.offset + payload.span.len);
                let touched = host.held().iter().find(|held| held.start < end && at < held.end);
                assert_eq!(touched, None, "{name}: {payload:?}");
            }
        }
    });
}
