//! The stores that contain objects, and the threads that wait for them.

use super::hub::Hub;
use super::meter::{Connector, root};
use super::{Limits, Listed, Listing, Url};
use crate::base::text::Text;
use futures_util::StreamExt as _;
use object_store::aws::{AmazonS3Builder, AmazonS3ConfigKey};
use object_store::azure::{AzureConfigKey, MicrosoftAzureBuilder};
use object_store::gcp::{GoogleCloudStorageBuilder, GoogleConfigKey};
use object_store::http::HttpBuilder;
use object_store::path::Path;
use object_store::{ClientConfigKey, ObjectStore, RetryConfig};
use std::collections::hash_map::RandomState;
use std::collections::{HashMap, HashSet};
use std::future::Future;
use std::hash::BuildHasher as _;
use std::prelude::rust_2024::*;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::runtime::{Builder, Runtime};

/// Number of threads that wait for servers: they hardly compute.
const THREADS: usize = 2;
/// Maximum length of a URL: with every byte as `%XX` the library still accepts it.
const LONGEST: usize = 16 << 10;

impl Limits {
    pub(super) fn retry(&self) -> RetryConfig {
        let standard = RetryConfig::default();
        RetryConfig { max_retries: self.retries.unwrap_or(standard.max_retries), ..standard }
    }
}

/// All stores of a command.
#[derive(Debug)]
pub(super) struct Stores {
    runtime: Runtime,
    pub(super) limits: Limits,
    plain: Connector,
    secure: Connector,
    pub(super) hub: Hub,
    /// Stores of buckets, by `scheme://bucket`.
    buckets: Mutex<HashMap<String, Arc<dyn ObjectStore>>>,
}

/// An object in a store.
#[derive(Clone, Debug)]
pub(super) struct Located {
    pub(super) store: Arc<dyn ObjectStore>,
    pub(super) path: Path,
}

impl Stores {
    /// # Errors
    /// A message if the system provides no threads, or an environment variable is invalid.
    pub(super) fn new(limits: Limits) -> Result<Self, String> {
        // ring is the smaller of the two TLS libraries.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let runtime = Builder::new_multi_thread().worker_threads(THREADS).enable_all().build();
        let timeout = limits.timeout;
        Ok(Stores {
            runtime: runtime.map_err(|err| format!("cannot start threads for servers: {err}"))?,
            limits,
            plain: Connector::sharing(None, true, timeout),
            secure: Connector::sharing(None, false, timeout),
            hub: Hub::from_environment(timeout)?,
            buckets: Mutex::default(),
        })
    }

    /// Waits for an answer. Must not be called on this type's own threads.
    pub(super) fn wait<T>(&self, answer: impl Future<Output = T>) -> T {
        self.runtime.block_on(answer)
    }

    /// Finds the store and the key of an object.
    ///
    /// # Errors
    /// A message if the URL or an environment variable is invalid.
    pub(super) fn locate(&self, url: Url<'_>) -> Result<Located, String> {
        if url.text.len() > LONGEST {
            return Err("its name is too long".to_owned());
        }
        if url.is_http() {
            whole(url)?;
        }
        match url.scheme {
            "http" => self.exactly(url.text, &self.plain),
            "https" => self.exactly(url.text, &self.secure),
            "hf" => {
                let file = self.hub.file(url.rest)?;
                self.exactly(&file, self.hub.connector())
            }
            _ => {
                let (bucket, key) = url.rest.split_once('/').unwrap_or((url.rest, ""));
                // The library would drop the slash and read another object.
                if key.starts_with('/') {
                    return Err(
                        "its name begins with a slash: such objects are not supported".to_owned()
                    );
                }
                let path = Path::parse(key)
                    .map_err(|err| format!("its name is invalid: {}", root(&err)))?;
                Ok(Located { store: self.bucket(url.scheme, bucket)?, path })
            }
        }
    }

    /// The object of an HTTP URL, which is requested unchanged.
    fn exactly(&self, url: &str, connector: &Connector) -> Result<Located, String> {
        let builder = HttpBuilder::new().with_url(url).with_retry(self.limits.retry());
        let store = builder.with_http_connector(connector.clone()).build();
        let store = store.map_err(|err| root(&err))?;
        Ok(Located { store: Arc::new(store), path: Path::default() })
    }

    fn bucket(&self, scheme: &str, bucket: &str) -> Result<Arc<dyn ObjectStore>, String> {
        let url = format!("{scheme}://{bucket}");
        let mut buckets = self.buckets.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(store) = buckets.get(&url) {
            return Ok(Arc::clone(store));
        }
        let (retry, timeout) = (self.limits.retry(), self.limits.timeout);
        let connector = Connector::default();
        let seconds = timeout.map(|timeout| format!("{}ms", timeout.as_millis()));
        let waits = [ClientConfigKey::Timeout, ClientConfigKey::ConnectTimeout];
        macro_rules! build {
            ($builder:ty, $key:path) => {{
                let builder = <$builder>::from_env().with_url(&url).with_retry(retry);
                let mut builder = builder.with_http_connector(connector);
                for key in waits.into_iter().filter(|_| seconds.is_some()) {
                    builder = builder.with_config($key(key), seconds.clone().unwrap_or_default());
                }
                builder.build().map(|store| Arc::new(store) as Arc<dyn ObjectStore>)
            }};
        }
        let store = match scheme {
            "s3" => build!(AmazonS3Builder, AmazonS3ConfigKey::Client),
            "gs" => build!(GoogleCloudStorageBuilder, GoogleConfigKey::Client),
            _ => build!(MicrosoftAzureBuilder, AzureConfigKey::Client),
        };
        let store =
            store.map_err(|err| format!("the store {}: {}", Text::from(&*url), root(&err)))?;
        buckets.insert(url, Arc::clone(&store));
        Ok(store)
    }

    /// Lists the files of a folder as needed.
    ///
    /// # Errors
    /// A message if the folder cannot be listed.
    pub(super) fn list(self: Arc<Self>, url: Url<'_>) -> Result<Listing, String> {
        let Located { store, path } = self.locate(url)?;
        let prefix = Some(&path).filter(|path| !path.as_ref().is_empty());
        let mut objects = store.list(prefix);
        let within = match path.as_ref() {
            "" => String::new(),
            path => format!("{path}/"),
        };
        let (hasher, mut seen) = (RandomState::new(), HashSet::new());
        Ok(Box::new(std::iter::from_fn(move || {
            loop {
                let object = match self.wait(objects.next())? {
                    Ok(object) => object,
                    Err(err) => return Some(Err(format!("cannot be listed: {}", root(&err)))),
                };
                // The object that represents the folder itself, without its slash.
                if object.location == path && object.size == 0 {
                    continue;
                }
                if !seen.insert(hasher.hash_one(&object.location)) {
                    let why = "cannot be listed: two names differ only by a slash";
                    return Some(Err(why.to_owned()));
                }
                let key = object.location.as_ref();
                let tag = object.e_tag.unwrap_or_default();
                let stamp = format!("{} {tag} {}", object.size, object.last_modified);
                let below = key.strip_prefix(&within).unwrap_or(key).to_owned();
                return Some(Ok(Listed { below, stamp: Some(stamp) }));
            }
        })))
    }
}

/// Checks that an HTTP URL has a server and a path, and that the library parses them as this
/// module does: names of files beside it are put after the last slash of the path.
///
/// # Errors
/// A message if a check fails.
fn whole(url: Url<'_>) -> Result<(), String> {
    if url.text.contains(|c: char| c == '\\' || c.is_ascii_control()) {
        return Err("its URL has a backslash or a control character".to_owned());
    }
    let end = url.rest.find(['?', '#']).unwrap_or(url.rest.len());
    match url.rest[..end].split_once('/') {
        Some(("", _)) => Err("it names no server".to_owned()),
        Some((_, path)) if path.is_empty() || path.ends_with('/') => {
            let why = "it names a folder, and web servers do not list folders: name its files";
            Err(why.to_owned())
        }
        Some(_) => Ok(()),
        None => Err("it names no file: its path is missing".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ambiguous_url_is_refused() {
        for (text, is_whole) in [
            ("https://host/a.gguf?sig=a/b", true),
            ("https://me@host:1/a", true),
            ("https://me@host:1/", false),
            ("https://host/models/?list=1", false),
            ("https://host", false),
            ("https://cdn.example?sig=a/b", false),
            ("https://cdn.example#a/b", false),
            ("https:///index.json", false),
            ("https://cdn.example\\a/b", false),
            ("https://cdn\n/a", false),
        ] {
            assert_eq!(whole(Url::parse(text).expect(text)).is_ok(), is_whole, "{text}");
        }
    }
}
