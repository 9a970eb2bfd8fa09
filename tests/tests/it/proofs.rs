//! A model in memory is proved to be sound in one pass, where that can be done: the findings are those
//! of an audit that passes the entries one by one.

use weighbridge_core::{Audit, Finding, Opening, Slot, Source, Stage, Stop};
use weighbridge_tests::DEEP;
use weighbridge_tests::fixtures;
use weighbridge_tests::hard::{chain, repeated};
use weighbridge_tests::survey::{Access, Host, survey, survey_whole};

/// Most requests of one audit.
const REQUESTS: usize = 16;

/// What an audit of a file in memory finds, and the stages in which it asked for memory; with or
/// without memory for a proof. `None` if the file does not open.
fn audit(bytes: &[u8], proves: bool, slots: &mut Vec<Slot>) -> Option<(Vec<String>, Vec<Stage>)> {
    let source = Source::whole(bytes);
    let mut found = Vec::new();
    let mut sink = |finding: Finding| found.push(format!("{finding:?}"));
    let file = Opening::detect().step(&source, &mut sink).ok()?;
    let mut audit = Audit::new(file).structure_only().seeded(1);
    let mut asked = Vec::new();
    loop {
        assert!(asked.len() < REQUESTS, "it asks for memory without end: {asked:?}");
        match audit.step(&source, slots, &mut sink) {
            Ok(()) | Err(Stop::Invalid(_)) => break,
            Err(Stop::NeedSlots { needed }) => {
                asked.push(audit.stage());
                if audit.stage() == Stage::Tensors && !proves {
                    audit.skip(&mut sink);
                } else {
                    slots.resize(needed as usize, Slot::EMPTY);
                }
            }
            Err(stop) => panic!("a file in memory needs {stop:?}"),
        }
    }
    found.sort();
    Some((found, asked))
}

/// The slots that all audits have used: they hold anything.
#[derive(Default)]
struct Used(Vec<Slot>);

impl Used {
    /// Compares the two ways. Returns whether a proof was tried, and whether it took the place of other
    /// passes that need memory.
    fn compare(&mut self, name: &str, bytes: &[u8]) -> (bool, bool) {
        let Some((listed, passes)) = audit(bytes, false, &mut Vec::new()) else {
            return (false, false);
        };
        let (found, asked) = audit(bytes, true, &mut Vec::new()).unwrap();
        assert_eq!(found, listed, "{name}");
        // Again, with memory that others have used.
        let (found, _) = audit(bytes, true, &mut self.0).unwrap();
        assert_eq!(found, listed, "{name}, in used memory");
        (asked.contains(&Stage::Tensors), asked.len() < passes.len())
    }
}

/// A small generator, so that each run tries the same.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, most: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % most.max(1) as u64) as usize
    }

    /// Changes some numbers in a file: fields of vtables, offsets, counts, values.
    fn change(&mut self, bytes: &mut [u8]) {
        for _ in 0..=self.below(3) {
            let width = [1, 2, 4][self.below(3)];
            let at = self.below(bytes.len() / width) * width;
            let other = self.below(bytes.len() / width) * width;
            let step = [1, 2, 4, 8, 12, 16, 0_u8.wrapping_sub(4), 0_u8.wrapping_sub(8)];
            match self.below(6) {
                0 => bytes[at] = bytes[at].wrapping_add(step[self.below(8)]),
                1 => bytes[at] = [0, 1, 2, 3, 255][self.below(5)],
                2 => bytes.copy_within(other..other + width, at),
                3 => bytes[at] ^= 1 << self.below(8),
                4 => bytes[at..at + width].fill(0),
                // An offset that leads to another object.
                _ => {
                    let target = self.below(bytes.len() / 4) * 4;
                    let from = at / 4 * 4;
                    let offset = (target as u32).wrapping_sub(from as u32);
                    if let Some(place) = bytes.get_mut(from..from + 4) {
                        place.copy_from_slice(&offset.to_le_bytes());
                    }
                }
            }
        }
    }
}

/// The fixtures of some formats that are quick to pass.
fn small(formats: &[&str]) -> Vec<Vec<u8>> {
    let all = fixtures::all().into_iter().filter(|(format, _)| formats.contains(format));
    let all = all.flat_map(|(_, fixtures)| fixtures).map(|fixture| fixture.bytes);
    all.filter(|bytes| (1..1 << 14).contains(&bytes.len())).collect()
}

#[test]
fn proof_finds_what_an_audit_finds_in_every_fixture() {
    let (mut proved, mut used) = (0, Used::default());
    for (format, fixtures) in fixtures::all() {
        for fixture in fixtures {
            let (_, is_proved) =
                used.compare(&format!("{format} {}", fixture.name), &fixture.bytes);
            proved += usize::from(is_proved);
        }
    }
    assert!(proved > 10, "{proved}");
}

#[test]
fn proof_takes_the_place_of_other_passes() {
    let mut used = Used::default();
    for layers in [1, 7, 300] {
        assert_eq!(used.compare("a chain", &chain(layers)), (true, true), "{layers}");
    }
    // One tensor many times over: each is an entry.
    used.compare("repeated", &repeated(40));
}

#[test]
fn proof_finds_what_an_audit_finds_in_changed_models() {
    let mut numbers = Numbers(0x9E37_79B9_7F4A_7C15);
    let mut models = small(&["tflite"]);
    models.extend((1..4).flat_map(|layers| vec![chain(layers); 40]));
    let rounds = if DEEP { 1_000_000 } else { 100_000 };
    let (mut tried, mut proved, mut used) = (0, 0, Used::default());
    for round in 0..rounds {
        let mut bytes = models[numbers.below(models.len())].clone();
        numbers.change(&mut bytes);
        let (is_tried, is_proved) = used.compare(&format!("round {round}"), &bytes);
        (tried, proved) = (tried + usize::from(is_tried), proved + usize::from(is_proved));
    }
    // Enough of them pass, and enough do not.
    assert!(proved * 20 > rounds && tried > proved + rounds / 20, "{tried} {proved} of {rounds}");
}

/// In parts, a flatbuffer is walked step by step; in memory, in one pass.
#[test]
fn pass_in_memory_finds_what_a_walk_in_parts_finds_in_changed_files() {
    let mut numbers = Numbers(0xD1B5_4A32_D192_ED03);
    let models = small(&["tflite", "executorch"]);
    for round in 0..if DEEP { 100_000 } else { 10_000 } {
        let mut bytes = models[numbers.below(models.len())].clone();
        numbers.change(&mut bytes);
        let parts = survey(&mut Host::new(&bytes, Access::Rounded(64)), None).unwrap();
        assert_eq!(survey_whole(&bytes, None), parts, "round {round}");
    }
}
