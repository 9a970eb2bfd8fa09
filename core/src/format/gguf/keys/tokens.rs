//! Token types, and tokens that stand for bytes.
//!
//! The types are far from the tokens, and both lists are long. The types are therefore read
//! in batches, and tokens are skipped up to a batch only if it contains byte tokens. The
//! cursor is at the next type.

use super::{Cursor, Header, Keys, head, phase, rules};
use crate::parse::Reader;
use crate::rule::{EntryKind, Halt, general::BYTES_CHANGED};

/// Number of types per batch: the number of bits in [`Place::bytes`].
const BATCH: usize = 128;
/// The highest token type, which is that of byte tokens.
const BYTE: u32 = 6;
/// Size in bytes of a text's length field.
const LENGTH: u64 = 8;
/// Length in bytes of a byte token's text.
const TEXT: u64 = 6;

/// Progress in both lists.
#[derive(Clone, Copy, Debug, Default, Hash)]
pub(super) struct Place {
    /// Number of types read.
    types: u64,
    /// Size of the last batch with byte tokens, and one bit per type: whether it is a byte.
    last: u64,
    bytes: [u64; 2],
    /// Number of tokens skipped, and the offset of the next one.
    tokens: u64,
    pub(super) token: u64,
    /// Whether a type, or a byte token, has been reported.
    odd_type: bool,
    odd_byte: bool,
}

impl Place {
    /// Whether the next token's type is in the last batch and is that of bytes.
    fn is_byte(&self) -> bool {
        let first = self.types.wrapping_sub(self.last);
        let Some(place) = self.tokens.checked_sub(first) else { return false };
        let [low, high] = self.bytes;
        let bits = if place < 64 { low } else { high };
        let shift = u32::try_from(place & 63).unwrap_or(0);
        place < self.last && bits.wrapping_shr(shift) & 1 != 0
    }
}

impl Header {
    /// Reads the next batch of types, as far as it is resident.
    pub(super) fn token_types(
        &self,
        r: &mut Reader<'_, '_>,
        c: &mut Cursor,
        keys: &mut Keys,
    ) -> Result<(), Halt> {
        let place = &mut keys.place;
        let left = keys.types.count.saturating_sub(place.types);
        if left == 0 || c.at == 0 {
            *c = Cursor { phase: phase::TENSORS, ..Cursor::START };
            return Ok(());
        }
        r.about(EntryKind::Metadata, keys.types.entry);
        r.region(c.at, c.at.saturating_add(left << 2), BYTES_CHANGED);
        r.require(4)?;
        let (types, _) = r.resident().as_chunks::<4>();
        let (mut low, mut high, mut bit, mut read) = (0_u64, 0_u64, 1_u64, 0_u64);
        for bytes in types.iter().take(BATCH) {
            let ty = if self.big { u32::from_be_bytes(*bytes) } else { u32::from_le_bytes(*bytes) };
            if ty > BYTE && !place.odd_type {
                let at = c.at.wrapping_add(read << 2);
                r.flag(rules::KEYS_TOKEN_TYPE, at, 4, BYTE.into(), ty.into());
                place.odd_type = true;
            }
            if ty == BYTE {
                *(if read < 64 { &mut low } else { &mut high }) |= bit;
            }
            bit = bit.rotate_left(1);
            read = read.wrapping_add(1);
        }
        c.at = c.at.wrapping_add(read << 2);
        place.types = place.types.wrapping_add(read);
        let looks =
            keys.model.unwrap_or_default().has_bytes() && !place.odd_byte && keys.tokens.at != 0;
        if looks && (low | high) != 0 {
            (place.bytes, place.last) = ([low, high], read);
            c.phase = phase::BYTES;
        }
        Ok(())
    }

    /// Skips tokens up to the end of the last batch, and checks its byte tokens.
    pub(super) fn byte_tokens(
        &self,
        r: &mut Reader<'_, '_>,
        c: &mut Cursor,
        keys: &mut Keys,
    ) -> Result<(), Halt> {
        let place = &mut keys.place;
        let until = place.types.min(keys.tokens.count);
        let before = place.tokens;
        r.about(EntryKind::Metadata, keys.tokens.entry);
        r.region(place.token, u64::MAX, BYTES_CHANGED);
        r.read_ahead(place.token.saturating_add(head::AHEAD));
        let mut rest = r.resident();
        while place.tokens < until
            && let Some((len, after)) = rest.split_first_chunk()
        {
            let len = if self.big { u64::from_be_bytes(*len) } else { u64::from_le_bytes(*len) };
            if place.is_byte() {
                let text = after.first_chunk();
                if len == TEXT && text.is_none() {
                    break;
                }
                if len != TEXT || !text.is_some_and(stands_for_a_byte) {
                    r.flag(rules::KEYS_BYTE_TOKEN, place.token, LENGTH, place.tokens, len);
                    place.odd_byte = true;
                    c.phase = phase::TYPES;
                    return Ok(());
                }
            }
            place.tokens = place.tokens.wrapping_add(1);
            place.token = place.token.saturating_add(LENGTH).saturating_add(len);
            // The rest of the token need not be resident.
            rest = usize::try_from(len).ok().and_then(|len| after.get(len..)).unwrap_or(&[]);
        }
        if place.tokens >= until {
            c.phase = phase::TYPES;
        } else if place.tokens == before {
            r.require(LENGTH)?;
            // The length is resident, so this is a byte token whose text is not.
            r.require(LENGTH.saturating_add(TEXT))?;
        }
        Ok(())
    }
}

/// Whether a text has the form of a byte token, `<0x00>` to `<0xFF>`.
fn stands_for_a_byte(text: &[u8; 6]) -> bool {
    matches!(text, [b'<', b'0', b'x', a, b, b'>'] if a.is_ascii_hexdigit() && b.is_ascii_hexdigit())
}
