//! The other files that a model's tensors refer to, as the model names them.

use crate::check::session::Session;
use alloc::borrow::ToOwned as _;
use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;
use weighbridge_core::format::onnx::{Location, Locations, is_inside};
use weighbridge_core::{Beside, File, Source, Span, Stop};

/// Collects the paths of the files that a model's tensors refer to, and appends these files to
/// the model: the core then finds their data behind the model's own bytes.
///
/// A path is relative to the folder of the model and leads to a file in it, as far as its text
/// says. Paths that break a rule are left out.
///
/// ```
/// use weighbridge::{Goal, Options, OtherFiles, Session, Span};
///
/// # let (model, data) = weighbridge_tests::samples::model_and_data();
/// let mut session = Session::whole(&model, Options::new());
/// session.advance(Goal::Header);
/// let mut others = OtherFiles::new(1 << 20);
/// session.ask(|file, source| others.read(file, source))?;
/// assert_eq!(others.paths().collect::<Vec<_>>(), ["weights.bin"]);
///
/// let (own, len) = (model.len() as u64, data.len() as u64);
/// let mut session = Session::new(own, Options::new());
/// others.attach(&mut session, &[Some(Span::new(own, len))]);
/// assert!(!session.advance(Goal::Structure));
/// session.supply(0, [&model[..], &data].concat());
/// assert!(session.advance(Goal::Structure) && session.findings().is_empty());
/// # Ok::<(), weighbridge::weighbridge_core::Stop>(())
/// ```
#[derive(Debug)]
pub struct OtherFiles {
    locations: Locations,
    pending: Option<Location>,
    pub(super) listed: Vec<Listed>,
    pub(super) paths: Vec<Path>,
    numbers: BTreeMap<String, usize>,
    most: u64,
    is_cut: bool,
}

/// A tensor's location, with the number of its path.
#[derive(Debug)]
pub(super) struct Listed {
    pub(super) location: Location,
    pub(super) path: usize,
}

/// A path, and the location that mentions it first.
#[derive(Debug)]
pub(super) struct Path {
    pub(super) text: String,
    pub(super) first: Location,
}

impl OtherFiles {
    /// Creates a list that takes up to `memory` bytes.
    ///
    /// ```
    /// assert_eq!(weighbridge::OtherFiles::new(1 << 20).paths().count(), 0);
    /// ```
    pub fn new(memory: u64) -> Self {
        OtherFiles {
            locations: Locations::new(),
            pending: None,
            listed: Vec::new(),
            paths: Vec::new(),
            numbers: BTreeMap::new(),
            most: memory / size_of::<Listed>() as u64,
            is_cut: false,
        }
    }

    /// Reads the locations of all tensors; none of a file whose tensors name no other files.
    ///
    /// ```
    /// # use weighbridge::{Goal, Options, OtherFiles, Session};
    /// # let bytes = weighbridge_tests::samples::safetensors();
    /// let mut session = Session::whole(&bytes, Options::new());
    /// session.advance(Goal::Header);
    /// let mut others = OtherFiles::new(1 << 20);
    /// session.ask(|file, source| others.read(file, source))?;
    /// assert_eq!(others.paths().next(), None);
    /// # Ok::<(), weighbridge::weighbridge_core::Stop>(())
    /// ```
    ///
    /// # Errors
    /// [`Stop::NeedBytes`]: call again when the bytes are available. Broken rules end the list.
    pub fn read(&mut self, file: &File, source: &Source<'_>) -> Result<(), Stop> {
        if !matches!(file, File::Onnx(_)) {
            return Ok(());
        }
        loop {
            if let Some(location) = self.pending {
                // Looked at again: the bytes may have changed since they were validated.
                let text = location.path.read(source)?.as_str();
                if let Some(text) = text.filter(|text| is_inside(text.as_bytes())) {
                    self.note(location, text);
                }
                self.pending = None;
            }
            if self.listed.len() as u64 >= self.most {
                self.is_cut = true;
                return Ok(());
            }
            self.pending = self.locations.step(source)?;
            if self.pending.is_none() {
                return Ok(());
            }
        }
    }

    fn note(&mut self, location: Location, text: &str) {
        let path = *self.numbers.entry(text.to_owned()).or_insert(self.paths.len());
        if path == self.paths.len() {
            self.paths.push(Path { text: text.to_owned(), first: location });
        }
        self.listed.push(Listed { location, path });
    }

    /// The paths, each once, in the order of their first mention.
    ///
    /// ```
    /// # let others = weighbridge::OtherFiles::new(0);
    /// assert_eq!(others.paths().next(), None); // nothing was read yet
    /// ```
    pub fn paths(&self) -> impl Iterator<Item = &str> {
        self.paths.iter().map(|path| path.text.as_str())
    }

    /// Whether some locations did not fit into memory.
    ///
    /// ```
    /// assert!(!weighbridge::OtherFiles::new(0).is_cut()); // nothing was read yet
    /// ```
    pub fn is_cut(&self) -> bool {
        self.is_cut
    }

    /// Appends files to the model of a session, which begins again: `files` says for each path
    /// which bytes behind the model are those of the file, in ascending order, or `None` without
    /// a file.
    ///
    /// ```
    /// # use weighbridge::{Options, OtherFiles, Session};
    /// let mut session = Session::new(10, Options::new());
    /// OtherFiles::new(0).attach(&mut session, &[]); // a model without other files
    /// assert_eq!(session.len(), 10);
    /// ```
    pub fn attach(&self, session: &mut Session<'_>, files: &[Option<Span>]) {
        let ends = files.iter().flatten().filter_map(Span::end);
        let len = ends.max().unwrap_or(0).max(session.len());
        session.append(len, self.beside(files));
    }

    /// What each text refers to, in order of the texts.
    pub(super) fn beside(&self, files: &[Option<Span>]) -> Vec<Beside> {
        let beside = self.listed.iter().filter_map(|it| {
            let Span { offset: base, len } = files.get(it.path).copied().flatten()?;
            Some(Beside { at: it.location.path.offset, base, len })
        });
        let mut beside: Vec<_> = beside.collect();
        beside.sort_unstable_by_key(|it| it.at);
        beside
    }
}
