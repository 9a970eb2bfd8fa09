//! Weights that are used where they lie: what a program on a microcontroller does, run on
//! the host. `MODEL` stands for flash that is mapped into memory.

use weighbridge_core::{
    Audit, Cursor, File, Finding, Name, NameEncoding, Profile, Severity, Slot, Source, Stop,
};

/// An STB file with one tensor: number 7, two `f32`. In firmware this is
/// `include_aligned!(64, "model.stb")`.
static MODEL: [u8; 72] = {
    let mut bytes = [0; 72];
    let header = *b"STB0\x01\0\x01\0\0\0\0\0\0\0\0\0\x40\0\0\0\0\0\0\0\x48\0\0\0\0\0\0\0";
    let entry = *b"\x07\0\x01\0\x40\0\0\0\0\0\0\0\x08\0\0\0\0\0\0\0\x02\0\0\0";
    let data = *b"\0\0\xC0\x3F\0\0\0\xC0";
    let mut i = 0;
    while i < 32 {
        bytes[i] = header[i];
        i += 1;
    }
    while i < 32 + 24 {
        bytes[i] = entry[i - 32];
        i += 1;
    }
    i = 64;
    while i < 72 {
        bytes[i] = data[i - 64];
        i += 1;
    }
    bytes
};

fn main() -> Result<(), Stop> {
    let source = Source::whole(&MODEL);
    let mut worst: Option<Severity> = None;
    let mut sink = |finding: Finding| worst = worst.max(Some(finding.severity()));

    let file = File::open(&source, &mut sink)?;
    Audit::new(file).structure_only().step(&source, &mut [Slot::EMPTY; 8], &mut sink)?;
    // Nothing runs from a file that breaks a rule.
    assert!(worst.is_none_or(|worst| Profile::Strict.accepts(worst)));

    let name = Name::new(&[7], NameEncoding::Number);
    let tensor = file.find(&source, &name, &mut Cursor::default())?;
    let weights = tensor.and_then(|tensor| {
        let bytes = source.get(tensor.raw()?).ok()?;
        tensor.elements_of::<f32>(bytes)
    });
    for weight in weights.iter().flat_map(|weights| weights.iter()) {
        println!("{weight}");
    }
    Ok(())
}
