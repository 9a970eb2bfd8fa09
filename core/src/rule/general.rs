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
    PICKLE_GLOBAL = "PICKLE-GLOBAL", Fatal, Silent,
        "loading the pickle imports or runs what torch.load(weights_only=True) refuses",
        "a pickle that holds only tensors and plain data imports nothing but the 144 names on the list of torch.load(weights_only=True) in torch 2.15",
        why "loading a pickle imports these modules and calls these functions with arguments of the author's choice, before anything can be inspected. Every import counts, even if its value is dropped. `--allow-global MODULE.NAME` accepts one name";
    PICKLE_INERT = "PICKLE-INERT", Violation, Silent,
        "loading the pickle makes an object that torch.load(weights_only=True) refuses, and that is known to be plain data",
        "a pickle that holds only tensors and plain data imports nothing but the 144 names on the list of torch.load(weights_only=True) in torch 2.15",
        why "trainers save their settings with the weights: NumPy's arrays and scalars, `argparse.Namespace`, paths, `defaultdict`, OmegaConf's and Lightning's dictionaries. These run no code of the author's, but torch.load refuses them by default. `--allow-global MODULE.NAME` accepts one name";
    PICKLE_FAULT = "PICKLE-FAULT", Fatal, Silent,
        "the pickle is broken",
        "pickletools: each operation finds its argument in the file, and its operands on the stack or in the memo",
        why "`pickle.load` runs all operations before the fault, and readers that differ in what they call a fault run more";
    PICKLE_UNCHECKED = "PICKLE-UNCHECKED", Unchecked, Silent,
        "a pickle was not followed to its end",
        "a checker names what it did not check";
    DATA_ZEROS = "DATA-ZEROS", Lint, Silent,
        "pages of 4,096 bytes are zeros from here to {found}; they begin or end inside a row",
        "the data of a tensor is not cut by pages of zeros",
        why "a download that was preallocated and broke off, and a disk that lost pages, leave whole pages of zeros in a file of the right length. Real zeros begin and end with tensors or with their rows, which is not reported";
    DATA_REPEATED = "DATA-REPEATED", Lint, Silent,
        "one page of 4,096 bytes is repeated from here to {found}; the copies begin or end inside a row",
        "the data of a tensor is not cut by copies of a page",
        why "a cache or a disk that fails repeats a page in a file of the right length. Equal elements and equal rows begin and end with tensors or with their rows, which is not reported";
    ARCHIVE_STORED = "ARCHIVE-STORED", Violation, Stated,
        "the member is compressed or encrypted; it must be stored as it is",
        "DDUF, Technical specifications: data is saved uncompressed, so that members can be mapped";
    ARCHIVE_NAME = "ARCHIVE-NAME", Violation, Stated,
        "the name of the member is not allowed",
        "DDUF, Technical specifications: one of the four extensions that it lists, in at most one folder, with slashes";
    ARCHIVE_TWICE = "ARCHIVE-TWICE", Violation, Implied,
        "the archive has a member of this name already",
        "DDUF, Technical specifications: a member is found by its name";
    ARCHIVE_PLACE = "ARCHIVE-PLACE", Fatal, Implied,
        "the member is not where the directory says, or shares bytes with another",
        "APPNOTE 4.3.7: a local header, the name, the extra field, then the data";
    ARCHIVE_LOCAL = "ARCHIVE-LOCAL", Violation, Implied,
        "the header before the member has another name or method than the directory",
        "APPNOTE 4.4.17: the name of the file, in both headers";
    ARCHIVE_CRC = "ARCHIVE-CRC", Violation, Stated,
        "the CRC-32 of the member is {found:#x}; the directory says {expected:#x}",
        "APPNOTE 4.4.7: the CRC-32 of the data";
    ARCHIVE_END = "ARCHIVE-END", Violation, Stated,
        "the record at the end of the archive is cut off, counts other members, or bytes follow it",
        "APPNOTE 4.3.16: the number of members, and the length of the comment, which ends the file";
    ARCHIVE_INDEX = "ARCHIVE-INDEX", Violation, Stated,
        "the archive has no model_index.json that is a JSON object",
        "DDUF, Technical specifications: model_index.json lists the components of the pipeline";
    ARCHIVE_FOLDER = "ARCHIVE-FOLDER", Violation, Stated,
        "the folder is not in model_index.json, or has no settings",
        "DDUF, Technical specifications: each folder is in model_index.json and has at least one config";
    ARCHIVE_JSON = "ARCHIVE-JSON", Violation, Implied,
        "the member is not JSON",
        "DDUF, Technical specifications: settings are JSON files";
    ARCHIVE_CODE = "ARCHIVE-CODE", Fatal, Silent,
        "a member makes a program run code",
        "DDUF, Technical specifications: settings, texts and tokenizers; silent on what they make a program load",
        why "a loader that is told to trust the archive imports what its settings name, and unpickles a text that is a pickle";
}
