//! Weighbridge for JavaScript.
//!
//! The interface is described in `js/index.d.ts`. All decisions are made in
//! plain Rust and tested on the host; `bind` is the layer that wasm-bindgen
//! needs, and each result crosses the border as one array of bytes (`pack`).
//!
//! In a browser every byte is downloaded, so this crate does without the
//! standard library and without `core::fmt`. The JavaScript beside it writes
//! the sentences, using the rule catalogue, which is a table there
//! (`core/examples/catalogue.rs`).
#![no_std]

extern crate alloc;
#[cfg(not(target_arch = "wasm32"))]
extern crate std;

#[cfg(any(feature = "compute", feature = "documents"))]
pub mod blocks;
#[cfg(feature = "full")]
pub mod cells;
#[cfg(feature = "full")]
pub mod decode;
#[cfg(feature = "documents")]
pub mod document;
#[cfg(feature = "documents")]
pub mod elements;
#[cfg(feature = "documents")]
pub mod findings;
#[cfg(feature = "documents")]
pub mod items;
#[cfg(feature = "full")]
pub mod joint;
#[cfg(feature = "documents")]
pub mod json;
#[cfg(feature = "documents")]
mod listing;
#[cfg(feature = "documents")]
pub mod meta;
#[cfg(feature = "full")]
mod others;
pub mod pack;
#[cfg(feature = "full")]
pub mod rows;
#[cfg(feature = "full")]
pub mod sparse;
pub mod text;
pub mod values;
#[cfg(feature = "documents")]
pub mod words;

pub mod bind;

#[cfg(target_arch = "wasm32")]
#[global_allocator]
static ALLOCATOR: dlmalloc::GlobalDlmalloc = dlmalloc::GlobalDlmalloc;

/// No input reaches a panic; if one did, the module would stop, and the page
/// would restart its worker.
#[cfg(target_arch = "wasm32")]
#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    core::arch::wasm32::unreachable()
}
