//! Elements of NumPy arrays that are no numbers, as texts.

use crate::text::Texts;
use alloc::string::String;
use weighbridge_core::{File, Source, Stop, Tensor};
#[cfg(feature = "full")]
use {
    crate::blocks::MOST_BYTES,
    crate::document::Document,
    crate::elements::{MOST, Refusal},
    crate::json,
    alloc::borrow::ToOwned as _,
    alloc::vec::Vec,
    weighbridge::{Items, Value},
    weighbridge_core::Span,
};

/// What the header of a NumPy array says of elements that are no numbers.
#[derive(Clone, Debug, Default)]
pub struct Described {
    /// Their type, as the header spells it.
    pub descr: Option<String>,
    /// The names of a record's fields.
    pub fields: Texts,
    /// Whether the elements have values that can be shown.
    pub shown: bool,
}

impl Described {
    /// What is said of the elements of `tensor`.
    ///
    /// # Errors
    /// Missing bytes.
    #[cfg(feature = "full")]
    pub fn of(source: &Source<'_>, file: &File, tensor: &Tensor) -> Result<Described, Stop> {
        let mut found = Described::default();
        if let Some(items) = Items::of(source, file, tensor)? {
            found.shown = items.is_shown();
            found.descr = Some(items.descr().to_owned());
            for name in items.fields() {
                found.fields.push_safe(name.as_bytes(), crate::text::SHOWN);
            }
        }
        Ok(found)
    }

    /// No format of the first module has such elements.
    ///
    /// # Errors
    /// None.
    #[cfg(not(feature = "full"))]
    pub fn of(_: &Source<'_>, _: &File, _: &Tensor) -> Result<Described, Stop> {
        Ok(Described::default())
    }
}

#[cfg(feature = "full")]
impl Document {
    /// The type of elements that are no numbers; `None` if they are, or cannot be shown.
    pub(crate) fn items(&mut self, tensor: &Tensor) -> Result<Option<Items>, Refusal> {
        let found = self.session.ask(|file, source| Items::of(source, file, tensor))?;
        Ok(found.flatten().filter(Items::is_shown))
    }

    /// The stored elements of each run: a text for an element, or one for each field of a record.
    pub(crate) fn item_texts(
        &mut self,
        tensor: &Tensor,
        items: &Items,
        runs: &[(u64, u64)],
    ) -> Result<Texts, Refusal> {
        let width = tensor.unit().map_or(0, |(_, width)| u64::from(width));
        let count: u64 = runs.iter().map(|(_, len)| len).sum();
        let fields = items.fields().len().max(1) as u64;
        let fits = |n: Option<u64>, most: u64| n.is_some_and(|n| n <= most);
        if !fits(count.checked_mul(width), MOST_BYTES) || !fits(count.checked_mul(fields), MOST) {
            return Err(Refusal::TooMany);
        }
        let mut texts = Texts::default();
        let take = |bytes: &[u8], texts: &mut Texts| {
            for element in bytes.chunks(width.max(1) as usize) {
                push(&items.values(element), texts);
            }
        };
        if width == 0 {
            for _ in 0..count {
                push(&items.values(&[]), &mut texts);
                if texts.text.len() as u64 > MOST_BYTES {
                    return Err(Refusal::TooMany);
                }
            }
            return Ok(texts);
        }
        let span = |(first, len): &(u64, u64)| Some((first.checked_mul(width)?, len * width));
        if let Some(all) = tensor.raw() {
            let spans: Vec<_> = runs
                .iter()
                .filter_map(span)
                .filter(|(at, len)| at.saturating_add(*len) <= all.len)
                .map(|(at, len)| (Span::new(all.offset.saturating_add(at), len), ()))
                .collect();
            self.session.read(spans, |(), bytes| take(bytes, &mut texts))?;
        } else if tensor.elements > 0 {
            for (at, len) in runs.iter().filter_map(span) {
                take(self.decoded(tensor, at, len)?, &mut texts);
            }
        }
        Ok(texts)
    }
}

#[cfg(feature = "full")]
fn push(values: &[Value], texts: &mut Texts) {
    for value in values {
        match value {
            Value::Text(text) => texts.push_safe(text.as_bytes(), usize::MAX),
            // JSON has no such numbers and quotes them; a cell need not.
            Value::Float(number) if !number.is_finite() => {
                let mut quoted = String::new();
                json::push(value, &mut quoted);
                texts.push(quoted.trim_matches('"'));
            }
            value => {
                json::push(value, &mut texts.text);
                texts.end();
            }
        }
    }
}
