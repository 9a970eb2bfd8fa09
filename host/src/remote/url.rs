//! Paths that name a file or folder on a server.

use crate::base::text::Text;
use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::String;
use core::fmt;
use std::path::Path;

/// The schemes of paths on a server.
const SCHEMES: [&str; 8] = ["abfs", "abfss", "az", "gs", "hf", "http", "https", "s3"];

/// A path that names a file or folder on a server.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Url<'u> {
    pub(super) scheme: &'u str,
    /// The part after `://`.
    pub(super) rest: &'u str,
    /// The whole URL.
    pub(super) text: &'u str,
}

impl fmt::Debug for Url<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Url").field(&Text::from(&*self.shown())).finish()
    }
}

impl<'u> Url<'u> {
    /// Interprets a path as a URL; `None` for the path of a file on disk.
    ///
    /// ```
    /// use std::path::Path;
    /// use weighbridge::remote::Url;
    ///
    /// assert!(Url::of(Path::new("s3://bucket/model.gguf")).is_some());
    /// assert!(Url::of(Path::new("models/model.gguf")).is_none());
    /// ```
    pub fn of(path: &'u Path) -> Option<Self> {
        Url::parse(path.to_str()?)
    }

    /// Parses a URL; `None` if its scheme is not supported.
    ///
    /// ```
    /// use weighbridge::remote::Url;
    ///
    /// assert!(Url::parse("hf://owner/name/model.safetensors").is_some());
    /// assert!(Url::parse("file:///model.safetensors").is_none());
    /// ```
    pub fn parse(text: &'u str) -> Option<Self> {
        let (scheme, rest) = text.split_once("://")?;
        SCHEMES.contains(&scheme).then_some(Url { scheme, rest, text })
    }

    pub(super) fn is_http(&self) -> bool {
        matches!(self.scheme, "http" | "https")
    }

    /// Whether the URL names a folder: a repository, a bucket, or a path that ends with a
    /// slash. HTTP URLs never do, because HTTP folders cannot be listed.
    ///
    /// ```
    /// use weighbridge::remote::Url;
    ///
    /// let is_folder = |text| Url::parse(text).is_some_and(|url| url.is_folder());
    /// assert!(is_folder("hf://owner/name") && is_folder("s3://bucket/models/"));
    /// assert!(!is_folder("hf://owner/name/model.gguf"));
    /// ```
    pub fn is_folder(&self) -> bool {
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

    /// The URL without possible secrets: user, password and query of an HTTP URL.
    pub(super) fn shown(&self) -> String {
        if !self.is_http() {
            return self.text.to_owned();
        }
        let end = self.rest.find(['?', '#']).unwrap_or(self.rest.len());
        let (authority, path) = self.rest[..end].split_once('/').unwrap_or((&self.rest[..end], ""));
        let host = authority.rsplit('@').next().unwrap_or_default();
        format!("{}://{host}/{path}", self.scheme)
    }
}

/// A path for display: a URL loses its user, password and query.
///
/// ```
/// use std::path::Path;
/// use weighbridge::remote::shown;
///
/// let path = Path::new("https://me:secret@host/model.gguf?signature=x");
/// assert_eq!(shown(path).lossy(), "https://host/model.gguf");
/// ```
pub fn shown(path: &Path) -> Text {
    Url::of(path).map_or_else(|| Text::from(path), |url| Text::from(&*url.shown()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folder_urls_are_recognised() {
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
        let url = Url::parse("https://me:key@host/a?sig=x");
        assert_eq!(format!("{url:?}"), "Some(Url(\"https://host/a\"))");
        let shown = |text| Url::parse(text).expect(text).shown();
        assert_eq!(shown("https://me:key@host:1/a%20b.gguf?sig=x#y"), "https://host:1/a%20b.gguf");
        assert_eq!(shown("https://host"), "https://host/");
        assert_eq!(shown("https://host?sig=a/b@c"), "https://host/");
        assert_eq!(shown("s3://bucket/a?b"), "s3://bucket/a?b");
    }
}
