//! The rules for NPZ (the documentation of `numpy.savez`) and for ZIP (APPNOTE 6.3.10).
//! Faults in an archived array break the rules for NPY.

use crate::codec;
use crate::format::{Fault, Format, archive, npy};
use crate::rule::{EntryKind, Rule, rules};

rules! { Format::Npz.code();
    NPZ_MAGIC = "NPZ-MAGIC", Fatal, Implied,
        "the file does not begin with a ZIP record, as numpy.load asks for",
        "numpy.load: the first bytes are PK\\x03\\x04, or PK\\x05\\x06 of an empty archive";
    NPZ_NONE = "NPZ-NONE", Fatal, Implied,
        "the archive has no array among its {found} members: it is an archive of another kind",
        "numpy.savez: each file in the archive contains one variable in .npy format",
        why "an archive of another kind, such as PyTorch's, is not a valid NPZ file without arrays";
    NPZ_PICKLE = "NPZ-PICKLE", Fatal, Implied,
        "a member of the archive is called like a pickle, which runs code when it is loaded",
        "numpy.savez: each file in the archive contains one variable in .npy format",
        why "`numpy.load` returns such a member as bytes, but the archive may be meant for another reader, which runs it";
    NPZ_MEMBER = "NPZ-MEMBER", Unchecked, Silent,
        "the name of the member does not end in .npy; what it holds was not checked",
        "numpy.savez: each file contains one variable in .npy format; numpy.load reads whatever begins like an array, under any name",
        why "`numpy.load` goes by the first bytes of a member and reads an array under any name";
    NPZ_NAME_SUFFIX = "NPZ-NAME-SUFFIX", Lint, Silent,
        "the name of the array itself ends in .npy; numpy.load takes a member of that name for the array",
        "numpy.savez: .npy is added to the name of each variable; numpy.load looks a name up before it adds .npy",
        why "`numpy.savez` writes such names; beside `a.npy`, `numpy.load` does not find `a.npy.npy`";
    NPZ_DUPLICATE = "NPZ-DUPLICATE", Violation, Implied,
        "the array has the name of array {expected}",
        "numpy.savez: files are named after the variables they contain; numpy.load takes the last, this reader the first",
        why "`numpy.load` takes the last of equal names, other readers the first";
    NPZ_SIZE = "NPZ-SIZE", Fatal, Implied,
        "the member has {found} bytes and its array takes {expected}",
        "numpy.savez: each file contains one variable; numpy.load does not verify a member with more",
        why "`numpy.load` reads the array and not the bytes after it, so `zipfile` never compares the CRC";
    NPZ_HEADER_LIMIT = "NPZ-HEADER-LIMIT", Unchecked, Silent,
        "the header of the compressed array takes {found} bytes; this reader decodes up to {expected}",
        "a bound of this reader, that of numpy.load: max_header_size";
    NPZ_STREAM_LIMIT = "NPZ-STREAM-LIMIT", Unchecked, Silent,
        "the first 12 KiB of the compressed array hold {found} of the {expected} bytes of its header",
        "a bound of this reader: a stream may have any number of empty blocks";
    NPZ_SHAPE_LIMIT = "NPZ-SHAPE-LIMIT", Unchecked, Silent,
        "the array is compressed and has {found} dimensions, too many to be kept by this reader",
        "a bound of this reader; shapes of eleven dimensions always fit, and most of thirty";
    NPZ_INFLATE = "NPZ-INFLATE", Unchecked, Silent,
        "the array is compressed, and this build does not decode it",
        "a build without deflate";
    ZIP_END = "ZIP-END", Fatal, Stated,
        "the archive has no end: the record that closes its directory is missing or cut off",
        "4.3.1: a ZIP file must have an end of central directory record";
    ZIP_COMMENT = "ZIP-COMMENT", Lint, Silent,
        "the archive has a comment of {found} bytes",
        "4.4.26: the archive may have a comment; no writer of arrays stores one",
        why "no writer of arrays does it, no reader looks";
    ZIP_COMMENT_CUT = "ZIP-COMMENT-CUT", Violation, Stated,
        "the comment of the archive takes {expected} bytes and has {found}",
        "4.4.12: the length of the comment",
        why "`zipfile` reads on, and the end of the archive is ambiguous";
    ZIP_APPENDED = "ZIP-APPENDED", Violation, Implied,
        "{found} bytes follow the archive",
        "4.3.6: an archive ends with the end of central directory record and its comment",
        why "`zipfile` reads on, and the end of the archive is ambiguous";
    ZIP_DISK = "ZIP-DISK", Fatal, Stated,
        "the archive is said to be split over several files",
        "4.4.19 to 4.4.22: numbers of disks, and of members on this one";
    ZIP64_MISSING = "ZIP64-MISSING", Fatal, Stated,
        "a number of the end record refers to a zip64 record, and there is none",
        "4.4.1.4: a field of all ones has its value in the zip64 record";
    ZIP64_RECORD = "ZIP64-RECORD", Fatal, Stated,
        "the zip64 locator points to {found}; the record has to begin at {expected}",
        "4.3.14, 4.3.15: the zip64 end record, and the locator right after it";
    ZIP64_DIFFERS = "ZIP64-DIFFERS", Fatal, Implied,
        "the zip64 record contradicts the end record",
        "4.4.1.4: the zip64 record has the values for which the end record has no room";
    ZIP64_DISKS = "ZIP64-DISKS", Violation, Stated,
        "the zip64 locator says {found} disks; an archive in one file has {expected}",
        "4.3.15: total number of disks",
        why "Info-ZIP and libarchive pass over a locator with 0 disks, which `zipfile` reads";
    ZIP_DIRECTORY = "ZIP-DIRECTORY", Fatal, Stated,
        "the directory ends at {found} and the end records begin at {expected}",
        "4.3.6, 4.4.23, 4.4.24: size and offset of the directory, which the end records follow",
        why "bytes before the archive that its offsets do not count; `numpy.load` goes by the first bytes and refuses the file";
    ZIP_COUNT = "ZIP-COUNT", Violation, Stated,
        "the end record says {expected} members and the directory has {found}",
        "4.4.22: total number of entries in the central directory";
    ZIP_SIGNATURE = "ZIP-SIGNATURE", Fatal, Stated,
        "the entry of the directory does not begin with PK\\x01\\x02",
        "4.3.12: central file header signature";
    ZIP_TRUNCATED = "ZIP-TRUNCATED", Fatal, Implied,
        "the directory ends inside an entry, which takes {expected} bytes more and has {found}",
        "4.3.12: lengths of name, extra fields and comment";
    ZIP_VERSION = "ZIP-VERSION", Fatal, Stated,
        "the member needs version {found} of ZIP; {expected} is the latest",
        "4.4.3: version needed to extract, ten times the number";
    ZIP_ENCRYPTED = "ZIP-ENCRYPTED", Fatal, Stated,
        "the member is encrypted",
        "4.4.4: bits 0, 6 and 13 of the flags";
    ZIP_PATCHED = "ZIP-PATCHED", Fatal, Stated,
        "the member is a patch for another file",
        "4.4.4: bit 5 of the flags";
    ZIP_FLAGS = "ZIP-FLAGS", Lint, Silent,
        "the flags {found:#x} of the member are reserved",
        "4.4.4: bits 4, 7 to 10, 12, 14 and 15 are unused or reserved",
        why "no writer of arrays does it, no reader looks";
    ZIP_METHOD = "ZIP-METHOD", Unchecked, Stated,
        "the member is compressed with method {found} (12 is bzip2, 14 LZMA, 93 Zstandard), which this reader does not decode",
        "4.4.5: compression method; arrays are stored (0) or deflated (8)",
        why "`zipfile` has bzip2 and LZMA; this reader does not";
    ZIP_FILE_TYPE = "ZIP-FILE-TYPE", Violation, Implied,
        "the attributes {found:#x} of the member are not those of a file",
        "4.4.2, 4.4.15: attributes of the host system; to some readers, the member is a folder, link or device and has no data",
        why "a link, folder or device to Info-ZIP and libarchive, and an array to `zipfile`, which does not look";
    ZIP_NAME_EMPTY = "ZIP-NAME-EMPTY", Violation, Stated,
        "the member has no name",
        "4.4.17.3: only members from standard input have none";
    ZIP_NAME_NUL = "ZIP-NAME-NUL", Fatal, Silent,
        "the name of the member has a zero byte, where some readers end it",
        "4.4.17 does not allow or forbid it; readers see different names",
        why "`zipfile` ends the name at the NUL, so two readers see two names";
    ZIP_NAME_PATH = "ZIP-NAME-PATH", Violation, Stated,
        "the name of the member leads out of the folder that it is extracted to",
        "4.4.17.1: no drive or device letter, no leading slash, and slashes are forward slashes",
        why "APPNOTE forbids a slash at the start, a drive (so `w:0` as well) and backslashes; `..` leads out of the folder";
    ZIP_NAME_UTF8 = "ZIP-NAME-UTF8", Fatal, Stated,
        "the name of the member is said to be UTF-8 and is not",
        "4.4.4, bit 11; appendix D";
    ZIP_NAME_CODE_PAGE = "ZIP-NAME-CODE-PAGE", Violation, Silent,
        "the name of the member is not ASCII, and not said to be UTF-8; readers see different names",
        "appendix D.1: such names are in code page 437, which many readers ignore; they are shown as if they were UTF-8",
        why "`zipfile` reads code page 437, others UTF-8 or the bytes: two names may be equal to one reader only";
    ZIP_NAME_AGAIN = "ZIP-NAME-AGAIN", Violation, Implied,
        "an extra field gives the member another name, which some readers take",
        "4.6.9: Info-ZIP Unicode path; a member has one name";
    ZIP_EXTRA = "ZIP-EXTRA", Fatal, Stated,
        "an extra field ends after the entry does",
        "4.5.1: header ID and data size of each field";
    ZIP_EXTRA_REST = "ZIP-EXTRA-REST", Violation, Stated,
        "bytes after the last extra field are too few for one",
        "4.5.1: extra fields are a sequence of header ID, data size and data",
        why "libarchive refuses it in a local header";
    ZIP64_EXTRA = "ZIP64-EXTRA", Fatal, Stated,
        "sizes or offset take {expected} bytes of a zip64 field, and {found} are there, or there are two such fields",
        "4.5.3: the field has the values that are all ones in the header, in this order";
    ZIP64_EXCESS = "ZIP64-EXCESS", Violation, Stated,
        "the zip64 field has {found} bytes, of which the header needs {expected}, or there are two such fields",
        "4.5.3: the fields must only appear if they are all ones in the header; a local header has both sizes",
        why "APPNOTE forbids numbers that no header field replaces; of two fields, Info-ZIP and libarchive take the first, others the last";
    ZIP_SIZE_STORED = "ZIP-SIZE-STORED", Fatal, Implied,
        "the member is stored as it is, in {expected} bytes, and has {found}",
        "4.4.8, 4.4.9: compressed and uncompressed size";
    ZIP_LOCAL_SIGNATURE = "ZIP-LOCAL-SIGNATURE", Fatal, Stated,
        "the member does not begin with PK\\x03\\x04",
        "4.3.7: local file header signature";
    ZIP_LOCAL_TRUNCATED = "ZIP-LOCAL-TRUNCATED", Fatal, Implied,
        "the directory begins inside the local header, {found} bytes before what takes {expected}",
        "4.3.6: members come before the central directory";
    ZIP_LOCAL_NAME = "ZIP-LOCAL-NAME", Fatal, Implied,
        "the local header names another member than the directory",
        "4.3.6: the directory has a header for each member",
        why "`zipfile` refuses it";
    ZIP_LOCAL_FLAGS = "ZIP-LOCAL-FLAGS", Violation, Implied,
        "the flags are {found:#x} in the local header and {expected:#x} in the directory",
        "4.3.7, 4.3.12: both headers describe one member",
        why "readers that stream and readers that seek see different files; `zipfile` takes the directory";
    ZIP_LOCAL_METHOD = "ZIP-LOCAL-METHOD", Violation, Implied,
        "the method is {found} in the local header and {expected} in the directory",
        "4.3.7, 4.3.12: both headers describe one member",
        why "readers that stream and readers that seek see different files; `zipfile` takes the directory";
    ZIP_LOCAL_CRC = "ZIP-LOCAL-CRC", Violation, Implied,
        "the CRC-32 is {found:#x} in the local header and {expected:#x} in the directory",
        "4.3.7, 4.3.12: both headers describe one member; zero if a data descriptor follows",
        why "readers that stream and readers that seek see different files; `zipfile` takes the directory";
    ZIP_LOCAL_SIZES = "ZIP-LOCAL-SIZES", Violation, Implied,
        "a size is {found} in the local header and {expected} in the directory",
        "4.3.7, 4.3.12: both headers describe one member; zero if a data descriptor follows",
        why "readers that stream and readers that seek see different files; libarchive and others also take different numbers of a zip64 field, so every way to read it must give the sizes of the directory";
    ZIP_LOCAL_EXTRA = "ZIP-LOCAL-EXTRA", Violation, Stated,
        "an extra field ends after the local header does",
        "4.5.1: header ID and data size of each field",
        why "readers that stream and readers that seek see different files; `zipfile` takes the directory";
    ZIP_DATA_END = "ZIP-DATA-END", Fatal, Implied,
        "the member reaches {found}; members end before {expected}, where the directory begins",
        "4.3.6: members come before the central directory";
    ZIP_DESCRIPTOR = "ZIP-DESCRIPTOR", Violation, Stated,
        "the data descriptor is missing, does not say what the directory does, or has sizes of the wrong width",
        "4.3.9: CRC-32 and sizes follow the data if bit 3 of the flags is set; the sizes have 8 bytes if the local header has a zip64 field, otherwise 4",
        why "libarchive refuses sizes of the wrong width in a stream, and Java refuses them if they are too wide";
    ZIP_OVERLAP = "ZIP-OVERLAP", Fatal, Implied,
        "the member begins at {found}, inside another that ends at {expected}",
        "4.3.6: members follow one another",
        why "such archives decode to more than they could hold; `zipfile` refuses them since 3.11.8; equal members count as well";
    ZIP_GAP = "ZIP-GAP", Lint, Silent,
        "{found} bytes belong to no member",
        "4.3.6 has nothing between members; no writer of arrays leaves gaps",
        why "no writer of arrays does it, no reader looks";
    ZIP_CRC = "ZIP-CRC", Fatal, Stated,
        "the CRC-32 of the data is {found:#x}, and the directory says {expected:#x}",
        "4.4.7: the CRC-32 of the uncompressed data";
    ZIP_DEFLATE = "ZIP-DEFLATE", Fatal, Stated,
        "the data is not a deflate stream",
        "4.4.5: method 8 is deflate; RFC 1951";
    ZIP_DEFLATE_SIZE = "ZIP-DEFLATE-SIZE", Fatal, Stated,
        "the directory says {expected} bytes, and the data decodes to {found}, as far as it was decoded",
        "4.4.9: uncompressed size";
    ZIP_DEFLATE_REST = "ZIP-DEFLATE-REST", Violation, Implied,
        "bytes follow the deflate stream inside the member",
        "4.4.8: compressed size";
}

/// The rule broken by a fault of the archive.
pub(crate) fn zip(fault: archive::Fault) -> Rule {
    use archive::Fault;
    match fault {
        Fault::NoEnd => ZIP_END,
        Fault::Comment => ZIP_COMMENT,
        Fault::CommentCut => ZIP_COMMENT_CUT,
        Fault::Appended => ZIP_APPENDED,
        Fault::Disk => ZIP_DISK,
        Fault::FileType => ZIP_FILE_TYPE,
        Fault::Zip64Missing => ZIP64_MISSING,
        Fault::Zip64Record => ZIP64_RECORD,
        Fault::Zip64Differs => ZIP64_DIFFERS,
        Fault::Zip64Disks => ZIP64_DISKS,
        Fault::Directory => ZIP_DIRECTORY,
        Fault::Count => ZIP_COUNT,
        Fault::Signature => ZIP_SIGNATURE,
        Fault::Truncated => ZIP_TRUNCATED,
        Fault::Version => ZIP_VERSION,
        Fault::Encrypted => ZIP_ENCRYPTED,
        Fault::Patched => ZIP_PATCHED,
        Fault::Flags => ZIP_FLAGS,
        Fault::Method => ZIP_METHOD,
        Fault::NameEmpty => ZIP_NAME_EMPTY,
        Fault::NameNul => ZIP_NAME_NUL,
        Fault::NamePath => ZIP_NAME_PATH,
        Fault::NameUtf8 => ZIP_NAME_UTF8,
        Fault::NameCodePage => ZIP_NAME_CODE_PAGE,
        Fault::NameAgain => ZIP_NAME_AGAIN,
        Fault::Extra => ZIP_EXTRA,
        Fault::ExtraRest => ZIP_EXTRA_REST,
        Fault::Zip64Extra => ZIP64_EXTRA,
        Fault::Zip64Excess => ZIP64_EXCESS,
        Fault::SizeStored => ZIP_SIZE_STORED,
        Fault::LocalSignature => ZIP_LOCAL_SIGNATURE,
        Fault::LocalTruncated => ZIP_LOCAL_TRUNCATED,
        Fault::LocalName => ZIP_LOCAL_NAME,
        Fault::LocalFlags => ZIP_LOCAL_FLAGS,
        Fault::LocalMethod => ZIP_LOCAL_METHOD,
        Fault::LocalCrc => ZIP_LOCAL_CRC,
        Fault::LocalSizes => ZIP_LOCAL_SIZES,
        Fault::LocalExtra => ZIP_LOCAL_EXTRA,
        Fault::DataEnd => ZIP_DATA_END,
        Fault::Descriptor => ZIP_DESCRIPTOR,
    }
}

/// The rule broken by a fault in a member's stream.
pub(super) const fn stream(fault: codec::Fault) -> Rule {
    match fault {
        codec::Fault::Short | codec::Fault::Long => ZIP_DEFLATE_SIZE,
        codec::Fault::Trailing => ZIP_DEFLATE_REST,
        _ => ZIP_DEFLATE,
    }
}

/// The rule for a fault that a shared check finds.
pub(crate) const fn shared(fault: Fault) -> Option<Rule> {
    Some(match fault {
        Fault::Duplicate(EntryKind::Tensor) => NPZ_DUPLICATE,
        Fault::Overlap | Fault::Alias => ZIP_OVERLAP,
        Fault::Gap => ZIP_GAP,
        Fault::DecodedChecksum => ZIP_CRC,
        Fault::Stream(fault) => stream(fault),
        Fault::Element(_) => return npy::rules::shared(fault),
        _ => return None,
    })
}
