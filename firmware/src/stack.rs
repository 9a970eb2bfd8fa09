//! Measures how deep a call went: the stack below is painted before the call
//! and examined afterwards.

use core::hint::black_box;

// End of the stack, from the linker.
unsafe extern "C" {
    static mut __sheap: u32;
}

const PAINT: u32 = 0xC5C5_C5C5;

/// Number of bytes painted; deeper calls are reported as this.
pub const DEPTH: usize = 64 << 10;

/// Bytes of stack used by `call`, including its own frame.
#[inline(never)]
pub fn used<T>(call: impl FnOnce() -> T) -> (T, usize) {
    let top = here() & !3;
    let bottom = (top - DEPTH).max(&raw const __sheap as usize);
    // Below what this function itself still needs.
    let painted = (top - 64 - bottom) / 4;
    for word in 0..painted {
        // SAFETY: between the statics and the stack, in unused memory.
        unsafe { core::ptr::write_volatile((bottom as *mut u32).add(word), PAINT) };
    }
    let result = black_box(call());
    let mut free = 0;
    // SAFETY: as above.
    while free < painted
        && unsafe { core::ptr::read_volatile((bottom as *const u32).add(free)) } == PAINT
    {
        free += 1;
    }
    (result, top - bottom - free * 4)
}

/// The current stack pointer.
#[inline(always)]
fn here() -> usize {
    let sp: usize;
    // SAFETY: reads a register.
    unsafe {
        core::arch::asm!("mov {}, sp", out(reg) sp, options(nomem, nostack, preserves_flags))
    };
    sp
}
