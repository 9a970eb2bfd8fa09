//! The rules of TensorFlow Lite.
//!
//! The specification is the published schema, version 3 with its revisions up to 3d, and the binary
//! format of flatbuffers. Where the schema is silent, a rule rests on the semantic verifier that
//! comes with the runtime, and on what the runtime itself does.

use crate::base::features::WINDOWS;
use crate::format::{Fault, Format, flatbuffer};
use crate::model::DType;
use crate::rule::{EntryKind, Rule, rules};

rules! { Format::Tflite.code();
    F_SHORT = "F-SHORT", Fatal, Stated,
        "the file is {found} bytes long; a flatbuffer has at least {expected}",
        "FlatBuffers, Binary Format: an offset to the root table, then the file identifier";
    F_IDENTIFIER = "F-IDENTIFIER", Fatal, Stated,
        "the file identifier is not TFL3",
        "schema: file_identifier \"TFL3\", in bytes 4 to 7",
        why "a file with a length in front, or of another schema, is read wrongly";
    F_ROOT = "F-ROOT", Fatal, Stated,
        "the root table is at {found}, which is outside the file or not a multiple of four",
        "FlatBuffers, Binary Format: the file starts with an offset to the root table",
        why "tensorflow#115308: the runtime read outside the file";
    F_OFFSET = "F-OFFSET", Fatal, Stated,
        "an offset is {found}; it must be positive, with an object inside the file",
        "FlatBuffers, Binary Format: offsets point forward, within the file";
    F_ALIGN = "F-ALIGN", Fatal, Stated,
        "an offset leads to an object whose position is not a multiple of four",
        "FlatBuffers, Binary Format: all objects are aligned to their width";
    F_VTABLE = "F-VTABLE", Fatal, Stated,
        "the vtable of a table is outside the file or not at an even offset",
        "FlatBuffers, Binary Format: a table starts with a signed offset to its vtable";
    F_VTABLE_LENGTH = "F-VTABLE-LENGTH", Fatal, Stated,
        "the vtable says it takes {found} bytes; this must be even, at least 4, and inside the file",
        "FlatBuffers, Binary Format: the first element of a vtable is its size in bytes";
    F_TABLE_LENGTH = "F-TABLE-LENGTH", Violation, Stated,
        "the vtable says that its table takes {found} bytes; the file has {expected} left",
        "FlatBuffers, Binary Format: the second element of a vtable is the size of the table",
        why "the verifier of flatbuffers does not look, and its reader has no use for it";
    F_FIELD_HEAD = "F-FIELD-HEAD", Fatal, Implied,
        "a field is at offset {found} of its table; the first four bytes lead to the vtable",
        "FlatBuffers, Binary Format: fields come after the offset to the vtable";
    F_FIELD_BOUNDS = "F-FIELD-BOUNDS", Fatal, Stated,
        "a field ends at offset {found} of its table; the file has {expected} bytes there",
        "FlatBuffers, Binary Format: fields are inside their table";
    F_FIELD_ALIGN = "F-FIELD-ALIGN", Fatal, Stated,
        "a field is at {found}, which is not a multiple of its width of {expected}",
        "FlatBuffers, Binary Format: scalars are aligned to their own size";
    F_FIELD_TABLE = "F-FIELD-TABLE", Lint, Silent,
        "a field ends at offset {found} of a table of {expected} bytes",
        "FlatBuffers, Binary Format: fields are inside their table",
        why "readers do not look at the length of the table";
    F_VECTOR = "F-VECTOR", Fatal, Stated,
        "the items of a vector take {found} bytes; the file has {expected} left",
        "FlatBuffers, Binary Format: a vector is its count and that many items";
    F_VECTOR_ALIGN = "F-VECTOR-ALIGN", Fatal, Stated,
        "the items of a vector are at {found}, which is not a multiple of their width of {expected}",
        "FlatBuffers, Binary Format: vectors are aligned to their elements";
    F_STRING = "F-STRING", Fatal, Stated,
        "a text is {found} bytes long; the file has {expected} left",
        "FlatBuffers, Binary Format: a string is a vector of bytes, and a zero byte after it";
    F_STRING_END = "F-STRING-END", Violation, Stated,
        "the byte after a text is {found}; it must be 0",
        "FlatBuffers, Binary Format: strings are null-terminated",
        why "readers in C use the text up to the zero byte";
    F_UNION_KIND = "F-UNION-KIND", Violation, Implied,
        "a union has a value and no kind",
        "FlatBuffers, Binary Format: a union is two fields, its kind and its value",
        why "readers ignore the value";
    F_UNION_VALUE = "F-UNION-VALUE", Lint, Silent,
        "a union has kind {found} and no value",
        "FlatBuffers, Binary Format: a union is two fields, its kind and its value",
        why "readers take the defaults of that kind";
    F_UNION_UNKNOWN = "F-UNION-UNKNOWN", Unchecked, Silent,
        "a union has kind {found}, which this reader does not know; its value was not checked",
        "schema: all new members of unions must be added at the end";
    F_SHARED = "F-SHARED", Fatal, Silent,
        "tables are shared so much that following them takes more than {expected} bytes",
        "a limit of this reader (SHARES); the runtime stops at a million tables",
        why "no writer shares tables; a short file can describe a tree without end";
    F_OVERLAP = "F-OVERLAP", Violation, Implied,
        "the bytes belong to two objects; the one before ends at {expected}",
        "FlatBuffers, Binary Format: each object has its own bytes",
        why "no writer makes it, and the bytes mean two things";
    F_TRAILING = "F-TRAILING", Lint, Silent,
        "{found} bytes at the end of the file belong to nothing",
        "schema: buffers and options may be stored after the flatbuffer, by offset and size",
        why "associated files of TFLite Metadata lie there as a ZIP file; readers of models do not see them";
    M_VERSION = "M-VERSION", Fatal, Stated,
        "the version of the schema is {found}; it must be {expected}",
        "schema, Model.version: version of the schema; this text is of version 3",
        why "the runtime refuses other versions";
    M_SUBGRAPHS = "M-SUBGRAPHS", Fatal, Stated,
        "the model has no subgraphs",
        "schema, Model.subgraphs: the 0th is assumed to be the main model",
        why "the runtime crashes if the vector is missing, and refuses an empty one";
    M_BUFFERS = "M-BUFFERS", Fatal, Stated,
        "the model has no buffers",
        "schema, Model.buffers: the 0th entry must be an empty buffer",
        why "the runtime refuses the file";
    M_OLD_METADATA = "M-OLD-METADATA", Violation, Stated,
        "the old list of metadata names buffer {found:i}; the model has {expected}",
        "schema, Model.metadata_buffer: indices of buffers";
    M_META_BUFFER = "M-META-BUFFER", Violation, Stated,
        "the metadata is in buffer {found}; the model has {expected}",
        "schema, Metadata.buffer: an index to the buffers table";
    M_TWICE = "M-TWICE", Violation, Stated,
        "the name was used before, by entry {expected}",
        "schema, Metadata.name: a string to uniquely identify a Metadata; signatures are looked up by key",
        why "readers take the first or the last of them";
    M_NAME_UTF8 = "M-NAME-UTF8", Violation, Stated,
        "the name is not UTF-8",
        "FlatBuffers, Schema: a string holds UTF-8";
    K_KEY = "K-KEY", Violation, Implied,
        "the signature has no key",
        "schema, SignatureDef.signature_key: the key in the map of signatures",
        why "the runtime refuses a signature without a key";
    K_SUBGRAPH = "K-SUBGRAPH", Violation, Stated,
        "the signature is of subgraph {found}; the model has {expected}",
        "schema, SignatureDef.subgraph_index: index of the subgraph of the exported method";
    K_TENSOR = "K-TENSOR", Violation, Stated,
        "the signature names tensor {found}, which is no input or output of its subgraph",
        "schema, TensorMap.tensor_index: the tensor that the name corresponds to",
        why "callers of a signature set or read another tensor";
    K_NAME = "K-NAME", Violation, Implied,
        "an input or output of the signature has no name",
        "schema, TensorMap.name: the name of the tensor in the signature",
        why "callers find tensors by name, and the runtime drops this one";
    C_CODE = "C-CODE", Violation, Stated,
        "the operator code is {found:i}, which is no operator",
        "schema, OperatorCode: a builtin operator, whose code is the larger of two fields";
    C_NEW = "C-NEW", Unchecked, Silent,
        "the operator code is {found}; this reader knows codes up to {expected}, and did not check its options",
        "schema, BuiltinOperator: new members are added at the end";
    C_NAME = "C-NAME", Violation, Implied,
        "the custom operator has no name",
        "schema, OperatorCode: a string if the operator is custom";
    C_CUSTOM = "C-CUSTOM", Unchecked, Silent,
        "the operator is custom, or compiled for an accelerator; its options were not checked",
        "schema, BuiltinOperator: custom operators accept an opaque object",
        why "its kernel comes from the program that runs the model; those named Flex are kernels of TensorFlow, among them readers of files";
    C_VERSION = "C-VERSION", Violation, Stated,
        "the version of the operator is {found:i}; it must be at least 1",
        "schema, OperatorCode.version: the version of the operator, 1 by default";
    B_INDEX = "B-INDEX", Fatal, Stated,
        "the tensor is in buffer {found}; the model has {expected}",
        "schema, Tensor.buffer: an index that refers to the buffers table",
        why "CVE-2020-15209: the runtime read outside the table";
    B_BOTH = "B-BOTH", Violation, Stated,
        "the buffer has data, and an offset to data outside the flatbuffer",
        "schema, Buffer: models larger than 2 GB use offset and size instead",
        why "readers take the data inside";
    B_OFFSET = "B-OFFSET", Violation, Stated,
        "the buffer has size {found} and no offset; 0 and 1 stand for none",
        "schema, Buffer.offset: only valid if > 1",
        why "readers take the buffer for an empty one";
    B_RANGE = "B-RANGE", Fatal, Stated,
        "the data of the buffer starts at {found} and ends past the end of the file",
        "schema, Buffer: offset and size, from the beginning of the file",
        why "the runtime adds both without regard to 64 bits, and reads outside the file";
    B_ZERO = "B-ZERO", Lint, Silent,
        "buffer 0 has data; it stands for none",
        "schema, Model.buffers: the 0th entry must be an empty buffer (sentinel)",
        why "readers take tensors of buffer 0 for constants if it has data, and for others if not";
    B_UNUSED = "B-UNUSED", Lint, Silent,
        "the buffer has {found} bytes, and nothing refers to it",
        "schema, Model.buffers: buffers of tensors and of metadata",
        why "no writer makes it, and readers do not see it";
    B_ALIGN = "B-ALIGN", Lint, Silent,
        "the data lies {found} past a multiple of {expected}",
        "schema, Buffer.data: force_align 16",
        why "TensorFlow's converter packs models again in Python, which ignores it; what uses weights in place needs the alignment. Reported for the first buffer";
    T_TYPE = "T-TYPE", Fatal, Stated,
        "the type is {found:i}, which the schema does not define, so the size cannot be verified",
        "schema, TensorType: 0 to 22";
    T_DIM = "T-DIM", Fatal, Stated,
        "an extent is {found:i}; it must not be negative",
        "schema, Tensor.shape: the tensor shape; only shape_signature has -1",
        why "the runtime multiplies them";
    T_PRODUCT = "T-PRODUCT", Fatal, Implied,
        "the elements or their bytes exceed 64 bits",
        "schema, Tensor.shape: the tensor shape",
        why "CVE-2021-29605: sizes that wrap";
    T_RANK = "T-RANK", Lint, Silent,
        "the extents do not fit into this reader's 32 digits, so they are not shown",
        "schema, Tensor.shape: the tensor shape",
        why "a limit of this reader; extents that large, or that many, occur in no model";
    T_SHORT = "T-SHORT", Fatal, Stated,
        "the data is {found} bytes long; shape and type take {expected}",
        "schema, Tensor.buffer: elements in row-major order, little-endian";
    T_LONG = "T-LONG", Violation, Stated,
        "the data is {found} bytes long; shape and type take only {expected}",
        "schema, Tensor.buffer: elements in row-major order, little-endian",
        why "the semantic verifier asks for exactly as many bytes, the runtime for at least as many; what follows is invisible";
    T_RESOURCE = "T-RESOURCE", Violation, Implied,
        "the tensor is a resource or a variant and has data",
        "schema, TensorType: RESOURCE and VARIANT have no data in the file";
    T_VARIABLE = "T-VARIABLE", Violation, Implied,
        "the tensor is a variable and has data",
        "schema, Tensor.is_variable",
        why "the runtime refuses the file";
    T_NAME_UTF8 = "T-NAME-UTF8", Violation, Stated,
        "the name is not UTF-8",
        "FlatBuffers, Schema: a string holds UTF-8";
    T_TEXT = "T-TEXT", Unchecked, Silent,
        "the text has {found} bytes; this reader looks at most at {expected}",
        "a limit of this reader (TFLITE_TEXT); real names take a few hundred bytes";
    T_SIGNATURE_RANK = "T-SIGNATURE-RANK", Violation, Stated,
        "shape_signature has rank {found}; the shape has {expected}",
        "schema, Tensor.shape_signature: encodes shape with unknown dimensions";
    T_SIGNATURE_DIM = "T-SIGNATURE-DIM", Violation, Stated,
        "an extent of shape_signature is {found:i}; it must be -1, or {expected} as in the shape",
        "schema, Tensor.shape_signature: the shape, in which unknown dimensions are represented with -1",
        why "callers that resize inputs take the one, and allocation takes the other";
    T_BOOL = "T-BOOL", Lint, Silent,
        "a Boolean is {found}; it must be 0 or 1",
        "schema, TensorType.BOOL",
        why "readers take any other value as true";
    T_PADDING = "T-PADDING", Lint, Silent,
        "unused bits of the last element are not zero: {found:#x}",
        "schema, TensorType.INT4 and INT2: elements are packed, the first in the lowest bits",
        why "readers ignore the bits, and writers leave them 0";
    X_HEAD = "X-HEAD", Fatal, Implied,
        "the texts take {found} bytes; their count and offsets take {expected}",
        "runtime, string_util: the number of texts, an offset for each and one for the end",
        why "the runtime does not look, and reads outside the buffer";
    X_COUNT = "X-COUNT", Violation, Implied,
        "the buffer has {found} texts; the shape has {expected}",
        "runtime, string_util: as many texts as elements";
    X_OFFSET = "X-OFFSET", Fatal, Implied,
        "the offset of a text is {found}; it must not be below {expected} or past the end",
        "runtime, string_util: offsets from the start of the buffer, in ascending order, the last one is the end",
        why "the runtime does not look, and reads outside the buffer";
    Q_COUNT = "Q-COUNT", Violation, Implied,
        "the number of scales is {expected} and that of zero points is {found}",
        "schema, QuantizationParameters: f = scale * (q - zero_point)",
        why "the runtime refuses the file";
    Q_CHANNELS = "Q-CHANNELS", Violation, Stated,
        "the number of scales is {found}; it must be 1 or {expected}, the extent of the axis",
        "schema, QuantizationParameters.quantized_dimension: the dimension that the scales correspond to",
        why "the runtime refuses the file; CVE-2021-37682: kernels used what was not there";
    Q_AXIS = "Q-AXIS", Violation, Stated,
        "the axis of quantisation is {found:i}; the tensor has rank {expected}",
        "schema, QuantizationParameters.quantized_dimension: a dimension of the shape";
    Q_SCALE = "Q-SCALE", Violation, Implied,
        "a scale is negative or not finite: its bits are {found:#x}",
        "schema, QuantizationParameters.scale: f = scale * (q - zero_point)";
    Q_SCALE_ZERO = "Q-SCALE-ZERO", Lint, Silent,
        "a scale is 0, so that all its elements stand for 0",
        "schema, QuantizationParameters.scale: f = scale * (q - zero_point)",
        why "some converters give channels without values such a scale; kernels that divide by it compute with infinity";
    Q_ZERO_POINT = "Q-ZERO-POINT", Violation, Implied,
        "a zero point is {found:i}, which the type of the elements cannot store",
        "schema, QuantizationParameters.zero_point: f = scale * (q - zero_point)",
        why "kernels narrow it to the type of the elements";
    Q_CUSTOM = "Q-CUSTOM", Unchecked, Stated,
        "the quantisation is custom and was not checked",
        "schema, CustomQuantization: parameters for experimenting";
    Q_TENSOR = "Q-TENSOR", Violation, Stated,
        "scales or zero points are in tensor {found:i}; the subgraph has {expected}",
        "schema, BlockwiseQuantization: index to the tensor, in the tensors array of the subgraph",
        why "the runtime does not look";
    Q_SELF = "Q-SELF", Violation, Implied,
        "scales or zero points of the tensor are in the tensor itself",
        "schema, BlockwiseQuantization: index to the tensor of the scales";
    Q_TYPE = "Q-TYPE", Violation, Implied,
        "the scales are in a tensor of type {found}, which is no float",
        "schema, BlockwiseQuantization.scales: index to the tensor of the scales",
        why "kernels read them as float16 or float32";
    Q_BLOCK = "Q-BLOCK", Violation, Stated,
        "the block size is {found:i}; it must be positive and divide the number of elements, {expected}",
        "schema, BlockwiseQuantization.block_size: the block size of the tensor",
        why "kernels divide by it";
    Q_SHAPE = "Q-SHAPE", Violation, Implied,
        "the tensor of scales or zero points has {found} elements; the shape has {expected} blocks",
        "schema, BlockwiseQuantization: one scale for each block";
    Z_ORDER = "Z-ORDER", Violation, Stated,
        "the traversal order has {expected} entries and is no permutation, or too short: entry {found}",
        "schema, SparsityParameters.traversal_order: a permutation of the dimensions, then one of the block's",
        why "CVE-2021-37682, CVE-2022-23560: kernels read and wrote outside";
    Z_MAP = "Z-MAP", Violation, Stated,
        "the block map has dimension {found:i}; the tensor has rank {expected}",
        "schema, SparsityParameters.block_map: how a block dimension maps to the original dimension";
    Z_LEVELS = "Z-LEVELS", Violation, Stated,
        "the number of dimensions described is {found}; the traversal order has {expected}",
        "schema, SparsityParameters.dim_metadata: the size equals that of traversal_order";
    Z_FORMAT = "Z-FORMAT", Violation, Stated,
        "the format of a dimension is {found}; it must be 0 (dense) or 1 (CSR)",
        "schema, DimensionType: DENSE or SPARSE_CSR";
    Z_DENSE = "Z-DENSE", Violation, Stated,
        "the size of a dense dimension is {found:i}; the shape and its blocks leave {expected}",
        "schema, DimensionMetadata.dense_size: the size of that dimension",
        why "a block that is 0, or does not divide its dimension, is one as well; the semantic verifier before 2.3 divided by it";
    Z_SEGMENTS = "Z-SEGMENTS", Violation, Stated,
        "the segments of a dimension are too few, or decrease: {found} after {expected}",
        "schema, DimensionMetadata.array_segments: the row pointers of a CSR matrix",
        why "CVE-2022-23560: kernels read and wrote outside";
    Z_INDICES = "Z-INDICES", Violation, Stated,
        "an index is {found:i}, or there are other than {expected} of them",
        "schema, DimensionMetadata.array_indices: the column indices of a CSR matrix",
        why "CVE-2022-23560: kernels read and wrote outside";
    Z_VALUES = "Z-VALUES", Violation, Implied,
        "the data of the sparse tensor is {found} bytes long; its indices take {expected}",
        "schema, SparsityParameters: the non-zero values in traversal order";
    E_BOTH = "E-BOTH", Violation, Stated,
        "the tensor has a buffer and an external buffer",
        "schema, Tensor.external_buffer: 0 indicates that the tensor uses the traditional buffer",
        why "the runtime refuses the file";
    E_ID = "E-ID", Violation, Stated,
        "the tensor is in external buffer {found}, which the model does not have",
        "schema, ExternalBuffer.id: unique identifier for this external buffer";
    E_TWICE = "E-TWICE", Violation, Stated,
        "number {found} is that of an earlier external buffer, too",
        "schema, ExternalBuffer.id: unique identifier for this external buffer",
        why "readers take the first or the last of them";
    E_GROUP = "E-GROUP", Violation, Stated,
        "the external buffer is in group {found}; the model has {expected}",
        "schema, ExternalBuffer.group: index into the external_buffer_groups array";
    E_LENGTH = "E-LENGTH", Violation, Stated,
        "the external buffer is {found} bytes long; shape and type take {expected}",
        "schema, ExternalBuffer.length: the bytes of the tensor";
    E_RANGE = "E-RANGE", Violation, Implied,
        "the external buffer starts at {expected} and ends beyond 64 bits",
        "schema, ExternalBuffer: offset and length within the file",
        why "a loader that adds them wraps around";
    E_PATH = "E-PATH", Violation, Silent,
        "the name of the external file is not a plain path inside the model's folder",
        "schema, ExternalBufferGroup: groups external buffers by file/URI",
        why "a loader that follows it opens other files, or asks a server";
    E_UNCHECKED = "E-UNCHECKED", Unchecked, Silent,
        "the data is in another file, which was not looked at",
        "schema, ExternalBuffer: an immutable data slice stored in an external file",
        why "a checker names what it did not check";
    G_TENSORS = "G-TENSORS", Violation, Stated,
        "the subgraph has no tensors, and operators or inputs or outputs",
        "schema, SubGraph.tensors: a list of all tensors used in this subgraph",
        why "the runtime refuses the file";
    G_OPERATORS = "G-OPERATORS", Lint, Silent,
        "the subgraph has no list of operators",
        "schema, SubGraph.operators: all operators, in execution order",
        why "the semantic verifier refuses the file, the runtime does not";
    G_INPUT = "G-INPUT", Violation, Stated,
        "an input of the subgraph is tensor {found:i}; it has {expected}",
        "schema, SubGraph.inputs: indices of the tensors that are inputs",
        why "CVE-2020-15211: indices that are negative or too large";
    G_OUTPUT = "G-OUTPUT", Violation, Stated,
        "an output of the subgraph is tensor {found:i}; it has {expected}",
        "schema, SubGraph.outputs: indices of the tensors that are outputs",
        why "CVE-2020-15211: indices that are negative or too large";
    G_CONSTANT = "G-CONSTANT", Violation, Stated,
        "input {found} of the subgraph is a constant",
        "schema, SubGraph.inputs: the list of non-static tensors that feed into the subgraph",
        why "a program that writes its input writes the model; the runtime crashes";
    O_CODE = "O-CODE", Violation, Stated,
        "the operator has code number {found}; the model has {expected}",
        "schema, Operator.opcode_index: index into the operator_codes array";
    O_INPUT = "O-INPUT", Violation, Stated,
        "the operator reads tensor {found:i}; the subgraph has {expected}",
        "schema, Operator.inputs: optional input are indicated by -1",
        why "CVE-2020-15211: indices that are negative or too large";
    O_OUTPUT = "O-OUTPUT", Violation, Stated,
        "the operator writes tensor {found:i}; the subgraph has {expected}",
        "schema, Operator.outputs: indices of tensors",
        why "CVE-2020-15211: indices that are negative or too large";
    O_NO_OUTPUTS = "O-NO-OUTPUTS", Violation, Implied,
        "the operator has no list of outputs",
        "schema, Operator.outputs: indices of tensors",
        why "the runtime uses it without looking";
    O_INTERMEDIATE = "O-INTERMEDIATE", Violation, Stated,
        "an intermediate of the operator is tensor {found:i}; the subgraph has {expected}",
        "schema, Operator.intermediates: indices to the subgraph's tensors that are internal to an Op";
    O_MUTATING = "O-MUTATING", Violation, Stated,
        "the operator marks {found} of its inputs as mutable or not; it has {expected}",
        "schema, Operator.mutating_variable_inputs: the same length as inputs, or empty";
    O_OPTIONS = "O-OPTIONS", Lint, Silent,
        "the options are of kind {found}; those of the operator are of kind {expected}",
        "schema, BuiltinOptions: builtins have a predetermined set of acceptable options",
        why "the runtime takes such options for absent ones";
    O_LARGE = "O-LARGE", Violation, Stated,
        "the custom options start at {expected} and end past the end of the file",
        "schema, Operator.large_custom_options_offset: from the beginning of the file, only valid if > 1",
        why "the runtime adds offset and size without regard to 64 bits, and reads outside the file";
    O_LARGE_OFFSET = "O-LARGE-OFFSET", Violation, Stated,
        "the custom options have size {found} and no offset; 0 and 1 stand for none",
        "schema, Operator.large_custom_options_offset: only valid if > 1",
        why "readers pass no options to the operator";
    O_LARGE_BOTH = "O-LARGE-BOTH", Violation, Stated,
        "the operator has custom options, and an offset to others outside the flatbuffer",
        "schema, Operator.large_custom_options_offset: custom options of models larger than 2 GB",
        why "readers take the options inside";
    O_SUBGRAPH = "O-SUBGRAPH", Violation, Stated,
        "the operator calls subgraph {found:i}; the model has {expected}",
        "schema, IfOptions, WhileOptions and others: indices of subgraphs",
        why "each kernel looks for itself, some of them not";
    O_CYCLE = "O-CYCLE", Violation, Silent,
        "calls of subgraph {found} lead back to it, directly or through others",
        "schema, WhileOptions and others: indices of subgraphs",
        why "CVE-2021-29591: the runtime calls until the stack ends";
    O_UNPRODUCED = "O-UNPRODUCED", Violation, Stated,
        "the operator reads tensor {found}, which nothing before it produces",
        "schema, SubGraph.operators: all operators, in execution order",
        why "the semantic verifier refuses the file; the runtime reads memory that nothing wrote";
    O_WRITTEN = "O-WRITTEN", Violation, Implied,
        "the operator writes tensor {found}, which is a constant, an input, or written before",
        "schema, SubGraph.operators: tensors flow from one operator to the next",
        why "CVE-2020-15210, CVE-2020-15212: one tensor as input and output crashed kernels";
    O_UNCHECKED = "O-UNCHECKED", Unchecked, Silent,
        "the model has {found} subgraphs, and calls to earlier ones; whether they call themselves was not checked for more than {expected}",
        "a limit of this reader (TFLITE_MARKS); real models have up to a few hundred";
}

flatbuffer::structure!();

/// The rule for a fault that a shared check finds.
pub(crate) const fn shared(fault: Fault) -> Option<Rule> {
    // A board says that it does not compare them.
    if !WINDOWS && matches!(fault, Fault::Duplicate(_) | Fault::Overlap | Fault::Trailing) {
        return None;
    }
    Some(match fault {
        Fault::Duplicate(EntryKind::Metadata) => M_TWICE,
        Fault::Overlap => F_OVERLAP,
        Fault::Trailing => F_TRAILING,
        Fault::Element(DType::Bool) => T_BOOL,
        Fault::TailBits => T_PADDING,
        _ => return None,
    })
}
