//! Marks that an audit sets on entries, such as the tensors that have been written.

/// A mark for each of some entries, from 0 on.
pub(crate) trait Marks {
    /// Number of entries that can be marked.
    fn most(&self) -> u32;

    /// Whether an entry is marked.
    fn has(&self, entry: u32) -> bool;

    /// Marks an entry.
    fn set(&mut self, entry: u32);

    /// Removes the marks of the first `count` entries.
    fn clear(&mut self, count: u32);
}
