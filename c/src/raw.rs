//! The functions that C calls. All unsafe code of the library is here: each function turns the
//! caller's pointers into references and slices, and calls safe code.

use crate::ids;
use crate::reader::{self, Array, Doubt, Held};
use crate::types::{Code, Cursor, File, Finding, Findings, Slot, Tensor};
use core::cell::Cell;
use core::ffi::{c_char, c_void};
use core::mem::MaybeUninit;
use core::ptr;
use core::slice;
use weighbridge_core as core_;

/// What an opaque `File` holds: nothing while the tag is another.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
struct Open {
    held: Held<'static>,
    tag: u32,
}

/// What an opaque `Cursor` holds: nothing while the tag is another.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
struct Position {
    tag: u32,
    cursor: core_::Cursor,
}

/// Marks memory that holds a value; zeros and most garbage do not.
const TAG: u32 = 0x5742_0001;

// The header's sizes suffice for all formats on all targets.
#[allow(clippy::panic, reason = "evaluated while compiling")]
const _: () = {
    assert!(size_of::<Open>() <= size_of::<File>() && align_of::<Open>() <= 8);
    assert!(size_of::<Position>() <= size_of::<Cursor>() && align_of::<Position>() <= 8);
};

/// Opens a file at `data` of `len` bytes: in the format `mode` (a `wb_format`), or in the one that
/// its first bytes indicate (`WB_DETECT`). Add `WB_REGION` if the memory may go on after the file.
/// Findings are added to `findings`, which may be null; `file` and `data` may not.
///
/// Returns `WB_OK`, or a reason why the file is not open: `WB_INVALID`, `WB_UNCHECKED` if it exceeds
/// a limit of this library, or `WB_ARGUMENT`. An open file may still be invalid: `wb_check` says so.
///
/// # Safety
/// `data` has `len` readable bytes that do not change while `file` is used. `file` is writable.
/// `findings` is null, or has `room` writable items.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn wb_open(
    file: *mut File,
    data: *const c_void,
    len: usize,
    mode: u32,
    findings: *mut Findings,
) -> Code {
    let data = data.cast::<u8>();
    if file.is_null() || !file.is_aligned() || data.is_null() || !is_slice(data, len) {
        return Code::Argument;
    }
    // SAFETY: the caller's promise; checked for null above.
    let (data, array) = unsafe { (slice::from_raw_parts(data, len), Kept::new(findings)) };
    let place = file.cast::<Open>();
    // SAFETY: writable by the caller's promise, and an `Open` fits, in size and alignment. Each field
    // is written before it is borrowed; the tag last, because until then no file is open.
    unsafe {
        (&raw mut (*place).tag).write(0);
        (&raw mut (*place).held.source).write(reader::source(data, mode));
        (&raw mut (*place).held.doubt).write(Doubt::default());
        let (source, doubt) = (&(*place).held.source, Cell::from_mut(&mut (*place).held.doubt));
        match reader::open(source, mode, array, doubt) {
            Ok(opened) => (&raw mut (*place).held.file).write(opened),
            Err(code) => return code,
        }
        (&raw mut (*place).tag).write(TAG);
    }
    Code::Ok
}

/// Checks the structure of an open file: every entry, names, extents, and the place of all data.
/// The findings of this check are added to `findings`, which may be null.
///
/// If names or parts of the file are not in ascending order, they are sorted in `slots`, and
/// otherwise none is needed. Returns `WB_OK`, `WB_INVALID`, or `WB_UNCHECKED`; if `slots_needed` of
/// `findings` is not 0, a check with that many slots leaves nothing unchecked for lack of them.
///
/// # Safety
/// `file` is from `wb_open`, and its memory still there. `slots` has `slot_count` writable items.
/// `findings` is null, or has `room` writable items.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn wb_check(
    file: *const File,
    slots: *mut Slot,
    slot_count: usize,
    findings: *mut Findings,
) -> Code {
    // SAFETY: the caller's promise.
    let Some(held) = (unsafe { held(file) }) else { return Code::Argument };
    if !is_slice(slots, slot_count) {
        return Code::Argument;
    }
    // SAFETY: the caller's promise. `Slot` has the size of one of the core, which is a few numbers:
    // zeros are a value of it.
    let slots = unsafe {
        let slots: &mut [MaybeUninit<core_::Slot>] = places(slots.cast(), slot_count);
        ptr::write_bytes(slots.as_mut_ptr(), 0, slot_count);
        slice::from_raw_parts_mut(slots.as_mut_ptr().cast(), slot_count)
    };
    // SAFETY: the caller's promise.
    reader::check(held, slots, unsafe { Kept::new(findings) })
}

/// The next tensor. Begin with a `cursor` of zeros. Returns `WB_OK`, `WB_END`, or `WB_INVALID` if
/// the index cannot be read further.
///
/// # Safety
/// `file` is from `wb_open`, and its memory still there. `cursor` holds zeros or was left by a call
/// for the same file. `tensor` is writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn wb_next(
    file: *const File,
    cursor: *mut Cursor,
    tensor: *mut Tensor,
) -> Code {
    // SAFETY: the caller's promise.
    let Some(held) = (unsafe { held(file) }) else { return Code::Argument };
    // SAFETY: the caller's promise.
    let Some(tensor) = (unsafe { place(tensor) }) else { return Code::Argument };
    if cursor.is_null() {
        return Code::Argument;
    }
    let position = cursor.cast::<Position>();
    // SAFETY: the caller's promise: readable and writable, and a `Position` fits, in size and
    // alignment. Only the tag is read before it is known to be set.
    let position = unsafe {
        if ptr::read(&raw const (*position).tag) != TAG {
            ptr::write(position, Position { tag: TAG, cursor: core_::Cursor::default() });
        }
        &mut *position
    };
    reader::next(held, &mut position.cursor, tensor)
}

/// The first tensor whose name is the `len` bytes at `name`. In STB, whose tensors have numbers, the
/// name is the number in decimal digits. Returns `WB_OK`, `WB_NOT_FOUND` or `WB_INVALID`.
///
/// # Safety
/// `file` is from `wb_open`, and its memory still there. `name` has `len` readable bytes. `tensor`
/// is writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn wb_find_bytes(
    file: *const File,
    name: *const c_char,
    len: usize,
    tensor: *mut Tensor,
) -> Code {
    // SAFETY: the caller's promise.
    match unsafe { (held(file), place(tensor)) } {
        (Some(held), Some(tensor)) if !name.is_null() && is_slice(name, len) => {
            // SAFETY: the caller's promise; checked for null above.
            reader::find(held, unsafe { slice::from_raw_parts(name.cast(), len) }, tensor)
        }
        _ => Code::Argument,
    }
}

/// The first tensor with this number as its name, as tensors in STB have. Returns `WB_OK`,
/// `WB_NOT_FOUND` or `WB_INVALID`.
///
/// # Safety
/// `file` is from `wb_open`, and its memory still there. `tensor` is writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn wb_find_id(file: *const File, id: u8, tensor: *mut Tensor) -> Code {
    let (digits, first) = reader::digits(id);
    let digits = digits.get(first..).unwrap_or_default();
    // SAFETY: the caller's promise, and the digits are readable.
    unsafe { wb_find_bytes(file, digits.as_ptr().cast(), digits.len(), tensor) }
}

/// Copies the `rank` extents of a tensor, outermost first. Returns `WB_OK`, `WB_ROOM` if there are
/// more than `room`, of which the first ones were copied, or `WB_NOT_FOUND` if the file does not
/// state them; a broken tensor may have some that cannot be read.
///
/// # Safety
/// `file` is from `wb_open`, and its memory still there. `tensor` is from the same file. `extents`
/// has `room` writable items.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn wb_shape(
    file: *const File,
    tensor: *const Tensor,
    extents: *mut u64,
    room: usize,
) -> Code {
    // SAFETY: the caller's promise.
    let (held, tensor) = match unsafe { (held(file), tensor.as_ref()) } {
        (Some(held), Some(tensor)) if is_slice(extents, room) => (held, tensor),
        _ => return Code::Argument,
    };
    // SAFETY: the caller's promise; checked for null above.
    reader::shape(held, tensor, unsafe { places(extents, room) })
}

/// Copies the name of a tensor and a zero. Returns `WB_OK`, or `WB_ROOM` if it is longer than `room`
/// minus 1 bytes; then it was cut. A name may contain zeros.
///
/// # Safety
/// `file` is from `wb_open`, and its memory still there. `tensor` is from the same file. `text` has
/// `room` writable bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn wb_name(
    file: *const File,
    tensor: *const Tensor,
    text: *mut c_char,
    room: usize,
) -> Code {
    // SAFETY: the caller's promise.
    let (held, tensor) = match unsafe { (held(file), tensor.as_ref()) } {
        (Some(held), Some(tensor)) if is_slice(text, room) => (held, tensor),
        _ => return Code::Argument,
    };
    // SAFETY: the caller's promise; checked for null above.
    reader::name(held, tensor, unsafe { places(text.cast(), room) })
}

/// The format of an open file, a `wb_format`; 0 if it is not open.
///
/// # Safety
/// `file` is from `wb_open`, or null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn wb_format_of(file: *const File) -> u32 {
    // SAFETY: the caller's promise.
    unsafe { held(file) }.map_or(0, reader::format_of)
}

/// Number of tensors that the file declares; a broken file may have fewer.
///
/// # Safety
/// `file` is from `wb_open`, or null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn wb_count(file: *const File) -> u64 {
    #[cfg(feature = "faulty")]
    #[allow(clippy::indexing_slicing, reason = "the gate must find it")]
    core::hint::black_box([0_u8; 2][core::hint::black_box(1)]);
    // SAFETY: the caller's promise.
    unsafe { held(file) }.map_or(0, reader::count)
}

/// The id of a rule, such as `T-SIZE`: documentation and the command `weighbridge explain` use it.
/// Empty if this build has no such rule.
#[unsafe(no_mangle)]
pub extern "C" fn wb_rule_id(rule: u16) -> *const c_char {
    match ids::id(rule) {
        [] => c"".as_ptr(),
        id => id.as_ptr().cast(),
    }
}

/// Whether `len` items may be at `data`; only no items may be at null.
fn is_slice<T>(data: *const T, len: usize) -> bool {
    let most = usize::MAX >> 1;
    let fits = len.checked_mul(size_of::<T>()).is_some_and(|size| size <= most);
    fits && (len == 0 || !data.is_null()) && data.is_aligned()
}

/// The items at `data`, which need not be initialised; none if it is null.
///
/// # Safety
/// They are writable, and nothing else accesses them during `'a`. `is_slice` holds.
unsafe fn places<'a, T>(data: *mut T, len: usize) -> &'a mut [MaybeUninit<T>] {
    if data.is_null() {
        return &mut [];
    }
    // SAFETY: the caller's promise.
    unsafe { slice::from_raw_parts_mut(data.cast(), len) }
}

/// The open file in the caller's memory, if it is open.
///
/// # Safety
/// `file` is null, or all of it is readable; if its tag is set, it is from `wb_open`.
#[inline(never)]
unsafe fn held<'a>(file: *const File) -> Option<&'a Held<'a>> {
    if file.is_null() {
        return None;
    }
    let open = file.cast::<Open>();
    // SAFETY: the caller's promise. Only the tag is read before it is known to be set.
    unsafe { (ptr::read(&raw const (*open).tag) == TAG).then(|| &(*open).held) }
}

/// A place for a tensor, if it is not null.
///
/// # Safety
/// `tensor` is null, or writable, and nothing else accesses it during `'a`.
unsafe fn place<'a>(tensor: *mut Tensor) -> Option<&'a mut MaybeUninit<Tensor>> {
    // SAFETY: the caller's promise; the tensor need not be initialised.
    unsafe { tensor.cast::<MaybeUninit<Tensor>>().as_mut() }
}

/// The caller's array of findings, which may be null.
#[derive(Clone, Copy, Debug)]
struct Kept(*mut Findings);

impl Kept {
    /// The array that `findings` describes.
    ///
    /// # Safety
    /// `findings` is null, or points to initialised findings with `room` writable items, and nothing
    /// else accesses them while a copy of the result is used.
    unsafe fn new(findings: *mut Findings) -> Self {
        Kept(findings)
    }
}

impl Array for Kept {
    fn add(self, finding: Finding) {
        // SAFETY: the promise of `new`; no other reference is alive.
        let Some(head) = (unsafe { self.0.as_mut() }) else { return };
        let severity = finding.severity;
        if head.count < head.room && !head.items.is_null() {
            let n = usize::try_from(head.count).unwrap_or(0);
            // SAFETY: the promise of `new`; item number `n` is one of `room`.
            unsafe { ptr::write(head.items.add(n), finding) };
        }
        head.count = head.count.saturating_add(1);
        head.unchecked = head.unchecked.saturating_add((severity == 0).into());
        head.worst = head.worst.max(severity.into());
    }

    fn need(self, slots: u32) {
        // SAFETY: the promise of `new`; no other reference is alive.
        if let Some(head) = unsafe { self.0.as_mut() } {
            head.slots_needed = head.slots_needed.max(slots);
        }
    }
}

#[cfg(all(not(test), not(feature = "gate")))]
#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    loop {}
}

#[cfg(all(not(test), feature = "gate"))]
#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    unsafe extern "C" {
        fn weighbridge_reaches_a_panic() -> !;
    }
    // SAFETY: the function exists nowhere, so the call never links.
    unsafe { weighbridge_reaches_a_panic() }
}
