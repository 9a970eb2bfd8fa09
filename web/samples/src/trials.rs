//! Files for the page's tests: large, odd, hostile.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;

use weighbridge_tests::codec::weights_bf16;
use weighbridge_tests::encode::bintensors::{self, Dtype};
use weighbridge_tests::encode::oinf::{self, Model, Type};
use weighbridge_tests::encode::stb::{self, Stb};
use weighbridge_tests::encode::ztensor;

use crate::data::f32_bytes;
use crate::other::model;

pub(crate) fn write(folder: &Path) -> io::Result<()> {
    fs::write(folder.join("many-10000.oinf"), many(10_000))?;
    fs::write(folder.join("many-100000.bt"), layers(100_000))?;
    fs::write(folder.join("hostile.bt"), hostile())?;
    fs::write(folder.join("weights.zt"), weights(4 << 20))?;
    fs::write(folder.join("changed.oinf"), changed())?;
    big(&folder.join("big.stb"))
}

/// `count` small tensors.
fn many(count: usize) -> Vec<u8> {
    let data = 1.0_f32.to_le_bytes();
    let tensors = (0..count)
        .map(|i| {
            oinf::tensor(
                &format!("layers.{}.experts.{}.weight", i / 100, i % 100),
                Type::F32,
                &[1],
                &data,
            )
        })
        .collect();
    Model { version: 1, sizevars: Vec::new(), metadata: Vec::new(), tensors }.encode().bytes
}

fn layers(count: u64) -> Vec<u8> {
    let tensors = (0..count)
        .map(|i| bintensors::Tensor {
            name: format!("layers.{:04}.experts.{:02}.weight", i / 100, i % 100),
            dtype: Dtype::U8,
            shape: vec![1],
            data: vec![i as u8],
        })
        .collect();
    bintensors::File { metadata: None, tensors }.encode()
}

/// One tensor of bf16 weights, compressed with zstd.
fn weights(count: usize) -> Vec<u8> {
    let data = weights_bf16(count, 9);
    ztensor::File::of([ztensor::Tensor::zstd("weight", "bfloat16", &[count as u64], &data)])
        .encode()
}

/// Names that try to affect the surrounding markup.
fn hostile() -> Vec<u8> {
    let long = "n".repeat(65_536);
    let names = [
        "\u{202e}gnirts\u{202c}",
        "<script>window.hacked = true</script>",
        "<img src=x onerror=window.hacked=true>",
        "__proto__",
        "constructor",
        "line\nbreak\r\u{0}\u{1b}[31m",
        "\u{2066}isolate",
        "=HYPERLINK(\"https://example.invalid\")",
        "",
        &long,
    ];
    let tensors = names
        .iter()
        .map(|name| bintensors::Tensor {
            name: (*name).into(),
            dtype: Dtype::F32,
            shape: vec![1],
            data: f32_bytes(&[1.0]),
        })
        .collect();
    let metadata = vec![
        ("__proto__".into(), "<b>bold</b>\u{202e}".into()),
        ("\u{202e}key".into(), "value".into()),
    ];
    bintensors::File { metadata: Some(metadata), tensors }.sorted().encode()
}

/// The sample model with one tensor removed, one added, one reshaped and one value changed by
/// exactly 2.
fn changed() -> Vec<u8> {
    let mut model = model();
    model.tensors.retain(|tensor| tensor.name != "layers.3.norm.weight");
    model.tensors.push(oinf::tensor("test.added", Type::U8, &[3], &[1, 2, 3]));
    for tensor in &mut model.tensors {
        if tensor.name == "test.cube" {
            tensor.dims = vec![4, 3, 5];
        }
        if let (true, Some(data)) = (tensor.name == "test.ramp", &mut tensor.data) {
            let value = f32::from_le_bytes([data[40], data[41], data[42], data[43]]) + 2.0;
            data[40..44].copy_from_slice(&value.to_le_bytes());
        }
    }
    model.encode().bytes
}

/// A sparse file of 6 GB, of which only the first bytes are on disk.
fn big(path: &Path) -> io::Result<()> {
    let mut tensor = stb::Tensor::new(1, 0, &[1]);
    tensor.rank = 3;
    tensor.dims = [1500, 1000, 1000];
    tensor.size = Some(6_000_000_000);
    let mut file = Stb::new(vec![tensor]);
    file.file_size = Some(6_000_000_064);
    let head = file.encode();
    let mut out = File::create(path)?;
    out.write_all(&head)?;
    out.set_len(6_000_000_064)
}
