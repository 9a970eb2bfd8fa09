//! Rules that belong to no single format.

use crate::rule::rules;

rules! { 0;
    UNKNOWN_FORMAT = "UNKNOWN-FORMAT", Fatal, Silent,
        "the file is of no format that this build knows",
        "a file is recognised by its first bytes, or opened by name";
    NAMES_UNCHECKED = "NAMES-UNCHECKED", Unchecked, Silent,
        "whether names are unique was not checked: that takes {expected} slots",
        "names that do not ascend are sorted, in memory that the caller provides";
    COVERAGE_UNCHECKED = "COVERAGE-UNCHECKED", Unchecked, Silent,
        "overlaps and gaps were not checked: that takes {expected} slots",
        "parts that do not ascend are sorted, in memory that the caller provides";
    DATA_UNCHECKED = "DATA-UNCHECKED", Unchecked, Silent,
        "this reader does not know how its type, encoding or layout is stored, so its values were not checked",
        "a checker names what it did not check";
    PAYLOAD_UNCHECKED = "PAYLOAD-UNCHECKED", Unchecked, Silent,
        "its data is stored encoded, and was not decoded",
        "a checker names what it did not check";
    CHECKSUM_UNCHECKED = "CHECKSUM-UNCHECKED", Unchecked, Silent,
        "its checksum was not computed",
        "a checker names what it did not check";
    COORDINATES_UNCHECKED = "COORDINATES-UNCHECKED", Unchecked, Silent,
        "its coordinates were not all checked: that takes {expected} slots",
        "coordinates that do not ascend, rows and more than eight dims are kept in memory that the caller provides";
    SHARED_UNCHECKED = "SHARED-UNCHECKED", Unchecked, Silent,
        "entries share tables or payloads and refer to more than {expected} bytes in all; the rest was not checked",
        "a limit of this reader; real files share a payload between two or three tensors";
    WORK_UNCHECKED = "WORK-UNCHECKED", Unchecked, Silent,
        "decoding reached the work limit of {expected} decoded bytes (WORK, --max-work); tensors whose data was not fully decoded: {found}",
        "a limit of this reader, in proportion to the length of the file; real data takes a hundredth of it";
    INTERNAL = "INTERNAL-UNCHECKED", Unchecked, Silent,
        "internal error: the check made no progress and skipped the current tensor or stage; please report this file",
        "a checker that makes no progress stops, and says so";
    PICKLE_POLYGLOT = "PICKLE-POLYGLOT", Lint, Silent,
        "the file is a pickle as well, which imports code when it is loaded as one",
        "no writer makes a file that is also a pickle, up to the first operation that imports code",
        why "a loader that goes by another name of the file, or tries pickle.load first, runs the code";
    SECOND_OPINION = "SECOND-OPINION", Fatal, Silent,
        "a second decoder, ruzstd, refuses this zstd stream or decodes it to other bytes",
        "one stream has one content, whichever decoder reads it (RFC 8878)",
        why "a stream that two decoders read differently shows one model to the gate and another to the loader; checked only if asked for (`check --second-opinion`)";
    BYTES_CHANGED = "BYTES-CHANGED", Fatal, Silent,
        "the bytes here have changed since they were read",
        "a file that is being written, or flash that is being updated, is not read as if it were whole";
}
