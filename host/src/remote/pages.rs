//! Lists a repository on the Hugging Face Hub, page by page.

use super::hub::Repository;
use super::meter::root;
use super::stores::Stores;
use super::{Listed, Listing};
use futures_util::StreamExt as _;
use http::header::LINK;
use http::{HeaderMap, StatusCode};
use object_store::ClientOptions;
use object_store::client::{HttpConnector as _, HttpRequestBody};
use serde::Deserialize;
use std::prelude::rust_2024::*;
use std::sync::Arc;
use std::time::Duration;

/// Maximum length of a listing page: a thousand files take less than 1 MB.
const PAGE: usize = 64 << 20;
/// Pause before a page is requested again; doubles with each retry.
const PAUSE: Duration = Duration::from_millis(200);

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
    use http::HeaderValue;

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
}
