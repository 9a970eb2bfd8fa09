use super::*;
use std::format;
use std::string::{String, ToString as _};
use std::vec;
use std::vec::Vec;

/// What a scan of these bytes finds, in words, and how it ends. All bytes are in one piece, or only
/// as many as are asked for.
fn scan_in(bytes: &[u8], piecewise: bool) -> (Vec<String>, PickleEnd) {
    let (mut stack, mut memo) = (Vec::new(), Vec::new());
    let mut scan = PickleScan::of(Span::new(0, bytes.len() as u64));
    let (mut found, mut window) = (Vec::new(), 0..0);
    let mut steps = 0;
    loop {
        steps += 1;
        assert!(steps < 20 * bytes.len() + 100, "it makes no progress");
        let resident =
            [crate::Window { offset: window.start as u64, bytes: &bytes[window.clone()] }];
        let source = match piecewise {
            true => Source::windows(bytes.len() as u64, &resident),
            false => Source::whole(bytes),
        };
        let memory = PickleMemory { stack: &mut stack, memo: &mut memo };
        let end = scan.step(&source, memory, &mut |event| {
            found.push(match event {
                PickleEvent::Import(it) => {
                    format!("{} {}.{} {:?}", it.at, it.module, it.name, it.standing)
                }
                PickleEvent::Call { number, at } => format!("{at} calls {number}"),
                PickleEvent::Kept { number, at } => format!("{at} keeps {number}"),
                PickleEvent::Fault { at, fault } => format!("{at} {fault:?}"),
                PickleEvent::Operation { at, byte, value } => format!("{at} {byte:#x} {value:?}"),
            });
        });
        match end {
            Ok(end) => return (found, end),
            Err(PickleStop::NeedStack(need)) => stack.resize(need, PickleItem::EMPTY),
            Err(PickleStop::NeedMemo(need)) => memo.resize(need, PickleItem::EMPTY),
            Err(PickleStop::NeedBytes(absent)) => {
                assert!(piecewise);
                window = absent.offset as usize..(absent.offset + absent.need) as usize;
            }
        }
    }
}

fn scan(bytes: &[u8]) -> (Vec<String>, PickleEnd) {
    let whole = scan_in(bytes, false);
    assert_eq!(scan_in(bytes, true), whole, "with one small window: {bytes:?}");
    whole
}

fn faults(bytes: &[u8]) -> Vec<String> {
    let (mut found, _) = scan(bytes);
    let is_listed = |it: &String| it.contains("Listed") || it.contains("Function");
    found.retain(|it| !it.contains("calls") && !is_listed(it));
    found
}

#[test]
fn imports_are_found_however_they_are_written() {
    for (bytes, expected) in [
        (&b"cposix\nsystem\n."[..], "0 posix.system Other"),
        (b"\x8C\x05posix\x8C\x06system\x93.", "15 posix.system Other"),
        (b"S'p\\x6fsix'\nVsyste\\u006d\n\x93.", "25 posix.system Other"),
        // Through the memo, in another order.
        (b"X\x06\0\0\0systemq\x010X\x05\0\0\0posixq\x00h\x01\x93.", "28 posix.system Other"),
        (b"U\x05posix\x940h\x00\x8C\x06system\x93.", "19 posix.system Other"),
        // A class of an object that is dropped, and an argument of another.
        (b"(cposix\nsystem\nS'x'\no0N.", "1 posix.system Other"),
        (b"(iposix\nsystem\n0N.", "1 posix.system Other"),
        (b"\x82\x07.", "0 copyreg extension.7 Other"),
        // A name that is computed.
        (b"\x8C\x05posixN\x51\x93.", "9 posix.… Other"),
        (b"cargparse\nNamespace\n.", "0 argparse.Namespace Inert"),
    ] {
        let (found, end) = scan(bytes);
        assert_eq!(found[0], expected, "{bytes:?}");
        assert!(matches!(end, PickleEnd::Stopped(at) if at == bytes.len() as u64), "{end:?}");
    }
}

#[test]
fn calls_are_told_from_imports() {
    let calls = |bytes: &[u8]| scan(bytes).0.iter().filter(|it| it.contains("calls")).count();
    assert_eq!(calls(b"cposix\nsystem\n."), 0);
    assert_eq!(calls(b"cposix\nsystem\n(tR."), 1);
    assert_eq!(calls(b"cposix\nsystem\n)\x81."), 1);
    assert_eq!(calls(b"cposix\nsystem\n)}\x92."), 1);
    assert_eq!(calls(b"(cposix\nsystem\no."), 1);
    assert_eq!(calls(b"(iposix\nsystem\n."), 1);
    // What an unlisted function returns may be called again.
    assert_eq!(calls(b"cfunctools\npartial\n)R)R."), 1);
    assert_eq!(faults(b"cfunctools\npartial\n)R)R."), ["0 functools.partial Other"]);
}

/// A function among the hooks of a tensor is called by `backward()`.
#[test]
fn a_listed_function_is_no_value() {
    for (adds, at) in [
        (&b"](c_codecs\nencode\ne."[..], 18),
        (b"]c_codecs\nencode\na.", 17),
        (b"}Nc_codecs\nencode\ns.", 18),
        (b"}(NNNc_codecs\nencode\nu.", 21),
    ] {
        assert_eq!(faults(adds), [format!("{at} keeps 0")], "{adds:?}");
    }
    assert_eq!(faults(b"](c_codecs\nencode\n(tRe."), Vec::<String>::new());
}

#[test]
fn findings_before_a_fault_stay() {
    let (found, end) = scan(b"cposix\nsystem\n)R\xFF");
    assert_eq!(found, ["0 posix.system Other", "15 calls 0", "16 Operation(255)"]);
    assert_eq!(end, PickleEnd::Broken(16));
}

#[test]
fn every_fault_is_found_where_it_is() {
    for (bytes, expected) in [
        (&b"N"[..], "1 CutOff"),
        (b"X\xFF\0\0\0", "0 CutOff"),
        (b"\x8D\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF.", "0 CutOff"),
        (b"N\xFF", "1 Operation(255)"),
        (b"\x80\x06N.", "0 Protocol(6)"),
        (b"Iten\n.", "0 Argument"),
        (b"T\xFF\xFF\xFF\xFF", "0 Argument"),
        (b".", "0 Stack"),
        (b"(.", "1 Stack"),
        (b"Na.", "1 Stack"),
        (b"](Na.", "3 Stack"),
        (b"t", "0 Mark"),
        (b"h\x01.", "0 Memo"),
        (b"g9999999999\n.", "0 Memo"),
        (b"\x95\x05\0\0\0\0\0\0\0N.", "0 Frame"),
        (b"NN\x93.", "2 NoText"),
        (b"N)R.", "2 NotCallable"),
        (b"ctorch\nSize\n)R)R.", "15 NotCallable"),
        (b"}Na.", "2 Target"),
        (b"]N\x75.", "2 Mark"),
        (b"](NNu.", "4 Target"),
        (b"}(Nu.", "3 Pairs"),
        (b"}}b.", "2 Target"),
    ] {
        assert_eq!(faults(bytes), [expected], "{bytes:?}");
    }
}

/// The unpickler in C that reads from a file goes on after the frame, inside the bytes.
#[test]
fn bytes_that_leave_their_frame_are_read_as_operations_too() {
    let mut bytes = b"\x80\x04\x95\x02\0\0\0\0\0\0\0".to_vec();
    bytes.extend(b"C\x10cposix\nsystem\n.x");
    assert_eq!(faults(&bytes), ["11 Frame", "13 posix.system Other"]);
}

#[test]
fn sound_pickles_have_no_fault() {
    for bytes in [
        &b"\x80\x02}q\0(X\x01\0\0\0aK\x01X\x01\0\0\0b]q\x01(K\x01K\x02eu."[..],
        b"\x80\x04\x95\x04\0\0\0\0\0\0\0]\x94N..",
        b"(lp0\nI1\naF2.5\naI01\na.",
        b"\x80\x05\x96\x01\0\0\0\0\0\0\0x\x97\x98\x86.",
        b"(dp1\nS'a'\nL7L\ns.",
        b"ccollections\nOrderedDict\n)R(NNu}b.",
        b"(((10N.",
        b"\x8F(N\x90(N\x91\x86.",
        b"Nr\xFF\xFF\xFF\xFF0j\xFF\xFF\xFF\xFF.",
    ] {
        assert_eq!(faults(bytes), Vec::<String>::new(), "{bytes:?}");
    }
}

/// Neither a memo of large keys nor many marks or items take more than their bytes.
#[test]
fn memory_and_steps_are_in_proportion_to_the_file() {
    for unit in [&b"("[..], b"N", b"2", b"N0", b"Nq\x01", b"N\x94", b"Nr\xFF\xFF\xFF\x7F0"] {
        let mut bytes = b"N".to_vec();
        (0..20_000).for_each(|_| bytes.extend(unit));
        bytes.extend(b"N.");
        let mut stack = vec![PickleItem::EMPTY; 40_003];
        let mut memo = vec![PickleItem::EMPTY; 40_300];
        let mut scan = PickleScan::of(Span::new(0, bytes.len() as u64));
        let memory = PickleMemory { stack: &mut stack, memo: &mut memo };
        let end = scan.step(&Source::whole(&bytes), memory, &mut |event| panic!("{event:?}"));
        assert_eq!(end, Ok(PickleEnd::Stopped(bytes.len() as u64)), "{unit:?}");
    }
}

#[test]
fn faults_are_sentences() {
    assert_eq!(PickleFault::Operation(5).to_string(), "no operation has the byte 0x05");
    assert!(PickleFault::Mark.to_string().ends_with("there is none"));
}
