//! Checks a model in several files, the shards of an index or the parts of a split GGUF, for a
//! host that opens them itself.

use super::found::{Found, SetFile, SetPlace};
use super::{Member, ShardSet, SplitSet, data};
use crate::base::text::Text;
use crate::check::diagnosis::Diagnosis;
use crate::check::session::Session;
use crate::list::areas::FileMap;
use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use weighbridge_core::format::shards::may_be;
use weighbridge_core::{File, Finding, Name, NameEncoding, Profile, Severity, Stop, Tally};

/// Collects the findings of all files of a model, at offsets as if the files were concatenated.
/// Each file is checked by a [`Session`] of its own, and compared with the others here.
///
/// ```
/// use weighbridge::{Goal, Model, Options, Profile, Session};
/// use weighbridge::{SetCheck, SetFile, SetPart, SetPlace};
///
/// # let bytes = weighbridge_tests::samples::part();
/// let mut session = Session::whole(&bytes, Options::new()); // the first of three parts
/// session.advance(Goal::Payloads);
/// let mut stated = SetPart::default();
/// session.ask(|file, source| stated.read(source, file))?;
/// let model = Model::from_bytes(&bytes)?;
/// let file = SetFile {
///     session: &session,
///     stated: &stated,
///     index: &model.index()?,
///     map: &model.map()?,
///     is_ruled: false,
///     metadata: &[],
/// };
///
/// let mut check = SetCheck::new(Profile::Strict, 7);
/// let name = "m-00001-of-00003.gguf";
/// check.file(&file, SetPlace { no: 0, name, base: 0, first: 0, first_entry: 0 });
/// check.absent(1, true);
/// check.absent(2, true);
/// check.finish(&mut session)?;
/// assert_eq!(check.findings()[0].rule.id(), "KEYS-SPLIT-MISSING");
/// assert_eq!(check.name(0), b"m-00002-of-00003.gguf");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct SetCheck {
    set: Set,
    profile: Profile,
    seed: u64,
    found: Found,
    /// The goals reached in all files; `None` before the first.
    checked: Option<&'static [&'static str]>,
    is_ruled: bool,
    diagnosis: Option<(String, Diagnosis)>,
    map: FileMap,
}

/// The set that the files are compared with.
#[derive(Debug)]
enum Set {
    Shards(Box<ShardSet>),
    /// With the offset of the part that describes the set.
    Splits(SplitSet, u64),
    /// No part has described the set yet; the files before it wait.
    Open(Vec<Waiting>),
    /// No part describes a set.
    None,
}

/// A file that does not say it is a part.
#[derive(Debug)]
struct Waiting {
    no: u64,
    member: Member,
    count: u64,
    names: Vec<Vec<u8>>,
}

impl SetCheck {
    /// Creates a check for the parts of a split GGUF. They are compared, and missing parts
    /// reported, once a part says that it is one and has a name like `m-00001-of-00003.gguf`:
    /// see [`is_compared`](Self::is_compared). Names are hashed with the seed, which should not
    /// be known to writers.
    ///
    /// ```
    /// let check = weighbridge::SetCheck::new(weighbridge::Profile::Strict, 7);
    /// assert!(check.findings().is_empty());
    /// ```
    pub fn new(profile: Profile, seed: u64) -> Self {
        SetCheck {
            set: Set::Open(Vec::new()),
            profile,
            seed,
            found: Found::default(),
            checked: None,
            is_ruled: false,
            diagnosis: None,
            map: FileMap::default(),
        }
    }

    /// Creates a check for a checked index and the shards that it lists. Without `shards`, the
    /// files that follow are treated as parts of a split GGUF, as by [`new`](Self::new).
    ///
    /// ```
    /// use weighbridge::{FileMap, Goal, Index, Options, Profile, Session};
    /// use weighbridge::{SetCheck, SetFile, SetPart, ShardSet};
    ///
    /// let json = br#"{"metadata": {}, "weight_map": {"a": "1.safetensors"}}"#;
    /// let mut session = Session::whole(json, Options::new());
    /// session.advance(Goal::Structure);
    /// let mut shards = ShardSet::new(7);
    /// session.ask(|file, source| shards.read(source, file))?;
    /// let index = SetFile {
    ///     session: &session,
    ///     stated: &SetPart::default(),
    ///     index: &Index::default(),
    ///     map: &FileMap::default(),
    ///     is_ruled: false,
    ///     metadata: &[],
    /// };
    /// let mut check = SetCheck::of_index(&index, Some(shards), Profile::Strict, 7);
    /// check.absent(0, true);
    /// check.finish(&mut session)?;
    /// assert_eq!(check.findings()[0].rule.id(), "SHARD-MISSING");
    /// # Ok::<(), weighbridge::weighbridge_core::Stop>(())
    /// ```
    pub fn of_index(
        index: &SetFile<'_>,
        shards: Option<ShardSet>,
        profile: Profile,
        seed: u64,
    ) -> Self {
        let mut check = SetCheck::new(profile, seed);
        check.found.gather(index, SetPlace { no: 0, name: "", base: 0, first: 0, first_entry: 0 });
        check.map = index.map.clone();
        check.set = shards.map_or(check.set, |shards| Set::Shards(Box::new(shards)));
        check
    }

    /// Adds the findings of a file, and compares it with the set.
    ///
    /// ```
    /// # use weighbridge::{Goal, Model, Options, Profile, Session};
    /// # use weighbridge::{SetCheck, SetFile, SetPart, SetPlace};
    /// # let bytes = weighbridge_tests::samples::safetensors();
    /// # let mut session = Session::whole(&bytes, Options::new());
    /// # session.advance(Goal::Payloads);
    /// # let model = Model::from_bytes(&bytes)?;
    /// # let (index, map) = (model.index()?, model.map()?);
    /// # let (session, index, map, stated) = (&session, &index, &map, &SetPart::default());
    /// # let file = SetFile { session, index, map, stated, metadata: &[], is_ruled: false };
    /// let mut check = SetCheck::new(Profile::Strict, 7);
    /// let place = SetPlace { no: 0, name: "a.safetensors", base: 1000, first: 0, first_entry: 0 };
    /// check.file(&file, place);
    /// assert_eq!(check.checked(), ["structure", "payloads"]);
    /// assert_eq!(check.map().areas()[0].at, 1000);
    /// check.absent(1, false); // another file could not be read
    /// assert!(check.checked().is_empty());
    /// # Ok::<(), weighbridge::Error>(())
    /// ```
    pub fn file(&mut self, file: &SetFile<'_>, place: SetPlace<'_>) {
        self.describe(file, place.name);
        let SetCheck { set, profile, seed, found, map, .. } = self;
        let SetPlace { no, name, base, .. } = place;
        found.gather(file, place);
        map.join(file.map, |area| {
            area.at = area.at.saturating_add(base);
            area.entry = place.entry(area.kind, area.entry);
        });
        let opened = file.session.file();
        let mut valid = opened.is_some() && file.session.tally().accepted(*profile);
        let member = |valid| if valid { Member::Valid } else { Member::Invalid };
        let tensors = 0..file.index.len();
        if let Set::Shards(set) = set {
            let find = &mut found.taker(0);
            for (i, tensor) in file.index.tensors().iter().enumerate() {
                set.tensor(no as usize, &file.index.name(i), data(&tensor.chunks), find);
            }
            let valid = valid && opened.is_some_and(|file| may_be(file.format()));
            set.file(no as usize, member(valid), find);
            return;
        }
        let stated = file.stated;
        let answers = {
            let mut take = found.taker(base);
            let strict = *profile == Profile::Strict;
            SplitSet::of(stated, name, *seed, &mut |finding, name| {
                valid &= !strict && finding.severity() != Severity::Fatal;
                take(finding, name);
            })
        };
        let count = opened.map_or(0, File::tensor_count);
        let no = u64::from(no) + 1;
        if let Set::Open(waiting) = set {
            if opened.is_some() && !stated.is_one_of_many() {
                let names = tensors.map(|i| file.index.name_bytes(i).to_vec()).collect();
                let member = member(valid && stated.is_numbered());
                waiting.push(Waiting { no, member, count, names });
                return;
            }
            // A file that does not open settles it as well: there is no set.
            let Some(mut answers) = answers.filter(|_| opened.is_some()) else {
                *set = Set::None;
                return;
            };
            tensors.for_each(|i| answers.tensor(&file.index.name(i)));
            answers.file(no, Member::Valid, count, &mut found.taker(base));
            for Waiting { no, member, count, names } in waiting {
                let names = names.iter().map(|name| Name::new(name, NameEncoding::Plain));
                names.for_each(|name| answers.tensor(&name));
                answers.file(*no, *member, *count, &mut found.taker(base));
            }
            *set = Set::Splits(answers, base);
        } else if let Set::Splits(set, base) = set {
            tensors.for_each(|i| set.tensor(&file.index.name(i)));
            let member = member(valid && stated.is_numbered());
            set.file(no, member, count, &mut found.taker(*base));
        }
    }

    /// Records how far a file was checked, and its diagnosis.
    fn describe(&mut self, file: &SetFile<'_>, name: &str) {
        let checked = file.session.checked();
        if self.checked.is_none_or(|least| checked.len() < least.len()) {
            self.checked = Some(checked);
        }
        self.is_ruled |= file.is_ruled;
        if let (None, Some(diagnosis)) = (&self.diagnosis, file.session.diagnosis()) {
            self.diagnosis = Some((String::from(name), diagnosis));
        }
    }

    /// Records that file number `no`, from 0, is missing, or else that it cannot be read.
    ///
    /// ```
    /// # use weighbridge::{Profile, SetCheck};
    /// let mut check = SetCheck::new(Profile::Strict, 7);
    /// check.absent(0, false);
    /// assert!(check.checked().is_empty());
    /// ```
    pub fn absent(&mut self, no: u32, missing: bool) {
        let member = if missing { Member::Missing } else { Member::Unread };
        if !missing {
            // Nothing in it was checked.
            self.checked = Some(&[]);
        }
        let SetCheck { set, found, .. } = self;
        let number = u64::from(no) + 1;
        match set {
            Set::Shards(set) => set.file(no as usize, member, &mut found.taker(0)),
            Set::Splits(set, base) => set.file(number, member, 0, &mut found.taker(*base)),
            // It waits for the part that describes the set, like the files that are present.
            Set::Open(waiting) => {
                waiting.push(Waiting { no: number, member, count: 0, names: Vec::new() });
            }
            Set::None => {}
        }
    }

    /// Compares the set as a whole after the last file. Shards are compared with their index.
    ///
    /// ```
    /// # use weighbridge::{Options, Profile, Session, SetCheck};
    /// # let mut session = Session::whole(b"", Options::new());
    /// let mut check = SetCheck::new(Profile::Strict, 7);
    /// check.finish(&mut session)?;
    /// # Ok::<(), weighbridge::weighbridge_core::Stop>(())
    /// ```
    ///
    /// # Errors
    /// [`Stop::NeedBytes`] for the index; call again when the bytes are available.
    pub fn finish(&mut self, index: &mut Session<'_>) -> Result<(), Stop> {
        let SetCheck { set, found, .. } = self;
        match set {
            Set::Shards(set) => {
                index.ask(|file, source| set.finish(source, file, &mut found.taker(0)))?;
            }
            Set::Splits(set, base) => set.finish(&mut found.taker(*base)),
            Set::Open(_) | Set::None => {}
        }
        Ok(())
    }

    /// The findings in all files, in no particular order.
    ///
    /// ```
    /// # use weighbridge::{Profile, SetCheck};
    /// assert!(SetCheck::new(Profile::Strict, 7).findings().is_empty()); // no file was added
    /// ```
    pub fn findings(&self) -> &[Finding] {
        &self.found.findings
    }

    /// The subject of the finding at a position: the first bytes of the name of a tensor, key
    /// or file; empty for a file as a whole.
    ///
    /// ```
    /// # use weighbridge::{Profile, SetCheck};
    /// assert_eq!(SetCheck::new(Profile::Strict, 7).name(0), b""); // no file was added
    /// ```
    pub fn name(&self, finding: usize) -> &[u8] {
        self.found.names.get(finding).map_or(&[], Text::as_bytes)
    }

    /// Counts of all findings.
    ///
    /// ```
    /// # use weighbridge::{Profile, SetCheck};
    /// assert_eq!(SetCheck::new(Profile::Strict, 7).tally().total(), 0); // no file was added
    /// ```
    pub fn tally(&self) -> &Tally {
        &self.found.tally
    }

    /// The goals reached in all files.
    ///
    /// ```
    /// # use weighbridge::{Profile, SetCheck};
    /// assert!(SetCheck::new(Profile::Strict, 7).checked().is_empty()); // no file was added
    /// ```
    pub fn checked(&self) -> &'static [&'static str] {
        self.checked.unwrap_or_default()
    }

    /// Whether the data of some tensor is subject to rules.
    ///
    /// ```
    /// # use weighbridge::{Profile, SetCheck};
    /// assert!(!SetCheck::new(Profile::Strict, 7).is_ruled()); // no file was added
    /// ```
    pub fn is_ruled(&self) -> bool {
        self.is_ruled
    }

    /// Whether the files are compared with one another: by an index, or as parts of a split
    /// GGUF.
    ///
    /// ```
    /// # use weighbridge::{Profile, SetCheck};
    /// assert!(!SetCheck::new(Profile::Strict, 7).is_compared()); // no file was added
    /// ```
    pub fn is_compared(&self) -> bool {
        matches!(self.set, Set::Shards(_) | Set::Splits(..))
    }

    /// The name and the diagnosis of the first file that has one.
    ///
    /// ```
    /// # use weighbridge::{Profile, SetCheck};
    /// assert_eq!(SetCheck::new(Profile::Strict, 7).diagnosis(), None); // no file was added
    /// ```
    pub fn diagnosis(&self) -> Option<(&str, &Diagnosis)> {
        self.diagnosis.as_ref().map(|(name, diagnosis)| (name.as_str(), diagnosis))
    }

    /// The layout of all files, as if they were concatenated.
    ///
    /// ```
    /// # use weighbridge::{Profile, SetCheck};
    /// assert!(SetCheck::new(Profile::Strict, 7).map().areas().is_empty()); // no file was added
    /// ```
    pub fn map(&self) -> &FileMap {
        &self.map
    }

    /// For each file, the number of listed tensors, and how many of them it has.
    ///
    /// ```
    /// # use weighbridge::{Profile, SetCheck};
    /// assert!(SetCheck::new(Profile::Strict, 7).counts().is_none()); // there is no index
    /// ```
    pub fn counts(&self) -> Option<Vec<(u32, u32)>> {
        match &self.set {
            Set::Shards(set) => Some(set.counts()),
            _ => None,
        }
    }
}
