//! The rules of ExecuTorch.
//!
//! The specification is the published schemas, `program.fbs` and `flat_tensor.fbs`, with the text on
//! the layout of the file, and the binary format of flatbuffers. Where they are silent, a rule rests
//! on what the runtime checks, or on what it follows without a check.

use crate::base::features::WINDOWS;
use crate::format::{Fault, Format, flatbuffer};
use crate::model::DType;
use crate::rule::{EntryKind, Rule, rules};

rules! { Format::ExecuTorch.code();
    F_SHORT = "F-SHORT", Fatal, Stated,
        "the file is {found} bytes long; its header takes {expected}",
        "FlatBuffers, Binary Format: an offset to the root table, then the file identifier";
    F_IDENTIFIER = "F-IDENTIFIER", Fatal, Stated,
        "the file identifier is neither ET12 nor FT01",
        "program.fbs and flat_tensor.fbs: file_identifier, in bytes 4 to 7";
    F_ROOT = "F-ROOT", Fatal, Stated,
        "the root table is at {found}, which is outside the flatbuffer, in the header, or not a multiple of four",
        "FlatBuffers, Binary Format: the file starts with an offset to the root table",
        why "the runtime crashes on a root table in the extended header";
    F_OFFSET = "F-OFFSET", Fatal, Stated,
        "an offset is {found}; it must be positive, with an object inside the flatbuffer",
        "FlatBuffers, Binary Format: offsets point forward, within the buffer",
        why "the runtime is built without the verifier of flatbuffers and follows any offset";
    F_ALIGN = "F-ALIGN", Fatal, Stated,
        "an offset leads to an object whose position is not a multiple of four",
        "FlatBuffers, Binary Format: all objects are aligned to their width";
    F_VTABLE = "F-VTABLE", Fatal, Stated,
        "the vtable of a table is outside the flatbuffer or not at an even offset",
        "FlatBuffers, Binary Format: a table starts with a signed offset to its vtable";
    F_VTABLE_LENGTH = "F-VTABLE-LENGTH", Fatal, Stated,
        "the vtable says it takes {found} bytes; this must be even, at least 4, and inside the flatbuffer",
        "FlatBuffers, Binary Format: the first element of a vtable is its size in bytes";
    F_TABLE_LENGTH = "F-TABLE-LENGTH", Violation, Stated,
        "the vtable says that its table takes {found} bytes; the flatbuffer has {expected} left",
        "FlatBuffers, Binary Format: the second element of a vtable is the size of the table";
    F_FIELD_HEAD = "F-FIELD-HEAD", Fatal, Implied,
        "a field is at offset {found} of its table; the first four bytes lead to the vtable",
        "FlatBuffers, Binary Format: fields come after the offset to the vtable";
    F_FIELD_BOUNDS = "F-FIELD-BOUNDS", Fatal, Stated,
        "a field ends at offset {found} of its table; the flatbuffer has {expected} bytes there",
        "FlatBuffers, Binary Format: fields are inside their table";
    F_FIELD_ALIGN = "F-FIELD-ALIGN", Fatal, Stated,
        "a field is at {found}, which is not a multiple of its width of {expected}",
        "FlatBuffers, Binary Format: scalars are aligned to their own size";
    F_FIELD_TABLE = "F-FIELD-TABLE", Lint, Silent,
        "a field ends at offset {found} of a table of {expected} bytes",
        "FlatBuffers, Binary Format: fields are inside their table",
        why "readers do not look at the length of the table";
    F_VECTOR = "F-VECTOR", Fatal, Stated,
        "the items of a vector take {found} bytes; the flatbuffer has {expected} left",
        "FlatBuffers, Binary Format: a vector is its count and that many items";
    F_VECTOR_ALIGN = "F-VECTOR-ALIGN", Fatal, Stated,
        "the items of a vector are at {found}, which is not a multiple of their width of {expected}",
        "FlatBuffers, Binary Format: vectors are aligned to their elements";
    F_STRING = "F-STRING", Fatal, Stated,
        "a text is {found} bytes long; the flatbuffer has {expected} left",
        "FlatBuffers, Binary Format: a string is a vector of bytes, and a zero byte after it";
    F_STRING_END = "F-STRING-END", Violation, Stated,
        "the byte after a text is {found}; it must be 0",
        "FlatBuffers, Binary Format: strings are null-terminated",
        why "the runtime compares names up to the zero byte";
    F_UNION_KIND = "F-UNION-KIND", Violation, Implied,
        "a union has a value and no kind",
        "FlatBuffers, Binary Format: a union is two fields, its kind and its value";
    F_UNION_VALUE = "F-UNION-VALUE", Fatal, Implied,
        "a union has kind {found} and no value",
        "FlatBuffers, Binary Format: a union is two fields, its kind and its value",
        why "the runtime follows the value without a check";
    F_UNION_UNKNOWN = "F-UNION-UNKNOWN", Unchecked, Silent,
        "a union has kind {found}, which this reader does not know; its value was not checked",
        "program.fbs, KernelTypes and InstructionArguments: new members are added at the end";
    F_SHARED = "F-SHARED", Fatal, Silent,
        "tables are shared so much that following them takes more than {expected} bytes",
        "a limit of this reader (SHARES)",
        why "no writer shares tables much; a short file can describe a tree without end";
    F_OVERLAP = "F-OVERLAP", Violation, Implied,
        "the bytes belong to two objects; the one before ends at {expected}",
        "FlatBuffers, Binary Format: each object has its own bytes",
        why "no writer makes it, and the bytes mean two things";
    F_TRAILING = "F-TRAILING", Lint, Silent,
        "{found} bytes at the end of the file belong to nothing",
        "the file ends with its last segment",
        why "no reader sees the bytes";
    H_MAGIC = "H-MAGIC", Fatal, Stated,
        "the header of tensor data does not begin with FH01",
        "flat_tensor_header.h: the magic of the header is FH01";
    H_LENGTH = "H-LENGTH", Fatal, Stated,
        "the header is {found} bytes long; it must have at least {expected}",
        "extended_header.h and flat_tensor_header.h: the length of the header, itself included";
    H_OLD = "H-OLD", Lint, Silent,
        "the header is {found} bytes long and does not say where segments end; since 1.0 it has {expected}",
        "extended_header.h: segment_data_size was added to the header",
        why "programs from before 1.0 have it, and the end of segments is then that of the file";
    H_PROGRAM = "H-PROGRAM", Fatal, Stated,
        "the flatbuffer ends at {found}; the file ends at {expected}",
        "extended_header.h: program_size, the size of the flatbuffer from the start of the file";
    H_PLACE = "H-PLACE", Violation, Stated,
        "the flatbuffer begins at {found}; the header ends at {expected}",
        "flat_tensor_header.h: flatbuffer_offset, where the flatbuffer goes on after the header",
        why "the runtime reads the root table from the start of the file whatever the number is";
    H_BASE = "H-BASE", Fatal, Stated,
        "the file has segments, and no header says where they begin",
        "extended_header.h: segment_base_offset is 0 if there are no segments",
        why "the runtime would take them from the start of the file";
    H_INSIDE = "H-INSIDE", Fatal, Stated,
        "segments begin at {found}, before the end of the flatbuffer at {expected}",
        "extended_header.h: segments follow the program",
        why "the runtime would take constants from the program";
    H_DATA = "H-DATA", Fatal, Stated,
        "the data of segments reaches {found} bytes; the file has {expected} left for them",
        "extended_header.h and flat_tensor_header.h: segment_base_offset, segment_data_size";
    H_SIZE = "H-SIZE", Lint, Silent,
        "the header says that segments take 0 bytes, and there are some",
        "extended_header.h: segment_data_size",
        why "the runtime takes 0 for not told and bounds segments by the file";
    S_RANGE = "S-RANGE", Fatal, Stated,
        "a segment reaches offset {found} of the data of segments, which ends at {expected}",
        "program.fbs, DataSegment: offset and size, relative to the base of segments",
        why "the runtime compares with the end of the file only, and a sum may wrap";
    S_ORDER = "S-ORDER", Violation, Stated,
        "a segment begins at offset {found}; one before it ends at {expected}",
        "program.fbs, Program.segments: data segments, sorted by offset",
        why "no writer lets segments overlap";
    S_ALIGN = "S-ALIGN", Lint, Silent,
        "a segment begins at {found}, which is not a multiple of {expected}",
        "program.fbs, DataSegment: segments are typically aligned so that they can be mapped",
        why "data of segments is used in place";
    S_GAP = "S-GAP", Lint, Silent,
        "the byte between segments is {found}; padding is 0",
        "program.fbs, DataSegment: the data of a segment may be followed by padding",
        why "no reader sees the bytes";
    C_BOTH = "C-BOTH", Fatal, Stated,
        "the program has constants in a segment and {found} of them in the flatbuffer",
        "program.fbs, Program.constant_segment: if it has offsets, constant_buffer must be empty";
    C_SEGMENT = "C-SEGMENT", Fatal, Stated,
        "the data of tensors is in segment {found}; the file has {expected}",
        "program.fbs, SubsegmentOffsets.segment_index: index of the segment in Program.segments";
    C_FIRST = "C-FIRST", Violation, Implied,
        "the first offset of constants is {found}; it is reserved and 0",
        "program.fbs, Program.constant_segment: offsets[0] is reserved for tensors without data";
    C_OFFSET = "C-OFFSET", Fatal, Stated,
        "the offset of a constant is {found}; its segment has {expected} bytes",
        "program.fbs, SubsegmentOffsets.offsets: offsets into the data of the segment";
    N_NONE = "N-NONE", Fatal, Implied,
        "the file lists no data",
        "flat_tensor.fbs, FlatTensor.named_data",
        why "the runtime refuses the file";
    N_KEY = "N-KEY", Violation, Implied,
        "the entry of named data has no key",
        "program.fbs and flat_tensor.fbs, NamedData.key: a unique key",
        why "the runtime compares keys without a check";
    N_UTF8 = "N-UTF8", Violation, Stated,
        "the name is not UTF-8",
        "FlatBuffers, Schema: a string holds UTF-8";
    N_TEXT = "N-TEXT", Unchecked, Silent,
        "the name is {found} bytes long; at most {expected} are read",
        "a limit of this reader (EXECUTORCH_TEXT)";
    N_SEGMENT = "N-SEGMENT", Fatal, Stated,
        "named data is in segment {found}; the file has {expected}",
        "program.fbs and flat_tensor.fbs, NamedData.segment_index";
    N_TWICE = "N-TWICE", Violation, Stated,
        "the name was used before, by entry {expected}",
        "program.fbs and flat_tensor.fbs, NamedData.key: unique; methods are found by name",
        why "readers take the first or the last of them";
    T_TYPE = "T-TYPE", Fatal, Stated,
        "the element type is {found:i}, which the schema does not give out",
        "scalar_type.fbs, ScalarType",
        why "the runtime aborts on an unknown type in tensor data";
    T_MISSING = "T-MISSING", Fatal, Implied,
        "the tensor has no list of extents, or none of the order of dimensions",
        "program.fbs, Tensor.sizes and Tensor.dim_order; flat_tensor.fbs, TensorLayout",
        why "the runtime refuses such a tensor in a program, and follows the absent list in tensor data; a scalar has two empty lists";
    T_DIM = "T-DIM", Fatal, Stated,
        "an extent is {found:i}; it must not be negative",
        "program.fbs, Tensor.sizes",
        why "CVE-2025-30402 is a product of extents that wraps";
    T_PRODUCT = "T-PRODUCT", Fatal, Implied,
        "the product of extents and width exceeds 64 bits",
        "program.fbs, Tensor.sizes",
        why "CVE-2025-30402: the runtime reserved less memory than it wrote";
    T_RANK = "T-RANK", Fatal, Implied,
        "the tensor has {found} dimensions; at most {expected} are allowed",
        "tensor_impl.h: kTensorDimensionLimit",
        why "the runtime keeps extents in arrays of this length";
    T_SHAPE = "T-SHAPE", Unchecked, Silent,
        "the extents of the tensor are too large to be kept with it; its shape is not shown",
        "a limit of this reader: 32 digits of three bits";
    T_ORDER = "T-ORDER", Fatal, Stated,
        "the order of dimensions is not one of 0 to {expected}, each once",
        "program.fbs, Tensor.dim_order: in what order dimensions are laid out in memory",
        why "CVE-2025-54951: the runtime read past a shorter order";
    T_STORAGE = "T-STORAGE", Violation, Stated,
        "the storage offset is {found:i}; it must be 0",
        "program.fbs, Tensor.storage_offset: the runtime only supports a value of zero";
    T_DYNAMISM = "T-DYNAMISM", Violation, Stated,
        "the dynamism of the shape is {found:i}; it must be 0 or 1",
        "program.fbs, TensorShapeDynamism: static, bound, unbound",
        why "the runtime refuses unbound shapes";
    T_LAYOUT = "T-LAYOUT", Violation, Implied,
        "the layout is {found:i}; it must be 0",
        "program.fbs, Tensor.layout: may not be needed",
        why "no writer sets it and no reader uses it";
    T_LOCATION = "T-LOCATION", Fatal, Stated,
        "the location of the data is {found:i}; it must be 0 or 1",
        "program.fbs, TensorDataLocation: in the file, or outside",
        why "the runtime crashes on other numbers";
    T_KEY = "T-KEY", Violation, Stated,
        "the data is in another file, and the tensor has no name to find it by",
        "program.fbs, ExtraTensorInfo.location: fully_qualified_name must be non-empty";
    T_EXTERNAL = "T-EXTERNAL", Lint, Silent,
        "the data is in a .ptd file, under the name of the tensor; that file has to be checked by itself",
        "program.fbs, TensorDataLocation.EXTERNAL: stored outside of the file",
        why "the program does not say which file";
    T_INDEX = "T-INDEX", Fatal, Stated,
        "the data of the tensor is number {found}; the program has {expected}",
        "program.fbs, Tensor.data_buffer_idx";
    T_MUTABLE = "T-MUTABLE", Fatal, Stated,
        "initial values are in list {found} of mutable data; the program has {expected}",
        "program.fbs, ExtraTensorInfo.mutable_data_segments_idx";
    T_RANGE = "T-RANGE", Fatal, Implied,
        "the data of the tensor reaches offset {found} of its segment, which has {expected} bytes",
        "program.fbs, SubsegmentOffsets: the length is that of the tensor";
    T_SHORT = "T-SHORT", Fatal, Implied,
        "the tensor takes {expected} bytes; its data has {found}",
        "flat_tensor.fbs, NamedData: a segment for each tensor";
    T_LONG = "T-LONG", Violation, Implied,
        "the tensor takes {expected} bytes; its data has {found}",
        "flat_tensor.fbs, NamedData: a segment for each tensor",
        why "no reader sees the rest";
    T_ALIGN = "T-ALIGN", Violation, Implied,
        "the data of the tensor is at {found}, which is not a multiple of its width of {expected}",
        "program.fbs, SubsegmentOffsets.offsets: must be aligned",
        why "the runtime uses the data in place";
    T_BOOL = "T-BOOL", Lint, Silent,
        "an element of a truth value is {found}; it must be 0 or 1",
        "scalar_type.fbs, BOOL",
        why "other values are undefined behaviour in C";
    T_MEMORY = "T-MEMORY", Fatal, Stated,
        "the tensor is in memory buffer {found}; the method plans {expected}, and 0 is reserved",
        "program.fbs, AllocationDetails.memory_id",
        why "CVE-2025-30405: the runtime wrote outside its buffers";
    T_PLANNED = "T-PLANNED", Fatal, Stated,
        "the tensor reaches offset {found} of its memory buffer, which has {expected} bytes",
        "program.fbs, AllocationDetails.memory_offset_low and memory_offset_high",
        why "CVE-2025-30404 and CVE-2025-54952 are offsets that wrap";
    P_VERSION = "P-VERSION", Unchecked, Stated,
        "the version of the schema is {found}; what is new since version {expected} was not checked",
        "program.fbs, Program.version: schema version";
    P_METHODS = "P-METHODS", Violation, Implied,
        "the program has no methods",
        "program.fbs, Program.execution_plan: entry points into the model";
    P_NAME = "P-NAME", Violation, Implied,
        "the method has no name",
        "program.fbs, ExecutionPlan.name",
        why "the runtime crashes when it looks for a method";
    P_INPUT = "P-INPUT", Fatal, Stated,
        "an input of the method is value {found:i}; the method has {expected}",
        "program.fbs, ExecutionPlan.inputs: indices of values";
    P_OUTPUT = "P-OUTPUT", Fatal, Stated,
        "an output of the method is value {found:i}; the method has {expected}",
        "program.fbs, ExecutionPlan.outputs: indices of values";
    P_CHAINS = "P-CHAINS", Violation, Implied,
        "the method has no chain of instructions",
        "program.fbs, ExecutionPlan.chains",
        why "the runtime refuses the method";
    P_INSTRUCTIONS = "P-INSTRUCTIONS", Violation, Implied,
        "the chain has no list of instructions",
        "program.fbs, Chain.instructions",
        why "the runtime refuses the method";
    P_CHAIN = "P-CHAIN", Violation, Stated,
        "the chain names value {found:i}; the method has {expected}",
        "program.fbs, Chain.inputs and Chain.outputs: indices of values";
    M_SIZE = "M-SIZE", Fatal, Implied,
        "a memory buffer takes {found:i} bytes; this must not be negative",
        "program.fbs, ExecutionPlan.non_const_buffer_sizes";
    M_HUGE = "M-HUGE", Violation, Silent,
        "a memory buffer takes {found:i} bytes; no machine can address more than {expected}",
        "program.fbs, ExecutionPlan.non_const_buffer_sizes",
        why "allocation fails, or wraps in 32 bits";
    M_ZERO = "M-ZERO", Lint, Silent,
        "memory buffer 0 takes {found:i} bytes; it is reserved",
        "program.fbs, ExecutionPlan.non_const_buffer_sizes: ignore non_const_buffer_sizes[0]",
        why "no writer fills it, and a board would provide memory that nothing uses";
    M_DEVICE = "M-DEVICE", Violation, Implied,
        "a device is given for memory buffer {found:i}; the method plans {expected}, and 0 is reserved",
        "program.fbs, ExecutionPlan.non_const_buffer_device";
    V_KIND = "V-KIND", Fatal, Implied,
        "the value has no kind",
        "program.fbs, EValue.val",
        why "the runtime refuses the method";
    V_MISSING = "V-MISSING", Fatal, Implied,
        "the value has neither text nor items",
        "program.fbs, String.string_val and the items of lists",
        why "the runtime refuses the method or crashes";
    V_ITEM = "V-ITEM", Fatal, Stated,
        "an item of a list is value {found:i}; the method has {expected}",
        "program.fbs, IntList and TensorList: indices of values";
    V_ITEM_KIND = "V-ITEM-KIND", Fatal, Stated,
        "an item of a list is a value of kind {found}; the list holds values of kind {expected}",
        "program.fbs, IntList and TensorList: indices of values",
        why "the runtime aborts on an integer that is a tensor";
    O_NAME = "O-NAME", Fatal, Implied,
        "the operator has no name",
        "program.fbs, Operator.name",
        why "the runtime crashes when it looks for a kernel";
    O_UNKNOWN = "O-UNKNOWN", Unchecked, Silent,
        "how the operator is called was not checked: it is of no library that this reader knows",
        "program.fbs, Operator: uniquely identified by its name and overload",
        why "a kernel is code that the program expects from its host";
    D_ID = "D-ID", Fatal, Implied,
        "the delegate has no name",
        "program.fbs, BackendDelegate.id",
        why "the runtime looks for a backend of this name";
    D_DATA = "D-DATA", Fatal, Implied,
        "the delegate has no data",
        "program.fbs, BackendDelegate.processed",
        why "the runtime crashes";
    D_SETTING = "D-SETTING", Violation, Implied,
        "a setting of the delegate has no name or no value, or their list is missing",
        "program.fbs, BackendDelegate.compile_specs: key and value of each",
        why "the runtime follows the three without a check";
    D_LOCATION = "D-LOCATION", Fatal, Stated,
        "the location of the delegate's data is {found:i}; it must be 0 or 1",
        "program.fbs, DataLocation: in the flatbuffer, or in a segment";
    D_INDEX = "D-INDEX", Fatal, Stated,
        "the data of the delegate is number {found}; the file has {expected}",
        "program.fbs, BackendDelegateDataReference.index";
    D_UNCHECKED = "D-UNCHECKED", Unchecked, Silent,
        "the delegate has {found} bytes in a format of its own, which were not checked",
        "program.fbs, BackendDelegate.processed: a binary blob",
        why "a backend compiles and runs them";
    I_KIND = "I-KIND", Fatal, Implied,
        "the instruction has no kind",
        "program.fbs, Instruction.instr_args",
        why "the runtime refuses the method";
    I_OPERATOR = "I-OPERATOR", Fatal, Stated,
        "the instruction calls operator {found:i}; the method has {expected}",
        "program.fbs, KernelCall.op_index",
        why "the runtime crashes";
    I_DELEGATE = "I-DELEGATE", Fatal, Stated,
        "the instruction calls delegate {found:i}; the method has {expected}",
        "program.fbs, DelegateCall.delegate_index";
    I_VALUE = "I-VALUE", Fatal, Stated,
        "the instruction uses value {found:i}; the method has {expected}",
        "program.fbs, KernelCall, DelegateCall, MoveCall and FreeCall: indices of values",
        why "CVE-2025-54949: the runtime wrote outside its values";
    I_COUNT = "I-COUNT", Fatal, Implied,
        "the instruction passes {found} values to an operator that takes {expected}",
        "the signature of the operator, with its outputs and what it returns",
        why "CVE-2025-54950: kernels read past their arguments";
    I_CONDITION = "I-CONDITION", Fatal, Stated,
        "the jump depends on value {found:i}; the method has {expected}",
        "program.fbs, JumpFalseCall.cond_value_index";
    I_CONDITION_KIND = "I-CONDITION-KIND", Violation, Stated,
        "the jump depends on a value of kind {found}, which is neither a truth value nor a tensor",
        "program.fbs, JumpFalseCall.cond_value_index: index of a boolean";
    I_JUMP = "I-JUMP", Fatal, Stated,
        "the jump leads to instruction {found:i}; the chain has {expected}",
        "program.fbs, JumpFalseCall.destination_instruction",
        why "the runtime then ends the method";
    I_FREE = "I-FREE", Violation, Stated,
        "the instruction frees a value of kind {found}, which is no tensor",
        "program.fbs, FreeCall.value_index: index of a tensor";
}

flatbuffer::structure!();

/// The rule for a fault that a shared check finds.
pub(crate) const fn shared(fault: Fault) -> Option<Rule> {
    // A board says that it does not compare them.
    if !WINDOWS && matches!(fault, Fault::Duplicate(_) | Fault::Overlap) {
        return None;
    }
    Some(match fault {
        Fault::Duplicate(EntryKind::Metadata) => N_TWICE,
        Fault::Overlap => F_OVERLAP,
        Fault::Element(DType::Bool) => T_BOOL,
        _ => return None,
    })
}
