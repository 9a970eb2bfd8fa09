//! Samples of zTensor: the first generation, and the second.

use weighbridge_tests::encode::ztensor::later::{Generation, Later, Object, Part};
use weighbridge_tests::encode::ztensor::{self, Checksum};

use crate::Sample;
use crate::data::{bf16_bytes, f32_bytes, weights};
use crate::other::sample;

pub(crate) fn samples() -> Vec<Sample> {
    first().into_iter().chain(second()).collect()
}

fn first() -> Vec<Sample> {
    let make = sample("ztensor", "zTensor");
    let raw = |name: &str, seed, rows: usize, columns: usize| {
        let data = f32_bytes(&weights(seed, rows, columns));
        ztensor::Tensor::raw(name, "float32", &[rows as u64, columns as u64], data)
    };
    let packed = bf16_bytes(&weights(31, 256, 128));
    let row_pointers = [0_u64, 2, 2, 3, 5];
    let columns = [0_u64, 4, 2, 1, 5];
    let csr =
        ztensor::sparse::csr(&row_pointers, &columns, &f32_bytes(&[1.0, -2.0, 3.5, 4.0, -0.5]));
    let file = |broken: bool| {
        let mut encoder = raw("encoder.weight", 30, 128, 64).checksum(Checksum::Crc32c);
        if broken {
            let Some(text) = encoder.checksum_text() else { return Vec::new() };
            encoder = encoder.checksum(Checksum::Text(text));
            encoder.blob[1000] ^= 0x40;
        }
        let mut bias =
            ztensor::Tensor::raw("encoder.bias", "float32", &[64], f32_bytes(&weights(33, 1, 64)));
        if broken {
            bias.shape = vec![65];
        }
        ztensor::File::of([
            encoder,
            bias,
            ztensor::Tensor::zstd("decoder.weight", "bfloat16", &[256, 128], &packed)
                .checksum(Checksum::Sha256),
            ztensor::Tensor::raw(
                "decoder.bias",
                "float32",
                &[128],
                f32_bytes(&weights(34, 1, 128)),
            )
            .big_endian(),
            ztensor::Tensor::raw("links", "float32", &[4, 6], csr.clone()).layout("sparsecsr"),
        ])
        .encode()
    };
    vec![
        make(
            "ztensor",
            "autoencoder.zt",
            true,
            "Checksums, zstd, big-endian data, a sparse matrix",
            file(false),
        ),
        make(
            "ztensor-broken",
            "autoencoder-broken.zt",
            false,
            "A wrong checksum, and a shape that the data does not fill",
            file(true),
        ),
    ]
}

/// zTensor 2: pages of 4096 bytes, digests of parts, and a manifest at the end.
fn second() -> Vec<Sample> {
    let make = sample("ztensor", "zTensor");
    let file = |broken: bool| {
        let part = |role: &str, dtype: &str, blob: Vec<u8>| Part::raw(role, dtype, blob).xxh3();
        let mut weight = part("data", "f32", f32_bytes(&weights(35, 96, 64)));
        let mut bias = part("data", "f32", f32_bytes(&weights(36, 1, 96)));
        if broken {
            weight.blob[2000] ^= 0x40;
            bias.blob.truncate(200);
        }
        let packed = bf16_bytes(&weights(37, 128, 96));
        let stored = ztensor::later::seekable(&packed, 1 << 13);
        let packed = part("data", "bf16", packed).encoded("zt.zstd-seekable/1", stored);
        Later::of(
            Generation::V2,
            [
                Object::of("encoder.bias", &[96], "dense", vec![bias]),
                Object::of("encoder.weight", &[96, 64], "dense", vec![weight]),
                Object::of("decoder.weight", &[128, 96], "dense", vec![packed]),
            ],
        )
        .encode()
    };
    vec![
        make(
            "ztensor-2",
            "autoencoder-2.zt",
            true,
            "Generation 2: digests of parts, zstd in frames",
            file(false),
        ),
        make(
            "ztensor-2-broken",
            "autoencoder-2-broken.zt",
            false,
            "A part that differs from its digest, and one that is too short",
            file(true),
        ),
    ]
}
