//! Compares the files with a model's data with the SHA-1 that the model states for each. Each file is
//! read once, however many tensors lie in it.

use crate::check::options::Options;
use crate::check::report::Collected;
use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use sha1::{Digest as _, Sha1};
use weighbridge_core::format::onnx::{Location, Locations, rules};
use weighbridge_core::{
    Absent, EntryKind, File, Finding, Rule, Source, Span, Stop, Subject, general,
};

/// Bytes that are read at a time.
const PIECE: u64 = 1 << 20;

/// A SHA-1.
type Sum = [u8; 20];

/// Progress of the check. Between steps it is plain data.
#[derive(Debug, Default)]
pub(crate) struct DigestCheck {
    locations: Locations,
    pending: Option<Location>,
    is_listed: bool,
    /// By first byte of the file.
    files: BTreeMap<u64, Other>,
    /// What was read of the first of them, and its digest so far.
    done: u64,
    hasher: Sha1,
}

/// A file beside the model.
#[derive(Debug)]
struct Other {
    len: u64,
    /// What the model states, with the first text that does so.
    stated: Vec<(Sum, Location)>,
}

impl DigestCheck {
    /// Hashes the files with a stated digest, and reports each difference.
    ///
    /// # Errors
    /// The bytes that are missing; call again when they are available.
    pub(crate) fn enter(
        &mut self,
        source: &Source<'_>,
        file: &File,
        options: &Options,
        collected: &mut Collected,
    ) -> Result<(), Absent> {
        if !matches!(file, File::Onnx(_)) || !source.has_beside() {
            return Ok(());
        }
        while !self.is_listed {
            self.list(source, options, collected)?;
        }
        while let Some((base, other)) = self.files.first_key_value() {
            while self.done < other.len {
                let len = PIECE.min(other.len - self.done);
                self.hasher.update(source.get(Span::new(base + self.done, len))?);
                self.done += len;
            }
            let found: Sum = core::mem::take(&mut self.hasher).finalize().into();
            for (sum, location) in other.stated.iter().filter(|(sum, _)| *sum != found) {
                let finding = finding(rules::E_CHECKSUM, location);
                let (expected, found) = (head(sum), head(&found));
                collected.push(Finding { expected, found, ..finding });
            }
            self.done = 0;
            self.files.pop_first();
        }
        Ok(())
    }

    /// Notes the digest of the next tensor's file.
    fn list(
        &mut self,
        source: &Source<'_>,
        options: &Options,
        collected: &mut Collected,
    ) -> Result<(), Absent> {
        if self.pending.is_none() {
            self.pending = match self.locations.step(source) {
                Ok(location) => location,
                Err(Stop::NeedBytes(absent)) => return Err(absent),
                // Reported where the file was opened.
                Err(_) => None,
            };
        }
        let Some(location) = self.pending else {
            self.is_listed = true;
            return Ok(());
        };
        // A file that is not at hand was reported with the tensor.
        if let Some(other) = source.beside(location.path.offset)
            && !location.checksum.is_empty()
        {
            let sum = sum(source.get(location.checksum)?);
            let noted = sum.is_some_and(|sum| {
                let found = self.files.entry(other.base);
                let found = found.or_insert(Other { len: other.len, stated: Vec::new() });
                let known = found.stated.iter().any(|(known, _)| *known == sum);
                let room = (found.stated.len() as u64) < MOST.min(options.slots());
                if !known && room {
                    found.stated.push((sum, location));
                }
                known || room
            });
            if !noted {
                collected.push(finding(general::CHECKSUM_UNCHECKED, &location));
            }
        }
        self.pending = None;
        Ok(())
    }
}

/// Most digests of one file that are compared: at most one of them is right.
const MOST: u64 = 16;

/// The SHA-1 that a text of 40 hexadecimal digits spells.
fn sum(text: &[u8]) -> Option<Sum> {
    let (pairs, []) = text.as_chunks::<2>() else { return None };
    let mut sum = Sum::default();
    (pairs.len() == sum.len()).then_some(())?;
    for (byte, [high, low]) in sum.iter_mut().zip(pairs) {
        let digit = |digit: &u8| char::from(*digit).to_digit(16);
        *byte = u8::try_from(digit(high)? << 4 | digit(low)?).ok()?;
    }
    Some(sum)
}

/// The first eight bytes, as findings show them.
fn head(sum: &Sum) -> u64 {
    sum.first_chunk().map_or(0, |head| u64::from_be_bytes(*head))
}

fn finding(rule: Rule, Location { tensor, checksum, .. }: &Location) -> Finding {
    Finding {
        offset: checksum.offset,
        expected: 0,
        found: 0,
        len: u32::try_from(checksum.len).unwrap_or(u32::MAX),
        entry: *tensor,
        part: Subject::NO_PART,
        rule,
        kind: EntryKind::Tensor,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::format;

    #[test]
    fn sum_is_forty_digits_in_either_case() {
        let text = "a9993e364706816aba3e25717850c26c9cd0d89d";
        let abc: Sum = Sha1::digest(b"abc").into();
        assert_eq!(sum(text.as_bytes()), Some(abc));
        assert_eq!(sum(text.to_uppercase().as_bytes()), Some(abc));
        assert_eq!(head(&abc), 0xa999_3e36_4706_816a);
        for none in ["", &text[1..], &text[2..], &format!("{text}00"), &text.replace('a', "g")] {
            assert_eq!(sum(none.as_bytes()), None, "{none}");
        }
    }
}
