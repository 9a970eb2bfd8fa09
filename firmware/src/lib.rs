//! What the images that run have in common: output, input, the model, stack, time.
//!
//! The gates (`size`, `panic`) use nothing of this, so that what they measure
//! is the reader alone; of `smallest` they take the source.

#![no_std]

pub mod board;
pub mod input;
pub mod mlp;
pub mod smallest;
pub mod stack;
pub mod ticks;
