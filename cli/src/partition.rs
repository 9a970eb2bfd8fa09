//! Divides files among machines or jobs: each file belongs to one part, which depends only
//! on its path.

use sha2::{Digest as _, Sha256};
use std::str::FromStr;

/// Part `k` of `n`, counted from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Shard {
    k: u64,
    n: u64,
}

impl Shard {
    /// Whether the file with this path belongs to the part: the first eight bytes of the
    /// path's SHA-256, as a big-endian number, modulo n are k − 1.
    pub(crate) fn has(&self, path: &str) -> bool {
        let digest = Sha256::digest(path.as_bytes());
        let first =
            digest.iter().take(8).fold(0_u64, |number, byte| number << 8 | u64::from(*byte));
        first % self.n == self.k - 1
    }
}

impl FromStr for Shard {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let number = |text: &str| text.parse::<u64>().ok().filter(|number| *number > 0);
        let parsed = text.split_once('/').and_then(|(k, n)| Some((number(k)?, number(n)?)));
        match parsed {
            Some((k, n)) if k <= n => Ok(Shard { k, n }),
            _ => Err("it must be K/N, with K from 1 to N".to_owned()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn path_belongs_to_one_shard() {
        let mut counts = [0; 7];
        for i in 0..7_000 {
            let path = format!("models/{i}.gguf");
            let parts: Vec<_> = (1..=7).filter(|k| Shard { k: *k, n: 7 }.has(&path)).collect();
            let [part] = parts[..] else { panic!("{path}: {parts:?}") };
            counts[part as usize - 1] += 1;
        }
        assert!(counts.iter().all(|count| (800..1_200).contains(count)), "{counts:?}");
    }

    /// Users may compute it themselves: `printf %s a.gguf | sha256sum` begins with
    /// 6a8d1dcf949b6bff.
    #[test]
    fn partition_is_stable() {
        let of = |path: &str| (1..=10).find(|k| Shard { k: *k, n: 10 }.has(path));
        assert_eq!(of("a.gguf"), Some(0x6a8d_1dcf_949b_6bff_u64 % 10 + 1));
    }
}
