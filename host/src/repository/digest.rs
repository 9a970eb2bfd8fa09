//! Names that are digests: the blobs of huggingface_hub's cache and of an Ollama store.

use super::content::PIECE;
use crate::base::error::ReadError;
use crate::input::reader::Input;
use alloc::format;
use alloc::string::String;
use alloc::vec;
use sha2::{Digest as _, Sha256};
use std::path::{Path, PathBuf};

/// The digest that a file's name states.
///
/// ```
/// use weighbridge::repository::BlobDigest;
///
/// let name = "models--me--x/blobs/a94a8fe5ccb19ba61c4c0873d391e987982fbbd3";
/// assert!(matches!(BlobDigest::of(name.as_ref()), Some(BlobDigest::GitSha1(_))));
/// assert_eq!(BlobDigest::of("model.gguf".as_ref()), None);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum BlobDigest {
    /// SHA-256 of the bytes, in lower-case hexadecimal.
    Sha256(String),
    /// SHA-1 of the bytes as a blob of Git.
    GitSha1(String),
}

impl BlobDigest {
    /// The digest in the name of a file in a folder `blobs` of a store, or of the blob that a link
    /// of huggingface_hub's cache leads to.
    ///
    /// ```
    /// use weighbridge::repository::BlobDigest;
    ///
    /// let name = format!("models/blobs/sha256-{}", "0".repeat(64));
    /// assert_eq!(BlobDigest::of(name.as_ref()), Some(BlobDigest::Sha256("0".repeat(64))));
    /// ```
    pub fn of(path: &Path) -> Option<Self> {
        let is_link = |it: std::fs::Metadata| it.is_symlink();
        let linked = std::fs::symlink_metadata(path).is_ok_and(is_link) && super::is_hub_link(path);
        let target;
        let path = match linked {
            true => {
                target = std::fs::canonicalize(path).ok()?;
                &target
            }
            false => path,
        };
        // Few names look like a digest, so folders are looked at last.
        let (found, of_store) = stated(path)?;
        let blobs = blobs(path)?;
        (of_store || super::is_hub_repository(blobs.parent()?)).then_some(found)
    }

    /// The digest that the name of a file states that a user named: also of one outside of a store
    /// whose name says which digest it is, and of one in any folder `blobs`.
    ///
    /// ```
    /// use weighbridge::repository::BlobDigest;
    ///
    /// let name = format!("sha256-{}", "0".repeat(64));
    /// assert_eq!(BlobDigest::named(name.as_ref()), Some(BlobDigest::Sha256("0".repeat(64))));
    /// assert_eq!(BlobDigest::of(name.as_ref()), None);
    /// ```
    pub fn named(path: &Path) -> Option<Self> {
        BlobDigest::of(path).or_else(|| {
            let (digest, says_which) = stated(path)?;
            (says_which || blobs(path).is_some()).then_some(digest)
        })
    }

    /// The digest in hexadecimal.
    ///
    /// ```
    /// use weighbridge::repository::BlobDigest;
    ///
    /// assert_eq!(BlobDigest::Sha256("00".into()).hex(), "00");
    /// ```
    pub fn hex(&self) -> &str {
        match self {
            BlobDigest::Sha256(hex) | BlobDigest::GitSha1(hex) => hex,
        }
    }

    /// Whether the bytes have this digest. Reads all of them.
    ///
    /// ```
    /// use weighbridge::{FileInput, repository::BlobDigest};
    ///
    /// # let file = tempfile::NamedTempFile::new()?;
    /// // Git's digest of a file without bytes.
    /// let empty = BlobDigest::GitSha1("e69de29bb2d1d6434b8b29ae775ad8c2e48c5391".into());
    /// assert!(empty.verify(&FileInput::open(file.path())?)?);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// When bytes cannot be read, or the file changes meanwhile.
    pub fn verify(&self, input: &dyn Input) -> Result<bool, ReadError> {
        let found = match self {
            BlobDigest::Sha256(_) => {
                let mut hasher = Sha256::new();
                each_piece(input, |piece| hasher.update(piece))?;
                crate::base::text::hex(&hasher.finalize())
            }
            BlobDigest::GitSha1(_) => {
                let mut hasher = Sha1::new();
                hasher.update(format!("blob {}\0", input.len()).as_bytes());
                each_piece(input, |piece| hasher.update(piece))?;
                crate::base::text::hex(&hasher.finish())
            }
        };
        Ok(found == self.hex())
    }
}

/// The digest that a name states, and whether it says which one it is.
fn stated(path: &Path) -> Option<(BlobDigest, bool)> {
    let name = path.file_name()?.to_str()?;
    let hex = |text: &str| text.bytes().all(|it| matches!(it, b'0'..=b'9' | b'a'..=b'f'));
    let prefixed = name.strip_prefix("sha256-").or_else(|| name.strip_prefix("sha256:"));
    let (digest, says_which) = prefixed.map_or((name, false), |digest| (digest, true));
    let found = match digest.len() {
        64 if hex(digest) => BlobDigest::Sha256(digest.into()),
        40 if hex(digest) && !says_which => BlobDigest::GitSha1(digest.into()),
        _ => return None,
    };
    Some((found, says_which))
}

/// The folder of a file, if it is called `blobs`.
fn blobs(path: &Path) -> Option<PathBuf> {
    let whole = std::path::absolute(path).ok()?;
    let blobs = whole.parent().filter(|it| it.file_name() == Some("blobs".as_ref()))?;
    Some(blobs.to_path_buf())
}

fn each_piece(input: &dyn Input, mut take: impl FnMut(&[u8])) -> Result<(), ReadError> {
    let len = input.len();
    let mut buffer = vec![0; usize::try_from(len).map_or(PIECE, |len| len.min(PIECE))];
    let mut at = 0;
    while at < len {
        let n = usize::try_from(len - at).map_or(PIECE, |left| left.min(PIECE));
        input.read_at(at, &mut buffer[..n])?;
        take(&buffer[..n]);
        at += n as u64;
    }
    input.verify_unchanged()
}

/// SHA-1 (FIPS 180-4, section 6.1). Git uses it for names; it does not resist an attacker, and
/// needs not here: an attacker who chooses the bytes also chooses the name.
struct Sha1 {
    state: [u32; 5],
    block: [u8; 64],
    len: u64,
}

impl Sha1 {
    fn new() -> Self {
        let state = [0x6745_2301, 0xEFCD_AB89, 0x98BA_DCFE, 0x1032_5476, 0xC3D2_E1F0];
        Sha1 { state, block: [0; 64], len: 0 }
    }

    fn update(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            let at = (self.len % 64) as usize;
            let n = bytes.len().min(64 - at);
            let (now, rest) = bytes.split_at(n);
            self.block[at..at + n].copy_from_slice(now);
            self.len += n as u64;
            if at + n == 64 {
                self.compress();
            }
            bytes = rest;
        }
    }

    fn finish(mut self) -> [u8; 20] {
        let bits = self.len.wrapping_mul(8);
        self.update(&[0x80]);
        while self.len % 64 != 56 {
            self.update(&[0]);
        }
        self.update(&bits.to_be_bytes());
        let mut digest = [0; 20];
        for (to, word) in digest.chunks_exact_mut(4).zip(self.state) {
            to.copy_from_slice(&word.to_be_bytes());
        }
        digest
    }

    fn compress(&mut self) {
        let mut words = [0_u32; 80];
        for (word, four) in words.iter_mut().zip(self.block.chunks_exact(4)) {
            *word = four.iter().fold(0, |word, byte| word << 8 | u32::from(*byte));
        }
        for t in 16..80 {
            let word = words[t - 3] ^ words[t - 8] ^ words[t - 14] ^ words[t - 16];
            words[t] = word.rotate_left(1);
        }
        let [mut a, mut b, mut c, mut d, mut e] = self.state;
        for (t, word) in words.iter().enumerate() {
            let (f, k) = match t {
                0..20 => (b & c | !b & d, 0x5A82_7999),
                20..40 => (b ^ c ^ d, 0x6ED9_EBA1),
                40..60 => (b & c | b & d | c & d, 0x8F1B_BCDC),
                _ => (b ^ c ^ d, 0xCA62_C1D6_u32),
            };
            let sum = a.rotate_left(5).wrapping_add(f).wrapping_add(e);
            let sum = sum.wrapping_add(k).wrapping_add(*word);
            (e, d, c, b, a) = (d, c, b.rotate_left(30), a, sum);
        }
        for (state, value) in self.state.iter_mut().zip([a, b, c, d, e]) {
            *state = state.wrapping_add(value);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The examples of FIPS 180, and the digests that `git hash-object` prints.
    #[test]
    fn sha1_is_that_of_the_standard() {
        let of = |bytes: &[u8]| {
            let mut hasher = Sha1::new();
            bytes.chunks(7).for_each(|piece| hasher.update(piece));
            crate::base::text::hex(&hasher.finish())
        };
        assert_eq!(of(b"abc"), "a9993e364706816aba3e25717850c26c9cd0d89d");
        let long = b"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq";
        assert_eq!(of(long), "84983e441c3bd26ebaae4aa1f95129e5e54670f1");
        assert_eq!(of(&[b'a'; 1_000]), "291e9a6c66994949b57ba5e650361e98fc36b1ba");
        assert_eq!(of(b"blob 0\0"), "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391");
    }
}
