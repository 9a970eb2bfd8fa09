//! One binary for all integration tests; a module for each kind.

mod catalogue;
mod corpus;
mod fixtures;
mod idv;
mod large;
mod mutations;
mod properties;
mod readback;
mod region;
mod sizes;
mod windows;
