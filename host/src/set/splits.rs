//! Whether the parts of a split GGUF model match, from what is known of each.
//!
//! A part knows its number and the number of parts. The others lie beside it, under names that
//! end with both: `-00001-of-00003.gguf`. The first part that is present describes the set.

use super::{Find, Member, hash, named};
use crate::base::text::Text;
use crate::list::part::{Number, SetPart};
use alloc::borrow::ToOwned as _;
use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::String;
use weighbridge_core::format::gguf::rules;
use weighbridge_core::{EntryKind, Finding, Name, Rule, Subject};

/// Number of digits in a part's name.
const DIGITS: usize = 5;

/// The name of a part: the stem before its number, and both numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PartName {
    stem: String,
    /// Counted from 1.
    pub(crate) no: u64,
    pub(crate) count: u64,
}

impl PartName {
    pub(crate) fn of(name: &str) -> Option<Self> {
        let (rest, count) = split_number(name.strip_suffix(".gguf")?)?;
        let (stem, no) = split_number(rest.strip_suffix("-of")?)?;
        (no > 0 && no <= count).then(|| PartName { stem: stem.to_owned(), no, count })
    }

    /// The name of part `no`, counted from 1.
    pub(crate) fn part(&self, no: u64) -> String {
        let PartName { stem, count, .. } = self;
        format!("{stem}-{no:0DIGITS$}-of-{count:0DIGITS$}.gguf")
    }
}

/// Splits a dash and a five-digit number off the end of a name.
fn split_number(name: &str) -> Option<(&str, u64)> {
    let (rest, digits) = name.split_at_checked(name.len().checked_sub(DIGITS)?)?;
    let all = digits.bytes().all(|byte| byte.is_ascii_digit());
    Some((rest.strip_suffix('-')?, digits.parse().ok().filter(|_| all)?))
}

/// The parts of a split GGUF, as described by the first part that is present. Reads nothing
/// itself.
///
/// ```
/// use weighbridge::weighbridge_core::{Name, NameEncoding};
/// use weighbridge::{Goal, Member, Options, Session, SetPart, SplitSet};
///
/// # let bytes = weighbridge_tests::samples::part();
/// let mut session = Session::whole(&bytes, Options::new()); // the first of three parts
/// session.advance(Goal::Header);
/// let mut stated = SetPart::default();
/// session.ask(|file, source| stated.read(source, file))?;
///
/// let mut found = Vec::new();
/// let mut find = |finding: weighbridge::Finding, _: &dyn Fn() -> _| found.push(finding.rule.id());
/// let mut set = SplitSet::of(&stated, "m-00001-of-00003.gguf", 7, &mut find).unwrap();
/// assert_eq!(set.files().nth(1).unwrap(), "m-00002-of-00003.gguf");
/// set.tensor(&Name::new(b"x", NameEncoding::Plain));
/// set.file(1, Member::Valid, 1, &mut find);
/// set.file(2, Member::Missing, 0, &mut find);
/// set.tensor(&Name::new(b"x", NameEncoding::Plain));
/// set.file(3, Member::Valid, 1, &mut find);
/// set.finish(&mut find);
/// assert_eq!(found, ["KEYS-SPLIT-MISSING", "KEYS-SPLIT-TWICE"]);
/// # Ok::<(), weighbridge::weighbridge_core::Stop>(())
/// ```
#[derive(Clone, Debug)]
pub struct SplitSet {
    name: PartName,
    count: Number,
    /// The stated number of tensors.
    total: Option<Number>,
    seed: u64,
    /// Hashes of the tensor names seen so far.
    names: BTreeSet<u128>,
    tensors: u64,
    /// A tensor of the current part that an earlier part also has.
    twice: Option<Text>,
    complete: bool,
}

impl SplitSet {
    /// Creates the set of a part, and compares its numbers with those in the file name, which
    /// count from 1. `None` if they differ, or the part is not in a set.
    ///
    /// ```
    /// # let bytes = weighbridge_tests::samples::part();
    /// # let mut session = weighbridge::Session::whole(&bytes, weighbridge::Options::new());
    /// # session.advance(weighbridge::Goal::Header);
    /// # let mut stated = weighbridge::SetPart::default();
    /// # session.ask(|file, source| stated.read(source, file))?;
    /// let set = weighbridge::SplitSet::of(&stated, "m-00002-of-00003.gguf", 7, &mut |finding, _| {
    ///     assert_eq!(finding.rule.id(), "KEYS-SPLIT-OTHER"); // it says that it is the first
    /// });
    /// assert!(set.is_none());
    /// # Ok::<(), weighbridge::weighbridge_core::Stop>(())
    /// ```
    pub fn of(stated: &SetPart, file_name: &str, seed: u64, find: Find<'_>) -> Option<Self> {
        let (no, count) = (stated.no?, stated.count.filter(|count| count.value > 1)?);
        let name = PartName::of(file_name)?;
        let mut find = |rule, number: &Number, expected, key: &str| {
            find(finding(rule, number, expected, number.value), &|| Some(Text::from(key)));
        };
        let named = name.no - 1;
        if no.value != named {
            find(rules::SPLIT_OTHER, &no, named, "split.no");
        }
        if count.value != name.count {
            find(rules::SPLIT_COUNT, &count, name.count, "split.count");
        }
        (no.value == named && count.value == name.count).then(|| SplitSet {
            name,
            count,
            total: stated.tensors,
            seed,
            names: BTreeSet::new(),
            tensors: 0,
            twice: None,
            complete: true,
        })
    }

    /// The names of all parts.
    ///
    /// ```
    /// # let bytes = weighbridge_tests::samples::part();
    /// # let mut session = weighbridge::Session::whole(&bytes, weighbridge::Options::new());
    /// # session.advance(weighbridge::Goal::Header);
    /// # let mut stated = weighbridge::SetPart::default();
    /// # session.ask(|file, source| stated.read(source, file))?;
    /// let set = weighbridge::SplitSet::of(&stated, "m-00001-of-00003.gguf", 7, &mut |_, _| ());
    /// assert_eq!(set.unwrap().files().last().unwrap(), "m-00003-of-00003.gguf");
    /// # Ok::<(), weighbridge::weighbridge_core::Stop>(())
    /// ```
    pub fn files(&self) -> impl Iterator<Item = String> {
        (1..=self.name.count).map(|no| self.name.part(no))
    }

    /// Records the name of a tensor in the part to be reported next.
    ///
    /// ```
    /// # let bytes = weighbridge_tests::samples::part();
    /// # let mut session = weighbridge::Session::whole(&bytes, weighbridge::Options::new());
    /// # session.advance(weighbridge::Goal::Header);
    /// # let mut stated = weighbridge::SetPart::default();
    /// # session.ask(|file, source| stated.read(source, file))?;
    /// use weighbridge::weighbridge_core::{Name, NameEncoding};
    ///
    /// let set = weighbridge::SplitSet::of(&stated, "m-00001-of-00003.gguf", 7, &mut |_, _| ());
    /// set.unwrap().tensor(&Name::new(b"x", NameEncoding::Plain));
    /// # Ok::<(), weighbridge::weighbridge_core::Stop>(())
    /// ```
    pub fn tensor(&mut self, name: &Name<'_>) {
        if !self.names.insert(hash(self.seed, name)) && self.twice.is_none() {
            self.twice = named(name);
        }
    }

    /// Records a part, counted from 1, that states `tensors` tensors. Its tensor names come
    /// first.
    ///
    /// ```
    /// # let bytes = weighbridge_tests::samples::part();
    /// # let mut session = weighbridge::Session::whole(&bytes, weighbridge::Options::new());
    /// # session.advance(weighbridge::Goal::Header);
    /// # let mut stated = weighbridge::SetPart::default();
    /// # session.ask(|file, source| stated.read(source, file))?;
    /// let set = weighbridge::SplitSet::of(&stated, "m-00001-of-00003.gguf", 7, &mut |_, _| ());
    /// set.unwrap().file(3, weighbridge::Member::Missing, 0, &mut |finding, name| {
    ///     assert_eq!(finding.rule.id(), "KEYS-SPLIT-MISSING");
    ///     assert_eq!(name().unwrap(), "m-00003-of-00003.gguf");
    /// });
    /// # Ok::<(), weighbridge::weighbridge_core::Stop>(())
    /// ```
    pub fn file(&mut self, no: u64, member: Member, tensors: u64, find: Find<'_>) {
        let twice = self.twice.take();
        self.tensors = self.tensors.saturating_add(tensors);
        if no == self.name.no {
            return;
        }
        self.complete &= member == Member::Valid;
        let mut find = |rule, entry: &dyn Fn() -> Option<Text>| {
            find(finding(rule, &self.count, self.name.count, no), entry);
        };
        let file = || Some(Text::from(self.name.part(no).as_str()));
        match member {
            Member::Valid | Member::Unread => {}
            Member::Invalid | Member::Outside => find(rules::SPLIT_INVALID, &file),
            Member::Missing => find(rules::SPLIT_MISSING, &file),
        }
        if let Some(twice) = twice {
            find(rules::SPLIT_TWICE, &|| Some(twice.clone()));
        }
    }

    /// Reports a total number of tensors that differs from the stated one.
    ///
    /// ```
    /// # let bytes = weighbridge_tests::samples::part();
    /// # let mut session = weighbridge::Session::whole(&bytes, weighbridge::Options::new());
    /// # session.advance(weighbridge::Goal::Header);
    /// # let mut stated = weighbridge::SetPart::default();
    /// # session.ask(|file, source| stated.read(source, file))?;
    /// let set = weighbridge::SplitSet::of(&stated, "m-00001-of-00003.gguf", 7, &mut |_, _| ());
    /// set.unwrap().finish(&mut |finding, _| assert_eq!(finding.rule.id(), "KEYS-SPLIT-TOTAL"));
    /// # Ok::<(), weighbridge::weighbridge_core::Stop>(())
    /// ```
    pub fn finish(&self, find: Find<'_>) {
        if let Some(stated) = self.total
            && self.complete
            && stated.value != self.tensors
        {
            let finding = finding(rules::SPLIT_TOTAL, &stated, stated.value, self.tensors);
            find(finding, &|| Some(Text::from("split.tensors.count")));
        }
    }

    /// The number of the part that describes the set, counted from 1.
    pub(crate) fn no(&self) -> u64 {
        self.name.no
    }
}

fn finding(rule: Rule, number: &Number, expected: u64, found: u64) -> Finding {
    Finding {
        offset: number.span.offset,
        expected,
        found,
        len: u32::try_from(number.span.len).unwrap_or(u32::MAX),
        entry: number.entry,
        part: Subject::NO_PART,
        rule,
        kind: EntryKind::Metadata,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gguf_part_name_is_parsed() {
        let of = |name: &str| PartName::of(name).map(|name| (name.stem, name.no, name.count));
        assert_eq!(of("big-00002-of-00011.gguf"), Some(("big".to_owned(), 2, 11)));
        assert_eq!(of("x-00001-of-00001-00001-of-00002.gguf").unwrap().0, "x-00001-of-00001");
        for none in [
            "big.gguf",
            "big-2-of-11.gguf",
            "big-00000-of-00002.gguf",
            "big-00003-of-00002.gguf",
            "big-00001-of-00002.bin",
            "big-+0001-of-00002.gguf",
            "é-001-of-00002.gguf",
        ] {
            assert!(of(none).is_none(), "{none}");
        }
        let name = PartName::of("big-00002-of-00011.gguf").unwrap();
        assert_eq!(name.part(1), "big-00001-of-00011.gguf");
    }
}
