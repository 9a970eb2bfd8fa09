//! Limits on the cost of calls into the core: bytes of heap, counted by an
//! allocator, and steps, counted by the compiler's coverage counters.
//!
//! Neither depends on the clock, so a run that exceeds its budget does so on
//! every machine.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

/// The system's allocator, with a count per thread. A binary installs it with
/// `#[global_allocator]`.
pub struct Counting;

thread_local! {
    static LIVE: Cell<i64> = const { Cell::new(0) };
    static PEAK: Cell<i64> = const { Cell::new(0) };
    static REQUESTS: Cell<u64> = const { Cell::new(0) };
}

fn note(bytes: i64) {
    let live = LIVE.get() + bytes;
    LIVE.set(live);
    PEAK.set(PEAK.get().max(live));
    if bytes > 0 {
        REQUESTS.set(REQUESTS.get() + 1);
    }
}

fn signed(size: usize) -> i64 {
    i64::try_from(size).unwrap_or(i64::MAX)
}

// SAFETY: every call is passed on unchanged to the system's allocator; the
// added code touches only thread-local integers that need no initialisation.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        note(signed(layout.size()));
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, place: *mut u8, layout: Layout) {
        note(-signed(layout.size()));
        unsafe { System.dealloc(place, layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        note(signed(layout.size()));
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, place: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        note(signed(size) - signed(layout.size()));
        unsafe { System.realloc(place, layout, size) }
    }
}

/// Whether this binary has installed [`Counting`]: without it every memory
/// budget would be met.
pub fn is_counting() -> bool {
    let before = REQUESTS.get();
    std::hint::black_box(Box::new(before));
    REQUESTS.get() > before
}

/// Calls the core in a way that must not use the heap.
///
/// # Panics
/// If it does.
pub fn no_heap<T>(call: impl FnOnce() -> T) -> T {
    let before = REQUESTS.get();
    let result = call();
    let requests = REQUESTS.get() - before;
    assert_eq!(requests, 0, "the heap was asked for memory {requests} times");
    result
}

/// Calls the core with at most `most` bytes of heap at a time.
///
/// # Panics
/// If it takes more.
pub fn heap<T>(most: i64, call: impl FnOnce() -> T) -> T {
    let before = LIVE.get();
    PEAK.set(before);
    let result = call();
    let taken = PEAK.get() - before;
    assert!(taken <= most, "{taken} bytes of heap were taken, and {most} are allowed");
    result
}

/// Number of executed code regions so far: each is a few instructions without a
/// branch. Always 0 unless `--cfg counters` and `-C instrument-coverage` are
/// set, as `scripts/fuzz.sh` does.
pub fn steps() -> u64 {
    #[cfg(counters)]
    {
        unsafe extern "C" {
            fn __llvm_profile_begin_counters() -> *const u64;
            fn __llvm_profile_end_counters() -> *const u64;
        }
        // SAFETY: the two functions of the compiler's runtime return the range
        // of this program's counters. Only instrumented code changes them,
        // which does not run on this thread in the meantime; a count that
        // another thread changes may be off by its concurrent updates.
        let counters = unsafe {
            let (begin, end) = (__llvm_profile_begin_counters(), __llvm_profile_end_counters());
            std::slice::from_raw_parts(begin, end.offset_from(begin) as usize)
        };
        // No closure of this crate, which would be counted itself.
        counters.iter().copied().reduce(u64::wrapping_add).unwrap_or(0)
    }
    #[cfg(not(counters))]
    0
}

/// Runs `call` and limits it to `most` steps, which depend on its result.
///
/// # Panics
/// If it takes more.
pub fn within<T>(name: &str, call: impl FnOnce() -> T, most: impl FnOnce(&T) -> u64) -> T {
    let before = steps();
    let result = call();
    let taken = steps().wrapping_sub(before);
    let most = most(&result);
    assert!(taken <= most, "{name}: {taken} steps, and {most} are allowed");
    if std::env::var_os("WEIGHBRIDGE_STEPS").is_some() {
        eprintln!("{name}: {taken} of {most} steps");
    }
    result
}
