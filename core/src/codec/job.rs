//! The input of a codec step, and its result.

use super::Fault;

/// How a stream ended, once it has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    NotYet,
    Done,
    Fault(Fault),
}

/// The input of a step and whether more follows, the output, where to write in it, and the most
/// bytes to write.
#[cfg_attr(not(feature = "deflate"), allow(dead_code, reason = "raw bytes need less"))]
pub(super) struct Job<'j> {
    pub(super) input: &'j [u8],
    /// The input extends to the end of the stored bytes.
    pub(super) last: bool,
    pub(super) output: &'j mut [u8],
    pub(super) at: usize,
    /// Room from `at` on; 0 once the limit is reached.
    pub(super) room: usize,
    /// All of the stream's output stays in `output`.
    pub(super) whole: bool,
    /// Number of bytes that may still be written.
    pub(super) left: u64,
    /// Number of bytes written before.
    pub(super) written: u64,
    /// Work budget left.
    #[cfg_attr(not(feature = "zstd"), allow(dead_code, reason = "the others only write bytes"))]
    pub(super) work: u64,
}

/// The result of a step.
pub(super) struct Outcome {
    pub(super) read: usize,
    pub(super) written: usize,
    pub(super) end: End,
}

impl Outcome {
    pub(super) const UNSUPPORTED: Outcome =
        Outcome { read: 0, written: 0, end: End::Fault(Fault::Unsupported) };
}

/// Copies raw bytes.
pub(super) fn copy(job: &mut Job<'_>) -> Outcome {
    let target = job.output.get_mut(job.at..).unwrap_or_default();
    let target = target.get_mut(..job.room).unwrap_or_default();
    let taken = target.len().min(job.input.len());
    for (to, from) in target.iter_mut().zip(job.input) {
        *to = *from;
    }
    let used = job.last && taken == job.input.len();
    let end = match (used, job.left == 0) {
        (true, _) => End::Done,
        (false, true) if !job.input.is_empty() => End::Fault(Fault::Long),
        _ => End::NotYet,
    };
    Outcome { read: taken, written: taken, end }
}
