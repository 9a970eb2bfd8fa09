//! The limits of a store.

/// How much of a file is read at a time, and how much is kept.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Windows {
    /// Requests are rounded outwards to multiples of this power of two.
    pub(crate) granule: u64,
    /// Bytes to keep; more while a single window takes more than a quarter of that.
    pub(crate) kept: u64,
    /// Most windows to keep, because the core searches them in order.
    pub(crate) count: usize,
    /// Most bytes to read when the core wants more than it needs.
    pub(crate) wanted: u64,
    /// Contiguous reads double up to this length.
    pub(crate) ahead: u64,
    /// A file up to this length is kept as a whole once it was read too often.
    pub(crate) whole: u64,
}

impl Windows {
    /// For cheap reads: growing read-ahead, and a small granule, because scattered places in a
    /// large file, such as the padding after each tensor, cost one read each.
    pub(crate) const CHEAP: Windows = Windows {
        granule: 512,
        kept: 32 << 20,
        count: 48,
        wanted: 4 << 20,
        ahead: 4 << 20,
        whole: 128 << 20,
    };
}
