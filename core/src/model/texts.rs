//! Where the elements of a record have text.

use crate::base::features::TEXTS;
#[cfg(feature = "items")]
use crate::base::limits;
use crate::model::Endianness;

/// Text in an element: code points of four bytes each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Text {
    /// Number of bytes of the element before it.
    pub(crate) start: u32,
    /// Its length in bytes, a multiple of 4.
    pub(crate) len: u32,
    pub(crate) endianness: Endianness,
}

/// Room in the list: one more than the limit, because a field may continue the last text.
const ROOM: usize = if TEXTS { crate::base::limits::RECORD_TEXTS + 1 } else { 0 };

/// The texts of an element in ascending order; neighbours of one byte order count as one. A build
/// that does not check them has room for none.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Texts {
    list: [Text; ROOM],
    count: usize,
    /// There was no room for a text.
    over: bool,
    /// Width of an element in bytes.
    #[cfg(feature = "payloads")]
    width: u32,
}

impl Texts {
    /// No text.
    pub(crate) const NONE: Texts = Texts {
        list: [Text { start: 0, len: 0, endianness: Endianness::Little }; ROOM],
        count: 0,
        over: false,
        #[cfg(feature = "payloads")]
        width: 0,
    };
}

/// Reading a type, from its innermost parts outwards. The last texts from `mark` on belong to the
/// part that was read last, and count from its start.
#[cfg(feature = "items")]
impl Texts {
    /// The number of texts, to mark the part that is read next.
    pub(crate) fn mark(&self) -> usize {
        self.count
    }

    /// Whether the type has text.
    pub(crate) fn any(&self) -> bool {
        self.count > 0 || self.over
    }

    /// Whether the type has more texts than the list may hold.
    pub(crate) fn is_over(&self) -> bool {
        self.over || self.count > limits::RECORD_TEXTS
    }

    /// Adds text at the end. It joins the last text if that is number `floor` or a later one.
    pub(crate) fn push(&mut self, text: Text, floor: usize) {
        if TEXTS
            && self.count > floor
            && let Some(last) = self.list.get_mut(self.count.wrapping_sub(1))
            && last.continues(&text)
        {
            last.len = last.len.saturating_add(text.len);
            return;
        }
        match self.list.get_mut(self.count) {
            Some(place) => {
                *place = text;
                self.count = self.count.wrapping_add(1);
            }
            None => self.over = true,
        }
    }

    /// The part begins `by` bytes into a larger one, which began at number `floor`.
    pub(crate) fn shift(&mut self, mark: usize, by: u32, floor: usize) {
        if TEXTS {
            let part = *self;
            self.count = mark;
            for text in part.from(mark) {
                self.push(Text { start: text.start.saturating_add(by), ..*text }, floor);
            }
        }
    }

    /// The part, of `width` bytes, occurs `factor` times in a row.
    pub(crate) fn repeat(&mut self, mark: usize, width: u32, factor: u32) {
        if !TEXTS {
            return;
        }
        let part = *self;
        match part.from(mark) {
            [] => {}
            _ if factor == 0 => self.count = mark,
            [text] if text.len == width => {
                self.count = mark;
                self.push(Text { len: width.saturating_mul(factor), ..*text }, mark);
            }
            // Each time adds a text at least, so the list ends this.
            texts => {
                let (mut at, mut left) = (width, factor);
                while left > 1 && !self.over {
                    for text in texts {
                        let start = text.start.saturating_add(at);
                        self.push(Text { start, ..*text }, mark);
                    }
                    (at, left) = (at.saturating_add(width), left.wrapping_sub(1));
                }
            }
        }
    }

    fn from(&self, mark: usize) -> &[Text] {
        self.list.get(mark..self.count).unwrap_or_default()
    }

    /// The type is complete, and has `width` bytes.
    #[cfg(feature = "payloads")]
    pub(crate) fn of_width(self, width: u32) -> Texts {
        Texts { width, ..self }
    }
}

#[cfg(feature = "items")]
impl Text {
    fn continues(&self, next: &Text) -> bool {
        self.endianness == next.endianness && self.start.saturating_add(self.len) == next.start
    }
}

#[cfg(feature = "payloads")]
impl Texts {
    /// The texts in ascending order.
    pub(crate) fn all(&self) -> &[Text] {
        self.list.get(..self.count).unwrap_or_default()
    }

    /// Width of an element in bytes.
    pub(crate) fn width(&self) -> u32 {
        self.width
    }
}
