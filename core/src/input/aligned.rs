//! Files embedded in the program, aligned as their format requires.

/// Includes a file as `&'static [u8]` whose address is a multiple of `align`,
/// a power of two.
///
/// `include_bytes!` guarantees no alignment, so an offset that is aligned in the file may
/// not be aligned in memory. The path is relative to the calling source file, as with
/// `include_bytes!`.
///
/// ```
/// // In firmware this is a model: include_aligned!(64, "../model.stb").
/// static TEXT: &[u8] = weighbridge_core::include_aligned!(64, "aligned.rs");
/// assert_eq!(TEXT.as_ptr().align_offset(64), 0);
/// ```
#[macro_export]
macro_rules! include_aligned {
    ($align:tt, $path:expr $(,)?) => {{
        #[repr(C, align($align))]
        struct Aligned<T: ?::core::marker::Sized>(T);
        static ALIGNED: &Aligned<[u8]> = &Aligned(*::core::include_bytes!($path));
        &ALIGNED.0
    }};
}

#[cfg(test)]
mod tests {
    #[test]
    fn aligned_bytes_keep_both_ends() {
        let text = include_aligned!(4096, "aligned.rs");
        assert_eq!(text, include_bytes!("aligned.rs"));
        assert_eq!(text.as_ptr().align_offset(4096), 0);
    }
}
