//! What this build has, as constants: code for anything else is checked, and then dropped.

/// Files of which only parts are in memory.
pub(crate) const WINDOWS: bool = cfg!(feature = "windows");
/// Findings with a length, and with what was expected and found.
pub(crate) const DETAILS: bool = cfg!(feature = "details");
/// Payloads that are checked.
pub(crate) const PAYLOADS: bool = cfg!(feature = "payloads");
/// Faster passes, for hosts.
pub(crate) const SWEEP: bool = cfg!(feature = "sweep");
