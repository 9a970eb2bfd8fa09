//! IDV: random files read back with the same contents, scattered tables cost few rounds, and large
//! tables cost proportional time.

use proptest::prelude::*;
use weighbridge_core::format::idv::{Codec, Header, Item};
use weighbridge_core::{
    Audit, Cursor, DType, Encoding, EntryKind, File, Finding, Format, Opening, Part, Scratch,
    Severity, Slot, Source, Status, Stop, Window,
};
use weighbridge_tests::encode::idv::{self, Compression, Number, Region, encode};
use weighbridge_tests::survey::{Access, Host, TensorFact, survey, survey_whole};

fn header(file: Option<File>) -> Header {
    match file {
        Some(File::Idv(header)) => header,
        other => panic!("{other:?}"),
    }
}

fn dtype(number: Number) -> DType {
    match number {
        Number::SByte => DType::I8,
        Number::Byte => DType::U8,
        Number::Int16 => DType::I16,
        Number::UInt16 => DType::U16,
        Number::Int32 => DType::I32,
        Number::UInt32 => DType::U32,
        Number::Int64 => DType::I64,
        Number::UInt64 => DType::U64,
        Number::Single => DType::F32,
        Number::Double => DType::F64,
    }
}

/// Whether a codec read back equals the one written.
fn same(codec: &Codec, shape: &[u64], written: &idv::Codec) -> bool {
    let item = match (codec.item, written) {
        (_, idv::Codec::Vector(inner, dims)) => {
            let dims = if dims.is_empty() { &[0][..] } else { dims };
            let item = Codec { vector: None, ..*codec };
            let size = written.vector_size().unwrap();
            return codec.vector.is_some_and(|vector| vector.size == size as u32)
                && shape.iter().eq(dims.iter().map(|dim| *dim as u64).collect::<Vec<_>>().iter())
                && same(&item, &[], inner);
        }
        (Item::Number(found), idv::Codec::Number(number)) => found == dtype(*number),
        (Item::Key(key), idv::Codec::Key2(inner, count)) => {
            key.count == Some(*count) && same_rank(key.stored, inner) && key.contiguous
        }
        (Item::Key(key), idv::Codec::Key { inner, contiguous, min, count }) => {
            key.count.unwrap_or(0) == *count as u64
                && key.min == *min
                && key.contiguous == (*contiguous == 1)
                && same_rank(key.stored, inner)
        }
        (Item::Text, idv::Codec::Text)
        | (Item::Bit, idv::Codec::Boolean)
        | (Item::TwoBits, idv::Codec::DvBool)
        | (Item::TimeSpan, idv::Codec::TimeSpan(_))
        | (Item::DateTime, idv::Codec::DateTime(_))
        | (Item::DateTimeOffset, idv::Codec::DateTimeOffset(_))
        | (Item::RowId, idv::Codec::RowId(_)) => true,
        _ => false,
    };
    item && codec.vector.is_none() && shape.is_empty()
}

fn same_rank(stored: DType, inner: &idv::Codec) -> bool {
    matches!(inner, idv::Codec::Number(number) if dtype(*number) == stored)
}

fn check_column(bytes: &[u8], header: &Header, fact: &TensorFact, file: &idv::File, i: usize) {
    let source = Source::whole(bytes);
    let (column, places) = (&file.columns[i], &encode(file).columns[i]);
    assert_eq!(fact.name, column.name);
    assert_eq!(fact.shape[0], file.rows as u64);
    let codec = header.codec(&source, &fact.tensor).unwrap();
    assert!(same(&codec, &fact.shape[1..], &column.codec), "{codec:?} {:?}", column.codec);
    assert_eq!(fact.tensor.offset, places.entry as u64);
    let encoding = match column.compression {
        Compression::None => Encoding::Raw,
        Compression::Deflate => Encoding::Deflate,
        _ => Encoding::Zlib,
    };
    assert_eq!(fact.tensor.encoding, encoding);
    let blocks: Vec<_> = fact.chunks.iter().map(|c| (c.stored.offset, c.stored.len)).collect();
    let written: Vec<_> = places.blocks.iter().map(|b| (b.0 as u64, b.1 as u64)).collect();
    assert_eq!(blocks, written);
    let attributes: Vec<_> = fact.attributes.iter().map(|a| a.key.clone()).collect();
    let mut written: Vec<_> = column.annotations.iter().map(|a| a.kind.clone()).collect();
    written.extend(column.slot_names.iter().map(|(_, name)| name.clone().into_bytes()));
    assert_eq!(attributes, written);
    for (fact, places) in fact.attributes.iter().zip(&places.annotations) {
        let stored = fact.meta.stored;
        assert_eq!((stored.offset as usize, stored.len as usize), places.block);
    }
}

proptest! {
    #[test]
    fn reads_back(file in idv::arbitrary()) {
        let bytes = encode(&file).bytes;
        let survey = survey_whole(&bytes, None);
        prop_assert!(survey.worst() <= Severity::Lint, "{:?}", survey.findings);
        let header = header(survey.file);
        prop_assert_eq!(survey.tensors.len(), file.columns.len());
        let old = file.version < idv::version(4);
        for (i, fact) in survey.tensors.iter().enumerate() {
            check_column(&bytes, &header, fact, &file, i);
            let status = if old { Status::Unsupported } else { Status::Sound };
            prop_assert_eq!(fact.tensor.status, status);
        }
    }

    #[test]
    fn windows_read_back(file in idv::arbitrary(), unit in 1..200_u64) {
        let bytes = encode(&file).bytes;
        let whole = survey_whole(&bytes, None);
        for access in [Access::Rounded(unit), Access::Ahead] {
            let parts = survey(&mut Host::new(&bytes, access), None).unwrap();
            prop_assert_eq!(&parts, &whole);
        }
    }
}

/// `columns` columns of `blocks` rows, with one row per block and one annotation per column. The
/// tables of two columns are `gap` bytes apart.
fn wide(columns: usize, blocks: usize, gap: usize) -> Vec<u8> {
    let column = |i: usize| {
        let cells = (0..blocks as u64).map(idv::Cell::Bits).collect();
        let flag =
            idv::Annotation::new("IsNormalized", idv::Codec::Boolean, idv::Cell::Bool(Some(true)));
        idv::Column::new(&format!("c{i}"), idv::Codec::Number(Number::Byte), cells)
            .rows_per_block(1)
            .annotated(flag)
    };
    let mut file = idv::File::new(blocks as i64, (0..columns).map(column).collect());
    if gap > 0 {
        file.order = vec![Region::Blocks, Region::Scattered(gap), Region::Toc];
    }
    encode(&file).bytes
}

/// The number of rounds and bytes that a host which fetches only what is requested needs to
/// complete the structural audit.
fn rounds(bytes: &[u8], together: bool) -> (usize, u64) {
    let mut held: Vec<(u64, u64)> = Vec::new();
    let mut slots = vec![Slot::EMPTY; 10_000];
    let mut opening = Opening::of(Some(Format::Idv));
    let mut audit: Option<(File, Audit)> = None;
    for round in 0..10_000 {
        let windows: Vec<_> = held
            .iter()
            .map(|(at, end)| Window { offset: *at, bytes: &bytes[*at as usize..*end as usize] })
            .collect();
        let source = Source::windows(bytes.len() as u64, &windows);
        if audit.is_none() {
            let opened = opening.step(&source, &mut |_| {});
            audit = opened.ok().map(|file| (file, Audit::new(file).structure_only()));
            if let Err(Stop::NeedBytes(absent)) = opened {
                held.push((absent.offset, absent.offset + absent.want));
                continue;
            }
        }
        let (file, audit) = audit.as_mut().expect("an open file");
        match audit.step(&source, &mut slots, &mut |f| assert_eq!(f.rule.id(), "R.gap")) {
            Ok(()) => return (round, held.iter().map(|(at, end)| end - at).sum()),
            Err(Stop::NeedBytes(absent)) => {
                let mut missing = vec![absent];
                if together {
                    file.missing(&source, &mut |absent| missing.push(absent));
                }
                held.extend(
                    missing.iter().map(|absent| (absent.offset, absent.offset + absent.want)),
                );
            }
            Err(other) => panic!("{other:?}"),
        }
    }
    panic!("no end");
}

#[test]
fn idv_rounds_do_not_grow_with_columns() {
    for columns in [1, 10, 300] {
        let bytes = wide(columns, 3, 0);
        for together in [false, true] {
            let (rounds, fetched) = rounds(&bytes, together);
            assert!(rounds <= 4, "{columns} columns, neighbours: {rounds} rounds");
            assert!(fetched <= 2 * bytes.len() as u64, "{columns}: {fetched} bytes");
        }
        // Tables far apart, which are requested together.
        let bytes = wide(columns, 3, 40_000);
        let (rounds, fetched) = rounds(&bytes, true);
        assert!(rounds <= 4, "{columns} columns, scattered: {rounds} rounds");
        let most = columns as u64 * 2 * 2048 + 4 * 65_536;
        assert!(fetched < most, "{columns}: {fetched} bytes");
    }
}

/// What to read ahead is decided at each request, so it must not cover all of a million columns.
#[test]
fn tables_of_the_first_columns_are_read_ahead() {
    let ahead = |columns: usize| {
        let bytes = wide(columns, 1, 0);
        let whole = Source::whole(&bytes);
        let file = File::open(&whole, &mut |_| {}).unwrap();
        let (mut cursor, mut toc) = (Cursor::default(), None);
        while let Some(region) = file.next_region(&whole, &mut cursor).unwrap() {
            if (region.part, region.kind) == (Part::Table, EntryKind::File) {
                toc = Some(region.span);
            }
        }
        let toc = toc.expect("a table of contents");
        let windows = [Window { offset: toc.offset, bytes: whole.get(toc).unwrap() }];
        let source = Source::windows(bytes.len() as u64, &windows);
        let mut needed = 0;
        file.missing(&source, &mut |absent| needed += absent.need);
        needed
    };
    let [few, most, more] = [1_000, 4_096, 6_000].map(ahead);
    assert!(few < most, "{few} and {most}");
    // A larger file has its index elsewhere, so its offset may take one more byte.
    assert!(more.abs_diff(most) < 16, "{more} and {most}");
}

/// 300,000 blocks, sorted in the number of slots that a real writer's file takes.
#[test]
fn idv_wide_table_takes_one_slot_per_block() {
    let blocks = 1000;
    let bytes = wide(300, blocks, 0);
    let source = Source::whole(&bytes);
    let file = File::open(&source, &mut |_| {}).unwrap();
    let mut slots = vec![Slot::EMPTY; 301 * blocks + 2_000];
    let mut findings = 0;
    Audit::new(file).structure_only().step(&source, &mut slots, &mut |_| findings += 1).unwrap();
    let (mut cursor, mut columns) = (Cursor::default(), 0);
    while let Some(tensor) = file.next_tensor(&source, &mut cursor, &mut |_| {}).unwrap() {
        assert_eq!(tensor.chunks.count(), blocks as u64);
        columns += 1;
    }
    assert_eq!((columns, findings), (300, 0));
}

#[test]
fn codecs_are_spelled_as_they_are_stored() {
    let number = |number| idv::Codec::Number(number);
    let old = |contiguous, min, count| idv::Codec::Key {
        inner: Box::new(number(Number::UInt16)),
        contiguous,
        min,
        count,
    };
    let cases = [
        (number(Number::Single), "Single"),
        (idv::Codec::DateTimeOffset(true), "DvDateTimeZone"),
        (idv::Codec::key(Number::UInt32, 5), "Key2(UInt32, 5)"),
        (idv::Codec::vector(number(Number::Single), &[4]), "VBuffer(Single, [4])"),
        (
            idv::Codec::vector(idv::Codec::key(Number::Byte, 9), &[2, 0]),
            "VBuffer(Key2(Byte, 9), [2, 0])",
        ),
        (idv::Codec::vector(idv::Codec::Text, &[]), "VBuffer(TextSpan, [])"),
        (old(1, 0, 3), "Key(UInt16, 3)"),
        (old(0, 7, 0), "Key(UInt16, 0, min 7, not contiguous)"),
        (idv::Codec::other("Tensor\u{7}4", &[1, 2]), "Tensor\\u{7}4"),
        (idv::Codec::vector(idv::Codec::other("Int33", &[]), &[1]), "VBuffer(Int33, [1])"),
    ];
    for (codec, spelled) in cases {
        let file = idv::File::new(0, vec![idv::Column::new("c", codec, vec![])]);
        let bytes = encode(&file).bytes;
        let survey = survey_whole(&bytes, None);
        let source = Source::whole(&bytes);
        let spelling = header(survey.file).spelling(&source, &survey.tensors[0].tensor).unwrap();
        assert_eq!(spelling.to_string(), spelled);
    }
}

/// The rules that an audit reports, with the number of the entry.
fn reported(bytes: &[u8], scratch: Option<&mut Scratch<'_>>) -> Vec<(&'static str, u32)> {
    let source = Source::whole(bytes);
    let file = Opening::of(Some(Format::Idv)).step(&source, &mut |_| {}).expect("a header");
    let (mut slots, mut found) = ([Slot::EMPTY; 64], Vec::new());
    let mut sink = |finding: Finding| found.push((finding.rule.id(), finding.entry));
    let mut audit = Audit::new(file);
    match scratch {
        Some(scratch) => audit.step_with(&source, &mut slots, scratch, &mut sink),
        None => audit.step(&source, &mut slots, &mut sink),
    }
    .expect("an audit of a whole file");
    found
}

#[test]
fn annotations_of_a_column_without_rows_are_unchecked() {
    let bytes = wide(3, 0, 0);
    let unchecked = [0, 1, 2].map(|column| ("PAYLOAD-UNCHECKED", column));
    assert_eq!(reported(&bytes, None), unchecked);
    let mut buffer = [0; 64];
    assert_eq!(reported(&bytes, Some(&mut Scratch::new(&mut buffer))), []);
    // A number has no rule that its bytes can break.
    let plain = idv::Annotation::new("Rank", idv::Codec::Number(Number::Byte), idv::Cell::Bits(1));
    let column = idv::Column::new("c", idv::Codec::Number(Number::Byte), Vec::new());
    let file = idv::File::new(0, vec![column.annotated(plain)]);
    assert_eq!(reported(&encode(&file).bytes, None), []);
}
