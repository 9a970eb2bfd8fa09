//! What a model is: its architecture, its parameters, what it takes to run it.
//!
//! Facts come from metadata, from a `config.json`, or from the names and shapes of tensors,
//! and each says from where. What none of these says for certain is left out.

mod cache;
mod count;
mod facts;
mod heads;
mod layers;
mod place;
mod rows;
mod state;
mod template;
mod vocabulary;

pub use cache::{Cache, CacheGroup};
pub use facts::{Fact, Origin};
pub use place::ModelPart;
pub use state::CacheState;
pub use template::{Template, TemplatePiece, TemplateWarning};
pub use vocabulary::{TokenKind, Vocabulary};

use crate::error::Error;
use crate::model::Model;
use crate::value::Value;
use alloc::string::String;
use alloc::vec::Vec;
use count::Counts;
use facts::Settings;
use weighbridge_core::DType;

/// Parameters and stored bytes of some tensors.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct Share {
    /// Number of tensors.
    pub tensors: u64,
    /// Elements that are trained: packed ones taken apart, without scales and tables.
    pub parameters: u64,
    /// Stored bytes, scales and tables included.
    pub bytes: u64,
}

impl Share {
    /// Stored bits for each parameter.
    ///
    /// ```
    /// # let bytes = weighbridge_tests::samples::safetensors();
    /// # let model = weighbridge::Model::from_bytes(&bytes)?;
    /// let all = model.summary()?.all;
    /// assert_eq!(all.bits_per_weight(), Some(16.0));
    /// # Ok::<(), weighbridge::Error>(())
    /// ```
    pub fn bits_per_weight(&self) -> Option<f64> {
        (self.parameters > 0).then(|| self.bytes as f64 * 8.0 / self.parameters as f64)
    }

    fn add(&mut self, parameters: u64, bytes: u64) {
        self.tensors += 1;
        self.parameters = self.parameters.saturating_add(parameters);
        self.bytes = self.bytes.saturating_add(bytes);
    }
}

/// A block of a model: one layer of a stack.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct ModelBlock {
    /// What the names of the stack begin with.
    pub stack: String,
    /// The number of the block in it.
    pub number: u64,
    /// Its tensors.
    #[cfg_attr(feature = "serde", serde(flatten))]
    pub share: Share,
    /// Parameters of each part.
    #[cfg_attr(feature = "serde", serde(serialize_with = "written::by_part"))]
    pub parts: Vec<(ModelPart, u64)>,
}

/// What a model is.
///
/// ```
/// # let bytes = weighbridge_tests::samples::safetensors();
/// let model = weighbridge::Model::from_bytes(&bytes)?;
/// let summary = model.summary()?;
/// assert_eq!((summary.all.parameters, summary.all.bytes), (6, 12));
/// # Ok::<(), weighbridge::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct ModelSummary {
    /// Settings of the architecture, in the order in which they are shown.
    pub facts: Vec<Fact>,
    /// All tensors.
    pub all: Share,
    /// Parameters that a token passes, if the file says how many experts that is.
    pub active: Option<u64>,
    /// Elements that are no parameters: scales, zero points, tables.
    pub others: u64,
    /// By element type, most bytes first.
    #[cfg_attr(feature = "serde", serde(serialize_with = "written::named"))]
    pub dtypes: Vec<(&'static str, Share)>,
    /// By what tensors are for.
    #[cfg_attr(feature = "serde", serde(serialize_with = "written::named"))]
    pub parts: Vec<(ModelPart, Share)>,
    /// By block, in the order of stacks and numbers.
    pub blocks: Vec<ModelBlock>,
    /// What keys and values take for each position, and states, if that is known.
    pub cache: Option<Cache>,
    /// Why it is not known.
    pub no_cache: Option<String>,
    /// What does not fit together, and what could not be counted: sentences.
    pub notes: Vec<String>,
}

impl ModelSummary {
    /// The value of a fact, by the name that it has in JSON.
    ///
    /// ```
    /// use weighbridge::{Summariser, Value};
    ///
    /// let mut summariser = Summariser::default();
    /// summariser.metadata("general.architecture", &Value::from("llama"));
    /// summariser.metadata("llama.block_count", &Value::Int(32));
    /// let summary = summariser.finish();
    /// assert_eq!(summary.fact("block_count").and_then(Value::as_int), Some(32));
    /// ```
    pub fn fact(&self, name: &str) -> Option<&Value> {
        self.facts.iter().find(|fact| fact.name == name).map(|fact| &fact.value)
    }
}

/// Pairs as JSON has them.
#[cfg(feature = "serde")]
mod written {
    use super::{ModelPart, Share};
    use serde::{Serialize, Serializer};

    #[derive(Serialize)]
    struct Named<'a, N> {
        name: &'a N,
        #[serde(flatten)]
        share: &'a Share,
    }

    pub(super) fn named<N: Serialize, S: Serializer>(
        all: &[(N, Share)],
        to: S,
    ) -> Result<S::Ok, S::Error> {
        to.collect_seq(all.iter().map(|(name, share)| Named { name, share }))
    }

    pub(super) fn by_part<S: Serializer>(
        all: &[(ModelPart, u64)],
        to: S,
    ) -> Result<S::Ok, S::Error> {
        to.collect_map(all.iter().map(|(part, count)| (part, count)))
    }
}

/// Makes a summary of metadata and of tensors, given one after the other in any order: for
/// hosts that list them themselves.
///
/// ```
/// use weighbridge::core::DType;
/// use weighbridge::{Summariser, Value};
///
/// let mut summariser = Summariser::default();
/// summariser.config("model_type", &Value::from("llama"));
/// summariser.tensor("model.layers.0.self_attn.k_proj.weight", DType::BF16, &[64, 256], 32_768);
/// let summary = summariser.finish();
/// assert_eq!(summary.all.parameters, 64 * 256);
/// assert_eq!(summary.fact("architecture").and_then(Value::as_str), Some("llama"));
/// ```
#[derive(Debug, Default)]
pub struct Summariser {
    settings: Settings,
    counts: Counts,
}

impl Summariser {
    /// Takes an entry of the metadata.
    ///
    /// ```
    /// use weighbridge::{Summariser, Value};
    ///
    /// let mut summariser = Summariser::default();
    /// summariser.metadata("general.name", &Value::from("tiny"));
    /// assert_eq!(summariser.finish().fact("name").and_then(Value::as_str), Some("tiny"));
    /// ```
    pub fn metadata(&mut self, key: &str, value: &Value) {
        self.settings.metadata(key, value);
    }

    /// Takes the number of tokens of the tokenizer, whose list may be cut.
    ///
    /// ```
    /// use weighbridge::{Summariser, Value};
    ///
    /// let mut summariser = Summariser::default();
    /// summariser.tokens(32_000);
    /// let summary = summariser.finish();
    /// assert_eq!(summary.fact("vocab_size").and_then(Value::as_int), Some(32_000));
    /// ```
    pub fn tokens(&mut self, count: u64) {
        self.settings.tokens = Some(count);
    }

    /// Takes a setting of a `config.json`; names of objects in objects are joined by dots.
    ///
    /// ```
    /// use weighbridge::{Summariser, Value};
    ///
    /// let mut summariser = Summariser::default();
    /// summariser.config("rope_scaling.factor", &Value::Float(8.0));
    /// let summary = summariser.finish();
    /// assert_eq!(summary.fact("rope_scaling_factor").and_then(Value::as_f64), Some(8.0));
    /// ```
    pub fn config(&mut self, key: &str, value: &Value) {
        self.settings.config(key, value);
    }

    /// Takes a tensor: its extents outermost first, and its stored bytes.
    ///
    /// ```
    /// use weighbridge::Summariser;
    /// use weighbridge::core::DType;
    ///
    /// let mut summariser = Summariser::default();
    /// summariser.tensor("output.weight", DType::F32, &[2, 3], 24);
    /// assert_eq!(summariser.finish().all.parameters, 6);
    /// ```
    pub fn tensor(&mut self, name: &str, dtype: DType, shape: &[u64], bytes: u64) {
        self.counts.tensor(name, dtype, shape, bytes);
    }

    /// The summary.
    ///
    /// ```
    /// let summary = weighbridge::Summariser::default().finish();
    /// assert_eq!(summary.all.parameters, 0);
    /// ```
    pub fn finish(self) -> ModelSummary {
        let Summariser { settings, counts } = self;
        let mut summary = ModelSummary::default();
        let counted = counts.finish(&settings, &mut summary);
        let (facts, layers) = facts::all(&settings, &counted, &mut summary.notes);
        match cache::of(&settings, &facts, &counted, &layers) {
            Ok(cache) => summary.cache = Some(cache),
            Err(why) => summary.no_cache = Some(why),
        }
        let main = layers.ok().flatten().map(|layers| layers.count);
        summary.active = counted.active(&facts, main);
        summary.facts = facts;
        summary
    }
}

impl Model<'_> {
    /// What the model is, by its metadata and the names and shapes of its tensors.
    ///
    /// ```
    /// # let bytes = weighbridge_tests::samples::safetensors();
    /// let model = weighbridge::Model::from_bytes(&bytes)?;
    /// assert_eq!(model.summary()?.all.tensors, 1);
    /// # Ok::<(), weighbridge::Error>(())
    /// ```
    ///
    /// # Errors
    /// When bytes cannot be read.
    pub fn summary(&self) -> Result<ModelSummary, Error> {
        let mut summariser = Summariser::default();
        for entry in self.metadata() {
            let entry = entry?;
            if let (Some([tokens]), true) = (entry.shape(), *entry.key() == facts::TOKENS) {
                summariser.tokens(*tokens);
            }
            summariser.metadata(&entry.key().lossy(), entry.value());
        }
        for tensor in self.tensors() {
            let tensor = tensor?;
            let mut bytes = 0_u64;
            for piece in tensor.pieces() {
                bytes = bytes.saturating_add(piece?.stored);
            }
            let shape = tensor.shape().known().unwrap_or_else(|| alloc::vec![tensor.elements()]);
            summariser.tensor(&tensor.name().lossy(), tensor.dtype(), &shape, bytes);
        }
        Ok(summariser.finish())
    }
}

/// At most this many notes: of a file that contradicts itself, the first say enough.
const MOST_NOTES: usize = 64;

/// Adds a sentence, unless there are many.
fn note(notes: &mut Vec<String>, text: String) {
    if notes.len() < MOST_NOTES {
        notes.push(text);
    }
}
