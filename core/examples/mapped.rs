//! Uses weights in place, as a program on a microcontroller does, but runs on the host. `MODEL`
//! stands for memory-mapped flash.
#![cfg_attr(
    test,
    allow(
        clippy::disallowed_macros,
        clippy::expect_used,
        clippy::indexing_slicing,
        reason = "a test may fail"
    )
)]

use weighbridge_core::{
    Cursor, Elements, File, Finding, MappedAudit, Name, NameEncoding, Profile, Severity, Slot,
    Source, Stop,
};

/// An STB file with one tensor: number 7, two `f32`. In firmware this is
/// `include_aligned!(64, "model.stb")`.
static MODEL: [u8; 72] = *b"STB0\x01\0\x01\0\0\0\0\0\0\0\0\0\x40\0\0\0\0\0\0\0\x48\0\0\0\0\0\0\0\
    \x07\0\x01\0\x40\0\0\0\0\0\0\0\x08\0\0\0\0\0\0\0\x02\0\0\0\0\0\0\0\0\0\0\0\
    \0\0\xC0\x3F\0\0\0\xC0";

/// The weights of tensor `number`, in place; `None` if the file breaks a rule.
fn weights(flash: &[u8], number: u8) -> Result<Option<Elements<'_, f32>>, Stop> {
    let source = Source::whole(flash);
    let mut worst: Option<Severity> = None;
    let mut sink = |finding: Finding| worst = worst.max(Some(finding.severity()));

    let file = File::open(&source, &mut sink)?;
    MappedAudit::new(file).step(&source, &mut [Slot::EMPTY; 8], &mut sink)?;
    if worst.is_some_and(|worst| !Profile::Strict.accepts(worst)) {
        return Ok(None);
    }
    let numbers = [number];
    let name = Name::new(&numbers, NameEncoding::Number);
    let tensor = file.find(&source, &name, &mut Cursor::default())?;
    Ok(tensor.and_then(|tensor| tensor.elements_of(source.get(tensor.raw()?).ok()?)))
}

fn main() -> Result<(), Stop> {
    for weight in weights(&MODEL, 7)?.iter().flat_map(Elements::iter) {
        println!("{weight}");
    }
    Ok(())
}

#[test]
fn weights_are_read_in_place() -> Result<(), Stop> {
    let found = weights(&MODEL, 7)?.expect("the model has tensor 7");
    assert_eq!(found.iter().collect::<Vec<_>>(), [1.5, -2.0]);
    assert!(weights(&MODEL, 8)?.is_none());
    let mut broken = MODEL;
    broken[24] = 71; // the recorded file length
    assert!(weights(&broken, 7)?.is_none());
    Ok(())
}
