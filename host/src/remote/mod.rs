//! Files on servers: `https://`, `hf://`, `s3://`, `gs://`, `az://`.
//!
//! A remote object is a [`Place`] that is read by ranges. Without the Cargo feature `remote`, a
//! path that names one is rejected with an error that says so.

#[cfg(feature = "remote")]
mod hub;
#[cfg(feature = "remote")]
mod meter;
#[cfg(not(feature = "remote"))]
mod no_remote;
#[cfg(feature = "remote")]
mod object;
#[cfg(feature = "remote")]
mod pages;
#[cfg(feature = "remote")]
mod stores;
mod url;

pub use url::{Url, shown};

use crate::base::error::{Error, ReadError};
use crate::check::options::Options;
use crate::input::place::Place;
use crate::input::reader::{FileInput, Input};
use alloc::borrow::ToOwned;
use alloc::boxed::Box;
use alloc::string::String;
use alloc::sync::Arc;
use core::fmt;
#[cfg(not(feature = "remote"))]
use no_remote::{Object, Stores};
#[cfg(feature = "remote")]
use object::Object;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::Duration;
#[cfg(feature = "remote")]
use stores::Stores;

/// Reads from a server start and end at multiples of this.
const GRANULE: u64 = 64 << 10;

/// The traffic caused by reading a file on a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct Traffic {
    /// Bytes of files received.
    pub bytes: u64,
    /// Requests sent, including retries.
    pub requests: u64,
    /// Round trips; requests sent together count as one.
    pub round_trips: u64,
}

/// The location of a file: on disk or on a server.
///
/// ```
/// use weighbridge::remote::Servers;
/// use weighbridge::{Options, Profile, check_at};
///
/// # let file = tempfile::NamedTempFile::new().unwrap();
/// # std::fs::write(&file, weighbridge_tests::samples::safetensors()).unwrap();
/// # let path = file.path();
/// // Or "hf://owner/name/model.safetensors", with the feature `remote`.
/// let location = Servers::default().locate(path)?;
/// let options = location.options(&Options::new());
/// let report = check_at(location.open()?, location.place(), &options)?;
/// assert!(report.verdict(Profile::Strict).is_valid());
/// # Ok::<(), weighbridge::Error>(())
/// ```
#[derive(Debug)]
pub struct Location(Lies);

#[derive(Debug)]
enum Lies {
    OnDisk(PathBuf),
    OnServer(Object),
}

impl Location {
    /// Whether the file is on a server.
    ///
    /// ```
    /// let location = weighbridge::remote::Servers::default().locate("model.gguf".as_ref())?;
    /// assert!(!location.is_remote());
    /// # Ok::<(), weighbridge::Error>(())
    /// ```
    pub fn is_remote(&self) -> bool {
        matches!(self.0, Lies::OnServer(_))
    }

    /// The place, for [`check_at`](crate::check_at) and for files beside it.
    ///
    /// ```
    /// let location = weighbridge::remote::Servers::default().locate("a/model.gguf".as_ref())?;
    /// assert_eq!(location.place().file_name().lossy(), "model.gguf");
    /// # Ok::<(), weighbridge::Error>(())
    /// ```
    pub fn place(&self) -> &dyn Place {
        match &self.0 {
            Lies::OnDisk(path) => path,
            Lies::OnServer(object) => object,
        }
    }

    /// The traffic so far, including files beside this one; `None` on disk.
    ///
    /// ```
    /// let location = weighbridge::remote::Servers::default().locate("model.gguf".as_ref())?;
    /// assert_eq!(location.traffic(), None);
    /// # Ok::<(), weighbridge::Error>(())
    /// ```
    pub fn traffic(&self) -> Option<Traffic> {
        match &self.0 {
            Lies::OnDisk(_) => None,
            Lies::OnServer(object) => Some(object.traffic()),
        }
    }

    /// Returns the options with a granule that suits the location: each request to a server is
    /// a round trip.
    ///
    /// ```
    /// use weighbridge::Options;
    /// let location = weighbridge::remote::Servers::default().locate("model.gguf".as_ref())?;
    /// let options = location.options(&Options::new());
    /// # Ok::<(), weighbridge::Error>(())
    /// ```
    pub fn options(&self, options: &Options) -> Options {
        match &self.0 {
            Lies::OnDisk(_) => options.clone(),
            Lies::OnServer(_) => options.clone().granule(GRANULE),
        }
    }

    /// Opens the file.
    ///
    /// # Errors
    /// When the file cannot be opened.
    ///
    /// ```
    /// let location = weighbridge::remote::Servers::default().locate("no such file".as_ref())?;
    /// assert!(location.open().is_err());
    /// # Ok::<(), weighbridge::Error>(())
    /// ```
    pub fn open(&self) -> Result<Box<dyn Input + '_>, Error> {
        Ok(match &self.0 {
            Lies::OnDisk(path) => Box::new(FileInput::open(path)?),
            Lies::OnServer(object) => object.open()?,
        })
    }
}

/// A file in a folder on a server.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Listed {
    /// Its path relative to the folder, as sent by the server: may contain `..` or control
    /// characters.
    pub below: String,
    /// A value that changes with its content.
    pub stamp: Option<String>,
}

/// The files of a folder on a server, listed as needed. An error ends the list.
pub type Listing = Box<dyn Iterator<Item = Result<Listed, String>>>;

/// Timeout and number of retries; `None` for the defaults of `object_store`.
#[cfg_attr(not(feature = "remote"), allow(dead_code, reason = "only servers need it"))]
#[derive(Clone, Copy, Debug, Default)]
struct Limits {
    timeout: Option<Duration>,
    retries: Option<usize>,
}

/// Access to the servers that a program reads from. Connections are shared; credentials come
/// from the environment variables of each service.
///
/// Calls block: an async program must use and drop this type on a thread that may block, such
/// as those of `spawn_blocking`; elsewhere they panic. The first call makes ring the default
/// provider of rustls if the program has set none.
#[derive(Default)]
pub struct Servers {
    limits: Limits,
    stores: OnceLock<Result<Arc<Stores>, String>>,
}

impl fmt::Debug for Servers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Stores hold credentials.
        f.debug_struct("Servers").field("limits", &self.limits).finish_non_exhaustive()
    }
}

impl Servers {
    /// Sets the timeout for the answer to a request, and for a connection.
    ///
    /// ```
    /// use std::time::Duration;
    /// use weighbridge::remote::Servers;
    ///
    /// let servers = Servers::default().timeout(Duration::from_secs(10)).retries(2);
    /// ```
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.limits.timeout = Some(timeout);
        self.stores = OnceLock::new();
        self
    }

    /// Sets how often a failed request is retried.
    ///
    /// ```
    /// let servers = weighbridge::remote::Servers::default().retries(0);
    /// ```
    #[must_use]
    pub fn retries(mut self, retries: usize) -> Self {
        self.limits.retries = Some(retries);
        self.stores = OnceLock::new();
        self
    }

    /// Locates a path, which may be a URL. Sends no request yet.
    ///
    /// # Errors
    /// When it is a URL and this build reads no servers, or an environment variable is invalid.
    ///
    /// ```
    /// use weighbridge::remote::Servers;
    /// assert!(Servers::default().locate("model.gguf".as_ref()).is_ok());
    /// ```
    pub fn locate(&self, path: &Path) -> Result<Location, Error> {
        let Some(url) = Url::of(path) else { return Ok(Location(Lies::OnDisk(path.to_owned()))) };
        let stores = self.stores().map_err(ReadError::Other)?;
        Ok(Location(Lies::OnServer(Object::new(stores, url.text))))
    }

    /// Lists the files of a folder on a server.
    ///
    /// # Errors
    /// A message if the folder cannot be listed.
    ///
    /// ```
    /// use weighbridge::remote::{Servers, Url};
    ///
    /// let url = Url::parse("hf://no-name/").unwrap();
    /// assert!(Servers::default().list(url).is_err());
    /// ```
    pub fn list(&self, url: Url<'_>) -> Result<Listing, String> {
        let stores = self.stores()?;
        #[cfg(feature = "remote")]
        if url.scheme == "hf" {
            return pages::list(stores, url.rest);
        }
        stores.list(url)
    }

    fn stores(&self) -> Result<Arc<Stores>, String> {
        self.stores.get_or_init(|| Stores::new(self.limits).map(Arc::new)).clone()
    }
}
