//! The vocabulary of a tokenizer, as GGUF stores it.

use alloc::format;
use alloc::string::{String, ToString as _};
use alloc::vec::Vec;
use weighbridge_core::{Endianness, is_hidden};

/// The kind of a token, from its number in `tokenizer.ggml.token_type`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TokenKind {
    /// Text.
    Normal,
    /// Stands for text that no token matches.
    Unknown,
    /// Controls the model, and is not shown.
    Control,
    /// Added to the vocabulary, and never split.
    UserDefined,
    /// Never used.
    Unused,
    /// A single byte.
    Byte,
}

impl TokenKind {
    /// Returns the kind for a number; `None` if the number is not assigned.
    ///
    /// ```
    /// use weighbridge::TokenKind;
    ///
    /// assert_eq!(TokenKind::of(3), Some(TokenKind::Control));
    /// assert_eq!(TokenKind::of(0), None);
    /// ```
    pub const fn of(number: u8) -> Option<Self> {
        Some(match number {
            1 => TokenKind::Normal,
            2 => TokenKind::Unknown,
            3 => TokenKind::Control,
            4 => TokenKind::UserDefined,
            5 => TokenKind::Unused,
            6 => TokenKind::Byte,
            _ => return None,
        })
    }

    /// The name of the kind.
    ///
    /// ```
    /// assert_eq!(weighbridge::TokenKind::UserDefined.name(), "user-defined");
    /// ```
    pub const fn name(self) -> &'static str {
        match self {
            TokenKind::Normal => "normal",
            TokenKind::Unknown => "unknown",
            TokenKind::Control => "control",
            TokenKind::UserDefined => "user-defined",
            TokenKind::Unused => "unused",
            TokenKind::Byte => "byte",
        }
    }
}

/// More tokens than any model has: 16 times 256,000.
const MOST_TOKENS: usize = 1 << 22;
/// Maximum total bytes of tokens; large vocabularies have 3 MB.
const MOST_BYTES: usize = 64 << 20;
/// Separates texts that are searched as one string: not a character, and never searched for.
const BETWEEN: char = '\u{10FFFF}';

/// A searchable table of a model's tokens, built from the arrays of a GGUF file as their bytes
/// stream in.
///
/// ```
/// use weighbridge::{Endianness, Vocabulary};
///
/// let mut vocabulary = Vocabulary::new(Endianness::Little, "gpt2", 9);
/// for token in ["the", "Ġthe", "Ċ"] {
///     vocabulary.push(&(token.len() as u64).to_le_bytes());
///     vocabulary.push(token.as_bytes());
/// }
/// assert_eq!(vocabulary.len(), 3);
/// assert_eq!(vocabulary.readable(1).as_deref(), Some("␣the"));
/// assert_eq!(vocabulary.search(" THE", None), [1]);
/// ```
#[derive(Clone, Debug)]
pub struct Vocabulary {
    endianness: Endianness,
    byte_level: bool,
    raw: Vec<u8>,
    ends: Vec<u32>,
    /// Lower-case texts, and where each ends.
    folded: String,
    folded_ends: Vec<u32>,
    /// Bytes of an incomplete entry.
    pending: Vec<u8>,
    kinds: Vec<u8>,
    scores: Vec<f32>,
    count: u64,
    cut: bool,
}

impl Vocabulary {
    /// Creates an empty table for `count` tokens of a tokenizer of type `model`
    /// (`tokenizer.ggml.model`). Bytes after the last token are ignored.
    ///
    /// ```
    /// use weighbridge::{Endianness, Vocabulary};
    ///
    /// assert!(Vocabulary::new(Endianness::Little, "llama", 9).is_empty());
    /// ```
    pub fn new(endianness: Endianness, model: &str, count: u64) -> Self {
        Vocabulary {
            endianness,
            byte_level: model == "gpt2",
            raw: Vec::new(),
            ends: Vec::new(),
            folded: String::new(),
            folded_ends: Vec::new(),
            pending: Vec::new(),
            kinds: Vec::new(),
            scores: Vec::new(),
            count,
            cut: false,
        }
    }

    /// Adds the next bytes of the token array, after its header.
    ///
    /// ```
    /// use weighbridge::{Endianness, Vocabulary};
    ///
    /// let mut vocabulary = Vocabulary::new(Endianness::Little, "llama", 9);
    /// [1, 0, 0, 0, 0, 0, 0, 0, b'a'].chunks(2).for_each(|bytes| vocabulary.push(bytes));
    /// assert_eq!(vocabulary.raw(0), Some(&b"a"[..]));
    /// ```
    pub fn push(&mut self, mut bytes: &[u8]) {
        while !self.cut && (self.len() as u64) < self.count {
            let head = self.pending.first_chunk::<8>().map(|head| self.number(*head));
            let needed = match head {
                Some(len) if len > MOST_BYTES as u64 => {
                    self.cut = true;
                    return;
                }
                Some(len) => 8 + len as usize,
                None => 8,
            };
            let (now, rest) = bytes.split_at(bytes.len().min(needed - self.pending.len()));
            self.pending.extend_from_slice(now);
            bytes = rest;
            if self.pending.len() < needed {
                return;
            }
            if head.is_some() {
                self.add();
            } else if self.pending == [0; 8] {
                // A token without text.
                self.add();
            }
        }
    }

    fn number(&self, bytes: [u8; 8]) -> u64 {
        self.endianness.u64(bytes)
    }

    /// Adds the completed entry.
    fn add(&mut self) {
        let token = self.pending.get(8..).unwrap_or_default();
        if self.ends.len() >= MOST_TOKENS || self.raw.len() + token.len() > MOST_BYTES {
            self.cut = true;
            return;
        }
        self.raw.extend_from_slice(token);
        self.ends.push(self.raw.len() as u32);
        let text = decoded(&String::from_utf8_lossy(token), self.byte_level);
        let text = String::from_utf8_lossy(&text);
        self.folded.extend(text.chars().flat_map(char::to_lowercase));
        self.folded.push(BETWEEN);
        self.folded_ends.push(self.folded.len() as u32);
        self.pending.clear();
    }

    /// Adds the next kinds, as complete four-byte numbers.
    ///
    /// ```
    /// use weighbridge::{Endianness, TokenKind, Vocabulary};
    ///
    /// let mut vocabulary = Vocabulary::new(Endianness::Little, "llama", 9);
    /// vocabulary.push_kinds(&[3, 0, 0, 0]);
    /// assert_eq!(vocabulary.kind(0), Some(TokenKind::Control));
    /// ```
    pub fn push_kinds(&mut self, bytes: &[u8]) {
        for word in bytes.as_chunks().0.iter().take(MOST_TOKENS - self.kinds.len()) {
            let kind = self.endianness.u32(*word);
            self.kinds.push(u8::try_from(kind).unwrap_or(0));
        }
    }

    /// Adds the next scores, as complete four-byte floats.
    ///
    /// ```
    /// use weighbridge::{Endianness, Vocabulary};
    ///
    /// let mut vocabulary = Vocabulary::new(Endianness::Little, "llama", 9);
    /// vocabulary.push_scores(&(-1.5_f32).to_le_bytes());
    /// assert_eq!(vocabulary.score(0), Some(-1.5));
    /// ```
    pub fn push_scores(&mut self, bytes: &[u8]) {
        for word in bytes.as_chunks().0.iter().take(MOST_TOKENS - self.scores.len()) {
            let bits = self.endianness.u32(*word);
            self.scores.push(f32::from_bits(bits));
        }
    }

    /// The number of tokens so far.
    ///
    /// ```
    /// use weighbridge::{Endianness, Vocabulary};
    ///
    /// let mut vocabulary = Vocabulary::new(Endianness::Big, "bert", 9);
    /// vocabulary.push(&[0, 0, 0, 0, 0, 0, 0, 1, b'a']);
    /// assert_eq!(vocabulary.len(), 1);
    /// ```
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there are no tokens yet.
    ///
    /// ```
    /// use weighbridge::{Endianness, Vocabulary};
    ///
    /// assert!(Vocabulary::new(Endianness::Little, "llama", 9).is_empty());
    /// ```
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Whether tokens were dropped because there are too many or they are too long.
    ///
    /// ```
    /// use weighbridge::{Endianness, Vocabulary};
    ///
    /// let mut vocabulary = Vocabulary::new(Endianness::Little, "llama", 9);
    /// vocabulary.push(&u64::MAX.to_le_bytes()); // of one token
    /// vocabulary.push(b"a");
    /// assert!(vocabulary.is_cut() && vocabulary.is_empty());
    /// ```
    pub fn is_cut(&self) -> bool {
        self.cut
    }

    /// The bytes of a token, as stored in the file.
    ///
    /// ```
    /// use weighbridge::{Endianness, Vocabulary};
    ///
    /// assert_eq!(Vocabulary::new(Endianness::Little, "llama", 9).raw(0), None);
    /// ```
    pub fn raw(&self, id: usize) -> Option<&[u8]> {
        let end = *self.ends.get(id)? as usize;
        let start = id.checked_sub(1).and_then(|before| self.ends.get(before));
        self.raw.get(start.map_or(0, |start| *start as usize)..end)
    }

    /// A readable form of a token: spaces are `␣`, line breaks `\n`, invisible characters
    /// `\u{…}`, and bytes that are not UTF-8 `\x…`.
    ///
    /// ```
    /// use weighbridge::{Endianness, Vocabulary};
    ///
    /// let mut vocabulary = Vocabulary::new(Endianness::Little, "llama", 9);
    /// vocabulary.push(&[6, 0, 0, 0, 0, 0, 0, 0]);
    /// vocabulary.push(b"<0x0A>");
    /// assert_eq!(vocabulary.readable(0).as_deref(), Some("\\n"));
    /// ```
    pub fn readable(&self, id: usize) -> Option<String> {
        let raw = self.raw(id)?;
        Some(match str::from_utf8(raw) {
            Ok(text) => visible(&decoded(text, self.byte_level)),
            Err(_) => visible(raw),
        })
    }

    /// The kind of a token, if the file states it.
    ///
    /// ```
    /// use weighbridge::{Endianness, Vocabulary};
    ///
    /// assert_eq!(Vocabulary::new(Endianness::Little, "llama", 9).kind(0), None);
    /// ```
    pub fn kind(&self, id: usize) -> Option<TokenKind> {
        TokenKind::of(*self.kinds.get(id)?)
    }

    /// The score of a token, if the file has one.
    ///
    /// ```
    /// use weighbridge::{Endianness, Vocabulary};
    ///
    /// assert_eq!(Vocabulary::new(Endianness::Little, "llama", 9).score(0), None);
    /// ```
    pub fn score(&self, id: usize) -> Option<f32> {
        self.scores.get(id).copied()
    }

    /// The ids of tokens of a kind that contain `text`, ignoring case. If `text` is itself the
    /// id of a token, that token comes first.
    ///
    /// ```
    /// use weighbridge::{Endianness, Vocabulary};
    ///
    /// let mut vocabulary = Vocabulary::new(Endianness::Little, "llama", 9);
    /// for token in ["0", "1", "10"] {
    ///     vocabulary.push(&(token.len() as u64).to_le_bytes());
    ///     vocabulary.push(token.as_bytes());
    /// }
    /// assert_eq!(vocabulary.search("1", None), [1, 2]);
    /// assert_eq!(vocabulary.search("2", None), [2]);
    /// ```
    pub fn search(&self, text: &str, kind: Option<TokenKind>) -> Vec<u32> {
        let passes = |id: &u32| kind.is_none() || self.kind(*id as usize) == kind;
        if text.is_empty() {
            return (0..self.len() as u32).filter(passes).collect();
        }
        let whole = decoded(&text.replace('␣', " ").replace("\\n", "\n"), self.byte_level);
        let wanted: String =
            String::from_utf8_lossy(&whole).chars().flat_map(char::to_lowercase).collect();
        let id = text.trim_start_matches('#').parse::<u32>().ok();
        let id = id.filter(|id| (*id as usize) < self.len());
        let mut found: Vec<u32> = id.into_iter().collect();
        if !wanted.contains(BETWEEN) {
            let mut next = 0;
            for (at, _) in self.folded.match_indices(&wanted) {
                let at = at as u32;
                if next > 0 && self.folded_ends.get(next - 1).is_some_and(|end| at < *end) {
                    // Again in the same token.
                    continue;
                }
                let rest = self.folded_ends.get(next..).unwrap_or_default();
                let here = next + within(rest, at);
                found.extend(Some(here as u32).filter(|here| Some(*here) != id));
                next = here + 1;
            }
        }
        found.retain(passes);
        found
    }
}

/// Finds the first of the ascending `ends` beyond `at` by galloping search.
fn within(ends: &[u32], at: u32) -> usize {
    let mut step = 1;
    while ends.get(step).is_some_and(|end| *end <= at) {
        step *= 2;
    }
    let reach = ends.get(..ends.len().min(step + 1)).unwrap_or(ends);
    reach.partition_point(|end| *end <= at)
}

/// The bytes that a token represents.
fn decoded(text: &str, byte_level: bool) -> Vec<u8> {
    if byte_level {
        let bytes: Option<Vec<u8>> = text.chars().map(byte_of).collect();
        return bytes.unwrap_or_else(|| text.as_bytes().to_vec());
    }
    let byte = text.strip_prefix("<0x").and_then(|rest| rest.strip_suffix('>'));
    if let Some(byte) = byte.filter(|byte| byte.len() == 2)
        && let Ok(byte) = u8::from_str_radix(byte, 16)
    {
        return [byte].to_vec();
    }
    text.replace('▁', " ").into_bytes()
}

/// The byte that a character of byte-level BPE represents: printable ones represent themselves,
/// the others are mapped in order from U+0100.
fn byte_of(c: char) -> Option<u8> {
    let code = u32::from(c);
    let byte = match code {
        0x21..=0x7E | 0xA1..=0xAC | 0xAE..=0xFF => code,
        0x100..=0x120 => code - 0x100,
        0x121..=0x142 => code - 0x121 + 0x7F,
        0x143 => 0xAD,
        _ => return None,
    };
    u8::try_from(byte).ok()
}

/// Formats bytes for display.
fn visible(bytes: &[u8]) -> String {
    let mut out = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        for c in chunk.valid().chars() {
            match c {
                ' ' => out.push('␣'),
                '\n' => out.push_str("\\n"),
                '\r' => out.push_str("\\r"),
                '\t' => out.push_str("\\t"),
                c if is_hidden(c) => out.push_str(&format!("\\u{{{:x}}}", u32::from(c))),
                c => out.push(c),
            }
        }
        for byte in chunk.invalid() {
            out.push_str(&format!("\\x{byte:02x}"));
        }
    }
    out.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(model: &str, tokens: &[&[u8]]) -> Vocabulary {
        let mut vocabulary = Vocabulary::new(Endianness::Little, model, tokens.len() as u64);
        let all: Vec<u8> = tokens
            .iter()
            .flat_map(|token| [&(token.len() as u64).to_le_bytes(), *token].concat())
            .collect();
        // In chunks of any size.
        all.chunks(5).for_each(|bytes| vocabulary.push(bytes));
        vocabulary
    }

    fn readable(model: &str, token: &[u8]) -> String {
        of(model, &[token]).readable(0).unwrap_or_default()
    }

    #[test]
    fn tokens_are_made_readable() {
        for (model, token, shown) in [
            ("gpt2", "Ġthe", "␣the"),
            ("gpt2", "Ċ", "\\n"),
            ("gpt2", "Ã©", "é"),
            ("gpt2", "Ã", "\\xc3"),
            ("gpt2", "<|im_start|>", "<|im_start|>"),
            ("gpt2", "a b", "a␣b"),
            ("gpt2", "Ń", "\\xad"),
            ("llama", "▁the", "␣the"),
            ("llama", "<0x0A>", "\\n"),
            ("llama", "<0xE2>", "\\xe2"),
            ("llama", "<0xZZ>", "<0xZZ>"),
            ("llama", "Ġ", "Ġ"),
            ("llama", "\u{202e}x", "\\u{202e}x"),
        ] {
            assert_eq!(readable(model, token.as_bytes()), shown, "{token}");
        }
        assert_eq!(readable("llama", b"a\xFFb"), "a\\xffb");
        assert_eq!(readable("gpt2", b"\xFF"), "\\xff");
    }

    #[test]
    fn all_bytes_have_a_character() {
        let bytes: Vec<u8> =
            (0x21..=0x143).filter_map(char::from_u32).filter_map(byte_of).collect();
        let all: alloc::collections::BTreeSet<u8> = bytes.iter().copied().collect();
        assert_eq!((bytes.len(), all.len()), (256, 256));
    }

    #[test]
    fn search_finds_texts_ids_and_kinds() {
        let mut all = of("gpt2", &[b"The", "Ġthe".as_bytes(), b"", b"7", b"other", b"xx"]);
        assert_eq!((all.len(), all.is_cut()), (6, false));
        assert_eq!(all.search("x", None), [5]);
        assert_eq!(all.search("the", None), [0, 1, 4]);
        assert_eq!(all.search(" the", None), [1]);
        assert_eq!(all.search("Ġthe", None), [1]);
        assert_eq!(all.search("␣T", None), [1]);
        assert_eq!(all.search("5", None), [5]);
        assert_eq!(all.search("#3", None), [3]);
        assert_eq!(all.search("7", None), [3]);
        assert_eq!(all.search("ex", None), [0_u32; 0]);
        assert_eq!(all.search("", None).len(), 6);
        assert_eq!(all.search("\u{10FFFF}", None), [0_u32; 0]);
        all.push_kinds(&[1, 0, 0, 0, 3, 0, 0, 0]);
        assert_eq!(all.search("", Some(TokenKind::Control)), [1]);
        // There may be more or fewer kinds than tokens.
        assert_eq!((all.kind(2), all.score(0)), (None, None));
    }

    #[test]
    fn too_long_token_ends_the_table() {
        let mut all = Vocabulary::new(Endianness::Little, "llama", 3);
        all.push(&1_u64.to_le_bytes());
        all.push(b"a");
        all.push(&(1_u64 << 40).to_le_bytes());
        all.push(b"abc");
        assert!(all.is_cut());
        assert_eq!(all.len(), 1);
        // Bytes after the last token are not a token.
        let mut all = of("llama", &[b"a"]);
        all.push(&1_u64.to_le_bytes());
        all.push(b"b");
        assert_eq!((all.len(), all.is_cut()), (1, false));
    }
}
