//! Words that codes in packed tables stand for.

use alloc::borrow::ToOwned as _;
use alloc::string::String;
use alloc::vec::Vec;
use weighbridge_core::{EntryKind, Part};

/// A list of distinct words that only ever grows.
#[derive(Debug, Default)]
pub struct Words(Vec<String>);

impl Words {
    /// The code of `word`. Words beyond 65,535 share the last code; no file can
    /// name that many types.
    pub fn code(&mut self, word: &str) -> u16 {
        let code = match self.0.iter().position(|known| known == word) {
            Some(code) => code,
            None => {
                if self.0.len() <= usize::from(u16::MAX) {
                    self.0.push(word.to_owned());
                }
                self.0.len() - 1
            }
        };
        u16::try_from(code).unwrap_or(u16::MAX)
    }

    /// The word with this code.
    pub fn word(&self, code: u16) -> &str {
        self.0.get(usize::from(code)).map_or("", String::as_str)
    }

    /// All words, in the order of their codes.
    pub fn all(&self) -> &[String] {
        &self.0
    }
}

/// The word for a part of the file.
pub fn part_word(part: Option<Part>, words: &mut Words) -> u16 {
    words.code(part.map_or("gap", Part::name))
}

/// The word for a kind of entry.
pub fn kind_word(kind: EntryKind, words: &mut Words) -> u16 {
    words.code(match kind {
        EntryKind::Tensor => "tensor",
        EntryKind::Metadata => "metadata",
        EntryKind::SizeVar => "sizevar",
        EntryKind::Attribute => "attribute",
        _ => "file",
    })
}
