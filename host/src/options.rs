//! How a file is checked and read, and the limits of both.

use crate::text::Text;
use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt;
use weighbridge_core::{Format, Profile, Rule, Severity, Slot, Tally, general, limits};

/// How far a file is read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Goal {
    /// The file is open: its format, version and counts are known.
    Header,
    /// Every tensor of the index is known by name.
    Index,
    /// All rules are checked that need no data of tensors.
    Structure,
    /// Checksums, decompression and rules about values are checked as well.
    #[default]
    Payloads,
}

/// How much of a file has been read; see [`Options::on_progress`].
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Progress<'a> {
    /// The file, where it has a name.
    pub file: Option<&'a Text>,
    /// Bytes that were read so far.
    pub read: u64,
    /// Length of the file.
    pub len: u64,
    /// Nothing more is read of the file.
    pub done: bool,
}

type Hook = dyn Fn(&Progress<'_>) + Send + Sync;

/// How a file is checked and read, and how much memory and work that may take.
///
/// What a limit leaves out is an [unchecked](crate::Report::unchecked) entry of the
/// report, or an error of the call that needed it.
///
/// ```
/// use weighbridge::{Goal, Options, core::Profile};
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
    pub(crate) shown: u64,
    pub(crate) granule: u64,
    pub(crate) seed: Option<u64>,
    pub(crate) hook: Option<Arc<Hook>>,
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
            .field("shown", &self.shown)
            .field("granule", &self.granule)
            .finish_non_exhaustive()
    }
}

impl Default for Options {
    fn default() -> Self {
        Options::new()
    }
}

/// Memory for slots: 1.5 GiB, or what half of a 32-bit address space has room for. A file
/// needs tens of millions of entries to ask for more.
const MEMORY: u64 = if size_of::<usize>() > 4 { 3 << 29 } else { 3 << 27 };

/// Bytes of values and rows that are shown: a single row may have 2^31 elements, and as
/// JSON each takes some ten times as much memory.
const SHOWN: u64 = 128 << 20;

/// Reads begin and end at multiples of this. Small, because what lies scattered through a
/// large file, such as the padding after each of its tensors, costs one read each.
const GRANULE: u64 = 512;

impl Options {
    /// Everything is checked, strictly, with room for any file that is meant to be read.
    pub const fn new() -> Self {
        Options {
            format: None,
            named: None,
            goal: Goal::Payloads,
            criteria: Criteria::new(Profile::Strict),
            memory: MEMORY,
            buffer: limits::BLOCK_BYTES,
            work: None,
            shown: SHOWN,
            granule: GRANULE,
            seed: None,
            hook: None,
        }
    }

    /// Opens files as this format, whatever they look like.
    #[must_use]
    pub fn format(mut self, format: Format) -> Self {
        self.format = Some(format);
        self
    }

    /// The name of the file, whose extension says what it is where its content does not.
    #[must_use]
    pub fn file_name(mut self, name: &str) -> Self {
        self.named = crate::gate::by_file_name(name);
        self
    }

    /// How far files are checked.
    #[must_use]
    pub fn goal(mut self, goal: Goal) -> Self {
        self.goal = goal;
        self
    }

    /// Which breaches make a file invalid.
    #[must_use]
    pub fn profile(mut self, profile: Profile) -> Self {
        self.criteria.profile = profile;
        self
    }

    /// Counts remarks as faults: `lint` for all of them, or the id of a rule.
    ///
    /// ```
    /// use weighbridge::Options;
    ///
    /// let options = Options::new().deny("lint")?.deny("HDR-MAGIC")?;
    /// assert_eq!(options.deny("HDR-MAGICK").unwrap_err(), "no rule has the id \"HDR-MAGICK\"");
    /// # Ok::<(), String>(())
    /// ```
    ///
    /// # Errors
    /// A sentence, when no rule has this id.
    pub fn deny(mut self, what: &str) -> Result<Self, String> {
        self.criteria.deny(what)?;
        Ok(self)
    }

    /// Bytes of memory for comparing names and regions with one another.
    #[must_use]
    pub fn memory(mut self, bytes: u64) -> Self {
        self.memory = bytes;
        self
    }

    /// Bytes of the largest single buffer to decode into.
    #[must_use]
    pub fn buffer(mut self, bytes: u64) -> Self {
        self.buffer = bytes;
        self
    }

    /// How much decoding is done, in decoded bytes. Without this, [`limits::WORK`] and
    /// [`limits::WORK_PER_BYTE`] for each byte of the file.
    #[must_use]
    pub fn work(mut self, bytes: u64) -> Self {
        self.work = Some(bytes);
        self
    }

    /// Bytes of rows that are shown in all, eight an element.
    #[must_use]
    pub fn shown(mut self, bytes: u64) -> Self {
        self.shown = bytes;
        self
    }

    /// Requests for bytes begin and end at multiples of this power of two: 512 without
    /// this. Where each costs a round trip, 64 KiB or more pays.
    #[must_use]
    pub fn granule(mut self, bytes: u64) -> Self {
        self.granule = bytes.clamp(1, 1 << 24).next_power_of_two();
        self
    }

    /// Seeds the hashes of names. Without this they are random, or 0 without the standard
    /// library, where whoever knows the seed can make names that collide.
    #[must_use]
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = Some(seed);
        self
    }

    /// Calls `hook` whenever bytes of a file were read, and once when it is done.
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

    /// How many slots the memory has room for.
    pub(crate) fn slots(&self) -> u64 {
        self.memory / size_of::<Slot>() as u64
    }

    /// The work that decoding may take of a file of `len` bytes.
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

/// Which findings make a file invalid.
#[derive(Clone, Debug, Default)]
pub(crate) struct Criteria {
    pub(crate) profile: Profile,
    /// Every lint counts.
    deny_lint: bool,
    /// These rules count, whatever their severity.
    deny: Vec<&'static str>,
}

impl Criteria {
    const fn new(profile: Profile) -> Self {
        Criteria { profile, deny_lint: false, deny: Vec::new() }
    }

    /// The same under another profile.
    pub(crate) fn under(&self, profile: Profile) -> Self {
        Criteria { profile, ..self.clone() }
    }

    fn deny(&mut self, what: &str) -> Result<(), String> {
        if what == "lint" {
            self.deny_lint = true;
            return Ok(());
        }
        let rules = Format::ALL.iter().flat_map(|format| format.rules()).chain(general::RULES);
        let same = |id: &&str| id.eq_ignore_ascii_case(what);
        let before = self.deny.len();
        self.deny.extend(rules.map(|rule| rule.id).filter(same));
        if self.deny.len() > before { Ok(()) } else { Err(format!("no rule has the id {what:?}")) }
    }

    /// Whether a file that breaks this rule is still valid.
    pub(crate) fn accepts(&self, rule: Rule) -> bool {
        let severity = rule.severity();
        self.profile.accepts(severity)
            && !(self.deny_lint && severity == Severity::Lint)
            && !self.deny.contains(&rule.id())
    }

    /// Whether a file with all these findings is valid, those included that are not
    /// listed.
    pub(crate) fn passes(&self, tally: &Tally) -> bool {
        tally.rules().all(|count| self.accepts(count.rule))
    }
}
