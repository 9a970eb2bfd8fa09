//! Repositories on the Hugging Face Hub: `hf://owner/name[@revision][/path]`, and
//! `hf://datasets/…` and `hf://spaces/…` for data sets and spaces.

use super::meter::{Connector, Token, root};
use super::stores::Stores;
use super::{Listed, Listing};
use crate::base::text::thousands;
use futures_util::StreamExt as _;
use http::header::LINK;
use http::uri::Authority;
use http::{HeaderMap, HeaderValue, StatusCode, Uri};
use object_store::ClientOptions;
use object_store::client::{HttpConnector as _, HttpRequestBody};
use serde::Deserialize;
use std::env;
use std::prelude::rust_2024::*;
use std::sync::Arc;
use std::time::Duration;

/// The hub's default URL, the same as in the library `huggingface_hub`.
const ENDPOINT: &str = "https://huggingface.co";
/// Maximum length of a listing page: a thousand files take less than 1 MB.
const PAGE: usize = 64 << 20;
/// Pause before a page is requested again; doubles with each retry.
const PAUSE: Duration = Duration::from_millis(200);
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
    /// A message if there is no owner or no name.
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
            return Err("use hf://owner/name, hf://owner/name@revision/path or similar".to_owned());
        }
        let path = parts.next().unwrap_or_default();
        // Branches of pull requests contain slashes.
        let revision = quote(&revision.replace("%2F", "/"));
        Ok(Repository { kind, name: format!("{}/{}", quote(owner), quote(name)), revision, path })
    }

    /// Whether the revision is a commit, whose files never change.
    fn is_fixed(&self) -> bool {
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
    fn further(&self, next: Option<String>, pages: u64) -> Result<Option<String>, String> {
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
    fn tree(&self, of: &Repository<'_>) -> String {
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

/// A file or folder in a repository.
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

/// A page of a listing, and the URL of the next one.
struct Page {
    nodes: Vec<Node>,
    next: Option<String>,
}

/// Lists the files below a path, page by page.
///
/// # Errors
/// A message if the path is not in a repository.
pub(super) fn list(stores: Arc<Stores>, rest: &str) -> Result<Listing, String> {
    let repository = Repository::of(rest)?;
    let within = match repository.path.trim_end_matches('/') {
        "" => String::new(),
        path => format!("{path}/"),
    };
    let is_fixed = repository.is_fixed();
    let mut next = Some(stores.hub.tree(&repository));
    let mut nodes = Vec::new().into_iter();
    let mut pages = 0;
    Ok(Box::new(std::iter::from_fn(move || {
        loop {
            if let Some(Node { path, oid, size, .. }) =
                nodes.find(|node: &Node| node.kind != "directory")
            {
                let below = path.strip_prefix(&within).unwrap_or(&path).to_owned();
                let stamp = (is_fixed && !oid.is_empty()).then(|| format!("{size} {oid}"));
                return Some(Ok(Listed { below, stamp }));
            }
            let page = stores.wait(page(&stores, &next.take()?));
            pages += 1;
            let further =
                page.and_then(|page| Ok((page.nodes, stores.hub.further(page.next, pages)?)));
            match further {
                Ok((listed, further)) => (nodes, next) = (listed.into_iter(), further),
                Err(why) => return Some(Err(format!("cannot be listed: {why}"))),
            }
        }
    })))
}

/// Requests a page, with retries if the server fails.
async fn page(stores: &Stores, url: &str) -> Result<Page, String> {
    let client = stores.hub.connector().connect(&ClientOptions::new());
    let client = client.map_err(|err| root(&err))?;
    let retry = stores.limits.retry();
    let mut pause = PAUSE;
    let mut tries = 0;
    loop {
        let request = http::Request::get(url).body(HttpRequestBody::empty());
        let request = request.map_err(|err| root(&err))?;
        let (why, is_final) = match client.execute(request).await {
            Ok(response) if response.status().is_success() => {
                let next = next_of(&links(response.headers()))?;
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
                        Err(err) => {
                            (format!("the listing is not a JSON list of files: {err}"), true)
                        }
                    },
                }
            }
            Ok(response) => {
                let status = response.status();
                let may_recover =
                    status.is_server_error() || status == StatusCode::TOO_MANY_REQUESTS;
                (format!("the server answered {status}"), !may_recover)
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

/// Joins all `Link` headers.
fn links(headers: &HeaderMap) -> String {
    let links = headers.get_all(LINK).iter().map(|it| String::from_utf8_lossy(it.as_bytes()));
    links.collect::<Vec<_>>().join(", ")
}

/// The URL of the next page, from the `Link` header.
///
/// # Errors
/// A message if the header announces a next page without a valid URL.
fn next_of(links: &str) -> Result<Option<String>, String> {
    // URLs may contain commas, but no angle brackets.
    let next = links.split('<').skip(1).find_map(|one| {
        let (url, what) = one.split_once('>')?;
        let is_next = |it: &str| matches!(it.trim(), "rel=\"next\"" | "rel=next");
        what.split(',').next()?.split(';').any(is_next).then(|| url.trim().to_owned())
    });
    let mut plain = links.to_ascii_lowercase();
    plain.retain(|c| !c.is_ascii_whitespace() && c != '"');
    match next {
        None if plain.contains("rel=next") => {
            Err("the link to the next page of the listing is malformed".to_owned())
        }
        next => Ok(next),
    }
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
    fn next_page_comes_from_link_header() {
        for (links, next) in [
            (
                r#"<https://hub/a?b=1,2>; rel="prev", <https://hub/a?cursor=x,y>; rel="next""#,
                Ok(Some("https://hub/a?cursor=x,y")),
            ),
            ("<https://hub/a>;rel=next;title=b", Ok(Some("https://hub/a"))),
            (r#"<https://hub/next>; rel="last""#, Ok(None)),
            ("", Ok(None)),
            ("https://hub/a; rel=\"next\"", Err(())),
            ("<https://hub/a; rel=\"next\"", Err(())),
            ("<https://hub/a>; REL = \"Next last\"", Err(())),
        ] {
            let found = next_of(links);
            assert_eq!(found.as_ref().map(Option::as_deref).map_err(|_| ()), next, "{links}");
        }
        let mut headers = HeaderMap::new();
        for link in [&b"<https://hub/first>; rel=\"first\""[..], b"<https://hub/\xFF>; rel=next"] {
            headers.append(LINK, HeaderValue::from_bytes(link).expect("a value"));
        }
        assert_eq!(next_of(&links(&headers)), Ok(Some("https://hub/\u{FFFD}".to_owned())));
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
