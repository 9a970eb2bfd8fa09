//! Files far larger than memory are validated with few reads.
#![cfg(unix)]

use std::fs::File;
use std::os::unix::fs::FileExt as _;
use weighbridge_core::{Audit, Cursor, Finding, Opening, Slot, Source, Stop, Window};
use weighbridge_tests::encode::ztensor::{self, Item, Tensor};

/// Reads windows of a real file in units of 512 bytes, and counts them.
struct Disk {
    file: File,
    len: u64,
    held: Vec<(u64, Vec<u8>)>,
    read: u64,
}

impl Disk {
    fn drive<T>(&mut self, mut call: impl FnMut(&Source<'_>) -> Result<T, Stop>) -> T {
        loop {
            let windows: Vec<_> =
                self.held.iter().map(|(at, bytes)| Window { offset: *at, bytes }).collect();
            match call(&Source::windows(self.len, &windows)) {
                Ok(value) => return value,
                Err(Stop::NeedBytes(absent)) => {
                    let at = absent.offset / 512 * 512;
                    let end = (absent.offset + absent.want).next_multiple_of(512).min(self.len);
                    let mut bytes = vec![0; (end - at) as usize];
                    self.file.read_exact_at(&mut bytes, at).unwrap();
                    self.read += end - at;
                    // The largest window is the index; the others are needed only once.
                    self.held.retain(|(_, bytes)| bytes.len() > 4096);
                    self.held.push((at, bytes));
                }
                Err(stop) => panic!("{stop:?}"),
            }
        }
    }
}

/// A thousand tensors of slightly more than 40 MB, with the index at the end. The file is sparse,
/// so it takes no disk space.
#[test]
fn forty_gigabyte_file_is_checked_by_its_tail() {
    const COUNT: u64 = 1000;
    const SIZE: u64 = 40_000_003;
    let name = |i| format!("layer.{i}.weight");
    let one = |i| Tensor::raw(&name(i), "uint8", &[SIZE], Vec::new());
    let mut draft = ztensor::File::of((0..COUNT).map(one)).draft();
    let mut end = 8_u64;
    for entry in &mut draft.entries {
        let at = end.next_multiple_of(64);
        entry.set("offset", Item::Uint(at)).set("size", Item::Uint(SIZE));
        end = at + SIZE;
    }
    let index = draft.index_bytes();
    let path = std::env::temp_dir().join(format!("weighbridge-large-{}.zt", std::process::id()));
    let file =
        File::options().read(true).write(true).create(true).truncate(true).open(&path).unwrap();
    std::fs::remove_file(&path).unwrap();
    let len = end + index.len() as u64 + 8;
    file.set_len(len).unwrap();
    file.write_all_at(&ztensor::MAGIC, 0).unwrap();
    file.write_all_at(&index, end).unwrap();
    file.write_all_at(&(index.len() as u64).to_le_bytes(), end + index.len() as u64).unwrap();
    assert!(len > 40_000_000_000);

    let mut disk = Disk { file, len, held: Vec::new(), read: 0 };
    let mut findings: Vec<Finding> = Vec::new();
    let mut opening = Opening::detect();
    let opened = disk.drive(|s| opening.step(s, &mut |f| findings.push(f)));
    let mut cursor = Cursor::default();
    let mut listed = 0;
    while let Some(tensor) = disk.drive(|s| {
        let mut next = cursor;
        let tensor = opened.next_tensor(s, &mut next, &mut |_| {})?;
        cursor = next;
        Ok(tensor.map(|entry| entry.tensor))
    }) {
        assert_eq!(tensor.elements, SIZE);
        listed += 1;
    }
    assert_eq!(listed, COUNT);
    let mut audit = Audit::new(opened).structure_only();
    let mut slots = vec![Slot::EMPTY; 2 * COUNT as usize];
    disk.drive(|s| audit.step(s, &mut slots, &mut |f| findings.push(f)));
    assert_eq!(findings, []);
    assert!(disk.read < 1 << 20, "{} bytes were read", disk.read);
}
