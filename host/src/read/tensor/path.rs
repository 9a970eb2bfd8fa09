//! The keys that lead to a tensor.

use super::Tensor;
use crate::base::error::Error;
use crate::base::text::Text;
use alloc::vec::Vec;
#[cfg(feature = "pytorch")]
use weighbridge_core::File;

impl Tensor<'_, '_> {
    /// The keys that lead to the tensor in the object of a checkpoint, the outermost first: the name has
    /// them joined by dots, and a key may have dots of its own. `None` in other formats.
    ///
    /// ```
    /// # let bytes = weighbridge_tests::samples::checkpoint();
    /// let model = weighbridge::Model::from_bytes(&bytes)?;
    /// assert_eq!(model.tensor("model.w")?.path()?.unwrap(), ["model", "w"]);
    /// # Ok::<(), weighbridge::Error>(())
    /// ```
    ///
    /// # Errors
    /// When the index cannot be read.
    pub fn path(&self) -> Result<Option<Vec<Text>>, Error> {
        #[cfg(feature = "pytorch")]
        if let File::PyTorch(header) = &self.model.file {
            return self.model.access.ask_or_end(|source| {
                Ok(header.path(source, self.index()).map(|(name, bits)| keys(name, bits)))
            });
        }
        Ok(None)
    }
}

/// The parts of a name between the bytes whose bit is set.
#[cfg(feature = "pytorch")]
fn keys(name: &[u8], bits: &[u8]) -> Vec<Text> {
    let is_set = |at: usize| bits.get(at / 8).is_some_and(|byte| byte >> (at % 8) & 1 == 1);
    let (mut keys, mut from) = (Vec::new(), 0);
    for at in (0..name.len()).filter(|at| is_set(*at)) {
        keys.push(Text::from(name.get(from..at).unwrap_or_default().to_vec()));
        from = at + 1;
    }
    keys.push(Text::from(name.get(from..).unwrap_or_default().to_vec()));
    keys
}

#[cfg(all(test, feature = "pytorch"))]
mod tests {
    use super::*;
    use alloc::string::{String, ToString as _};

    #[test]
    fn dots_in_keys_do_not_separate() {
        let texts = |name: &str, bits: &[u8]| {
            keys(name.as_bytes(), bits).iter().map(Text::to_string).collect::<Vec<String>>()
        };
        assert_eq!(texts("a.b.c", &[0b0_1000]), ["a.b", "c"]);
        assert_eq!(texts("a.b.c", &[0b0_0010]), ["a", "b.c"]);
        assert_eq!(texts("12345678.w.x", &[0, 1]), ["12345678", "w.x"]);
        assert_eq!(texts("", &[]), [""]);
    }
}
