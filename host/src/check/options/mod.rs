//! How a file is checked and read, and the limits of both.

mod counts;

use crate::base::error::ReadError;
use crate::base::text::Text;
use crate::check::criteria::Criteria;
use crate::input::store::Windows;
use alloc::sync::Arc;
use core::fmt;
use weighbridge_core::{Format, Profile, Slot, limits};

/// How far a file is read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Goal {
    /// The file is open: its format, version and counts are known.
    Header,
    /// Every tensor of the index is known by name.
    Index,
    /// All rules that need no tensor data are checked.
    Structure,
    /// Checksums, decompression and rules about values are checked as well.
    #[default]
    Payloads,
}

/// A file's read progress; see [`Options::on_progress`].
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Progress<'a> {
    /// The file's name, if it has one.
    pub file: Option<&'a Text>,
    /// Bytes read so far.
    pub read: u64,
    /// Length of the file.
    pub len: u64,
    /// Whether nothing more is read from the file.
    pub done: bool,
}

type Hook = dyn Fn(&Progress<'_>) + Send + Sync;
type Cancel = dyn Fn() -> bool + Send + Sync;

/// How a file is checked and read, and the limits on memory and work.
///
/// Anything that a limit leaves out becomes an [unchecked](crate::Report::unchecked) entry of
/// the report, or an error of the call that needed it.
///
/// ```
/// use weighbridge::{Goal, Options, weighbridge_core::Profile};
///
/// let options = Options::new().profile(Profile::Lenient).goal(Goal::Structure).buffer(64 << 20);
/// # let bytes = weighbridge_tests::samples::safetensors();
/// let report = weighbridge::check_with(&bytes, &options)?;
/// assert_eq!(report.checked(), ["structure"]);
/// # Ok::<(), weighbridge::Error>(())
/// ```
#[derive(Clone)]
pub struct Options {
    pub(crate) format: Option<Format>,
    pub(crate) named: Option<Format>,
    pub(crate) goal: Goal,
    pub(crate) criteria: Criteria,
    pub(crate) memory: u64,
    pub(crate) buffer: u64,
    pub(crate) work: Option<u64>,
    pub(crate) second_opinion: bool,
    pub(crate) shown: u64,
    pub(crate) windows: Windows,
    /// Reading scattered pages costs little.
    pub(crate) near: bool,
    pub(crate) seed: Option<u64>,
    pub(crate) follow_links: bool,
    pub(crate) with_first: bool,
    pub(crate) hook: Option<Arc<Hook>>,
    pub(crate) cancel: Option<Arc<Cancel>>,
}

impl fmt::Debug for Options {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Options")
            .field("format", &self.format)
            .field("goal", &self.goal)
            .field("criteria", &self.criteria)
            .field("memory", &self.memory)
            .field("buffer", &self.buffer)
            .field("work", &self.work)
            .field("second_opinion", &self.second_opinion)
            .field("shown", &self.shown)
            .field("windows", &self.windows)
            .finish_non_exhaustive()
    }
}

impl Default for Options {
    fn default() -> Self {
        Options::new()
    }
}

/// Memory for slots: 1.5 GiB, or 384 MiB to fit into half of a 32-bit address space. A file
/// needs tens of millions of entries to ask for more.
const MEMORY: u64 = if size_of::<usize>() > 4 { 3 << 29 } else { 3 << 27 };

/// Bytes of values and rows to show: a single row may have 2^31 elements, and its JSON takes
/// about ten times as much memory.
const SHOWN: u64 = 128 << 20;

impl Options {
    /// Checks everything strictly, with limits that fit every legitimate file.
    ///
    /// ```
    /// use weighbridge::{Options, check_with};
    ///
    /// # let bytes = weighbridge_tests::samples::safetensors();
    /// let report = check_with(&bytes, &Options::new())?;
    /// assert_eq!(report.checked(), ["structure", "payloads"]);
    /// # Ok::<(), weighbridge::Error>(())
    /// ```
    pub const fn new() -> Self {
        Options {
            format: None,
            named: None,
            goal: Goal::Payloads,
            criteria: Criteria::new(Profile::Strict),
            memory: MEMORY,
            buffer: limits::BLOCK_BYTES,
            work: None,
            second_opinion: false,
            shown: SHOWN,
            windows: Windows::CHEAP,
            near: false,
            seed: None,
            follow_links: false,
            with_first: false,
            hook: None,
            cancel: None,
        }
    }

    /// Opens files as this format, whatever their content.
    ///
    /// ```
    /// use weighbridge::{Format, Options, check_with};
    ///
    /// # let bytes = weighbridge_tests::samples::safetensors();
    /// let report = check_with(&bytes, &Options::new().format(Format::Gguf))?;
    /// assert_eq!(report.findings()[0].message(), "the file does not begin with GGUF");
    /// # Ok::<(), weighbridge::Error>(())
    /// ```
    #[must_use]
    pub fn format(mut self, format: Format) -> Self {
        self.format = Some(format);
        self
    }

    /// Sets the file name, whose extension identifies the format if the content does not.
    ///
    /// ```
    /// use weighbridge::{Format, Options, check_with};
    ///
    /// let index = br#"{"metadata":{},"weight_map":{"emb":"one.safetensors"}}"#;
    /// let options = Options::new().file_name("model.safetensors.index.json");
    /// assert_eq!(check_with(index, &options)?.format(), Some(Format::Shards));
    /// # Ok::<(), weighbridge::Error>(())
    /// ```
    #[must_use]
    pub fn file_name(mut self, name: &str) -> Self {
        self.named = crate::check::recognise::by_file_name(name);
        self
    }

    /// Sets how far files are checked.
    ///
    /// ```
    /// use weighbridge::{Goal, Options, check_with};
    ///
    /// # let bytes = weighbridge_tests::samples::safetensors();
    /// let report = check_with(&bytes, &Options::new().goal(Goal::Structure))?;
    /// assert_eq!(report.checked(), ["structure"]);
    /// # Ok::<(), weighbridge::Error>(())
    /// ```
    #[must_use]
    pub fn goal(mut self, goal: Goal) -> Self {
        self.goal = goal;
        self
    }

    /// Sets which breaches make a file invalid.
    ///
    /// ```
    /// use weighbridge::{Options, Profile, check_with};
    ///
    /// # let bytes = weighbridge_tests::samples::safetensors();
    /// let report = check_with(&bytes, &Options::new().profile(Profile::Lenient))?;
    /// assert!(report.verdict_on_checked().is_valid());
    /// # Ok::<(), weighbridge::Error>(())
    /// ```
    #[must_use]
    pub fn profile(mut self, profile: Profile) -> Self {
        self.criteria.profile = profile;
        self
    }

    /// Treats a file that neither its content nor its name identifies as unsupported instead of
    /// invalid. Meant for files found in a folder rather than given by name.
    ///
    /// ```
    /// use weighbridge::{Options, Profile, Verdict};
    ///
    /// let options = Options::new().unknown_is_unsupported();
    /// let report = weighbridge::check_with(b"# A model\n", &options)?;
    /// assert_eq!(report.verdict(Profile::Strict), Verdict::Unsupported);
    /// assert!(!report.is_recognised());
    /// # Ok::<(), weighbridge::Error>(())
    /// ```
    #[must_use]
    pub fn unknown_is_unsupported(mut self) -> Self {
        self.criteria.unknown = true;
        self
    }

    /// Allows a model's files to be links that lead out of its folder. Without this, such a
    /// shard or part is a fault, because it lets the folder's author choose what is read.
    ///
    /// ```
    /// use weighbridge::{Options, Profile, check_path};
    ///
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("model.safetensors");
    /// # std::fs::write(&path, weighbridge_tests::samples::safetensors())?;
    /// // Hubs keep the files of a model elsewhere, with links in its folder.
    /// let report = check_path(&path, &Options::new().follow_links())?;
    /// assert!(report.verdict(Profile::Strict).is_valid());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn follow_links(mut self) -> Self {
        self.follow_links = true;
        self
    }

    /// Leaves the comparison of a model's parts to its first part, which is checked as well.
    /// Without this each part is compared with all others, and only the first part that is
    /// present checks the data of the others.
    ///
    /// ```
    /// use weighbridge::{Options, check_path};
    ///
    /// # let folder = tempfile::tempdir()?;
    /// let first = folder.path().join("m-00001-of-00003.gguf");
    /// std::fs::write(&first, weighbridge_tests::samples::part())?; // part 3 is missing
    /// # let second = weighbridge_tests::fixtures::gguf::part(1, &["a", "b", "c"]).bytes();
    /// # let write = |bytes: &[u8]| std::fs::write(first.with_file_name("m-00002-of-00003.gguf"), bytes);
    /// # write(&second)?;
    /// let second = first.with_file_name("m-00002-of-00003.gguf");
    /// assert_eq!(check_path(&second, &Options::new())?.findings().len(), 1);
    /// assert!(check_path(&second, &Options::new().with_first_part())?.findings().is_empty());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn with_first_part(mut self) -> Self {
        self.with_first = true;
        self
    }

    /// Sets the memory, in bytes, for comparing names and regions with one another.
    ///
    /// ```
    /// use weighbridge::{Options, check_with};
    ///
    /// # let bytes = weighbridge_tests::samples::unsorted();
    /// // Names that are not sorted are compared in memory.
    /// let report = check_with(&bytes, &Options::new().memory(0))?;
    /// assert!(report.unchecked()[0].why().contains("names are unique"));
    /// # Ok::<(), weighbridge::Error>(())
    /// ```
    #[must_use]
    pub fn memory(mut self, bytes: u64) -> Self {
        self.memory = bytes;
        self
    }

    /// Sets the size, in bytes, of the largest single buffer to decode into.
    ///
    /// ```
    /// use weighbridge::{Model, Options};
    ///
    /// # let bytes = weighbridge_tests::samples::compressed();
    /// let model = Model::from_bytes_with(&bytes, &Options::new().buffer(64 << 20))?;
    /// assert_eq!(model.tensor("z")?.to_vec::<f32>()?.len(), 1000);
    /// # Ok::<(), weighbridge::Error>(())
    /// ```
    #[must_use]
    pub fn buffer(mut self, bytes: u64) -> Self {
        self.buffer = bytes;
        self
    }

    /// Sets how much may be decoded, in decoded bytes. The default is [`limits::WORK`] plus
    /// [`limits::WORK_PER_BYTE`] for each byte of the file.
    ///
    /// ```
    /// use weighbridge::{Options, Profile, Verdict, check_with};
    ///
    /// # let bytes = weighbridge_tests::samples::compressed();
    /// let report = check_with(&bytes, &Options::new().work(1000))?; // decodes to 4,000 bytes
    /// assert_eq!(report.verdict(Profile::Strict), Verdict::Unchecked);
    /// # Ok::<(), weighbridge::Error>(())
    /// ```
    #[must_use]
    pub fn work(mut self, bytes: u64) -> Self {
        self.work = Some(bytes);
        self
    }

    /// Has every zstd stream decoded by a second decoder, ruzstd, as well. A stream that both do not
    /// accept with the same bytes breaks `SECOND-OPINION`. Checking such files takes several times as
    /// long, and a second buffer.
    ///
    /// ```
    /// use weighbridge::{Options, check_with};
    ///
    /// # let bytes = weighbridge_tests::samples::compressed();
    /// let report = check_with(&bytes, &Options::new().second_opinion())?;
    /// assert!(report.verdict_on_checked().is_valid());
    /// # Ok::<(), weighbridge::Error>(())
    /// ```
    #[cfg(feature = "second-opinion")]
    #[must_use]
    pub fn second_opinion(mut self) -> Self {
        self.second_opinion = true;
        self
    }

    /// Sets the total size of the rows shown, in bytes: eight per element, or a text's length.
    ///
    /// ```
    /// use weighbridge::{Model, Options};
    ///
    /// # let bytes = weighbridge_tests::samples::columns();
    /// let model = Model::from_bytes_with(&bytes, &Options::new().shown(1 << 20))?;
    /// # assert!(model.tensor("x")?.has_values(1)?);
    /// # Ok::<(), weighbridge::Error>(())
    /// ```
    #[must_use]
    pub fn shown(mut self, bytes: u64) -> Self {
        self.shown = bytes;
        self
    }

    /// Aligns requests to multiples of this power of two, 512 by default. Where each request
    /// costs a round trip, 64 KiB or more pays off.
    ///
    /// ```
    /// use weighbridge::{Goal, Options, Poll, Session};
    ///
    /// let mut session = Session::new(1 << 30, Options::new().granule(64 << 10));
    /// let Poll::Need(ranges) = session.poll(Goal::Header)? else { panic!("it has no bytes yet") };
    /// assert_eq!(ranges[0].len, 64 << 10);
    /// # Ok::<(), weighbridge::Error>(())
    /// ```
    #[must_use]
    pub fn granule(mut self, bytes: u64) -> Self {
        self.windows.granule = bytes.clamp(1, 1 << 24).next_power_of_two();
        self
    }

    /// Sets how many bytes of the file a [`Session`](crate::Session) keeps in memory, in any
    /// number of pieces. The default is 32 MiB in 48 pieces, and a file of up to 128 MiB as a whole
    /// once it was supplied four times over. With this set, the session requests only what the next
    /// step needs or wants, and does not read ahead. A needed piece larger than a quarter of the
    /// limit is kept with up to three others of its size.
    ///
    /// ```
    /// use weighbridge::{Goal, Options, Poll, Session};
    ///
    /// # let bytes = weighbridge_tests::samples::safetensors();
    /// let options = Options::new().granule(16).kept(1 << 10);
    /// let mut session = Session::new(bytes.len() as u64, options);
    /// while let Poll::Need(ranges) = session.poll(Goal::Payloads)? {
    ///     for range in ranges {
    ///         session.supply(range.offset, &bytes[range.offset as usize..][..range.len as usize]);
    ///     }
    /// }
    /// assert!(session.resident() <= 1 << 10);
    /// # Ok::<(), weighbridge::Error>(())
    /// ```
    #[must_use]
    pub fn kept(mut self, bytes: u64) -> Self {
        let granule = self.windows.granule;
        let (count, wanted) = (usize::MAX, bytes / 4);
        self.windows = Windows { granule, kept: bytes, count, wanted, ahead: 0, whole: 0 };
        self
    }

    /// Seeds the hashes of names. By default the seed is random, or 0 without the standard
    /// library; anyone who knows the seed can craft names that collide.
    ///
    /// ```
    /// use weighbridge::{Options, check_with};
    ///
    /// # let bytes = weighbridge_tests::samples::safetensors();
    /// let (once, again) = (check_with(&bytes, &Options::new().seed(7))?, check_with(&bytes, &Options::new().seed(7))?);
    /// assert_eq!(once.total(), again.total());
    /// # Ok::<(), weighbridge::Error>(())
    /// ```
    #[must_use]
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = Some(seed);
        self
    }

    /// Calls `hook` whenever bytes of a file have been read, and once when it is done.
    ///
    /// ```
    /// use weighbridge::Options;
    ///
    /// let options = Options::new().on_progress(|progress| {
    ///     eprintln!("{} of {} bytes", progress.read, progress.len);
    /// });
    /// # let _ = options;
    /// ```
    #[must_use]
    pub fn on_progress(mut self, hook: impl Fn(&Progress<'_>) + Send + Sync + 'static) -> Self {
        self.hook = Some(Arc::new(hook));
        self
    }

    /// Gives up once `hook` returns `true`. It is called before bytes of a file are read, so
    /// never while checking a file that is entirely in memory.
    ///
    /// ```
    /// use weighbridge::{Error, Options, ReadError};
    ///
    /// let options = Options::new().cancel_when(|| true);
    /// # let bytes = weighbridge_tests::samples::safetensors();
    /// let report = weighbridge::check_reader(std::io::Cursor::new(bytes), &options);
    /// assert!(matches!(report, Err(Error::Read(ReadError::Cancelled))));
    /// ```
    #[must_use]
    pub fn cancel_when(mut self, hook: impl Fn() -> bool + Send + Sync + 'static) -> Self {
        self.cancel = Some(Arc::new(hook));
        self
    }

    /// Fails if the caller has cancelled.
    pub(crate) fn check_cancelled(&self) -> Result<(), ReadError> {
        match self.cancel.as_ref().is_some_and(|cancel| cancel()) {
            true => Err(ReadError::Cancelled),
            false => Ok(()),
        }
    }

    /// Number of slots that fit into the memory limit.
    pub(crate) fn slots(&self) -> u64 {
        self.memory / size_of::<Slot>() as u64
    }

    /// The work that decoding a file of `len` bytes may take.
    pub(crate) fn work_of(&self, len: u64) -> u64 {
        let most = limits::WORK.saturating_add(len.saturating_mul(limits::WORK_PER_BYTE));
        self.work.unwrap_or(most)
    }

    pub(crate) fn seed_or_random(&self) -> u64 {
        #[cfg(feature = "std")]
        let other = || {
            use core::hash::BuildHasher as _;
            std::hash::RandomState::new().hash_one(0)
        };
        #[cfg(not(feature = "std"))]
        let other = || 0;
        self.seed.unwrap_or_else(other)
    }
}
