//! The payload audit: buffers of every size, and limits of decoding.

use weighbridge_core::codec::WINDOW;
use weighbridge_core::{
    Audit, File, Finding, Scratch, Severity, Slot, Source, Stop, Window, limits,
};
use weighbridge_tests::encode::idv::{self, Annotation, Cell, Codec, Column, Compression};
use weighbridge_tests::encode::ztensor::sparse;
use weighbridge_tests::encode::ztensor::zstd::{self, Block, Frame};
use weighbridge_tests::encode::ztensor::{self, Checksum, Item, Tensor};

/// Audits with a buffer of `size` bytes; each request for more is answered by `grow`. Returns the
/// findings and the number of requests.
fn audit(
    bytes: &[u8],
    size: usize,
    work: Option<u64>,
    grow: &dyn Fn(usize) -> Option<usize>,
) -> (Vec<Finding>, usize) {
    let source = Source::whole(bytes);
    let mut findings = Vec::new();
    let file = File::open(&source, &mut |f| findings.push(f)).expect("it opens");
    let mut audit = Audit::new(file);
    if let Some(work) = work {
        audit = audit.max_work(work);
    }
    let mut slots = vec![Slot::EMPTY; 1024];
    let mut buffer = vec![0; size];
    let mut scratch = Scratch::new(&mut buffer);
    for asked in 0..1000 {
        match audit.step_with(&source, &mut slots, &mut scratch, &mut |f| findings.push(f)) {
            Ok(()) => return (findings, asked),
            Err(Stop::NeedBuffer { needed }) => match grow(needed as usize) {
                Some(size) => {
                    buffer = vec![0; size];
                    scratch = Scratch::new(&mut buffer);
                }
                None => audit.skip(&mut |f| findings.push(f)),
            },
            Err(stop) => panic!("{stop:?}"),
        }
    }
    panic!("no end");
}

fn ids(findings: &[Finding]) -> Vec<&'static str> {
    findings.iter().map(|f| f.rule.id()).collect()
}

/// A column with a single text as its annotation, and the length of that payload.
fn annotated(len: usize, compression: Compression) -> (Vec<u8>, usize) {
    let text = Cell::text(&"slots".repeat(len / 5));
    let decoded = idv::payload(&Codec::Text, std::slice::from_ref(&text)).len();
    let mut annotation = Annotation::new("Kind", Codec::Text, text);
    annotation.compression = compression;
    let column = Column::new("c", Codec::Text, vec![]).annotated(annotation);
    (idv::encode(&idv::File::new(0, vec![column])).bytes, decoded)
}

/// The length of an annotation is known only after decoding it; then it fits into buffers of every
/// size.
#[test]
fn annotations_of_any_length_fit_any_buffer() {
    for compression in [Compression::Deflate, Compression::Zlib] {
        for len in [1000, WINDOW, 50_000, 1 << 17, 300_000, (1 << 20) + 5] {
            let (bytes, needed) = annotated(len, compression);
            let power = needed.next_power_of_two();
            let sizes = [needed - 1, needed, needed + 1, power, needed + needed / 3, WINDOW];
            for size in sizes.map(|size| size.max(WINDOW)) {
                for more in sizes.map(|size| size.max(needed)) {
                    let (findings, asked) = audit(&bytes, size, None, &|least| {
                        assert_eq!(least, needed);
                        Some(more)
                    });
                    let worst = findings.iter().map(Finding::severity).max();
                    assert!(worst.is_none_or(|worst| worst == Severity::Lint), "{findings:?}");
                    let expected = usize::from(size < needed);
                    assert_eq!(asked, expected, "{needed} bytes into {size}, then {more}");
                }
            }
        }
    }
}

/// A frame with a single segment that refers further back than the usual window.
#[test]
fn single_segment_frame_needs_buffer_of_its_content() {
    let mut data = weighbridge_tests::codec::samples(1 << 18).swap_remove(3).1;
    data.resize(9 << 20, 0);
    data.extend_from_within(..1 << 18);
    let blob = zstd::compress_sized_with(&data, 22);
    assert_eq!(blob[4] & 0x20, 0x20, "a single segment");
    let len = data.len();
    let tensor = Tensor::framed("z", "uint8", &[len as u64], blob);
    let bytes = ztensor::File::of([tensor]).draft().finish();
    for size in [WINDOW, len - 1, len, len + 1, len.next_power_of_two()] {
        let (findings, asked) = audit(&bytes, size, None, &Some);
        assert_eq!(ids(&findings), [""; 0], "{size}");
        assert_eq!(asked, usize::from(size < len));
    }
    // A host without room leaves it unchecked.
    let (findings, _) = audit(&bytes, WINDOW, None, &|_| None);
    assert_eq!(ids(&findings), ["ZSTD-WINDOW"]);
    assert_eq!(findings[0].severity(), Severity::Unchecked);
    assert_eq!((findings[0].expected, findings[0].found), (8 << 20, len as u64));
}

/// Only decoding proves that large contents exist, so the audit does not request arbitrarily large
/// buffers, and dictionaries are not available. Neither breaks a rule.
#[test]
fn undecoded_payload_is_unchecked() {
    let count = 1000;
    let size = count << 17;
    let blocks = (0..count).map(|_| Block::Rle(0, 1 << 17)).collect();
    let far = Frame::of(blocks).window(0x88).encode();
    let far = Tensor::framed("z", "uint8", &[size], far);
    let raw = Frame::raw(&[7; 24]);
    let endless = Tensor::framed("z", "uint8", &[24], raw.clone().window(0xB0).encode());
    let dictionary = Frame { descriptor: 1, fields: vec![zstd::WINDOW_2_MIB, 7], ..raw };
    let dictionary = Tensor::framed("z", "uint8", &[24], dictionary.encode());
    for (tensor, rule) in
        [(far, "ZSTD-WINDOW"), (endless, "ZSTD-WINDOW"), (dictionary, "ZSTD-DICTIONARY")]
    {
        let bytes = ztensor::File::of([tensor]).draft().finish();
        let (findings, asked) = audit(&bytes, WINDOW, None, &Some);
        assert_eq!((ids(&findings), asked), (vec![rule], 0));
        assert_eq!(findings[0].severity(), Severity::Unchecked);
    }
}

/// An audit without memory for decoding reports each tensor as unchecked once.
#[test]
fn tensor_is_reported_unchecked_once() {
    let sum = Checksum::Crc32c;
    let raw = Tensor { checksum: sum.clone(), ..Tensor::raw("a", "uint8", &[4], vec![7; 4]) };
    let other = Tensor { encoding: "lz4".to_owned(), name: "b".to_owned(), ..raw.clone() };
    let frame = Frame::raw(&[7; 24]).encode();
    let framed = Tensor { checksum: sum, ..Tensor::framed("c", "uint8", &[24], frame) };
    for (tensor, rule) in
        [(raw, "CHECKSUM-UNCHECKED"), (other, "DATA-UNCHECKED"), (framed, "PAYLOAD-UNCHECKED")]
    {
        let bytes = ztensor::File::of([tensor]).draft().finish();
        let source = Source::whole(&bytes);
        let file = File::open(&source, &mut |f| panic!("{f:?}")).expect("it opens");
        let mut findings = Vec::new();
        let step = Audit::new(file).step(&source, &mut [Slot::EMPTY; 4], &mut |f| findings.push(f));
        assert_eq!(step, Ok(()));
        findings.retain(|f| f.severity() == Severity::Unchecked && f.rule.format().is_none());
        assert_eq!(ids(&findings), [rule]);
    }
}

/// A frame of `blocks` blocks of sequences that take no bits, and the decoded length.
fn bomb(blocks: u64) -> (Vec<u8>, u64) {
    let sequences = (0..blocks).map(|_| Block::sequences(43_690, 0));
    let blocks_of = [Block::Raw(b"abcdefgh".to_vec())].into_iter().chain(sequences).collect();
    (Frame::of(blocks_of).encode(), 8 + blocks * (3 * 43_690 + 1))
}

#[test]
fn work_is_bounded() {
    let (blob, size) = bomb(8);
    let file = ztensor::File::of([
        Tensor::raw("a", "bool", &[1], vec![7]),
        Tensor::framed("b", "uint8", &[size], blob),
        Tensor::zstd("c", "uint8", &[3], &[1, 2, 4]),
    ]);
    let bytes = file.draft().finish();
    let block = limits::WORK_PER_BLOCK + 43_690 * limits::WORK_PER_SEQUENCE;
    let most = 8 * block + size + 10 * limits::WORK_PER_BLOCK;
    assert_eq!(ids(&audit(&bytes, WINDOW, Some(most), &Some).0), [""; 0]);
    // One block short: this tensor and the next are left, which the count shows.
    for work in [0, 1, most / 2, 7 * block] {
        let (findings, _) = audit(&bytes, WINDOW, Some(work), &Some);
        assert_eq!(ids(&findings), ["WORK-UNCHECKED"], "{work}");
        assert_eq!(findings[0].expected, work);
        assert_eq!(findings[0].found, 2);
        assert_eq!(findings[0].severity(), Severity::Unchecked);
    }
    // A few hundred of them exceed the work allowed for a small file.
    let (blob, size) = bomb(400);
    let bytes = ztensor::File::of([Tensor::framed("b", "uint8", &[size], blob)]).draft().finish();
    let (findings, _) = audit(&bytes, WINDOW, None, &Some);
    assert_eq!(ids(&findings), ["WORK-UNCHECKED"]);
    let len = bytes.len() as u64;
    assert_eq!(findings[0].expected, limits::WORK + limits::WORK_PER_BYTE * len);
}

/// Shared data is decoded once, in any order, and its faults are reported for each tensor.
#[test]
fn shared_data_is_decoded_once() {
    let (blob, size) = bomb(8);
    let mut broken = blob.clone();
    // The last block claims 17 bytes of literals, more than it has.
    let at = broken.len() - 10;
    broken[at] ^= 0x80;
    for (blob, rule) in [(blob, None), (broken, Some("ZSTD-CORRUPT"))] {
        let one = Tensor::framed("t0", "uint8", &[size], blob.clone()).checksum(Checksum::Crc32c);
        let sum = one.checksum_text().expect("it was asked for");
        let other = Tensor::zstd("u", "uint8", &[3], &[1, 2, 4]);
        let more =
            (1..60).map(|i| Tensor::framed(&format!("t{i:02}"), "uint8", &[size], Vec::new()));
        let tensors = [one].into_iter().chain(more).chain([other]);
        let mut draft = ztensor::File::of(tensors).draft();
        for entry in draft.entries.iter_mut().skip(1).take(59) {
            entry.set("offset", Item::Uint(64)).set("size", Item::Uint(blob.len() as u64));
            entry.push(Item::text("checksum"), Item::Text(sum.clone()));
        }
        // The last tensor but one has a different checksum.
        let wrong = Item::text("crc32c:0x00000000");
        draft.entries[59].set("checksum", wrong);
        let bytes = draft.finish();
        let block = limits::WORK_PER_BLOCK + 43_690 * limits::WORK_PER_SEQUENCE;
        let work = 8 * block + size + 10 * limits::WORK_PER_BLOCK;
        let (findings, _) = audit(&bytes, WINDOW, Some(work), &Some);
        let count = |id| findings.iter().filter(|f| f.rule.id() == id).count();
        assert_eq!(count("WORK-UNCHECKED") + count("SHARED-UNCHECKED"), 0, "{findings:?}");
        assert_eq!(count("CHECKSUM-MISMATCH"), 1);
        if let Some(rule) = rule {
            assert_eq!(count(rule), 60);
        }
    }
}

/// Findings of one audit do not affect the next file.
#[test]
fn scratch_is_reused_for_next_file() {
    let tensor = Tensor::zstd("t", "uint8", &[300], &[7; 300]).checksum(Checksum::Crc32c);
    let sound = ztensor::File::of([tensor]).encode();
    let mut broken = sound.clone();
    // Damages the contents of the first block.
    broken[64 + 9] |= 0x06;
    let mut buffer = vec![0; WINDOW];
    let mut scratch = Scratch::new(&mut buffer);
    let found: Vec<Vec<_>> = [&sound, &broken, &sound]
        .map(|bytes| {
            let source = Source::whole(bytes);
            let mut findings = Vec::new();
            let file = File::open(&source, &mut |_| {}).expect("it opens");
            let sink = &mut |finding: Finding| findings.push(finding);
            let mut slots = [Slot::EMPTY; 64];
            Audit::new(file).step_with(&source, &mut slots, &mut scratch, sink).expect("it ends");
            findings
        })
        .to_vec();
    assert_eq!(ids(&found[0]), [""; 0]);
    assert!(ids(&found[1]).contains(&"CHECKSUM-MISMATCH"), "{:?}", found[1]);
    assert_eq!(ids(&found[2]), [""; 0]);
}

/// A host that holds only what was requested last may have to read data several times, which must
/// not be mistaken for a lack of progress.
#[test]
fn unsorted_sparse_entries_are_read_again() {
    for count in 2..70_u64 {
        let entries: Vec<_> = (0..count).rev().map(|i| ([i, i % 3], [1_u8; 4])).collect();
        let entries: Vec<_> = entries.iter().map(|(i, v)| (&i[..], &v[..])).collect();
        let tensor = Tensor::raw("c", "float32", &[count, 5], sparse::coo(&entries));
        let bytes = ztensor::File::of([tensor.layout("sparsecoo")]).encode();
        let len = bytes.len();
        let mut findings = Vec::new();
        let file = File::open(&Source::whole(&bytes), &mut |f| findings.push(f)).expect("it opens");
        let mut audit = Audit::new(file);
        let mut slots = vec![Slot::EMPTY; 1024];
        let mut buffer = vec![0; WINDOW];
        let mut scratch = Scratch::new(&mut buffer);
        let mut held = 0..0;
        let sink = &mut |finding| findings.push(finding);
        for stop in 0.. {
            assert!(stop < 10_000, "no end");
            let windows = [Window { offset: held.start as u64, bytes: &bytes[held.clone()] }];
            let source = Source::windows(len as u64, &windows);
            match audit.step_with(&source, &mut slots, &mut scratch, sink) {
                Ok(()) => break,
                Err(Stop::NeedBytes(absent)) => {
                    held = absent.offset as usize..(absent.offset + absent.need) as usize;
                }
                Err(stop) => panic!("{stop:?}"),
            }
        }
        assert_eq!(ids(&findings), [""; 0], "{count} entries");
    }
}
