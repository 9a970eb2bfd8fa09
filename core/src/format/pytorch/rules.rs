//! The rules of PyTorch checkpoints.
//!
//! torch has no specification of its files. What `torch.save` of torch 1.4 to 2.15 writes and what
//! `torch.load(weights_only=True)` of torch 2.15 accepts take its place. Faults of the archive break
//! the rules for ZIP that NPZ has.

use crate::format::{Fault, Format, npz};
use crate::rule::{Rule, rules};

rules! { Format::PyTorch.code();
    C_NONE = "C-NONE", Fatal, Silent,
        "the file is no checkpoint that was followed: an archive with data.pkl, or the five pickles of torch before 1.6",
        "torch.load: an archive has the record data.pkl; an older file begins with the pickle of a number";
    C_PROGRAM = "C-PROGRAM", Unchecked, Silent,
        "the archive has a program beside its tensors, TorchScript or its form for mobile devices, which was not checked",
        "torch.jit.save: constants.pkl and code/; _save_for_lite_interpreter: bytecode.pkl",
        why "loading the file makes a model that runs this program; only its tensors and pickles are read";
    R_TOP = "R-TOP", Violation, Implied,
        "the record does not lie in one folder with data.pkl and the first record",
        "PyTorchStreamReader: all records lie in the folder of the first",
        why "torch refuses the archive, and older releases read a record that scanners do not look at";
    R_TWICE = "R-TWICE", Violation, Implied,
        "the name is that of another record, or differs only in case",
        "PyTorchStreamReader looks a record up by a search that ignores case",
        why "readers differ in which of the two they take";
    R_VERSION = "R-VERSION", Violation, Implied,
        "the record version is missing, or not a number from 1 to 10",
        "PyTorchStreamReader: kMinSupportedFileFormatVersion to kMaxSupportedFileFormatVersion";
    R_ORDER = "R-ORDER", Violation, Implied,
        "the record byteorder is neither \"little\" nor \"big\"",
        "torch.load: unknown endianness type";
    R_ALIGNMENT = "R-ALIGNMENT", Violation, Implied,
        "the record .storage_alignment is no power of two, or another than 64 at which storages do not lie",
        "torch.save: storages begin at multiples of .storage_alignment",
        why "with calculate_storage_offsets, torch computes where storages lie, and would read other bytes";
    R_MISALIGNED = "R-MISALIGNED", Lint, Silent,
        "a storage does not lie at a multiple of {expected}, as the record .storage_alignment says",
        "torch.save: storages begin at multiples of .storage_alignment, 64 unless it is told otherwise",
        why "tools that repack archives do not keep it, and only calculate_storage_offsets relies on it";
    R_FOLDER = "R-FOLDER", Violation, Implied,
        "the name is that of a folder, and the record has {found} bytes",
        "ZIP 4.3.8: a folder has no data",
        why "no reader shows these bytes";
    R_CRC = "R-CRC", Violation, Implied,
        "the CRC-32 of the record is {found:#x}, and the directory says {expected:#x}",
        "ZIP 4.4.7: the CRC-32 of the uncompressed data; 0 if torch.save was told not to compute it",
        why "torch does not compare it, and scanners stop at it";
    R_UNUSED = "R-UNUSED", Lint, Silent,
        "no tensor refers to this storage",
        "torch.save writes the storages that the object refers to",
        why "no writer makes it, and no reader looks at it";
    P_REST = "P-REST", Violation, Implied,
        "{found} bytes follow the pickle",
        "pickle: STOP is the last operation",
        why "torch does not read them, and scanners do";
    P_STACK = "P-STACK", Violation, Implied,
        "more than one value, or an open mark, is on the stack when the pickle stops",
        "pickle: STOP takes the object from the stack, which is empty then",
        why "no writer leaves any, and readers differ in what they take";
    P_TEXT = "P-TEXT", Violation, Stated,
        "the text is not UTF-8",
        "pickletools: BINUNICODE has UTF-8",
        why "Python refuses it, and other readers replace the bytes";
    P_NUMBER = "P-NUMBER", Violation, Stated,
        "the line of an integer is no integer",
        "pickletools: INT and LONG have a decimal number",
        why "Python refuses it";
    P_KEY = "P-KEY", Violation, Implied,
        "the key is equal to an earlier one of the dictionary",
        "pickle writes each key of a dictionary once",
        why "the later value replaces the earlier one, which other readers show";
    P_KEY_TYPE = "P-KEY-TYPE", Violation, Implied,
        "the key of a dictionary is a list, a dictionary, a set, or a tuple that holds values of its own",
        "Python: keys are hashable; those of checkpoints are texts, numbers and tuples of them",
        why "Python refuses such a key, or takes time without a bound to hash it";
    P_PROTOCOL = "P-PROTOCOL", Lint, Silent,
        "the operation that states the protocol is missing or comes later than first",
        "pickletools: PROTO is the first operation of protocol 2 and above",
        why "no writer makes it";
    P_BUFFER = "P-BUFFER", Violation, Implied,
        "the pickle takes data from outside the file, or refers to an object by a line of text",
        "torch.load gives no buffers; torch.save writes BINPERSID",
        why "torch refuses both";
    P_OPERATION = "P-OPERATION", Lint, Silent,
        "the operation is one of protocols 0 and 1 that torch.load does not take",
        "torch._weights_only_unpickler: the operations that it knows",
        why "no writer of checkpoints makes it; torch refuses it";
    P_EMPTY = "P-EMPTY", Fatal, Implied,
        "the pickle is empty, or ends before it is one",
        "pickle: a pickle ends with STOP";
    P_TARGET = "P-TARGET", Fatal, Implied,
        "items or keys are added to an object that torch does not let take any",
        "torch._weights_only_unpickler: SETITEM takes dict, OrderedDict and Counter; APPEND takes list",
        why "before torch 2.10 a tensor took them, and wrote to memory of the file's choice";
    P_CALL = "P-CALL", Fatal, Implied,
        "a listed function gets arguments that torch does not give it",
        "torch.load(weights_only=True): the functions of torch._utils and what torch.save gives them",
        why "torch raises an error, or makes a tensor that the file does not describe";
    P_NEW = "P-NEW", Fatal, Implied,
        "a tensor is made without data: torch would hand out memory that was not initialised",
        "torch.save makes tensors by the functions of torch._utils",
        why "the contents of the memory of the process become values of the tensor";
    P_STATE = "P-STATE", Violation, Implied,
        "the state of an object sets an attribute that replaces data or a method",
        "torch._utils._set_obj_state; torch.save writes _metadata and attributes of subclasses",
        why "the tensor then has other values or other methods than the file shows";
    P_HOOKS = "P-HOOKS", Fatal, Implied,
        "the hooks of a tensor are not empty",
        "torch.save: an empty OrderedDict",
        why "torch calls hooks when gradients are computed";
    P_DEPTH = "P-DEPTH", Unchecked, Silent,
        "values nest deeper than {expected} levels; those below were not looked at",
        "a limit of this reader (PICKLE_DEPTH)";
    P_PLACES = "P-PLACES", Unchecked, Silent,
        "the object has more than {expected} tensors or values; the others were not listed",
        "a limit of this reader (CHECKPOINT_ENTRIES)";
    S_ID = "S-ID", Fatal, Implied,
        "the persistent id is not that of a storage: \"storage\", a class, a key, a location and a count",
        "torch.save: persistent_id";
    S_CLASS = "S-CLASS", Violation, Implied,
        "the storage is named with another class or count before",
        "torch.save refuses to write a storage as two types",
        why "torch takes the first, and other readers the last";
    S_RECORD = "S-RECORD", Fatal, Implied,
        "the archive has no record of this storage",
        "torch.load: data/ and the key";
    S_SIZE = "S-SIZE", Fatal, Implied,
        "the storage has {found} bytes, and the pickle says {expected}",
        "torch.load: record size does not match expected size",
        why "before torch 2.10, and with mmap=True, torch reads what lies behind the storage";
    S_RANGE = "S-RANGE", Fatal, Implied,
        "the storage ends at {found}, past {expected}",
        "torch.load: a storage lies in the file";
    T_ARGUMENT = "T-ARGUMENT", Fatal, Implied,
        "an extent, a stride or the position of the first element is no number from 0 to 2^63 - 1",
        "torch._utils._rebuild_tensor_v2: storage, offset, size, stride";
    T_RANK = "T-RANK", Fatal, Implied,
        "the number of strides is {found}, and that of extents {expected}",
        "torch: number of dimensions in sizes and strides must match";
    T_RANK_LIMIT = "T-RANK-LIMIT", Unchecked, Silent,
        "the tensor has more dimensions than this reader takes, {expected}",
        "a limit of this reader; kernels of torch stop at 64";
    T_PRODUCT = "T-PRODUCT", Fatal, Implied,
        "the elements, or their bytes, exceed 64 bits",
        "torch: numel overflows";
    T_RANGE = "T-RANGE", Fatal, Implied,
        "the last element ends at byte {found} of a storage of {expected} bytes",
        "torch: setStorage requires a storage of at least this size",
        why "elements would be read from other data";
    T_DTYPE = "T-DTYPE", Unchecked, Silent,
        "the type of the elements is unknown to this reader, so the size cannot be verified",
        "a limit of this reader: the types of torch 2.15";
    T_DEFLATED = "T-DEFLATED", Unchecked, Silent,
        "the tensor is a part of a compressed storage, which this reader does not take apart",
        "a limit of this reader; torch.save compresses nothing";
    T_EXPANDED = "T-EXPANDED", Lint, Silent,
        "the tensor has {found} elements in a storage of {expected}: one element stands for many",
        "torch.Tensor.expand: a stride of 0",
        why "it is legal, and copying the tensor takes far more memory than the file";
    T_STORED = "T-STORED", Lint, Silent,
        "torch conjugates or negates the elements; they are listed as they are stored",
        "torch._utils._rebuild_tensor_v2: the metadata conj and neg",
        why "tools that read only the storage get other values than torch; `convert` leaves such a tensor out";
    T_DUPLICATE = "T-DUPLICATE", Lint, Silent,
        "the path, written with dots, is that of tensor {expected}",
        "names here join the keys of the dictionaries by dots",
        why "a key may have dots of its own, so two paths may look the same";
    Q_ARGUMENT = "Q-ARGUMENT", Fatal, Implied,
        "the quantiser does not fit the tensor",
        "torch._utils._rebuild_qtensor: a scheme, scales and zero points as many as the extent of the axis";
    X_ARGUMENT = "X-ARGUMENT", Fatal, Implied,
        "the parts of the sparse tensor do not fit each other",
        "torch._utils._rebuild_sparse_tensor: a layout, indices of integers, values and a size";
    X_BOUND = "X-BOUND", Fatal, Implied,
        "an index of the sparse tensor is {found}; the extent is {expected}",
        "torch.sparse: indices lie from 0 to the extent, which torch.load(weights_only=True) checks",
        why "operations on the tensor read and write memory outside it";
    X_POINTER = "X-POINTER", Fatal, Implied,
        "a compressed index is {found}; {expected} is the most that may stand here",
        "torch.sparse_csr: compressed indices begin with 0, do not descend, and end with the number of values",
        why "operations on the tensor read memory outside it";
    X_ORDER = "X-ORDER", Violation, Implied,
        "an index is {found} after {expected}, where indices ascend",
        "torch.sparse_csr: plain indices of a row are sorted and distinct; coordinates of a coalesced tensor are, too",
        why "torch refuses the tensor; without its checks, results depend on the kernel";
    X_UNCHECKED = "X-UNCHECKED", Unchecked, Silent,
        "the indices of the sparse tensor were not checked against its size",
        "a limit of this reader: indices that are compressed, or that share their bytes with many others";
    W_UNCHECKED = "W-UNCHECKED", Unchecked, Silent,
        "the tensor is built by a way of torch before 0.2, or by a subclass that keeps its data apart; it was not read",
        "a limit of this reader";
    L_MAGIC = "L-MAGIC", Fatal, Implied,
        "one of the pickles before the object does not state the number, the protocol 1001 and the system",
        "torch.load: the magic number, the protocol version and sys_info";
    L_ORDER = "L-ORDER", Unchecked, Silent,
        "the file says that its numbers are big-endian; torch reads them as little-endian all the same",
        "torch.load does not look at little_endian",
        why "which of the two is right cannot be told";
    L_KEYS = "L-KEYS", Violation, Implied,
        "the list of keys names a storage twice, or one that no tensor has, or lacks one",
        "torch.load: the keys of the storages in the order of the file",
        why "torch hands out memory that was not initialised for a storage that the list lacks";
    L_COUNT = "L-COUNT", Fatal, Implied,
        "the count before the storage is {found}, and the pickle says {expected}",
        "torch.load: storage has wrong byte size";
    L_VIEW = "L-VIEW", Fatal, Implied,
        "the view of a storage does not lie in it",
        "torch.load: view_metadata is a key, an offset and a length";
    L_TRAILING = "L-TRAILING", Violation, Implied,
        "{found} bytes follow the last storage",
        "torch.save: the file ends with the last storage",
        why "torch does not look at them, so they may hold anything";
}

/// The rules whose faults a host finds while it follows the pickle, by their number in the index.
pub const FLAWS: &[Rule] = &[
    C_PROGRAM,
    R_TOP,
    R_TWICE,
    R_VERSION,
    R_ORDER,
    R_ALIGNMENT,
    R_MISALIGNED,
    R_FOLDER,
    R_CRC,
    R_UNUSED,
    P_REST,
    P_STACK,
    P_TEXT,
    P_NUMBER,
    P_KEY,
    P_KEY_TYPE,
    P_PROTOCOL,
    P_BUFFER,
    P_OPERATION,
    P_EMPTY,
    P_TARGET,
    P_CALL,
    P_NEW,
    P_STATE,
    P_HOOKS,
    P_DEPTH,
    P_PLACES,
    S_ID,
    S_CLASS,
    S_RECORD,
    T_ARGUMENT,
    T_RANK,
    T_RANK_LIMIT,
    T_DUPLICATE,
    Q_ARGUMENT,
    X_ARGUMENT,
    X_UNCHECKED,
    W_UNCHECKED,
    L_MAGIC,
    L_ORDER,
    L_KEYS,
    L_COUNT,
    L_VIEW,
];

/// The rule for a fault that a shared check finds.
pub(crate) const fn shared(fault: Fault) -> Option<Rule> {
    match fault {
        // A host compares the paths.
        Fault::Duplicate(_) => None,
        Fault::Trailing => Some(L_TRAILING),
        _ => npz::rules::shared(fault),
    }
}
