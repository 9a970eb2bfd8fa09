//! Code shared by the images that run: output, input, the model, stack, time.
//!
//! The gates (`size`, `panic`) use none of it, so that they measure only the
//! reader; they include the source of `smallest`.

#![no_std]

pub mod semihosting;
pub mod input;
pub mod mlp;
pub mod smallest;
pub mod stack;
pub mod ticks;
