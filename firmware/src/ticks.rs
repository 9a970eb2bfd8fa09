//! Counts instructions: QEMU's `-icount shift=N` gives each instruction 2^N ns,
//! and SysTick counts at 25 MHz on this board.

use core::ptr::{read_volatile, write_volatile};

const CONTROL: *mut u32 = 0xE000_E010 as *mut u32;
const RELOAD: *mut u32 = 0xE000_E014 as *mut u32;
const CURRENT: *mut u32 = 0xE000_E018 as *mut u32;
const FULL: u32 = 0x00FF_FFFF;

/// Duration of a SysTick tick, in ns.
pub const TICK: u64 = 40;

/// Starts the counter.
pub fn start() {
    // SAFETY: SysTick's registers, which nothing else uses.
    unsafe {
        write_volatile(RELOAD, FULL);
        write_volatile(CURRENT, 0);
        write_volatile(CONTROL, 0b101);
    }
}

/// Ticks that `call` took; `None` if they exceed the counter.
#[inline(never)]
pub fn of<T>(call: impl FnOnce() -> T) -> (T, Option<u32>) {
    // SAFETY: as in `start`; reading the control register clears its flag.
    unsafe {
        // The first tick loads the counter; only after that does the flag report an
        // overflow.
        write_volatile(CURRENT, 0);
        while read_volatile(CURRENT) == 0 {}
        read_volatile(CONTROL);
        let before = read_volatile(CURRENT);
        let result = core::hint::black_box(call());
        let after = read_volatile(CURRENT);
        let ran_out = read_volatile(CONTROL) & (1 << 16) != 0;
        (result, (!ran_out).then(|| before.wrapping_sub(after)))
    }
}
