//! Requests, counted, and why the last one failed.

use super::Read;
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
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// The largest length of a file that a server is believed.
const LONGEST: u64 = 1 << 62;

/// The requests for one file, and for those that are checked with it.
#[derive(Debug, Default)]
pub(super) struct Traffic {
    bytes: AtomicU64,
    requests: AtomicU64,
    round_trips: AtomicU64,
    trouble: Mutex<Option<Trouble>>,
}

/// Why a request failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Trouble {
    pub(super) status: Option<StatusCode>,
    /// A sentence that names the server.
    pub(super) why: String,
}

impl Traffic {
    pub(super) fn read(&self) -> Read {
        let get = |count: &AtomicU64| count.load(Ordering::Relaxed);
        Read {
            bytes: get(&self.bytes),
            requests: get(&self.requests),
            round_trips: get(&self.round_trips),
        }
    }

    /// Counts bytes of a file.
    pub(super) fn received(&self, bytes: usize) {
        self.bytes.fetch_add(bytes as u64, Ordering::Relaxed);
    }

    /// Counts requests that are sent together.
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

/// What a server knows its client by.
#[derive(Clone, Debug)]
pub(super) struct Token {
    pub(super) server: Authority,
    pub(super) header: HeaderValue,
}

#[async_trait]
impl HttpService for Metered {
    async fn call(&self, mut request: HttpRequest) -> Result<HttpResponse, HttpError> {
        let traffic = request.extensions().get::<Arc<Traffic>>().cloned().unwrap_or_default();
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
                    HttpErrorKind::Timeout => format!("{server} does not answer in time"),
                    HttpErrorKind::Connect => format!("{server} is not reached: {}", root(&error)),
                    _ => format!("{server} ends the connection: {}", root(&error)),
                };
                traffic.note(Some(Trouble { status: None, why }));
                Err(error)
            }
        }
    }
}

/// The server of an authority, without user and password.
fn host(authority: &Authority) -> &str {
    let text = authority.as_str();
    text.rsplit('@').next().unwrap_or(text)
}

/// What is wrong with an answer.
fn trouble(server: &str, ranged: bool, response: &HttpResponse) -> Option<Trouble> {
    let status = response.status();
    let why = if ranged && status.is_success() {
        if status != StatusCode::PARTIAL_CONTENT {
            format!("{server} serves no ranges: it answers {status} with the whole file")
        } else if !is_plausible(response) {
            format!("{server} answers with a Content-Range that makes no sense")
        } else {
            return None;
        }
    } else if status.is_success() {
        return None;
    } else {
        format!("{server} answers {status}")
    };
    Some(Trouble { status: Some(status), why })
}

/// Whether the numbers of a range are such as files have.
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

/// The innermost reason of an error.
pub(super) fn root(error: &dyn error::Error) -> String {
    let mut error = error;
    while let Some(source) = error.source() {
        error = source;
    }
    weighbridge::Text::from(error.to_string().as_str()).to_string()
}

/// Makes metered clients; those of one connector share its connections.
#[derive(Clone, Debug, Default)]
pub(super) struct Connector {
    pub(super) token: Option<Token>,
    shared: Arc<OnceLock<HttpClient>>,
}

impl Connector {
    pub(super) fn new(token: Option<Token>) -> Self {
        Connector { token, shared: Arc::default() }
    }
}

impl HttpConnector for Connector {
    fn connect(&self, options: &ClientOptions) -> Result<HttpClient, Error> {
        if let Some(client) = self.shared.get() {
            return Ok(client.clone());
        }
        let client = ReqwestConnector::default().connect(options)?;
        let metered = HttpClient::new(Metered { client, token: self.token.clone() });
        Ok(self.shared.get_or_init(|| metered).clone())
    }
}
