//! What computes over data that streams by: it belongs to no document.

pub mod heatmap;
pub mod pairs;
pub mod statistics;
