//! The rules that files of a folder may break beside those of the formats.

use weighbridge_core::{Basis, RuleInfo, Severity};

pub(crate) const ADAPTER_BASE: &str = "ADAPTER-BASE";
pub(crate) const ADAPTER_RANK: &str = "ADAPTER-RANK";
pub(crate) const ADAPTER_SHAPE: &str = "ADAPTER-SHAPE";
pub(crate) const ADAPTER_TARGETS: &str = "ADAPTER-TARGETS";
pub(crate) const BLOB_DIGEST: &str = "BLOB-DIGEST";
pub(crate) const CODE: &str = "CODE";
pub(crate) const CODE_LOADED: &str = "CODE-LOADED";
pub(crate) const CONFIG_DTYPE: &str = "CONFIG-DTYPE";
pub(crate) const CONFIG_HEAD: &str = "CONFIG-HEAD";
pub(crate) const CONFIG_LAYERS: &str = "CONFIG-LAYERS";
pub(crate) const CONFIG_QUANTISED: &str = "CONFIG-QUANTISED";
pub(crate) const CONFIG_SHAPE: &str = "CONFIG-SHAPE";
pub(crate) const CONFIG_TIED: &str = "CONFIG-TIED";
pub(crate) const CONFIG_VOCABULARY: &str = "CONFIG-VOCABULARY";
pub(crate) const DOWNLOAD: &str = "DOWNLOAD";
pub(crate) const MANIFEST_BLOB: &str = "MANIFEST-BLOB";
pub(crate) const PIPELINE_PART: &str = "PIPELINE-PART";
pub(crate) const POINTER: &str = "POINTER";

/// The rules about files of a folder that are no tensor files, by their ids.
///
/// ```
/// use weighbridge::repository::RULES;
///
/// assert!(RULES.iter().any(|rule| rule.id == "CODE-LOADED"));
/// ```
pub const RULES: &[RuleInfo] = &[
    RuleInfo {
        id: ADAPTER_BASE,
        severity: Severity::Lint,
        basis: Basis::Silent,
        message: "the base of the adapter is not named so that others find it",
        spec: "adapter_config.json names the model that the adapter belongs to",
        why: Some(
            "an adapter gives sensible results on its own base alone, and PEFT does not notice \
             another one of the same shapes. A path of the machine that trained it says nothing",
        ),
    },
    RuleInfo {
        id: ADAPTER_RANK,
        severity: Severity::Violation,
        basis: Basis::Implied,
        message: "a matrix of the adapter has another rank than adapter_config.json states",
        spec: "lora_A has r rows and lora_B has r columns, or as many as rank_pattern states",
        why: Some(
            "PEFT makes matrices of the stated rank and refuses others; programs that scale by \
             lora_alpha / r without making any apply the adapter with the wrong strength",
        ),
    },
    RuleInfo {
        id: ADAPTER_SHAPE,
        severity: Severity::Violation,
        basis: Basis::Implied,
        message: "the adapter does not fit its base, a model of another architecture or size",
        spec: "lora_A is as wide as the input of the module that it changes, and lora_B is as long as \
               its output",
        why: Some(
            "PEFT refuses such an adapter. Compared with a base in the folder of the adapter: one that \
             base_model_name_or_path leads to, or whose `_name_or_path` is the same, and in a folder of its \
             name beside that",
        ),
    },
    RuleInfo {
        id: ADAPTER_TARGETS,
        severity: Severity::Lint,
        basis: Basis::Implied,
        message: "the adapter changes a module that target_modules does not name",
        spec: "a list of target_modules names the module of each matrix by the end of its name",
        why: Some(
            "PEFT makes no matrix for other modules, so their part of the adapter is ignored",
        ),
    },
    RuleInfo {
        id: BLOB_DIGEST,
        severity: Severity::Fatal,
        basis: Basis::Stated,
        message: "its name is the digest of other bytes: download it again",
        spec: "a blob is named after the digest of its bytes: SHA-256 or git's SHA-1 in the cache of \
               huggingface_hub, sha256- and SHA-256 in a store of Ollama",
        why: Some(
            "neither program compares them after the download, so a damaged blob is loaded like a \
             sound one. `--no-digest` does not compare them",
        ),
    },
    RuleInfo {
        id: CODE,
        severity: Severity::Unchecked,
        basis: Basis::Silent,
        message: "the file is code",
        spec: "a folder of data holds no code that nobody has looked at",
        why: Some(
            "no setting of the folder loads this code, but a user may run it. It is not checked, and \
             the exit status is 3; `--allow-code` accepts it",
        ),
    },
    RuleInfo {
        id: CODE_LOADED,
        severity: Severity::Fatal,
        basis: Basis::Silent,
        message: "loading the model runs this code",
        spec: "loading a model runs no code of its author",
        why: Some(
            "`torch.load`, `joblib.load` and Keras run what a pickle or a Lambda layer says; \
             transformers, diffusers and sentence-transformers import the modules that settings name \
             once a user trusts remote code. `--allow-code` accepts it",
        ),
    },
    RuleInfo {
        id: CONFIG_DTYPE,
        severity: Severity::Lint,
        basis: Basis::Silent,
        message: "the weights have another type than config.json states",
        spec: "weights are stored in the torch_dtype (or dtype) of config.json",
        why: Some(
            "transformers converts the weights to the stated type when it loads them, so a wrong one \
             costs memory or digits",
        ),
    },
    RuleInfo {
        id: CONFIG_HEAD,
        severity: Severity::Violation,
        basis: Basis::Implied,
        message: "the weights have no matrix for the output, and config.json does not tie it",
        spec: "a model that predicts tokens takes its embedding for the output if tie_word_embeddings \
               is true, and otherwise has a matrix for it",
        why: Some(
            "transformers fills the missing matrix with random numbers, with a warning: the model \
             answers, and answers nonsense",
        ),
    },
    RuleInfo {
        id: CONFIG_LAYERS,
        severity: Severity::Violation,
        basis: Basis::Implied,
        message: "the weights have another number of layers than config.json states",
        spec: "there are as many layers as num_hidden_layers states, besides those that predict \
               further tokens",
        why: Some(
            "transformers fills missing layers with random numbers and ignores others, with a \
             warning: the model answers, and answers nonsense",
        ),
    },
    RuleInfo {
        id: CONFIG_QUANTISED,
        severity: Severity::Lint,
        basis: Basis::Implied,
        message: "weights and config.json disagree about quantisation",
        spec: "tensors are packed if, and only if, quantization_config names a method that packs \
               them: AWQ or GPTQ; other methods have tensors of scales or states",
        why: Some(
            "without the settings, packed tensors are ignored and replaced by random numbers",
        ),
    },
    RuleInfo {
        id: CONFIG_SHAPE,
        severity: Severity::Violation,
        basis: Basis::Implied,
        message: "the embedding has another shape than config.json states",
        spec: "the embedding of tokens has vocab_size rows, or more, of hidden_size numbers",
        why: Some(
            "transformers refuses such a model, or, told to ignore shapes, fills the embedding with \
             random numbers",
        ),
    },
    RuleInfo {
        id: CONFIG_TIED,
        severity: Severity::Lint,
        basis: Basis::Implied,
        message: "the output is stored, and is not the embedding that config.json ties it to",
        spec: "if tie_word_embeddings is true, the output of the model is its embedding",
        why: Some(
            "transformers 5 uses both matrices, with a warning; earlier releases take the embedding and \
             ignore the other, so that the model answers differently",
        ),
    },
    RuleInfo {
        id: CONFIG_VOCABULARY,
        severity: Severity::Lint,
        basis: Basis::Silent,
        message: "the embedding has more rows than config.json states",
        spec: "the embedding of tokens has vocab_size rows",
        why: Some(
            "some writers pad the embedding to a round number, and some models keep rows for other \
             tokens; without such a reason the settings are those of another model",
        ),
    },
    RuleInfo {
        id: DOWNLOAD,
        severity: Severity::Unchecked,
        basis: Basis::Silent,
        message: "the download is not complete",
        spec: "a folder holds whole files, not pieces or files that are being downloaded",
        why: Some(
            "downloaders leave control files, and servers send pages in place of files. Nothing can be said about the file itself; the exit status is 3",
        ),
    },
    RuleInfo {
        id: MANIFEST_BLOB,
        severity: Severity::Fatal,
        basis: Basis::Stated,
        message: "the store lacks a blob of the manifest, or has another one in its place",
        spec: "a manifest of Ollama lists the blobs of a model with their digests and sizes, and the \
               folder blobs has each under its digest",
        why: Some(
            "Ollama looks for a missing blob when the model is loaded, and then fails, or downloads it \
             again; it compares no size",
        ),
    },
    RuleInfo {
        id: PIPELINE_PART,
        severity: Severity::Violation,
        basis: Basis::Stated,
        message: "the folder lacks a part of the pipeline",
        spec: "model_index.json names each part of a pipeline, which has a folder of that name with its \
               settings, or null if it has none",
        why: Some("diffusers refuses such a pipeline, unless a program brings the part"),
    },
    RuleInfo {
        id: POINTER,
        severity: Severity::Fatal,
        basis: Basis::Stated,
        message: "the file is a pointer to another, which was not fetched",
        spec: "a pointer of Git LFS or Xet has the digest and the size of a file that `git lfs pull` or \
               `git xet` puts in its place",
        why: Some(
            "no program can load it, alone or in a folder. `--exclude` leaves out pointers to files that \
             nobody needs",
        ),
    },
];

/// The rule with this id.
///
/// ```
/// use weighbridge::{Severity, repository::rule};
///
/// assert_eq!(rule("CODE").unwrap().severity, Severity::Unchecked);
/// assert!(rule("H-MAGIC").is_none()); // of a format
/// ```
pub fn rule(id: &str) -> Option<&'static RuleInfo> {
    RULES.iter().find(|rule| rule.id == id)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_are_sorted_and_no_format_has_their_ids() {
        assert!(RULES.is_sorted_by(|a, b| a.id < b.id));
        for rule in RULES {
            let of_format = weighbridge_core::Format::ALL
                .iter()
                .any(|it| it.rules().iter().any(|known| known.id == rule.id));
            assert!(!of_format && rule.why.is_some(), "{}", rule.id);
        }
    }
}
