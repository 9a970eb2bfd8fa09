//! Words of the specification, in lists with a space between them.

use crate::name::Name;

/// The position of `name` in `list`, letter case aside, and whether its case is
/// right.
#[cfg_attr(not(feature = "windows"), inline(never))]
pub(super) fn find(list: &[u8], name: &Name<'_>) -> Option<(u8, bool)> {
    let same = |word: &[u8]| name.bytes().map(|b| b.to_ascii_lowercase()).eq(word.iter().copied());
    let (place, word) = (0..).zip(list.split(|byte| *byte == b' ')).find(|(_, word)| same(word))?;
    Some((place, name.bytes().eq(word.iter().copied())))
}
