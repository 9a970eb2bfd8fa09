//! Runs a small model from flash: checks the file, finds its tensors by name,
//! and multiplies with the weights in place.
//!
//! The models are in the image, one per format. If QEMU's loader puts a file
//! into memory, that file is used instead.

#![no_std]
#![no_main]

use core::fmt::Write;
use cortex_m_rt::{entry, exception};
use weighbridge_core::{
    Audit, Cursor, File, Finding, Index, Name, Severity, Slot, Source, Tensor, include_aligned,
};
use weighbridge_firmware::semihosting::{Console, leave};
use weighbridge_firmware::input::records;
use weighbridge_firmware::mlp::{INPUTS, Mlp, OUTPUTS, TENSORS};

/// Constants, so they are in flash; aligned as the formats require.
const MODELS: &[(&str, &[u8])] = &[
    #[cfg(feature = "bintensors")]
    ("bintensors", include_aligned!(8, "../../models/mlp.bt")),
    #[cfg(feature = "executorch")]
    ("executorch", include_aligned!(16, "../../models/mlp.pte")),
    #[cfg(feature = "oinf")]
    ("oinf", include_aligned!(8, "../../models/mlp.oinf")),
    #[cfg(feature = "stb")]
    ("stb", include_aligned!(64, "../../models/mlp.stb")),
    #[cfg(feature = "tflite")]
    ("tflite", include_aligned!(16, "../../models/mlp.tflite")),
    #[cfg(feature = "ztensor")]
    ("ztensor", include_aligned!(64, "../../models/mlp.zt")),
];

/// Working storage for the audit and the index: the models have up to eight tensors
/// and fewer than 200 parts.
static mut SLOTS: [Slot; 200] = [Slot::EMPTY; 200];

#[entry]
fn main() -> ! {
    // SAFETY: taken once.
    let slots = unsafe { &mut *(&raw mut SLOTS) };
    let mut console = Console::open();
    let mut placed = false;
    let mut sound = true;
    for record in records() {
        placed = true;
        sound &= run(&mut console, "placed", record.bytes, slots).is_some();
    }
    if !placed {
        for (format, bytes) in MODELS {
            sound &= run(&mut console, format, bytes, slots).is_some();
        }
    }
    console.exit(sound)
}

#[exception]
unsafe fn HardFault(_: &cortex_m_rt::ExceptionFrame) -> ! {
    leave(false)
}

/// Checks a file and classifies the points with it; `None` if that is not
/// possible, after printing the reason.
fn run(console: &mut Console, title: &str, bytes: &[u8], slots: &mut [Slot]) -> Option<()> {
    let source = Source::whole(bytes);
    let mut valid = true;
    let mut sink = |finding: Finding| {
        valid &= finding.severity() < Severity::Violation;
        let rule = finding.rule.id();
        let _ = writeln!(console, "{title}: {rule} at offset {}: {finding}", finding.offset);
    };
    let file = File::open(&source, &mut sink).ok()?;
    let audited = Audit::new(file).structure_only().step(&source, slots, &mut sink);
    if audited.is_err() || !valid {
        return None;
    }
    if !takes_points(&file, &source) {
        let _ = writeln!(console, "{title}: a model with other inputs or outputs");
        return None;
    }
    let Some(model) = find(&file, &source, slots) else {
        let _ = writeln!(console, "{title}: not the model that this program runs");
        return None;
    };
    model.print(console, title);
    Some(())
}

/// Whether a model that says what it takes and returns takes points and returns classes. An
/// interpreter gets the pointer to a model only after this.
fn takes_points(file: &File, source: &Source<'_>) -> bool {
    #[cfg(feature = "tflite")]
    if let File::Tflite(header) = file {
        let ends = [(header.input(source, 0, 0), INPUTS), (header.output(source, 0, 0), OUTPUTS)];
        return ends.into_iter().all(|(end, len)| {
            let Ok(Some(end)) = end else { return false };
            let shape = [1, len as u64];
            tensor_at(file, source, end)
                .is_some_and(|tensor| tensor.dims(source).is_ok_and(|dims| dims.eq(shape)))
        });
    }
    let _ = (file, source, INPUTS, OUTPUTS);
    true
}

/// The tensor at this place in the listing.
#[cfg(feature = "tflite")]
fn tensor_at(file: &File, source: &Source<'_>, place: u32) -> Option<Tensor> {
    let mut cursor = Cursor::default();
    loop {
        let entry = file.next_tensor(source, &mut cursor, &mut |_| {}).ok()??;
        if entry.index == place {
            return Some(entry.tensor);
        }
    }
}

/// The weights, in place in the file; `None` if the file has others.
fn find<'a>(file: &File, source: &Source<'a>, slots: &mut [Slot]) -> Option<Mlp<'a>> {
    let mut index = Index::new(slots, 0);
    index.step(file, source).ok()?;
    let mut weights = [[].as_slice(); TENSORS.len()];
    for (weights, (name, id, shape)) in weights.iter_mut().zip(TENSORS) {
        let named = |name: &str| index.find(file, source, &Name::from(name)).ok()?;
        *weights = numbers(source, &named(name).or_else(|| named(id))?, shape)?;
    }
    Some(Mlp(weights))
}

/// The elements of a tensor in place, if it has this shape and is aligned.
fn numbers<'a>(source: &Source<'a>, tensor: &Tensor, shape: &[u64]) -> Option<&'a [f32]> {
    if !tensor.dims(source).ok()?.eq(shape.iter().copied()) {
        return None;
    }
    tensor.slice_of(source.get(tensor.raw()?).ok()?)
}
