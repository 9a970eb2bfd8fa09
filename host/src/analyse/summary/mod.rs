//! Summarises models: architecture, parameters, and what it takes to run them.
//!
//! Facts come from metadata, from a `config.json`, or from the names and shapes of tensors, and
//! each records its origin. Anything uncertain is left out.

mod chat_template;
mod count;
mod facts;
mod heads;
mod kv_cache;
mod labels;
mod layers;
mod role;
mod state;
mod vocabulary;

pub use chat_template::{Template, TemplatePiece, TemplateWarning};
pub use facts::{Fact, Origin};
pub use kv_cache::{Cache, CacheGroup};
pub use role::ModelPart;
pub use state::CacheState;
pub use vocabulary::{TokenKind, Vocabulary};

use crate::base::error::Error;
use crate::base::value::Value;
use crate::read::model::Model;
use alloc::string::String;
use alloc::vec::Vec;
use count::Counts;
use facts::Settings;
use weighbridge_core::DType;

/// Parameters and stored bytes of a group of tensors.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct Share {
    /// Number of tensors.
    pub tensors: u64,
    /// Trained elements: packed ones counted individually, without scales and tables.
    pub parameters: u64,
    /// Stored bytes, scales and tables included.
    pub bytes: u64,
}

impl Share {
    /// Stored bits per parameter.
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
    /// The common prefix of the names in the stack.
    pub stack: String,
    /// The number of the block in its stack.
    pub number: u64,
    /// Its tensors.
    #[cfg_attr(feature = "serde", serde(flatten))]
    pub share: Share,
    /// Parameters of each part.
    #[cfg_attr(feature = "serde", serde(serialize_with = "written::by_part"))]
    pub parts: Vec<(ModelPart, u64)>,
}

/// Summary of a model.
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
    /// Settings of the architecture, in display order.
    pub facts: Vec<Fact>,
    /// All tensors with data.
    pub all: Share,
    /// Tensors without data: computed when the model runs, or stored elsewhere. `parameters` are their
    /// elements, and `bytes` the memory for them.
    pub without_data: Share,
    /// Parameters that each token uses, if the file states how many experts that includes.
    pub active: Option<u64>,
    /// Elements that are not parameters: scales, zero points, tables.
    pub others: u64,
    /// Totals by element type, most bytes first.
    #[cfg_attr(feature = "serde", serde(serialize_with = "written::named"))]
    pub dtypes: Vec<(&'static str, Share)>,
    /// Totals by the purpose of tensors.
    #[cfg_attr(feature = "serde", serde(serialize_with = "written::named"))]
    pub parts: Vec<(ModelPart, Share)>,
    /// The blocks, by stack and number.
    pub blocks: Vec<ModelBlock>,
    /// The size of keys and values per position, and of states, if known.
    pub cache: Option<Cache>,
    /// Why it is unknown.
    pub no_cache: Option<String>,
    /// Contradictions, and what could not be counted, as sentences.
    pub notes: Vec<String>,
}

impl ModelSummary {
    /// The value of a fact, by its name in JSON.
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

/// Serialises pairs for JSON.
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

/// Builds a summary from metadata and tensors, given one at a time in any order, for hosts that
/// list them themselves.
///
/// ```
/// use weighbridge::weighbridge_core::DType;
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
    /// Adds a metadata entry.
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

    /// Sets the number of tokens of the tokenizer, whose list may be cut.
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

    /// Adds a setting of a `config.json`; names of nested objects are joined by dots.
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

    /// Adds a tensor: its extents, outermost first, and its stored bytes. A tensor with elements but
    /// no bytes has no data, so it has no parameters.
    ///
    /// ```
    /// use weighbridge::Summariser;
    /// use weighbridge::weighbridge_core::DType;
    ///
    /// let mut summariser = Summariser::default();
    /// summariser.tensor("output.weight", DType::F32, &[2, 3], 24);
    /// assert_eq!(summariser.finish().all.parameters, 6);
    /// ```
    pub fn tensor(&mut self, name: &str, dtype: DType, shape: &[u64], bytes: u64) {
        self.counts.tensor(name, dtype, shape, bytes);
    }

    /// Returns the summary.
    ///
    /// ```
    /// let summary = weighbridge::Summariser::default().finish();
    /// assert_eq!(summary.all.parameters, 0);
    /// ```
    pub fn finish(self) -> ModelSummary {
        let Summariser { settings, counts } = self;
        let mut summary = ModelSummary::default();
        let counted = counts.finish(&settings, &mut summary);
        if settings.is_cut {
            let text = "settings with long values were left out: together they exceed a limit";
            note(&mut summary.notes, String::from(text));
        }
        let (facts, layers) = facts::all(&settings, &counted, &mut summary.notes);
        match kv_cache::of(&settings, &facts, &counted, &layers) {
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
    /// Summarises the model from its metadata and the names and shapes of its tensors.
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

/// Maximum number of notes: the first ones suffice for a file that contradicts itself.
const MOST_NOTES: usize = 64;

/// Adds a note, unless there are too many.
fn note(notes: &mut Vec<String>, text: String) {
    if notes.len() < MOST_NOTES {
        notes.push(text);
    }
}
