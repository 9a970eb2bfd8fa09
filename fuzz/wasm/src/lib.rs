//! The fuzz bodies with 32-bit addresses: `test.mjs` runs them in Node over all
//! seeds, and compares the results with a host.

use std::sync::Mutex;
use weighbridge_fuzz_bodies as bodies;

#[global_allocator]
static ALLOCATOR: bodies::budget::Counting = bodies::budget::Counting;

#[link(wasm_import_module = "env")]
unsafe extern "C" {
    /// Receives a panic message, which a trap does not carry.
    safe fn complain(at: *const u8, len: usize);
}

/// The name of a target, followed by an input.
static ROOM: Mutex<Vec<u8>> = Mutex::new(Vec::new());

/// Makes room for a target's name and an input, and returns its address.
#[unsafe(no_mangle)]
pub extern "C" fn room(len: usize) -> *mut u8 {
    let mut room = ROOM.lock().expect("no thread can have panicked");
    room.clear();
    room.resize(len, 0);
    room.as_mut_ptr()
}

/// Runs the target whose name takes `name` bytes; returns the hash of what it
/// saw.
#[unsafe(no_mangle)]
pub extern "C" fn digest(name: usize) -> u64 {
    std::panic::set_hook(Box::new(|info| {
        let message = info.to_string();
        complain(message.as_ptr(), message.len());
    }));
    assert!(bodies::budget::is_counting());
    let room = ROOM.lock().expect("no thread can have panicked").clone();
    let (name, input) = room.split_at(name);
    bodies::digest(std::str::from_utf8(name).expect("a name of a target"), input)
}
