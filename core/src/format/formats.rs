//! The list of formats.

use crate::format::{self, Container};
use crate::rule::{Rule, RuleInfo};

/// Calls the macro `$with` with the list of formats.
macro_rules! formats {
    ($with:ident) => {
        $with! {
            /// SVG-Tensor Binary 0.1, `.stb`.
            Stb = 1, stb, "stb", "STB", &["stb"];
            /// Open Infer Neural Format 1 and 2, `.oinf`.
            Oinf = 2, oinf, "oinf", "OINF", &["oinf"];
            /// zTensor 0.1 to 2, `.zt`.
            ZTensor = 3, ztensor, "ztensor", "zTensor", &["zt", "ztensor"];
            /// The binary data view of ML.NET, `.idv`.
            Idv = 5, idv, "idv", "ML.NET IDV", &["idv"];
            /// GGUF 2 and 3, `.gguf`.
            Gguf = 7, gguf, "gguf", "GGUF", &["gguf"];
            /// A NumPy array, `.npy`.
            Npy = 9, npy, "npy", "NPY", &["npy"];
            /// An archive of NumPy arrays, `.npz`.
            Npz = 10, npz, "npz", "NPZ", &["npz"];
            /// safetensors, `.safetensors`. Its only magic is the brace after the header
            /// length.
            Safetensors = 6, safetensors, "safetensors", "safetensors", &["safetensors"];
            /// The index of a sharded checkpoint, `.safetensors.index.json` or, of PyTorch,
            /// `.bin.index.json`.
            Shards = 8, shards, "shards", "shard index", &["safetensors.index.json", "bin.index.json"];
            /// ONNX, `.onnx`. It has no magic: a model begins with its IR version.
            Onnx = 14, onnx, "onnx", "ONNX", &["onnx"];
            /// A checkpoint or program of PyTorch: `.pt`, `.pth`, `.ckpt`, TorchScript as `.jit`, for
            /// phones as `.ptl`, exported as `.pt2`. A host recognises it once it has
            /// followed its pickle.
            PyTorch = 15, pytorch, "pytorch", "PyTorch", &["pt", "pth", "ckpt", "jit", "ptl", "pt2"];
            /// TensorFlow Lite, `.tflite`.
            Tflite = 16, tflite, "tflite", "TensorFlow Lite", &["tflite"];
            /// ExecuTorch, `.pte` programs and `.ptd` data.
            ExecuTorch = 17, executorch, "executorch", "ExecuTorch", &["pte", "ptd"];
            /// BinTensors, `.bt`. It has no magic, so it comes last.
            BinTensors = 4, bintensors, "bintensors", "BinTensors", &["bt"];
        }
    };
}
pub(crate) use formats;

/// Declares [`Format`].
macro_rules! declare {
    ($($(#[$doc:meta])* $name:ident = $code:literal, $module:ident, $feature:literal, $title:literal, $extensions:expr;)*) => {
        /// A file format.
        ///
        /// All formats are listed; [`Format::is_available`] says whether this build reads
        /// one.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[cfg_attr(feature = "defmt", derive(defmt::Format))]
        #[non_exhaustive]
        #[repr(u8)]
        pub enum Format {
            $($(#[$doc])* $name = $code,)*
        }

        impl Format {
            /// All formats, in the order of detection.
            pub const ALL: &[Format] = &[$(Format::$name),*];

            /// The first format, or a placeholder in a build without formats, which cannot
            /// open any file.
            #[allow(dead_code)]
            pub(crate) const FIRST: Format = match Format::ALL.first() {
                Some(format) => *format,
                None => Format::Stb,
            };

            /// The format's number within a rule.
            pub(crate) const fn code(self) -> u16 {
                match self { $(Format::$name => $code,)* }
            }

            /// The format with this number within a rule, which is also `self as u8`.
            pub const fn from_code(code: u16) -> Option<Format> {
                match code {
                    $($code => Some(Format::$name),)*
                    _ => None,
                }
            }

            /// The name used in options and reports.
            pub const fn name(self) -> &'static str {
                match self { $(Format::$name => $feature,)* }
            }

            /// The display name.
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

            /// The format's rule catalogue; empty if this build does not read the format.
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

            /// The names of the types of metadata values, by number, as the specification spells
            /// them; empty if no rule is about such types.
            pub const fn value_types(self) -> &'static [&'static str] {
                match self {
                    $(
                        #[cfg(feature = $feature)]
                        Format::$name => <format::$module::Header as Container>::VALUE_TYPES,
                    )*
                    #[allow(unreachable_patterns)]
                    _ => &[],
                }
            }

            /// The rules whose messages quote the text at the place of the finding.
            pub(crate) const fn quoting(self) -> &'static [Rule] {
                match self {
                    $(
                        #[cfg(feature = $feature)]
                        Format::$name => <format::$module::Header as Container>::QUOTING,
                    )*
                    #[allow(unreachable_patterns)]
                    _ => &[],
                }
            }

            /// Detects the format of a file of `len` bytes from its first bytes. `head`
            /// holds at least nine bytes, or the whole file if it is shorter.
            ///
            /// Formats without a magic come last, and match if the header is plausible.
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
    };
}

formats!(declare);

impl Format {
    /// The format with this name in options and reports, in any case.
    pub fn by_name(name: &str) -> Option<Format> {
        Format::ALL.iter().copied().find(|format| format.name().eq_ignore_ascii_case(name))
    }

    /// Whether the first bytes of a file identify the format. If not, the file name is
    /// better evidence.
    ///
    /// BinTensors begins with a length, and a plausible length proves little. The same goes
    /// for a JSON document that begins with a key of a shard index. A ZIP archive may hold
    /// anything, so NPZ is never detected by content. An ONNX model begins with a small number, as
    /// many messages of Protocol Buffers do. A checkpoint of PyTorch is an archive or a pickle.
    pub const fn has_magic(self) -> bool {
        !matches!(
            self,
            Format::BinTensors | Format::Npz | Format::Onnx | Format::PyTorch | Format::Shards
        )
    }

    /// Whether a file with one of the format's extensions is of this format, or broken. Those of PyTorch
    /// are the names of many things.
    pub const fn is_told_by_name(self) -> bool {
        !matches!(self, Format::PyTorch)
    }

    /// Detects the format from a file name, which must end in one of the format's
    /// [extensions](Format::extensions), in any case, after a non-empty stem and a dot.
    pub fn by_file_name(name: &str) -> Option<Format> {
        // An extension may contain a dot.
        let ends = |extension: &&str| {
            let at = name.len().checked_sub(extension.len());
            let parts = at.and_then(|at| name.as_bytes().split_at_checked(at));
            parts.is_some_and(|(stem, end)| {
                end.eq_ignore_ascii_case(extension.as_bytes()) && matches!(stem, [_, .., b'.'])
            })
        };
        Format::ALL.iter().copied().find(|format| format.extensions().iter().any(ends))
    }
}

impl core::fmt::Display for Format {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(self.title())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::format;

    #[test]
    fn file_extension_names_format() {
        let named = |name: &str| Format::by_file_name(name).map(Format::name);
        for format in Format::ALL {
            for extension in format.extensions() {
                assert_eq!(named(&format!("model.v1.{extension}")), Some(format.name()));
                let upper = format!("\u{e9}.{}", extension.to_uppercase());
                assert_eq!(named(&upper), Some(format.name()));
            }
        }
        assert_eq!(named("model.safetensors.index.json"), Some("shards"));
        for none in
            ["", "stb", ".stb", "model", "model.json", "xstb", "index.json", "a.stb.", "a.stb/"]
        {
            assert_eq!(named(none), None, "{none}");
        }
    }
}
