//! Copies in steps of several bytes.

/// Copies `N` bytes within a buffer.
#[inline(always)]
pub(super) fn chunk<const N: usize>(bytes: &mut [u8], from: usize, to: usize) -> Option<()> {
    store::<N>(bytes, to, load::<N>(bytes, from)?)
}

#[inline(always)]
pub(super) fn load<const N: usize>(bytes: &[u8], at: usize) -> Option<[u8; N]> {
    bytes.get(at..at.wrapping_add(N))?.first_chunk().copied()
}

#[inline(always)]
pub(super) fn store<const N: usize>(bytes: &mut [u8], at: usize, value: [u8; N]) -> Option<()> {
    *bytes.get_mut(at..at.wrapping_add(N))?.first_chunk_mut()? = value;
    Some(())
}

/// Copies `len` bytes, and up to `N - 1` more, to a place at least `N` bytes later, or anywhere
/// earlier.
#[inline(always)]
pub(super) fn copy<const N: usize>(
    bytes: &mut [u8],
    mut from: usize,
    mut to: usize,
    len: usize,
) -> Option<()> {
    let end = to.wrapping_add(len);
    loop {
        chunk::<N>(bytes, from, to)?;
        to = to.wrapping_add(N);
        from = from.wrapping_add(N);
        if to >= end {
            return Some(());
        }
    }
}

/// Moves `len` bytes to an earlier place, and touches nothing else.
#[inline(never)]
pub(in super::super) fn move_down(
    bytes: &mut [u8],
    from: usize,
    to: usize,
    len: usize,
) -> Option<()> {
    let whole = len & !63;
    if whole > 0 {
        copy::<64>(bytes, from, to, whole)?;
    }
    for i in whole..len {
        chunk::<1>(bytes, from.wrapping_add(i), to.wrapping_add(i))?;
    }
    Some(())
}
