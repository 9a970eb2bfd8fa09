//! One pass over all weights of a file.

#[cfg(feature = "std")]
mod csv;
#[cfg(feature = "serde")]
mod json;

#[cfg(feature = "serde")]
pub use json::SCHEMA_STATS;

use crate::analyse::health::{Health, Sign, Signs, Weights};
use crate::base::error::Error;
use crate::base::text::Text;
use crate::check::options::Options;
use crate::check::page_tail::Tail;
use crate::check::report::{Report, Verdict};
use crate::input::place::Place;
use crate::input::reader::Input;
use crate::list::entry::Shape;
use crate::read::model::Model;
use crate::read::tensor::Tensor;
use alloc::borrow::ToOwned as _;
use alloc::collections::BTreeMap;
use alloc::string::{String, ToString as _};
use alloc::vec::Vec;
use weighbridge_core::{DType, Format, Profile};

/// The weights of a file: statistics of each tensor, and what is noteworthy.
///
/// ```
/// use weighbridge::{FileInput, Options, Sweep};
///
/// # let file = tempfile::NamedTempFile::new().unwrap();
/// # std::fs::write(&file, weighbridge_tests::samples::safetensors()).unwrap();
/// # let path = file.path().to_path_buf();
/// let sweep = Sweep::of(&FileInput::open(&path)?, &path, &Options::new())?;
/// assert_eq!(sweep.health.to_string(), "nothing suspicious in 1 tensor");
/// for tensor in &sweep.tensors {
///     match &tensor.measured {
///         Ok(it) => println!("{} {:?}", tensor.name, it.weights.stats().mean()),
///         Err(why) => println!("{}: {why}", tensor.name),
///     }
/// }
/// # Ok::<(), weighbridge::Error>(())
/// ```
///
/// With the feature `serde` it serialises to the object that `weighbridge stats --json`
/// prints.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Sweep {
    /// The report of the file's check.
    pub report: Report,
    /// Its tensors, in file order.
    pub tensors: Vec<TensorWeights>,
    /// The health of all tensors.
    pub health: Health,
    /// Whether every stored tensor that was read could be decoded.
    pub decodes: bool,
    /// The tensor whose data breaks off in zeros, as that of a download does, or in copies of a page.
    pub broken_off: Option<BrokenOff>,
}

/// A tensor whose data breaks off in zeros, or in copies of one page: they begin inside a row, at a
/// multiple of 4,096 bytes, and the file ends in them.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct BrokenOff {
    /// The name of the tensor.
    pub name: Text,
    /// The offset where the zeros, or the copies, begin.
    pub offset: u64,
    /// Number of bytes, up to the end of the file.
    pub len: u64,
    /// Whether they are zeros.
    pub zeros: bool,
}

impl core::fmt::Display for BrokenOff {
    /// One sentence, such as `"w" breaks off in zeros at 8192`.
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let how = if self.zeros { "zeros" } else { "copies of one page" };
        write!(f, "\"{}\" breaks off in {how} at {}", self.name, self.offset)
    }
}

/// A tensor with its measurements.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct TensorWeights {
    /// The name.
    pub name: Text,
    /// The type of its elements.
    pub dtype: DType,
    /// The shape.
    pub shape: Shape,
    /// The measurements, or why there are none.
    pub measured: Result<Measured, String>,
}

/// Measurements of a tensor, including a comparison with the others.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Measured {
    /// Its statistics.
    pub weights: Weights,
    /// Its noteworthy properties.
    pub signs: Signs,
    /// The name of the first tensor with the same elements.
    pub duplicate_of: Option<Text>,
}

impl Sweep {
    /// Checks a file, and measures all tensors whose elements are numbers. The bytes decoded
    /// for that are limited like the work of an audit.
    ///
    /// ```
    /// use weighbridge::{FileInput, Options, Sweep};
    ///
    /// # let file = tempfile::NamedTempFile::new().unwrap();
    /// # std::fs::write(&file, weighbridge_tests::samples::safetensors()).unwrap();
    /// # let path = file.path().to_path_buf();
    /// let sweep = Sweep::of(&FileInput::open(&path)?, &path, &Options::new())?;
    /// assert!(sweep.tensors[0].measured.is_ok());
    /// # Ok::<(), weighbridge::Error>(())
    /// ```
    ///
    /// # Errors
    /// When the file cannot be read, or changes while it is.
    pub fn of(input: &dyn Input, place: &dyn Place, options: &Options) -> Result<Self, Error> {
        let (report, model) = Model::checked_at(input, place, options)?;
        let mut left = options.work_of(model.as_ref().map_or(0, Model::len_of_all));
        let (tensors, health) = (Vec::new(), Health::default());
        let mut sweep = Sweep { report, tensors, health, decodes: true, broken_off: None };
        let Some(model) = model else { return Ok(sweep) };
        let mut tail = Tail::default();
        let broken = model.access.ask(|source| Ok(tail.find(source, &model.file)?))?;
        let seed = options.seed_or_random();
        let mut seen: BTreeMap<[u64; 2], Text> = BTreeMap::new();
        for tensor in model.tensors() {
            let tensor = tensor?;
            let name = tensor.name().clone();
            let mut measured = match weights(&tensor, seed, &mut left) {
                Ok(weights) => Ok(Measured::beside(&mut seen, &name, weights)),
                Err(error @ Error::Undecodable(_)) => {
                    sweep.decodes = false;
                    Err(error.to_string())
                }
                Err(Error::Unsupported(why)) => Err(why),
                Err(error) => return Err(error),
            };
            let broken = broken.filter(|it| it.entry == tensor.index());
            match &mut measured {
                Ok(measured) => {
                    if broken.is_some() {
                        measured.signs.add(Sign::Cut);
                    }
                    sweep.health.add(measured.signs);
                    // The end of a file that breaks off is said once.
                    match measured.weights.hole() {
                        Some(hole) if Some(hole.offset) == broken.map(|it| it.at) => {}
                        Some(hole) if hole.zeros => sweep.health.pierce(),
                        Some(_) => sweep.health.repeat(),
                        None => {}
                    }
                }
                Err(_) => sweep.health.skip(),
            }
            if let Some(broken) = broken {
                match broken.zeros {
                    true => sweep.health.break_off(),
                    false => sweep.health.repeat(),
                }
                let (name, offset, zeros) = (name.clone(), broken.at, broken.zeros);
                let len = model.access.len() - offset;
                sweep.broken_off = Some(BrokenOff { name, offset, len, zeros });
            }
            let (dtype, shape) = (tensor.dtype(), tensor.shape().clone());
            sweep.tensors.push(TensorWeights { name, dtype, shape, measured });
        }
        model.verify_unchanged()?;
        Ok(sweep)
    }

    /// The verdict on the file, including its weights: `Invalid` if a tensor contains NaN or
    /// infinities, or cannot be decoded, and `Unchecked` if one was not measured.
    ///
    /// ```
    /// use weighbridge::{FileInput, Goal, Options, Profile, Sweep};
    ///
    /// # let file = tempfile::NamedTempFile::new().unwrap();
    /// # std::fs::write(&file, weighbridge_tests::samples::safetensors()).unwrap();
    /// # let path = file.path().to_path_buf();
    /// let options = Options::new().goal(Goal::Structure);
    /// let sweep = Sweep::of(&FileInput::open(&path)?, &path, &options)?;
    /// assert!(sweep.verdict(Profile::Strict).is_valid());
    /// # Ok::<(), weighbridge::Error>(())
    /// ```
    pub fn verdict(&self, profile: Profile) -> Verdict {
        let (_, skipped) = self.health.tensors();
        match self.report.verdict(profile) {
            _ if !self.decodes || self.health.is_faulty() => Verdict::Invalid,
            // An index has no tensors; those of the files that it lists were not read.
            Verdict::Valid if skipped > 0 || self.report.format() == Some(Format::Shards) => {
                Verdict::Unchecked
            }
            verdict => verdict,
        }
    }
}

impl Measured {
    /// Compares a tensor with those `seen` so far, by their digests.
    fn beside(seen: &mut BTreeMap<[u64; 2], Text>, name: &Text, weights: Weights) -> Self {
        let mut measured = Measured { signs: weights.signs(), weights, duplicate_of: None };
        if let Some(digest) = measured.weights.digest() {
            measured.duplicate_of = seen.get(&digest).cloned();
            seen.entry(digest).or_insert_with(|| name.clone());
        }
        if measured.duplicate_of.is_some() {
            measured.signs.add(Sign::Duplicate);
        }
        measured
    }
}

fn weights(tensor: &Tensor<'_, '_>, seed: u64, left: &mut u64) -> Result<Weights, Error> {
    let unsupported = |why: &str| Error::Unsupported(why.to_owned());
    let work = tensor.bytes().or(tensor.span().map(|span| span.len)).unwrap_or(0);
    *left = left.checked_sub(work).ok_or_else(|| unsupported("reading all data takes too long"))?;
    let none = "its elements are not numeric, or are not stored contiguously";
    tensor.weights(seed)?.ok_or_else(|| unsupported(none))
}
