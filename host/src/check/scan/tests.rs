use crate::check::criteria::Criteria;
use crate::check::scan::Scan;
use alloc::vec::Vec;
use weighbridge_core::{Profile, Source};

/// The rules that a scan finds, and the number of pickles.
fn scan(bytes: &[u8]) -> (Vec<&'static str>, u64) {
    let mut scan = Scan::default();
    let criteria = Criteria::new(Profile::Strict);
    assert_eq!(scan.step(&Source::whole(bytes), &criteria), Ok(()));
    let results = scan.into_results();
    (results.findings.iter().map(|it| it.rule.id()).collect(), results.pickles.count())
}

#[test]
fn every_pickle_is_counted() {
    assert_eq!(scan(b"\x80\x02N."), (Vec::new(), 1));
    assert_eq!(scan(b"\x80\x02N.\x80\x02N."), (Vec::new(), 2));
    assert_eq!(scan(b"\x80\x02N.\x80\x02cos\nsystem\n."), (["PICKLE-GLOBAL"].into(), 2));
    assert_eq!(scan(b"a text"), (Vec::new(), 0));
    assert_eq!(scan(b""), (Vec::new(), 0));
}

/// Members that share their bytes are followed as long as that takes no more than the file is worth.
#[test]
fn shared_members_are_followed_up_to_a_limit() {
    let pickle = [&[b'N'; 4_000][..], b"."].concat();
    let mut file = b"PK\x03\x04".to_vec();
    file.resize(30, 0);
    file.extend(&pickle);
    let (mut directory, count) = (Vec::new(), 2_000_u16);
    for _ in 0..count {
        let mut entry = b"PK\x01\x02".to_vec();
        entry.resize(46, 0);
        entry[20..24].copy_from_slice(&(pickle.len() as u32).to_le_bytes());
        directory.extend(entry);
    }
    let at = file.len() as u32;
    file.extend(&directory);
    file.extend(b"PK\x05\x06\0\0\0\0");
    file.extend([count.to_le_bytes(), count.to_le_bytes()].concat());
    file.extend((directory.len() as u32).to_le_bytes());
    file.extend(at.to_le_bytes());
    file.extend([0, 0]);
    let (rules, count) = scan(&file);
    assert_eq!(rules, ["PICKLE-UNCHECKED"]);
    assert!(count < 200, "{count}");
}
