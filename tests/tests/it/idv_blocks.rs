//! IDV: the rows of decoded blocks equal the written cells, however they are split, and mutated
//! blocks never cause a panic.

use proptest::prelude::*;
use weighbridge_core::codec::Decoder;
use weighbridge_core::format::idv::block::{Block, Row, Scalar, Values};
use weighbridge_core::format::idv::{Codec, Header};
use weighbridge_core::{Element, File, Source, Status};
use weighbridge_tests::encode::idv::{self, Cell, Content, encode, payload};
use weighbridge_tests::survey::{Survey, survey_whole};

fn header(survey: &Survey) -> Header {
    match survey.file {
        Some(File::Idv(header)) => header,
        other => panic!("{other:?}"),
    }
}

fn scalar_is(scalar: &Scalar<'_>, cell: &Cell, codec: &idv::Codec, old: bool) -> bool {
    use idv::Codec as C;
    let ticks = |bits: u64| bits as i64;
    match (scalar, cell, codec) {
        (Scalar::Missing, Cell::Text(None) | Cell::Bool(None), _) => true,
        (Scalar::Missing, Cell::Bits(0), C::Key { .. } | C::Key2(..)) => true,
        (Scalar::Missing, Cell::Bits(bits), C::Number(number)) => {
            let width = 8 * number.width();
            let signed = number.name().starts_with("Int") || number.name() == "SByte";
            old && signed && *bits == 1 << (width - 1)
        }
        (Scalar::Missing, Cell::Bits(bits), C::TimeSpan(_) | C::DateTime(_)) => {
            old && ticks(*bits) == i64::MIN
        }
        (Scalar::Number(element), Cell::Bits(bits), C::Number(number)) => {
            let mask = u64::MAX >> (64 - 8 * number.width());
            let found = match element {
                Element::Int(value) => *value as u64,
                Element::Uint(value) => *value,
                Element::F32(value) => value.to_bits().into(),
                Element::F64(value) => value.to_bits(),
                _ => return false,
            };
            found & mask == *bits
        }
        (Scalar::Key(rank), Cell::Bits(bits), C::Key { .. } | C::Key2(..)) => {
            rank == bits && *bits != 0
        }
        (Scalar::TimeSpan(found), Cell::Bits(bits), C::TimeSpan(_)) => *found == ticks(*bits),
        (Scalar::DateTime(found), Cell::Bits(bits), C::DateTime(_)) => *found == ticks(*bits),
        (Scalar::DateTimeOffset { ticks, minutes }, Cell::Offset(m, t), _) => {
            (ticks, minutes) == (t, m)
        }
        (Scalar::RowId { low, high }, Cell::RowId(l, h), _) => (low, high) == (l, h),
        (Scalar::Bool(found), Cell::Bool(Some(written)), _) => found == written,
        (Scalar::Text(text), Cell::Text(Some(units)), _) => {
            text.utf16().eq(units.iter().copied())
                && text.as_str().map(str::to_owned) == String::from_utf16(units).ok()
        }
        _ => false,
    }
}

fn values_are(values: Values<'_>, cells: &[Cell], codec: &idv::Codec, old: bool) -> bool {
    values.len() == cells.len()
        && values.zip(cells).all(|(scalar, cell)| scalar_is(&scalar, cell, codec, old))
}

fn row_is(row: &Row<'_>, cell: &Cell, codec: &idv::Codec, old: bool) -> bool {
    match (row, cell, codec) {
        (Row::Scalar(scalar), cell, codec) => scalar_is(scalar, cell, codec, old),
        (Row::Vector(vector), Cell::Dense(cells), idv::Codec::Vector(inner, _)) => {
            vector.indices().is_none()
                && vector.len() as usize == cells.len()
                && values_are(vector.values(), cells, inner, old)
        }
        (
            Row::Vector(vector),
            Cell::Sparse { len, indices, values },
            idv::Codec::Vector(inner, _),
        ) => {
            vector.len() == *len as u32
                && vector
                    .indices()
                    .is_some_and(|found| found.eq(indices.iter().map(|index| *index as u32)))
                && values_are(vector.values(), values, inner, old)
        }
        _ => false,
    }
}

fn check_rows(block: &Block<'_>, cells: &[Cell], codec: &idv::Codec, old: bool) {
    assert_eq!(block.len(), cells.len() as u64);
    for (row, cell) in block.rows().zip(cells) {
        assert!(row_is(&row, cell, codec, old), "{row:?}\nis not {cell:?} of {codec:?}");
    }
    assert_eq!(block.rows().count(), cells.len());
}

fn cells(content: &Content) -> &[Cell] {
    match content {
        Content::Cells(cells) => cells,
        Content::Blocks(_) | Content::Shared(_) => {
            panic!("only files made by hand have blocks of bytes, or share them")
        }
    }
}

proptest! {
    #[test]
    fn rows_read_back(file in idv::arbitrary()) {
        let bytes = encode(&file).bytes;
        let source = Source::whole(&bytes);
        let survey = survey_whole(&bytes, None);
        let header = header(&survey);
        let old = file.version < idv::version(6);
        let mut decoder = Decoder::new();
        for (fact, column) in survey.tensors.iter().zip(&file.columns) {
            if fact.tensor.status != Status::Sound {
                continue;
            }
            let codec = header.codec(&source, &fact.tensor).unwrap();
            let written = cells(&column.content);
            let mut row = 0;
            for chunk in &fact.chunks {
                let mut buffer = vec![0; chunk.decoded.unwrap() as usize];
                decoder.start_chunk(chunk).unwrap();
                let decoded = decoder.fill(&source, &mut buffer).unwrap();
                let block = header.block(&codec, chunk.elements, decoded).unwrap();
                let end = row + chunk.elements as usize;
                check_rows(&block, &written[row..end], &column.codec, old);
                row = end;
            }
            prop_assert_eq!(row, written.len());
        }
    }

    /// Replaces any byte of a payload.
    #[test]
    fn changed_payloads_do_not_panic(
        file in idv::arbitrary(),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
        cut in any::<prop::sample::Index>(),
    ) {
        let bytes = encode(&file).bytes;
        let survey = survey_whole(&bytes, None);
        let header = header(&survey);
        let source = Source::whole(&bytes);
        for (fact, column) in survey.tensors.iter().zip(&file.columns) {
            let codec = header.codec(&source, &fact.tensor).unwrap();
            let cells = cells(&column.content);
            let mut changed = payload(&column.codec, cells);
            for (at, byte) in &changes {
                if !changed.is_empty() {
                    let at = at.index(changed.len());
                    changed[at] = *byte;
                }
            }
            walk(&header, &codec, cells.len() as u64, &changed);
            changed.truncate(cut.index(changed.len() + 1));
            walk(&header, &codec, cells.len() as u64, &changed);
        }
    }
}

/// Visits everything in a block, if it is accepted.
fn walk(header: &Header, codec: &Codec, rows: u64, bytes: &[u8]) {
    match header.block(codec, rows, bytes) {
        Ok(block) => {
            let mut count = 0;
            for row in block.rows() {
                count += 1;
                if let Row::Vector(vector) = row {
                    let stored = vector.values().count();
                    match vector.indices() {
                        Some(indices) => assert_eq!(indices.count(), stored),
                        None => assert_eq!(vector.len() as usize, stored),
                    }
                }
            }
            assert_eq!(count, rows);
        }
        Err(fault) => assert!(fault.offset <= bytes.len() as u64, "{fault:?}"),
    }
}

fn codec_of(codec: idv::Codec) -> (Header, Codec) {
    let bytes = encode(&idv::File::new(0, vec![idv::Column::new("c", codec, vec![])])).bytes;
    let survey = survey_whole(&bytes, None);
    let header = header(&survey);
    (header, header.codec(&Source::whole(&bytes), &survey.tensors[0].tensor).unwrap())
}

/// Texts that end inside characters, in vectors as well.
#[test]
fn texts_are_cut_inside_characters() {
    let units: Vec<u16> = "a🚢é🚢".encode_utf16().collect();
    let text = |range: std::ops::Range<usize>| Cell::Text(Some(units[range].to_vec()));
    let (header, codec) = codec_of(idv::Codec::Text);
    let rows = [text(0..2), text(2..2), Cell::Text(None), text(2..5), text(5..6)];
    let bytes = payload(&idv::Codec::Text, &rows);
    check_rows(&header.block(&codec, 5, &bytes).unwrap(), &rows, &idv::Codec::Text, false);

    let vectors = idv::Codec::vector(idv::Codec::Text, &[0]);
    let (header, codec) = codec_of(vectors.clone());
    let rows = [
        Cell::Dense(vec![text(0..1), text(1..2)]),
        Cell::Dense(vec![]),
        Cell::Sparse { len: i32::MAX, indices: vec![7, 9], values: vec![text(2..4), text(4..5)] },
        Cell::Dense(vec![text(5..6)]),
    ];
    let bytes = payload(&vectors, &rows);
    check_rows(&header.block(&codec, 4, &bytes).unwrap(), &rows, &vectors, false);
}

/// Large claims in a few bytes cost neither time nor memory.
#[test]
fn idv_declared_length_is_compared_with_stored_bytes() {
    let (header, codec) =
        codec_of(idv::Codec::vector(idv::Codec::Number(idv::Number::Double), &[0]));
    let words = |words: &[i32]| words.iter().flat_map(|w| w.to_le_bytes()).collect::<Vec<_>>();
    let rule = |rows, bytes: &[u8]| header.block(&codec, rows, bytes).unwrap_err().rule.id();
    assert_eq!(rule(1, &words(&[1, 1 << 28, -1, 0])), "B.short");
    assert_eq!(rule(1, &words(&[1, i32::MAX, 0, i32::MAX])), "B.short");
    assert_eq!(rule(i32::MAX as u64, &words(&[i32::MAX, 0, 0])), "B.short");
    assert_eq!(rule(u64::MAX, &words(&[-1, 0, 0])), "B.vec.count");
    let sparse = words(&[1, i32::MAX, 1, 1, i32::MAX - 1, 0, 0]);
    let block = header.block(&codec, 1, &sparse).unwrap();
    let Some(Row::Vector(vector)) = block.rows().next() else { panic!("{block:?}") };
    assert_eq!(vector.len(), i32::MAX as u32);
    assert!(vector.indices().unwrap().eq([i32::MAX as u32 - 1]));
    assert_eq!(vector.values().len(), 1);
}
