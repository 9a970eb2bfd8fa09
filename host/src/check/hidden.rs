//! Where an open file may hide pickles: in bytes that no part of the model has, and in an archive that
//! ends with the file.
//!
//! `zipfile` finds an archive from the end of a file, whatever is before it. So do loaders that look
//! for one. Readers of a format ignore bytes behind or between its data; a program that knows their
//! offset can load them. Most formats make such bytes a lint, or a violation that the lenient profile
//! accepts, so their content decides. A flatbuffer without a stated length has no bytes behind it.

use crate::check::report::Collected;
use alloc::vec::Vec;
use weighbridge_core::{Rule, format};

/// Rules on bytes that belong to nothing, and on padding that is not zero. A finding begins where the
/// bytes do.
const STRAY: &[Rule] = &[
    #[cfg(feature = "bintensors")]
    format::bintensors::rules::B1,
    #[cfg(feature = "executorch")]
    format::executorch::rules::F_TRAILING,
    #[cfg(feature = "executorch")]
    format::executorch::rules::S_GAP,
    #[cfg(feature = "gguf")]
    format::gguf::rules::GAP,
    #[cfg(feature = "gguf")]
    format::gguf::rules::PADDING,
    #[cfg(feature = "gguf")]
    format::gguf::rules::TRAILING,
    #[cfg(feature = "idv")]
    format::idv::rules::H_TRAILING,
    #[cfg(feature = "idv")]
    format::idv::rules::R_GAP,
    #[cfg(feature = "npy")]
    format::npy::rules::NPY_TRAILING,
    #[cfg(feature = "npz")]
    format::npz::rules::ZIP_APPENDED,
    #[cfg(feature = "npz")]
    format::npz::rules::ZIP_GAP,
    #[cfg(feature = "oinf")]
    format::oinf::rules::PAYLOAD_GAP,
    #[cfg(feature = "oinf")]
    format::oinf::rules::PAYLOAD_GAP_NONZERO,
    #[cfg(feature = "oinf")]
    format::oinf::rules::PAYLOAD_TRAILING,
    #[cfg(feature = "oinf")]
    format::oinf::rules::START_GAP,
    #[cfg(feature = "oinf")]
    format::oinf::rules::TABLE_GAP,
    #[cfg(feature = "pytorch")]
    format::pytorch::rules::L_TRAILING,
    #[cfg(feature = "safetensors")]
    format::safetensors::rules::HOLE,
    #[cfg(feature = "safetensors")]
    format::safetensors::rules::TRAILING,
    #[cfg(feature = "stb")]
    format::stb::rules::D_GAP,
    #[cfg(feature = "stb")]
    format::stb::rules::D_PAD,
    #[cfg(feature = "stb")]
    format::stb::rules::D_TRAILING,
    #[cfg(feature = "tflite")]
    format::tflite::rules::F_TRAILING,
    #[cfg(feature = "ztensor")]
    format::ztensor::rules::BLOB_GAP,
    #[cfg(feature = "ztensor")]
    format::ztensor::rules::BLOB_PADDING,
];

/// The places in a file where pickles may hide.
#[derive(Clone, Debug, Default)]
pub(crate) struct Hidden {
    /// Where bytes begin that belong to nothing.
    pub(crate) starts: Vec<u64>,
    /// There are more of them than findings are kept.
    pub(crate) has_more: bool,
    /// An archive may end with the file.
    pub(crate) archive: bool,
    /// The file itself is a pickle.
    pub(crate) whole: bool,
}

impl Hidden {
    /// The hidden places that findings on a file show.
    pub(crate) fn of(collected: &Collected) -> Self {
        let is_stray = |rule: &Rule| STRAY.contains(rule);
        let kept = collected.kept.iter().filter(|it| is_stray(&it.rule));
        let starts: Vec<_> = kept.map(|it| it.offset).collect();
        let mut counts = collected.tally.rules().filter(|it| is_stray(&it.rule));
        let archive = !starts.is_empty();
        let has_more = counts.any(|it| it.found > it.kept);
        Hidden { starts, has_more, archive, whole: false }
    }

    /// Whether there is nothing to look at.
    pub(crate) fn is_empty(&self) -> bool {
        self.starts.is_empty() && !self.has_more && !self.archive && !self.whole
    }
}
