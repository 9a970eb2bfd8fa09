//! An object in a store: a place that is read by ranges.

use super::meter::{Meter, Trouble, root};
use super::stores::{Located, Stores};
use super::{Traffic, Url};
use crate::base::error::ReadError;
use crate::base::text::{Text, thousands};
use crate::input::place::Place;
use crate::input::reader::Input;
use bytes::Bytes;
use core::fmt;
use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use http::StatusCode;
use object_store::{Attribute, Error, GetOptions, GetRange, GetResult, ObjectStore as _};
use std::io;
use std::ops::Range;
use std::prelude::rust_2024::*;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use weighbridge_core::Span;

/// Bytes read by the first request: the whole index of most files.
const FIRST: u64 = 512 << 10;
/// Growth factor of sequential reads: a longer index takes few round trips, and at most this
/// many times its length is read.
const GROWTH: u64 = 4;
/// Maximum read-ahead of a request: at 300 kB/s it arrives before the request times out.
const MOST: u64 = 8 << 20;
/// Ranges at most this far apart share a request.
const GAP: u64 = 128 << 10;
/// Maximum number of concurrent requests for one file.
const AT_ONCE: usize = 8;
/// Round trips allowed per file, plus one per MiB of it: a malicious file could otherwise keep
/// a command busy for days with scattered reads of a few bytes.
const TRIPS: u64 = 4096;
/// Maximum number of round trips granted for the length, which is only the server's claim: as
/// many as for 1 TiB.
const MORE_TRIPS: u64 = 1 << 20;
/// How often a range is requested again if some of its bytes did not arrive.
const AGAIN: usize = 3;

/// An object that can be opened.
#[derive(Clone)]
pub(super) struct Object {
    stores: Arc<Stores>,
    url: String,
    meter: Arc<Meter>,
}

impl fmt::Debug for Object {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Object").field(&self.name()).finish()
    }
}

impl Object {
    pub(super) fn new(stores: Arc<Stores>, url: &str) -> Self {
        Object { stores, url: url.to_owned(), meter: Arc::default() }
    }

    pub(super) fn traffic(&self) -> Traffic {
        self.meter.read()
    }

    /// The URL up to the file name, the name, and the query after it.
    fn parts(&self) -> (&str, &str, &str) {
        let url = self.url.as_str();
        let end = match Url::parse(url) {
            Some(it) if it.is_http() => url.find(['?', '#']).unwrap_or(url.len()),
            _ => url.len(),
        };
        let (path, query) = url.split_at(end);
        let (folder, name) = path.split_at(path.rfind('/').map_or(0, |slash| slash + 1));
        (folder, name, query)
    }

    /// The object in the same folder with this name, as it is written in a URL.
    fn with_name(&self, name: &str) -> Object {
        let (folder, _, query) = self.parts();
        Object { url: format!("{folder}{name}{query}"), ..self.clone() }
    }

    /// The object at a path in the same folder, with slashes between its components.
    fn below(&self, path: &str) -> Object {
        if !self.is_http() {
            return self.with_name(path);
        }
        let parts: Vec<_> = path.split('/').map(super::hub::quote).collect();
        self.with_name(&parts.join("/"))
    }

    /// Opens the object.
    fn opened(&self) -> Result<Opened, ReadError> {
        let url = Url::parse(&self.url).ok_or(ReadError::NotAFile("an invalid URL"))?;
        // The library would drop a trailing slash and read another object.
        if url.is_folder() {
            return Err(ReadError::NotAFile("a folder"));
        }
        let at = self.stores.locate(url).map_err(ReadError::Other)?;
        self.meter.open()?;
        self.stores.wait(Opened::new(self.clone(), at))
    }

    fn is_http(&self) -> bool {
        Url::parse(&self.url).is_some_and(|url| url.is_http())
    }
}

impl Place for Object {
    fn name(&self) -> Text {
        let shown = Url::parse(&self.url).map(|url| url.shown());
        Text::from(shown.as_deref().unwrap_or(&self.url))
    }

    fn file_name(&self) -> Text {
        let (_, name, _) = self.parts();
        match self.is_http() {
            true => percent_encoding::percent_decode_str(name).collect::<Vec<u8>>().into(),
            false => name.into(),
        }
    }

    fn open(&self) -> Result<Box<dyn Input + '_>, ReadError> {
        Ok(Box::new(self.opened()?))
    }

    fn open_below(&self, path: &str) -> Option<Result<Box<dyn Input>, ReadError>> {
        let opened = self.below(path).opened();
        Some(opened.map(|file| Box::new(file) as Box<dyn Input>))
    }

    fn beside(&self, name: &str) -> Box<dyn Place + '_> {
        let name = if self.is_http() { super::hub::quote(name) } else { name.to_owned() };
        Box::new(self.with_name(&name))
    }
}

/// The number of round trips allowed for a file of this length.
fn allowance(len: u64) -> u64 {
    TRIPS + (len >> 20).min(MORE_TRIPS)
}

/// The ETag of an answer, or else the object's modification time.
fn tag(answer: &GetResult) -> String {
    let modified = || answer.meta.last_modified.to_string();
    answer.meta.e_tag.clone().unwrap_or_else(modified)
}

/// An open object. Every answer is compared with the first.
struct Opened {
    object: Object,
    at: Located,
    len: u64,
    tag: String,
    /// The first bytes of the object.
    head: Bytes,
    ahead: Mutex<Ahead>,
    trips: AtomicU64,
}

/// The end and length of the last read.
#[derive(Clone, Copy, Debug)]
struct Ahead {
    end: u64,
    len: u64,
}

/// Why a request failed.
enum Failure {
    /// Not all bytes arrived; a retry may succeed.
    Broken(String),
    Final(ReadError),
}

impl Opened {
    /// Requests the first bytes; the answer also gives the object's length.
    async fn new(object: Object, at: Located) -> Result<Self, ReadError> {
        let mut opened = Opened {
            object,
            at,
            len: 0,
            tag: String::new(),
            head: Bytes::new(),
            ahead: Mutex::new(Ahead { end: FIRST, len: FIRST }),
            trips: AtomicU64::new(1),
        };
        for again in 0.. {
            let answer = match opened.request(0..FIRST).await {
                Ok(answer) => answer,
                // An empty file cannot satisfy any range.
                Err(_) if opened.status() == Some(StatusCode::RANGE_NOT_SATISFIABLE) => {
                    let options = GetOptions { head: true, ..opened.options() };
                    let head = opened.at.store.get_opts(&opened.at.path, options).await;
                    let head = head.map_err(|error| opened.why(&error))?;
                    return match head.meta.size {
                        0 => Ok(opened),
                        _ => Err(opened.lies("no range of the file can be read")),
                    };
                }
                Err(error) => return Err(opened.why(&error)),
            };
            (opened.len, opened.tag) = (answer.meta.size, tag(&answer));
            match opened.receive(0..FIRST.min(opened.len), answer).await {
                Ok(head) => {
                    opened.head = head;
                    break;
                }
                Err(Failure::Broken(why)) if again >= AGAIN => return Err(ReadError::Other(why)),
                Err(Failure::Broken(_)) => {}
                Err(Failure::Final(error)) => return Err(error),
            }
        }
        Ok(opened)
    }

    fn options(&self) -> GetOptions {
        let mut options = GetOptions::default();
        options.extensions.insert(Arc::clone(&self.object.meter));
        options
    }

    async fn request(&self, range: Range<u64>) -> Result<GetResult, Error> {
        let range = Some(GetRange::Bounded(range));
        let options = GetOptions { range, ..self.options() };
        self.at.store.get_opts(&self.at.path, options).await
    }

    /// Fetches the bytes of a range, with retries if some do not arrive.
    async fn fetch(&self, range: Range<u64>) -> Result<Bytes, ReadError> {
        let mut again = 0;
        loop {
            let answer = self.request(range.clone()).await.map_err(|error| self.why(&error))?;
            match self.receive(range.clone(), answer).await {
                Ok(bytes) => return Ok(bytes),
                Err(Failure::Broken(_)) if again < AGAIN => again += 1,
                Err(Failure::Broken(why)) => return Err(ReadError::Other(why)),
                Err(Failure::Final(error)) => return Err(error),
            }
        }
    }

    /// Receives the bytes of an answer, and rejects more than were requested.
    async fn receive(&self, range: Range<u64>, answer: GetResult) -> Result<Bytes, Failure> {
        if answer.meta.size != self.len || tag(&answer) != self.tag {
            return Err(Failure::Final(ReadError::Changed));
        }
        if let Some(encoding) = answer.attributes.get(&Attribute::ContentEncoding)
            && !matches!(encoding.as_ref(), "" | "identity" | "aws-chunked")
        {
            let encoding = Text::from(encoding.as_ref());
            return Err(Failure::Final(
                self.lies(&format!("the file is sent with the encoding \"{encoding}\"")),
            ));
        }
        let len = range.end - range.start;
        if answer.range != range {
            return Err(Failure::Final(self.lies("it sent a different range")));
        }
        let mut bytes = Vec::with_capacity(usize::try_from(len).unwrap_or_default());
        let mut pieces = answer.into_stream();
        while let Some(piece) = pieces.next().await {
            let piece =
                piece.map_err(|error| Failure::Broken(self.broken(&error, bytes.len(), len)))?;
            self.object.meter.received(piece.len());
            if (bytes.len() + piece.len()) as u64 > len {
                return Err(Failure::Final(self.lies("it sent more bytes than requested")));
            }
            bytes.extend_from_slice(&piece);
        }
        if bytes.len() as u64 != len {
            return Err(Failure::Broken(format!("received {} of {len} bytes", bytes.len())));
        }
        Ok(bytes.into())
    }

    /// Counts a round trip.
    fn set_out(&self) -> Result<(), ReadError> {
        let most = allowance(self.len);
        if self.trips.fetch_add(1, Ordering::Relaxed) >= most {
            let trips = thousands(most);
            let why = format!("reading it takes more than {trips} round trips: check a local copy");
            return Err(ReadError::Other(why));
        }
        self.object.meter.round_trip();
        Ok(())
    }

    fn status(&self) -> Option<StatusCode> {
        self.object.meter.trouble()?.status
    }

    /// The reason why a request failed.
    fn why(&self, error: &Error) -> ReadError {
        let trouble = self.object.meter.trouble();
        let is_missing = matches!(error, Error::NotFound { .. });
        match trouble {
            Some(Trouble { why, .. }) if is_missing => {
                io::Error::new(io::ErrorKind::NotFound, why).into()
            }
            Some(Trouble { why, .. }) => ReadError::Other(why),
            None => ReadError::Other(root(error)),
        }
    }

    fn broken(&self, error: &Error, arrived: usize, len: u64) -> String {
        format!("received {arrived} of {len} bytes: {}", root(error))
    }

    fn lies(&self, what: &str) -> ReadError {
        ReadError::Other(format!("the server is unreliable: {what}"))
    }

    /// The bytes of a range, if the first request fetched them.
    fn known(&self, range: &Range<u64>) -> Option<&[u8]> {
        let from = usize::try_from(range.start).ok()?;
        self.head.get(from..usize::try_from(range.end).ok()?)
    }

    /// Plans the requests for these ranges: nearby ranges share a request, and a range that
    /// continues the last one is extended.
    fn plan(&self, ranges: &[Span]) -> Vec<Range<u64>> {
        let mut wanted: Vec<_> = ranges
            .iter()
            .map(|span| span.offset..span.end().unwrap_or(self.len).min(self.len))
            .filter(|range| range.start < range.end)
            .collect();
        let mut ahead = self.ahead.lock().unwrap_or_else(PoisonError::into_inner);
        if let [only] = &mut wanted[..] {
            let follows = only.start <= ahead.end && ahead.end < only.end;
            ahead.len = if follows { (ahead.len * GROWTH).min(MOST) } else { FIRST / GROWTH };
            if follows {
                let further = ahead.end.saturating_add(ahead.len);
                only.end = only.end.max(further).min(self.len);
            }
            ahead.end = only.end;
        }
        wanted.sort_by_key(|range| (range.start, range.end));
        let mut joined = Vec::<Range<u64>>::new();
        for range in wanted {
            match joined.last_mut() {
                Some(last) if range.start <= last.end.saturating_add(GAP) => {
                    last.end = last.end.max(range.end);
                }
                _ => joined.push(range),
            }
        }
        joined
    }
}

impl Input for Opened {
    fn len(&self) -> u64 {
        self.len
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> Result<(), ReadError> {
        let range = offset..offset.saturating_add(buffer.len() as u64);
        if let Some(known) = self.known(&range) {
            buffer.copy_from_slice(known);
            return Ok(());
        }
        self.set_out()?;
        let bytes = self.object.stores.wait(self.fetch(range))?;
        match bytes.len() == buffer.len() {
            true => buffer.copy_from_slice(&bytes),
            false => return Err(ReadError::Changed),
        }
        Ok(())
    }

    fn read_together(&self, ranges: &[Span]) -> Result<Vec<(u64, Vec<u8>)>, ReadError> {
        let inside = |span: &Span| self.known(&(span.offset..span.offset + span.len)).is_some();
        if ranges.first().is_some_and(inside) {
            return Ok(vec![(0, self.head.to_vec())]);
        }
        let others: Vec<_> = ranges.iter().copied().filter(|span| !inside(span)).collect();
        let requests = self.plan(&others);
        self.set_out()?;
        let fetch = |range: Range<u64>| async move {
            let bytes = self.fetch(range.clone()).await?;
            Ok((range.start, Vec::from(bytes)))
        };
        let fetched = stream::iter(requests).map(fetch).buffered(AT_ONCE).try_collect();
        self.object.stores.wait(fetched)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn round_trips_are_bounded_by_length() {
        assert_eq!(allowance(0), 4_096);
        assert_eq!(allowance(1 << 30), 4_096 + 1_024);
        assert_eq!(allowance(1 << 62), 4_096 + (1 << 20));
    }
}
