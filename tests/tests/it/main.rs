//! One binary for all integration tests; a module for each kind.

mod blocks;
mod catalogue;
mod codec;
mod corpus;
mod differential;
mod distinctions;
mod distinctions_cbor;
mod distinctions_idv;
mod edges;
mod facts;
mod fixtures;
mod flash;
mod idv;
mod json;
mod large;
mod mutations;
mod payloads;
mod peer;
mod properties;
mod quants;
mod readback;
mod region;
mod sizes;
mod stats;
mod sweeps;
mod windows;
