//! Small sound files for examples in documentation.

use crate::encode::safetensors::{File, Tensor};

fn file(tensor: Tensor) -> Vec<u8> {
    let metadata = vec![("format".to_owned(), "pt".to_owned())];
    File { metadata: Some(metadata), tensors: vec![tensor] }.encode()
}

/// One tensor `emb` of type bf16 and shape \[2, 3\] with the elements 0 to 5.
pub fn safetensors() -> Vec<u8> {
    let mut tensor = Tensor::new("emb", "BF16", &[2, 3]);
    let upper = |value: u8| (f32::from(value).to_bits() >> 16) as u16;
    tensor.data = (0..6).flat_map(|value| upper(value).to_le_bytes()).collect();
    file(tensor)
}

/// One tensor `bias` of type f32 with the elements 0.5 and -0.5, aligned to 4 bytes.
pub fn aligned() -> Vec<u8> {
    let mut tensor = Tensor::new("bias", "F32", &[2]);
    tensor.data = [0.5_f32, -0.5].iter().flat_map(|value| value.to_le_bytes()).collect();
    file(tensor)
}
