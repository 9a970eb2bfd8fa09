//! The rules of ONNX.
//!
//! `onnx.proto` is the specification, with the text of `docs/IR.md`. Where it leaves a rejection
//! to the checker, a rule rests on what `onnx.checker` and onnxruntime do.

use crate::codec;
use crate::format::{Fault, Format};
use crate::protobuf::Rules;
use crate::rule::{EntryKind, Rule, rules};

rules! { Format::Onnx.code();
    W_END = "W-END", Fatal, Stated,
        "the field takes {expected} bytes, and its message has {found} left",
        "Protocol Buffers, Encoding: a length-delimited record has as many bytes as its length says";
    W_VARINT = "W-VARINT", Fatal, Stated,
        "the varint has more than ten bytes",
        "Protocol Buffers, Encoding: a varint takes one to ten bytes";
    W_OVERLONG = "W-OVERLONG", Lint, Silent,
        "the varint takes more bytes than its value needs",
        "Protocol Buffers, Encoding: writers end a varint with its last group that is not zero",
        why "every reader takes it and no writer makes it; it encodes the same content in a second way";
    W_BITS = "W-BITS", Violation, Implied,
        "the varint has more than 64 bits",
        "Protocol Buffers, Encoding: a varint holds an unsigned integer of 64 bits",
        why "readers drop the bits, and none says so";
    W_NUMBER = "W-NUMBER", Fatal, Stated,
        "the field number is {found}; it must be 1 to {expected}",
        "Protocol Buffers, Assigning Field Numbers: 1 to 536,870,911",
        why "the loader of the checker takes number 0 for the end of the file and does not see the rest; other parsers refuse";
    W_WIRE = "W-WIRE", Fatal, Stated,
        "the wire type is {found}, which is not defined",
        "Protocol Buffers, Encoding: wire types are 0 to 5";
    W_GROUP = "W-GROUP", Fatal, Implied,
        "the field is the start or the end of a group",
        "Protocol Buffers, Groups: deprecated; no message of onnx.proto has one",
        why "the loader of the checker takes the end of a group for the end of the file and does not see the rest";
    W_FIELD = "W-FIELD", Fatal, Implied,
        "field {found} is stored with another wire type than onnx.proto declares",
        "onnx.proto: the type of each field",
        why "readers take such a field for an unknown one, and the declared field is absent";
    W_TWICE = "W-TWICE", Lint, Silent,
        "field {found} is given twice; readers take the last",
        "Protocol Buffers, Last One Wins",
        why "no writer makes it, and readers that take the first value see another model";
    W_MERGE = "W-MERGE", Lint, Silent,
        "field {found} is a single message and occurs twice; readers merge them",
        "Protocol Buffers, Last One Wins: singular embedded messages are merged",
        why "no writer makes it, and readers that do not merge see another model";
    W_DEPTH = "W-DEPTH", Unchecked, Silent,
        "messages nest deeper than {expected} levels; the content of this one was not checked",
        "a limit of this reader (PROTOBUF_DEPTH); real models nest up to ten";
    W_TEXT = "W-TEXT", Unchecked, Silent,
        "the text has {found} bytes; this reader looks at most at {expected}",
        "a limit of this reader (ONNX_TEXT); real names take a few hundred bytes";
    M_IR = "M-IR", Violation, Stated,
        "the IR version is {found}; it must be present and at least 1",
        "ModelProto.ir_version: this field MUST be present";
    M_IR_NEW = "M-IR-NEW", Unchecked, Silent,
        "the IR version is {found}; this reader knows up to {expected}",
        "onnx.proto, Version: new versions may change the meaning of the file";
    M_GRAPH = "M-GRAPH", Fatal, Stated,
        "the model has no graph",
        "ModelProto.graph: the parameterized graph that is evaluated";
    M_OPSET = "M-OPSET", Violation, Stated,
        "the model imports no operator set",
        "ModelProto.opset_import: the collection MUST contain an entry for the domain of each operator";
    M_OPSET_VERSION = "M-OPSET-VERSION", Violation, Stated,
        "the operator set has version {found:i}; it must be present and at least 1",
        "OperatorSetIdProto.version: this field MUST be present in this version of the IR";
    M_OPSET_NEW = "M-OPSET-NEW", Unchecked, Silent,
        "the model uses version {found} of ai.onnx; this reader knows up to {expected}",
        "OperatorSetIdProto.version: operators may change from version to version";
    M_KEY_TWICE = "M-KEY-TWICE", Violation, Stated,
        "the key was used before, by entry {expected}",
        "ModelProto: metadata keys are distinct, and so are the domains of operator sets";
    M_KEY_UTF8 = "M-KEY-UTF8", Violation, Implied,
        "the key is not UTF-8",
        "Protocol Buffers, Scalar Value Types: a string must contain UTF-8",
        why "C++ readers do not check it, and others refuse the file or replace the bytes";
    M_TRAINING = "M-TRAINING", Unchecked, Silent,
        "the model has training information; which node of its graphs reads which value was not checked",
        "ModelProto.training_info: how a model is initialised and trained further",
        why "its graphs read and write values of the main graph, and no reader in use checks them";
    G_NAME = "G-NAME", Violation, Stated,
        "the graph has no name",
        "IR.md, Names Within a Graph: the name of the graph is not empty";
    G_VALUE_NAME = "G-VALUE-NAME", Violation, Stated,
        "the input, output or value has no name",
        "ValueInfoProto.name: this field MUST be present in this version of the IR";
    G_ELEM = "G-ELEM", Violation, Stated,
        "the element type of a value is {found:i}, which onnx.proto does not define",
        "TypeProto.Tensor.elem_type: MUST have a valid TensorProto.DataType value";
    G_QUANT = "G-QUANT", Violation, Implied,
        "the quantisation annotation names no tensor",
        "TensorAnnotation.tensor_name: the tensor that is annotated";
    G_QUANT_VALUE = "G-QUANT-VALUE", Violation, Implied,
        "the quantisation annotation is of a value that the graph does not have",
        "TensorAnnotation.tensor_name: the tensor that is annotated",
        why "no reader checks it, and the value that was meant stays without its scale";
    G_QUANT_TWICE = "G-QUANT-TWICE", Violation, Implied,
        "the value has a quantisation annotation already",
        "GraphProto.quantization_annotation: information to annotate a tensor",
        why "no reader checks it, and readers differ in which one they take";
    G_QUANT_TENSOR = "G-QUANT-TENSOR", Violation, Implied,
        "the scale or zero point of the quantisation annotation is a tensor that the graph does not have",
        "TensorAnnotation.quant_parameter_tensor_names: pairs of a key, such as SCALE_TENSOR, and the name of a tensor",
        why "no reader checks it, and the value that is annotated stays without its scale";
    G_INPUT_TWICE = "G-INPUT-TWICE", Violation, Stated,
        "the graph or function has an input of this name already",
        "IR.md, Names Within a Graph: the names of values are unique";
    G_OUTPUT = "G-OUTPUT", Violation, Stated,
        "nothing makes this output of the graph or function",
        "IR.md, Graphs: an output is an output of a node, an input, or an initialiser";
    G_TYPE = "G-TYPE", Violation, Implied,
        "the stated type or shape is not that of the initialiser of this name",
        "GraphProto.value_info: information for the values in the graph",
        why "onnx.checker looks at it only with full_check, and a reader that trusts it computes another size";
    N_OP = "N-OP", Violation, Stated,
        "the node has no operator",
        "NodeProto.op_type: the symbolic identifier of the operator to execute";
    N_NOTHING = "N-NOTHING", Violation, Implied,
        "the node has neither inputs nor outputs",
        "IR.md, Nodes: nodes are connected by their inputs and outputs",
        why "the checker refuses the file";
    N_DOMAIN = "N-DOMAIN", Violation, Stated,
        "the model imports no operator set of this node's domain",
        "ModelProto.opset_import: the collection MUST contain an entry for the domain of each operator";
    N_CUSTOM = "N-CUSTOM", Unchecked, Silent,
        "the operator is of a domain outside ai.onnx and no function of the model; it was not checked",
        "NodeProto.domain: the domain that defines the operator",
        why "the kernel of such an operator comes from a shared library or, in old builds, from a Python class";
    N_MANY = "N-MANY", Unchecked, Silent,
        "the model names more domains of operators than {expected}; some were not compared with its imports",
        "a limit of this reader (ONNX_DOMAINS); operators of real models are of one to four domains";
    N_INPUT = "N-INPUT", Violation, Stated,
        "the node reads a value that is not there: no node, input or initialiser has this name",
        "IR.md, Nodes: an input names an output of a node, an input of the graph, or an initialiser";
    N_ORDER = "N-ORDER", Violation, Stated,
        "the node reads a value that only a later node makes",
        "GraphProto.node: the nodes in the graph, sorted topologically",
        why "onnx.checker refuses it; onnxruntime sorts the nodes, and refuses them if they read each other in a circle";
    N_MADE = "N-MADE", Violation, Stated,
        "the node makes a value that is there already",
        "IR.md, Graphs: models are in static single assignment form, nested graphs included";
    A_NAME = "A-NAME", Violation, Stated,
        "the attribute has no name",
        "AttributeProto.name: the name field MUST be present for this version of the IR";
    A_TYPE = "A-TYPE", Violation, Stated,
        "the type of the attribute is {found:i}; it must be 1 to 14",
        "AttributeProto.type: MUST be present for this version of the IR";
    A_VALUES = "A-VALUES", Violation, Stated,
        "the attribute has {found} values; at most one of them may be present",
        "AttributeProto: exactly one of the value fields must be present";
    A_DIFFERS = "A-DIFFERS", Violation, Stated,
        "the attribute is of type {expected} and has another kind of value",
        "AttributeProto.type: the discriminator field must match the value field";
    A_REF = "A-REF", Violation, Stated,
        "the attribute refers to one of a function, and its node is in none",
        "AttributeProto.ref_attr_name: valid only within a function body",
        why "onnx.checker does not look, and nothing can resolve it";
    A_TWICE = "A-TWICE", Violation, Implied,
        "the node has an attribute of this name already",
        "NodeProto.attribute: additional named attributes",
        why "readers differ in which of the two values they take";
    A_DECLARED = "A-DECLARED", Violation, Stated,
        "the attribute refers to one that the function around it does not declare",
        "AttributeProto.ref_attr_name: the name of an attribute in the parent function",
        why "nothing can resolve it: the caller cannot give such an attribute";
    F_NAME = "F-NAME", Violation, Stated,
        "the function has no name",
        "FunctionProto.name: part of the unique id of the function";
    F_DOMAIN = "F-DOMAIN", Violation, Stated,
        "the function has no domain",
        "FunctionProto.domain: part of the unique id of the function";
    F_SELF = "F-SELF", Violation, Stated,
        "the function calls itself",
        "ModelProto.functions: one function can reference others; recursive reference is not allowed",
        why "a loader that inlines functions does not end";
    F_CYCLE = "F-CYCLE", Violation, Stated,
        "the function calls others that call it again",
        "ModelProto.functions: one function can reference others; recursive reference is not allowed",
        why "a loader that inlines functions does not end";
    F_TWICE = "F-TWICE", Violation, Stated,
        "another function has the same domain, name and overload",
        "ModelProto.functions: the domain, name and overload are unique among the functions",
        why "a call does not say which of the two it means";
    T_NAME = "T-NAME", Violation, Stated,
        "the initialiser has no name",
        "GraphProto.initializer: each tensor MUST have a name";
    T_NAME_UTF8 = "T-NAME-UTF8", Violation, Implied,
        "the name is not UTF-8",
        "Protocol Buffers, Scalar Value Types: a string must contain UTF-8",
        why "C++ readers do not check it, and others refuse the file or replace the bytes";
    T_NAME_NUL = "T-NAME-NUL", Violation, Silent,
        "the name contains a NUL byte",
        "IR.md, Names Within a Graph: names are C identifiers",
        why "readers in C see the part before it";
    T_TWICE = "T-TWICE", Violation, Stated,
        "the name was used before, by tensor {expected}",
        "GraphProto.initializer: the name is unique across initializer and sparse_initializer; IR.md, Names Within a Graph: so is that of a node's output";
    T_TYPE = "T-TYPE", Fatal, Stated,
        "the data type is {found:i}, which onnx.proto does not define, so the size cannot be verified",
        "TensorProto.data_type: MUST have a valid TensorProto.DataType value, and UNDEFINED is none",
        why "onnx.checker lets unknown types with raw data pass; no reader can use them";
    T_DIM = "T-DIM", Fatal, Stated,
        "an extent is {found:i}; it must not be negative",
        "TensorProto.dims: the shape of the tensor";
    T_PRODUCT = "T-PRODUCT", Fatal, Implied,
        "the elements or their bytes exceed 64 bits",
        "TensorProto.dims: the shape of the tensor, whose size is a 64-bit number";
    T_RANK = "T-RANK", Lint, Silent,
        "the extents do not fit into this reader's 32 digits, so they are not shown",
        "TensorProto.dims: the shape of the tensor",
        why "a limit of this reader; extents that large, or that many, occur in no model";
    T_KINDS = "T-KINDS", Fatal, Stated,
        "the tensor has data in more than one field",
        "TensorProto: exactly one of the data fields is used to store the elements";
    T_FIELD = "T-FIELD", Fatal, Stated,
        "the data is in field {found}, which does not store elements of this type",
        "TensorProto: each data field lists the types that it stores, and strings are never raw";
    T_SHORT = "T-SHORT", Fatal, Stated,
        "the data is {found} bytes long; shape and type take {expected}",
        "TensorProto.raw_data: elements in fixed width, little-endian, in row-major order";
    T_LONG = "T-LONG", Violation, Stated,
        "the data is {found} bytes long; shape and type take only {expected}",
        "TensorProto.raw_data: elements in fixed width, little-endian, in row-major order",
        why "onnx.checker asks for at least as many bytes and onnxruntime for exactly as many; what follows is invisible";
    T_COUNT = "T-COUNT", Fatal, Stated,
        "the number of values is not that of the elements",
        "TensorProto: the data fields hold the elements, and packed types two or four to a value";
    T_VALUE = "T-VALUE", Violation, Stated,
        "a value is no varint, or not in the range of the type",
        "TensorProto.int32_data: a value of a narrower type is zero- or sign-extended",
        why "readers keep the lower bits, and none says so";
    T_NONE = "T-NONE", Fatal, Stated,
        "the tensor has no data; its shape has {expected} elements",
        "TensorProto: exactly one of the data fields is used to store the elements";
    T_EMPTY = "T-EMPTY", Violation, Implied,
        "the shape has no elements and the data has {found} bytes",
        "TensorProto.dims: an extent of 0 means that there are no elements",
        why "onnx.checker refuses the file";
    T_SPLIT = "T-SPLIT", Lint, Silent,
        "the values are not in one packed piece, so this reader does not read them",
        "Protocol Buffers, Packed Repeated Fields: parsers must accept several pieces and single values",
        why "no writer makes it";
    T_SEGMENT = "T-SEGMENT", Unchecked, Stated,
        "the data is a segment of a tensor; segments were not checked",
        "TensorProto.segment: large tensors may be stored in chunks",
        why "no reader implements the field";
    T_BOOL = "T-BOOL", Lint, Silent,
        "a Boolean is {found}; it must be 0 or 1",
        "TensorProto.DataType.BOOL",
        why "readers take any other value as true";
    T_PADDING = "T-PADDING", Violation, Stated,
        "unused bits of the last 6-bit elements are not zero: {found:#x}",
        "TensorProto.raw_data: 6-bit elements are dense, and padding bits must be zero";
    E_FLAG = "E-FLAG", Fatal, Stated,
        "the data location is {found:i}; it must be 0 (in the tensor) or 1 (external)",
        "TensorProto.DataLocation: DEFAULT or EXTERNAL";
    E_DATA = "E-DATA", Fatal, Stated,
        "the data is external, and the tensor has data as well",
        "TensorProto.external_data: data_location EXTERNAL means that the data is in another file";
    E_LEFT = "E-LEFT", Lint, Silent,
        "the tensor has entries of external data, and its data is not external",
        "TensorProto.external_data: used if data_location is EXTERNAL",
        why "readers ignore the entries";
    E_STRING = "E-STRING", Fatal, Stated,
        "the strings are external",
        "TensorProto.external_data: strings are not stored externally",
        why "onnx.checker refuses the file";
    E_LOCATION = "E-LOCATION", Violation, Stated,
        "the external data has no location",
        "TensorProto.external_data: location is required";
    E_PATH = "E-PATH", Violation, Stated,
        "the location is not a plain path inside the model's folder",
        "TensorProto.external_data: a POSIX path relative to the model's folder, without ..",
        why "CVE-2022-25882, CVE-2024-27318: such a location made loaders read other files; a drive, a backslash or a NUL means something else on another system";
    E_NUMBER = "E-NUMBER", Violation, Stated,
        "the offset or length is not a decimal number of at most 64 bits",
        "TensorProto.external_data: integers stored as strings",
        why "onnx.checker does not look; Python's int() takes blanks and underscores, onnxruntime does not";
    E_LENGTH = "E-LENGTH", Violation, Implied,
        "the external data is {found} bytes long; shape and type take {expected}",
        "TensorProto.external_data: length is the number of bytes that contain the data",
        why "onnx.checker does not look, and onnxruntime refuses";
    E_RANGE = "E-RANGE", Violation, Implied,
        "the range of the external data ends beyond 64 bits",
        "TensorProto.external_data: offset and length within the file",
        why "a loader that adds them wraps around";
    E_KEY = "E-KEY", Lint, Silent,
        "the entry of external data has a key that onnx.proto does not define",
        "TensorProto.external_data: location, offset, length, checksum",
        why "CVE-2026-34445: a loader set attributes by such keys; onnxruntime refuses them";
    E_TWICE = "E-TWICE", Lint, Silent,
        "the external data has this key twice",
        "TensorProto.external_data: key-value pairs",
        why "readers disagree on which counts";
    E_UNCHECKED = "E-UNCHECKED", Unchecked, Silent,
        "the data is in another file, which was not looked at",
        "TensorProto.external_data: the data is stored outside the model",
        why "a checker names what it did not check";
    E_PAST = "E-PAST", Fatal, Implied,
        "the other file has {expected} bytes; the data ends at byte {found}",
        "TensorProto.external_data: offset and length within the file",
        why "onnx.checker does not look; a loader that maps the file reads beyond its end";
    E_LINK = "E-LINK", Violation, Implied,
        "the location is a link that leads out of the model's folder",
        "TensorProto.external_data: a POSIX path relative to the model's folder, without ..",
        why "CVE-2026-27489, CVE-2026-34447: such a link made loaders read other files; onnx.checker refuses any";
    E_OVERLAP = "E-OVERLAP", Lint, Silent,
        "the data begins within that of another tensor, in the same other file",
        "TensorProto.external_data: offset and length within the file",
        why "no writer makes it; tensors that share all their bytes are common";
    E_CHECKSUM = "E-CHECKSUM", Violation, Stated,
        "the other file has another SHA-1 than the model states ({expected:#x} at its start, not {found:#x})",
        "TensorProto.external_data: checksum is the SHA1 digest of the file that location names",
        why "no reader looks, and a file that was exchanged or cut stays unnoticed";
    S_VALUES = "S-VALUES", Violation, Stated,
        "the sparse tensor has no values, or not in one dimension",
        "SparseTensorProto.values: MUST be a 1-D tensor of the default-domain values";
    S_INDICES = "S-INDICES", Violation, Stated,
        "the sparse tensor has no indices, or not of int64",
        "SparseTensorProto.indices: the indices of the non-default values, of type int64";
    S_DIMS = "S-DIMS", Violation, Stated,
        "an extent of the sparse tensor is {found:i}; it must be positive",
        "SparseTensorProto.dims: the shape of the underlying dense tensor";
    S_COUNT = "S-COUNT", Violation, Stated,
        "the sparse tensor has {found} rows of indices and {expected} values",
        "SparseTensorProto.indices: [NNZ], or [NNZ, rank]";
    S_RANK = "S-RANK", Violation, Stated,
        "a row of indices has length {found}; the shape has rank {expected}",
        "SparseTensorProto.indices: [NNZ], or [NNZ, rank]";
    S_RANGE = "S-RANGE", Violation, Stated,
        "an index is {found:i}, outside the shape ({expected})",
        "SparseTensorProto.indices: linearized indices or coordinates within dims",
        why "a reader that trusts it writes outside the tensor";
    S_ORDER = "S-ORDER", Violation, Stated,
        "value {found} does not come after the one before it",
        "SparseTensorProto.indices: sorted in increasing or lexicographic order, each once",
        why "onnxruntime does not look";
    S_UNCHECKED = "S-UNCHECKED", Unchecked, Silent,
        "the indices are external, in several pieces, or not of a plain shape, and were not checked",
        "a checker names what it did not check";
}

/// The rules of the wire format.
pub(super) const WIRE: Rules = Rules {
    varint: W_VARINT,
    overlong: W_OVERLONG,
    bits: W_BITS,
    number: W_NUMBER,
    wire: W_WIRE,
    group: W_GROUP,
    end: W_END,
};

/// The rule for a fault that a shared check finds.
pub(crate) const fn shared(fault: Fault) -> Option<Rule> {
    Some(match fault {
        Fault::Overlap => E_OVERLAP,
        Fault::Duplicate(EntryKind::Tensor) => T_TWICE,
        Fault::Duplicate(EntryKind::Metadata) => M_KEY_TWICE,
        Fault::Element(crate::model::DType::Bool) => T_BOOL,
        Fault::Stream(codec::Fault::Malformed) => T_VALUE,
        Fault::Stream(fault) if fault.is_of_file() => T_COUNT,
        _ => return None,
    })
}
