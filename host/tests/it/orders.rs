//! The same array in every container, storage order, byte order and encoding.

use weighbridge::Model;
use weighbridge_tests::encode::npy::Npy;
use weighbridge_tests::encode::npz::{Member, Npz};
use weighbridge_tests::encode::safetensors::raw;

const SHAPE: [usize; 3] = [3, 4, 5];

/// The elements in row-major order.
fn expected() -> Vec<f64> {
    (0..60).map(|i| f64::from(i) * 0.5 - 7.0).collect()
}

/// The position in row-major order of element `at` in storage order.
fn stored(at: usize, fortran: bool) -> usize {
    let [first, second, third] = SHAPE;
    match fortran {
        true => (at % first * second + at / first % second) * third + at / (first * second),
        false => at,
    }
}

/// A `.npy` file of the array; of complex numbers, with the negative as the imaginary part.
fn npy(code: &str, big: bool, fortran: bool) -> Npy {
    let order = if fortran { "True" } else { "False" };
    let mark = if big { '>' } else { '<' };
    let mut file = Npy::of(&format!(
        "{{'descr': '{mark}{code}', 'fortran_order': {order}, 'shape': (3, 4, 5), }}"
    ));
    let values = expected();
    let mut put = |value: f64| {
        let mut bytes = match code {
            "f8" => value.to_le_bytes().to_vec(),
            "c8" => (value as f32).to_le_bytes().to_vec(),
            _ => (value as i32).to_le_bytes().to_vec(),
        };
        if big {
            bytes.reverse();
        }
        file.data.extend(bytes);
    };
    for at in 0..values.len() {
        let value = values[stored(at, fortran)];
        put(value);
        if code == "c8" {
            put(-value);
        }
    }
    file
}

/// The array in every form, each in a file of its own, with the form's name.
fn forms(code: &str) -> Vec<(String, Vec<u8>)> {
    let mut all = Vec::new();
    for (big, fortran) in [(false, false), (true, false), (false, true), (true, true)] {
        let array = npy(code, big, fortran);
        let form = format!("{code}, big {big}, fortran {fortran}");
        let archive = |member| Npz::new(vec![member]).encode();
        all.push((format!("npy, {form}"), array.encode()));
        all.push((format!("npz stored, {form}"), archive(Member::new("x", &array))));
        all.push((format!("npz deflated, {form}"), archive(Member::new("x", &array).deflated())));
    }
    all
}

/// The canonical bytes of the only tensor.
fn canonical(bytes: &[u8], form: &str) -> Vec<u8> {
    let model = Model::from_bytes(bytes).unwrap();
    let tensor = model.tensors().next().unwrap().unwrap();
    assert_eq!(tensor.shape(), [3, 4, 5], "{form}");
    let mut all = Vec::new();
    tensor
        .canonical(|piece| {
            all.extend_from_slice(piece);
            Ok::<(), weighbridge::Error>(())
        })
        .unwrap_or_else(|error| panic!("{form}: {error}"));
    all
}

#[test]
fn canonical_bytes_do_not_depend_on_container_order_or_encoding() {
    for code in ["f8", "i4", "c8"] {
        let plain = npy(code, false, false).data;
        for (form, bytes) in forms(code) {
            assert!(canonical(&bytes, &form) == plain, "{form}");
        }
    }
    let header = br#"{"x":{"dtype":"F64","shape":[3,4,5],"data_offsets":[0,480]}}"#;
    let plain = npy("f8", false, false).data;
    let safetensors = raw(header, &plain);
    assert!(canonical(&safetensors, "safetensors") == plain);
}

#[test]
fn values_and_statistics_do_not_depend_on_container_order_or_encoding() {
    let wanted = expected();
    for (form, bytes) in forms("f8") {
        let model = Model::from_bytes(&bytes).unwrap();
        let tensor = model.tensors().next().unwrap().unwrap();
        assert_eq!(tensor.to_vec::<f64>().unwrap(), wanted, "{form}");
        assert_eq!(tensor.slice::<f64>(13..20).unwrap(), wanted[13..20], "{form}");
        let summary = tensor.stats().unwrap().unwrap();
        let ends = [summary.min, summary.max].map(|end| end.unwrap().to_string());
        assert_eq!(ends, ["-7.0", "22.5"], "{form}");
    }
}

/// The array as NumPy would read the extracted file.
fn extracted(bytes: &[u8], form: &str) -> Vec<f64> {
    let model = Model::from_bytes(bytes).unwrap();
    let tensor = model.tensors().next().unwrap().unwrap();
    let mut file = Vec::new();
    tensor
        .npy()
        .unwrap()
        .write(|piece| {
            file.extend_from_slice(piece);
            Ok::<(), weighbridge::Error>(())
        })
        .unwrap_or_else(|error| panic!("{form}: {error}"));
    let len = usize::from(u16::from_le_bytes([file[8], file[9]]));
    let header = String::from_utf8(file[10..10 + len].to_vec()).unwrap();
    let fortran = header.contains("'fortran_order': True");
    let big = header.contains("'>f8'");
    let mut array = vec![f64::NAN; 60];
    for (at, eight) in file[10 + len..].chunks_exact(8).enumerate() {
        let eight: [u8; 8] = eight.try_into().unwrap();
        let value = if big { f64::from_be_bytes(eight) } else { f64::from_le_bytes(eight) };
        array[stored(at, fortran)] = value;
    }
    array
}

#[test]
fn extracted_array_does_not_depend_on_container_order_or_encoding() {
    for (form, bytes) in forms("f8") {
        assert_eq!(extracted(&bytes, &form), expected(), "{form}");
    }
}
