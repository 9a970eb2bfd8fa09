//! The public types stay small: microcontrollers keep them in statics, and they are returned on
//! every path.

use weighbridge_core::*;

#[test]
fn public_type_sizes_are_unchanged() {
    assert_eq!(size_of::<Rule>(), 2);
    assert_eq!(size_of::<Option<Rule>>(), 2);
    assert_eq!(size_of::<Finding>(), 40);
    assert_eq!(size_of::<Slot>(), 24);
    assert_eq!(size_of::<Span>(), 16);
    assert_eq!(size_of::<Absent>(), 24);
    assert!(size_of::<Stop>() <= 32);
    // On hosts: ONNX keeps the open messages, the node around a tensor, and what it knows of a
    // function. Without that format, 152; `saved` copies as many.
    assert!(size_of::<Cursor>() <= 1536, "{}", size_of::<Cursor>());
    assert!(size_of::<Opening>() <= 1552, "{}", size_of::<Opening>());
    assert!(size_of::<NameAt>() <= 16);
    assert!(size_of::<DimsAt>() <= 40);
    assert!(size_of::<Metadata>() <= 64);
    assert!(size_of::<Tensor>() <= 160);
    assert!(size_of::<File>() <= 128, "{}", size_of::<File>());
    // On hosts: three cursors and a file, whose largest header is that
    // of later generations of zTensor.
    assert!(size_of::<Audit>() <= 7152, "{}", size_of::<Audit>());
}
