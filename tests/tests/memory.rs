//! The memory that decoding uses, measured by this binary's allocator.

use peak_alloc::PeakAlloc;
use std::sync::Mutex;
use weighbridge::{Options, check_with};
use weighbridge_core::codec::{Decoder, Fault, Size, WINDOW, ring};
use weighbridge_core::{Audit, Encoding, File, Scratch, Slot, Source, Span, Stop};
use weighbridge_tests::encode::idv;
use weighbridge_tests::hard;

#[global_allocator]
static ALLOCATOR: PeakAlloc = PeakAlloc;

/// Tests of one binary run in parallel; these must not.
static ALONE: Mutex<()> = Mutex::new(());

/// Returns an operation's result and its peak memory beyond what was in use before.
fn cost_of<T>(operation: impl FnOnce() -> T) -> (T, usize) {
    ALLOCATOR.reset_peak_usage();
    let before = ALLOCATOR.current_usage();
    let result = operation();
    (result, ALLOCATOR.peak_usage().saturating_sub(before))
}

const MIB: usize = 1 << 20;

/// Decodes through a buffer of 32 KiB, or of the size it asks for. Returns the number of bytes and
/// the result.
fn decode(encoding: Encoding, stored: &[u8], size: Size) -> (u64, Result<(), Fault>) {
    let mut small = [0; WINDOW];
    let mut large: Vec<u8>;
    let mut buffer = &mut small[..];
    let mut decoder = Decoder::new();
    decoder.start(encoding, Span::new(0, stored.len() as u64), size);
    loop {
        match decoder.step(&stored[decoder.read() as usize..], buffer) {
            Ok(step) if step.done => return (decoder.written(), Ok(())),
            Ok(_) => {}
            Err(Fault::Buffer) => {
                assert!(decoder.buffer() > buffer.len() as u64);
                large = vec![0; decoder.buffer() as usize];
                buffer = &mut large;
            }
            Err(fault) => return (decoder.written(), Err(fault)),
        }
    }
}

/// A frame of `count` blocks, each of which repeats a byte 128 KiB times.
fn repeats(header: &[u8], count: usize) -> Vec<u8> {
    let mut frame = [&[0x28, 0xB5, 0x2F, 0xFD][..], header].concat();
    for i in 1..=count {
        let block = (128_u32 << 10 << 3) | 2 | u32::from(i == count);
        frame.extend_from_slice(&block.to_le_bytes()[..3]);
        frame.push(b'x');
    }
    frame
}

#[test]
fn zstd_bomb_memory_is_bounded() {
    let _alone = ALONE.lock().unwrap();
    // 33 KiB that expand to 1 GiB, for a tensor of 16 bytes; windows of 2 and 8 MiB.
    for (window, len) in [(0x58, 2 << 20), (0x68, 8 << 20)] {
        let bomb = repeats(&[0, window], 8192);
        assert!(bomb.len() < 33 << 10);
        let ((written, end), cost) = cost_of(|| decode(Encoding::Zstd, &bomb, Size::Exactly(16)));
        assert_eq!((written, end), (16, Err(Fault::Long)));
        assert!(cost <= ring(len) as usize, "window {window:#x}: {cost} bytes");
        println!("1 GiB bomb, window byte {window:#x}: {cost} bytes");

        // As a legal tensor it is decoded, in the same amount of memory.
        let ((written, end), cost) =
            cost_of(|| decode(Encoding::Zstd, &bomb, Size::Exactly(1 << 30)));
        assert_eq!((written, end), (1 << 30, Ok(())));
        assert!(cost <= ring(len) as usize, "window {window:#x}: {cost} bytes");
        println!("1 GiB decoded, window byte {window:#x}: {cost} bytes");
    }
    // 8 kB with a window of 128 MiB, and a single segment of 1 TiB.
    let wide = repeats(&[0, 0x88], 2000);
    let single = repeats(&[0xE0, 0, 0, 0, 0, 0, 1, 0, 0], 2000);
    for bomb in [wide, single] {
        assert!(bomb.len() < 8200);
        let ((written, end), cost) =
            cost_of(|| decode(Encoding::Zstd, &bomb, Size::Exactly(1 << 40)));
        assert_eq!((written, end), (0, Err(Fault::Window)));
        assert_eq!(cost, 0);
    }
    // Many frames share one window.
    let frames = repeats(&[0, 0x68], 1).repeat(1000);
    let ((written, end), cost) =
        cost_of(|| decode(Encoding::Zstd, &frames, Size::Exactly(1000 << 17)));
    assert_eq!((written, end), (1000 << 17, Ok(())));
    assert!(cost <= ring(8 << 20) as usize, "{cost} bytes");
}

#[test]
fn deflate_takes_no_heap() {
    let _alone = ALONE.lock().unwrap();
    // As documented.
    assert!(size_of::<Scratch<'_>>() < 28 << 10);
    let data = vec![0; 64 * MIB];
    let mut compressor = libdeflater::Compressor::new(libdeflater::CompressionLvl::best());
    let mut bomb = vec![0; compressor.deflate_compress_bound(data.len())];
    let len = compressor.deflate_compress(&data, &mut bomb).unwrap();
    bomb.truncate(len);
    assert!(bomb.len() < 68 << 10);
    for (size, expected) in [
        (Size::Exactly(64 << 20), (64 << 20, Ok(()))),
        (Size::Exactly(1000), (1000, Err(Fault::Long))),
        (Size::AtMost(1 << 20), (1 << 20, Err(Fault::Long))),
    ] {
        let (result, cost) = cost_of(|| decode(Encoding::Deflate, &bomb, size));
        assert_eq!(result, expected);
        assert_eq!(cost, 0);
    }
}

/// The rules that a data view breaks, found by an audit whose buffer grows on request.
fn audit_of_blocks(bytes: &[u8]) -> Vec<&'static str> {
    let source = Source::whole(bytes);
    let file = File::open(&source, &mut |_| {}).unwrap();
    let mut rules = Vec::new();
    let mut slots = [Slot::EMPTY; 16];
    let mut buffer = vec![0; WINDOW];
    let mut scratch = Scratch::new(&mut buffer);
    let mut audit = Audit::new(file);
    loop {
        match audit.step_with(&source, &mut slots, &mut scratch, &mut |f| rules.push(f.rule.id())) {
            Ok(()) => return rules,
            Err(Stop::NeedBuffer { needed }) => {
                buffer = vec![0; needed as usize];
                scratch = Scratch::new(&mut buffer);
            }
            Err(stop) => panic!("{stop:?}"),
        }
    }
}

/// A column of one block of `rows` rows.
fn block(rows: i64, codec: idv::Codec, stored: Vec<u8>, decoded: i32) -> Vec<u8> {
    let mut column = idv::Column::new("c", codec, vec![])
        .rows_per_block(rows as u64)
        .compressed(idv::Compression::Deflate);
    column.content = idv::Content::Blocks(vec![idv::Block { stored, decoded }]);
    idv::encode(&idv::File::new(rows, vec![column])).bytes
}

#[test]
fn block_memory_is_its_content() {
    let _alone = ALONE.lock().unwrap();
    let deflate = |bytes: &[u8]| idv::Compression::Deflate.apply(bytes);
    let text = || idv::Codec::Text;
    let zeros = deflate(&vec![0; 64 * MIB]);
    assert!(zeros.len() < 68 << 10);
    let cut = &zeros[..zeros.len() - 1000];
    let vectors = || idv::Codec::vector(idv::Codec::Number(idv::Number::Double), &[0]);
    let claim: Vec<u8> =
        [1, 1 << 28, -1, 0_i32].iter().flat_map(|word| word.to_le_bytes()).collect();
    let annotated = {
        let mut annotation = idv::Annotation::new("Kind", text(), idv::Cell::text(""));
        annotation.compression = idv::Compression::Deflate;
        annotation.content =
            idv::Content::Blocks(vec![idv::Block { stored: zeros.clone(), decoded: 0 }]);
        let column = idv::Column::new("c", text(), vec![]).annotated(annotation);
        idv::encode(&idv::File::new(0, vec![column])).bytes
    };
    let bombs = [
        // Longer than recorded; shorter than recorded; truncated.
        (block(3, text(), zeros.clone(), 200), "B.decomp.len"),
        (block(3, text(), deflate(&[0; 200]), i32::MAX), "B.decomp.len"),
        (block(3, text(), cut.to_vec(), 64 << 20), "B.decomp.len"),
        (block(1, vectors(), deflate(&claim), 16), "B.short"),
        (annotated, "PAYLOAD-UNCHECKED"),
    ];
    for (bytes, rule) in bombs {
        let (rules, cost) = cost_of(|| audit_of_blocks(&bytes));
        assert_eq!(rules, [rule]);
        assert!(cost < MIB, "{rule}: {cost} bytes");
    }
    // A legal block of 80 MiB, in which all vectors are empty.
    let rows = (80 * MIB - 12) / 8;
    let mut plain = vec![0; 8 + 4 * rows];
    plain[..4].copy_from_slice(&(rows as i32).to_le_bytes());
    plain.resize(8 + 8 * rows, 0xFF);
    plain.extend([0; 4]);
    let legal = block(rows as i64, vectors(), deflate(&plain), plain.len() as i32);
    let size = plain.len();
    drop(plain);
    let (rules, cost) = cost_of(|| audit_of_blocks(&legal));
    assert!(rules.is_empty(), "{rules:?}");
    assert!((size..size + MIB).contains(&cost), "{cost} bytes for a block of {size}");
}

/// The memory that a checkpoint is followed in grows with its operations, whichever they are.
#[test]
fn checkpoint_memory_grows_with_its_operations() {
    let _alone = ALONE.lock().unwrap();
    let cost = |bytes: &[u8]| cost_of(|| check_with(bytes, &Options::new().seed(1)).unwrap()).1;
    let (few, many) = (hard::operations(1_000), hard::operations(10_000));
    assert!(many.len() > 60);
    for ((name, few), (_, many)) in few.iter().zip(&many) {
        let (small, large) = (cost(few), cost(many));
        // Room doubles as it grows, so ten times the operations may take twenty times the memory.
        assert!(large <= 20 * small + (64 << 10), "{name}: {small} and {large} bytes");
        assert!(large <= 128 * many.len() + MIB, "{name}: {large} bytes for {}", many.len());
    }
    for (name, bytes) in hard::pickles(60_000) {
        let large = cost(&bytes);
        assert!(large <= 64 * bytes.len() + 64 * MIB, "{name}: {large} bytes for {}", bytes.len());
    }
}
