//! SHA-256 of a file and of each tensor, and a comparison of two files.

mod compare;
#[cfg(feature = "serde")]
mod json;
mod pass;

pub use compare::{Change, Comparison, Pair};
#[cfg(feature = "serde")]
pub use json::{SCHEMA_COMPARE, SCHEMA_DIGEST};

use crate::base::error::Error;
use crate::base::text::Text;
use crate::check::options::Options;
use crate::check::report::{Report, Verdict};
use crate::input::place::Place;
use crate::input::reader::Input;
use crate::read::model::Model;
use crate::read::tensor::Tensor;
use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use pass::Pass;
use weighbridge_core::Span;

/// A SHA-256 digest.
pub type Sha256 = [u8; 32];

/// The digests of a file and of its tensors.
///
/// ```
/// use weighbridge::digest::Digests;
/// use weighbridge::{FileInput, Options};
///
/// # let file = tempfile::NamedTempFile::new().unwrap();
/// # std::fs::write(&file, weighbridge_tests::samples::safetensors()).unwrap();
/// # let path = file.path().to_path_buf();
/// let digests = Digests::of(&FileInput::open(&path)?, &path, &Options::new())?;
/// for tensor in &digests.tensors {
///     match &tensor.sha256 {
///         Ok(sha256) => println!("{} {:02x?}", tensor.name, sha256),
///         Err(why) => println!("{}: {why}", tensor.name),
///     }
/// }
/// # assert_eq!(digests.tensors.len(), 1);
/// # Ok::<(), weighbridge::Error>(())
/// ```
///
/// With the feature `serde` they serialise to the object that `weighbridge digest --json`
/// prints.
#[derive(Debug)]
#[non_exhaustive]
pub struct Digests {
    /// The report of the file's check.
    pub report: Report,
    /// Digest of the whole file.
    pub sha256: Sha256,
    /// Digests of the tensors, in file order.
    pub tensors: Vec<TensorDigest>,
    /// Whether every tensor that had to be decoded could be decoded.
    pub decodes: bool,
}

/// The digest of a tensor's elements in row-major order and little-endian, whatever the
/// encoding and the format.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TensorDigest {
    /// The name.
    pub name: Text,
    /// The name of the type; for quantised tensors, with the file's own name for it.
    pub dtype: String,
    /// The shape; `None` for an extent that the file leaves open.
    pub shape: Vec<Option<u64>>,
    /// Where its stored bytes lie in the file, if they lie in one piece.
    pub span: Option<Span>,
    /// The digest, or why there is none.
    pub sha256: Result<Sha256, String>,
}

impl Digests {
    /// Checks a file and digests it: one read covers the file and all tensors stored unencoded,
    /// the others are decoded.
    ///
    /// # Errors
    /// When the file cannot be read, or changes meanwhile.
    ///
    /// ```
    /// use weighbridge::digest::Digests;
    /// use weighbridge::{FileInput, Options};
    ///
    /// # let file = tempfile::NamedTempFile::new().unwrap();
    /// # std::fs::write(&file, weighbridge_tests::samples::safetensors()).unwrap();
    /// # let path = file.path().to_path_buf();
    /// let digests = Digests::of(&FileInput::open(&path)?, &path, &Options::new())?;
    /// assert!(digests.tensors[0].sha256.is_ok());
    /// # Ok::<(), weighbridge::Error>(())
    /// ```
    pub fn of(input: &dyn Input, place: &dyn Place, options: &Options) -> Result<Self, Error> {
        let (report, model) = Model::checked_at(input, place, options)?;
        let mut pass = Pass::new(report.size()).with(options);
        let (mut tensors, mut decoded) = (Vec::new(), Vec::new());
        if let Some(model) = &model {
            for tensor in model.tensors() {
                let tensor = tensor?;
                let sha256 = match tensor.canonical_span() {
                    Ok(Some(span)) if pass.take(tensors.len(), span) => Ok(Sha256::default()),
                    Ok(Some(_)) => {
                        Err("entries share data, and not all of it is digested".to_owned())
                    }
                    Ok(None) => {
                        decoded.push((tensors.len(), tensor.clone()));
                        Ok(Sha256::default())
                    }
                    Err(Error::Unsupported(why)) => Err(why),
                    Err(error) => return Err(error),
                };
                tensors.push(TensorDigest::of(&tensor, sha256)?);
            }
        }
        let sha256 = pass.run(input, |i, digest| {
            if let Some(row) = tensors.get_mut(i) {
                row.sha256 = Ok(digest);
            }
        })?;
        // Decoding is bounded like the audit's work.
        let mut left = options.work_of(model.as_ref().map_or(0, Model::len_of_all));
        let mut decodes = true;
        for (i, tensor) in decoded {
            let digest = match tensor.decoded_len() {
                Ok(len) if len <= left => {
                    left -= len;
                    pass::of_decoded(&tensor)
                }
                Ok(_) => Err(Error::Unsupported("decoding all data takes too long".to_owned())),
                Err(error) => Err(error),
            };
            tensors[i].sha256 = match digest {
                Ok(digest) => Ok(digest),
                Err(error @ Error::Undecodable(_)) => {
                    decodes = false;
                    Err(error.to_string())
                }
                Err(Error::Unsupported(why)) => Err(why),
                Err(error) => return Err(error),
            };
        }
        input.verify_unchanged()?;
        if let Some(model) = &model {
            model.verify_unchanged()?;
        }
        Ok(Digests { report, sha256, tensors, decodes })
    }

    /// The verdict of the check; `Invalid` if stored data cannot be decoded, `Unchecked` if a
    /// tensor has no digest.
    ///
    /// ```
    /// use weighbridge::digest::Digests;
    /// use weighbridge::{FileInput, Goal, Options, Profile};
    ///
    /// # let file = tempfile::NamedTempFile::new().unwrap();
    /// # std::fs::write(&file, weighbridge_tests::samples::safetensors()).unwrap();
    /// # let path = file.path().to_path_buf();
    /// let options = Options::new().goal(Goal::Structure);
    /// let digests = Digests::of(&FileInput::open(&path)?, &path, &options)?;
    /// assert!(digests.verdict(Profile::Strict).is_valid());
    /// # Ok::<(), weighbridge::Error>(())
    /// ```
    pub fn verdict(&self, profile: crate::Profile) -> Verdict {
        match self.report.verdict(profile) {
            Verdict::Valid | Verdict::Unchecked if !self.decodes => Verdict::Invalid,
            Verdict::Valid if self.tensors.iter().any(|it| it.sha256.is_err()) => {
                Verdict::Unchecked
            }
            verdict => verdict,
        }
    }
}

impl TensorDigest {
    fn of(tensor: &Tensor<'_, '_>, sha256: Result<Sha256, String>) -> Result<Self, Error> {
        let particulars = tensor.particulars()?;
        let dtype = particulars.dtype.as_deref().unwrap_or(tensor.dtype().name());
        let dtype = match &particulars.dtype_raw {
            Some(raw) => format!("{dtype} {raw}"),
            None => dtype.to_owned(),
        };
        let shape = tensor.shape().extents().to_vec();
        let (name, span) = (tensor.name().clone(), tensor.span());
        Ok(TensorDigest { name, dtype, shape, span, sha256 })
    }
}
