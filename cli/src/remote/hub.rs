//! Repositories of the Hugging Face Hub: `hf://owner/name[@revision][/path]`, of data sets and
//! spaces `hf://datasets/…` and `hf://spaces/…`.

use super::stores::Stores;
use super::traffic::{Connector, Token, root};
use super::{Listed, Listing};
use futures_util::StreamExt as _;
use http::header::LINK;
use http::uri::Authority;
use http::{HeaderValue, Uri};
use object_store::client::{HttpConnector as _, HttpRequestBody};
use serde::Deserialize;
use std::env;
use std::sync::Arc;
use std::time::Duration;

/// Where it is, as the library `huggingface_hub` has it.
const ENDPOINT: &str = "https://huggingface.co";
/// The longest page of a listing: a thousand files take less than 1 MB.
const PAGE: usize = 64 << 20;
/// How long to wait before a page is requested again, at first.
const PAUSE: Duration = Duration::from_millis(200);

/// The hub, with what it knows its client by.
#[derive(Debug)]
pub(super) struct Hub {
    endpoint: String,
    connector: Connector,
}

/// A repository and a path in it.
#[derive(Debug, PartialEq, Eq)]
struct Repository<'u> {
    /// "models", "datasets" or "spaces".
    kind: &'u str,
    /// Owner and name.
    name: String,
    revision: String,
    path: &'u str,
}

impl<'u> Repository<'u> {
    /// # Errors
    /// A sentence, when there is no owner or no name.
    fn of(rest: &'u str) -> Result<Self, String> {
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
            return Err(
                "it is to be hf://owner/name, hf://owner/name@revision/path or the like".to_owned()
            );
        }
        let path = parts.next().unwrap_or_default();
        // Branches of pull requests have slashes.
        let revision = quote(&revision.replace("%2F", "/"));
        Ok(Repository { kind, name: format!("{}/{}", quote(owner), quote(name)), revision, path })
    }
}

impl Hub {
    /// `HF_ENDPOINT` says where it is, and `HF_TOKEN` who asks.
    ///
    /// # Errors
    /// A sentence, when a variable makes no sense.
    pub(super) fn from_environment() -> Result<Self, String> {
        let get = |name| env::var(name).ok().filter(|value| !value.trim().is_empty());
        let endpoint = get("HF_ENDPOINT").unwrap_or_else(|| ENDPOINT.to_owned());
        let endpoint = endpoint.trim().trim_end_matches('/').to_owned();
        let server = endpoint.parse::<Uri>().ok().and_then(|uri| uri.authority().cloned());
        let server: Authority = server.ok_or("HF_ENDPOINT is no URL")?;
        let token = match get("HF_TOKEN") {
            None => None,
            Some(token) => {
                let mut header = HeaderValue::try_from(format!("Bearer {}", token.trim()))
                    .map_err(|_| "HF_TOKEN is no token")?;
                header.set_sensitive(true);
                Some(Token { server, header })
            }
        };
        Ok(Hub { endpoint, connector: Connector::new(token) })
    }

    pub(super) fn connector(&self) -> &Connector {
        &self.connector
    }

    /// Whether it is reached without TLS.
    pub(super) fn is_plain(&self) -> bool {
        self.endpoint.starts_with("http:")
    }

    /// The URL of the content of a file.
    ///
    /// # Errors
    /// A sentence, when it names no file.
    pub(super) fn file(&self, rest: &str) -> Result<String, String> {
        let Repository { kind, name, revision, path } = Repository::of(rest)?;
        let kind = if kind == "models" { String::new() } else { format!("{kind}/") };
        let (endpoint, path) = (&self.endpoint, quoted(path));
        Ok(format!("{endpoint}/{kind}{name}/resolve/{revision}/{path}"))
    }

    /// The URL of the first page of the files below a path.
    fn tree(&self, of: &Repository<'_>) -> String {
        let Repository { kind, name, revision, path } = of;
        let (endpoint, path) = (&self.endpoint, quoted(path.trim_end_matches('/')));
        let path = if path.is_empty() { path } else { format!("/{path}") };
        format!("{endpoint}/api/{kind}/{name}/tree/{revision}{path}?recursive=true")
    }
}

/// A path, each part as it stands in a URL.
fn quoted(path: &str) -> String {
    path.split('/').map(quote).collect::<Vec<_>>().join("/")
}

/// A part of a path as it stands in a URL.
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

/// What lies in a repository.
#[derive(Debug, Deserialize)]
struct Node {
    #[serde(rename = "type")]
    kind: String,
    path: String,
    #[serde(default)]
    oid: String,
    #[serde(default)]
    size: u64,
}

/// A page of a listing, and where the next one is.
struct Page {
    nodes: Vec<Node>,
    next: Option<String>,
}

/// The files below a path, page by page.
///
/// # Errors
/// A sentence, when it is no path of a repository.
pub(super) fn list(stores: Arc<Stores>, rest: &str) -> Result<Listing, String> {
    let repository = Repository::of(rest)?;
    let within = match repository.path.trim_end_matches('/') {
        "" => String::new(),
        path => format!("{path}/"),
    };
    let mut next = Some(stores.hub.tree(&repository));
    let mut nodes = Vec::new().into_iter();
    Ok(Box::new(std::iter::from_fn(move || {
        loop {
            if let Some(Node { path, oid, size, .. }) =
                nodes.find(|node: &Node| node.kind == "file")
            {
                let below = path.strip_prefix(&within).unwrap_or(&path).to_owned();
                return Some(Ok(Listed { below, stamp: Some(format!("{size} {oid}")) }));
            }
            match stores.wait(page(&stores, &next.take()?)) {
                Ok(page) => {
                    nodes = page.nodes.into_iter();
                    next = page.next.filter(|next| next.starts_with(&stores.hub.endpoint));
                }
                Err(why) => return Some(Err(format!("cannot be listed: {why}"))),
            }
        }
    })))
}

/// Requests a page, again if the server fails.
async fn page(stores: &Stores, url: &str) -> Result<Page, String> {
    let (options, retry) = stores.hub_options();
    let client = stores.hub.connector().connect(&options).map_err(|err| root(&err))?;
    let mut pause = PAUSE;
    let mut tries = 0;
    loop {
        let request = http::Request::get(url).body(HttpRequestBody::empty());
        let request = request.map_err(|err| root(&err))?;
        let (why, is_final) = match client.execute(request).await {
            Ok(response) if response.status().is_success() => {
                let next =
                    response.headers().get(LINK).and_then(|link| next_of(link.to_str().ok()?));
                let mut body = response.into_body().bytes_stream();
                let mut bytes = Vec::new();
                let why = loop {
                    match body.next().await {
                        None => break None,
                        Some(Err(err)) => break Some((root(&err), false)),
                        Some(Ok(_)) if bytes.len() > PAGE => {
                            break Some(("the listing is too long".to_owned(), true));
                        }
                        Some(Ok(piece)) => bytes.extend_from_slice(&piece),
                    }
                };
                match why {
                    Some(why) => why,
                    None => match serde_json::from_slice(&bytes) {
                        Ok(nodes) => return Ok(Page { nodes, next }),
                        Err(err) => (format!("the listing is no JSON of files: {err}"), true),
                    },
                }
            }
            Ok(response) => {
                let status = response.status();
                (format!("the server answers {status}"), !status.is_server_error())
            }
            Err(err) => (root(&err), false),
        };
        if is_final || tries >= retry.max_retries {
            return Err(why);
        }
        tries += 1;
        tokio::time::sleep(pause).await;
        pause = (pause * 2).min(retry.backoff.max_backoff);
    }
}

/// The URL of the next page, in the header `Link`.
fn next_of(link: &str) -> Option<String> {
    link.split(',').find_map(|one| {
        let (url, what) = one.split_once(';')?;
        let next = what.split(';').any(|it| matches!(it.trim(), "rel=\"next\"" | "rel=next"));
        let url = url.trim().strip_prefix('<')?.strip_suffix('>')?;
        next.then(|| url.to_owned())
    })
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
    fn the_next_page_is_the_one_that_is_called_so() {
        let link = r#"<https://hub/a?b=1,2>; rel="prev", <https://hub/a?cursor=x>; rel="next""#;
        assert_eq!(next_of(link).as_deref(), Some("https://hub/a?cursor=x"));
        assert_eq!(next_of(r#"<https://hub/a>; rel="last""#), None);
    }
}
