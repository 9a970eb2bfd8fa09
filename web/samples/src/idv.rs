//! A data view with rows of text, keys, vectors and other types.

use weighbridge_tests::encode::idv::{
    Annotation, Cell, Codec, Column, Compression, File, Number, encode, header,
};

use crate::Sample;
use crate::data::Random;

const ROWS: usize = 300;

fn annotate_keys(column: Column, texts: &[&str]) -> Column {
    let codec = Codec::vector(Codec::Text, &[texts.len() as i32]);
    let values = Cell::Dense(texts.iter().map(|text| Cell::text(text)).collect());
    column.annotated(Annotation::new("KeyValues", codec, values))
}

fn file() -> File {
    let mut random = Random::new(7);
    let vendors = ["CMT", "VTS", "Curb", "Größe", "🚢 Ferry"];
    let streets = ["Main St", "Broadway", "5th Ave", "Канал", "Rue de la Paix", ""];
    let vendor: Vec<_> = (0..ROWS).map(|_| Cell::Bits(random.below(6))).collect();
    let street: Vec<_> = (0..ROWS).map(|_| Cell::text(streets[random.below(6) as usize])).collect();
    let fare: Vec<_> =
        (0..ROWS).map(|_| Cell::single((random.unit() * 400.0).round() / 10.0)).collect();
    let paid: Vec<_> = (0..ROWS).map(|i| Cell::Bool(Some(i % 3 == 0))).collect();
    let place: Vec<_> = (0..ROWS)
        .map(|_| Cell::Dense((0..3).map(|_| Cell::single(random.normal())).collect()))
        .collect();
    let words: Vec<_> = (0..ROWS)
        .map(|_| {
            let first = random.below(40) as i32;
            let second = first + 1 + random.below(50) as i32;
            let bits = |value: f32| u64::from(value.to_bits());
            Cell::sparse(100, &[(first, bits(1.0)), (second, bits(2.5))])
        })
        .collect();
    // 2024-01-01 in ticks of 100 ns since year 1, advancing one minute per row.
    let when: Vec<_> =
        (0..ROWS as u64).map(|i| Cell::Bits(638_396_640_000_000_000 + i * 600_000_000)).collect();
    File::new(
        ROWS as i64,
        vec![
            annotate_keys(
                Column::new("Vendor", Codec::key(Number::UInt32, 5), vendor).rows_per_block(128),
                &vendors,
            ),
            Column::new("Street", Codec::Text, street)
                .rows_per_block(128)
                .compressed(Compression::Deflate),
            Column::new("Fare", Codec::Number(Number::Single), fare)
                .rows_per_block(128)
                .compressed(Compression::Zlib)
                .annotated(Annotation::new(
                    "IsNormalized",
                    Codec::Boolean,
                    Cell::Bool(Some(false)),
                )),
            Column::new("Paid", Codec::Boolean, paid).rows_per_block(128),
            Column::new("Place", Codec::vector(Codec::Number(Number::Single), &[3]), place)
                .rows_per_block(128),
            Column::new("Words", Codec::vector(Codec::Number(Number::Single), &[100]), words)
                .rows_per_block(128)
                .compressed(Compression::Zlib),
            Column::new("When", Codec::DateTime(false), when).rows_per_block(128),
        ],
    )
}

pub(crate) fn samples() -> Vec<Sample> {
    let sound = encode(&file());
    let mut broken = sound.clone().with_i64(header::ROWS, ROWS as i64 - 7);
    let last = broken.bytes.len() - 1;
    broken.bytes[last] = b'!';
    let make = |id, file, sound, what, bytes| Sample {
        id,
        file,
        format: "idv",
        title: "ML.NET IDV",
        sound,
        what,
        bytes,
        beside: Vec::new(),
    };
    vec![
        make(
            "idv",
            "taxi.idv",
            true,
            "Rows with text, keys, vectors, sparse vectors and dates",
            sound.bytes,
        ),
        make(
            "idv-broken",
            "taxi-broken.idv",
            false,
            "A row count that contradicts the blocks, and a broken end mark",
            broken.bytes,
        ),
    ]
}
