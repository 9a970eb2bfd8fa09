//! The audit of a file that is in memory as a whole, such as mapped flash.
//!
//! All bytes are resident, so a stage is only repeated if slots are missing, before it has
//! reported anything that needs them.

#[cfg(feature = "names")]
mod named;
#[cfg(not(feature = "names"))]
mod numbered;
#[cfg(test)]
mod tests;

#[cfg(feature = "names")]
pub use named::Audit;
#[cfg(not(feature = "names"))]
pub use numbered::Audit;
