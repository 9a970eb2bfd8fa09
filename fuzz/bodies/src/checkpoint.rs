//! Whole checkpoints with a few damaged bytes. Hosts make the index of a checkpoint, so this target
//! drives the host.

use crate::damaged::{Damage, apply};
use crate::facts;
use arbitrary::Unstructured;
use weighbridge::{Error, Goal, Model, Options, PickleCode, Poll, Profile, Session, Verdict};
use weighbridge_tests::fixtures::pytorch;

/// Ranges that a check may ask for, per byte of the file, and for a file of any length.
const PER_BYTE: usize = 2;
const BASE: usize = 200;

/// Bytes of a path, with the mark of what is left out.
const PATH: usize = (1 << 10) + 8;

/// What a check says: the verdict, and each finding with its place.
type Said = (Verdict, Vec<(String, u64, String)>);

/// Checks a damaged checkpoint in one piece and in pieces, and reads its tensors.
///
/// # Panics
/// If the answers differ, if a finding lies outside the file, if a check does not end, or if a valid
/// checkpoint cannot be read.
pub fn damaged(input: &[u8]) {
    let bytes = file(input);
    let whole = said(Session::whole(&bytes, Options::new()), &bytes);
    let pieces = said(Session::new(bytes.len() as u64, Options::new()), &bytes);
    assert_eq!(pieces, whole, "in pieces");
    facts::note(&format!("{whole:?}"));
    operations(&bytes);
    let Ok(model) = Model::from_bytes(&bytes) else {
        assert_ne!(whole.0, Verdict::Valid, "a valid file opens");
        return;
    };
    for storage in model.storages().unwrap_or_default() {
        assert!(storage.used <= storage.size, "{storage:?}");
    }
    for tensor in model.tensors() {
        let Ok(tensor) = tensor else {
            assert_ne!(whole.0, Verdict::Valid, "tensors of a valid file are listed");
            return;
        };
        let mut len = 0;
        let read = tensor.canonical(|piece| {
            len += piece.len() as u64;
            Ok::<(), Error>(())
        });
        match read {
            Ok(()) => assert_eq!(tensor.decoded_len().ok(), Some(len), "{}", tensor.name()),
            Err(Error::Unsupported(_) | Error::Memory(_)) => {}
            Err(error) => assert_ne!(whole.0, Verdict::Valid, "{}: {error}", tensor.name()),
        }
    }
}

/// Lists the operations of each pickle, and where its imports lead.
fn operations(bytes: &[u8]) {
    let report = weighbridge::check(bytes).unwrap_or_else(|error| panic!("{error}"));
    let Some(pickles) = report.pickles() else { return };
    for part in pickles.parts() {
        let from = part.offset() as usize;
        let Some(code) = PickleCode::new(part, &bytes[from..from + part.len() as usize]) else {
            continue;
        };
        let all = code.around(&[0], usize::MAX);
        assert!(all.is_sorted_by(|one, next| one.number < next.number), "{all:?}");
        let near = code.around(&[part.offset(), part.offset() + part.len() / 2], 1);
        assert!(near.iter().filter(|it| it.fault.is_none()).count() <= 6, "{near:?}");
        for global in pickles.globals() {
            let path = code.path(global).unwrap_or_default();
            assert!(path.len() <= PATH, "{path}");
        }
    }
}

/// The damaged file described by an input.
fn file(input: &[u8]) -> Vec<u8> {
    let mut choices = Unstructured::new(input);
    let seed = usize::from(choices.arbitrary().unwrap_or(0_u8));
    let all: Vec<_> = pytorch::all().into_iter().filter(|it| it.breaks.is_empty()).collect();
    let mut bytes = all[seed % all.len()].bytes.clone();
    let damages = choices.arbitrary_iter::<Damage>().into_iter().flatten().flatten();
    for damage in damages.take(6) {
        let len = bytes.len().max(1);
        apply(&mut bytes, damage, |at| usize::from(at) % len);
    }
    bytes
}

fn said(mut session: Session<'_>, bytes: &[u8]) -> Said {
    let most = PER_BYTE * bytes.len() + BASE;
    for asked in 0.. {
        assert!(asked < most, "it makes no progress");
        let polled = session.poll(Goal::Payloads).unwrap_or_else(|error| panic!("{error}"));
        let Poll::Need(ranges) = polled else { break };
        for range in ranges {
            let at = range.offset as usize;
            session.supply(range.offset, &bytes[at..at + range.len as usize]);
        }
    }
    let report = session.report();
    let mut found: Vec<_> = report
        .findings()
        .iter()
        .map(|it| (it.rule().to_string(), it.offset(), it.message().to_string()))
        .collect();
    for (rule, at, _) in &found {
        assert!(*at <= bytes.len() as u64, "{rule} at {at}");
    }
    found.sort();
    (report.verdict(Profile::Strict), found)
}
