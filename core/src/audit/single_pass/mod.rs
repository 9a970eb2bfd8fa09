//! The audits of a file that is in memory as a whole, such as mapped flash.
//!
//! All bytes are resident, so a stage is only repeated if slots are missing, before it has
//! reported anything that needs them.

mod named;
mod numbered;
#[cfg(test)]
mod tests;

pub use named::MappedAudit;
pub use numbered::NumberedAudit;
