//! The border, which Miri checks too: arguments that must be refused, and a whole use of a file.

use crate::raw::*;
use crate::types::*;
use core::ffi::{CStr, c_char};
use core::mem::{MaybeUninit, zeroed};
use core::ptr::{null, null_mut};

/// The text at `text`.
pub(crate) fn text(text: *const c_char) -> &'static str {
    // SAFETY: from `wb_rule_id`, which returns constants.
    unsafe { CStr::from_ptr(text) }.to_str().unwrap()
}

/// A sound STB file: tensor 7, two numbers of 32 bits.
fn stb() -> Vec<u8> {
    let mut bytes = vec![0; 72];
    bytes[..8].copy_from_slice(b"STB0\x01\0\x01\0");
    bytes[16] = 64;
    bytes[24] = 72;
    bytes[32..35].copy_from_slice(&[7, 0, 1]);
    bytes[36] = 64;
    bytes[44] = 8;
    bytes[52] = 2;
    bytes
}

/// All functions as safe code calls them, with memory of their own.
struct Caller {
    bytes: Vec<u8>,
    file: File,
    /// On the heap, where a borrow of the caller does not invalidate pointers to them.
    items: Vec<Finding>,
}

impl Caller {
    fn new(bytes: Vec<u8>) -> Self {
        // SAFETY: zeros are a value of every structure.
        Caller { bytes, file: unsafe { zeroed() }, items: vec![Finding::default(); 2] }
    }

    fn findings(&mut self) -> Findings {
        Findings {
            items: self.items.as_mut_ptr(),
            room: 2,
            count: 0,
            unchecked: 0,
            worst: 0,
            slots_needed: 0,
            reserved: 0,
        }
    }

    fn open(&mut self, mode: u32, findings: &mut Findings) -> Code {
        // SAFETY: the bytes stay in `self`.
        unsafe {
            wb_open(&mut self.file, self.bytes.as_ptr().cast(), self.bytes.len(), mode, findings)
        }
    }
}

#[test]
fn null_and_closed_files_are_refused() {
    // SAFETY: every pointer is null, or to memory of its type.
    unsafe {
        let mut tensor: Tensor = zeroed();
        let mut cursor: Cursor = zeroed();
        let mut file: File = zeroed();
        let closed = &raw const file;
        for closed in [null(), closed] {
            assert_eq!(wb_check(closed, null_mut(), 0, null_mut()), Code::Argument);
            assert_eq!(wb_next(closed, &mut cursor, &mut tensor), Code::Argument);
            assert_eq!(wb_find_bytes(closed, c"a".as_ptr(), 1, &mut tensor), Code::Argument);
            assert_eq!(wb_find_id(closed, 1, &mut tensor), Code::Argument);
            assert_eq!(wb_shape(closed, &tensor, null_mut(), 0), Code::Argument);
            assert_eq!(wb_name(closed, &tensor, null_mut(), 0), Code::Argument);
            assert_eq!((wb_format_of(closed), wb_count(closed)), (0, 0));
        }
        assert_eq!(wb_open(null_mut(), null(), 0, 0, null_mut()), Code::Argument);
        assert_eq!(wb_open(&mut file, null(), 1, 0, null_mut()), Code::Argument);
        assert_eq!(
            wb_open(&mut file, c"".as_ptr().cast(), usize::MAX, 0, null_mut()),
            Code::Argument
        );
        assert_eq!(wb_open(&mut file, c"".as_ptr().cast(), 0, 31, null_mut()), Code::Argument);
        assert_eq!(wb_open(&mut file, null(), 0, 0, null_mut()), Code::Argument);
        assert_eq!(wb_open(&mut file, c"".as_ptr().cast(), 0, 0, null_mut()), Code::Invalid);
        let place = (&raw mut file).cast::<u8>().wrapping_add(4).cast();
        assert_eq!(wb_open(place, c"".as_ptr().cast(), 0, 0, null_mut()), Code::Argument);
    }
}

#[test]
fn uninitialised_memory_receives_file_and_tensor() {
    let bytes = stb();
    let mut file = MaybeUninit::<File>::uninit();
    let mut tensor = MaybeUninit::<Tensor>::uninit();
    let mut slots = [const { MaybeUninit::<Slot>::uninit() }; 3];
    // SAFETY: the functions write before they read.
    unsafe {
        let file = file.as_mut_ptr();
        assert_eq!(wb_open(file, bytes.as_ptr().cast(), bytes.len(), 0, null_mut()), Code::Ok);
        assert_eq!(wb_check(file, slots.as_mut_ptr().cast(), 3, null_mut()), Code::Ok);
        let mut cursor: Cursor = zeroed();
        assert_eq!(wb_next(file, &mut cursor, tensor.as_mut_ptr()), Code::Ok);
        assert_eq!(wb_next(file, &mut cursor, tensor.as_mut_ptr()), Code::End);
        let tensor = tensor.assume_init();
        assert_eq!(tensor.data, bytes[64..].as_ptr());
        assert_eq!((tensor.len, tensor.rank, tensor.index), (8, 1, 0));
        let mut text = [1; 4];
        let name = |room, text: &mut [c_char; 4]| wb_name(file, &tensor, text.as_mut_ptr(), room);
        assert_eq!(name(0, &mut text), Code::Room);
        assert_eq!((name(1, &mut text), text), (Code::Room, [0, 1, 1, 1]));
        assert_eq!((name(2, &mut text), text), (Code::Ok, [55, 0, 1, 1]));
        let mut extents = [9; 2];
        assert_eq!(wb_shape(file, &tensor, extents.as_mut_ptr(), 0), Code::Room);
        assert_eq!(wb_shape(file, &tensor, extents.as_mut_ptr(), 2), Code::Ok);
        assert_eq!(extents, [2, 9]);
        let mut found: Tensor = zeroed();
        assert_eq!(wb_find_id(file, 7, &mut found), Code::Ok);
        assert_eq!(found.data, tensor.data);
        assert_eq!(wb_find_bytes(file, c"7".as_ptr(), 1, &mut found), Code::Ok);
        assert_eq!(wb_find_bytes(file, c"07".as_ptr(), 2, &mut found), Code::NotFound);
        assert_eq!(wb_find_id(file, 8, &mut found), Code::NotFound);
        assert_eq!(wb_find_bytes(file, null(), 0, &mut found), Code::Argument);
        assert_eq!(wb_find_bytes(file, c"".as_ptr(), 0, &mut found), Code::NotFound);
    }
}

#[test]
fn findings_beyond_the_array_are_counted() {
    let mut bytes = stb();
    bytes[24] = 73;
    let mut caller = Caller::new(bytes);
    let mut findings = caller.findings();
    findings.room = 0;
    findings.items = null_mut();
    let opened = caller.open(0, &mut findings);
    assert!(findings.count > 0 && opened != Code::Argument);
    let mut findings = caller.findings();
    caller.open(0, &mut findings);
    assert_eq!(text(wb_rule_id(caller.items[0].rule)), "H-FSIZE");
    assert_eq!(caller.items[0].offset, 24);
    assert_eq!(findings.worst, u32::from(caller.items[0].severity));
}

#[test]
fn finding_of_opening_makes_check_invalid() {
    let mut bytes = stb();
    bytes.push(0);
    let mut caller = Caller::new(bytes);
    let mut findings = caller.findings();
    assert_eq!(caller.open(0, &mut findings), Code::Ok);
    // SAFETY: the file is open, without slots.
    let checked = unsafe { wb_check(&caller.file, null_mut(), 0, null_mut()) };
    assert_eq!(checked, Code::Invalid);
    // The same bytes as a region: the file ends before the last one.
    let mut findings = caller.findings();
    assert_eq!(caller.open(REGION, &mut findings), Code::Ok);
    // SAFETY: as above.
    let checked = unsafe { wb_check(&caller.file, null_mut(), 0, null_mut()) };
    assert_eq!((checked, findings.count), (Code::Ok, 0));
}

#[test]
fn tensor_of_garbage_is_refused() {
    let mut caller = Caller::new(stb());
    let mut findings = caller.findings();
    assert_eq!(caller.open(0, &mut findings), Code::Ok);
    // SAFETY: any bits are a tensor.
    unsafe {
        let mut tensor: Tensor = zeroed();
        core::ptr::write_bytes(&mut tensor, 0xFF, 1);
        let (mut text, mut extents) = ([0; 4], [0; 4]);
        assert_eq!(wb_name(&caller.file, &tensor, text.as_mut_ptr(), 4), Code::Argument);
        assert_eq!(wb_shape(&caller.file, &tensor, extents.as_mut_ptr(), 4), Code::Argument);
        tensor.shape_encoding = 1;
        assert_eq!(wb_shape(&caller.file, &tensor, extents.as_mut_ptr(), 4), Code::Argument);
    }
}

#[test]
fn tensor_is_found_by_each_number() {
    for id in [0, 7, 10, 99, 100, 255_u8] {
        let mut bytes = stb();
        bytes[32] = id;
        let mut caller = Caller::new(bytes);
        let mut findings = caller.findings();
        assert_eq!(caller.open(0, &mut findings), Code::Ok);
        // SAFETY: the file is open, and zeros are a tensor.
        unsafe {
            let mut tensor: Tensor = zeroed();
            assert_eq!(wb_find_id(&caller.file, id, &mut tensor), Code::Ok);
            assert_eq!(wb_find_id(&caller.file, id ^ 1, &mut tensor), Code::NotFound);
        }
    }
}
