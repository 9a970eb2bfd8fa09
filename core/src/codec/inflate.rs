//! Deflate and zlib, with miniz_oxide's state machine, which needs no heap.

use super::{End, Fault, Job, Outcome};
use crate::base::widen;
use miniz_oxide::inflate::TINFLStatus;
use miniz_oxide::inflate::core::inflate_flags::{
    TINFL_FLAG_HAS_MORE_INPUT, TINFL_FLAG_PARSE_ZLIB_HEADER,
    TINFL_FLAG_USING_NON_WRAPPING_OUTPUT_BUF,
};
use miniz_oxide::inflate::core::{DecompressorOxide, decompress_with_limit};

/// The state of one stream.
pub(super) struct Inflate(DecompressorOxide);

impl Inflate {
    pub(super) const IS_BUILT: bool = true;

    pub(super) fn new() -> Self {
        Inflate(DecompressorOxide::new())
    }

    pub(super) fn start(&mut self) {
        self.0.init();
    }

    pub(super) fn step(&mut self, job: &mut Job<'_>, zlib: bool) -> Outcome {
        let mut flags = 0;
        if zlib {
            flags |= TINFL_FLAG_PARSE_ZLIB_HEADER;
        }
        if !job.last {
            flags |= TINFL_FLAG_HAS_MORE_INPUT;
        }
        // Nothing has wrapped yet on the first pass through a ring, and only this mode rejects
        // references to before the first byte.
        if job.whole || job.written < widen(job.output.len()) {
            flags |= TINFL_FLAG_USING_NON_WRAPPING_OUTPUT_BUF;
        }
        let (status, read, written) =
            decompress_with_limit(&mut self.0, job.input, job.output, job.at, job.room, flags);
        let full = job.left == widen(written);
        let end = match status {
            TINFLStatus::Done => End::Done,
            TINFLStatus::NeedsMoreInput => End::NotYet,
            // Without room this status may also mean that input is missing; in that case all
            // input was used, and the next call decides.
            TINFLStatus::HasMoreOutput if full && (job.last || read < job.input.len()) => {
                End::Fault(Fault::Long)
            }
            TINFLStatus::HasMoreOutput => End::NotYet,
            TINFLStatus::FailedCannotMakeProgress => End::Fault(Fault::Truncated),
            TINFLStatus::Adler32Mismatch => End::Fault(Fault::Checksum),
            _ => End::Fault(Fault::Malformed),
        };
        Outcome { read, written, end }
    }
}
