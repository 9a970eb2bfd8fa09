//! Opens and audits any file that QEMU's loader places in memory, and prints the
//! results: the same core as on a host, on a 32-bit target.

#![no_std]
#![no_main]

use core::fmt::Write;
use cortex_m_rt::{entry, exception};
#[cfg(feature = "decode")]
use weighbridge_core::Scratch;
use weighbridge_core::{
    Cursor, File, Finding, Format, Index, Name, Opening, Severity, Slot, Source, Span, Stop, Tensor,
};
use weighbridge_firmware::semihosting::{Console, leave};
use weighbridge_firmware::input::{Record, records};
use weighbridge_firmware::smallest::{self, Audit};
use weighbridge_firmware::{stack, ticks};

/// Storage for the audit and the index; files that need more entries are not
/// supported.
const SLOTS: usize = 70_000;
static mut STORAGE: [Slot; SLOTS] = [Slot::EMPTY; SLOTS];

#[entry]
fn main() -> ! {
    // SAFETY: taken once.
    let slots = unsafe { &mut *(&raw mut STORAGE) };
    let mut console = Console::open();
    ticks::start();
    for record in records() {
        let printed = if record.measure {
            measure(&mut console, &record, slots)
        } else {
            check(&mut console, &record, slots)
        };
        console.flush();
        if printed.is_err() {
            console.exit(false);
        }
    }
    console.exit(true)
}

#[exception]
unsafe fn HardFault(_: &cortex_m_rt::ExceptionFrame) -> ! {
    leave(false)
}

/// Prints everything that a host can compare: findings, tensors, lookups.
fn check(console: &mut Console, record: &Record, slots: &mut [Slot]) -> core::fmt::Result {
    let source = Source::whole(record.bytes);
    let name = last_name(record, &source);
    let (found, used) = stack::used(|| work(record, &name, slots));
    let mut digest = Digest::new();
    let (mut count, mut worst) = (0, Severity::Unchecked);
    let mut sink = |finding: Finding| {
        count += 1;
        worst = worst.max(finding.severity());
        // The order of findings is not guaranteed.
        digest.0 ^= Digest::of(&finding).0;
    };
    let opened = Opening::of(Format::by_name(record.format)).step(&source, &mut sink);
    let (mut tensors, mut lookups) = (0, 0);
    let mut listed = Digest::new();
    if let Ok(file) = opened {
        lookups = look_up(&file, &source, slots);
        match file.format() {
            #[cfg(feature = "decode")]
            Format::Idv => audit_blocks(file, &source, slots, &mut sink),
            _ => audit(file, &source, slots, &mut sink),
        }
        let mut cursor = Cursor::default();
        while let Ok(Some(entry)) = file.next_tensor(&source, &mut cursor, &mut |_| {}) {
            tensors += 1;
            // Where a shape is stored depends on the build.
            let mut tensor = entry.tensor;
            let rank = core::mem::take(&mut tensor.dims).rank();
            let _ = write!(listed, "{tensor:?} {rank}");
        }
    }
    // The numeric details of a finding are available only with `details`.
    write!(console, "file {} findings {count} ", worst.name())?;
    match cfg!(feature = "full") {
        true => write!(console, "{:016x}", digest.0)?,
        false => write!(console, "-")?,
    }
    let Span { offset: at, len } = found.unwrap_or_default();
    writeln!(
        console,
        " tensors {tensors} {:016x} lookups {lookups} last {at}+{len} stack {used}",
        listed.0
    )
}

/// Opens, audits and looks up without any output: the part whose stack is
/// measured.
#[inline(never)]
fn work(record: &Record, name: &Name<'_>, slots: &mut [Slot]) -> Option<Span> {
    smallest::find(Format::by_name(record.format), record.bytes, name, slots, |_| {})
}

/// The name of the last tensor that can be listed; empty if there is none.
fn last_name<'a>(record: &'a Record, source: &Source<'a>) -> Name<'a> {
    let mut last = Name::from("");
    let opened = Opening::of(Format::by_name(record.format)).step(source, &mut |_| {});
    if let Ok(file) = opened {
        each(&file, source, |tensor| last = tensor.name(source).unwrap_or(last));
    }
    last
}

/// Number of tensors that an index finds by name.
fn look_up(file: &File, source: &Source<'_>, slots: &mut [Slot]) -> u32 {
    let mut index = Index::new(slots, 0);
    if index.step(file, source).is_err() {
        return 0;
    }
    let mut found = 0;
    each(file, source, |tensor| {
        let Ok(name) = tensor.name(source) else { return };
        found += u32::from(matches!(index.find(file, source, &name), Ok(Some(_))));
    });
    found
}

/// Buffer for decoded blocks.
#[cfg(feature = "decode")]
static mut DECODED: [u8; 64 << 10] = [0; 64 << 10];

/// Audits a data view down to the last byte of its blocks. Gives up on stages
/// that need more memory than there is.
#[cfg(feature = "decode")]
fn audit_blocks(
    file: File,
    source: &Source<'_>,
    slots: &mut [Slot],
    sink: &mut dyn FnMut(Finding),
) {
    // SAFETY: no other call is under way.
    let mut scratch = Scratch::new(unsafe { &mut *(&raw mut DECODED) });
    let mut audit = Audit::new(file);
    while audit.step_with(source, slots, &mut scratch, sink).is_err() {
        audit.skip(sink);
    }
}

/// Runs the audit; gives up on a stage that needs more slots than there are.
fn audit(file: File, source: &Source<'_>, slots: &mut [Slot], sink: &mut dyn FnMut(Finding)) {
    let Some(audit) = smallest::audit(file) else { return };
    let mut audit = audit.structure_only();
    while let Err(Stop::NeedSlots { .. }) = audit.step(source, slots, sink) {
        audit.skip(sink);
    }
}

fn each(file: &File, source: &Source<'_>, mut call: impl FnMut(Tensor)) {
    let mut cursor = Cursor::default();
    while let Ok(Some(entry)) = file.next_tensor(source, &mut cursor, &mut |_| {}) {
        call(entry.tensor);
    }
}

/// Prints how many ticks each step takes or, for an empty file, how many bytes of
/// memory each value takes.
fn measure(console: &mut Console, record: &Record, slots: &mut [Slot]) -> core::fmt::Result {
    if record.bytes.is_empty() {
        let [file, cursor, tensor] = [size_of::<File>(), size_of::<Cursor>(), size_of::<Tensor>()];
        let [audit, slot, index] =
            [size_of::<Audit>(), size_of::<Slot>(), size_of::<Index<&mut [Slot]>>()];
        write!(
            console,
            "file {file} cursor {cursor} tensor {tensor} audit {audit} slot {slot} index {index}"
        )?;
        #[cfg(feature = "decode")]
        write!(console, " scratch {}", size_of::<Scratch<'_>>())?;
        return writeln!(console);
    }
    let source = Source::whole(record.bytes);
    let format = Format::by_name(record.format);
    let (opened, open) = ticks::of(|| Opening::of(format).step(&source, &mut |_| {}));
    let Ok(file) = opened else { return writeln!(console, "does not open") };
    let (count, list) = ticks::of(|| {
        let mut count = 0;
        each(&file, &source, |_| count += 1);
        count
    });
    let ((), audited) = ticks::of(|| audit(file, &source, slots, &mut |_| {}));
    let mut index = Index::new(slots, 0);
    let (indexed, build) = ticks::of(|| index.step(&file, &source));
    let mut find = Some(0);
    each(&file, &source, |tensor| {
        let Ok(name) = tensor.name(&source) else { return };
        let (_, ticks) = ticks::of(|| index.find(&file, &source, &name));
        find = find.zip(ticks).map(|(sum, ticks)| sum + ticks);
    });
    writeln!(
        console,
        "tensors {count} indexed {} open {} list {} audit {} index {} find {}",
        indexed.is_ok(),
        Ticks(open),
        Ticks(list),
        Ticks(audited),
        Ticks(build),
        Ticks(find),
    )
}

struct Ticks(Option<u32>);

impl core::fmt::Display for Ticks {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self.0 {
            Some(ticks) => write!(f, "{ticks}"),
            None => f.write_str("over"),
        }
    }
}

/// FNV-1a of everything written to it.
struct Digest(u64);

impl Digest {
    fn new() -> Self {
        Digest(0xCBF2_9CE4_8422_2325)
    }

    fn of(value: &dyn core::fmt::Debug) -> Self {
        let mut digest = Digest::new();
        let _ = write!(digest, "{value:?}");
        digest
    }
}

impl Write for Digest {
    fn write_str(&mut self, text: &str) -> core::fmt::Result {
        for byte in text.bytes() {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01B3);
        }
        Ok(())
    }
}
