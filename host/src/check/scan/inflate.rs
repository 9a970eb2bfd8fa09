//! Decodes a member of an archive: its first bytes, and the rest if they can be a pickle.

use super::kind::{HEAD, may_hold_pickles};
use super::part::{Bytes, Part};
use super::{Shared, most_decoded};
use alloc::boxed::Box;
use alloc::vec;
use alloc::vec::Vec;
use weighbridge_core::codec::{Decoder, Size, Tolerance, Undecoded, WINDOW};
use weighbridge_core::{Absent, Encoding, Source, Span, limits};

/// A member that is being decoded.
#[derive(Debug)]
pub(super) struct Inflating {
    /// The member, with its compressed bytes.
    part: Part,
    decoder: Box<Decoder>,
    buffer: Vec<u8>,
    out: Vec<u8>,
    is_wanted: bool,
    most: u64,
}

/// What became of a member.
pub(super) enum Inflated {
    /// It is nothing to look into.
    Nothing,
    Part(Part),
    /// Its first bytes cannot be decoded.
    Faulty,
}

impl Inflating {
    pub(super) fn new(part: Part) -> Self {
        let mut decoder = Box::new(Decoder::new());
        let stored = part.bytes.span;
        decoder.start(Encoding::Deflate, stored, Size::AtMost(u64::MAX));
        decoder.tolerate(Tolerance::Rest);
        Inflating {
            decoder,
            buffer: vec![0; WINDOW],
            out: Vec::new(),
            is_wanted: false,
            most: most_decoded(stored.len).min(limits::PICKLE_DECODED),
            part,
        }
    }

    pub(super) fn part(&self) -> &Part {
        &self.part
    }

    /// Decodes on, to the end or to a limit.
    ///
    /// # Errors
    /// The bytes that are missing; call again when they are available.
    pub(super) fn step(
        &mut self,
        file: &Source<'_>,
        shared: &mut Shared,
    ) -> Result<Inflated, Absent> {
        let Inflating { part, decoder, buffer, out, is_wanted, most } = self;
        let source = part.bytes.source(file);
        let mut is_cut = false;
        loop {
            let done = match decoder.next(&source, buffer) {
                Ok(Some(piece)) => {
                    out.extend_from_slice(piece);
                    shared.decoded = shared.decoded.saturating_add(piece.len() as u64);
                    false
                }
                Ok(None) => true,
                Err(Undecoded::Absent(absent)) => return Err(absent),
                Err(Undecoded::Fault(_)) if out.is_empty() => return Ok(Inflated::Faulty),
                // What comes before the fault is read as it is.
                Err(Undecoded::Fault(_)) => true,
            };
            if !*is_wanted && (done || out.len() as u64 >= HEAD) {
                *is_wanted =
                    part.is_pickle || may_hold_pickles(out, out.len() as u64 + u64::from(!done));
                if !*is_wanted {
                    return Ok(Inflated::Nothing);
                }
            }
            is_cut |= out.len() as u64 > *most || shared.decoded > shared.most_decoded;
            if done || is_cut {
                let Part { bytes, is_pickle, .. } = &*part;
                let bytes: Bytes = bytes.decoded(bytes.span, core::mem::take(out));
                return Ok(Inflated::Part(Part {
                    bytes,
                    is_cut,
                    is_pickle: *is_pickle,
                    ..part.clone()
                }));
            }
        }
    }
}

/// The span of a part's bytes, for a member of another.
pub(super) fn member_of(part: &Part, name: &str, data: Span) -> Part {
    part.member(name, part.bytes.within(data.offset, data.len))
}
