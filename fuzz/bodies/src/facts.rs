//! Hashes everything a target saw into one number, to compare 32-bit targets
//! with a host.

use std::cell::RefCell;
use std::fmt::{Debug, Write};
use std::hash::{DefaultHasher, Hasher};

thread_local! {
    static SEEN: RefCell<Option<DefaultHasher>> = const { RefCell::new(None) };
}

/// Runs `call` and hashes everything that it [notes](note).
pub fn collect(call: impl FnOnce()) -> u64 {
    SEEN.set(Some(DefaultHasher::new()));
    call();
    SEEN.take().map_or(0, |seen| seen.finish())
}

/// Adds the debug output of an answer. Does nothing outside [`collect`], so
/// that fuzzing does not pay for it.
pub fn note(fact: &dyn Debug) {
    SEEN.with_borrow_mut(|seen| {
        if let Some(hasher) = seen {
            // Text, because numbers as wide as an address differ in bytes.
            write!(Letters(hasher), "{fact:?}").expect("hashing cannot fail");
            hasher.write_u8(b'\n');
        }
    });
}

struct Letters<'a>(&'a mut DefaultHasher);

impl Write for Letters<'_> {
    fn write_str(&mut self, text: &str) -> std::fmt::Result {
        self.0.write(text.as_bytes());
        Ok(())
    }
}
