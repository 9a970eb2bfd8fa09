//! Files in unmapped flash, read through a small buffer.

use embedded_storage::nor_flash::{ErrorType, NorFlashErrorKind, ReadNorFlash};
use weighbridge_core::{
    Audit, Cursor, Finding, Flash, FlashError, Format, Index, Name, Opening, Slot, Source, Span,
    Stop, Tensor, heapless,
};
use weighbridge_tests::fixtures;

/// SPI flash that is read in units of `UNIT` bytes and counts the reads.
struct Spi<const UNIT: usize> {
    bytes: Vec<u8>,
    read: usize,
    reads: usize,
}

impl<const UNIT: usize> ErrorType for Spi<UNIT> {
    type Error = NorFlashErrorKind;
}

impl<const UNIT: usize> ReadNorFlash for Spi<UNIT> {
    const READ_SIZE: usize = UNIT;

    fn read(&mut self, offset: u32, bytes: &mut [u8]) -> Result<(), NorFlashErrorKind> {
        let offset = offset as usize;
        if !offset.is_multiple_of(UNIT) || !bytes.len().is_multiple_of(UNIT) {
            return Err(NorFlashErrorKind::NotAligned);
        }
        let stored = self.bytes.get(offset..offset + bytes.len());
        bytes.copy_from_slice(stored.ok_or(NorFlashErrorKind::OutOfBounds)?);
        self.read += bytes.len();
        self.reads += 1;
        Ok(())
    }

    fn capacity(&self) -> usize {
        self.bytes.len()
    }
}

/// A reader's results: tensors, and findings sorted independently of how the bytes arrived.
#[derive(Debug, PartialEq)]
struct Learnt {
    tensors: Vec<Tensor>,
    findings: Vec<Finding>,
}

type Run<'a, E> =
    &'a mut dyn FnMut(&mut dyn FnMut(&Source<'_>) -> Result<(), Stop>) -> Result<(), FlashError<E>>;

/// Opens, lists and audits.
fn learn<E>(format: Option<Format>, run: Run<'_, E>) -> Result<Learnt, FlashError<E>> {
    let (mut tensors, mut findings) = (Vec::new(), Vec::new());
    let mut opening = Opening::of(format);
    let mut opened = None;
    match run(&mut |source| {
        opened = Some(opening.step(source, &mut |finding| findings.push(finding))?);
        Ok(())
    }) {
        Err(FlashError::Stop(Stop::Invalid(_))) => return Ok(Learnt { tensors, findings }),
        other => other?,
    }
    let file = opened.unwrap();
    let mut cursor = Cursor::default();
    match run(&mut |source| {
        while let Some(tensor) = file.next_tensor(source, &mut cursor, &mut |_| {})? {
            tensors.push(tensor.tensor);
        }
        Ok(())
    }) {
        Err(FlashError::Stop(Stop::Invalid(_))) => {}
        other => other?,
    }
    let mut slots = vec![Slot::EMPTY; 4096];
    let mut audit = Audit::new(file).structure_only();
    match run(&mut |source| audit.step(source, &mut slots, &mut |finding| findings.push(finding))) {
        Err(FlashError::Stop(Stop::Invalid(_))) => {}
        other => other?,
    }
    findings.sort_by_key(|f| (f.offset, f.rule, f.kind, f.entry, f.part, f.len));
    Ok(Learnt { tensors, findings })
}

/// Reads a partition at an odd address of the flash, surrounded by other bytes. Also returns the
/// number of driver calls.
fn through<const UNIT: usize, const W: usize>(
    file: &[u8],
    format: Option<Format>,
    buffer: usize,
) -> Result<(Learnt, usize), FlashError<NorFlashErrorKind>> {
    let start = 3;
    let mut bytes = vec![0xFF; start];
    bytes.extend(file);
    bytes.resize(bytes.len().next_multiple_of(UNIT) + UNIT, 0xFF);
    let mut buffer = vec![0; buffer];
    let driver = Spi::<UNIT> { bytes, read: 0, reads: 0 };
    let flash = Flash::new(driver, start as u32, file.len() as u32, &mut buffer);
    let mut flash = flash.windows::<W>();
    let learnt = learn(format, &mut |call| flash.run(|source| call(source)))?;
    Ok((learnt, flash.release().0.reads))
}

fn mapped(file: &[u8], format: Option<Format>) -> Learnt {
    let source = Source::whole(file);
    learn::<()>(format, &mut |call| call(&source).map_err(FlashError::Stop)).unwrap()
}

#[test]
fn flash_with_512_byte_buffer_equals_mapped() {
    let (mut fitted, mut all) = (0, 0);
    for (name, fixtures) in fixtures::all() {
        let format = Format::by_name(name);
        for fixture in fixtures {
            all += 1;
            let expected = mapped(&fixture.bytes, format);
            for result in [
                through::<1, 1>(&fixture.bytes, format, 512),
                through::<4, 1>(&fixture.bytes, format, 512),
                through::<4, 3>(&fixture.bytes, format, 512),
                through::<16, 2>(&fixture.bytes, format, 530),
            ] {
                match result {
                    Ok((learnt, _)) => {
                        assert_eq!(learnt, expected, "{name} {}", fixture.name);
                        fitted += 1;
                    }
                    Err(FlashError::WindowTooSmall { needed }) => {
                        assert!(needed > 512, "{name} {}: {needed}", fixture.name);
                        // The requested size is enough to make progress.
                        let more = through::<1, 1>(&fixture.bytes, format, 1 << 20);
                        assert_eq!(more.unwrap().0, mapped(&fixture.bytes, format));
                    }
                    Err(error) => panic!("{name} {}: {error:?}", fixture.name),
                }
            }
        }
    }
    assert!(fitted * 10 > 4 * all * 8, "{fitted} of 4 times {all}");
}

/// With two windows, moving back and forth in a file reads fewer bytes.
#[test]
fn two_flash_windows_read_fewer_bytes_than_one() {
    println!("a buffer of 1,024 bytes, 200 tensors: reads and bytes");
    for (format, bytes) in weighbridge_tests::alike::files(200) {
        let (one, two) = (use_of::<1>(format, &bytes), use_of::<2>(format, &bytes));
        let saved = 100 - 100 * two.read / one.read;
        println!(
            "{format:<12} one window {:5} {:8}, two {:5} {:8}, {saved} % fewer bytes",
            one.reads, one.read, two.reads, two.read
        );
        assert!(two.read < one.read, "{format}");
    }
}

/// The driver's counters after opening, auditing and indexing a file, and finding every name.
fn use_of<const W: usize>(format: &str, bytes: &[u8]) -> Spi<4> {
    let len = bytes.len() as u32;
    let mut bytes = bytes.to_vec();
    bytes.resize(bytes.len().next_multiple_of(4), 0xFF);
    let mut buffer = [0; 1024];
    let driver = Spi::<4> { bytes, read: 0, reads: 0 };
    let mut flash = Flash::new(driver, 0, len, &mut buffer).windows::<W>();
    let mut opening = Opening::of(Format::by_name(format));
    let file = flash.run(|source| opening.step(source, &mut |_| {})).unwrap();
    let mut audit = Audit::new(file).structure_only();
    let mut slots = [Slot::EMPTY; 1024];
    flash.run(|source| audit.step(source, &mut slots, &mut |f| panic!("{f}"))).unwrap();
    let mut index: Index<heapless::Vec<Slot, 256>> = Index::bounded(0);
    flash.run(|source| index.step(&file, source)).unwrap();
    let (mut names, mut cursor) = (Vec::<String>::new(), Cursor::default());
    let listed = flash.run(|source| {
        while let Some(entry) = file.next_tensor(source, &mut cursor, &mut |_| {})? {
            names.push(entry.name.to_string());
        }
        Ok(())
    });
    listed.unwrap();
    for name in names.iter().rev() {
        let name = Name::from(name.as_str());
        assert!(flash.run(|source| index.find(&file, source, &name)).unwrap().is_some());
    }
    flash.release().0
}

#[test]
fn flash_data_is_copied_in_pieces() {
    let bytes: Vec<u8> = (0..10_000_u32).map(|i| i as u8 ^ (i >> 8) as u8).collect();
    let mut buffer = [0; 64];
    let driver = Spi::<16> { bytes: bytes.clone(), read: 0, reads: 0 };
    let mut flash = Flash::new(driver, 5, 9_990, &mut buffer).windows::<2>();
    for (offset, len) in [(0, 9_990), (3, 5), (100, 64), (9_989, 1), (9_990, 0)] {
        let mut out = vec![0; len];
        flash.read(offset, &mut out).unwrap();
        let from = 5 + offset as usize;
        assert_eq!(out, bytes[from..from + len], "{len} bytes at {offset}");
    }
    for (offset, len) in [(9_990, 1), (0, 9_991), (u64::MAX, 2)] {
        assert_eq!(flash.read(offset, &mut vec![0; len]), Err(FlashError::OutOfBounds));
    }
}

#[test]
fn flash_pieces_are_whole_units_in_order() {
    let bytes: Vec<u8> = (0..10_000_u32).map(|i| i as u8 ^ (i >> 8) as u8).collect();
    let mut buffer = [0; 128];
    let driver = Spi::<16> { bytes: bytes.clone(), read: 0, reads: 0 };
    let mut flash = Flash::new(driver, 32, 9_968, &mut buffer).windows::<2>();
    for (offset, len) in [(0, 9_968), (4, 200), (100, 64), (9_967, 1), (9_968, 0)] {
        let (mut joined, mut pieces) = (Vec::new(), 0);
        let span = Span::new(offset, len);
        let read = flash.each_piece(span, &mut |piece| {
            let begins = offset as usize + joined.len();
            assert!(pieces == 0 || begins.is_multiple_of(16), "a piece begins at {begins}");
            assert!((1..=64).contains(&piece.len()), "{} bytes", piece.len());
            joined.extend_from_slice(piece);
            pieces += 1;
        });
        read.unwrap();
        let from = 32 + offset as usize;
        assert_eq!(joined, bytes[from..from + len as usize], "{len} bytes at {offset}");
    }
    for (offset, len) in [(9_968, 1), (0, 9_969), (u64::MAX, 2)] {
        let beyond = flash.each_piece(Span::new(offset, len), &mut |_| panic!("a piece"));
        assert_eq!(beyond, Err(FlashError::OutOfBounds));
    }
}

#[test]
fn flash_payloads_are_not_read() {
    use weighbridge_tests::encode::stb::{Stb, Tensor};
    let file = Stb::new((0..8).map(|id| Tensor::new(id, 0, &[64, 64])).collect()).encode();
    let driver = Spi::<4> { bytes: file.clone(), read: 0, reads: 0 };
    let mut buffer = [0; 512];
    let mut flash = Flash::new(driver, 0, file.len() as u32, &mut buffer);
    let mut opening = Opening::detect();
    let opened = flash.run(|source| opening.step(source, &mut |_| {})).unwrap();
    let mut audit = Audit::new(opened).structure_only();
    flash.run(|source| audit.step(source, &mut [], &mut |f| panic!("{f}"))).unwrap();
    let (driver, _) = flash.release();
    assert!(driver.read * 10 < file.len(), "{} of {} bytes read", driver.read, file.len());
}

#[test]
fn flash_driver_error_is_returned() {
    struct Broken;
    impl ErrorType for Broken {
        type Error = NorFlashErrorKind;
    }
    impl ReadNorFlash for Broken {
        const READ_SIZE: usize = 1;
        fn read(&mut self, _: u32, _: &mut [u8]) -> Result<(), NorFlashErrorKind> {
            Err(NorFlashErrorKind::Other)
        }
        fn capacity(&self) -> usize {
            1 << 20
        }
    }
    let open = |start, len, room| {
        let mut buffer = vec![0; room];
        let mut flash = Flash::new(Broken, start, len, &mut buffer);
        flash.run(|source| Opening::detect().step(source, &mut |_| {}))
    };
    let error = open(0, 100, 64);
    assert_eq!(error, Err(FlashError::Driver(NorFlashErrorKind::Other)));
    let error = open((1 << 20) - 4, 100, 64);
    assert_eq!(error, Err(FlashError::OutOfBounds));
    let error = open(0, 100, 4);
    assert_eq!(error, Err(FlashError::WindowTooSmall { needed: 9 }));
}
