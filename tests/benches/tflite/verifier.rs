//! Verifiers of a TensorFlow Lite model as `flatc --rust` generates them from its schema: the tables that
//! real models have, and the options of the operators in the benchmark.

use flatbuffers::{
    ForwardsUOffset, InvalidFlatbuffer, Vector, Verifiable, Verifier, VerifierOptions,
};

/// A vector of tables or strings.
type Tables<T> = Vector<'static, ForwardsUOffset<T>>;

/// Declares a table with its fields: the offset in the vtable, and the type.
macro_rules! table {
    ($name:ident { $($offset:literal: $type:ty),* $(,)? } $($union:tt)*) => {
        struct $name;

        impl Verifiable for $name {
            fn run_verifier(v: &mut Verifier<'_, '_>, at: usize) -> Result<(), InvalidFlatbuffer> {
                v.visit_table(at)?
                    $(.visit_field::<$type>(stringify!($offset), $offset, false)?)*
                    $($union)*
                    .finish();
                Ok(())
            }
        }
    };
}

table!(Model {
    4: u32,
    6: ForwardsUOffset<Tables<OperatorCode>>,
    8: ForwardsUOffset<Tables<SubGraph>>,
    10: ForwardsUOffset<&str>,
    12: ForwardsUOffset<Tables<Buffer>>,
    14: ForwardsUOffset<Vector<'_, i32>>,
    16: ForwardsUOffset<Tables<Metadata>>,
    18: ForwardsUOffset<Tables<Signature>>,
});
table!(OperatorCode { 4: i8, 6: ForwardsUOffset<&str>, 8: i32, 10: i32, });
table!(SubGraph {
    4: ForwardsUOffset<Tables<Tensor>>,
    6: ForwardsUOffset<Vector<'_, i32>>,
    8: ForwardsUOffset<Vector<'_, i32>>,
    10: ForwardsUOffset<Tables<Operator>>,
    12: ForwardsUOffset<&str>,
    14: i32,
});
table!(Tensor {
    4: ForwardsUOffset<Vector<'_, i32>>,
    6: i8,
    8: u32,
    10: ForwardsUOffset<&str>,
    12: ForwardsUOffset<Quantization>,
    14: bool,
    18: ForwardsUOffset<Vector<'_, i32>>,
    20: bool,
    24: u32,
});
table!(Quantization {
    4: ForwardsUOffset<Vector<'_, f32>>,
    6: ForwardsUOffset<Vector<'_, f32>>,
    8: ForwardsUOffset<Vector<'_, f32>>,
    10: ForwardsUOffset<Vector<'_, i64>>,
    16: i32,
});
table!(Operator {
    4: u32,
    6: ForwardsUOffset<Vector<'_, i32>>,
    8: ForwardsUOffset<Vector<'_, i32>>,
    14: ForwardsUOffset<Vector<'_, u8>>,
    16: i8,
    18: ForwardsUOffset<Vector<'_, bool>>,
    20: ForwardsUOffset<Vector<'_, i32>>,
    22: u64,
    24: u64,
    30: i32,
} .visit_union::<u8, _>("type", 10, "options", 12, false, options)?);
table!(Buffer { 4: ForwardsUOffset<Vector<'_, u8>>, 6: u64, 8: u64, });
table!(Metadata { 4: ForwardsUOffset<&str>, 6: u32, });
table!(Signature {
    4: ForwardsUOffset<Tables<TensorMap>>,
    6: ForwardsUOffset<Tables<TensorMap>>,
    8: ForwardsUOffset<&str>,
    12: u32,
});
table!(TensorMap { 4: ForwardsUOffset<&str>, 6: u32, });
table!(Conv2D { 4: i8, 6: i32, 8: i32, 10: i8, 12: i32, 14: i32, 16: i8 });
table!(Add { 4: i8, 6: bool });

/// The value of `BuiltinOptions`, by its kind.
fn options(kind: u8, v: &mut Verifier<'_, '_>, at: usize) -> Result<(), InvalidFlatbuffer> {
    match kind {
        1 => v.verify_union_variant::<ForwardsUOffset<Conv2D>>("Conv2DOptions", at),
        11 => v.verify_union_variant::<ForwardsUOffset<Add>>("AddOptions", at),
        _ => Ok(()),
    }
}

/// Whether the file is a sound model, as `root_as_model` decides.
pub(crate) fn is_sound(bytes: &[u8]) -> bool {
    let options = VerifierOptions { max_tables: 1 << 30, ..VerifierOptions::default() };
    let mut verifier = Verifier::new(&options, bytes);
    <ForwardsUOffset<Model>>::run_verifier(&mut verifier, 0).is_ok()
}
