use super::*;

fn read(bytes: &[u8]) -> Pickled {
    PickleWalk::default().step(&Source::whole(bytes)).expect("everything is resident")
}

#[test]
fn every_first_operation_leads_to_the_import() {
    let call = b"cos.path\njoin\n(S'a'\ntR.";
    let first: [&[u8]; 27] = [
        b"I1\n0",
        b"I01\n0",
        b"I0x1F\n0",
        b"L12L\n0",
        b"F1.5\n0",
        b"Finf\n0",
        b"S'a'\n0",
        b"V\xC3\xA9t\\u00e9\n0",
        b"N0",
        b"]0",
        b"}0",
        b")0",
        b"(1",
        b"(t0",
        b"(l0",
        b"(d0",
        b"K\x010",
        b"M\x01\x020",
        b"J\x01\x02\x03\x040",
        b"G\0\0\0\0\0\0\0\x000",
        b"T\x02\0\0\0ab0",
        b"U\x01a0",
        b"X\x01\0\0\0a0",
        b"C\x01a0",
        b"B\x01\0\0\0a0",
        b"(]K\x01a0Nt0",
        b"\x80\x04\x95\x17\0\0\0\0\0\0\0",
    ];
    for start in first {
        let bytes = [start, call].concat();
        assert_eq!(read(&bytes), Pickled::Imports(start.len() as u64), "{start:?}");
    }
    assert_eq!(read(call), Pickled::Imports(0));
    assert_eq!(read(b"(S'a'\nios.path\njoin\n."), Pickled::Imports(6));
    assert_eq!(read(b"(cos\nsystem\nS'a'\no."), Pickled::Imports(1));
    let by_texts = b"\x80\x04\x8C\x02os\x94\x8C\x06system\x94\x93\x94\x8C\x02ls\x85R.";
    assert_eq!(read(by_texts), Pickled::Imports(16));
}

#[test]
fn an_import_at_the_end_or_before_nonsense_counts_once_it_is_no_text() {
    assert_eq!(read(b"\x80\x02cthis\ns\n\xFF"), Pickled::Imports(2));
    assert_eq!(read(b"N0cthis\ns\n\xFF"), Pickled::Imports(2));
    assert_eq!(read(b"cos\nsystem\n(S'ls'\n"), Pickled::Imports(0));
    assert_eq!(read(b"cos\nsystem\n."), Pickled::Imports(0));
    assert_eq!(read(b"cos\nsystem\n\xFF"), Pickled::Imports(0));
    assert_eq!(read(b"(cposix\nsystem\nS'id'\nR."), Pickled::Imports(1));
    assert_eq!(read(b"\x80\x02}q\0X\x10\0\0\0abc"), Pickled::Damaged(5));
}

#[test]
fn several_pickles_are_followed_to_the_last() {
    let magic = b"\x80\x02\x8A\x0Al\xFC\x9CF\xF9 j\xA8P\x19.\x80\x02M\xE9\x03.";
    assert_eq!(read(magic), Pickled::Data(21));
    let more = [&magic[..], b"\x80\x02ctorch\nTensor\n"].concat();
    assert_eq!(read(&more), Pickled::Imports(23));
    assert_eq!(read(b"N.N.and text"), Pickled::Data(4));
}

#[test]
fn texts_and_other_files_are_no_pickles() {
    let others: [&[u8]; 42] = [
        b"cat\ncar\ncow\ncup\nbig\nRoad\n",
        b"cat\ncar\ncow\ncup\n",
        b"cat\ncar\nable\n",
        b"a/b-1.info/METADATA,sha256=-g,5\nb\n",
        b"cryptography.py,sha256=-g,1\ncry.py,,\nc\n",
        b"Version\ncat\ncar\nRoad\n",
        b"2 3\n",
        b"S3 bucket\n",
        b"git\n",
        b"KITTI is a set\n",
        b"F\n",
        b".gitattributes\n",
        b"tokens\n",
        b"\x80\x07.",
        b"\x88\x80\0\n\x12\x04hand:b",
        b"",
        b"I am a text.\n",
        b"No pickle",
        b"Please read\nthis.\n",
        b"cat\nname\nother\n",
        b"class\nname\n",
        b"import os\nprint()\n",
        b"(c) 2026 by nobody\nAll rights\n",
        b"(continued\nhere\nand there\n",
        b"Version 1\nVersion 2\n",
        b"K",
        b"Licence\n",
        b"From a\n",
        b"{\"a\": 1}",
        b"[1, 2]",
        b"}",
        b"]",
        b"# Title\n",
        b"\x89PNG\r\n\x1A\n",
        b"GIF89a\x01\0\x01\0\0\0",
        b"GGUF\x03\0\0\0\x02\0\0\0\0\0\0\0",
        b"PK\x03\x04\n\0.",
        b"\x08\x01\x12\x07",
        b"g0\n.",
        b"BM\x36\0\0\0\0\0",
        b"II*\0\x08\0\0\0",
        b"MM\0*\0\0\0\x08",
    ];
    for bytes in others {
        assert_eq!(read(bytes), Pickled::No, "{:?}", bytes.escape_ascii());
    }
}

#[test]
fn what_the_stack_does_not_allow_is_no_pickle() {
    for bytes in ["R.", "0N.", "N1.", "(.", ".", "Na.", "NNs.", "t.", "(e.", "N(Ns.", "o.", "(o."] {
        assert_eq!(read(bytes.as_bytes()), Pickled::No, "{bytes}");
    }
    for bytes in ["N.", "](e.", "}(NNu.", "NNN\x30\x30.", "(NNt.", "(0N.", "N2\x30."] {
        assert_eq!(read(bytes.as_bytes()), Pickled::Data(bytes.len() as u64), "{bytes}");
    }
}

#[test]
fn deep_and_long_pickles_are_not_missed() {
    let deep = ["(".repeat(500), "N".into(), "t".repeat(500), "0cos\nsystem\n".into()].concat();
    assert_eq!(read(deep.as_bytes()), Pickled::Imports(1002));
    let long = "N0".repeat(PICKLE_OPERATIONS as usize);
    assert_eq!(read(long.as_bytes()), Pickled::Unfinished(u64::from(PICKLE_OPERATIONS)));
    let mut line = std::vec![b'V'];
    line.resize(PICKLE_LINE as usize + 2, b'a');
    assert_eq!(read(&line), Pickled::Unfinished(0));
}

#[cfg(feature = "windows")]
#[test]
fn bytes_that_arrive_late_change_nothing() {
    use crate::Window;
    use std::vec::Vec;
    let name = "a".repeat(3000);
    let bytes = std::format!("V{name}\n0(S'{name}'\ni{name}\n{name}\n.");
    let bytes = bytes.as_bytes();
    let mut walk = PickleWalk::default();
    let mut kept: Vec<u8> = Vec::new();
    let (mut at, mut asked) = (0, 0);
    let found = loop {
        let window = [Window { offset: at, bytes: &kept }];
        match walk.step(&Source::windows(bytes.len() as u64, &window)) {
            Ok(found) => break found,
            Err(absent) => {
                asked += 1;
                assert!(absent.offset + absent.need <= bytes.len() as u64 && asked < 100);
                at = absent.offset;
                kept = bytes[at as usize..(at + absent.need) as usize].to_vec();
            }
        }
    };
    assert_eq!(found, read(bytes));
    assert_eq!(found, Pickled::Imports(6008));
}

#[cfg(feature = "windows")]
#[test]
fn file_whose_first_line_cannot_be_one_of_a_pickle_is_decided_by_its_head() {
    // The magic of a tensor format, a count, and headers of tensor files whose length begins with
    // an operation.
    for head in [
        &b"STB0\x01\0\0\0\0"[..],
        b"p\x0B\0\0\0\0\0\0{",
        b"I\0\0\0\0\0\0\0\0",
        b"c\0\0\0\0\0\0\0\0",
    ] {
        let window = [crate::Window { offset: 0, bytes: head }];
        let source = Source::windows(6_000_000_064, &window);
        assert_eq!(PickleWalk::default().step(&source), Ok(Pickled::No), "{}", head.escape_ascii());
    }
}
