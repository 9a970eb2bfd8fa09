//! Counts requests, and records why the last one failed.

use super::Traffic;
use crate::base::error::ReadError;
use crate::base::text::{Text, thousands};
use async_trait::async_trait;
use http::header::{AUTHORIZATION, CONTENT_RANGE, RANGE};
use http::uri::Authority;
use http::{HeaderValue, StatusCode};
use object_store::client::{
    HttpClient, HttpConnector, HttpError, HttpErrorKind, HttpRequest, HttpResponse, HttpService,
    ReqwestConnector,
};
use object_store::{ClientOptions, Error};
use std::error;
use std::prelude::rust_2024::*;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

/// The largest file length accepted from a server.
const LONGEST: u64 = 1 << 62;
/// Maximum number of files opened beside the named one: an index could otherwise keep a command
/// busy for days. The largest models have a few hundred shards.
const FILES: u64 = 4096;
/// Default timeouts for a request and for a connection, the same as the library has for
/// buckets.
const TIMEOUT: Duration = Duration::from_secs(30);
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

/// The requests for one file, and for those checked with it.
#[derive(Debug, Default)]
pub(super) struct Meter {
    bytes: AtomicU64,
    requests: AtomicU64,
    round_trips: AtomicU64,
    /// Number of files opened.
    files: AtomicU64,
    trouble: Mutex<Option<Trouble>>,
}

/// Why a request failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Trouble {
    pub(super) status: Option<StatusCode>,
    /// A message that names the server.
    pub(super) why: String,
}

impl Meter {
    pub(super) fn read(&self) -> Traffic {
        let get = |count: &AtomicU64| count.load(Ordering::Relaxed);
        Traffic {
            bytes: get(&self.bytes),
            requests: get(&self.requests),
            round_trips: get(&self.round_trips),
        }
    }

    /// Counts a file about to be opened, which is a round trip.
    ///
    /// # Errors
    /// When too many files were opened.
    pub(super) fn open(&self) -> Result<(), ReadError> {
        // The named file, and those beside it.
        if self.files.fetch_add(1, Ordering::Relaxed) > FILES {
            let files = thousands(FILES);
            let why = format!("it needs more than {files} files next to it: check a local copy");
            return Err(ReadError::Other(why));
        }
        self.round_trip();
        Ok(())
    }

    /// Counts received bytes of a file.
    pub(super) fn received(&self, bytes: usize) {
        self.bytes.fetch_add(bytes as u64, Ordering::Relaxed);
    }

    /// Counts a batch of requests sent together.
    pub(super) fn round_trip(&self) {
        self.round_trips.fetch_add(1, Ordering::Relaxed);
    }

    /// Why the last request failed, if it did.
    pub(super) fn trouble(&self) -> Option<Trouble> {
        self.trouble.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn note(&self, trouble: Option<Trouble>) {
        *self.trouble.lock().unwrap_or_else(PoisonError::into_inner) = trouble;
    }
}

/// A client that counts, and sends a token to one server only.
#[derive(Debug)]
struct Metered {
    client: HttpClient,
    token: Option<Token>,
}

/// The credentials of a client, for one server.
#[derive(Clone, Debug)]
pub(super) struct Token {
    pub(super) server: Authority,
    pub(super) header: HeaderValue,
}

#[async_trait]
impl HttpService for Metered {
    async fn call(&self, mut request: HttpRequest) -> Result<HttpResponse, HttpError> {
        let traffic = request.extensions().get::<Arc<Meter>>().cloned().unwrap_or_default();
        traffic.requests.fetch_add(1, Ordering::Relaxed);
        let server = request.uri().authority().cloned();
        if let Some(token) = self.token.as_ref().filter(|it| Some(&it.server) == server.as_ref()) {
            request.headers_mut().insert(AUTHORIZATION, token.header.clone());
        }
        let server = server.map_or_else(String::new, |server| host(&server).to_owned());
        let ranged = request.headers().contains_key(RANGE);
        let answer = self.client.execute(request).await;
        match answer {
            Ok(response) => {
                let trouble = trouble(&server, ranged, &response);
                let lies = ranged && response.status().is_success() && trouble.is_some();
                let why = trouble.as_ref().map(|it| it.why.clone()).unwrap_or_default();
                traffic.note(trouble);
                match lies {
                    true => Err(HttpError::new(HttpErrorKind::Unknown, std::io::Error::other(why))),
                    false => Ok(response),
                }
            }
            Err(error) => {
                let why = match error.kind() {
                    HttpErrorKind::Timeout => format!("{server} did not answer in time"),
                    HttpErrorKind::Connect => {
                        format!("{server} cannot be reached: {}", root(&error))
                    }
                    _ => format!("{server} closed the connection: {}", root(&error)),
                };
                traffic.note(Some(Trouble { status: None, why }));
                Err(error)
            }
        }
    }
}

/// The server in an authority, without user and password.
fn host(authority: &Authority) -> &str {
    let text = authority.as_str();
    text.rsplit('@').next().unwrap_or(text)
}

/// The fault in an answer, if any.
fn trouble(server: &str, ranged: bool, response: &HttpResponse) -> Option<Trouble> {
    let status = response.status();
    let why = if ranged && status.is_success() {
        if status != StatusCode::PARTIAL_CONTENT {
            format!("{server} does not support ranges: it answered {status} with the whole file")
        } else if !is_plausible(response) {
            format!("{server} sent a Content-Range that makes no sense")
        } else {
            return None;
        }
    } else if status.is_success() {
        return None;
    } else {
        format!("{server} answered {status}")
    };
    Some(Trouble { status: Some(status), why })
}

/// Whether the numbers of a content range are consistent.
fn is_plausible(response: &HttpResponse) -> bool {
    let Some(value) = response.headers().get(CONTENT_RANGE) else { return false };
    let numbers = value.to_str().unwrap_or_default().strip_prefix("bytes ").unwrap_or_default();
    let mut numbers = numbers.split(['-', '/']).map(|number| number.trim().parse::<u64>());
    let (Some(Ok(first)), Some(Ok(last)), Some(Ok(len)), None) =
        (numbers.next(), numbers.next(), numbers.next(), numbers.next())
    else {
        return false;
    };
    first <= last && last < len && len <= LONGEST
}

/// The innermost cause of an error.
pub(super) fn root(error: &dyn error::Error) -> String {
    let mut error = error;
    while let Some(source) = error.source() {
        error = source;
    }
    Text::from(error.to_string().as_str()).to_string()
}

/// Makes metered clients. The default makes one per store, with that store's options.
#[derive(Clone, Debug, Default)]
pub(super) struct Connector {
    shared: Option<Arc<Shared>>,
}

/// The client that all stores of a connector share, and with it their connections.
#[derive(Debug)]
struct Shared {
    token: Option<Token>,
    allow_http: bool,
    timeout: Option<Duration>,
    client: OnceLock<HttpClient>,
}

impl Connector {
    /// Creates a connector with a single client, whatever the options of a store.
    pub(super) fn sharing(
        token: Option<Token>,
        allow_http: bool,
        timeout: Option<Duration>,
    ) -> Self {
        let client = OnceLock::new();
        Connector { shared: Some(Arc::new(Shared { token, allow_http, timeout, client })) }
    }
}

impl HttpConnector for Connector {
    fn connect(&self, options: &ClientOptions) -> Result<HttpClient, Error> {
        match &self.shared {
            Some(shared) => shared.client(),
            None => {
                let client = ReqwestConnector::default().connect(options)?;
                Ok(HttpClient::new(Metered { client, token: None }))
            }
        }
    }
}

impl Shared {
    fn client(&self) -> Result<HttpClient, Error> {
        if let Some(client) = self.client.get() {
            return Ok(client.clone());
        }
        // Like the library's own client, but without the `Referer` header, which would send the
        // URL's query, a possible secret, to the target of a redirection.
        let client = reqwest::Client::builder()
            .referer(false)
            .user_agent(concat!("weighbridge/", env!("CARGO_PKG_VERSION")))
            .https_only(!self.allow_http)
            .http1_only()
            .timeout(self.timeout.unwrap_or(TIMEOUT))
            .connect_timeout(self.timeout.unwrap_or(CONNECT_TIMEOUT))
            .no_gzip()
            .no_brotli()
            .no_zstd()
            .no_deflate()
            .build()
            .map_err(|source| Error::Generic { store: "HTTP", source: source.into() })?;
        let client = HttpClient::new(client);
        let metered = HttpClient::new(Metered { client, token: self.token.clone() });
        Ok(self.client.get_or_init(|| metered).clone())
    }
}
