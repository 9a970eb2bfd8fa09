//! Links only if nothing that is called here can panic.
//!
//! Every public function that opens, lists, audits or looks up is called with
//! values unknown at link time. The panic handler calls a symbol that does not
//! exist, so a path to it in any of these functions is a linker error.
//! `Display` and `Debug`, which the core itself never calls, and the codecs are
//! not covered.

#![no_std]
#![no_main]

#[path = "../smallest.rs"]
#[allow(dead_code, reason = "only the choice of the audit is shared")]
mod smallest;

use core::hint::black_box;
use smallest::Audit;
use weighbridge_core::{
    Cursor, Dims, File, Finding, Format, Index, Metadata, Name, Opening, Profile, Slot, Source,
    Span, Stop, Tensor,
};

unsafe extern "C" {
    fn weighbridge_reaches_a_panic() -> !;
}

#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    // SAFETY: the function exists nowhere, so the call never links.
    unsafe { weighbridge_reaches_a_panic() }
}

/// Values that a caller passes.
pub struct Input<'a> {
    source: Source<'a>,
    slots: &'a mut [Slot],
    sink: &'a mut dyn FnMut(Finding),
    text: &'a str,
    other: Name<'a>,
    format: Option<Format>,
    profile: Profile,
    opening: Opening,
    audit: Option<Audit>,
    cursor: Cursor,
    number: u64,
    #[cfg(feature = "spi")]
    driver: &'a dyn Fn(u32, &mut [u8]) -> bool,
    #[cfg(feature = "spi")]
    buffer: &'a mut [u8],
}

#[unsafe(no_mangle)]
pub fn entry(input: &mut Input<'_>) -> Result<(), Stop> {
    #[cfg(feature = "faulty")]
    black_box(input.text.as_bytes()[black_box(1)]);
    let file = opened(input)?;
    listed(input, &file)?;
    audited(input, file)?;
    #[cfg(feature = "spi")]
    spi::entry(input);
    found(input, &file)
}

fn opened(input: &mut Input<'_>) -> Result<File, Stop> {
    let source = &input.source;
    let _ = black_box(File::open(source, input.sink));
    if let Some(format) = input.format {
        let _ = black_box(File::open_as(format, source, input.sink));
        black_box((format.name(), format.title(), format.extensions(), format.is_available()));
        black_box(format.rules());
    }
    let head = source.get(Span::new(0, 9)).unwrap_or_default();
    black_box((Format::of_head(head, input.number), Format::by_name(input.text)));
    black_box((Format::by_file_name(input.text), source.is_exact(), source.is_empty()));
    let file = input.opening.step(source, input.sink)?;
    black_box((file.version(), file.recorded_len(), file.tensor_count(), file.format()));
    Ok(file)
}

fn listed(input: &mut Input<'_>, file: &File) -> Result<(), Stop> {
    let (source, text, other, number) = (&input.source, input.text, input.other, input.number);
    let cursor = &mut input.cursor;
    while let Some(meta) = file.next_meta(source, cursor, input.sink)? {
        read_meta(text, other, source, file, &meta)?;
    }
    while let Some(tensor) = file.next_tensor(source, cursor, input.sink)? {
        read_name(text, other, tensor.name);
        read_tensor(number, source, file, &tensor)?;
        while let Some(meta) = file.next_attribute(source, &tensor, cursor)? {
            read_meta(text, other, source, file, &meta)?;
        }
    }
    while let Some(region) = file.next_region(source, cursor)? {
        black_box((region, region.part.name(), region.span.end()));
    }
    black_box((cursor.index(), cursor.is_done()));
    own(source, file)
}

fn read_meta(
    text: &str,
    other: Name<'_>,
    source: &Source<'_>,
    file: &File,
    meta: &Metadata,
) -> Result<(), Stop> {
    black_box(file.value(source, meta)?);
    read_name(text, other, meta.key.read(source)?);
    Ok(())
}

fn read_name(text: &str, other: Name<'_>, name: Name<'_>) {
    black_box((name == *text, name.cmp(&other), name == other, name.is_utf8(), name.is_empty()));
    black_box((name.as_str(), name.as_bytes(), name.bytes().count(), name.chars().count()));
}

fn read_tensor(number: u64, source: &Source<'_>, file: &File, tensor: &Tensor) -> Result<(), Stop> {
    let dims: Dims<'_> = tensor.dims(source)?;
    black_box((dims.clone().count(), dims.product(), tensor.bytes(), tensor.dims.rank()));
    black_box(file.chunk(source, tensor, number)?);
    if let Some(span) = tensor.raw() {
        let bytes = source.get(span)?;
        black_box(source.run(span.offset));
        let element = tensor.dtype.element(bytes, number, tensor.endianness);
        black_box((element, element.map(|element| element.to_f64())));
    }
    black_box((tensor.dtype.name(), tensor.layout.name(), tensor.encoding.name()));
    Ok(())
}

fn audited(input: &mut Input<'_>, file: File) -> Result<(), Stop> {
    let Some(audit) = input.audit.or(smallest::audit(file)) else { return Ok(()) };
    let mut audit = audit.seeded(input.number);
    if input.number == 1 {
        audit = audit.structure_only();
    }
    let profile = input.profile;
    let mut accepted = true;
    let mut sink = |finding: Finding| {
        accepted &= profile.accepts(finding.severity());
        black_box((finding.rule.info(), finding.subject()));
    };
    let result = audit.step(&input.source, input.slots, &mut sink);
    audit.skip(&mut sink);
    black_box((audit.stage(), audit.position(), accepted));
    result
}

fn found(input: &mut Input<'_>, file: &File) -> Result<(), Stop> {
    let name = Name::from(input.text);
    black_box(file.find(&input.source, &name, &mut input.cursor)?);
    let mut index = Index::new(&mut *input.slots, input.number);
    index.step(file, &input.source)?;
    black_box((index.len(), index.is_empty(), index.find(file, &input.source, &name)?));
    Ok(())
}

/// Fixed-size memory, and unmapped flash.
#[cfg(feature = "spi")]
mod spi {
    use super::{File, Index, Input, Name, Slot, black_box};
    use embedded_storage::nor_flash::{ErrorType, NorFlashErrorKind, ReadNorFlash};
    use weighbridge_core::{Findings, Flash, heapless::Vec};

    struct Driver<'a>(&'a dyn Fn(u32, &mut [u8]) -> bool, usize);

    impl ErrorType for Driver<'_> {
        type Error = NorFlashErrorKind;
    }

    impl ReadNorFlash for Driver<'_> {
        const READ_SIZE: usize = 4;

        fn read(&mut self, offset: u32, bytes: &mut [u8]) -> Result<(), NorFlashErrorKind> {
            (self.0)(offset, bytes).then_some(()).ok_or(NorFlashErrorKind::Other)
        }

        fn capacity(&self) -> usize {
            self.1
        }
    }

    pub fn entry(input: &mut Input<'_>) -> Option<()> {
        let driver = Driver(input.driver, input.number as usize);
        let flash = Flash::new(driver, input.number as u32, 1 << 20, input.buffer);
        let mut flash = flash.windows::<3>();
        let mut findings = Findings::<4>::new();
        let opened = flash.run(|source| File::open(source, &mut |finding| findings.push(finding)));
        black_box((findings.total(), findings.dropped(), findings.worst(), findings.first()));
        black_box(findings.accepted(input.profile));
        let file = black_box(opened).ok()?;
        let mut index: Index<Vec<Slot, 16>> = Index::bounded(input.number);
        black_box(flash.run(|source| index.step(&file, source))).ok()?;
        let name = Name::from(input.text);
        black_box(flash.run(|source| index.find(&file, source, &name))).ok()?;
        let mut bytes = [0; 64];
        black_box(flash.read(input.number, &mut bytes)).ok()?;
        let span = weighbridge_core::Span::new(input.number, input.number);
        black_box(flash.each_piece(span, &mut |bytes| _ = black_box(bytes))).ok()?;
        black_box((bytes, flash.release().1));
        Some(())
    }
}

/// Functions specific to one format.
fn own(source: &Source<'_>, file: &File) -> Result<(), Stop> {
    let tensor = black_box(Tensor::default());
    match file {
        #[cfg(feature = "stb")]
        File::Stb(header) => {
            black_box((header.id(source, &tensor)?, header.data_offset()));
            black_box(header.shape_table_index(source, &tensor)?);
        }
        #[cfg(feature = "oinf")]
        File::Oinf(header) => {
            black_box(header.quantization(source, &tensor)?);
        }
        #[cfg(feature = "gguf")]
        File::Gguf(header) => {
            use weighbridge_core::format::gguf::{Item, Items};
            black_box((header.data_at(), header.alignment(), header.dtype_code(source, &tensor)?));
            let items = Items::new(source.get(tensor.name.span())?, file.endianness());
            black_box((items.left(), items.dtype()));
            for item in items {
                black_box(matches!(item, Item::List(_)));
                black_box(item);
            }
        }
        #[cfg(feature = "tflite")]
        File::Tflite(header) => {
            black_box((header.operators(), header.custom_codes(), header.signatures()));
            black_box((header.input(source, 1, 2)?, header.output(source, 1, 2)?));
        }
        _ => {
            black_box((source, tensor));
        }
    }
    Ok(())
}
