//! Repositories on the Hugging Face Hub: `hf://owner/name[@revision][/path]`, and
//! `hf://datasets/…` and `hf://spaces/…` for data sets and spaces.

use super::meter::{Connector, Token};
use crate::base::text::thousands;
use http::uri::Authority;
use http::{HeaderValue, Uri};
use std::env;
use std::prelude::rust_2024::*;
use std::time::Duration;

/// The hub's default URL, the same as in the library `huggingface_hub`.
const ENDPOINT: &str = "https://huggingface.co";
/// Maximum number of pages in a listing, with a thousand files each.
const PAGES: u64 = 4096;

/// The hub's URL, and the connector that authenticates to it.
#[derive(Debug)]
pub(super) struct Hub {
    endpoint: String,
    connector: Connector,
}

/// A repository and a path in it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Repository<'u> {
    /// "models", "datasets" or "spaces".
    kind: &'u str,
    /// Owner and name.
    name: String,
    revision: String,
    pub(super) path: &'u str,
}

impl<'u> Repository<'u> {
    /// # Errors
    /// A message if there is no owner or no name.
    pub(super) fn of(rest: &'u str) -> Result<Self, String> {
        let (kind, rest) = match rest.split_once('/') {
            Some((kind @ ("datasets" | "spaces"), rest)) => (kind, rest),
            _ => ("models", rest),
        };
        let mut parts = rest.splitn(3, '/');
        let (owner, name) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
        let (name, revision) = name.split_once('@').unwrap_or((name, "main"));
        if [owner, name, revision]
            .iter()
            .any(|part| part.is_empty() || *part == "." || *part == "..")
        {
            return Err("use hf://owner/name, hf://owner/name@revision/path or similar".to_owned());
        }
        let path = parts.next().unwrap_or_default();
        // Branches of pull requests contain slashes.
        let revision = quote(&revision.replace("%2F", "/"));
        Ok(Repository { kind, name: format!("{}/{}", quote(owner), quote(name)), revision, path })
    }

    /// Whether the revision is a commit, whose files never change.
    pub(super) fn is_fixed(&self) -> bool {
        self.revision.len() == 40 && self.revision.bytes().all(|it| it.is_ascii_hexdigit())
    }
}

impl Hub {
    /// Reads the hub's URL from `HF_ENDPOINT`, and the token from `HF_TOKEN`.
    ///
    /// # Errors
    /// A message if a variable is invalid.
    pub(super) fn from_environment(timeout: Option<Duration>) -> Result<Self, String> {
        let get = |name| env::var(name).ok().filter(|value| !value.trim().is_empty());
        let endpoint = get("HF_ENDPOINT").unwrap_or_else(|| ENDPOINT.to_owned());
        let endpoint = endpoint.trim().trim_end_matches('/').to_owned();
        let server = endpoint.parse::<Uri>().ok().and_then(|uri| uri.authority().cloned());
        let server: Authority = server.ok_or("HF_ENDPOINT is not a valid URL")?;
        let token = match get("HF_TOKEN") {
            None => None,
            Some(token) => {
                let mut header = HeaderValue::try_from(format!("Bearer {}", token.trim()))
                    .map_err(|_| "HF_TOKEN is not a valid token")?;
                header.set_sensitive(true);
                Some(Token { server, header })
            }
        };
        let connector = Connector::sharing(token, endpoint.starts_with("http:"), timeout);
        Ok(Hub { endpoint, connector })
    }

    pub(super) fn connector(&self) -> &Connector {
        &self.connector
    }

    /// The URL of a file's content.
    ///
    /// # Errors
    /// A message if `rest` names no file.
    pub(super) fn file(&self, rest: &str) -> Result<String, String> {
        let Repository { kind, name, revision, path } = Repository::of(rest)?;
        let kind = if kind == "models" { String::new() } else { format!("{kind}/") };
        let (endpoint, path) = (&self.endpoint, quoted(path));
        Ok(format!("{endpoint}/{kind}{name}/resolve/{revision}/{path}"))
    }

    /// Validates the URL of the next page, if there is one.
    ///
    /// # Errors
    /// A message if it is on another server, or there were too many pages.
    pub(super) fn further(
        &self,
        next: Option<String>,
        pages: u64,
    ) -> Result<Option<String>, String> {
        let Some(next) = next else { return Ok(None) };
        if next.strip_prefix(&self.endpoint).is_none_or(|rest| !rest.starts_with('/')) {
            return Err("its next page is on another server".to_owned());
        }
        if pages >= PAGES {
            return Err(format!("it has more than {} pages", thousands(PAGES)));
        }
        Ok(Some(next))
    }

    /// The URL of the first page listing the files below a path.
    pub(super) fn tree(&self, of: &Repository<'_>) -> String {
        let Repository { kind, name, revision, path } = of;
        let (endpoint, path) = (&self.endpoint, quoted(path.trim_end_matches('/')));
        let path = if path.is_empty() { path } else { format!("/{path}") };
        format!("{endpoint}/api/{kind}/{name}/tree/{revision}{path}?recursive=true")
    }
}

/// Quotes each part of a path for use in a URL.
fn quoted(path: &str) -> String {
    path.split('/').map(quote).collect::<Vec<_>>().join("/")
}

/// Quotes a part of a path for use in a URL.
pub(super) fn quote(part: &str) -> String {
    let mut out = String::new();
    for byte in part.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => {
                out.push(char::from(byte));
            }
            byte => out.push_str(&format!("%{byte:02X}")),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hub() -> Hub {
        Hub { endpoint: "https://hub".to_owned(), connector: Connector::default() }
    }

    #[test]
    fn urls_of_files_and_trees() {
        for (rest, file, tree) in [
            (
                "me/model/a b#c.gguf",
                "https://hub/me/model/resolve/main/a%20b%23c.gguf",
                "https://hub/api/models/me/model/tree/main/a%20b%23c.gguf?recursive=true",
            ),
            (
                "datasets/me/set@v1/sub/",
                "https://hub/datasets/me/set/resolve/v1/sub/",
                "https://hub/api/datasets/me/set/tree/v1/sub?recursive=true",
            ),
            (
                "me/model@refs%2Fpr%2F1/a",
                "https://hub/me/model/resolve/refs%2Fpr%2F1/a",
                "https://hub/api/models/me/model/tree/refs%2Fpr%2F1/a?recursive=true",
            ),
            (
                "me/model",
                "https://hub/me/model/resolve/main/",
                "https://hub/api/models/me/model/tree/main?recursive=true",
            ),
        ] {
            assert_eq!(hub().file(rest).as_deref(), Ok(file));
            assert_eq!(hub().tree(&Repository::of(rest).expect(rest)), tree);
        }
        for wrong in ["me", "", "/", "me/", "datasets/me", "me/../x", "me/model@/x"] {
            assert!(Repository::of(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn hub_pages_stay_on_the_hub_and_end() {
        let further = |next: &str, pages| hub().further(Some(next.to_owned()), pages);
        assert_eq!(hub().further(None, PAGES), Ok(None));
        assert_eq!(further("https://hub/a", 1), Ok(Some("https://hub/a".to_owned())));
        for next in ["https://hub.evil/a", "https://hub", "/a", "https://hub@evil/a", ""] {
            assert!(further(next, 1).is_err_and(|why| why.contains("another server")), "{next}");
        }
        let many = further("https://hub/a", PAGES);
        assert_eq!(many, Err("it has more than 4,096 pages".to_owned()));
    }

    #[test]
    fn commit_hash_is_fixed_revision() {
        let is_fixed = |rest: &str| Repository::of(rest).expect(rest).is_fixed();
        assert!(is_fixed("me/model@0123456789abcdef0123456789abcdef01234567/a"));
        for rest in ["me/model", "me/model@v1", "me/model@0123456789abcdef0123456789abcdef0123456"]
        {
            assert!(!is_fixed(rest), "{rest}");
        }
    }
}
