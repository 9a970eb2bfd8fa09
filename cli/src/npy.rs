//! The header of NumPy's .npy files, version 1.0.

/// The most axes that an array of NumPy has: `NPY_MAXDIMS` since version 2.0, and 32
/// before.
pub(crate) const MOST_AXES: usize = 64;

/// The whole header, up to the first byte of data, for an array of at most
/// [`MOST_AXES`] axes. `descr` is NumPy's type string, such as `<f4`; `fortran` is
/// whether the first axis is the fastest, not the last.
pub(crate) fn header(descr: &str, shape: &[u64], fortran: bool) -> Vec<u8> {
    let order = if fortran { "True" } else { "False" };
    let mut dict = format!("{{'descr': '{descr}', 'fortran_order': {order}, 'shape': (");
    for (i, dim) in shape.iter().enumerate() {
        if i > 0 {
            dict.push_str(", ");
        }
        dict.push_str(&dim.to_string());
    }
    // One dimension needs the comma that makes it a tuple.
    dict.push_str(if shape.len() == 1 { ",), }" } else { "), }" });

    // Magic, version, and a length of two bytes, which is enough for so few axes.
    let total = (PREFIX + dict.len() + 1).next_multiple_of(64);
    let mut out = Vec::with_capacity(total);
    out.extend_from_slice(b"\x93NUMPY\x01\x00");
    out.extend_from_slice(&((total - PREFIX) as u16).to_le_bytes());
    out.extend_from_slice(dict.as_bytes());
    // So that the data is aligned to 64 bytes.
    out.resize(total - 1, b' ');
    out.push(b'\n');
    out
}

/// What stands before the text.
const PREFIX: usize = 10;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_is_what_numpy_writes() {
        let matrix = header("<f4", &[2, 3], false);
        assert_eq!(matrix.len(), 128);
        assert_eq!(&matrix[..10], b"\x93NUMPY\x01\x00\x76\x00");
        let text = b"{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }  ";
        assert_eq!(&matrix[10..10 + text.len()], text);
        assert_eq!(matrix.last(), Some(&b'\n'));
        let columns = String::from_utf8(header("<f4", &[2, 3], true).split_off(10));
        assert!(columns.is_ok_and(|text| text.contains("'fortran_order': True, 'shape': (2, 3)")));
    }

    #[test]
    fn scalars_and_vectors_are_tuples() {
        let text =
            |shape: &[u64]| String::from_utf8_lossy(&header("|u1", shape, false)[10..]).into_owned();
        assert!(text(&[]).contains("'shape': (), }"));
        assert!(text(&[7]).contains("'shape': (7,), }"));
    }

    #[test]
    fn as_many_axes_as_numpy_has_fit_into_version_1() {
        let most = header("<f8", &[u64::MAX; MOST_AXES], false);
        assert_eq!(&most[..8], b"\x93NUMPY\x01\x00");
        assert_eq!(most.len() % 64, 0);
        assert_eq!(usize::from(u16::from_le_bytes([most[8], most[9]])) + 10, most.len());
    }
}
