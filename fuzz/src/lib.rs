//! Connects libFuzzer with the bodies.

pub use {libfuzzer_sys, weighbridge_fuzz_bodies as bodies};

/// A complete fuzz target: the body of this name, in a binary that counts its
/// heap use.
#[macro_export]
macro_rules! target {
    ($name:literal) => {
        #[global_allocator]
        static ALLOCATOR: $crate::bodies::budget::Counting = $crate::bodies::budget::Counting;

        $crate::libfuzzer_sys::fuzz_target!(|input: &[u8]| $crate::bodies::run($name, input));
    };
}
