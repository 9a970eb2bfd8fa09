//! Every bound that this crate sets of its own accord, with its reason.
//!
//! Bounds that a specification sets are with their format.

/// Largest window of a zstd frame that is decoded, in bytes, unless the caller's
/// buffer holds all that the frame decodes to.
///
/// Real zTensor 0.1 files ask for 2 MiB; level 19 asks for 8 MiB. A frame of a
/// few bytes may ask for terabytes. Level 22 asks for 128 MiB, or for the content
/// where that is less: it is decoded into a buffer of up to [`BLOCK_BYTES`].
pub const ZSTD_WINDOW: u64 = 8 << 20;

/// From here on no window is taken, whatever is in memory: the C library refuses it.
pub const ZSTD_WINDOW_END: u64 = 1 << 32;

/// How many bytes are asked for to decode frames with a larger window in one piece,
/// however few are stored. Nothing but decoding them proves that they are there.
pub const ZSTD_WHOLE: u64 = 64 << 20;

/// How many bytes more are asked for then for each stored one. Weights decode to twice
/// their length at most, and masks to some ten times.
pub const ZSTD_WHOLE_PER_BYTE: u64 = 64;

/// How much decoding an audit does, however short the file is, in decoded bytes or
/// what takes as long.
///
/// Room for two gigabytes of zeros in a file of a few kilobytes.
pub const WORK: u64 = 2 << 30;

/// How much more it does for each byte of the file.
///
/// No deflate stream decodes to more than 1032 times its length, and those that are
/// decoded twice, for lack of a buffer, stay below twice that. Real data decode to
/// less than ten times their length.
pub const WORK_PER_BYTE: u64 = 2048;

/// As how many decoded bytes a sequence of a zstd block counts.
///
/// It may stand for three bytes and takes 25 ns, in which 256 bytes are copied. Real
/// sequences take two bytes of the file or more, which allow for sixteen of them.
pub const WORK_PER_SEQUENCE: u64 = 256;

/// As how many decoded bytes a compressed zstd block counts.
///
/// Ten bytes may describe tables of some thousand entries. Real blocks take kilobytes
/// of the file; from 64 bytes on their length allows for this.
pub const WORK_PER_BLOCK: u64 = 128 << 10;

/// As how many decoded bytes a zstd frame counts: each takes a decoder of its own,
/// and nine bytes may be one.
pub const WORK_PER_FRAME: u64 = 32 << 10;

/// How deep the data items of a CBOR index may nest.
///
/// Real writers nest four levels; the reference reader gives up at 128.
pub const CBOR_DEPTH: usize = 128;

/// How many keys of all CBOR maps that are open are kept, to compare them where they
/// are in no order. Beyond, whether one occurs twice is unchecked.
///
/// Real writers sort, and keys that ascend or descend prove themselves, however many
/// they are. They are kept on the stack, which is small in readers of mapped flash.
pub const CBOR_KEYS: usize = 128;

/// How deep the arrays and maps may nest that are keys of CBOR maps themselves, for
/// such keys to be compared. Beyond, whether one occurs twice is unchecked.
///
/// Real writers have keys of text and numbers only.
pub const CBOR_KEY_DEPTH: usize = 8;

/// How many extents of a sparse tensor the audit holds by itself. More take slots of
/// the caller, without which the coordinates are unchecked.
///
/// Real sparse tensors have two or three.
pub const SPARSE_RANK: usize = 8;

/// Most bytes that are decoded of data whose size nothing tells: that of a type or a
/// layout that is not known, of which only the stream is checked. What follows stays
/// unchecked, as all of its values do.
pub const UNMEASURED_BYTES: u64 = 16 << 20;

/// How deep values of a JSON header may nest, the header itself included.
///
/// Real headers nest three levels; a bit is kept for each.
pub const JSON_DEPTH: u32 = 127;

/// How many keys are compared with one another in the fields of an entry that no
/// reader asks for, in all the objects that are open at once.
///
/// No writer adds fields. Eight bytes are kept for each, on small stacks as well.
pub const JSON_KEYS: usize = 16;

/// How deep arrays of GGUF metadata may nest.
///
/// The specification allows nesting, ggml refuses it, and no model has it. What is
/// deeper is left unchecked, with all that follows.
pub const GGUF_DEPTH: u8 = 3;

/// How many bytes a key or a name of GGUF may have before it is passed over.
///
/// The specification bounds keys by this and names far below, and a name must be
/// in memory as a whole to be compared.
pub const GGUF_NAME: u64 = 65_535;

/// How many extents a tensor of GGUF may have before nothing after it is believed.
///
/// ggml has room for four, which is a rule of its own, and the field for 2^32. An
/// entry is read as a whole: with so many, the largest number of a byte, its extents
/// take 2 KiB of a small buffer.
pub const GGUF_RANK: u32 = 255;

/// How deep codec definitions of a data view may nest.
///
/// Real files have a vector of keys of integers. The reference reader accepts
/// keys of keys, so there is room for one level more than that.
pub const CODEC_DEPTH: u32 = 4;

/// How many times the length of a file its entries may refer to in all, in one
/// stage of an audit, before the rest of the stage is left unchecked.
///
/// Entries may share tables and payloads, and n entries that share n bytes would
/// take n² steps. Real files share a payload between two or three tensors.
pub const SHARES: u64 = 4;

/// How many bytes entries may refer to in all however short the file is.
pub const SHARED: u64 = 64 << 10;

/// How many bytes of an entry may be there before more is asked for than is known
/// to be missing. Real entries are far shorter.
pub const LONG_ENTRY: u64 = 64 << 10;

/// How far a host is asked to read ahead in a table of unknown length, in bytes.
///
/// Enough for thousands of entries, and little beside the file where the table
/// is short and something else follows it.
pub const READ_AHEAD: u64 = 64 << 10;

/// How far a host is asked to read ahead in a table of known length, in bytes.
pub const TABLE_AHEAD: u64 = 1 << 20;

/// How far a host is asked to read ahead in a metadata table of contents of a
/// data view, in bytes: real ones have a handful of entries of 40.
pub const METADATA_AHEAD: u64 = 1 << 10;

/// Largest distance between two tables that are fetched as one, in bytes.
///
/// A round trip costs more than this many bytes do.
pub const TABLE_SLACK: u64 = 16 << 10;

/// Most bytes that are decoded into one buffer: a block of a data view, or the
/// content of zstd frames whose window exceeds [`ZSTD_WINDOW`].
///
/// The writer of data views aims at 80 MiB and estimates, so a legal block may be
/// larger. The window of zstd's highest level is 128 MiB.
pub const BLOCK_BYTES: u64 = 256 << 20;

/// Most bytes that are decoded for one annotation of a data view, whose
/// decoded length is recorded nowhere, unless it is stored as it is.
///
/// Room for the names of a million slots. A bomb of 24 KiB gets no further.
pub const ANNOTATION_BYTES: u64 = 24 << 20;

/// How many findings of one rule are kept of a file; all are counted.
///
/// A file can break a rule in every byte. Nobody reads more of one kind, and every
/// entry of a small table still has its own.
pub const FINDINGS_RULE: u64 = 1_000;

/// How many findings are kept of a file before each further rule gets
/// [`FINDINGS_LEAST`] only.
///
/// 400 KB as they are, and a few MB of JSON.
pub const FINDINGS_FILE: u64 = 10_000;

/// How many findings of a rule are kept however many there are of others.
pub const FINDINGS_LEAST: u64 = 10;
