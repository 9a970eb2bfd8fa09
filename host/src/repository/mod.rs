//! The files of a repository that are no tensor files: what each is, and what would run it.
//!
//! A downloaded model is a folder. Beside the weights are settings, tokenizers and texts, and
//! sometimes code: a pickle, a Python module that `config.json` names, a native library. The
//! content decides; a name is only a hint, and the worse of both counts.

mod agree;
mod archive;
mod code_in_settings;
mod content;
#[cfg(feature = "digest")]
mod digest;
mod examined;
mod file_names;
#[cfg(feature = "std")]
mod hub_cache;
mod keras;
#[cfg(feature = "std")]
mod manifest;
#[cfg(all(feature = "formats", feature = "std"))]
mod members;
#[cfg(feature = "std")]
mod pieces;
#[cfg(all(feature = "onnx", feature = "std"))]
mod referred;
#[cfg(feature = "std")]
mod repeated;
mod settings_above;
#[cfg(feature = "std")]
mod siblings;
mod texts;
#[cfg(feature = "std")]
mod unlisted;

use crate::base::error::ReadError;
use crate::check::diagnosis::Diagnosis;
pub use crate::check::folders::{RULES, rule};
use crate::input::place::Place;
#[cfg(feature = "std")]
use crate::input::place::is_hub_repository;
#[cfg(feature = "std")]
pub use crate::input::place::{hub_repository, is_hub_link};
use crate::input::reader::Input;
use alloc::format;
use alloc::string::String;
use alloc::vec;
use archive::Inside;
#[cfg(feature = "digest")]
pub use digest::BlobDigest;
use examined::PICKLE;
pub use examined::{Class, Examined};
use file_names::extension;
pub use file_names::shard_of;
#[cfg(feature = "std")]
pub use hub_cache::hub_links;
#[cfg(feature = "std")]
pub use pieces::{Joined, Pieces};
use settings_above::Loads;

/// Bytes at the start that decide about most files.
const HEAD: usize = 4 << 10;
/// Longest text that is read to its end.
const TEXT: u64 = 256 << 20;
const HDF5: &str = "an HDF5 file";
const NOT_EXAMINED: &str = "what it holds was not examined";
/// Longest tokenizer model.
const TOKENIZER: u64 = 64 << 20;

/// Examines a file that no reader of a format recognised.
///
/// `place` is where it lies, to look at settings beside it; `None` if the name is all that is
/// known. Long texts are read to their end if `whole`; otherwise their first 256 KiB decide.
///
/// # Errors
/// When bytes cannot be read.
///
/// ```
/// use weighbridge::repository::{Class, examine};
/// use weighbridge::{Input, Place};
///
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("config.json");
/// # std::fs::write(&path, "{}")?;
/// let found = examine(&*path.open()?, "config.json", Some(&path), true)?;
/// assert_eq!((found.class, found.kind), (Class::Companion, "JSON"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn examine(
    input: &dyn Input,
    name: &str,
    place: Option<&dyn Place>,
    whole: bool,
) -> Result<Examined, ReadError> {
    Repository::default().examine(input, name, place, whole)
}

/// Examines the files of folders, and remembers the settings of the last folder.
///
/// ```
/// use weighbridge::repository::{Class, Repository};
/// use weighbridge::Place;
///
/// # let folder = tempfile::tempdir()?;
/// let path = folder.path().join("x.py");
/// std::fs::write(&path, "print()")?;
/// let found = Repository::default().examine(&*path.open()?, "x.py", Some(&path), true)?;
/// assert_eq!(found.class, Class::Code);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Default)]
pub struct Repository {
    /// What the settings of the last folders load.
    loads: Loads,
    /// The files that models refer to.
    #[cfg(all(feature = "onnx", feature = "std"))]
    referred: referred::Referred,
    /// The sets of shards in the last folders.
    #[cfg(feature = "std")]
    sets: siblings::Folders,
    /// Those in folders that cannot be listed.
    #[cfg(feature = "std")]
    tried: siblings::Tried,
    /// Tensors of several shards in the last sets.
    #[cfg(feature = "std")]
    repeats: repeated::Known,
    /// What the last indexes list.
    #[cfg(feature = "std")]
    listed: unlisted::Known,
}

impl Repository {
    /// Examines a file as [`examine`] does.
    ///
    /// ```
    /// use weighbridge::repository::{Class, Repository};
    /// use weighbridge::Place;
    ///
    /// # let folder = tempfile::tempdir()?;
    /// let path = folder.path().join("README.md");
    /// std::fs::write(&path, "# A model")?;
    /// let found = Repository::default().examine(&*path.open()?, "README.md", None, true)?;
    /// assert_eq!(found.class, Class::Companion);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// When bytes cannot be read.
    pub fn examine(
        &self,
        input: &dyn Input,
        name: &str,
        place: Option<&dyn Place>,
        whole: bool,
    ) -> Result<Examined, ReadError> {
        let found = self.sort(input, name, place, whole)?;
        #[cfg(all(feature = "onnx", feature = "std"))]
        if found.may_be_data()
            && let Some(model) = place.and_then(|place| self.referred.by(place))
        {
            let why = format!("of {}, checked with it", model.lossy());
            return Ok(Examined::companion("data").because(why));
        }
        Ok(found)
    }

    /// What a file is by its content, its name, and the settings beside it.
    fn sort(
        &self,
        input: &dyn Input,
        name: &str,
        place: Option<&dyn Place>,
        whole: bool,
    ) -> Result<Examined, ReadError> {
        let extension = extension(name);
        let mut head = vec![0; usize::try_from(input.len()).map_or(HEAD, |len| len.min(HEAD))];
        input.read_at(0, &mut head)?;
        // A lock that its program left behind controls nothing.
        let locked = file_names::locked(name)
            .filter(|file| place.is_some_and(|place| place.beside(file).open().is_ok()));
        let controlled = file_names::controlled(name).or(locked);
        if let Some(found) = download(controlled, &extension, &head, input.len()) {
            return Ok(found);
        }
        if head.is_empty() {
            return Ok(empty(name, &extension, place));
        }
        if let Some(found) = by_magic(input, &head, &extension)? {
            return Ok(found);
        }
        let most = if whole { TEXT } else { content::PIECE as u64 };
        let is_text = (!whole || input.len() <= TEXT) && content::is_text(input, most)?;
        if file_names::is_pickled(&extension) {
            let why = "named like a pickle, which can run code when it is loaded";
            return Ok(Examined::new(Class::Code, PICKLE).because(why).runs());
        }
        if let Some(kind) = file_names::code(&extension).or_else(|| file_names::script(name)) {
            let found = Examined::new(Class::Code, kind);
            return Ok(
                match place.filter(|_| whole).and_then(|place| self.loads.of(name, place)) {
                    Some(by) => found.because(format!("{by} loads it")).runs(),
                    None => found,
                },
            );
        }
        if is_text && head.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(&head).starts_with(b"#!") {
            return Ok(Examined::new(Class::Code, "script"));
        }
        match &*extension {
            "json" | "jsonc" => return texts::json(input, name, is_text, place, whole),
            "jinja" | "jinja2" | "j2" => return texts::template(input, is_text),
            "yaml" | "yml" => {
                if let Some(found) = texts::yaml(input, is_text)? {
                    return Ok(found);
                }
            }
            _ if is_text && name == "MLmodel" => {
                if let Some(found) = texts::yaml(input, is_text)? {
                    return Ok(found);
                }
            }
            #[cfg(feature = "std")]
            _ if is_text && head.starts_with(b"{") => {
                if let Some(found) = place.and_then(|place| texts::manifest(input, name, place)) {
                    return Ok(found);
                }
            }
            _ => {}
        }
        if let Some((whole, at)) = file_names::piece(name) {
            // By number: `cat` alone takes part10 before part2.
            let all = file_names::pieces(name, whole);
            let why = format!(
                "piece {at} of {whole}; join all pieces in order{}",
                file_names::command(name, &all, whole)
            );
            return Ok(Examined::new(Class::Download, "piece of a file").because(why));
        }
        let may_be = head.starts_with(b"\n");
        let bytes = if may_be { content::whole(input, TOKENIZER)? } else { None };
        if bytes.is_some_and(|it| content::is_sentencepiece(&it)) {
            return Ok(match archive::behind(input)? {
                Some(found) => inside(found, "archive behind a SentencePiece model"),
                None => Examined::companion("SentencePiece model"),
            });
        }
        if let Some(what) = file_names::program(name, &extension, is_text) {
            let why = format!("{what} is a program, and this one was not examined");
            return Ok(Examined::new(Class::Unknown, "unknown format").because(why));
        }
        if file_names::may_be_pickled(&extension) && !(is_text && extension == "model") {
            let why = "files of this name are usually pickles, and this one was not recognised";
            return Ok(Examined::new(Class::Unknown, "unknown format").because(why));
        }
        if is_text {
            return Ok(Examined::companion(match &*extension {
                "md" | "markdown" | "rst" => "Markdown",
                "html" | "htm" | "xml" | "svg" | "css" => "web page",
                _ => "text",
            }));
        }
        let kind = "unknown format";
        if archive::is_tar(&head) {
            return Ok(inside(archive::tar(input)?, "a tar archive"));
        }
        if content::is_hdf5_behind(&head) {
            return keras::hdf5(input);
        }
        if let Some(kind) = content::packed(&head) {
            return Ok(Examined::new(Class::Unknown, kind).because(NOT_EXAMINED));
        }
        if let Some(found) = archive::behind(input)? {
            return Ok(inside(found, "archive behind other bytes"));
        }
        Ok(match input.len() > TEXT {
            true => Examined::new(Class::Unknown, kind).because("too long to be read as text"),
            false => Examined::new(Class::Unknown, kind).harmless(),
        })
    }
}

/// Examines a file in memory, by its content and its name alone.
///
/// ```
/// use weighbridge::repository::{Class, examine_bytes};
///
/// assert_eq!(examine_bytes("vocab.txt", b"[PAD]\n[UNK]\n").class, Class::Companion);
/// assert_eq!(examine_bytes("weights.pkl", b"anything").class, Class::Code);
/// ```
pub fn examine_bytes(name: &str, bytes: &[u8]) -> Examined {
    let unread = |_| Examined::new(Class::Unknown, "unknown format");
    examine(&Lent(bytes), name, None, true).unwrap_or_else(unread)
}

/// Bytes in memory.
struct Lent<'b>(&'b [u8]);

impl Input for Lent<'_> {
    fn len(&self) -> u64 {
        self.0.len() as u64
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> Result<(), ReadError> {
        let from = usize::try_from(offset).ok();
        let found = from.and_then(|from| self.0.get(from..)?.get(..buffer.len()));
        buffer.copy_from_slice(found.ok_or(ReadError::Changed)?);
        Ok(())
    }
}

/// A file that was not or is not yet downloaded.
fn download(controlled: Option<&str>, extension: &str, head: &[u8], len: u64) -> Option<Examined> {
    let of = |kind| Some(Examined::new(Class::Download, kind));
    if let Some(file) = controlled {
        return of("download in progress").map(|it| it.because(format!("of {file}")));
    }
    if head.starts_with(b"version https://git-lfs.github.com/spec/") {
        let why = "`git lfs pull` fetches the file that it stands for";
        return of("Git LFS pointer").map(|it| it.because(why).stands_for_another());
    }
    if head.starts_with(b"# xet version") {
        let why = "`git xet` or the hub's tools fetch the file that it stands for";
        return of("Xet pointer").map(|it| it.because(why).stands_for_another());
    }
    let page = matches!(Diagnosis::of_head(head, len), Some(Diagnosis::Message(what)) if what.starts_with("an "));
    const PAGES: [&str; 8] = ["html", "htm", "plist", "rng", "svg", "xhtml", "xml", "xsl"];
    if page && !PAGES.contains(&extension) {
        return of("web page").map(|it| it.because("as servers send in place of a file"));
    }
    if content::is_message(head) {
        return of("server's message").map(|it| it.because("in place of a file"));
    }
    if !head.is_empty() && head.iter().all(|byte| *byte == 0) {
        return of("zeros").map(|it| it.because("as after a failed copy"));
    }
    None
}

/// A file without bytes: nothing, unless its name says that a loader reads something.
fn empty(name: &str, extension: &str, place: Option<&dyn Place>) -> Examined {
    let found = Examined::companion("empty file");
    if place.is_some_and(|place| is_absence(&place.name().lossy(), 0)) {
        return found;
    }
    if code_in_settings::is_read(name) {
        return Examined::new(Class::Unknown, "unreadable settings").because("empty");
    }
    match file_names::is_model(extension) {
        true => Examined::new(Class::Download, found.kind).because("as after a failed download"),
        false => found,
    }
}

/// A file whose first bytes say what it is.
fn by_magic(
    input: &dyn Input,
    head: &[u8],
    extension: &str,
) -> Result<Option<Examined>, ReadError> {
    if let Some(kind) = content::native(head) {
        return Ok(Some(Examined::new(Class::Code, kind)));
    }
    if let Some(kind) = content::media(head, extension) {
        return Ok(Some(match archive::behind(input)? {
            Some(found) => inside(found, "archive behind media"),
            None => Examined::companion(kind),
        }));
    }
    let found = match Diagnosis::of_head(head, input.len()) {
        Some(Diagnosis::Pickle(_)) => {
            let why = "a pickle, which can run code when it is loaded";
            Examined::new(Class::Code, PICKLE).because(why).runs()
        }
        Some(Diagnosis::Other(what)) => match what {
            _ if head.starts_with(b"PK") => inside(archive::zip(input)?, what),
            "a tar archive" => inside(archive::tar(input)?, what),
            HDF5 => keras::hdf5(input)?,
            _ if what.starts_with("data compressed") => {
                Examined::new(Class::Unknown, what).because(NOT_EXAMINED)
            }
            _ => Examined::new(Class::Unknown, what).harmless(),
        },
        _ if head.starts_with(b"PK\x05\x06") => Examined::companion("empty archive"),
        _ => return Ok(None),
    };
    Ok(Some(found))
}

fn lambda() -> Examined {
    let why = "a layer of code, such as Lambda, runs when the model is loaded";
    Examined::new(Class::Code, "Keras model").because(why).runs()
}

/// An archive with these contents.
fn inside(inside: Inside, what: &'static str) -> Examined {
    let Inside { pickle, code, lambda: has_lambda, runs, calls, unseen, .. } = inside;
    if has_lambda {
        return lambda();
    }
    if let Some(name) = pickle {
        let why = format!("\"{name}\" in it can run code when it is loaded");
        return Examined::new(Class::Code, "archive of a pickle").because(why).runs();
    }
    if let Some(name) = runs {
        let why = format!("\"{name}\" in it loads code");
        return Examined::new(Class::Code, "archive of settings").because(why).runs();
    }
    if let Some(name) = calls {
        let why = format!("\"{name}\" in it calls functions");
        return Examined::new(Class::Code, "archive of settings").because(why);
    }
    if let Some(name) = code {
        return Examined::new(Class::Code, "archive of code").because(format!("\"{name}\""));
    }
    let found = Examined::new(Class::Unknown, what);
    if unseen { found.because("not all of it could be examined") } else { found.harmless() }
}

/// Whether a downloader gives such a name to a file that it has not completed, or keeps beside
/// it.
///
/// ```
/// assert!(weighbridge::repository::is_control("model.gguf.part"));
/// ```
pub fn is_control(name: &str) -> bool {
    file_names::controlled(name).is_some()
}

/// Whether the name is that of a piece of a file that was split by bytes.
///
/// ```
/// assert!(weighbridge::repository::is_piece("model.gguf.part1of2"));
/// ```
pub fn is_piece(name: &str) -> bool {
    file_names::piece(name).is_some()
}

/// Whether the cache of huggingface_hub notes with this file that a repository has none of its name.
/// Such a note has no bytes.
///
/// ```
/// use weighbridge::repository::is_absence;
///
/// let path = "hub/models--me--m/.no_exist/0a/model.safetensors";
/// assert!(is_absence(path, 0) && !is_absence(path, 8));
/// ```
pub fn is_absence(path: &str, len: u64) -> bool {
    let mut folders = path.rsplit(['/', '\\']).skip(2);
    len == 0 && folders.any(|folder| folder == ".no_exist")
}

/// The control file of a downloader beside the file at `place`, whose download has not ended.
///
/// ```
/// # let folder = tempfile::tempdir()?;
/// let path = folder.path().join("model.gguf");
/// assert_eq!(weighbridge::repository::in_progress(&path), None);
/// std::fs::write(folder.path().join("model.gguf.aria2"), "")?;
/// let control = weighbridge::repository::in_progress(&path);
/// assert_eq!(control.as_deref(), Some("model.gguf.aria2"));
/// # Ok::<(), std::io::Error>(())
/// ```
#[cfg(feature = "std")]
pub fn in_progress(path: &std::path::Path) -> Option<String> {
    let name = path.file_name()?.to_str()?;
    let there = |control: &String| path.with_file_name(control).symlink_metadata().is_ok();
    file_names::controls(name).find(there)
}
