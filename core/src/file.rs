//! The one place that lists the formats.

use crate::checksum::Checksum;
use crate::cursor::Cursor;
use crate::finding::{Finding, Stop};
use crate::format::{self, Container, Policy};
use crate::name::Name;
use crate::opening::Opening;
use crate::read::{Halt, Reader};
use crate::rule::{RuleInfo, general};
use crate::source::{Absent, Source};
use crate::tensor::{Chunk, Endianness, Meta, Region, Tensor, Value, Version};

/// Declares [`Format`] and [`File`]: one line a format.
macro_rules! formats {
    ($($(#[$doc:meta])* $name:ident = $code:literal, $module:ident, $feature:literal, $title:literal, $extensions:expr;)*) => {
        /// A file format.
        ///
        /// Every format has a name here; whether this build can read it is told
        /// by [`Format::is_available`].
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[cfg_attr(feature = "defmt", derive(defmt::Format))]
        #[non_exhaustive]
        #[repr(u8)]
        pub enum Format {
            $($(#[$doc])* $name = $code,)*
        }

        impl Format {
            /// All formats, in the order in which their magic is tried.
            pub const ALL: &[Format] = &[$(Format::$name),*];

            /// Stands in where no file can exist, for lack of formats.
            #[allow(dead_code)]
            const FIRST: Format = match Format::ALL.first() {
                Some(format) => *format,
                None => Format::Stb,
            };

            /// The number that rules are coded with.
            pub(crate) const fn code(self) -> u16 {
                match self { $(Format::$name => $code,)* }
            }

            pub(crate) const fn from_code(code: u16) -> Option<Format> {
                match code {
                    $($code => Some(Format::$name),)*
                    _ => None,
                }
            }

            /// The name that options and reports use.
            pub const fn name(self) -> &'static str {
                match self { $(Format::$name => $feature,)* }
            }

            /// The name that people use.
            pub const fn title(self) -> &'static str {
                match self { $(Format::$name => $title,)* }
            }

            /// Usual file extensions, without the dot.
            pub const fn extensions(self) -> &'static [&'static str] {
                match self { $(Format::$name => $extensions,)* }
            }

            /// Whether this build reads the format.
            pub const fn is_available(self) -> bool {
                match self { $(Format::$name => cfg!(feature = $feature),)* }
            }

            /// The rule catalogue; empty if this build does not read the format.
            pub const fn rules(self) -> &'static [RuleInfo] {
                match self {
                    $(
                        #[cfg(feature = $feature)]
                        Format::$name => format::$module::rules::RULES,
                    )*
                    #[allow(unreachable_patterns)]
                    _ => &[],
                }
            }

            /// The format that the first bytes of a file of `len` bytes show.
            /// `head` holds at least nine bytes, or all there are.
            ///
            /// Formats without a magic come last, and are named when the file is
            /// plausible.
            pub fn of_head(head: &[u8], len: u64) -> Option<Format> {
                $(
                    #[cfg(feature = $feature)]
                    if format::$module::Header::detect(head, len) {
                        return Some(Format::$name);
                    }
                )*
                let _ = (head, len);
                None
            }
        }

        /// An open file: plain numbers, which outlive the windows they were read
        /// from. Every method takes the source again.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[non_exhaustive]
        pub enum File {
            $(
                #[cfg(feature = $feature)]
                $(#[$doc])*
                $name(format::$module::Header),
            )*
        }

        /// Calls the same function of whichever header it is.
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
                        Format::$name => format::$module::Header::open(reader, cursor).map(File::$name),
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

            /// Whether parts of files are compared with one another, in any format.
            #[cfg(not(feature = "windows"))]
            pub(crate) const COVERS: bool = {
                let mut covers = false;
                $(
                    #[cfg(feature = $feature)]
                    if format::$module::Header::POLICY.covers() {
                        covers = true;
                    }
                )*
                covers
            };

            pub(crate) fn policy(&self) -> &'static Policy {
                match *self {
                    $(
                        #[cfg(feature = $feature)]
                        File::$name(_) => &format::$module::Header::POLICY,
                    )*
                    #[allow(unreachable_patterns)]
                    _ => &Policy::NONE,
                }
            }
        }
    };
}

formats! {
    /// SVG-Tensor Binary 0.1, `.stb`.
    Stb = 1, stb, "stb", "STB", &["stb"];
    /// Open Infer Neural Format 1 and 2, `.oinf`.
    Oinf = 2, oinf, "oinf", "OINF", &["oinf"];
    /// zTensor 0.1, `.zt`.
    ZTensor = 3, ztensor, "ztensor", "zTensor", &["zt", "ztensor"];
    /// The binary data view of ML.NET, `.idv`.
    Idv = 5, idv, "idv", "ML.NET IDV", &["idv"];
    /// GGUF 2 and 3, `.gguf`.
    Gguf = 7, gguf, "gguf", "GGUF", &["gguf"];
    /// safetensors, `.safetensors`. It has no magic but the brace behind the
    /// length of its header.
    Safetensors = 6, safetensors, "safetensors", "safetensors", &["safetensors"];
    /// The index of a safetensors checkpoint in shards,
    /// `.safetensors.index.json`.
    Shards = 8, shards, "shards", "safetensors shards", &["safetensors.index.json"];
    /// BinTensors, `.bt`. It has no magic, so it comes last.
    BinTensors = 4, bintensors, "bintensors", "BinTensors", &["bt"];
}

// Behind the macro that it uses.
mod dispatch;

impl File {
    /// Opens a file of which everything needed is resident.
    ///
    /// Findings of the header go to `sink`. To open a file in parts, keep an
    /// [`Opening`] between calls.
    ///
    /// # Errors
    /// As [`Opening::step`].
    pub fn open(source: &Source<'_>, sink: &mut dyn FnMut(Finding)) -> Result<File, Stop> {
        Opening::detect().step(source, sink)
    }

    /// Opens a file as `format`, whatever it looks like.
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

    /// The length that the file records; `None` if its format records none.
    /// Where the source is a region, the file is this much of it.
    pub fn recorded_len(&self) -> Option<u64> {
        each!(self, header => header.file_len(), None)
    }

    /// The byte order of numbers in metadata.
    pub fn endianness(&self) -> Endianness {
        each!(self, header => Container::endianness(header), Endianness::Little)
    }

    /// How many tensors the file declares. Fewer may follow if it is broken.
    pub fn tensor_count(&self) -> u64 {
        each!(self, header => header.tensor_count(), 0)
    }

    /// The next metadata entry of the file, judged; `None` at the end.
    ///
    /// A cursor also moves inside an entry that is a long [list](Value::List),
    /// though bytes are lacking: it is to be kept even then, or a list that is
    /// longer than what is resident is passed over from its start for ever.
    ///
    /// # Errors
    /// [`Stop::Absent`]: make the bytes resident and call again with the same
    /// cursor.
    pub fn next_meta(
        &self,
        source: &Source<'_>,
        cursor: &mut Cursor,
        sink: &mut dyn FnMut(Finding),
    ) -> Result<Option<Meta>, Stop> {
        let mut reader = Reader::new(source, sink);
        self.meta(&mut reader, cursor).map_err(|halt| reader.stop(halt))
    }

    /// The next tensor, judged; `None` at the end.
    ///
    /// A tensor that breaks a rule comes all the same: its status tells whether
    /// it may be used.
    ///
    /// # Errors
    /// [`Stop::Absent`]: make the bytes resident and call again.
    pub fn next_tensor(
        &self,
        source: &Source<'_>,
        cursor: &mut Cursor,
        sink: &mut dyn FnMut(Finding),
    ) -> Result<Option<Tensor>, Stop> {
        let mut reader = Reader::new(source, sink);
        self.tensor(&mut reader, cursor).map_err(|halt| reader.stop(halt))
    }

    /// The next metadata entry of one tensor; `None` at the end.
    ///
    /// # Errors
    /// [`Stop::Absent`]: make the bytes resident and call again.
    pub fn next_attribute(
        &self,
        source: &Source<'_>,
        tensor: &Tensor,
        cursor: &mut Cursor,
    ) -> Result<Option<Meta>, Stop> {
        quietly(source, |reader| self.attribute(reader, tensor, cursor))
    }

    /// What is not resident of the tables that lie scattered over the file.
    ///
    /// A call that stops for absent bytes names one range. A host that fetches
    /// these ranges with it needs a number of rounds that does not depend on
    /// how many tables there are. They come in the order of the index;
    /// neighbours are joined. Formats whose index is in one piece have none.
    pub fn lacking(&self, source: &Source<'_>, report: &mut dyn FnMut(Absent)) {
        let mut sink = |_| {};
        let mut reader = Reader::new(source, &mut sink);
        reader.mute();
        match *self {
            #[cfg(feature = "idv")]
            File::Idv(ref header) => header.lacking(&mut reader, report),
            #[allow(unreachable_patterns)]
            _ => {
                let _ = (reader, report);
            }
        }
    }

    /// What a metadata entry holds; `None` if its value cannot be read, which
    /// the audit reports.
    ///
    /// # Errors
    /// [`Stop::Absent`]: make the bytes resident and call again.
    pub fn value(&self, source: &Source<'_>, meta: &Meta) -> Result<Option<Value>, Stop> {
        quietly(source, |reader| each!(self, header => header.value(reader, meta), Ok(None)))
    }

    /// Chunk number `chunk` of a tensor; `None` behind the last one.
    ///
    /// # Errors
    /// [`Stop::Absent`]: make the bytes resident and call again.
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

    /// What the stored bytes of a tensor are said to sum up to; `None` if
    /// nothing is said, or nothing that is understood.
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

    /// The next part of the file that something refers to; `None` at the end.
    ///
    /// Parts come in the order of the index, which need not be that of the
    /// file; what lies between them is referred to by nothing.
    ///
    /// # Errors
    /// [`Stop::Absent`]: make the bytes resident and call again.
    pub fn next_region(
        &self,
        source: &Source<'_>,
        cursor: &mut Cursor,
    ) -> Result<Option<Region>, Stop> {
        quietly(source, |reader| self.region(reader, cursor))
    }

    /// The part that [`next_region`](Self::next_region) comes to for a tensor that
    /// was listed, where the format's last parts are the data of all tensors in
    /// order; `None` in other formats, and for tensors without data.
    pub fn region_of(&self, source: &Source<'_>, tensor: &Tensor) -> Option<Region> {
        each!(self, header => dispatch::last_region(header, source, tensor), None)
    }

    /// The first tensor with this name, by reading one entry after the other.
    /// An [`Index`](crate::Index) is faster when asked more than once.
    ///
    /// # Errors
    /// [`Stop::Absent`]: make the bytes resident and call again with the same
    /// cursor.
    #[cfg_attr(feature = "names", inline(never))]
    pub fn find(
        &self,
        source: &Source<'_>,
        name: &Name<'_>,
        cursor: &mut Cursor,
    ) -> Result<Option<Tensor>, Stop> {
        quietly(source, |reader| self.seek(reader, name, cursor))
    }

    fn seek(
        &self,
        reader: &mut Reader<'_, '_>,
        name: &Name<'_>,
        cursor: &mut Cursor,
    ) -> Result<Option<Tensor>, Halt> {
        loop {
            // Looked at where it is returned: a tensor is large for a small stack.
            let mut found = false;
            let result = cursor.step(|next| {
                let result = self.tensor(reader, next);
                if let Ok(Some(tensor)) = &result {
                    found = reader.name(&tensor.name)? == *name;
                }
                result
            });
            if found || !matches!(result, Ok(Some(_))) {
                return result;
            }
        }
    }
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
