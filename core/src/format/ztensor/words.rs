//! Words of the specification, in lists with a space after each.

use crate::model::Name;

/// Index of `name` in `list`, ignoring case, and whether its case is right.
pub(super) fn find(list: &[u8], name: &Name<'_>) -> Option<(u8, bool)> {
    let mut place = 0_u8;
    let (mut bytes, mut same, mut exact) = (name.bytes(), true, true);
    for letter in list {
        let byte = bytes.next();
        if *letter != b' ' {
            same &= byte.is_some_and(|byte| byte.to_ascii_lowercase() == *letter);
            exact &= byte == Some(*letter);
        } else if same && byte.is_none() {
            return Some((place, exact));
        } else {
            place = place.wrapping_add(1);
            (bytes, same, exact) = (name.bytes(), true, true);
        }
    }
    None
}
