//! What runs in QEMU: the same verdicts on a 32-bit target, within a small
//! stack. `make firmware` builds the images and runs this; each test says which
//! variable it needs.

mod check;
mod cost;
mod model;
mod rig;
mod unpack;
