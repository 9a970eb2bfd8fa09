//! The header of NumPy's .npy files, versions 1.0 and 2.0.

/// The whole header, up to the first byte of data, for an array in row-major
/// order. `descr` is NumPy's type string, such as `<f4`.
pub(crate) fn header(descr: &str, shape: &[u64]) -> Vec<u8> {
    let mut dict = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': (");
    for (i, dim) in shape.iter().enumerate() {
        if i > 0 {
            dict.push_str(", ");
        }
        dict.push_str(&dim.to_string());
    }
    // One dimension needs the comma that makes it a tuple.
    dict.push_str(if shape.len() == 1 { ",), }" } else { "), }" });

    // Magic, version, and a length of two bytes; from 64 KiB on, of four.
    let long = padded(dict.len(), 10) - 10 > usize::from(u16::MAX);
    let prefix = if long { 12 } else { 10 };
    let total = padded(dict.len(), prefix);
    let mut out = Vec::with_capacity(total);
    out.extend_from_slice(b"\x93NUMPY");
    out.extend_from_slice(if long { &[2, 0] } else { &[1, 0] });
    let len = (total - prefix) as u32;
    out.extend_from_slice(&len.to_le_bytes()[..prefix - 8]);
    out.extend_from_slice(dict.as_bytes());
    out.resize(total - 1, b' ');
    out.push(b'\n');
    out
}

/// Length of the header: prefix, text and a line feed, padded so that the data
/// behind it are aligned to 64 bytes.
fn padded(text: usize, prefix: usize) -> usize {
    (prefix + text + 1).next_multiple_of(64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_is_what_numpy_writes() {
        let matrix = header("<f4", &[2, 3]);
        assert_eq!(matrix.len(), 128);
        assert_eq!(&matrix[..10], b"\x93NUMPY\x01\x00\x76\x00");
        let text = b"{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }  ";
        assert_eq!(&matrix[10..10 + text.len()], text);
        assert_eq!(matrix.last(), Some(&b'\n'));
    }

    #[test]
    fn scalars_and_vectors_are_tuples() {
        let text =
            |shape: &[u64]| String::from_utf8_lossy(&header("|u1", shape)[10..]).into_owned();
        assert!(text(&[]).contains("'shape': (), }"));
        assert!(text(&[7]).contains("'shape': (7,), }"));
    }

    #[test]
    fn a_rank_that_needs_it_gets_version_2() {
        let big = header("<f8", &vec![1; 40_000]);
        assert_eq!(&big[..8], b"\x93NUMPY\x02\x00");
        assert_eq!(big.len() % 64, 0);
        let len = u32::from_le_bytes([big[8], big[9], big[10], big[11]]);
        assert_eq!(len as usize + 12, big.len());
    }
}
