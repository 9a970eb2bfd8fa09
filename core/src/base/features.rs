//! The features of this build as constants: code for the others is type-checked, then dropped.

/// Partially resident files.
pub(crate) const WINDOWS: bool = cfg!(feature = "windows");
/// Findings with a length and with expected and found numbers.
pub(crate) const DETAILS: bool = cfg!(feature = "details");
/// Payload checks.
pub(crate) const PAYLOADS: bool = cfg!(feature = "payloads");
/// Text in the fields of records, which hosts check: a scratch follows it.
#[cfg(any(feature = "items", feature = "payloads"))]
pub(crate) const TEXTS: bool = cfg!(all(feature = "payloads", feature = "packed"));
/// Faster passes, for hosts.
pub(crate) const SWEEP: bool = cfg!(feature = "sweep");
