//! Pickles: recognition by name and by content, and the imports and calls of each.
//!
//! A pickle is a program for a stack machine. Loading it runs that program, which may import any
//! module and call any function. Nothing here runs anything: operations are read, and the depth of
//! the stack is followed.

#[cfg(feature = "pickles")]
mod machine;
mod opcodes;
mod walk;

#[cfg(feature = "pickles")]
pub use machine::{
    Import, PICKLE_LIST, PickleEnd, PickleEvent, PickleFault, PickleItem, PickleMemory, PickleName,
    PickleScan, PickleStop, PickleValue, Spelling, Standing,
};
pub use walk::{PickleWalk, Pickled};

/// Whether the file name is that of a pickle. Loading a pickle runs code.
///
/// ```
/// assert!(weighbridge_core::format::is_pickle(b"archive/data.PKL"));
/// assert!(!weighbridge_core::format::is_pickle(b"data.pkl.npy"));
/// ```
pub fn is_pickle(name: &[u8]) -> bool {
    [&b".pkl"[..], b".pickle", b".joblib"].iter().any(|end| {
        let at = name.len().checked_sub(end.len());
        at.and_then(|at| name.get(at..)).is_some_and(|last| last.eq_ignore_ascii_case(end))
    })
}
