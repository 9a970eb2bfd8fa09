//! What a checkpoint says about a tensor beyond its shape: a storage that others are views of too,
//! whether gradients are computed, how it is quantised.

use super::index::{BASE, Index, Item, Pair, Word};
use crate::input::{Source, Span};
use crate::model::{Metadata, NameAt, Status};
use crate::rule::EntryKind;

/// The most entries that a tensor has.
const MOST: usize = 8;

/// An entry: its key, the kind of its value as in [`Pair`], and where the value is, counted from
/// [`BASE`].
#[derive(Clone, Copy)]
struct Entry {
    key: Word,
    kind: u64,
    value: Span,
}

/// Entry number `number` of a tensor.
pub(super) fn read(
    index: &Index,
    source: &Source<'_>,
    item: &Item,
    number: u32,
) -> Option<Metadata> {
    let words = index.words()?;
    let entries = entries(index, source, item, words);
    let entry = entries.into_iter().flatten().nth(usize::try_from(number).ok()?)?;
    let (at, len) = entry.key.place();
    let key = words.checked_add(at)?.checked_add(BASE)?;
    Some(Metadata {
        kind: EntryKind::Attribute,
        index: number,
        offset: item.at,
        key: NameAt::plain(key, len),
        tag: u32::try_from(entry.kind).unwrap_or(0),
        status: Status::Sound,
        stored: Span::new(BASE.checked_add(entry.value.offset)?, entry.value.len),
    })
}

fn entries(index: &Index, source: &Source<'_>, item: &Item, words: u64) -> [Option<Entry>; MOST] {
    let word = |word: Word| {
        let (at, len) = word.place();
        Span::new(words.saturating_add(at), len)
    };
    let text = |key, value| Entry { key, kind: Pair::TEXT, value };
    let yes = |key, mark: u64| {
        let is = item.marks & mark != 0;
        is.then(|| Entry { key, kind: Pair::BOOL, value: Span::new(word(Word::TRUE).offset, 1) })
    };
    let is_shared = item.marks & Item::SHARED != 0;
    let storage = index.storage(source, item.storage).filter(|_| is_shared);
    let is_channels = item.marks & Item::CHANNELS != 0;
    let is_quantised = item.marks & (Item::QUANTISED | Item::CHANNELS) != 0;
    // Scale and zero point of the tensor, or the axis of its channels.
    let number = |key, kind, place: u64, is: bool| {
        let offset = place.saturating_mul(8).saturating_add(item.quantiser);
        is.then_some(Entry { key, kind, value: Span::new(offset, 8) })
    };
    let is_whole = is_quantised && !is_channels;
    let scheme = if is_channels { Word::PER_CHANNEL } else { Word::PER_TENSOR };
    [
        storage.map(|it| text(Word::STORAGE, Span::new(it.key, it.key_len))),
        yes(Word::REQUIRES_GRAD, Item::GRADIENT),
        yes(Word::CONJUGATE, Item::CONJUGATE),
        yes(Word::NEGATIVE, Item::NEGATIVE),
        is_quantised.then(|| text(Word::QUANTISER, word(scheme))),
        number(Word::SCALE, Pair::FLOAT, 0, is_whole),
        number(Word::ZERO_POINT, Pair::INTEGER, 1, is_whole),
        number(Word::AXIS, Pair::INTEGER, 0, is_channels),
    ]
}

#[cfg(test)]
mod tests {
    use super::super::index::WORDS;
    use super::*;

    #[test]
    fn words_are_found_at_their_places() {
        let whole: std::string::String = WORDS.concat();
        let text = |word: Word| {
            let (at, len) = word.place();
            whole.get(at as usize..).and_then(|rest| rest.get(..len as usize)).unwrap()
        };
        assert_eq!(text(Word::TRUE), "\u{1}");
        assert_eq!(text(Word::REQUIRES_GRAD), "requires_grad");
        assert_eq!(text(Word::PER_CHANNEL), "per_channel_affine");
        assert_eq!(text(Word::AXIS), "axis");
    }
}
