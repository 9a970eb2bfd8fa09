//! Text in the fields of NumPy's records: each code point is checked, and no other byte.

use weighbridge_core::{Finding, Format};
use weighbridge_tests::encode::npy::Npy;
use weighbridge_tests::encode::npz::{Member, Npz};
use weighbridge_tests::fixtures::npy_records::{RECORDS, columns, many, number};
use weighbridge_tests::survey::{Access, Host, survey};

/// The first number that is no code point.
const BEYOND: u32 = 0x11_0000;

/// All ways in which bytes may arrive: windows may be smaller than an element, or end in a
/// code point.
const ACCESSES: [Access; 5] =
    [Access::Whole, Access::Least, Access::Rounded(1), Access::Rounded(7), Access::Ahead];

fn findings(bytes: &[u8], format: Format, access: Access) -> Vec<Finding> {
    survey(&mut Host::new(bytes, access), Some(format)).expect("it has no buffer").findings
}

/// The findings in each way, which are equal.
fn found(bytes: &[u8], format: Format) -> Vec<(&'static str, u64)> {
    let brief = |access| {
        let all = findings(bytes, format, access);
        all.iter().map(|f| (f.rule.id(), f.offset)).collect::<Vec<_>>()
    };
    let whole = brief(Access::Whole);
    for access in ACCESSES {
        assert_eq!(brief(access), whole, "{access:?}");
    }
    whole
}

/// The array with 0x110000 at `at` of its data.
fn changed(array: &Npy, at: usize, big: bool) -> Npy {
    let mut array = array.clone();
    array.data[at..at + 4].copy_from_slice(&number(BEYOND, big));
    array
}

#[test]
fn number_beyond_unicode_in_field_is_found_at_its_offset() {
    for record in RECORDS {
        let (array, width) = (record.array(3), record.element().len());
        let data = array.encode().len() - array.data.len();
        assert_eq!(found(&array.encode(), Format::Npy), [], "{}", record.name);
        for (at, big) in record.points() {
            let at = width + at;
            let bytes = changed(&array, at, big).encode();
            let expected = [("NPY-TEXT", (data + at) as u64)];
            assert_eq!(found(&bytes, Format::Npy), expected, "{} {at}", record.name);
            let finding = findings(&bytes, Format::Npy, Access::Whole)[0];
            assert_eq!(finding.found, u64::from(BEYOND), "{}", record.name);
            assert_eq!((finding.expected, finding.len), (0x10_FFFF, 4), "{}", record.name);
        }
    }
}

#[test]
fn first_wrong_number_of_record_is_reported_once() {
    for record in RECORDS {
        let mut array = record.array(3);
        let width = record.element().len();
        for (at, big) in record.points() {
            array = changed(&changed(&array, width + at, big), 2 * width + at, big);
        }
        let first = width + record.points()[0].0;
        let offset = array.encode().len() - array.data.len() + first;
        let expected = [("NPY-TEXT", offset as u64)];
        assert_eq!(found(&array.encode(), Format::Npy), expected, "{}", record.name);
    }
}

#[test]
fn number_beyond_unicode_in_archived_record_is_found() {
    for record in RECORDS {
        let (at, big) = *record.points().last().expect("it has text");
        let at = 2 * record.element().len() + at;
        let member = Member::new("r", &changed(&record.array(3), at, big));
        let stored = Npz::new(vec![member.clone()]).encode();
        let magic = |bytes: &[u8]| bytes.windows(6).position(|bytes| bytes == b"\x93NUMPY");
        let header = magic(&stored).expect("it is stored");
        let head = member.content.len() - record.array(3).data.len();
        let expected = [("NPY-TEXT", (header + head + at) as u64)];
        assert_eq!(found(&stored, Format::Npz), expected, "{}", record.name);
        // A finding in a stream names the stream.
        let deflated = Npz::new(vec![member.deflated()]).encode();
        let all = found(&deflated, Format::Npz);
        assert_eq!(all, [("NPY-TEXT", header as u64)], "{}", record.name);
        for member in [Member::new("r", &record.array(3)), Member::new("r", &columns())] {
            for member in [member.clone(), member.deflated()] {
                let bytes = Npz::new(vec![member]).encode();
                assert_eq!(found(&bytes, Format::Npz), [], "{}", record.name);
            }
        }
    }
}

#[test]
fn record_of_too_many_texts_is_unchecked() {
    let bytes = many().encode();
    let descr = bytes.windows(3).position(|bytes| bytes == b"[('").expect("it has fields");
    assert_eq!(found(&bytes, Format::Npy), [("NPY-TEXT-FIELD", descr as u64)]);
    for member in [Member::new("r", &many()), Member::new("r", &many()).deflated()] {
        let all = found(&Npz::new(vec![member]).encode(), Format::Npz);
        assert!(matches!(all[..], [("NPY-TEXT-FIELD", _)]), "{all:?}");
    }
}

/// Decoded pieces end within elements and code points.
#[test]
fn number_beyond_unicode_is_found_in_long_stream() {
    const COUNT: usize = 5_000;
    for record in RECORDS {
        let array = record.array(COUNT as u64);
        let width = record.element().len();
        assert_eq!(found_deflated(&array), [""; 0], "{}", record.name);
        for element in [COUNT / 2, COUNT - 1] {
            let (at, big) = record.points()[0];
            let all = found_deflated(&changed(&array, element * width + at, big));
            assert_eq!(all, ["NPY-TEXT"], "{} {element}", record.name);
        }
    }
}

/// The rules that the array breaks as a deflated member.
fn found_deflated(array: &Npy) -> Vec<&'static str> {
    let bytes = Npz::new(vec![Member::new("r", array).deflated()]).encode();
    let all = findings(&bytes, Format::Npz, Access::Rounded(512));
    all.iter().map(|finding| finding.rule.id()).collect()
}
