//! Detection of pickles by name.

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
