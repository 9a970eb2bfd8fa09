//! The rules that files of a folder may break beside those of the formats.

use weighbridge_core::{Basis, RuleInfo, Severity};

pub(super) const BLOB_DIGEST: &str = "BLOB-DIGEST";
pub(super) const CODE: &str = "CODE";
pub(super) const CODE_LOADED: &str = "CODE-LOADED";
pub(super) const DOWNLOAD: &str = "DOWNLOAD";

/// The rules about files of a folder that are no tensor files, by their ids.
///
/// ```
/// use weighbridge::repository::RULES;
///
/// assert!(RULES.iter().any(|rule| rule.id == "CODE-LOADED"));
/// ```
pub const RULES: &[RuleInfo] = &[
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
        id: DOWNLOAD,
        severity: Severity::Unchecked,
        basis: Basis::Silent,
        message: "the download is not complete",
        spec: "a folder holds whole files, not pointers, pieces or files that are being downloaded",
        why: Some(
            "git without LFS leaves pointers, downloaders leave control files, and servers send pages \
             in place of files. Nothing can be said about the file itself; the exit status is 3",
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
