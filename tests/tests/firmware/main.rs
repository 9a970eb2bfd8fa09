//! Tests that run in QEMU: the same verdicts on a 32-bit target with a small stack. `make firmware`
//! builds the images and runs these tests; each names the variable it needs.

mod check;
mod cost;
mod model;
mod partial;
mod rig;
mod unpack;
