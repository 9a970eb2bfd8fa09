//! What the images that run have in common: output, stack, time.
//!
//! The gates (`size`, `panic`) use nothing of this, so that what they measure
//! is the reader alone.

#![no_std]

pub mod board;
pub mod input;
pub mod stack;
pub mod ticks;
