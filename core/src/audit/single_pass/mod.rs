//! The audits of a file that is wholly in memory, such as mapped flash.
//!
//! All bytes are resident, so a stage is repeated only if slots are missing, and then before it
//! has reported anything that needs them.

mod named;
mod numbered;
#[cfg(test)]
mod tests;

pub use named::MappedAudit;
pub use numbered::NumberedAudit;
