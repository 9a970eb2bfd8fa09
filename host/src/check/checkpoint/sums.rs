//! Checks the CRC-32 of storages of which tensors use only parts.
//!
//! The core compares the checksum of a storage with the bytes of a tensor that is all of it. Other
//! storages are read here, each once.

use crate::check::finding::on_file;
use crate::check::report::Collected;
use alloc::vec;
use alloc::vec::Vec;
use weighbridge_core::codec::checksum::{Algorithm, Checksum, Hasher};
use weighbridge_core::format::npz::rules::ZIP_CRC;
use weighbridge_core::format::pytorch::Header;
use weighbridge_core::format::pytorch::index::Storage;
use weighbridge_core::{Absent, Cursor, File, Source, Span, Stop, general, limits};

/// Bytes that are read at a time.
const PIECE: u64 = 1 << 20;

/// Progress of the check. Between steps it is plain data.
#[derive(Debug, Default)]
pub(crate) struct SumCheck {
    /// For each storage, whether a tensor is all of it.
    whole: Vec<bool>,
    cursor: Cursor,
    is_listed: bool,
    /// The storage that is read, what was read of it, and its checksum so far.
    number: u64,
    done: u64,
    hasher: Option<Hasher>,
    /// Bytes read of all storages.
    spent: u64,
}

impl SumCheck {
    /// Compares the checksums, and reports each difference.
    ///
    /// # Errors
    /// The bytes that are missing; call again when they are available.
    pub(crate) fn enter(
        &mut self,
        source: &Source<'_>,
        file: &File,
        collected: &mut Collected,
    ) -> Result<(), Absent> {
        let File::PyTorch(header) = file else { return Ok(()) };
        if !self.is_listed {
            self.list(source, file, header)?;
        }
        while let Some(storage) = header.storage(source, self.number) {
            let place = usize::try_from(self.number).unwrap_or(usize::MAX);
            let is_whole = self.whole.get(place).copied().unwrap_or(false);
            if !is_whole && is_checkable(&storage, source.len()) {
                self.check(source, &storage, collected)?;
            }
            self.number += 1;
            (self.done, self.hasher) = (0, None);
        }
        Ok(())
    }

    /// Notes the storages whose checksum the core compares.
    fn list(&mut self, source: &Source<'_>, file: &File, header: &Header) -> Result<(), Absent> {
        self.whole = vec![false; usize::try_from(header.summary().storages).unwrap_or(0)];
        loop {
            let found = match file.next_tensor(source, &mut self.cursor, &mut |_| {}) {
                Ok(Some(found)) => found,
                Err(Stop::NeedBytes(absent)) => return Err(absent),
                Ok(None) | Err(_) => break,
            };
            let number = header.storage_number(source, found.tensor.index);
            let place = number.and_then(|number| usize::try_from(number).ok());
            if let Some(whole) = place.and_then(|place| self.whole.get_mut(place)) {
                *whole |= file.checksum(source, &found.tensor)?.is_some();
            }
        }
        self.is_listed = true;
        Ok(())
    }

    fn check(
        &mut self,
        source: &Source<'_>,
        storage: &Storage,
        collected: &mut Collected,
    ) -> Result<(), Absent> {
        let most = source.len().saturating_mul(limits::SHARES).saturating_add(limits::SHARED);
        let head = u32::try_from(storage.stored).unwrap_or(u32::MAX);
        let at = (storage.offset, head);
        while self.done < storage.stored {
            let len = PIECE.min(storage.stored - self.done);
            let hasher = match &mut self.hasher {
                Some(hasher) => Some(hasher),
                none => {
                    *none = Hasher::new(Algorithm::Crc32);
                    none.as_mut()
                }
            };
            // Storages share bytes only in a file that was made to take time.
            let Some(hasher) = hasher.filter(|_| self.spent.saturating_add(len) <= most) else {
                collected.push(on_file(general::CHECKSUM_UNCHECKED, at, (storage.crc, 0)));
                return Ok(());
            };
            hasher.update(source.get(Span::new(storage.offset + self.done, len))?);
            self.done += len;
            self.spent += len;
        }
        let stated = Checksum::crc32(u32::try_from(storage.crc).unwrap_or(0));
        let found = self.hasher.take().map(Hasher::finish);
        if let Some(found) = found.filter(|found| *found != stated) {
            let (expected, found) = stated.difference(&found);
            collected.push(on_file(ZIP_CRC, at, (expected, found)));
        }
        Ok(())
    }
}

/// Whether a storage is stored as it is, with a checksum. Faults of its size have rules of their own.
fn is_checkable(storage: &Storage, len: u64) -> bool {
    let end = storage.offset.checked_add(storage.stored);
    storage.crc != 0
        && storage.is_deflated == 0
        && storage.size == storage.stated
        && end.is_some_and(|end| end <= len)
}
