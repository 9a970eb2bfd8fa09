//! What loading the pickles of a file would do, in one sentence.

use crate::base::text::Text;
use crate::check::pickle_part::PicklePart;
use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use weighbridge_core::pickle::{PICKLE_LIST, Standing};
use weighbridge_core::{Rule, general};

/// The pickles of a file, and what loading them would do.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pickles {
    pub(crate) count: u64,
    /// The first name that would be run, and the first that would be imported.
    pub(crate) runs: Option<Arc<str>>,
    pub(crate) imports: Option<Arc<str>>,
    pub(crate) inert: Option<Arc<str>>,
    pub(crate) others: u64,
    pub(crate) broken: bool,
    pub(crate) left: bool,
    /// Shared, because reports are copied.
    pub(crate) globals: Arc<Vec<Global>>,
    /// Where the pickles are; the first ones.
    pub(crate) parts: Arc<Vec<PicklePart>>,
    pub(crate) more_globals: bool,
}

/// What a pickle imports.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Global {
    pub(crate) name: Arc<str>,
    pub(crate) offset: u64,
    pub(crate) standing: Standing,
    pub(crate) called: bool,
    /// The offset among decoded bytes, in a compressed member.
    pub(crate) decoded: Option<u64>,
    /// The number of the pickle that imports it first.
    pub(crate) part: u64,
}

#[cfg(feature = "serde")]
impl serde::Serialize for Global {
    fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        use serde::ser::SerializeStruct as _;
        let mut object = to.serialize_struct("Global", 4)?;
        object.serialize_field("name", self.name())?;
        object.serialize_field("standing", self.standing())?;
        object.serialize_field("called", &self.called)?;
        object.serialize_field("offset", &self.offset)?;
        object.end()
    }
}

impl Global {
    /// Module and attribute, joined by a dot.
    ///
    /// ```
    /// let report = weighbridge::check(b"cposix\nsystem\n(S'true'\ntR.")?;
    /// let global = &report.pickles().unwrap().globals()[0];
    /// assert_eq!(global.name(), "posix.system");
    /// # Ok::<(), weighbridge::Error>(())
    /// ```
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The offset of the first import in the file. In a compressed member of an archive, the offset
    /// of the member.
    ///
    /// ```
    /// let report = weighbridge::check(b"cposix\nsystem\n(S'true'\ntR.")?;
    /// let global = &report.pickles().unwrap().globals()[0];
    /// assert_eq!(global.offset(), 0);
    /// # Ok::<(), weighbridge::Error>(())
    /// ```
    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// The offset of the first import among the decoded bytes, if its member is compressed.
    ///
    /// ```
    /// let report = weighbridge::check(b"cposix\nsystem\n(S'true'\ntR.")?;
    /// assert_eq!(report.pickles().unwrap().globals()[0].decoded_offset(), None);
    /// # Ok::<(), weighbridge::Error>(())
    /// ```
    pub fn decoded_offset(&self) -> Option<u64> {
        self.decoded
    }

    /// The number of the pickle that imports it first, among the [parts](Pickles::parts).
    ///
    /// ```
    /// let report = weighbridge::check(b"cposix\nsystem\n(S'true'\ntR.")?;
    /// assert_eq!(report.pickles().unwrap().globals()[0].part(), 0);
    /// # Ok::<(), weighbridge::Error>(())
    /// ```
    pub fn part(&self) -> u64 {
        self.part
    }

    /// Whether loading the pickle would call it, not only import it.
    ///
    /// ```
    /// let report = weighbridge::check(b"cposix\nsystem\n(S'true'\ntR.")?;
    /// let global = &report.pickles().unwrap().globals()[0];
    /// assert!(global.is_called());
    /// # Ok::<(), weighbridge::Error>(())
    /// ```
    pub fn is_called(&self) -> bool {
        self.called
    }

    /// "listed" if `torch.load(weights_only=True)` allows it, "plain data" if it is known to be
    /// harmless, or else "not listed".
    ///
    /// ```
    /// let report = weighbridge::check(b"cposix\nsystem\n(S'true'\ntR.")?;
    /// let global = &report.pickles().unwrap().globals()[0];
    /// assert_eq!(global.standing(), "not listed");
    /// # Ok::<(), weighbridge::Error>(())
    /// ```
    pub fn standing(&self) -> &'static str {
        match self.standing {
            Standing::Listed | Standing::Function => "listed",
            Standing::Inert => "plain data",
            _ => "not listed",
        }
    }
}

impl Pickles {
    /// Number of pickles.
    ///
    /// ```
    /// let report = weighbridge::check(b"\x80\x02}.")?;
    /// assert_eq!(report.pickles().unwrap().count(), 1);
    /// # Ok::<(), weighbridge::Error>(())
    /// ```
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Where they are, in the order in which they were followed; at most 1,000.
    ///
    /// ```
    /// let report = weighbridge::check(b"\x80\x02}.")?;
    /// let [part] = report.pickles().unwrap().parts() else { panic!() };
    /// assert_eq!((part.offset(), part.len(), part.name()), (0, 4, None));
    /// # Ok::<(), weighbridge::Error>(())
    /// ```
    pub fn parts(&self) -> &[PicklePart] {
        &self.parts
    }

    /// What they import, in the order of the file, each name once; at most 1,000 names.
    ///
    /// ```
    /// let report = weighbridge::check(b"cposix\nsystem\n(S'true'\ntR.")?;
    /// let [global] = report.pickles().unwrap().globals() else { panic!() };
    /// assert_eq!((global.name(), global.standing()), ("posix.system", "not listed"));
    /// assert!(global.is_called());
    /// # Ok::<(), weighbridge::Error>(())
    /// ```
    pub fn globals(&self) -> &[Global] {
        &self.globals
    }

    /// Whether they import more names than are [listed](Self::globals).
    ///
    /// ```
    /// let report = weighbridge::check(b"\x80\x02}.")?;
    /// assert!(!report.pickles().unwrap().has_more_globals());
    /// # Ok::<(), weighbridge::Error>(())
    /// ```
    pub fn has_more_globals(&self) -> bool {
        self.more_globals
    }

    /// Whether loading them would import or run what `torch.load(weights_only=True)` refuses, or
    /// one is broken.
    ///
    /// ```
    /// let report = weighbridge::check(b"cposix\nsystem\n(S'true'\ntR.")?;
    /// assert!(report.pickles().unwrap().are_unsafe());
    /// # Ok::<(), weighbridge::Error>(())
    /// ```
    pub fn are_unsafe(&self) -> bool {
        self.runs.is_some() || self.imports.is_some() || self.inert.is_some() || self.broken
    }

    /// Whether loading them may run code: they are unsafe, or were not followed to their ends.
    ///
    /// ```
    /// let report = weighbridge::check(b"\x80\x02}.")?;
    /// assert!(!report.pickles().unwrap().can_run_code());
    /// # Ok::<(), weighbridge::Error>(())
    /// ```
    pub fn can_run_code(&self) -> bool {
        self.are_unsafe() || self.left
    }

    /// What loading them would do, as the end of a sentence on the file.
    ///
    /// ```
    /// let report = weighbridge::check(b"cposix\nsystem\n(S'true'\ntR.")?;
    /// assert_eq!(report.pickles().unwrap().sentence(), "which would run posix.system");
    /// # Ok::<(), weighbridge::Error>(())
    /// ```
    pub fn sentence(&self) -> String {
        let more = match self.others {
            0 | 1 => String::new(),
            n => format!(" and {} more", crate::base::text::plural(n - 1, "name")),
        };
        match (&self.runs, &self.imports, &self.inert) {
            (Some(name), ..) => format!("which would run {name}{more}"),
            (_, Some(name), _) => format!("which would import {name}{more}"),
            _ if self.broken => "which is broken".into(),
            (.., Some(name)) => format!("which would make {name}{more}, known to be plain data"),
            _ if self.left => "which can run code when it is loaded: not all of it was read".into(),
            _ => format!("which imports nothing off the list of torch.load ({PICKLE_LIST})"),
        }
    }
}

/// What a finding says beyond its rule.
#[derive(Clone, Debug)]
pub(crate) struct Said {
    /// The member of an archive.
    pub(crate) entry: Option<Arc<Text>>,
    pub(crate) message: Arc<str>,
}

/// Whether a rule is about what a pickle would do.
pub(crate) fn is_of_pickles(rule: Rule) -> bool {
    [general::PICKLE_GLOBAL, general::PICKLE_INERT, general::PICKLE_FAULT].contains(&rule)
}
