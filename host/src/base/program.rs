//! The program that writes reports.

/// The program that wrote a report.
#[derive(Clone, Copy, Debug, serde::Serialize)]
pub struct Tool {
    /// Its name.
    pub name: &'static str,
    /// Its version.
    pub version: &'static str,
}

/// This release.
pub const TOOL: Tool = Tool { name: "weighbridge", version: env!("CARGO_PKG_VERSION") };
