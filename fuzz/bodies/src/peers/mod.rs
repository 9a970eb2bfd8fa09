//! Compares the core with the readers in use today. Each module lists the
//! accepted differences, with reasons.

pub mod bintensors;
pub mod codecs;
pub mod safetensors;
pub mod shards;
pub mod ztensor;

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Once;

thread_local! {
    static IN_PEER: Cell<bool> = const { Cell::new(false) };
}

/// Calls a peer; a panic counts as a refusal and is not printed.
pub fn refusing<T>(call: impl FnOnce() -> Option<T>) -> Option<T> {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        // A fuzzer's hook ends the process on any panic.
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            if !IN_PEER.get() {
                before(info);
            }
        }));
    });
    IN_PEER.set(true);
    let result = catch_unwind(AssertUnwindSafe(call));
    IN_PEER.set(false);
    result.ok().flatten()
}
