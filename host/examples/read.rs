//! Lists the tensors of a file and reads one: `cargo run --example read FILE [NAME]`.

use weighbridge::{Error, Model};

fn list(model: &Model<'_>) -> Result<(), Error> {
    for tensor in model.tensors() {
        let tensor = tensor?;
        println!("{}  {}  {}", tensor.name(), tensor.dtype().name(), tensor.shape());
    }
    Ok(())
}

/// Reads any element type and compression: bf16 and f16 are widened, GGUF blocks are
/// dequantised and zstd is decompressed.
fn read(model: &Model<'_>, name: &str) -> Result<Vec<f32>, Error> {
    model.tensor(name)?.to_vec()
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut args = std::env::args().skip(1);
    let model = Model::open(args.next().ok_or("which file?")?)?;
    match args.next() {
        Some(name) => println!("{:?}", read(&model, &name)?),
        None => list(&model)?,
    }
    Ok(())
}

#[test]
fn tensors_are_listed_and_read() {
    let bytes = weighbridge_tests::samples::safetensors();
    let model = Model::from_bytes(&bytes).expect("opens");
    list(&model).expect("lists");
    assert_eq!(read(&model, "emb").expect("reads")[5], 5.0);
    let bytes = weighbridge_tests::samples::compressed();
    let model = Model::from_bytes(&bytes).expect("opens");
    assert_eq!(read(&model, "z").expect("decodes"), [0.0; 1000]);
}
