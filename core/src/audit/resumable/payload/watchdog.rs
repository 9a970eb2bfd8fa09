//! Guarantees that the audit ends for every host that serves its requests.
//!
//! A request is answered once the host has provided what was requested. If the same state comes
//! back after an answer, no host can make progress, so the audit reports an internal error and
//! continues after the current tensor or stage. This terminates, because it passes a tensor or a
//! stage each time.

use super::Streams;
use crate::audit::Stage;
use crate::audit::resumable::Audit;
use crate::base::features::SWEEP;
use crate::input::{Source, Span};
use crate::parse::{Reader, Stop};
use crate::rule::{EntryKind, general::INTERNAL};
use core::hash::{Hash, Hasher};

/// The last request, and an earlier state.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Watchdog {
    asked: Option<Stop>,
    /// Number of consecutive answered requests.
    answered: u64,
    /// The state at an earlier request, whose number is a power of two: this finds cycles
    /// of any length with one comparison per request.
    stood: Option<u64>,
}

/// What a host provides to the audit.
struct Given<'g, 'a> {
    source: &'g Source<'a>,
    slots: usize,
    buffer: u64,
}

impl Given<'_, '_> {
    /// Whether the host has provided what was requested.
    fn has(&self, stop: &Stop) -> bool {
        match *stop {
            Stop::NeedBytes(absent) => {
                self.source.get(Span::new(absent.offset, absent.need)).is_ok()
            }
            Stop::NeedSlots { needed } => {
                self.slots >= usize::try_from(needed).unwrap_or(usize::MAX)
            }
            Stop::NeedBuffer { needed } => self.buffer >= needed,
            Stop::Invalid(_) => false,
        }
    }
}

impl Watchdog {
    /// The host calls again. If it has not provided what was requested, it may retry
    /// indefinitely.
    fn resume(&mut self, given: &Given<'_, '_>) {
        match self.asked {
            Some(asked) if given.has(&asked) => self.answered = self.answered.wrapping_add(1),
            _ => *self = Watchdog::default(),
        }
    }

    /// Whether the state at this request is compared with others.
    fn compares(&self) -> bool {
        self.stood.is_some() || self.answered.is_power_of_two()
    }

    /// Whether the audit stops without a reason; `state` is a hash of its state, if it is compared.
    fn is_stuck(&mut self, stop: Stop, given: &Given<'_, '_>, state: u64) -> bool {
        if given.has(&stop) || (SWEEP && self.stood == Some(state)) {
            *self = Watchdog::default();
            return true;
        }
        if self.answered.is_power_of_two() {
            self.stood = Some(state);
        }
        self.asked = Some(stop);
        false
    }
}

impl Audit {
    /// The host calls again.
    pub(in crate::audit::resumable) fn resume(
        &mut self,
        source: &Source<'_>,
        slots: usize,
        streams: &dyn Streams,
    ) {
        self.payload.watchdog.resume(&Given { source, slots, buffer: streams.buffer() });
    }

    /// Whether the audit stops without a reason.
    pub(in crate::audit::resumable) fn is_stuck(
        &mut self,
        stop: &Stop,
        source: &Source<'_>,
        slots: usize,
        streams: &dyn Streams,
    ) -> bool {
        let given = Given { source, slots, buffer: streams.buffer() };
        let compares = SWEEP && self.payload.watchdog.compares();
        let state = if compares { self.state(stop, streams.state()) } else { 0 };
        self.payload.watchdog.is_stuck(*stop, &given, state)
    }

    /// Skips a tensor or a stage whose request no host can serve.
    #[cold]
    pub(in crate::audit::resumable) fn stand_still(&mut self, r: &mut Reader<'_, '_>) {
        r.unmute();
        let at = self.hand.map_or(0, |tensor| tensor.offset);
        r.about(EntryKind::File, 0);
        r.flag(INTERNAL, at, 0, 0, 0);
        if self.stage == Stage::Payloads && self.hand.is_some() {
            self.pass();
        } else {
            r.set_shared(0);
            self.hand = None;
            self.next_stage();
        }
    }

    /// A hash of the state. Only builds with `sweep` compute it, where code size matters less;
    /// others rely on what was requested and provided.
    fn state(&self, stop: &Stop, streams: u64) -> u64 {
        let mut state = Fold(0xCBF2_9CE4_8422_2325);
        let asked = match *stop {
            Stop::NeedBytes(absent) => [0, absent.offset, absent.need],
            Stop::NeedSlots { needed } => [1, needed.into(), 0],
            Stop::NeedBuffer { needed } => [2, needed, 0],
            Stop::Invalid(_) => [3; 3],
        };
        (asked, streams, self.stage, self.cursor, self.counted, self.swept).hash(&mut state);
        (self.previous, self.sorting, self.pair, self.covering).hash(&mut state);
        self.attributes.hash(&mut state);
        (self.hand, self.payload).hash(&mut state);
        state.0
    }
}

/// FNV-1a, over words of eight bytes where there are as many.
struct Fold(u64);

impl Hasher for Fold {
    // Out of line: a state has about a hundred fields.
    #[inline(never)]
    fn write(&mut self, bytes: &[u8]) {
        let (words, rest) = bytes.as_chunks();
        words.iter().for_each(|word| self.write_u64(u64::from_le_bytes(*word)));
        rest.iter().for_each(|byte| self.write_u64((*byte).into()));
    }

    #[inline(never)]
    fn write_u64(&mut self, word: u64) {
        self.0 = (self.0 ^ word).wrapping_mul(0x0100_0000_01B3);
        self.0 ^= self.0 >> 29;
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

#[cfg(all(test, feature = "ztensor"))]
mod tests {
    use super::super::{Pause, Streams};
    use super::*;
    use crate::file::{File, Slot};
    use crate::input::{Absent, Window};
    use crate::model::Tensor;
    use crate::parse::Reader;
    use crate::rule::{Finding, general};
    use std::vec::Vec;

    /// A tensor of four bytes, and its index.
    fn file() -> Vec<u8> {
        let mut bytes = b"ZTEN0001".to_vec();
        bytes.resize(68, 0);
        let index: &[u8] = b"\x81\xA7\x64name\x61x\x66offset\x18\x40\x64size\x04\x65dtype\x65uint8\
            \x66layout\x65dense\x65shape\x81\x04\x68encoding\x63raw";
        bytes.extend_from_slice(index);
        bytes.extend_from_slice(&(index.len() as u64).to_le_bytes());
        bytes
    }

    /// Makes no progress.
    enum Idle {
        /// Requests a buffer that it has, and slots that exist.
        Buffer,
        Room,
        /// Requests bytes that are resident.
        Absent,
        /// Requests one byte after another, again and again.
        Cycle(u64),
    }

    impl Streams for Idle {
        fn check(
            &mut self,
            _: &mut Audit,
            r: &mut Reader<'_, '_>,
            _: &mut [Slot],
            _: &Tensor,
        ) -> Result<bool, Pause> {
            Err(match self {
                Idle::Buffer => Pause::Buffer(100),
                Idle::Room => Pause::Room(3),
                Idle::Absent => r.lack(Absent { offset: 0, need: 1, want: 1 }).into(),
                Idle::Cycle(at) => {
                    *at = (*at + 1) % 5;
                    r.lack(Absent { offset: *at, need: 1, want: 1 }).into()
                }
            })
        }

        fn buffer(&self) -> u64 {
            100
        }
    }

    /// Serves requests byte by byte; returns the findings.
    fn served(mut idle: Idle) -> Vec<Finding> {
        let bytes = file();
        let mut findings = Vec::new();
        let file = File::open(&Source::whole(&bytes), &mut |_| {}).unwrap();
        let mut audit = Audit::new(file);
        let mut held = 0..bytes.len();
        for _ in 0..200 {
            let window = Window { offset: held.start as u64, bytes: &bytes[held.clone()] };
            let windows = [window];
            let source = Source::windows(bytes.len() as u64, &windows);
            let sink = &mut |finding| findings.push(finding);
            match audit.step_stages(&source, &mut [Slot::EMPTY; 3], sink, &mut idle) {
                Ok(()) => return findings,
                Err(Stop::NeedBytes(absent)) => {
                    held = absent.offset as usize..(absent.offset + absent.need) as usize;
                }
                Err(stop) => panic!("{stop:?}"),
            }
        }
        panic!("it never ends");
    }

    #[test]
    fn watchdog_ends_every_audit_of_a_serving_host() {
        for idle in [Idle::Buffer, Idle::Room, Idle::Absent] {
            let findings = served(idle);
            assert!(findings.iter().any(|f| f.rule == general::INTERNAL), "{findings:?}");
        }
    }

    #[test]
    fn watchdog_finds_cycle() {
        if !SWEEP {
            return;
        }
        let findings = served(Idle::Cycle(5));
        assert!(findings.iter().any(|f| f.rule == general::INTERNAL), "{findings:?}");
    }

    /// A host that did not fetch what was requested may ask again.
    #[test]
    fn watchdog_accepts_repeated_request() {
        let bytes = file();
        let none = [];
        let source = Source::windows(bytes.len() as u64, &none);
        let file = File::open(&Source::whole(&bytes), &mut |_| {}).unwrap();
        let mut audit = Audit::new(file);
        for _ in 0..100 {
            let sink = &mut |finding| panic!("{finding:?}");
            let stop = audit.step(&source, &mut [], sink);
            assert!(matches!(stop, Err(Stop::NeedBytes(_))), "{stop:?}");
        }
    }
}
