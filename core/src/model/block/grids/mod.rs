//! The tables of ggml's types with codebooks: words of 16 bits, little-endian, the first digit
//! in the lowest bits. `scripts/gguf_blocks.py` writes them.

/// Of `iq1_s` and `iq1_m`: digits of 2 bits for -1, 0 and 1.
pub(super) static IQ1_S: [u8; 4096] = *include_bytes!("iq1_s.bin");

/// Digits of 2 bits for 8, 25 and 43.
pub(super) static IQ2_XXS: [u8; 512] = *include_bytes!("iq2_xxs.bin");

/// The same.
pub(super) static IQ2_XS: [u8; 1024] = *include_bytes!("iq2_xs.bin");

/// The same.
pub(super) static IQ2_S: [u8; 2048] = *include_bytes!("iq2_s.bin");

/// Digits of 3 bits for 4, 12, 20, 28, 36, 44, 52 and 62.
pub(super) static IQ3_XXS: [u8; 512] = *include_bytes!("iq3_xxs.bin");

/// Digits of 3 bits for 1, 3, 5 and so on.
pub(super) static IQ3_S: [u8; 1024] = *include_bytes!("iq3_s.bin");
