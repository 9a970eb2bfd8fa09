//! The audit of a file that is in memory as a whole, as flash is that is mapped.
//!
//! Nothing is ever absent, so no stage is taken up again but for lack of slots, and
//! only before it reported what the slots are for.

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
