//! Files on servers: `https://`, `hf://`, `s3://`, `gs://`, `az://`.
//!
//! An object is one more place where a file lies ([`weighbridge::Place`]), read by ranges.
//! Without the cargo feature `remote` such a path is an error that says so.

#[cfg(feature = "remote")]
mod hub;
#[cfg(feature = "remote")]
mod object;
#[cfg(feature = "remote")]
mod stores;
#[cfg(feature = "remote")]
mod traffic;
#[cfg(not(feature = "remote"))]
mod without;

use crate::args::RemoteArgs;
#[cfg(feature = "remote")]
use object::Object;
use serde::Serialize;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
#[cfg(feature = "remote")]
use stores::Stores;
use weighbridge::{Error, FileInput, Input, Options, Place, ReadError, Text};
#[cfg(not(feature = "remote"))]
use without::{Object, Stores};

/// What begins the path of a file on a server.
const SCHEMES: [&str; 8] = ["abfs", "abfss", "az", "gs", "hf", "http", "https", "s3"];

/// Reads of a server begin and end at multiples of this.
const GRANULE: u64 = 64 << 10;

/// A path that names something on a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Url<'u> {
    scheme: &'u str,
    /// What follows `://`.
    rest: &'u str,
    /// All of it.
    text: &'u str,
}

impl<'u> Url<'u> {
    pub(crate) fn of(path: &'u Path) -> Option<Self> {
        Url::parse(path.to_str()?)
    }

    fn parse(text: &'u str) -> Option<Self> {
        let (scheme, rest) = text.split_once("://")?;
        SCHEMES.contains(&scheme).then_some(Url { scheme, rest, text })
    }

    fn is_http(&self) -> bool {
        matches!(self.scheme, "http" | "https")
    }

    /// Whether it names what holds files: a repository, a bucket, or a path that ends with a
    /// slash. Of HTTP nothing is listed.
    pub(crate) fn is_folder(&self) -> bool {
        let named = match self.scheme {
            "http" | "https" => return false,
            "hf" => {
                let kind = self.rest.split('/').next();
                if kind.is_some_and(|kind| matches!(kind, "datasets" | "spaces")) { 3 } else { 2 }
            }
            _ => 1,
        };
        self.rest.ends_with('/') || self.rest.split('/').count() <= named
    }

    /// It, as it is shown: what may be a secret in a URL of HTTP is not.
    fn shown(&self) -> String {
        if !self.is_http() {
            return self.text.to_owned();
        }
        let end = self.rest.find(['?', '#']).unwrap_or(self.rest.len());
        let (authority, path) = self.rest[..end].split_once('/').unwrap_or((&self.rest[..end], ""));
        let host = authority.rsplit('@').next().unwrap_or_default();
        format!("{}://{host}/{path}", self.scheme)
    }
}

/// The name of a file as it is shown.
pub(crate) fn shown(path: &Path) -> Text {
    Url::of(path).map_or_else(|| Text::from(path), |url| Text::from(&*url.shown()))
}

/// What was read of a file on a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Read {
    /// Bytes of files.
    pub(crate) bytes: u64,
    /// Requests that were sent, repeated ones included.
    pub(crate) requests: u64,
    /// How often requests had to wait for the answers to others.
    pub(crate) round_trips: u64,
}

/// Where a file lies.
pub(crate) enum At {
    Disk(PathBuf),
    Server(Object),
}

impl At {
    pub(crate) fn place(&self) -> &dyn Place {
        match self {
            At::Disk(path) => path,
            At::Server(object) => object,
        }
    }

    /// What was read of it so far, with files beside it, if it is on a server.
    pub(crate) fn read(&self) -> Option<Read> {
        match self {
            At::Disk(_) => None,
            At::Server(object) => Some(object.read()),
        }
    }

    /// The options for it: each request to a server is a round trip.
    pub(crate) fn options(&self, options: &Options) -> Options {
        match self {
            At::Disk(_) => options.clone(),
            At::Server(_) => options.clone().granule(GRANULE),
        }
    }

    /// # Errors
    /// When it cannot be opened.
    pub(crate) fn open(&self) -> Result<Box<dyn Input + '_>, Error> {
        Ok(match self {
            At::Disk(path) => Box::new(FileInput::open(path)?),
            At::Server(object) => object.open()?,
        })
    }
}

/// A file of a folder on a server.
#[derive(Debug)]
pub(crate) struct Listed {
    /// Its path below the folder.
    pub(crate) below: String,
    /// What changes with its content.
    pub(crate) stamp: Option<String>,
}

/// The files of a folder on a server, as they are listed.
pub(crate) type Listing = Box<dyn Iterator<Item = Result<Listed, String>>>;

/// How long a command waits, and how often it tries; as the library has it if not set.
#[cfg_attr(not(feature = "remote"), allow(dead_code, reason = "nothing waits"))]
#[derive(Clone, Copy, Debug)]
struct Limits {
    /// Seconds.
    timeout: Option<u64>,
    retries: Option<usize>,
}

/// The servers that a command reads from.
#[derive(Debug)]
pub(crate) struct Remote {
    limits: Limits,
    stores: OnceLock<Result<Arc<Stores>, String>>,
}

impl Remote {
    pub(crate) fn new(args: &RemoteArgs) -> Self {
        let RemoteArgs { timeout, retries } = *args;
        Remote { limits: Limits { timeout, retries }, stores: OnceLock::new() }
    }

    /// Where the file of this path lies.
    ///
    /// # Errors
    /// When it names a server that nothing can be read from.
    pub(crate) fn at(&self, path: &Path) -> Result<At, Error> {
        let Some(url) = Url::of(path) else { return Ok(At::Disk(path.to_owned())) };
        let stores = self.stores().map_err(ReadError::Other)?;
        Ok(At::Server(Object::new(stores, url.text)))
    }

    /// The files of a folder on a server.
    ///
    /// # Errors
    /// A sentence, when it cannot be listed.
    pub(crate) fn list(&self, url: Url<'_>) -> Result<Listing, String> {
        self.stores()?.list(url)
    }

    fn stores(&self) -> Result<Arc<Stores>, String> {
        self.stores.get_or_init(|| Stores::new(self.limits).map(Arc::new)).clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_holds_files() {
        let is_folder = |text| Url::parse(text).expect(text).is_folder();
        for text in [
            "hf://owner/name",
            "hf://owner/name@v1",
            "hf://owner/name/",
            "hf://owner/name/sub/",
            "hf://datasets/owner/name",
            "s3://bucket",
            "s3://bucket/",
            "gs://bucket/a/",
            "abfss://box@account.dfs.core.windows.net",
        ] {
            assert!(is_folder(text), "{text}");
        }
        for text in
            ["hf://owner/name/a.gguf", "s3://bucket/a", "https://host", "https://host/folder/"]
        {
            assert!(!is_folder(text), "{text}");
        }
        for text in ["C://x", "a/https://b", "s3:/bucket", "file:///a"] {
            assert_eq!(Url::parse(text), None, "{text}");
        }
    }

    #[test]
    fn secrets_are_not_shown() {
        let shown = |text| Url::parse(text).expect(text).shown();
        assert_eq!(shown("https://me:key@host:1/a%20b.gguf?sig=x#y"), "https://host:1/a%20b.gguf");
        assert_eq!(shown("https://host"), "https://host/");
        assert_eq!(shown("https://host?sig=a/b@c"), "https://host/");
        assert_eq!(shown("s3://bucket/a?b"), "s3://bucket/a?b");
    }
}
