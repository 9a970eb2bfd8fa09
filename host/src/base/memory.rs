//! Files in memory.

use alloc::sync::Arc;
use core::fmt;
use core::ops::Deref;

/// A file that is entirely in memory.
#[derive(Clone)]
pub(crate) enum Bytes<'a> {
    Lent(&'a [u8]),
    Kept(Arc<dyn AsRef<[u8]> + Send + Sync + 'a>),
}

impl Deref for Bytes<'_> {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            Bytes::Lent(bytes) => bytes,
            Bytes::Kept(bytes) => (**bytes).as_ref(),
        }
    }
}

impl fmt::Debug for Bytes<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Bytes").field(&self.len()).finish()
    }
}
