//! Random sound files: every codec, compression, version and region order.

use proptest::collection::vec;
use proptest::prelude::*;

use super::{
    Annotation, BlockOrder, Cell, Codec, Column, Compression, Content, File, Number, Odd, Region,
    version,
};

/// Ticks of the last moment of year 9999.
const LAST_TICK: i64 = 3_155_378_975_999_999_999;

/// A random file that breaks no rule of severity fatal or violation.
pub fn arbitrary() -> impl Strategy<Value = File> {
    (0..24_usize, 1..9_u64, 1..=6_u64).prop_flat_map(|(rows, per_block, last)| {
        (
            vec(column(rows, last), 0..5),
            order(),
            block_order(),
            prop_oneof![3 => Just(Vec::new()), 1 => vec(any::<u8>(), 1..9)],
            prop::bool::weighted(0.8),
        )
            .prop_map(move |(mut columns, order, blocks, trailing, uniform)| {
                if uniform {
                    columns.iter_mut().for_each(|c| c.rows_per_block = per_block);
                }
                File {
                    version: version(last),
                    compatible: version(last),
                    rows: rows as i64,
                    columns,
                    order,
                    blocks,
                    trailing,
                }
            })
    })
}

fn order() -> impl Strategy<Value = Vec<Region>> {
    let regions = vec![Region::Blocks, Region::Lookups, Region::Metadata, Region::Toc];
    prop_oneof![
        2 => Just(regions.clone()),
        1 => Just(regions).prop_shuffle(),
        1 => Just(vec![
            Region::Toc,
            Region::Gap(3),
            Region::Metadata,
            Region::Blocks,
            Region::Gap(1),
            Region::Lookups,
        ]),
    ]
}

fn block_order() -> impl Strategy<Value = BlockOrder> {
    prop_oneof![Just(BlockOrder::ByBlock), Just(BlockOrder::ByColumn), Just(BlockOrder::Reversed)]
}

fn compression() -> impl Strategy<Value = Compression> {
    prop_oneof![Just(Compression::None), Just(Compression::Deflate), Just(Compression::Zlib)]
}

fn column(rows: usize, last: u64) -> impl Strategy<Value = Column> {
    let annotations = if last > 3 { 0..4_usize } else { 0..1 };
    let slots = if last == 3 { 0..3_usize } else { 0..1 };
    let slot_names = vec(("[a-zé😀]{0,5}", 0..9_i32), slots);
    (
        "[a-z\u{0}é😀]{1,6}",
        codec().prop_flat_map(move |codec| {
            cells(&codec, rows).prop_map(move |cells| (codec.clone(), cells))
        }),
        compression(),
        1..9_u64,
        vec(annotation(), annotations),
        slot_names,
    )
        .prop_map(
            |(name, (codec, cells), compression, rows_per_block, mut annotations, slots)| {
                for (i, annotation) in annotations.iter_mut().enumerate() {
                    annotation.kind.extend(i.to_string().bytes());
                }
                Column {
                    name: name.into_bytes(),
                    codec,
                    compression,
                    rows_per_block,
                    content: Content::Cells(cells),
                    annotations,
                    slot_names: slots.into_iter().map(|(name, slot)| (slot, name)).collect(),
                    odd: Odd::default(),
                }
            },
        )
}

fn annotation() -> impl Strategy<Value = Annotation> {
    (
        "[A-Za-zé]{1,9}",
        codec()
            .prop_flat_map(|codec| cells(&codec, 1).prop_map(move |cells| (codec.clone(), cells))),
        compression(),
    )
        .prop_map(|(kind, (codec, cells), compression)| Annotation {
            kind: kind.into_bytes(),
            codec,
            compression,
            content: Content::Cells(cells),
            odd: Odd::default(),
        })
}

fn scalar() -> impl Strategy<Value = Codec> {
    let unsigned =
        prop::sample::select(vec![Number::Byte, Number::UInt16, Number::UInt32, Number::UInt64]);
    prop_oneof![
        3 => prop::sample::select(Number::ALL.to_vec()).prop_map(Codec::Number),
        2 => Just(Codec::Text),
        1 => Just(Codec::Boolean),
        1 => Just(Codec::DvBool),
        1 => any::<bool>().prop_map(Codec::TimeSpan),
        1 => any::<bool>().prop_map(Codec::DateTime),
        1 => any::<bool>().prop_map(Codec::DateTimeOffset),
        1 => prop::sample::select(vec!["DataViewRowId", "RowId", "UInt128"]).prop_map(Codec::RowId),
        1 => (unsigned.clone(), 1..=255_u64).prop_map(|(n, count)| Codec::key(n, count)),
        1 => (unsigned, 0..=255_i32, 0..9_u64).prop_map(|(n, count, min)| Codec::Key {
            inner: Box::new(Codec::Number(n)),
            contiguous: 1,
            min,
            count,
        }),
    ]
}

fn codec() -> impl Strategy<Value = Codec> {
    prop_oneof![
        3 => scalar(),
        2 => (scalar(), vec(1..4_i32, 1..3)).prop_map(|(inner, dims)| Codec::vector(inner, &dims)),
        1 => (scalar(), prop::sample::select(vec![vec![], vec![0], vec![0, 3]]))
            .prop_map(|(inner, dims)| Codec::vector(inner, &dims)),
    ]
}

fn cells(codec: &Codec, n: usize) -> BoxedStrategy<Vec<Cell>> {
    match codec {
        Codec::Vector(inner, _) => {
            let size = codec.vector_size().unwrap_or(0);
            let inner = (**inner).clone();
            vec(vector(inner, size), n).boxed()
        }
        _ => vec(cell(codec), n).boxed(),
    }
}

fn vector(inner: Codec, size: i32) -> BoxedStrategy<Cell> {
    let lengths = if size > 0 { size..size + 1 } else { 0..5 };
    (lengths, any::<bool>())
        .prop_flat_map(move |(len, sparse)| {
            let n = len as usize;
            if sparse && n > 0 {
                let inner = inner.clone();
                prop::sample::subsequence((0..len).collect::<Vec<_>>(), 0..n)
                    .prop_flat_map(move |indices| {
                        let values = vec(cell(&inner), indices.len());
                        (Just(indices), values)
                    })
                    .prop_map(move |(indices, values)| Cell::Sparse { len, indices, values })
                    .boxed()
            } else {
                vec(cell(&inner), n).prop_map(Cell::Dense).boxed()
            }
        })
        .boxed()
}

/// One value that the codec allows.
fn cell(codec: &Codec) -> BoxedStrategy<Cell> {
    match codec {
        Codec::Number(number) => {
            let mask = u64::MAX >> (64 - 8 * number.width());
            any::<u64>().prop_map(move |bits| Cell::Bits(bits & mask)).boxed()
        }
        Codec::TimeSpan(_) => any::<u64>().prop_map(Cell::Bits).boxed(),
        Codec::DateTime(_) => (0..=LAST_TICK).prop_map(|t| Cell::Bits(t as u64)).boxed(),
        Codec::DateTimeOffset(_) => (-840..=840_i16, 864_000_000_000..LAST_TICK - 864_000_000_000)
            .prop_map(|(minutes, ticks)| Cell::Offset(minutes, ticks))
            .boxed(),
        Codec::RowId(_) => any::<(u64, u64)>().prop_map(|(l, h)| Cell::RowId(l, h)).boxed(),
        Codec::Key2(_, count) => (0..=*count).prop_map(Cell::Bits).boxed(),
        Codec::Key { count, .. } => (0..=*count as u64).prop_map(Cell::Bits).boxed(),
        Codec::Boolean => any::<bool>().prop_map(|b| Cell::Bool(Some(b))).boxed(),
        Codec::DvBool => any::<Option<bool>>().prop_map(Cell::Bool).boxed(),
        Codec::Text => prop_oneof![
            4 => "[a-zé😀\u{0}]{0,6}".prop_map(|s| Cell::text(&s)),
            1 => Just(Cell::Text(None)),
        ]
        .boxed(),
        Codec::Vector(..) | Codec::Other { .. } => any::<u64>().prop_map(Cell::Bits).boxed(),
    }
}
