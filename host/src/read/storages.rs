//! The storages of a checkpoint, and the tensors that are views of each.

use crate::base::error::Error;
use crate::base::text::Text;
use crate::read::model::Model;
use alloc::vec;
use alloc::vec::Vec;
use weighbridge_core::format::pytorch::index::{BASE, Storage as Stored};
use weighbridge_core::{Chunks, Cursor, File, Source, Span, Stop};

/// Bytes that tensors are views of.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct Storage {
    /// Its key in the pickle, which is the name of its record.
    #[cfg_attr(feature = "serde", serde(serialize_with = "lossy"))]
    pub key: Text,
    /// The offset of its first byte in the file.
    pub offset: u64,
    /// The number of its bytes in the file.
    pub stored: u64,
    /// The number of its bytes when it is decoded; `stored` if it is not compressed.
    pub size: u64,
    /// The number of its bytes that lie between the first and the last element of a tensor.
    pub used: u64,
    /// The CRC-32 in the directory of the archive; `None` if it was not computed.
    pub crc: Option<u32>,
    /// The numbers of the tensors that are views of it.
    pub tensors: Vec<u32>,
}

#[cfg(feature = "serde")]
fn lossy<S: serde::Serializer>(text: &Text, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_str(&text.lossy())
}

impl Model<'_> {
    /// The storages of a checkpoint of PyTorch, in the order in which its pickle names them; none for
    /// other formats.
    ///
    /// ```
    /// # let bytes = weighbridge_tests::samples::checkpoint();
    /// let model = weighbridge::Model::from_bytes(&bytes)?;
    /// let storage = &model.storages()?[0];
    /// assert_eq!((storage.size, storage.used), (24, 24));
    /// assert_eq!(storage.tensors, [0, 1]); // both are views of it
    /// # Ok::<(), weighbridge::Error>(())
    /// ```
    ///
    /// # Errors
    /// When the index cannot be read.
    pub fn storages(&self) -> Result<Vec<Storage>, Error> {
        self.access.ask_or_end(|source| Storage::list(&self.file, source))
    }
}

impl Storage {
    /// The storages of an open file, for who has no [`Model`]; see
    /// [`Model::storages`].
    ///
    /// ```
    /// use weighbridge::{Goal, Options, Poll, Session, Storage};
    ///
    /// # let bytes = weighbridge_tests::samples::checkpoint();
    /// let mut session = Session::whole(&bytes, Options::new());
    /// assert!(matches!(session.poll(Goal::Index)?, Poll::Done));
    /// let file = *session.file().unwrap();
    /// let storages = session.look(|source| Storage::list(&file, source)).unwrap();
    /// assert_eq!(storages.len(), 1);
    /// # Ok::<(), weighbridge::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Stop::NeedBytes`] if the index is not in memory.
    pub fn list(file: &File, source: &Source<'_>) -> Result<Vec<Storage>, Stop> {
        let File::PyTorch(header) = file else { return Ok(Vec::new()) };
        let mut storages = Vec::new();
        while let Some(stored) = header.storage(source, storages.len() as u64) {
            storages.push(storage(source, &stored));
        }
        let mut used = vec![Vec::new(); storages.len()];
        let mut cursor = Cursor::default();
        while let Some(found) = file.next_tensor(source, &mut cursor, &mut |_| {})? {
            let index = found.tensor.index;
            let number = header.storage_number(source, index);
            let number = number.and_then(|number| usize::try_from(number).ok());
            let place = number.and_then(|at| Some((storages.get_mut(at)?, used.get_mut(at)?)));
            if let Some((storage, spans)) = place {
                storage.tensors.push(index);
                if let Chunks::One(span) = found.tensor.chunks {
                    spans.push(span);
                }
            }
        }
        for (storage, spans) in storages.iter_mut().zip(used) {
            storage.used = match storage.stored == storage.size {
                true => covered(spans),
                false if spans.is_empty() => 0,
                false => storage.size,
            };
        }
        Ok(storages)
    }
}

fn storage(source: &Source<'_>, stored: &Stored) -> Storage {
    let key = source.get(Span::new(BASE.saturating_add(stored.key), stored.key_len));
    Storage {
        key: Text::from(key.unwrap_or_default().to_vec()),
        offset: stored.offset,
        stored: stored.stored,
        size: stored.size,
        used: 0,
        crc: u32::try_from(stored.crc).ok().filter(|crc| *crc != 0),
        tensors: Vec::new(),
    }
}

/// The number of bytes in these spans, each counted once.
fn covered(mut spans: Vec<Span>) -> u64 {
    spans.sort_unstable_by_key(|span| span.offset);
    let (mut all, mut end) = (0_u64, 0_u64);
    for span in spans {
        let past = span.offset.saturating_add(span.len);
        all = all.saturating_add(past.saturating_sub(end.max(span.offset)));
        end = end.max(past);
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_of_several_tensors_count_once() {
        let span = |offset, len| Span::new(offset, len);
        assert_eq!(covered(vec![span(10, 4), span(0, 4), span(2, 4), span(11, 2)]), 10);
        assert_eq!(covered(vec![]), 0);
    }
}
