//! The rules of BinTensors.
//!
//! The specification describes what the writer does and leaves most rejections
//! to the published crate. Where both are silent, a rule is a lint; where the
//! crate rejects a file, it is at least a violation.

use crate::format::{Fault, Format};
use crate::rule::{EntryKind, Rule, rules};

rules! { Format::BinTensors.code();
    F1 = "F1", Fatal, Implied,
        "the file has {found} bytes and the length of the header takes 8",
        "Size Of Metadata Header: the first 8 bytes are the size of the metadata";
    F2 = "F2", Fatal, Silent,
        "the header has {found} bytes; readers accept at most {expected}",
        "the README caps the header at 100 MB, and every release refuses a longer one",
        why "the limit of 100 MB is part of the format: its README states it and every release enforces it, so no reader accepts the file";
    F3 = "F3", Fatal, Implied,
        "the header ends at {expected} and the file has {found} bytes",
        "Size Of Metadata Header: it says how many bytes to read for the metadata";
    F4 = "F4", Fatal, Implied,
        "the header ends inside a field",
        "Header Reconstruction: the header holds the metadata and all tensor descriptors";
    P1 = "P1", Violation, Implied,
        "the header is {found} bytes long, which is not a multiple of 8",
        "Byte-by-Byte Analysis: padding aligns the metadata to an 8-byte boundary",
        why "the specification describes it and no release checks it";
    P2 = "P2", Violation, Implied,
        "a byte of the padding is {found:#x} instead of 0x20",
        "Byte-by-Byte Analysis: the padding is spaces (0x20)",
        why "the specification describes it and no release checks it";
    P3 = "P3", Violation, Implied,
        "the padding has {found} bytes; alignment needs at most 7",
        "Byte-by-Byte Analysis: padding is there to align to an 8-byte boundary",
        why "the specification describes it and no release checks it";
    V1 = "V1", Fatal, Silent,
        "an integer begins with 255, which is not a defined prefix",
        "Varint Encoding: the discriminants are 251, 252 and 253",
        why "no release of the crate reads on";
    V2 = "V2", Fatal, Silent,
        "an integer is stored with 128 bits, which no field has",
        "Varint Encoding: the discriminants are 251, 252 and 253",
        why "no release of the crate reads on";
    V3 = "V3", Violation, Silent,
        "the element type is stored with 64 bits instead of 32",
        "Enums: a discriminant is a 32-bit integer to every release",
        why "the crate refuses the file, but its content is unambiguous";
    V4 = "V4", Lint, Silent,
        "an integer is stored in more bytes than its value {found} needs",
        "Varint Encoding: all examples have the shortest form, and writers know no other",
        why "the crate reads such files and no writer makes them; they encode the same content in a second way";
    M1 = "M1", Fatal, Implied,
        "the tag of the optional metadata is {found}; it must be 0 (none) or 1 (some)",
        "Option: the discriminant of None is 0, that of Some is 1";
    M2 = "M2", Fatal, Implied,
        "the metadata declares a length of {found}, and at most {expected} fit into the header",
        "Vector, String: as many elements follow as the length in front of them says";
    M3 = "M3", Violation, Stated,
        "the metadata key is not UTF-8",
        "String, Unicode Handling: an invalid UTF-8 sequence is a decoding error";
    M4 = "M4", Violation, Stated,
        "the metadata value is not UTF-8",
        "String, Unicode Handling: an invalid UTF-8 sequence is a decoding error";
    M5 = "M5", Violation, Implied,
        "the key sorts before that of the previous entry",
        "HashMap vs BTreeMap: a BTreeMap keeps a sorted order of its keys",
        why "the specification describes it and no release checks it";
    M6 = "M6", Violation, Implied,
        "the key was used before, by entry {expected}",
        "Header Reconstruction: the user's metadata is a map",
        why "the specification describes it and no release checks it";
    T1 = "T1", Fatal, Implied,
        "{found} tensors are declared, and at most {expected} fit into the header",
        "Vector: as many elements follow as the length in front of them says";
    T2 = "T2", Violation, Stated,
        "the name is not UTF-8",
        "String, Unicode Handling: an invalid UTF-8 sequence is a decoding error";
    T3 = "T3", Fatal, Implied,
        "the name has {found} bytes, and the header has {expected} left",
        "String: the length comes first, and that many bytes follow";
    T4 = "T4", Violation, Silent,
        "the element type {found} is unknown, so the size cannot be verified",
        "Dtype: the discriminants go from 0 (BOOL) to 14 (U64) in every release",
        why "the crate refuses the file, but its content is unambiguous";
    T5 = "T5", Fatal, Implied,
        "the rank is {found}, and the header has {expected} bytes left",
        "Vector: as many elements follow as the length in front of them says";
    T6 = "T6", Violation, Silent,
        "the name was used before, by entry {expected}",
        "the README disallows duplicate keys, and every release refuses them",
        why "the crate refuses the file, but its content is unambiguous";
    O1 = "O1", Fatal, Silent,
        "the data begins at {found}; the previous tensor's data ends at {expected}",
        "the README: the buffer is indexed without holes; every release refuses others",
        why "offsets and dims contradict each other, and nothing says which is right";
    O2 = "O2", Fatal, Silent,
        "the data ends at {found}, before its start at {expected}",
        "TensorInfo: data_offsets are the start and the end in the buffer",
        why "offsets and dims contradict each other, and nothing says which is right";
    S1 = "S1", Fatal, Silent,
        "the product of the dims, from the left, exceeds 64 bits",
        "dims are usize, and every release refuses a product that overflows",
        why "offsets and dims contradict each other, and nothing says which is right";
    S2 = "S2", Fatal, Silent,
        "the {found} elements take more bytes than 64 bits can count",
        "sizes are usize, and every release refuses one that overflows",
        why "offsets and dims contradict each other, and nothing says which is right";
    S3 = "S3", Fatal, Implied,
        "the data is {found} bytes long; shape and type take {expected}",
        "Tensor Buffer: as many bytes as elements times the size of one";
    B1 = "B1", Violation, Silent,
        "the data has {found} bytes, and the tensors end at {expected}",
        "the README: the whole buffer is indexed; every release refuses bytes after it",
        why "the crate refuses the file, but its content is unambiguous";
    B2 = "B2", Fatal, Silent,
        "the tensor ends {missing} bytes beyond the end of the file",
        "Tensor Buffer: the remaining bytes of the file are the data of the tensors",
        why "data is missing";
    C1 = "C1", Lint, Silent,
        "the tensor sorts before the previous one (writers sort by descending element type, then by name)",
        "all writers sort by descending element type, then by name, which aligns the data",
        why "the crate reads such files and no writer makes them; they encode the same content in a second way";
}

/// The rule for a fault that a shared check finds.
pub(crate) const fn shared(fault: Fault) -> Option<Rule> {
    Some(match fault {
        Fault::Duplicate(EntryKind::Tensor) => T6,
        Fault::Duplicate(EntryKind::Metadata) => M6,
        _ => return None,
    })
}
