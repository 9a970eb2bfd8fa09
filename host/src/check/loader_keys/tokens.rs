//! Token types, and tokens that stand for bytes.
//!
//! The types are far from the tokens, and both lists are long. The types are therefore read
//! in batches, and tokens are skipped up to a batch only if it contains byte tokens.

use super::{List, Values, finding};
use alloc::vec::Vec;
use weighbridge_core::format::gguf::{Header, rules};
use weighbridge_core::{Absent, Endianness, EntryKind, Finding, Source, limits};

/// Number of types per batch: the number of bits in [`Place::bytes`].
const BATCH: u64 = 128;
/// The highest token type, which is that of byte tokens.
const BYTE: u32 = 6;
/// Size in bytes of a text's length field.
const LENGTH: u64 = 8;
/// Length in bytes of a byte token's text.
const TEXT: u64 = 6;

/// Progress in both lists.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Place {
    /// Number of types read.
    types: u64,
    /// Position of the first type of the last batch, and one bit per type: whether it is a byte.
    first: u64,
    bytes: u128,
    /// Number of tokens skipped, and the offset of the next one.
    tokens: u64,
    token: u64,
    /// Whether a type has been reported.
    odd_type: bool,
    /// Whether a byte token has been reported, or no more of them can be read.
    odd_byte: bool,
}

impl Place {
    pub(super) fn of(values: &Values) -> Self {
        Place { token: values.tokens.at, ..Place::default() }
    }

    /// Reads both lists to their ends.
    pub(super) fn step(
        &mut self,
        source: &Source<'_>,
        header: &Header,
        values: &Values,
        found: &mut Vec<Finding>,
    ) -> Result<(), Absent> {
        let has_bytes = values.model.unwrap_or_default().has_bytes() && values.tokens.at != 0;
        loop {
            if has_bytes && self.bytes != 0 && !self.odd_byte {
                self.byte_tokens(source, header.endianness(), &values.tokens, found)?;
            }
            if values.types.at == 0 || self.types >= values.types.count {
                return Ok(());
            }
            self.token_types(source, header.endianness(), &values.types, found)?;
        }
    }

    /// Reads the next batch of types, as far as it is resident.
    fn token_types(
        &mut self,
        source: &Source<'_>,
        endianness: Endianness,
        list: &List,
        found: &mut Vec<Finding>,
    ) -> Result<(), Absent> {
        let at = list.at.saturating_add(self.types.saturating_mul(4));
        let left = list.count.saturating_sub(self.types);
        let (types, _) = source.run(at).as_chunks::<4>();
        if types.is_empty() {
            return match missing(source, at, 4, left.saturating_mul(4)) {
                Some(absent) => Err(absent),
                None => {
                    self.types = list.count;
                    Ok(())
                }
            };
        }
        (self.first, self.bytes) = (self.types, 0);
        for (bit, bytes) in (0..BATCH.min(left)).zip(types) {
            let ty = endianness.u32(*bytes);
            if ty > BYTE && !self.odd_type {
                let (entry, at) = ((EntryKind::Metadata, list.entry), at + bit * 4);
                let numbers = (BYTE.into(), ty.into());
                found.push(finding(rules::KEYS_TOKEN_TYPE, entry, (at, 4), numbers));
                self.odd_type = true;
            }
            self.bytes |= u128::from(ty == BYTE) << bit;
            self.types += 1;
        }
        Ok(())
    }

    /// Skips tokens up to the end of the last batch, and checks its byte tokens.
    fn byte_tokens(
        &mut self,
        source: &Source<'_>,
        endianness: Endianness,
        list: &List,
        found: &mut Vec<Finding>,
    ) -> Result<(), Absent> {
        let until = self.types.min(list.count);
        while self.tokens < until {
            let mut rest = source.run(self.token);
            let before = self.tokens;
            while self.tokens < until
                && let Some((len, after)) = rest.split_first_chunk()
            {
                let len = endianness.u64(*len);
                if self.is_byte() {
                    let text = after.first_chunk();
                    if len == TEXT && text.is_none() {
                        break;
                    }
                    if len != TEXT || !text.is_some_and(stands_for_a_byte) {
                        let entry = (EntryKind::Metadata, list.entry);
                        let bytes = (self.token, LENGTH as u32);
                        let numbers = (self.tokens, len);
                        found.push(finding(rules::KEYS_BYTE_TOKEN, entry, bytes, numbers));
                        self.odd_byte = true;
                        return Ok(());
                    }
                }
                self.tokens += 1;
                self.token = self.token.saturating_add(LENGTH).saturating_add(len);
                // The rest of the token need not be resident.
                rest = usize::try_from(len).ok().and_then(|len| after.get(len..)).unwrap_or(&[]);
            }
            if self.tokens == before {
                // If its length is resident, this is a byte token whose text is not.
                let need = if rest.len() < LENGTH as usize { LENGTH } else { LENGTH + TEXT };
                return match missing(source, self.token, need, limits::READ_AHEAD * 2) {
                    Some(absent) => Err(absent),
                    None => {
                        self.odd_byte = true;
                        Ok(())
                    }
                };
            }
        }
        Ok(())
    }

    /// Whether the next token's type is in the last batch and is that of bytes.
    fn is_byte(&self) -> bool {
        let bit = self.tokens.checked_sub(self.first).filter(|bit| *bit < BATCH);
        bit.is_some_and(|bit| self.bytes >> bit & 1 != 0)
    }
}

/// The request for `need` bytes, if the file has them: a list that has changed may lead past its end.
fn missing(source: &Source<'_>, offset: u64, need: u64, want: u64) -> Option<Absent> {
    let left = source.len().saturating_sub(offset);
    (need <= left).then(|| Absent { offset, need, want: want.clamp(need, left) })
}

/// Whether a text has the form of a byte token, `<0x00>` to `<0xFF>`.
fn stands_for_a_byte(text: &[u8; 6]) -> bool {
    matches!(text, [b'<', b'0', b'x', a, b, b'>'] if a.is_ascii_hexdigit() && b.is_ascii_hexdigit())
}
