//! Like `mutants`, for zTensor's CBOR and the spans of BinTensors: each test covers a case
//! that a mutant got wrong.

use weighbridge_core::format::ztensor::Items;
use weighbridge_core::{Format, Opening, Severity, Source, Window, limits};
use weighbridge_tests::encode::bintensors;
use weighbridge_tests::encode::ztensor::{Draft, File, Item, MAGIC, Tensor, cbor};
use weighbridge_tests::survey::survey_whole;

/// The rules broken by a zTensor file of one small tensor after `edit`.
fn broken(edit: impl FnOnce(&mut Draft)) -> Vec<&'static str> {
    let mut draft = File::of([Tensor::raw("x", "uint8", &[3], vec![1, 2, 3])]).draft();
    edit(&mut draft);
    survey_whole(&draft.finish(), Some(Format::ZTensor)).broken()
}

/// The same for these custom fields.
fn customized(fields: impl IntoIterator<Item = (&'static str, Item)>) -> Vec<&'static str> {
    broken(|draft| {
        for (key, value) in fields {
            draft.entries[0].push(Item::text(key), value);
        }
    })
}

/// A map with these keys.
fn map(keys: impl IntoIterator<Item = String>) -> Item {
    Item::Map(keys.into_iter().map(|key| (Item::Text(key), Item::Uint(0))).collect())
}

#[test]
fn maps_of_indefinite_length_alternate() {
    let pair = |key| (Item::text(key), Item::Uint(0));
    for pairs in [vec![], vec![pair("a")], vec![pair("a"), pair("b")]] {
        let nested = Item::MapIndefinite(pairs);
        assert_eq!(customized([("zz", nested.clone())]), ["CBOR-INDEFINITE"], "{nested:?}");
    }
}

/// Counts that could be mistaken for an indefinite length are rejected immediately, before any
/// bytes are requested.
#[test]
fn the_largest_counts() {
    const AT: u64 = 64;
    let len = 1_u64 << 33;
    let mut start = MAGIC.to_vec();
    start.resize(AT as usize, 0);
    let tail = (len - AT - 8).to_le_bytes();
    let reserved = u64::from(u32::MAX) - 2;
    for (count, refused) in [(reserved - 1, false), (reserved, true), (reserved + 2, true)] {
        let mut start = start.clone();
        cbor::head(&mut start, 4, count, 0);
        start.resize(512, 0);
        let windows = [
            Window { offset: 0, bytes: &start },
            Window { offset: len - 8, bytes: tail.as_slice() },
        ];
        let mut rules = Vec::new();
        let opened = Opening::of(Some(Format::ZTensor))
            .step(&Source::windows(len, &windows), &mut |finding| rules.push(finding.rule.id()));
        assert_eq!(opened.is_err(), refused, "{count}: {opened:?}");
        assert_eq!(rules.contains(&"CBOR-COUNT"), refused, "{count}: {rules:?}");
    }
}

/// Only null counts as null, not other values with the same type or number.
#[test]
fn ztensor_other_simple_value_is_no_null() {
    let others = [Item::FALSE, Item::UNDEFINED, Item::F16(0), Item::Bytes(vec![0; 22])];
    for other in others {
        let order = customized([("data_endianness", other.clone())]);
        assert!(order.contains(&"TYPE-ENDIANNESS"), "{other:?}: {order:?}");
        assert!(!order.contains(&"FIELD-NULL"), "{other:?}: {order:?}");
    }
    assert!(customized([("data_endianness", Item::NULL)]).contains(&"FIELD-NULL"));
}

/// An array that is not a shape is skipped like any other data item.
#[test]
fn arrays_that_are_no_shapes() {
    let tagged_break = Item::Raw(b"\x9F\xC1\xFF\xFF".to_vec());
    let rules = broken(|draft| {
        draft.entries[0].set("name", tagged_break);
    });
    assert!(rules.contains(&"CBOR-BREAK"), "{rules:?}");
}

/// Optional fields are ordered bytewise among the custom fields, but the last of them belongs to
/// the custom fields wherever it occurs.
#[test]
fn optional_fields_among_custom_ones() {
    let ordered = |keys: &[&'static str]| {
        let rules = customized(keys.iter().map(|key| (*key, Item::text("y"))));
        !rules.contains(&"FIELD-ORDER")
    };
    assert!(ordered(&["a", "checksum"]));
    assert!(ordered(&["a", "checksum", "data_endianness", "sparse_format", "z"]));
    assert!(!ordered(&["d", "checksum"]));
    assert!(ordered(&["sparse_format", "z"]));
    assert!(!ordered(&["sparse_format", "a"]));
}

/// Sorted keys are proved unique, however many there are.
#[test]
fn many_keys_in_order() {
    let keys = || (0..200).map(|i| format!("k{i:03}"));
    let fields = broken(|draft| {
        for key in keys() {
            draft.entries[0].push(Item::Text(key), Item::Uint(0));
        }
    });
    assert!(fields.is_empty(), "{fields:?}");
    // Sorted bytewise as text, and by encoded form: shorter keys first.
    let by_bytes = (0..100).flat_map(|i| [format!("k{i:03}"), format!("k{i:03}a")]);
    let by_form = (0..100).map(|i| format!("z{i:03}")).chain((0..100).map(|i| format!("a{i:04}")));
    assert!(customized([("zz", map(keys()))]).is_empty());
    assert!(customized([("zz", map(by_bytes))]).is_empty());
    assert!(customized([("zz", map(by_form))]).is_empty());
    let descending = map(keys().collect::<Vec<_>>().into_iter().rev());
    assert!(customized([("zz", descending)]).is_empty());
}

/// The rules reported as unchecked for a file of one small tensor with this custom field.
fn unchecked(value: Item) -> Vec<&'static str> {
    let mut draft = File::of([Tensor::raw("x", "uint8", &[3], vec![1, 2, 3])]).draft();
    draft.entries[0].push(Item::text("zz"), value);
    let survey = survey_whole(&draft.finish(), Some(Format::ZTensor));
    assert!(survey.is_valid(), "{:?}", survey.findings);
    let left = survey.findings.iter().filter(|f| f.severity() == Severity::Unchecked);
    left.map(|finding| finding.rule.id()).collect()
}

/// Unsorted keys are compared as far as there is room, which all open maps share; the rest is
/// reported as unchecked.
#[test]
fn keys_in_no_order() {
    let scattered = |count: u64| {
        let pair = |i: u64| (Item::Text(format!("k{:05}", i * 7919 % 10_007)), Item::Uint(0));
        (0..count).map(pair).collect::<Vec<_>>()
    };
    let most = limits::CBOR_KEYS as u64 - 1;
    assert!(unchecked(Item::Map(scattered(most))).is_empty());
    assert_eq!(unchecked(Item::Map(scattered(most + 1))), ["CBOR-KEYS"]);
    let around = |inner: u64| {
        let mut outer = scattered(most / 2);
        outer.push((Item::text("l"), Item::Map(scattered(inner))));
        Item::Map(outer)
    };
    assert!(unchecked(around(most / 2 - 1)).is_empty());
    assert_eq!(unchecked(around(most)), ["CBOR-KEYS"]);
    // Sorted keys take no room from others.
    let ordered = |inner| {
        let mut outer: Vec<_> =
            (0..5000).map(|i| (Item::Text(format!("a{i:04}")), Item::Uint(0))).collect();
        outer.push((Item::text("b"), Item::Map(scattered(inner))));
        Item::Map(outer)
    };
    assert!(unchecked(ordered(most - 20)).is_empty());
    // The last of many keys equals an earlier one.
    let mut twice = scattered(most - 20);
    twice.push(twice[50].clone());
    assert_eq!(customized([("zz", Item::Map(twice))]), ["CBOR-KEY-DUPLICATE"]);
}

/// Elements are counted if the index has no count.
#[test]
fn ztensor_index_without_count_is_counted() {
    for count in [0, 1, 3, 300] {
        let tensor = |i| Tensor::raw(&format!("t{i:03}"), "uint8", &[1], vec![1]);
        let mut draft = File::of((0..count).map(tensor)).draft();
        draft.index = Some(Item::ArrayIndefinite(draft.maps()));
        let file = draft.finish();
        let survey = survey_whole(&file, Some(Format::ZTensor));
        assert_eq!(survey.file.unwrap().tensor_count(), count);
        assert_eq!(survey.tensors.len() as u64, count);
        assert!(survey.is_valid() && survey.broken().contains(&"CBOR-INDEFINITE"));
    }
}

/// Adjacent equal keys, with nothing else in the map.
#[test]
fn two_equal_keys_in_a_map() {
    let twice = map(["k", "k"].map(str::to_owned));
    assert_eq!(customized([("zz", twice)]), ["CBOR-KEY-DUPLICATE"]);
}

/// A sound map among the values does not hide a duplicate key.
#[test]
fn equal_keys_beside_a_map() {
    let inner = map(["a", "b"].map(str::to_owned));
    assert_eq!(customized([("zz", inner), ("zz", Item::Uint(0))]), ["CBOR-KEY-DUPLICATE"]);
}

/// Chunks must have their string's type and a definite length.
#[test]
fn chunks_one_by_one() {
    assert_eq!(Items::new(b"\x7F\x61c\xFF").count(), 1);
    for bytes in [b"\x7F\x41c\xFF".as_slice(), b"\x5F\x61c\xFF", b"\x7F\x7F\xFF\xFF"] {
        assert_eq!(Items::new(bytes).next(), None, "{bytes:?}");
    }
}

/// An empty blob is ignored in the order of blobs.
#[test]
fn an_empty_blob_before_others() {
    let tensor = |name, len| Tensor::raw(name, "uint8", &[len], vec![7; len as usize]);
    let mut draft = File::of([tensor("x", 3), tensor("y", 5), tensor("z", 0)]).draft();
    draft.body.truncate(128 + 5);
    draft.entries[2].set("offset", Item::Uint(64));
    let survey = survey_whole(&draft.finish(), Some(Format::ZTensor));
    assert!(survey.findings.is_empty(), "{:?}", survey.findings);
}

/// An index of indefinite length is not checked for appended files.
#[test]
fn ztensor_concatenated_file_with_indefinite_index() {
    let twice = |open| {
        let mut draft = File::of([Tensor::raw("x", "uint8", &[3], vec![1, 2, 3])]).draft();
        if open {
            draft.index = Some(Item::ArrayIndefinite(draft.maps()));
        }
        survey_whole(&draft.finish().repeat(2), Some(Format::ZTensor)).broken()
    };
    assert!(twice(false).contains(&"FILE-CONCATENATED"), "{:?}", twice(false));
    assert!(!twice(true).contains(&"FILE-CONCATENATED"), "{:?}", twice(true));
}

/// A byte tensor in a BinTensors file: length, start, end.
type Bytes = (u64, u64, u64);

/// The findings of a BinTensors file with `len` bytes of data: rule, entry, and expected number.
fn spans(entries: &[Bytes], len: usize) -> Vec<(&'static str, u32, u64)> {
    let mut header = bintensors::Header::plain(entries.len() as u64);
    for ((size, start, end), name) in entries.iter().zip('a'..) {
        header.entry(name.to_string(), 1, &[*size], *start, *end);
    }
    let bytes = header.pad().file(&vec![0; len]);
    let findings = survey_whole(&bytes, Some(Format::BinTensors)).findings;
    findings.iter().map(|f| (f.rule.id(), f.entry, f.expected)).collect()
}

/// The first tensor beyond the end of the file is reported, not only the last.
#[test]
fn ztensor_first_tensor_past_the_end() {
    let found = spans(&[(4, 0, 4), (4, 4, 8)], 2);
    let [("B2", 0, _)] = found[..] else { panic!("{found:?}") };
}

/// After a tensor with a doubtful end, the next may begin at the recorded end or at the one implied
/// by the shape.
#[test]
fn after_an_end_in_doubt() {
    // At the end implied by the shape.
    assert_eq!(spans(&[(4, 0, 4), (4, 4, 9), (4, 8, 12)], 12), [("S3", 1, 4)]);
    // At the recorded end; the next tensor's end is doubtful as well.
    let next = spans(&[(4, 0, 4), (3, 4, 8), (3, 8, 12)], 12);
    assert_eq!(next, [("S3", 1, 3), ("S3", 2, 3)]);
    // Elsewhere: the recorded end is expected.
    let elsewhere = spans(&[(4, 0, 4), (3, 4, 8), (4, 9, 12)], 12);
    assert_eq!(elsewhere, [("S3", 1, 3), ("O1", 2, 8)]);
}

/// A wrong start explains a wrong length only if the end matches the shape.
#[test]
fn a_wrong_start_and_a_wrong_length() {
    assert_eq!(spans(&[(4, 0, 4), (4, 6, 8)], 8), [("O1", 1, 4)]);
    assert_eq!(spans(&[(4, 0, 4), (3, 6, 8)], 8), [("O1", 1, 4), ("S3", 1, 3)]);
}

/// An end before the start does not determine where the next tensor begins.
#[test]
fn after_an_end_before_the_start() {
    let found = spans(&[(4, 0, 4), (4, 4, 3), (9, 3, 12)], 12);
    assert!(found.contains(&("O2", 1, 4)), "{found:?}");
    assert!(found.contains(&("O1", 2, 8)), "{found:?}");
}
