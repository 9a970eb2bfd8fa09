//! An open file of any format.

use crate::base::features::WINDOWS;
use crate::codec::checksum::Checksum;
use crate::format::{self, Container, Fault, Format, formats};
use crate::input::{Absent, Source};
use crate::model::{
    Chunk, Endianness, Entry, KeyedMetadata, Metadata, Name, Region, Tensor, Value, Version,
    name::NUMBERS_ONLY,
};
use crate::parse::{Reader, Stop};
use crate::rule::{EntryKind, Finding, Halt, Rule, general};

/// Declares [`File`]: one header per format.
macro_rules! declare {
    ($($(#[$doc:meta])* $name:ident = $code:literal, $module:ident, $feature:literal, $title:literal, $extensions:expr;)*) => {
        /// An open file: plain numbers that outlive the windows they were read from. Every method
        /// takes the source again.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[non_exhaustive]
        pub enum File {
            $(
                #[cfg(feature = $feature)]
                $(#[$doc])*
                $name(format::$module::Header),
            )*
        }

        /// Calls the same function on the header of any format.
        macro_rules! each {
            ($file:expr, $header:ident => $call:expr, $none:expr) => {
                match *$file {
                    $(
                        #[cfg(feature = $feature)]
                        File::$name(ref $header) => $call,
                    )*
                    #[allow(unreachable_patterns)]
                    _ => $none,
                }
            };
        }

        impl File {
            pub(crate) fn open_format(
                format: Format,
                reader: &mut Reader<'_, '_>,
                cursor: &mut Cursor,
            ) -> Result<File, Halt> {
                match format {
                    $(
                        #[cfg(feature = $feature)]
                        Format::$name => format::$module::Header::open(
                            reader,
                            cursor::Holds::<format::$module::Header>::cursor(cursor),
                        )
                        .map(File::$name),
                    )*
                    #[allow(unreachable_patterns)]
                    _ => {
                        let _ = cursor;
                        reader.flag(general::UNKNOWN_FORMAT, 0, 0, 0, 0);
                        Err(Halt::refused(general::UNKNOWN_FORMAT))
                    }
                }
            }

            /// The format.
            pub fn format(&self) -> Format {
                match *self {
                    $(
                        #[cfg(feature = $feature)]
                        File::$name(_) => Format::$name,
                    )*
                    #[allow(unreachable_patterns)]
                    _ => Format::FIRST,
                }
            }

            /// The format's rule for a fault that a shared check finds, if it has one.
            pub(crate) fn rule(&self, fault: Fault) -> Option<Rule> {
                match *self {
                    $(
                        #[cfg(feature = $feature)]
                        File::$name(ref header) => {
                            header.rule(fault, format::$module::rules::shared(fault))
                        }
                    )*
                    #[allow(unreachable_patterns)]
                    _ => None,
                }
            }

            /// Whether any format of this build has a rule for `fault`.
            pub(crate) const fn any_has_rule(fault: Fault) -> bool {
                $(
                    #[cfg(feature = $feature)]
                    if format::$module::rules::shared(fault).is_some() {
                        return true;
                    }
                )*
                false
            }
        }
    };
}

formats!(declare);

mod catalogue;
mod cursor;
// After the macro that it uses.
mod dispatch;
#[cfg(feature = "embedded-storage")]
mod flash;
mod index;
mod opening;
mod plural;
mod quoted;
pub(crate) mod slot;
#[cfg(feature = "windows")]
pub(crate) mod slot_marks;
mod tally;

pub use cursor::Cursor;
#[cfg(feature = "embedded-storage")]
pub use flash::{Flash, FlashError};
pub use index::Index;
pub use opening::Opening;
pub use quoted::Quoted;
pub use slot::Slot;
pub use tally::{Count, Tally};

impl File {
    /// Whether any format of this build compares parts of the file with one another.
    pub(crate) const COVERS: bool = File::any_has_rule(Fault::Overlap);

    /// Whether this entry may have the name of another of its kind in spite of the rule.
    pub(crate) fn may_repeat(&self, kind: EntryKind, index: u32) -> bool {
        each!(self, header => header.may_repeat(kind, index), false)
    }

    /// Whether any format compares metadata entries of tensors with one another.
    pub(crate) const COMPARES_ATTRIBUTES: bool =
        File::any_has_rule(Fault::Duplicate(EntryKind::Attribute));

    /// Whether any format compares entry names.
    pub(crate) const COMPARES_NAMES: bool = File::COMPARES_ATTRIBUTES
        || File::any_has_rule(Fault::Duplicate(EntryKind::Tensor))
        || File::any_has_rule(Fault::Duplicate(EntryKind::Metadata));

    /// Opens a file whose header is resident.
    ///
    /// Header findings go to `sink`. To open a file in parts, keep an [`Opening`] between calls.
    ///
    /// # Errors
    /// As [`Opening::step`].
    pub fn open(source: &Source<'_>, sink: &mut dyn FnMut(Finding)) -> Result<File, Stop> {
        Opening::detect().step(source, sink)
    }

    /// Opens a file as `format`, whatever its content.
    ///
    /// # Errors
    /// As [`Opening::step`].
    pub fn open_as(
        format: Format,
        source: &Source<'_>,
        sink: &mut dyn FnMut(Finding),
    ) -> Result<File, Stop> {
        Opening::of(Some(format)).step(source, sink)
    }

    /// The version that the file states; `None` if its format has none.
    pub fn version(&self) -> Option<Version> {
        each!(self, header => header.version(), None)
    }

    /// The length that the file records; `None` if its format records none. In a region,
    /// the file ends there.
    pub fn recorded_len(&self) -> Option<u64> {
        each!(self, header => header.file_len(), None)
    }

    /// The byte order of numbers in metadata.
    pub fn endianness(&self) -> Endianness {
        each!(self, header => Container::endianness(header), Endianness::Little)
    }

    /// Number of tensors that the file declares. A broken file may have fewer.
    pub fn tensor_count(&self) -> u64 {
        each!(self, header => header.tensor_count(), 0)
    }

    /// The next metadata entry of the file, validated, with its key; `None` at the end.
    ///
    /// Keep the cursor even after an error: it also advances inside a long [list](Value::List),
    /// and a list longer than the resident bytes would otherwise be scanned from its start
    /// forever.
    ///
    /// # Errors
    /// [`Stop::NeedBytes`]: make the bytes resident and call again with the same
    /// cursor.
    pub fn next_meta<'a>(
        &self,
        source: &Source<'a>,
        cursor: &mut Cursor,
        sink: &mut dyn FnMut(Finding),
    ) -> Result<Option<KeyedMetadata<'a>>, Stop> {
        let (mut reader, before) = (Reader::new(source, sink), saved(source, cursor));
        let found = self.meta(&mut reader, cursor).map_err(|halt| reader.stop(halt))?;
        complete(found, cursor, before, source.len(), |metadata| {
            KeyedMetadata::of(metadata, source)
        })
    }

    /// The next tensor, validated, with its name and shape; `None` at the end. If bytes are
    /// missing, keep the cursor: an entry may lie in several places, and the cursor stores what
    /// has been read of it.
    ///
    /// A tensor that breaks a rule is returned as well; its status says whether it may be
    /// used.
    ///
    /// # Errors
    /// [`Stop::NeedBytes`]: make the bytes resident and call again.
    pub fn next_tensor<'a>(
        &self,
        source: &Source<'a>,
        cursor: &mut Cursor,
        sink: &mut dyn FnMut(Finding),
    ) -> Result<Option<Entry<'a>>, Stop> {
        let (mut reader, before) = (Reader::new(source, sink), saved(source, cursor));
        let found = self.tensor(&mut reader, cursor).map_err(|halt| reader.stop(halt))?;
        complete(found, cursor, before, source.len(), |tensor| Entry::of(tensor, source))
    }

    /// The next metadata entry of one tensor; `None` at the end.
    ///
    /// # Errors
    /// [`Stop::NeedBytes`]: make the bytes resident and call again.
    pub fn next_attribute<'a>(
        &self,
        source: &Source<'a>,
        tensor: &Tensor,
        cursor: &mut Cursor,
    ) -> Result<Option<KeyedMetadata<'a>>, Stop> {
        let before = saved(source, cursor);
        let found = quietly(source, |reader| self.attribute(reader, tensor, cursor))?;
        complete(found, cursor, before, source.len(), |metadata| {
            KeyedMetadata::of(metadata, source)
        })
    }

    /// Reports the missing ranges of tables that are scattered over the file.
    ///
    /// A call that needs bytes names a single range. A host that also fetches these ranges needs
    /// a constant number of rounds, whatever the number of tables, up to 4,096 columns; tables of
    /// later columns are requested when they are needed. Ranges are in index order, with
    /// neighbours joined. Formats whose index is contiguous report none.
    pub fn missing(&self, source: &Source<'_>, report: &mut dyn FnMut(Absent)) {
        let mut sink = |_| {};
        let mut reader = Reader::new(source, &mut sink);
        reader.mute();
        each!(self, header => Container::missing(header, &mut reader, report), ());
    }

    /// The value of a metadata entry; `None` if it cannot be read, which the audit reports.
    ///
    /// # Errors
    /// [`Stop::NeedBytes`]: make the bytes resident and call again.
    pub fn value(&self, source: &Source<'_>, meta: &Metadata) -> Result<Option<Value>, Stop> {
        quietly(source, |reader| each!(self, header => header.value(reader, meta), Ok(None)))
    }

    /// Chunk number `chunk` of a tensor; `None` after the last one.
    ///
    /// # Errors
    /// [`Stop::NeedBytes`]: make the bytes resident and call again.
    pub fn chunk(
        &self,
        source: &Source<'_>,
        tensor: &Tensor,
        chunk: u64,
    ) -> Result<Option<Chunk>, Stop> {
        if chunk >= tensor.chunks.count() {
            return Ok(None);
        }
        quietly(
            source,
            |reader| each!(self, header => header.chunk(reader, tensor, chunk), Ok(None)),
        )
    }

    /// The recorded checksum of a tensor's stored bytes; `None` if there is none or its
    /// form is unknown.
    ///
    /// # Errors
    /// [`Absent`] when its entry is not resident.
    pub fn checksum(
        &self,
        source: &Source<'_>,
        tensor: &Tensor,
    ) -> Result<Option<Checksum>, Absent> {
        each!(self, header => header.checksum(source, tensor), Ok(None))
    }

    /// The next part of the file that an entry or the header refers to; `None` at the end.
    ///
    /// Parts come in index order, which may differ from file order. Nothing refers to the bytes
    /// between them.
    ///
    /// # Errors
    /// [`Stop::NeedBytes`]: make the bytes resident and call again.
    pub fn next_region(
        &self,
        source: &Source<'_>,
        cursor: &mut Cursor,
    ) -> Result<Option<Region>, Stop> {
        quietly(source, |reader| self.region(reader, cursor))
    }

    /// The part that [`next_region`](Self::next_region) returns for a listed tensor, if the
    /// format's last parts are the data of all tensors in order; `None` in other formats, and for
    /// tensors without data.
    pub fn region_of(&self, source: &Source<'_>, tensor: &Tensor) -> Option<Region> {
        each!(self, header => dispatch::last_region(header, source, tensor), None)
    }

    /// The first tensor with this name, found by listing. An [`Index`](crate::Index) is faster
    /// for more than one lookup.
    ///
    /// # Errors
    /// [`Stop::NeedBytes`]: make the bytes resident and call again with the same
    /// cursor.
    pub fn find(
        &self,
        source: &Source<'_>,
        name: &Name<'_>,
        cursor: &mut Cursor,
    ) -> Result<Option<Tensor>, Stop> {
        if NUMBERS_ONLY {
            return self.seek(source, name, cursor);
        }
        // A tensor is large for a small stack.
        apart(|| self.seek(source, name, cursor))
    }

    fn seek(
        &self,
        source: &Source<'_>,
        name: &Name<'_>,
        cursor: &mut Cursor,
    ) -> Result<Option<Tensor>, Stop> {
        let mut sink = |_| {};
        let mut reader = Reader::new(source, &mut sink);
        reader.mute();
        loop {
            let before = cursor.saved();
            let result = self.tensor(&mut reader, cursor);
            // Examined in place.
            let mut other = Name::default();
            if let Ok(Some(tensor)) = &result {
                match reader.name(&tensor.name) {
                    Ok(found) => other = found,
                    Err(halt) => {
                        if WINDOWS {
                            *cursor = before;
                        }
                        return Err(reader.stop(halt));
                    }
                }
            }
            match result {
                Ok(Some(_)) if other != *name => {}
                Ok(found) => return Ok(found),
                Err(halt) => return Err(reader.stop(halt)),
            }
        }
    }
}

/// A copy of the cursor to return to if bytes are missing. It takes up to two thousand bytes, so none
/// is made if all bytes are there.
fn saved(source: &Source<'_>, cursor: &Cursor) -> Option<Cursor> {
    (!WINDOWS || !source.is_resident()).then(|| cursor.saved())
}

/// Applies `read` to an entry that was found; resets the cursor to `before` if the entry is not
/// wholly resident.
fn complete<T, E>(
    found: Option<T>,
    cursor: &mut Cursor,
    before: Option<Cursor>,
    len: u64,
    read: impl FnOnce(T) -> Result<E, Absent>,
) -> Result<Option<E>, Stop> {
    found.map(read).transpose().map_err(|absent| {
        if let Some(before) = before {
            *cursor = before;
        }
        // All bytes of an entry that was found are in the file.
        let end = absent.offset.checked_add(absent.need);
        match end.is_some_and(|end| end <= len) {
            true => Stop::NeedBytes(absent),
            false => Stop::Invalid(general::BYTES_CHANGED),
        }
    })
}

/// Runs `call` in a stack frame of its own.
#[inline(never)]
fn apart<O>(call: impl FnOnce() -> O) -> O {
    call()
}

/// Runs `call` with a reader that reports nothing.
fn quietly<O>(
    source: &Source<'_>,
    call: impl FnOnce(&mut Reader<'_, '_>) -> Result<O, Halt>,
) -> Result<O, Stop> {
    let mut sink = |_| {};
    let mut reader = Reader::new(source, &mut sink);
    reader.mute();
    call(&mut reader).map_err(|halt| reader.stop(halt))
}
