//! Reads what a GGUF file states about the split set it belongs to.

use crate::list::walk::Walk;
use weighbridge_core::{Element, File, Metadata, Source, Span, Stop, Value};

/// What a GGUF file states about the split set it belongs to, for hosts that list its metadata
/// themselves. The other parts are separate files.
///
/// ```
/// use weighbridge::SetPart;
/// use weighbridge::weighbridge_core::{Cursor, File, Source};
///
/// # let bytes = weighbridge_tests::samples::safetensors();
/// let source = Source::whole(&bytes);
/// let file = File::open(&source, &mut |_| {})?;
/// let (mut cursor, mut part) = (Cursor::default(), SetPart::default());
/// while let Some(entry) = file.next_meta(&source, &mut cursor, &mut |_| {})? {
///     part.note(&source, &file, &entry.metadata)?;
/// }
/// assert!(!part.is_one_of_many());
/// # Ok::<(), weighbridge::weighbridge_core::Stop>(())
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct SetPart {
    walk: Walk,
    pub(crate) no: Option<Number>,
    pub(crate) count: Option<Number>,
    pub(crate) tensors: Option<Number>,
}

/// A number in the metadata, and its position.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Number {
    pub(crate) value: u64,
    pub(crate) entry: u32,
    pub(crate) span: Span,
}

impl SetPart {
    /// Reads a metadata entry.
    ///
    /// ```
    /// use weighbridge::SetPart;
    /// use weighbridge::weighbridge_core::{Cursor, File, Source};
    ///
    /// # let bytes = weighbridge_tests::samples::words();
    /// let source = Source::whole(&bytes);
    /// let file = File::open(&source, &mut |_| {})?;
    /// let (mut cursor, mut part) = (Cursor::default(), SetPart::default());
    /// while let Some(entry) = file.next_meta(&source, &mut cursor, &mut |_| {})? {
    ///     part.note(&source, &file, &entry.metadata)?;
    /// }
    /// # Ok::<(), weighbridge::weighbridge_core::Stop>(())
    /// ```
    ///
    /// # Errors
    /// [`Stop::NeedBytes`]; pass the same entry again when the bytes are available.
    pub fn note(&mut self, source: &Source<'_>, file: &File, meta: &Metadata) -> Result<(), Stop> {
        if !matches!(file, File::Gguf(_)) {
            return Ok(());
        }
        let slot = match meta.key.read(source)?.as_str() {
            Some("split.no") => &mut self.no,
            Some("split.count") => &mut self.count,
            Some("split.tensors.count") => &mut self.tensors,
            _ => return Ok(()),
        };
        if slot.is_none()
            && let Some(Value::Scalar { dtype, stored }) = file.value(source, meta)?
        {
            let element = dtype.element(source.get(stored)?, 0, file.endianness());
            let number = |value| Number { value, entry: meta.index, span: stored };
            *slot = whole(element).map(number);
        }
        Ok(())
    }

    /// Reads all metadata.
    ///
    /// ```
    /// use weighbridge::{Goal, Options, Session, SetPart};
    ///
    /// # let bytes = weighbridge_tests::samples::part();
    /// let mut session = Session::whole(&bytes, Options::new());
    /// session.advance(Goal::Header);
    /// let mut part = SetPart::default();
    /// session.ask(|file, source| part.read(source, file))?;
    /// assert!(part.is_one_of_many());
    /// # Ok::<(), weighbridge::weighbridge_core::Stop>(())
    /// ```
    ///
    /// # Errors
    /// [`Stop::NeedBytes`]; call again when the bytes are available.
    pub fn read(&mut self, source: &Source<'_>, file: &File) -> Result<(), Stop> {
        let mut walk = core::mem::take(&mut self.walk);
        let read = walk.each(source, file, |meta| self.note(source, file, meta));
        self.walk = walk;
        read
    }

    /// Whether the file states its number and the number of parts.
    ///
    /// ```
    /// assert!(!weighbridge::SetPart::default().is_numbered());
    /// ```
    pub fn is_numbered(&self) -> bool {
        self.no.is_some() && self.count.is_some()
    }

    /// Whether there are other parts.
    ///
    /// ```
    /// use weighbridge::SetPart;
    /// use weighbridge::weighbridge_core::{Cursor, File, Source};
    ///
    /// # let bytes = weighbridge_tests::samples::words();
    /// let source = Source::whole(&bytes);
    /// let file = File::open(&source, &mut |_| {})?;
    /// let (mut cursor, mut part) = (Cursor::default(), SetPart::default());
    /// while let Some(entry) = file.next_meta(&source, &mut cursor, &mut |_| {})? {
    ///     part.note(&source, &file, &entry.metadata)?;
    /// }
    /// assert!(!part.is_one_of_many()); // a model in one file
    /// # Ok::<(), weighbridge::weighbridge_core::Stop>(())
    /// ```
    pub fn is_one_of_many(&self) -> bool {
        self.no.is_some() && self.count.is_some_and(|count| count.value > 1)
    }
}

/// The value of an integer that is not negative.
fn whole(element: Option<Element>) -> Option<u64> {
    match element? {
        Element::Uint(value) => Some(value),
        Element::Int(value) => u64::try_from(value).ok(),
        _ => None,
    }
}
