/* The rules of each format: X(number, id, severity, what the rule requires). Texts cost memory only
 * where a program uses them, for example in a switch over the number of a finding.
 *
 * Written from the catalogues by a test: WEIGHBRIDGE_HEADER=write scripts/c.sh header. Do not edit.
 * Numbers are those of this release; ids never change. */
#ifndef WEIGHBRIDGE_RULES_H
#define WEIGHBRIDGE_RULES_H

#include "weighbridge.h"

#define WB_RULES_GENERAL(X) \
  X(0x0601, "UNKNOWN-FORMAT", WB_SEVERITY_FATAL, "a file is recognised by its first bytes, or opened by name") \
  X(0x0002, "NAMES-UNCHECKED", WB_SEVERITY_UNCHECKED, "names that do not ascend are sorted, in memory that the caller provides") \
  X(0x0003, "COVERAGE-UNCHECKED", WB_SEVERITY_UNCHECKED, "parts that do not ascend are sorted, in memory that the caller provides") \
  X(0x0004, "DATA-UNCHECKED", WB_SEVERITY_UNCHECKED, "a checker names what it did not check") \
  X(0x0005, "PAYLOAD-UNCHECKED", WB_SEVERITY_UNCHECKED, "a checker names what it did not check") \
  X(0x0006, "CHECKSUM-UNCHECKED", WB_SEVERITY_UNCHECKED, "a checker names what it did not check") \
  X(0x0007, "COORDINATES-UNCHECKED", WB_SEVERITY_UNCHECKED, "coordinates that do not ascend, rows and more than eight dims are kept in memory that the caller provides") \
  X(0x0008, "SHARED-UNCHECKED", WB_SEVERITY_UNCHECKED, "a limit of this reader; real files share a payload between two or three tensors") \
  X(0x0009, "WORK-UNCHECKED", WB_SEVERITY_UNCHECKED, "a limit of this reader, in proportion to the length of the file; real data takes a hundredth of it") \
  X(0x000a, "INTERNAL-UNCHECKED", WB_SEVERITY_UNCHECKED, "a checker that makes no progress stops, and says so") \
  X(0x020b, "PICKLE-POLYGLOT", WB_SEVERITY_LINT, "no writer makes a file that is also a pickle, up to the first operation that imports code") \
  X(0x060c, "SECOND-OPINION", WB_SEVERITY_FATAL, "one stream has one content, whichever decoder reads it (RFC 8878)") \
  X(0x060d, "BYTES-CHANGED", WB_SEVERITY_FATAL, "a file that is being written, or flash that is being updated, is not read as if it were whole") \
  X(0x060e, "PICKLE-GLOBAL", WB_SEVERITY_FATAL, "a pickle that holds only tensors and plain data imports nothing but the 144 names on the list of torch.load(weights_only=True) in torch 2.15") \
  X(0x040f, "PICKLE-INERT", WB_SEVERITY_VIOLATION, "a pickle that holds only tensors and plain data imports nothing but the 144 names on the list of torch.load(weights_only=True) in torch 2.15") \
  X(0x0610, "PICKLE-FAULT", WB_SEVERITY_FATAL, "pickletools: each operation finds its argument in the file, and its operands on the stack or in the memo") \
  X(0x0011, "PICKLE-UNCHECKED", WB_SEVERITY_UNCHECKED, "a checker names what it did not check") \
  X(0x0212, "DATA-ZEROS", WB_SEVERITY_LINT, "the data of a tensor is not cut by pages of zeros") \
  X(0x0213, "DATA-REPEATED", WB_SEVERITY_LINT, "the data of a tensor is not cut by copies of a page") \
  X(0x0414, "ARCHIVE-STORED", WB_SEVERITY_VIOLATION, "DDUF, Technical specifications: data is saved uncompressed, so that members can be mapped") \
  X(0x0415, "ARCHIVE-NAME", WB_SEVERITY_VIOLATION, "DDUF, Technical specifications: one of the four extensions that it lists, in at most one folder, with slashes") \
  X(0x0416, "ARCHIVE-TWICE", WB_SEVERITY_VIOLATION, "DDUF, Technical specifications: a member is found by its name") \
  X(0x0617, "ARCHIVE-PLACE", WB_SEVERITY_FATAL, "APPNOTE 4.3.7: a local header, the name, the extra field, then the data") \
  X(0x0418, "ARCHIVE-LOCAL", WB_SEVERITY_VIOLATION, "APPNOTE 4.4.17: the name of the file, in both headers") \
  X(0x0419, "ARCHIVE-CRC", WB_SEVERITY_VIOLATION, "APPNOTE 4.4.7: the CRC-32 of the data") \
  X(0x041a, "ARCHIVE-END", WB_SEVERITY_VIOLATION, "APPNOTE 4.3.16: the number of members, and the length of the comment, which ends the file") \
  X(0x041b, "ARCHIVE-INDEX", WB_SEVERITY_VIOLATION, "DDUF, Technical specifications: model_index.json lists the components of the pipeline") \
  X(0x041c, "ARCHIVE-FOLDER", WB_SEVERITY_VIOLATION, "DDUF, Technical specifications: each folder is in model_index.json and has at least one config") \
  X(0x041d, "ARCHIVE-JSON", WB_SEVERITY_VIOLATION, "DDUF, Technical specifications: settings are JSON files") \
  X(0x061e, "ARCHIVE-CODE", WB_SEVERITY_FATAL, "DDUF, Technical specifications: settings, texts and tokenizers; silent on what they make a program load")

#define WB_RULES_STB(X) \
  X(0x0e01, "H-LEN", WB_SEVERITY_FATAL, "§2: an .stb file begins with a header of 32 bytes") \
  X(0x0e02, "H-MAGIC", WB_SEVERITY_FATAL, "§3: magic MUST be \"STB0\"") \
  X(0x0e03, "H-VERSION", WB_SEVERITY_FATAL, "§3, §7: version is 0x01 for this specification") \
  X(0x0c04, "H-FLAGS", WB_SEVERITY_VIOLATION, "§3: flags are reserved and must be 0 for now") \
  X(0x0c05, "H-RSV", WB_SEVERITY_VIOLATION, "§3: reserved0 and reserved1 are 0") \
  X(0x0e06, "H-DOFF-TABLE", WB_SEVERITY_FATAL, "§3, §7: tensor_count * 32 + 32 <= data_offset") \
  X(0x0c07, "H-DOFF-FILE", WB_SEVERITY_VIOLATION, "§7: data_offset <= file_size") \
  X(0x0c08, "H-DOFF-ALIGN", WB_SEVERITY_VIOLATION, "§3, §7: data_offset MUST be 64-byte aligned") \
  X(0x0e09, "H-FSIZE", WB_SEVERITY_FATAL, "§3: file_size MUST match the actual file length") \
  X(0x0e0a, "T-RANK", WB_SEVERITY_FATAL, "§4: rank is the number of dimensions, 0 to 8") \
  X(0x080b, "T-DTYPE", WB_SEVERITY_UNCHECKED, "§4.1, §7: dtype is known or treated as unsupported") \
  X(0x080c, "T-LAYOUT", WB_SEVERITY_UNCHECKED, "§4.2, §7: layout is known or treated as unsupported") \
  X(0x0e0d, "T-OFF-MIN", WB_SEVERITY_FATAL, "§4, §7: offset is relative to the file's start and MUST be >= data_offset") \
  X(0x0e0e, "T-END", WB_SEVERITY_FATAL, "§4, §7: offset + size_bytes <= file_size") \
  X(0x0e0f, "T-SIZE", WB_SEVERITY_FATAL, "§4: size_bytes is the total size, the product of the dimensions times the element's") \
  X(0x0810, "T-SHAPE", WB_SEVERITY_UNCHECKED, "§4: where the rank is above 3, the first of dims is an index into an external shape table") \
  X(0x0c11, "T-OFF-ALIGN", WB_SEVERITY_VIOLATION, "§4, §7: offset MUST be 64-byte aligned") \
  X(0x0a12, "T-DIMS0", WB_SEVERITY_LINT, "§4 leaves dimensions beyond the rank open; every writer stores 0") \
  X(0x0c13, "T-ID-DUP", WB_SEVERITY_VIOLATION, "§4, §6.2: a tensor is found by its local id, so no two may share one") \
  X(0x0c14, "T-OVERLAP", WB_SEVERITY_VIOLATION, "§5: payloads are concatenated") \
  X(0x0a15, "T-ALIAS", WB_SEVERITY_LINT, "§5 does not say whether tensors may share a payload; no writer does it") \
  X(0x0a16, "D-GAP", WB_SEVERITY_LINT, "§5 asks for no padding beyond alignment, which takes at most 63 bytes") \
  X(0x0a17, "D-TRAILING", WB_SEVERITY_LINT, "§5 ends with the last payload; every writer ends the file there") \
  X(0x0a18, "D-PAD", WB_SEVERITY_LINT, "§5 does not say what padding holds; every writer stores zeros")

#define WB_RULES_OINF(X) \
  X(0x1601, "HDR-SHORT", WB_SEVERITY_FATAL, "the header is of fixed size and padded to a multiple of 8 (guide, FileHeader)") \
  X(0x1602, "HDR-MAGIC", WB_SEVERITY_FATAL, "the magic is \"OINF\" and a zero byte (guide, FileHeader)") \
  X(0x1603, "HDR-VERSION", WB_SEVERITY_FATAL, "unknown versions are rejected (guide, Compatibility and versioning)") \
  X(0x1404, "HDR-FLAGS", WB_SEVERITY_VIOLATION, "u32 flags = 0 (guide, FileHeader)") \
  X(0x1405, "HDR-RESERVED", WB_SEVERITY_VIOLATION, "u32 reserved = 0 (guide, FileHeader)") \
  X(0x1406, "HDR-PAD", WB_SEVERITY_VIOLATION, "sections are aligned to 8 bytes and padded with 0x00 (guide, High-level layout)") \
  X(0x1607, "HDR-FILESIZE", WB_SEVERITY_FATAL, "the header is the authoritative source for file integrity (guide, FileHeader)") \
  X(0x1608, "HDR-ORDER", WB_SEVERITY_FATAL, "offsets must be ascending and inside the file (guide, FileHeader)") \
  X(0x1409, "HDR-ALIGN", WB_SEVERITY_VIOLATION, "offsets must be aligned (guide, FileHeader)") \
  X(0x140a, "HDR-OVERLAP", WB_SEVERITY_VIOLATION, "the sections follow the header (guide, High-level layout)") \
  X(0x120b, "START-GAP", WB_SEVERITY_LINT, "every real file begins its first table at byte 72") \
  X(0x160c, "TABLE-OVERRUN", WB_SEVERITY_FATAL, "table entries lie within their section (guide, Validation rules)") \
  X(0x120d, "TABLE-GAP", WB_SEVERITY_LINT, "in every real file a table is followed by fewer than 8 bytes of padding") \
  X(0x140e, "TABLE-SLACK", WB_SEVERITY_VIOLATION, "sections are padded with 0x00 (guide, High-level layout)") \
  X(0x160f, "STR-LEN", WB_SEVERITY_FATAL, "u32 length, then that many bytes, padded to 8 (guide, Strings)") \
  X(0x1410, "STR-EMPTY", WB_SEVERITY_VIOLATION, "zero-length names are invalid for identifiers (guide, Strings)") \
  X(0x1411, "STR-CHARSET", WB_SEVERITY_VIOLATION, "strings use A-Z, a-z, 0-9, '.', '_' and '-' only (guide, Strings)") \
  X(0x1412, "STR-PAD", WB_SEVERITY_VIOLATION, "strings are padded to 8 bytes with 0x00 (guide, Strings)") \
  X(0x1413, "DUP-SIZEVAR", WB_SEVERITY_VIOLATION, "sizevar names must be unique (guide, SizeVarsTable)") \
  X(0x1414, "DUP-METADATA", WB_SEVERITY_VIOLATION, "which of two equal keys counts is undefined; both published readers refuse them") \
  X(0x1415, "DUP-TENSOR", WB_SEVERITY_VIOLATION, "which of two equal names counts is undefined; both published readers refuse them") \
  X(0x1416, "META-FLAGS", WB_SEVERITY_VIOLATION, "u32 value_flags = 0 (guide, MetadataTable)") \
  X(0x1617, "META-TYPE", WB_SEVERITY_FATAL, "value types are 1 to 25 (guide, ValueType tags)") \
  X(0x1418, "META-ALIGN", WB_SEVERITY_VIOLATION, "every payload is aligned (guide, Worked example)") \
  X(0x1619, "META-BEFORE", WB_SEVERITY_FATAL, "the payload is always stored in the data section (guide, MetadataTable)") \
  X(0x161a, "META-BOUNDS", WB_SEVERITY_FATAL, "all offsets and sizes are validated (guide, Security and robustness notes)") \
  X(0x161b, "META-OVERFLOW", WB_SEVERITY_FATAL, "all offsets and sizes are validated (guide, Security and robustness notes)") \
  X(0x161c, "META-SIZE", WB_SEVERITY_FATAL, "value_nbytes matches the expected size (guide, MetadataTable)") \
  X(0x141d, "META-BOOL", WB_SEVERITY_VIOLATION, "BOOL: one byte, 0 or 1 (guide, MetadataTable)") \
  X(0x121e, "META-TAILBITS", WB_SEVERITY_LINT, "writers leave the bits above a packed value zero") \
  X(0x141f, "META-T2", WB_SEVERITY_VIOLATION, "T2 is ternary: 00, 01 and 11 (guide, ValueType tags)") \
  X(0x1620, "META-STR-SIZE", WB_SEVERITY_FATAL, "value_nbytes matches the expected size (guide, MetadataTable)") \
  X(0x1621, "META-BITSET-COUNT", WB_SEVERITY_FATAL, "u32 bit_count, u32 byte_count, then packed bytes (guide, MetadataTable)") \
  X(0x1622, "META-BITSET-SIZE", WB_SEVERITY_FATAL, "value_nbytes matches the expected size (guide, MetadataTable)") \
  X(0x1223, "META-BITSET-TAILBITS", WB_SEVERITY_LINT, "writers leave the unused bits of the last byte zero") \
  X(0x1424, "META-BITSET-PAD", WB_SEVERITY_VIOLATION, "payloads are padded with 0x00 (guide, High-level layout)") \
  X(0x1625, "META-ND-ELEM", WB_SEVERITY_FATAL, "arrays hold numbers, bools and packed types (guide, MetadataTable)") \
  X(0x1626, "META-ND-NDIM", WB_SEVERITY_FATAL, "element_type, ndim, dims, data (guide, MetadataTable)") \
  X(0x1627, "META-ND-SIZE", WB_SEVERITY_FATAL, "value_nbytes matches the expected size (guide, MetadataTable)") \
  X(0x1628, "META-ND-OVERFLOW", WB_SEVERITY_FATAL, "the size follows from the dims; a product that wraps gives a wrong one") \
  X(0x1429, "META-ND-PAD", WB_SEVERITY_VIOLATION, "payloads are padded with 0x00 (guide, High-level layout)") \
  X(0x122a, "META-ND-TAILBITS", WB_SEVERITY_LINT, "writers leave the unused bits of the last byte zero") \
  X(0x142b, "META-ND-BOOL", WB_SEVERITY_VIOLATION, "BOOL: one byte, 0 or 1 (guide, MetadataTable)") \
  X(0x142c, "META-ND-T2", WB_SEVERITY_VIOLATION, "T2 is ternary: 00, 01 and 11 (guide, ValueType tags)") \
  X(0x162d, "TENSOR-DTYPE", WB_SEVERITY_FATAL, "u32 dtype: ValueType 1-12, 16-25 only (guide, TensorIndexTable)") \
  X(0x162e, "TENSOR-NDIM", WB_SEVERITY_FATAL, "table entries lie within their section (guide, Validation rules)") \
  X(0x142f, "TENSOR-FLAGS", WB_SEVERITY_VIOLATION, "bit 0 is HAS_DATA; guide 2 adds bit 1, HAS_QUANT (TensorIndexTable)") \
  X(0x1430, "TENSOR-NODATA", WB_SEVERITY_VIOLATION, "if HAS_DATA is 0, data_offset and data_nbytes are 0 (guide, TensorIndexTable)") \
  X(0x1631, "TENSOR-NUMEL", WB_SEVERITY_FATAL, "tensor sizes equal numel times the element size (guide, Validation rules)") \
  X(0x1632, "TENSOR-SIZE", WB_SEVERITY_FATAL, "sizes equal numel * sizeof(dtype), packed types ceil(numel * bits / 8) (guide, Validation rules)") \
  X(0x1433, "TENSOR-ALIGN", WB_SEVERITY_VIOLATION, "every payload is aligned (guide, Worked example)") \
  X(0x1634, "TENSOR-BEFORE", WB_SEVERITY_FATAL, "the data section holds the payloads (guide, High-level layout)") \
  X(0x1635, "TENSOR-BOUNDS", WB_SEVERITY_FATAL, "all offsets and sizes are validated (guide, Security and robustness notes)") \
  X(0x1636, "TENSOR-OVERFLOW", WB_SEVERITY_FATAL, "all offsets and sizes are validated (guide, Security and robustness notes)") \
  X(0x1437, "TENSOR-BOOL", WB_SEVERITY_VIOLATION, "BOOL: one byte, 0 or 1 (guide, MetadataTable and Tensor payload encoding)") \
  X(0x1238, "TENSOR-TAILBITS", WB_SEVERITY_LINT, "writers leave the unused bits of the last byte zero") \
  X(0x1439, "TENSOR-T2", WB_SEVERITY_VIOLATION, "T2 is ternary: 00, 01 and 11 (guide, ValueType tags)") \
  X(0x143a, "QUANT-NONE", WB_SEVERITY_VIOLATION, "if HAS_QUANT is 0, quant_offset and quant_nbytes are 0 (guide 2, TensorIndexTable)") \
  X(0x123b, "QUANT-NODATA", WB_SEVERITY_LINT, "the writer quantises the data that it stores") \
  X(0x143c, "QUANT-ALIGN", WB_SEVERITY_VIOLATION, "every payload is aligned (guide 2, Worked example)") \
  X(0x163d, "QUANT-BEFORE", WB_SEVERITY_FATAL, "the data section holds the payloads (guide 2, High-level layout)") \
  X(0x163e, "QUANT-BOUNDS", WB_SEVERITY_FATAL, "all offsets and sizes are validated (guide 2, Security and robustness notes)") \
  X(0x163f, "QUANT-OVERFLOW", WB_SEVERITY_FATAL, "all offsets and sizes are validated (guide 2, Security and robustness notes)") \
  X(0x1640, "QUANT-SIZE", WB_SEVERITY_FATAL, "48 bytes, 4 a scale, 4 a zero point, padded to 8 (guide 2, quantisation payload)") \
  X(0x1441, "QUANT-RESERVED", WB_SEVERITY_VIOLATION, "u32 reserved = 0 (guide 2, quantisation payload)") \
  X(0x1642, "QUANT-SCHEME", WB_SEVERITY_FATAL, "scheme: 1 symmetric, 2 asymmetric (guide 2, quantisation payload)") \
  X(0x1643, "QUANT-SCALEMODE", WB_SEVERITY_FATAL, "scale_mode: 1 per tensor, 2 per channel (guide 2, quantisation payload)") \
  X(0x1644, "QUANT-ZPMODE", WB_SEVERITY_FATAL, "zp_mode: 0 none, 1 per tensor, 2 per channel (guide 2, quantisation payload)") \
  X(0x1645, "QUANT-SCALE-PT", WB_SEVERITY_FATAL, "per tensor: scale_axis = 0, scale_count = 1 (guide 2, quantisation payload)") \
  X(0x1646, "QUANT-SCALE-AXIS", WB_SEVERITY_FATAL, "per channel: scale_axis < ndim (guide 2, quantisation payload)") \
  X(0x1647, "QUANT-SCALE-COUNT", WB_SEVERITY_FATAL, "per channel: scale_count = the extent of scale_axis (guide 2, quantisation payload)") \
  X(0x1648, "QUANT-ZP-NONE", WB_SEVERITY_FATAL, "no zero points: zp_count = 0 (guide 2, quantisation payload)") \
  X(0x1249, "QUANT-ZP-NONE-AXIS", WB_SEVERITY_LINT, "the writer stores 0, no reader looks") \
  X(0x164a, "QUANT-ZP-PT", WB_SEVERITY_FATAL, "per tensor: zp_axis = 0, zp_count = 1 (guide 2, quantisation payload)") \
  X(0x164b, "QUANT-ZP-MIX", WB_SEVERITY_FATAL, "zero points go per tensor or per channel as the scales do (guide 2, quantisation payload)") \
  X(0x164c, "QUANT-ZP-AXIS", WB_SEVERITY_FATAL, "per channel: zp_axis = scale_axis (guide 2, quantisation payload)") \
  X(0x164d, "QUANT-ZP-COUNT", WB_SEVERITY_FATAL, "per channel: zp_count = the extent of zp_axis (guide 2, quantisation payload)") \
  X(0x164e, "QUANT-SYM-ZP", WB_SEVERITY_FATAL, "symmetric: zp_mode = 0 (guide 2, quantisation payload)") \
  X(0x144f, "QUANT-PAD", WB_SEVERITY_VIOLATION, "payloads are padded with 0x00 (guide 2, High-level layout)") \
  X(0x1250, "QUANT-SCALE-FINITE", WB_SEVERITY_LINT, "such a scale makes every value of its channel useless; no reader looks") \
  X(0x1451, "PAYLOAD-OVERLAP", WB_SEVERITY_VIOLATION, "writers give each payload bytes of its own; changing one value would change another") \
  X(0x1252, "PAYLOAD-GAP", WB_SEVERITY_LINT, "in every real file a payload is followed by fewer than 8 bytes of padding") \
  X(0x1253, "PAYLOAD-TRAILING", WB_SEVERITY_LINT, "in every real file the last payload is followed by fewer than 8 bytes of padding") \
  X(0x1454, "PAYLOAD-GAP-NONZERO", WB_SEVERITY_VIOLATION, "payloads are padded with 0x00 (guide, High-level layout)") \
  X(0x1455, "FILE-TAIL-ALIGN", WB_SEVERITY_VIOLATION, "all sections are padded to 8 bytes (guide, High-level layout)")

#define WB_RULES_ZTENSOR(X) \
  X(0x1e01, "FILE-MAGIC", WB_SEVERITY_FATAL, "File Layout: the magic number is the ASCII text \"ZTEN0001\" at offset 0") \
  X(0x1e02, "GENERATION-1-0", WB_SEVERITY_FATAL, "File Layout: the magic number is \"ZTEN0001\"; \"ZTEN1000\" without a magic at the end is generation 1.0") \
  X(0x1e03, "GENERATION-1-1", WB_SEVERITY_FATAL, "File Layout: the magic number is \"ZTEN0001\"; \"ZTEN1000\" at both ends is generation 1.1 or 1.2") \
  X(0x1e04, "GENERATION-2", WB_SEVERITY_FATAL, "File Layout: the magic number is \"ZTEN0001\"; 89 5A 54 32 0D 0A 1A 0A is generation 2") \
  X(0x1e05, "FILE-SIZE", WB_SEVERITY_FATAL, "Zero-Tensor Files: magic, one byte of index, length: 17 bytes") \
  X(0x1c06, "FILE-CONCATENATED", WB_SEVERITY_VIOLATION, "Tensor Metadata: offset is absolute, from the start of the file") \
  X(0x1c07, "FILE-ZERO-TENSORS", WB_SEVERITY_VIOLATION, "Zero-Tensor Files: magic, one byte of index, length: 17 bytes in total") \
  X(0x1a08, "FILE-ZERO-FORM", WB_SEVERITY_LINT, "Zero-Tensor Files: the index is one byte, 0x80; no writer makes another form") \
  X(0x1e09, "INDEX-EMPTY", WB_SEVERITY_FATAL, "File Layout: the last 8 bytes are the size of a CBOR array, which takes at least one byte") \
  X(0x1e0a, "INDEX-BOUNDS", WB_SEVERITY_FATAL, "Index Reading: the index starts at file size - index size - 8, after the magic") \
  X(0x1e0b, "INDEX-ROOT", WB_SEVERITY_FATAL, "File Layout: the index is a CBOR-encoded array of maps") \
  X(0x1c0c, "INDEX-TRAILING", WB_SEVERITY_VIOLATION, "File Layout: the last 8 bytes give the size of the CBOR array") \
  X(0x1e0d, "INDEX-ELEMENT", WB_SEVERITY_FATAL, "File Layout: an array of metadata maps, one per tensor") \
  X(0x1e0e, "CBOR-TRUNCATED", WB_SEVERITY_FATAL, "RFC 8949 §3: a data item that is too short is not well formed") \
  X(0x1e0f, "CBOR-COUNT", WB_SEVERITY_FATAL, "RFC 8949 §3.2: an array or map holds as many items as its head says") \
  X(0x1e10, "CBOR-LENGTH", WB_SEVERITY_FATAL, "RFC 8949 §3.1: a string is followed by as many bytes as its head says") \
  X(0x1e11, "CBOR-BREAK", WB_SEVERITY_FATAL, "RFC 8949 §3.2.1: a break ends an item of indefinite length, and a map only after a value") \
  X(0x1e12, "CBOR-RESERVED", WB_SEVERITY_FATAL, "RFC 8949 §3: additional information 28 to 30 is reserved, 31 not allowed for numbers and tags") \
  X(0x1e13, "CBOR-CHUNK", WB_SEVERITY_FATAL, "RFC 8949 §3.2.3: the chunks of a string are definite-length strings of the same major type") \
  X(0x1814, "CBOR-DEPTH", WB_SEVERITY_UNCHECKED, "a limit of this reader (CBOR_DEPTH); the published reader gives up at 128 levels as well") \
  X(0x1c15, "CBOR-UTF8", WB_SEVERITY_VIOLATION, "RFC 8949 §3.1: text strings, and each of their chunks, are valid UTF-8") \
  X(0x1c16, "CBOR-SIMPLE", WB_SEVERITY_VIOLATION, "RFC 8949 §3.3: two-byte simple values below 32 are not well formed") \
  X(0x1c17, "CBOR-KEY-DUPLICATE", WB_SEVERITY_VIOLATION, "RFC 8949 §5.6: the keys of a valid map are unique") \
  X(0x1818, "CBOR-KEYS", WB_SEVERITY_UNCHECKED, "RFC 8949 §5.6: the keys of a valid map are unique; a limit of this reader (CBOR_KEYS)") \
  X(0x1819, "CBOR-KEY-NESTED", WB_SEVERITY_UNCHECKED, "RFC 8949 §5.6: the keys of a valid map are unique; a limit of this reader (CBOR_KEY_DEPTH)") \
  X(0x1c1a, "CBOR-TAG", WB_SEVERITY_VIOLATION, "Tensor Metadata: fields are strings, numbers and arrays; no tag is mentioned, no writer emits one") \
  X(0x1a1b, "CBOR-DEFINITE", WB_SEVERITY_LINT, "the specification leaves the form open; every real map is of indefinite length") \
  X(0x1a1c, "CBOR-INDEFINITE", WB_SEVERITY_LINT, "the specification leaves the form open; every real writer states these lengths") \
  X(0x1a1d, "CBOR-SHORTEST", WB_SEVERITY_LINT, "the specification leaves the form open (RFC 8949 §4.1 prefers the shortest)") \
  X(0x1a1e, "CBOR-FLOAT", WB_SEVERITY_LINT, "the specification leaves the form open (RFC 8949 §4.1 prefers the shortest)") \
  X(0x1a1f, "CBOR-CUSTOM-TAG", WB_SEVERITY_LINT, "Tensor Metadata: custom fields are allowed, whatever they hold; no writer emits tags") \
  X(0x1a20, "CBOR-CUSTOM-SIMPLE", WB_SEVERITY_LINT, "Tensor Metadata: custom fields are allowed, whatever they hold; no writer emits this") \
  X(0x1e21, "FIELD-NAME", WB_SEVERITY_FATAL, "Tensor Metadata: name is required") \
  X(0x1e22, "FIELD-OFFSET", WB_SEVERITY_FATAL, "Tensor Metadata: offset is required") \
  X(0x1e23, "FIELD-SIZE", WB_SEVERITY_FATAL, "Tensor Metadata: size is required") \
  X(0x1e24, "FIELD-DTYPE", WB_SEVERITY_FATAL, "Tensor Metadata: dtype is required") \
  X(0x1e25, "FIELD-SHAPE", WB_SEVERITY_FATAL, "Tensor Metadata: shape is required") \
  X(0x1e26, "FIELD-ENCODING", WB_SEVERITY_FATAL, "Tensor Metadata: encoding is required") \
  X(0x1c27, "FIELD-LAYOUT", WB_SEVERITY_VIOLATION, "Tensor Metadata: layout is required, though \"dense\" is called its default") \
  X(0x1e28, "FIELD-DUPLICATE", WB_SEVERITY_FATAL, "RFC 8949 §5.6: the keys of a valid map are unique") \
  X(0x1a29, "FIELD-ORDER", WB_SEVERITY_LINT, "the specification leaves the order open") \
  X(0x1a2a, "FIELD-KEY", WB_SEVERITY_LINT, "Tensor Metadata: unknown keys are ignored") \
  X(0x1c2b, "FIELD-NULL", WB_SEVERITY_VIOLATION, "Optional fields: data_endianness (string), checksum (string)") \
  X(0x1e2c, "TYPE-NAME", WB_SEVERITY_FATAL, "Tensor Metadata: name (string)") \
  X(0x1e2d, "TYPE-OFFSET", WB_SEVERITY_FATAL, "Tensor Metadata: offset (uint64)") \
  X(0x1e2e, "TYPE-SIZE", WB_SEVERITY_FATAL, "Tensor Metadata: size (uint64)") \
  X(0x1e2f, "TYPE-DTYPE", WB_SEVERITY_FATAL, "Tensor Metadata: dtype (string)") \
  X(0x1e30, "TYPE-SHAPE", WB_SEVERITY_FATAL, "Tensor Metadata: shape (array)") \
  X(0x1e31, "TYPE-DIM", WB_SEVERITY_FATAL, "Tensor Metadata: shape is an array of dimensions") \
  X(0x1e32, "TYPE-ENCODING", WB_SEVERITY_FATAL, "Tensor Metadata: encoding (string)") \
  X(0x1e33, "TYPE-LAYOUT", WB_SEVERITY_FATAL, "Tensor Metadata: layout (string)") \
  X(0x1e34, "TYPE-ENDIANNESS", WB_SEVERITY_FATAL, "Optional fields: data_endianness (string)") \
  X(0x1c35, "TYPE-CHECKSUM", WB_SEVERITY_VIOLATION, "Optional fields: checksum (string)") \
  X(0x1c36, "NAME-DUPLICATE", WB_SEVERITY_VIOLATION, "Tensor Metadata: a tensor is found by its name; readers disagree which of two is meant") \
  X(0x1a37, "NAME-EMPTY", WB_SEVERITY_LINT, "Tensor Metadata: name (string); generation 2 forbids it") \
  X(0x1a38, "NAME-NUL", WB_SEVERITY_LINT, "Tensor Metadata: name (string); a published reader aborts on it") \
  X(0x1c39, "DTYPE-CASE", WB_SEVERITY_VIOLATION, "Supported Data Types: names in lower case") \
  X(0x183a, "DTYPE-UNKNOWN", WB_SEVERITY_UNCHECKED, "Extensibility: new dtype values may be added in future versions") \
  X(0x1c3b, "ENCODING-CASE", WB_SEVERITY_VIOLATION, "Supported Encodings: raw, zstd") \
  X(0x183c, "ENCODING-UNKNOWN", WB_SEVERITY_UNCHECKED, "Extensibility: new encoding values may be added in future versions") \
  X(0x1c3d, "LAYOUT-CASE", WB_SEVERITY_VIOLATION, "Layouts: dense, sparse") \
  X(0x183e, "LAYOUT-UNKNOWN", WB_SEVERITY_UNCHECKED, "Extensibility: new layout values may be added in future versions") \
  X(0x1e3f, "ENDIANNESS-VALUE", WB_SEVERITY_FATAL, "Optional fields: data_endianness is \"little\" or \"big\"") \
  X(0x1c40, "ENDIANNESS-CASE", WB_SEVERITY_VIOLATION, "Optional fields: data_endianness is \"little\" or \"big\"") \
  X(0x1c41, "ENDIANNESS-ZSTD", WB_SEVERITY_VIOLATION, "Optional fields: data_endianness is for raw multi-byte types") \
  X(0x1a42, "ENDIANNESS-UNUSED", WB_SEVERITY_LINT, "Optional fields: data_endianness is for raw multi-byte types; no writer gives it elsewhere") \
  X(0x1a43, "ENDIANNESS-IMPLICIT", WB_SEVERITY_LINT, "Optional fields: little is the default; every writer gives it for raw multi-byte types") \
  X(0x1c44, "CHECKSUM-FORM", WB_SEVERITY_VIOLATION, "Optional fields: checksum, by the examples \"crc32c:0x1234ABCD\" and \"sha256:...\"") \
  X(0x1a45, "CHECKSUM-SPELLING", WB_SEVERITY_LINT, "Optional fields: the example is \"crc32c:0x1234ABCD\"; case and prefix are left open") \
  X(0x1a46, "CHECKSUM-EMPTY", WB_SEVERITY_LINT, "Optional fields: checksum (string)") \
  X(0x1e47, "CHECKSUM-MISMATCH", WB_SEVERITY_FATAL, "Optional fields: checksum; it covers the bytes as they are stored") \
  X(0x1848, "CHECKSUM-UNKNOWN", WB_SEVERITY_UNCHECKED, "Optional fields: crc32c and sha256 are given as examples") \
  X(0x1e49, "SHAPE-OVERFLOW", WB_SEVERITY_FATAL, "Tensor Metadata: size (uint64) holds the elements of shape") \
  X(0x1e4a, "SHAPE-BYTES", WB_SEVERITY_FATAL, "Tensor Metadata: size (uint64) holds the elements of shape") \
  X(0x1e4b, "SHAPE-SIZE", WB_SEVERITY_FATAL, "Supported Encodings: raw is a direct dump of the elements") \
  X(0x1a4c, "SHAPE-RANK", WB_SEVERITY_LINT, "the specification sets no limit; generation 2 allows 64, and many array libraries no more") \
  X(0x1e4d, "BLOB-MAGIC", WB_SEVERITY_FATAL, "Notes: offsets are absolute and account for the 8-byte magic number") \
  X(0x1c4e, "BLOB-ALIGN", WB_SEVERITY_VIOLATION, "Tensor Metadata: offset is a multiple of 64; Notes: all blobs are 64-byte aligned") \
  X(0x1e4f, "BLOB-OVERFLOW", WB_SEVERITY_FATAL, "File Layout: blobs lie between the magic and the index") \
  X(0x1e50, "BLOB-BOUNDS", WB_SEVERITY_FATAL, "File Layout: blobs lie between the magic and the index") \
  X(0x1e51, "BLOB-INDEX", WB_SEVERITY_FATAL, "File Layout: blobs lie between the magic and the index") \
  X(0x1c52, "BLOB-EMPTY-BOUNDS", WB_SEVERITY_VIOLATION, "File Layout: blobs lie between the magic and the index; empty ones are not mentioned") \
  X(0x1c53, "BLOB-OVERLAP", WB_SEVERITY_VIOLATION, "File Layout: one blob after the other, one per tensor") \
  X(0x1a54, "BLOB-SHARED", WB_SEVERITY_LINT, "File Layout: one blob per tensor; nothing forbids tying, and no 0.1 writer does it") \
  X(0x1a55, "BLOB-ORDER", WB_SEVERITY_LINT, "the specification leaves the order open; every writer lists blobs as they lie") \
  X(0x1a56, "BLOB-GAP", WB_SEVERITY_LINT, "File Layout: padding is inserted as needed, which takes at most 63 bytes") \
  X(0x1a57, "BLOB-PADDING", WB_SEVERITY_LINT, "File Layout: padding has undefined value, usually zero") \
  X(0x1c58, "SPARSE-FORMAT-MISSING", WB_SEVERITY_VIOLATION, "Layouts: the map of a sparse tensor must include sparse_format") \
  X(0x1c59, "SPARSE-FORMAT-TYPE", WB_SEVERITY_VIOLATION, "Layouts: sparse_format, e.g. \"csr\", \"coo\"") \
  X(0x185a, "SPARSE-UNDEFINED", WB_SEVERITY_UNCHECKED, "Layouts: fields that describe the structure are required and not named") \
  X(0x1e5b, "SPARSE-COO-RANK", WB_SEVERITY_FATAL, "Notes: the metadata must fully describe the sparse structure") \
  X(0x1e5c, "SPARSE-CSR-RANK", WB_SEVERITY_FATAL, "Notes: the metadata must fully describe the sparse structure") \
  X(0x1e5d, "SPARSE-COO-SIZE", WB_SEVERITY_FATAL, "Notes: the metadata must fully describe the sparse structure") \
  X(0x1e5e, "SPARSE-CSR-SIZE", WB_SEVERITY_FATAL, "Notes: the metadata must fully describe the sparse structure") \
  X(0x1e5f, "SPARSE-COO-RANGE", WB_SEVERITY_FATAL, "Notes: the metadata must fully describe the sparse structure; an entry lies inside shape") \
  X(0x1c60, "SPARSE-COO-DUPLICATE", WB_SEVERITY_VIOLATION, "Layouts: a sparse tensor has one value at each position") \
  X(0x1e61, "SPARSE-CSR-POINTERS", WB_SEVERITY_FATAL, "Layouts: sparse_format \"csr\"; row pointers begin at 0 and do not descend") \
  X(0x1e62, "SPARSE-CSR-COUNT", WB_SEVERITY_FATAL, "Layouts: sparse_format \"csr\"; the last row pointer is the number of entries") \
  X(0x1e63, "SPARSE-CSR-COLUMN", WB_SEVERITY_FATAL, "Layouts: sparse_format \"csr\"; an entry lies inside shape") \
  X(0x1c64, "SPARSE-CSR-DUPLICATE", WB_SEVERITY_VIOLATION, "Layouts: a sparse tensor has one value at each position") \
  X(0x1a65, "SPARSE-DENSE-SIZE", WB_SEVERITY_LINT, "the specification does not require it; the published writer and reader require both to be equal") \
  X(0x1c66, "ZSTD-EMPTY", WB_SEVERITY_VIOLATION, "Supported Encodings: zstd is Zstandard-compressed data; a frame takes at least 9 bytes") \
  X(0x1e67, "ZSTD-MAGIC", WB_SEVERITY_FATAL, "Supported Encodings: zstd is Zstandard-compressed data (RFC 8878 §3.1.1)") \
  X(0x1e68, "ZSTD-TRUNCATED", WB_SEVERITY_FATAL, "Supported Encodings: zstd is Zstandard-compressed data (RFC 8878 §3.1.1)") \
  X(0x1e69, "ZSTD-RESERVED", WB_SEVERITY_FATAL, "RFC 8878 §3.1.1.1.1.4: a decoder must ensure that the reserved bit is zero") \
  X(0x186a, "ZSTD-DICTIONARY", WB_SEVERITY_UNCHECKED, "RFC 8878 §3.1.1.1.3: a frame with a dictionary id is decoded with that dictionary") \
  X(0x186b, "ZSTD-WINDOW", WB_SEVERITY_UNCHECKED, "RFC 8878 §3.1.1.1.2: decoders may refuse windows above 8 MiB; real files ask for 2 MiB") \
  X(0x1a6c, "ZSTD-WINDOW-WIDE", WB_SEVERITY_LINT, "RFC 8878 §3.1.1.1.2: decoders may refuse windows above 8 MiB") \
  X(0x1e6d, "ZSTD-BLOCK-TYPE", WB_SEVERITY_FATAL, "RFC 8878 §3.1.1.2.2: block type 3 is reserved and means corrupt data") \
  X(0x1e6e, "ZSTD-BLOCK-SIZE", WB_SEVERITY_FATAL, "RFC 8878 §3.1.1.2.4: blocks hold at most the window's size and 128 KiB, compressed ones at least 2 bytes") \
  X(0x1e6f, "ZSTD-TRAILING", WB_SEVERITY_FATAL, "Supported Encodings: zstd is Zstandard-compressed data; size is the compressed size") \
  X(0x1a70, "ZSTD-FRAMES", WB_SEVERITY_LINT, "RFC 8878 §3.1 allows it; every writer makes one frame a tensor") \
  X(0x1e71, "ZSTD-CONTENT-SIZE", WB_SEVERITY_FATAL, "Tensor Metadata: the data decodes to the elements of shape") \
  X(0x1e72, "ZSTD-DECODED-SIZE", WB_SEVERITY_FATAL, "Tensor Metadata: the data decodes to the elements of shape") \
  X(0x1e73, "ZSTD-CORRUPT", WB_SEVERITY_FATAL, "Supported Encodings: zstd is Zstandard-compressed data (RFC 8878 §3.1.1.3)") \
  X(0x1e74, "ZSTD-CHECKSUM", WB_SEVERITY_FATAL, "RFC 8878 §3.1.1: the content checksum verifies that the content was decoded correctly")

#define WB_RULES_IDV(X) \
  X(0x2e01, "H.size", WB_SEVERITY_FATAL, "header: 256 bytes, then the regions, then 8 bytes of tail") \
  X(0x2e02, "H.sig", WB_SEVERITY_FATAL, "header: the signature is 43 4D 4C 00 44 56 42 00") \
  X(0x2c03, "H.compat>ver", WB_SEVERITY_VIOLATION, "header: the compatible version is the oldest reader that can read what this version wrote") \
  X(0x2e04, "H.ver.unknown", WB_SEVERITY_FATAL, "versions: 1.1.1.1 is the first, and fields are listed from it on") \
  X(0x2a05, "H.ver.min", WB_SEVERITY_LINT, "IDV, table of contents: its fields are documented; the loader begins at 1.1.1.2") \
  X(0x2a06, "H.compat.min", WB_SEVERITY_LINT, "IDV, table of contents: older entries are documented; the loader begins at 1.1.1.4") \
  X(0x2e07, "H.compat.max", WB_SEVERITY_FATAL, "header: a reader older than the compatible version cannot read the file") \
  X(0x2e08, "H.rows", WB_SEVERITY_FATAL, "header: the row count is an i64") \
  X(0x2e09, "H.cols", WB_SEVERITY_FATAL, "header: the column count is an i32") \
  X(0x2e0a, "H.toc.low", WB_SEVERITY_FATAL, "header: the TOC offset is an offset from the start, after the header") \
  X(0x2e0b, "H.toc.high", WB_SEVERITY_FATAL, "header: the table of contents lies between header and tail") \
  X(0x2e0c, "H.tail.low", WB_SEVERITY_FATAL, "header: the tail offset is an offset from the start, after the header") \
  X(0x2e0d, "H.tail.eof", WB_SEVERITY_FATAL, "header: 8 bytes of tail signature at the tail offset") \
  X(0x2e0e, "H.tail.sig", WB_SEVERITY_FATAL, "header: the tail is 00 42 56 44 00 4C 4D 43") \
  X(0x2a0f, "H.pad", WB_SEVERITY_LINT, "header: bytes 52 to 255 have no defined content; every writer leaves zeros") \
  X(0x2a10, "H.trailing", WB_SEVERITY_LINT, "header: the tail ends the file; the loader calls more \"legal but unusual\"") \
  X(0x2a11, "G.leb", WB_SEVERITY_LINT, "IDV, general data format: an LEB128 number ends with the first byte below 128; every writer takes as few as it can") \
  X(0x2e12, "T.eof", WB_SEVERITY_FATAL, "IDV, table of contents: as many packed entries as columns, before the tail") \
  X(0x2e13, "T.name", WB_SEVERITY_FATAL, "IDV, general data format: a string is an LEB128 length, then its bytes") \
  X(0x2c14, "T.name.utf8", WB_SEVERITY_VIOLATION, "IDV, general data format: strings are UTF-8") \
  X(0x2c15, "T.name.empty", WB_SEVERITY_VIOLATION, "IDV does not forbid it; the loader refuses the file") \
  X(0x2e16, "T.codec.name", WB_SEVERITY_FATAL, "IDV, table of contents: the codec loadname is a string") \
  X(0x2e17, "T.codec.len", WB_SEVERITY_FATAL, "IDV, table of contents: the parameterization length is an LEB128 integer") \
  X(0x2e18, "T.codec.param", WB_SEVERITY_FATAL, "IDV, table of contents: the parameterization has precisely the length indicated") \
  X(0x2819, "T.codec.unknown", WB_SEVERITY_UNCHECKED, "IDV, table of contents: after an unrecognised codec the stream stands after its parameters") \
  X(0x2e1a, "T.codec.depth", WB_SEVERITY_FATAL, "IDV sets no bound; a vector of keys of integers is the deepest real one") \
  X(0x2e1b, "T.codec.vec.inner", WB_SEVERITY_FATAL, "VBuffer: the item type is not a vector") \
  X(0x2e1c, "T.codec.vec.dims", WB_SEVERITY_FATAL, "VBuffer: dimensions are i32 and not negative, and so is the size") \
  X(0x2e1d, "T.codec.key.inner", WB_SEVERITY_FATAL, "Key, Key2: the inner codec is Byte, UInt16, UInt32 or UInt64") \
  X(0x2c1e, "T.codec.key.count", WB_SEVERITY_VIOLATION, "Key, Key2: values 1 to the cardinality fit the inner type; Key has none when it has gaps") \
  X(0x2e1f, "T.codec.key.contig", WB_SEVERITY_FATAL, "Key: contiguous is a bool") \
  X(0x2a20, "T.codec.key.min", WB_SEVERITY_LINT, "Key: legal when written; refused by ML.NET since 0.10") \
  X(0x2a21, "T.codec.key.gaps", WB_SEVERITY_LINT, "Key: legal when written; refused by ML.NET since 0.10") \
  X(0x2822, "T.comp.unknown", WB_SEVERITY_UNCHECKED, "IDV, compression kind: 0 none, 1 deflate, 2 zlib") \
  X(0x2a23, "T.comp.zlib", WB_SEVERITY_LINT, "IDV, compression kind: 2 is zlib") \
  X(0x2e24, "T.rpb", WB_SEVERITY_FATAL, "IDV, table of contents: rows per block is an LEB128 integer") \
  X(0x2e25, "T.rpb.zero", WB_SEVERITY_FATAL, "IDV, block format: every block but the last holds that many rows") \
  X(0x2e26, "T.rpb.range", WB_SEVERITY_FATAL, "IDV sets no bound; the loader keeps 32 bits of it") \
  X(0x2a27, "T.rpb.differs", WB_SEVERITY_LINT, "IDV, table of contents: rows per block in this column; the loader expects the same in every column") \
  X(0x2e28, "T.lookup.range", WB_SEVERITY_FATAL, "IDV, lookup table format: 16 bytes times the number of blocks, at the lookup table offset") \
  X(0x2a29, "T.lookup.unused", WB_SEVERITY_LINT, "IDV, lookup table format: no rows, no blocks; every writer stores a sound offset") \
  X(0x2e2a, "T.mtoc.range", WB_SEVERITY_FATAL, "IDV, table of contents: metadata table of contents offset, or 0") \
  X(0x2e2b, "T.slots.range", WB_SEVERITY_FATAL, "IDV, table of contents, 1.1.1.3: slot names offset and byte size") \
  X(0x2e2c, "T.slots.count", WB_SEVERITY_FATAL, "IDV, table of contents, 1.1.1.3: slot names count") \
  X(0x2a2d, "T.end", WB_SEVERITY_LINT, "IDV allows regions in any order; every writer puts the table of contents last") \
  X(0x2e2e, "M.eof", WB_SEVERITY_FATAL, "IDV, metadata table of contents: packed entries") \
  X(0x2e2f, "M.count", WB_SEVERITY_FATAL, "IDV, metadata table of contents: an LEB128 integer, which should be positive") \
  X(0x2e30, "M.count.mismatch", WB_SEVERITY_FATAL, "IDV, metadata table of contents: followed by that many entries") \
  X(0x2e31, "M.kind", WB_SEVERITY_FATAL, "IDV, metadata table of contents: the kind is a string") \
  X(0x2c32, "M.kind.empty", WB_SEVERITY_VIOLATION, "IDV does not forbid it; the loader refuses the file") \
  X(0x2c33, "M.kind.dup", WB_SEVERITY_VIOLATION, "IDV, metadata table of contents: an annotation is found by its kind") \
  X(0x2e34, "M.offset", WB_SEVERITY_FATAL, "IDV, metadata table of contents: offset of the block") \
  X(0x2e35, "M.size", WB_SEVERITY_FATAL, "IDV, metadata table of contents: byte length of the block, an LEB128 integer") \
  X(0x2836, "M.dead", WB_SEVERITY_UNCHECKED, "IDV, metadata table of contents: as for columns, an unrecognised codec is passed over") \
  X(0x2a37, "M.zlib", WB_SEVERITY_LINT, "IDV, compression kind: 2 is zlib") \
  X(0x2e38, "S.eof", WB_SEVERITY_FATAL, "IDV, slot names: pairs of an index and a string, in the byte size given") \
  X(0x2c39, "S.name", WB_SEVERITY_VIOLATION, "IDV, slot names: the slot name is a string") \
  X(0x2c3a, "S.index", WB_SEVERITY_VIOLATION, "IDV, slot names: index of the slot") \
  X(0x2c3b, "S.size", WB_SEVERITY_VIOLATION, "IDV, table of contents, 1.1.1.3: slot names byte size") \
  X(0x2a3c, "L.count", WB_SEVERITY_LINT, "IDV sets no bound; the loader refuses it") \
  X(0x2e3d, "L.complen", WB_SEVERITY_FATAL, "IDV, lookup table format: block length, its size in bytes in the file") \
  X(0x2e3e, "L.declen", WB_SEVERITY_FATAL, "IDV, lookup table format: uncompressed block length") \
  X(0x2e3f, "L.offset", WB_SEVERITY_FATAL, "IDV, lookup table format: block offset, the position where the block starts") \
  X(0x2a40, "L.dead", WB_SEVERITY_LINT, "IDV, lookup table format; the loader does not look at it") \
  X(0x2c41, "R.overlap", WB_SEVERITY_VIOLATION, "IDV: every region is of one kind, so no byte belongs to two") \
  X(0x2a42, "R.shared", WB_SEVERITY_LINT, "IDV does not forbid it, and the loader reads it; no writer does it") \
  X(0x2a43, "R.gap", WB_SEVERITY_LINT, "IDV finds regions by offset; every writer leaves no gap") \
  X(0x2e44, "B.none.len", WB_SEVERITY_FATAL, "IDV, lookup table format: uncompressed length, the size if the block were decompressed") \
  X(0x2e45, "B.decomp.len", WB_SEVERITY_FATAL, "IDV, lookup table format: uncompressed length, the size if the block were decompressed") \
  X(0x2e46, "B.deflate", WB_SEVERITY_FATAL, "IDV, compression kind: 1 is deflate (RFC 1951), 2 is zlib (RFC 1950)") \
  X(0x2c47, "B.deflate.end", WB_SEVERITY_VIOLATION, "IDV, compression kind: a deflate stream ends with its final block (RFC 1951)") \
  X(0x2c48, "B.deflate.trail", WB_SEVERITY_VIOLATION, "IDV, lookup table format: block length, its size in bytes in the file") \
  X(0x2e49, "B.short", WB_SEVERITY_FATAL, "IDV, block format: the bytes are stored as the codec describes") \
  X(0x2c4a, "B.stray", WB_SEVERITY_VIOLATION, "IDV, block format: the bytes are stored as the codec describes, and nothing else") \
  X(0x2c4b, "B.bool.pad", WB_SEVERITY_VIOLATION, "Boolean, DvBool: the last byte or word is filled up with zeros") \
  X(0x2e4c, "B.dvbool.3", WB_SEVERITY_FATAL, "DvBool: 00 is false, 01 true, 10 missing") \
  X(0x2a4d, "B.key.range", WB_SEVERITY_LINT, "Key, Key2: values are 1 to the cardinality; neither writer nor loader checks keys against it") \
  X(0x2c4e, "B.dt.range", WB_SEVERITY_VIOLATION, "DateTime: ticks of 100 ns since 0001-01-01, up to the end of the year 9999") \
  X(0x2c4f, "B.dto.offset", WB_SEVERITY_VIOLATION, "DateTimeOffset: offsets in minutes, of 14 hours at most") \
  X(0x2c50, "B.dto.range", WB_SEVERITY_VIOLATION, "DateTimeOffset: local and universal time are ticks of 100 ns since 0001-01-01") \
  X(0x2e51, "B.text.count", WB_SEVERITY_FATAL, "TextSpan: the entry count, one for each value") \
  X(0x2e52, "B.text.order", WB_SEVERITY_FATAL, "TextSpan: boundaries do not decrease") \
  X(0x2e53, "B.text.na", WB_SEVERITY_FATAL, "TextSpan: a missing text is empty") \
  X(0x2e54, "B.text.total", WB_SEVERITY_FATAL, "TextSpan: the last boundary is the length of the joined string in UTF-16 units") \
  X(0x2e55, "B.text.utf8", WB_SEVERITY_FATAL, "IDV, general data format: strings are an LEB128 length and UTF-8 bytes") \
  X(0x2a56, "B.text.leb", WB_SEVERITY_LINT, "IDV, general data format: an LEB128 number ends with the first byte below 128; every writer takes as few as it can") \
  X(0x2e57, "B.vec.count", WB_SEVERITY_FATAL, "VBuffer: the vector count, one for each value") \
  X(0x2e58, "B.vec.size", WB_SEVERITY_FATAL, "VBuffer: the size of all vectors, or 0 where lengths follow") \
  X(0x2e59, "B.vec.len", WB_SEVERITY_FATAL, "VBuffer: lengths are i32 and not negative") \
  X(0x2a5a, "B.vec.multiple", WB_SEVERITY_LINT, "VBuffer: dimensions but one are known; the loader does not compare") \
  X(0x2e5b, "B.vec.dense", WB_SEVERITY_FATAL, "VBuffer: a value count is -1 where the vector is dense") \
  X(0x2e5c, "B.vec.sparsecount", WB_SEVERITY_FATAL, "VBuffer: the value count of a sparse vector is below its length") \
  X(0x2e5d, "B.vec.total", WB_SEVERITY_FATAL, "VBuffer: the values of a block are counted as i32") \
  X(0x2e5e, "B.vec.ni", WB_SEVERITY_FATAL, "VBuffer: the index count is an i32 and not negative") \
  X(0x2e5f, "B.vec.indices", WB_SEVERITY_FATAL, "VBuffer: the index count is the sum of the value counts of sparse vectors") \
  X(0x2e60, "B.vec.indexrange", WB_SEVERITY_FATAL, "VBuffer: indices are below the length of their vector") \
  X(0x2e61, "B.vec.indexorder", WB_SEVERITY_FATAL, "VBuffer: the indices of a vector strictly ascend")

#define WB_RULES_GGUF(X) \
  X(0x3e01, "MAGIC", WB_SEVERITY_FATAL, "File Structure: the magic number is GGUF in ASCII") \
  X(0x3e02, "HEADER-LENGTH", WB_SEVERITY_FATAL, "File Structure: magic, version, and two counts of 64 bits") \
  X(0x3e03, "VERSION-1", WB_SEVERITY_FATAL, "Historical State of Affairs: v2 changed counts and lengths from 32 to 64 bits") \
  X(0x3e04, "VERSION", WB_SEVERITY_FATAL, "File Structure: the version must be 3 for the version described here") \
  X(0x3a05, "VERSION-BIG", WB_SEVERITY_LINT, "v3 introduced big-endian files; no writer of version 2 makes them") \
  X(0x3e06, "COUNT-TENSORS", WB_SEVERITY_FATAL, "File Structure: an entry takes 24 bytes at least") \
  X(0x3e07, "COUNT-METADATA", WB_SEVERITY_FATAL, "File Structure: an entry takes 13 bytes at least") \
  X(0x3e08, "TABLE-TRUNCATED", WB_SEVERITY_FATAL, "File Structure: the tables are complete") \
  X(0x3e09, "STRING-BOUNDS", WB_SEVERITY_FATAL, "File Structure: a string has the length that it says") \
  X(0x3c0a, "KEY-EMPTY", WB_SEVERITY_VIOLATION, "File Structure: a key is a hierarchical key of segments; ggml refuses an empty one") \
  X(0x3e0b, "KEY-LENGTH", WB_SEVERITY_FATAL, "File Structure: a key must be at most 2^16-1 bytes long") \
  X(0x3c0c, "KEY-ASCII", WB_SEVERITY_VIOLATION, "File Structure: a key must be a valid ASCII string") \
  X(0x3c0d, "KEY-FORM", WB_SEVERITY_VIOLATION, "File Structure: each segment is lower_snake_case and separated by a dot (ggml's own names of architectures have hyphens, which pass)") \
  X(0x3c0e, "KEY-DUPLICATE", WB_SEVERITY_VIOLATION, "File Structure: metadata is a map from keys; ggml refuses duplicates") \
  X(0x3e0f, "VALUE-TYPE", WB_SEVERITY_FATAL, "File Structure: gguf_metadata_value_type") \
  X(0x3e10, "ARRAY-TYPE", WB_SEVERITY_FATAL, "File Structure: any value type is valid for the items of an array") \
  X(0x3e11, "ARRAY-BOUNDS", WB_SEVERITY_FATAL, "File Structure: len items follow") \
  X(0x3a12, "ARRAY-NESTED", WB_SEVERITY_LINT, "arrays may be nested, and gguf-py writes them so; ggml refuses such files") \
  X(0x3813, "ARRAY-DEPTH", WB_SEVERITY_UNCHECKED, "a limit of this reader; ggml refuses arrays that nest at all") \
  X(0x3c14, "VALUE-BOOL", WB_SEVERITY_VIOLATION, "File Structure: 0 is false and 1 is true, anything else is invalid") \
  X(0x3c15, "TEXT-UTF8", WB_SEVERITY_VIOLATION, "File Structure: the value is a UTF-8 non-null-terminated string") \
  X(0x3e16, "ALIGNMENT-TYPE", WB_SEVERITY_FATAL, "Standardized key-value pairs: general.alignment: uint32") \
  X(0x3e17, "ALIGNMENT-VALUE", WB_SEVERITY_FATAL, "Standardized key-value pairs: general.alignment must be a multiple of 8; ggml takes powers of two only") \
  X(0x3c18, "ALIGNMENT-POWER", WB_SEVERITY_VIOLATION, "align_offset is defined for any multiple of 8; ggml and gguf-py (0.19) take powers of two only") \
  X(0x3c19, "ALIGNMENT-MULTIPLE", WB_SEVERITY_VIOLATION, "Standardized key-value pairs: general.alignment must be a multiple of 8") \
  X(0x3a1a, "ALIGNMENT-LIMIT", WB_SEVERITY_LINT, "allowed, and 32-bit readers wrap when they round up to such multiples") \
  X(0x3e1b, "ALIGNMENT-TWICE", WB_SEVERITY_FATAL, "readers that take different ones read different data") \
  X(0x3c1c, "NAME-LENGTH", WB_SEVERITY_VIOLATION, "File Structure: the name of a tensor must be at most 64 bytes long") \
  X(0x3e1d, "NAME-LIMIT", WB_SEVERITY_FATAL, "File Structure: the name of a tensor must be at most 64 bytes long") \
  X(0x3a1e, "NAME-64", WB_SEVERITY_LINT, "64 bytes are allowed; GGML_MAX_NAME counts the closing zero") \
  X(0x3c1f, "NAME-UTF8", WB_SEVERITY_VIOLATION, "File Structure: the name is a standard GGUF string, which is UTF-8") \
  X(0x3c20, "NAME-NUL", WB_SEVERITY_VIOLATION, "ggml keeps names as C strings: what follows the zero is lost, and names that differ only there are equal") \
  X(0x3c21, "NAME-DUPLICATE", WB_SEVERITY_VIOLATION, "tensor names identify tensors; ggml refuses duplicates") \
  X(0x3c22, "DIMS-COUNT", WB_SEVERITY_VIOLATION, "File Structure: currently at most 4 dimensions") \
  X(0x3e23, "DIMS-BOUNDS", WB_SEVERITY_FATAL, "File Structure: n_dimensions dims follow") \
  X(0x3e24, "EXTENT-RANGE", WB_SEVERITY_FATAL, "ggml's dims are signed, and it refuses negative ones") \
  X(0x3c25, "EXTENT-ZERO", WB_SEVERITY_VIOLATION, "the specification is silent, and no model has empty tensors; ggml divided by dims until summer 2026") \
  X(0x3e26, "SHAPE-OVERFLOW", WB_SEVERITY_FATAL, "the size of a tensor follows from its shape and type; ggml refuses sizes that it cannot represent") \
  X(0x3827, "DTYPE-UNKNOWN", WB_SEVERITY_UNCHECKED, "File Structure: ggml_type, to which every few months of ggml add") \
  X(0x3c28, "DTYPE-REMOVED", WB_SEVERITY_VIOLATION, "File Structure: ggml_type; the numbers 4, 5, 31 to 33 and 36 to 38 were removed, and none is negative") \
  X(0x3e29, "BLOCK-MULTIPLE", WB_SEVERITY_FATAL, "rows consist of whole blocks; ggml refuses others") \
  X(0x3c2a, "OFFSET-ALIGN", WB_SEVERITY_VIOLATION, "File Structure: the offset must be a multiple of ALIGNMENT") \
  X(0x3c2b, "OFFSET-ORDER", WB_SEVERITY_VIOLATION, "the reference reader accepts data in the order of the entries only, without gaps") \
  X(0x3e2c, "DATA-BOUNDS", WB_SEVERITY_FATAL, "File Structure: the data of a tensor lies in the file") \
  X(0x3c2d, "OVERLAP", WB_SEVERITY_VIOLATION, "changing one tensor changes another; ggml refuses such offsets") \
  X(0x3c2e, "ALIAS", WB_SEVERITY_VIOLATION, "changing one tensor changes another; ggml refuses such offsets") \
  X(0x3a2f, "GAP", WB_SEVERITY_LINT, "unused bytes hide things and harm no reader that takes offsets as they are") \
  X(0x3a30, "TRAILING", WB_SEVERITY_LINT, "no reader looks there") \
  X(0x3c31, "PADDING", WB_SEVERITY_VIOLATION, "File Structure: where required, the file is padded with 0x00 bytes") \
  X(0x3a32, "KEYS-TYPE", WB_SEVERITY_LINT, "llama.cpp compares types exactly and refuses others; gguf.md gives some keys 64 bits that no reader takes") \
  X(0x3c33, "KEYS-ARRAY", WB_SEVERITY_VIOLATION, "gguf.md, Tokenizer: these keys are arrays; readers that do not check crash or read out of bounds") \
  X(0x3c34, "KEYS-TEXTS", WB_SEVERITY_VIOLATION, "gguf.md, Tokenizer: tokens and merges are array[string]; readers that take numbers for strings follow pointers out of bounds") \
  X(0x3c35, "KEYS-ITEMS", WB_SEVERITY_VIOLATION, "gguf.md, Tokenizer: scores are float32 and token types int32; readers that do not check the type read past the end") \
  X(0x3c36, "KEYS-LENGTH", WB_SEVERITY_VIOLATION, "gguf.md, Tokenizer: if present, it must have the same length and index as tokens; readers that go by the number of tokens read past the end of a shorter one") \
  X(0x3a37, "KEYS-TOKEN-TYPE", WB_SEVERITY_LINT, "gguf.md, Tokenizer: 1 is normal, 6 is byte; llama.cpp reads other numbers as 0, undefined") \
  X(0x3c38, "KEYS-TOKEN-ID", WB_SEVERITY_VIOLATION, "ids are positions in the list of tokens; readers that do not check them read past its end") \
  X(0x3a39, "KEYS-TOKEN-NONE", WB_SEVERITY_LINT, "a converter of ggml stores -1 for an id that does not exist; readers refuse it or use their default") \
  X(0x3c3a, "KEYS-TOKEN-DEFAULT", WB_SEVERITY_VIOLATION, "llama.cpp has default ids for each tokenizer; before June 2025 it read past the end of smaller vocabularies") \
  X(0x3c3b, "KEYS-BYTE-TOKEN", WB_SEVERITY_VIOLATION, "readers parse two digits of its text without checking them; a negative number writes out of bounds") \
  X(0x3c3c, "KEYS-CHARSMAP", WB_SEVERITY_VIOLATION, "readers that do not check the size read past the end") \
  X(0x3c3d, "KEYS-BLOCK-TYPE", WB_SEVERITY_VIOLATION, "gguf.md, LLM: block_count is an unsigned integer; readers that replace other types by 0 divide by it") \
  X(0x3c3e, "KEYS-BLOCK-COUNT", WB_SEVERITY_VIOLATION, "llama.cpp has arrays of 512 layers: it writes past their end or aborts, and aborts at 0") \
  X(0x3c3f, "KEYS-HEAD-COUNT", WB_SEVERITY_VIOLATION, "readers divide the embedding's length by it") \
  X(0x3c40, "KEYS-HEADS", WB_SEVERITY_VIOLATION, "gguf.md, LLM: head_count_kv is for grouped-query attention; ggml aborts where groups differ") \
  X(0x3a41, "KEYS-EMBEDDING", WB_SEVERITY_LINT, "without attention.key_length readers divide; the shapes then differ from what they compute, and they refuse the file") \
  X(0x3a42, "KEYS-LAYERS", WB_SEVERITY_LINT, "a list has one item per layer; llama.cpp refuses others") \
  X(0x3a43, "KEYS-ZERO", WB_SEVERITY_LINT, "no model has a context or an embedding of length 0; readers refuse it or use their default") \
  X(0x3c44, "KEYS-EXPERTS", WB_SEVERITY_VIOLATION, "gguf.md, LLM: expert_used_count of expert_count; llama.cpp aborts if none are used or more than there are") \
  X(0x3c45, "KEYS-DIVISOR", WB_SEVERITY_VIOLATION, "clip.cpp divides images into patches of this size, and patches into groups") \
  X(0x3a46, "KEYS-ROWS", WB_SEVERITY_LINT, "token_embd.weight has one row per token; llama.cpp refuses others") \
  X(0x3a47, "KEYS-COLUMNS", WB_SEVERITY_LINT, "token_embd.weight has embedding_length columns; llama.cpp refuses others") \
  X(0x3a48, "KEYS-TEMPLATE", WB_SEVERITY_LINT, "gguf.md, Chat template: a Jinja template; what it does was not checked") \
  X(0x3c49, "KEYS-TEMPLATE-ESCAPE", WB_SEVERITY_VIOLATION, "readers without a sandbox run it, and no template of a model needs them; names that a template computes are not found") \
  X(0x3c4a, "KEYS-SPLIT-TYPE", WB_SEVERITY_VIOLATION, "llama.cpp reads it as an unsigned 16-bit number, and aborts if a later part has another type") \
  X(0x3c4b, "KEYS-SPLIT-NO", WB_SEVERITY_VIOLATION, "the number of a part is below their count") \
  X(0x3c4c, "KEYS-SPLIT-TENSORS", WB_SEVERITY_VIOLATION, "split.tensors.count is that of all parts") \
  X(0x3c4d, "KEYS-SPLIT-KEYS", WB_SEVERITY_VIOLATION, "every part has its number, and the first also the number of all tensors; llama.cpp refuses a set without them") \
  X(0x3c4e, "KEYS-SPLIT-MISSING", WB_SEVERITY_VIOLATION, "readers open every part, in the folder of the first") \
  X(0x3c4f, "KEYS-SPLIT-OTHER", WB_SEVERITY_VIOLATION, "split.no counts from 0 what the name counts from 1; readers compare both") \
  X(0x3c50, "KEYS-SPLIT-COUNT", WB_SEVERITY_VIOLATION, "split.count is the number that every name of the set ends with") \
  X(0x3c51, "KEYS-SPLIT-INVALID", WB_SEVERITY_VIOLATION, "a set is as sound as each of its parts, and each states its number and their count") \
  X(0x3c52, "KEYS-SPLIT-TWICE", WB_SEVERITY_VIOLATION, "names of tensors are those of the whole set; readers refuse duplicates") \
  X(0x3c53, "KEYS-SPLIT-TOTAL", WB_SEVERITY_VIOLATION, "readers compare both, and refuse the set") \
  X(0x3e54, "KEYS-SPLIT-JOINED", WB_SEVERITY_FATAL, "llama.cpp reads each part as a file, and refuses a part that is not alone in its file")

#define WB_RULES_NPY(X) \
  X(0x4e01, "NPY-LENGTH", WB_SEVERITY_FATAL, "Format Version 1.0: magic string, version, HEADER_LEN and the header come before the data") \
  X(0x4e02, "NPY-MAGIC", WB_SEVERITY_FATAL, "Format Version 1.0: the first 6 bytes are a magic string: exactly \\x93NUMPY") \
  X(0x4e03, "NPY-VERSION", WB_SEVERITY_FATAL, "Format Version 1.0, 2.0, 3.0: the next two bytes are the major and the minor version") \
  X(0x4e04, "NPY-HEADER-LIMIT", WB_SEVERITY_FATAL, "a bound of this reader, far above that of numpy.load, max_header_size") \
  X(0x4a05, "NPY-HEADER-LONG", WB_SEVERITY_LINT, "numpy.load: max_header_size, 10,000 by default, limits what is parsed") \
  X(0x4a06, "NPY-ASCII", WB_SEVERITY_LINT, "Format Version 3.0: in practice, the ASCII string of versions 1.0 and 2.0 is Latin-1") \
  X(0x4e07, "NPY-UTF8", WB_SEVERITY_FATAL, "Format Version 3.0: the header is a UTF-8 encoded string") \
  X(0x4e08, "NPY-SYNTAX", WB_SEVERITY_FATAL, "Format Version 1.0: the header contains a Python literal expression of a dictionary") \
  X(0x4e09, "NPY-END", WB_SEVERITY_FATAL, "Format Version 1.0: the header contains a Python literal expression of a dictionary") \
  X(0x4e0a, "NPY-DEPTH", WB_SEVERITY_FATAL, "a bound of this reader; real headers nest two levels") \
  X(0x4c0b, "NPY-LONG", WB_SEVERITY_VIOLATION, "Format Version 1.0: the header is a literal; Python 2 wrote 3L, which is none in Python 3") \
  X(0x4a0c, "NPY-SPACE", WB_SEVERITY_LINT, "any white space may stand in a literal; every writer stores single spaces") \
  X(0x4e0d, "NPY-KEY-UNKNOWN", WB_SEVERITY_FATAL, "Format Version 1.0: the dictionary contains three keys") \
  X(0x4e0e, "NPY-KEY-MISSING", WB_SEVERITY_FATAL, "Format Version 1.0: the dictionary contains three keys") \
  X(0x4c0f, "NPY-KEY-TWICE", WB_SEVERITY_VIOLATION, "Format Version 1.0: the dictionary contains three keys; Python keeps the last of equal ones") \
  X(0x4a10, "NPY-KEY-ORDER", WB_SEVERITY_LINT, "Format Version 1.0: keys are sorted; a writer should do so, a reader must not depend on it") \
  X(0x4e11, "NPY-FORTRAN", WB_SEVERITY_FATAL, "Format Version 1.0: fortran_order is a bool") \
  X(0x4e12, "NPY-SHAPE", WB_SEVERITY_FATAL, "Format Version 1.0: shape is a tuple of int") \
  X(0x4e13, "NPY-SHAPE-NEGATIVE", WB_SEVERITY_FATAL, "Format Version 1.0: shape is the shape of the array") \
  X(0x4e14, "NPY-SHAPE-SIZE", WB_SEVERITY_FATAL, "Format Version 1.0: the data follows, as many bytes as shape and descr say") \
  X(0x4e15, "NPY-RANK", WB_SEVERITY_FATAL, "an array of NumPy has at most 64 dimensions") \
  X(0x4a16, "NPY-RANK-32", WB_SEVERITY_LINT, "an array of NumPy 1 has at most 32 dimensions") \
  X(0x4e17, "NPY-DESCR", WB_SEVERITY_FATAL, "Format Version 1.0: descr can be passed to the numpy.dtype constructor") \
  X(0x4818, "NPY-DESCR-FORM", WB_SEVERITY_UNCHECKED, "Format Version 1.0: descr can be passed to numpy.dtype; every writer stores dtype.descr or dtype.str") \
  X(0x4c19, "NPY-BYTE-ORDER", WB_SEVERITY_VIOLATION, "array interface protocol, typestr: it begins with the byte order; without one the reader's own counts") \
  X(0x4e1a, "NPY-OBJECT", WB_SEVERITY_FATAL, "Format Version 1.0: if the dtype contains Python objects, the data is a Python pickle of the array") \
  X(0x4e1b, "NPY-TEXT", WB_SEVERITY_FATAL, "array interface protocol, typestr: U is Unicode, of a fixed length, in UCS-4") \
  X(0x481c, "NPY-TEXT-FIELD", WB_SEVERITY_UNCHECKED, "array interface protocol, descr: the fields of an element") \
  X(0x4c1d, "NPY-NEWLINE", WB_SEVERITY_VIOLATION, "Format Version 1.0: the header is terminated by a newline") \
  X(0x4c1e, "NPY-PADDING", WB_SEVERITY_VIOLATION, "Format Version 1.0: the header is padded with spaces") \
  X(0x4a1f, "NPY-ALIGN", WB_SEVERITY_LINT, "Format Version 1.0: padded to a multiple of 64 bytes, before NumPy 1.14 of 16; no reader depends on it") \
  X(0x4e20, "NPY-DATA", WB_SEVERITY_FATAL, "Format Version 1.0: the data follows the header, np.prod(shape) elements") \
  X(0x4a21, "NPY-TRAILING", WB_SEVERITY_LINT, "numpy.save may append several arrays to one file; numpy.load reads the first only")

#define WB_RULES_SAFETENSORS(X) \
  X(0x3601, "FILE-LENGTH", WB_SEVERITY_FATAL, "Format: a file begins with 8 bytes, the size of the header") \
  X(0x3602, "HEADER-LIMIT", WB_SEVERITY_FATAL, "Benefits: there is a limit on the size of the header of 100 MB") \
  X(0x3603, "HEADER-BOUNDS", WB_SEVERITY_FATAL, "Format: the header follows its size") \
  X(0x3404, "HEADER-START", WB_SEVERITY_VIOLATION, "Format: the header data MUST begin with a { character (the crate lets white space pass)") \
  X(0x3605, "JSON-ROOT", WB_SEVERITY_FATAL, "Format: the header is a JSON object, and MUST begin with a { character") \
  X(0x3606, "JSON-SYNTAX", WB_SEVERITY_FATAL, "Format: the header is a JSON string; RFC 8259") \
  X(0x3607, "JSON-TRUNCATED", WB_SEVERITY_FATAL, "Format: the header is a JSON string; RFC 8259") \
  X(0x3408, "JSON-TRAILING", WB_SEVERITY_VIOLATION, "Format: the header data MAY be trailing padded with whitespace") \
  X(0x3609, "JSON-DEPTH", WB_SEVERITY_FATAL, "a limit of this reader; real headers nest three levels") \
  X(0x360a, "JSON-ESCAPE", WB_SEVERITY_FATAL, "Format: the header is a JSON string; RFC 8259 §7") \
  X(0x340b, "JSON-CONTROL", WB_SEVERITY_VIOLATION, "Format: the header is a JSON string; RFC 8259 §7") \
  X(0x340c, "HEADER-UTF8", WB_SEVERITY_VIOLATION, "Format: the header is a JSON UTF-8 string") \
  X(0x340d, "METADATA-DUPLICATE", WB_SEVERITY_VIOLATION, "Notes: duplicate keys are disallowed") \
  X(0x340e, "METADATA-TYPE", WB_SEVERITY_VIOLATION, "Format: __metadata__ contains a free form text-to-text map") \
  X(0x340f, "METADATA-VALUE", WB_SEVERITY_VIOLATION, "Format: arbitrary JSON is not allowed, all values must be strings") \
  X(0x3410, "METADATA-KEY", WB_SEVERITY_VIOLATION, "Notes: duplicate keys are disallowed") \
  X(0x3411, "NAME-DUPLICATE", WB_SEVERITY_VIOLATION, "Notes: duplicate keys are disallowed; not all parsers may respect this") \
  X(0x3612, "ENTRY-TYPE", WB_SEVERITY_FATAL, "Format: {\"TENSOR_NAME\": {\"dtype\": …, \"shape\": …, \"data_offsets\": …}}") \
  X(0x3613, "FIELD-MISSING", WB_SEVERITY_FATAL, "Format: {\"TENSOR_NAME\": {\"dtype\": …, \"shape\": …, \"data_offsets\": …}}") \
  X(0x3614, "FIELD-DUPLICATE", WB_SEVERITY_FATAL, "Notes: duplicate keys are disallowed") \
  X(0x3215, "FIELD-UNKNOWN", WB_SEVERITY_LINT, "no writer adds fields; the crate ignores them") \
  X(0x3416, "KEY-DUPLICATE", WB_SEVERITY_VIOLATION, "Notes: duplicate keys are disallowed") \
  X(0x3017, "KEYS-UNCHECKED", WB_SEVERITY_UNCHECKED, "a limit of this reader; no writer adds fields") \
  X(0x3418, "NUMBER-DOUBLE", WB_SEVERITY_VIOLATION, "Notes: the subset of JSON is decided by serde_json, which refuses such numbers wherever they are") \
  X(0x3619, "DTYPE-TYPE", WB_SEVERITY_FATAL, "Format: \"dtype\": \"F16\"") \
  X(0x341a, "DTYPE-UNKNOWN", WB_SEVERITY_VIOLATION, "Format names the types, and later releases add to them") \
  X(0x361b, "SHAPE-TYPE", WB_SEVERITY_FATAL, "Format: \"shape\": [1, 16, 256]") \
  X(0x361c, "OFFSETS-TYPE", WB_SEVERITY_FATAL, "Format: \"data_offsets\": [BEGIN, END]") \
  X(0x361d, "NUMBER-NEGATIVE", WB_SEVERITY_FATAL, "Format: shapes and offsets count elements and bytes") \
  X(0x361e, "NUMBER-FRACTION", WB_SEVERITY_FATAL, "Format: shapes and offsets count elements and bytes; the crate reads only integers") \
  X(0x361f, "NUMBER-RANGE", WB_SEVERITY_FATAL, "Format: shapes and offsets count elements and bytes") \
  X(0x3620, "OFFSET-ORDER", WB_SEVERITY_FATAL, "Format: BEGIN is the start offset, END the one-past offset") \
  X(0x3621, "OFFSET-BOUNDS", WB_SEVERITY_FATAL, "Format: data_offsets point to the tensor data relative to the beginning of the byte buffer") \
  X(0x3622, "SHAPE-OVERFLOW", WB_SEVERITY_FATAL, "Format: the data is as large as shape and type say") \
  X(0x3623, "TENSOR-BITS", WB_SEVERITY_FATAL, "Format: offsets count bytes; the crate refuses misaligned slices") \
  X(0x3624, "TENSOR-SIZE", WB_SEVERITY_FATAL, "Format: the data is as large as shape and type say") \
  X(0x3425, "OVERLAP", WB_SEVERITY_VIOLATION, "Notes: the byte buffer needs to be entirely indexed, without overlaps") \
  X(0x3426, "ALIAS", WB_SEVERITY_VIOLATION, "Notes: the byte buffer needs to be entirely indexed, without overlaps") \
  X(0x3427, "HOLE", WB_SEVERITY_VIOLATION, "Notes: the byte buffer needs to be entirely indexed, and cannot contain holes") \
  X(0x3428, "TRAILING", WB_SEVERITY_VIOLATION, "Notes: the byte buffer needs to be entirely indexed: this prevents polyglot files")

#define WB_RULES_TFLITE(X) \
  X(0x8601, "F-SHORT", WB_SEVERITY_FATAL, "FlatBuffers, Binary Format: an offset to the root table, then the file identifier") \
  X(0x8602, "F-IDENTIFIER", WB_SEVERITY_FATAL, "schema: file_identifier \"TFL3\", in bytes 4 to 7") \
  X(0x8603, "F-ROOT", WB_SEVERITY_FATAL, "FlatBuffers, Binary Format: the file starts with an offset to the root table") \
  X(0x8604, "F-OFFSET", WB_SEVERITY_FATAL, "FlatBuffers, Binary Format: offsets point forward, within the file") \
  X(0x8605, "F-ALIGN", WB_SEVERITY_FATAL, "FlatBuffers, Binary Format: all objects are aligned to their width") \
  X(0x8606, "F-VTABLE", WB_SEVERITY_FATAL, "FlatBuffers, Binary Format: a table starts with a signed offset to its vtable") \
  X(0x8607, "F-VTABLE-LENGTH", WB_SEVERITY_FATAL, "FlatBuffers, Binary Format: the first element of a vtable is its size in bytes") \
  X(0x8408, "F-TABLE-LENGTH", WB_SEVERITY_VIOLATION, "FlatBuffers, Binary Format: the second element of a vtable is the size of the table") \
  X(0x8609, "F-FIELD-HEAD", WB_SEVERITY_FATAL, "FlatBuffers, Binary Format: fields come after the offset to the vtable") \
  X(0x860a, "F-FIELD-BOUNDS", WB_SEVERITY_FATAL, "FlatBuffers, Binary Format: fields are inside their table") \
  X(0x860b, "F-FIELD-ALIGN", WB_SEVERITY_FATAL, "FlatBuffers, Binary Format: scalars are aligned to their own size") \
  X(0x820c, "F-FIELD-TABLE", WB_SEVERITY_LINT, "FlatBuffers, Binary Format: fields are inside their table") \
  X(0x860d, "F-VECTOR", WB_SEVERITY_FATAL, "FlatBuffers, Binary Format: a vector is its count and that many items") \
  X(0x860e, "F-VECTOR-ALIGN", WB_SEVERITY_FATAL, "FlatBuffers, Binary Format: vectors are aligned to their elements") \
  X(0x860f, "F-STRING", WB_SEVERITY_FATAL, "FlatBuffers, Binary Format: a string is a vector of bytes, and a zero byte after it") \
  X(0x8410, "F-STRING-END", WB_SEVERITY_VIOLATION, "FlatBuffers, Binary Format: strings are null-terminated") \
  X(0x8411, "F-UNION-KIND", WB_SEVERITY_VIOLATION, "FlatBuffers, Binary Format: a union is two fields, its kind and its value") \
  X(0x8212, "F-UNION-VALUE", WB_SEVERITY_LINT, "FlatBuffers, Binary Format: a union is two fields, its kind and its value") \
  X(0x8013, "F-UNION-UNKNOWN", WB_SEVERITY_UNCHECKED, "schema: all new members of unions must be added at the end") \
  X(0x8614, "F-SHARED", WB_SEVERITY_FATAL, "a limit of this reader (SHARES); the runtime stops at a million tables") \
  X(0x8415, "F-OVERLAP", WB_SEVERITY_VIOLATION, "FlatBuffers, Binary Format: each object has its own bytes") \
  X(0x8216, "F-TRAILING", WB_SEVERITY_LINT, "schema: buffers and options may be stored after the flatbuffer, by offset and size") \
  X(0x8617, "M-VERSION", WB_SEVERITY_FATAL, "schema, Model.version: version of the schema; this text is of version 3") \
  X(0x8618, "M-SUBGRAPHS", WB_SEVERITY_FATAL, "schema, Model.subgraphs: the 0th is assumed to be the main model") \
  X(0x8619, "M-BUFFERS", WB_SEVERITY_FATAL, "schema, Model.buffers: the 0th entry must be an empty buffer") \
  X(0x841a, "M-OLD-METADATA", WB_SEVERITY_VIOLATION, "schema, Model.metadata_buffer: indices of buffers") \
  X(0x841b, "M-META-BUFFER", WB_SEVERITY_VIOLATION, "schema, Metadata.buffer: an index to the buffers table") \
  X(0x841c, "M-TWICE", WB_SEVERITY_VIOLATION, "schema, Metadata.name: a string to uniquely identify a Metadata; signatures are looked up by key") \
  X(0x841d, "M-NAME-UTF8", WB_SEVERITY_VIOLATION, "FlatBuffers, Schema: a string holds UTF-8") \
  X(0x841e, "K-KEY", WB_SEVERITY_VIOLATION, "schema, SignatureDef.signature_key: the key in the map of signatures") \
  X(0x841f, "K-SUBGRAPH", WB_SEVERITY_VIOLATION, "schema, SignatureDef.subgraph_index: index of the subgraph of the exported method") \
  X(0x8420, "K-TENSOR", WB_SEVERITY_VIOLATION, "schema, TensorMap.tensor_index: the tensor that the name corresponds to") \
  X(0x8421, "K-NAME", WB_SEVERITY_VIOLATION, "schema, TensorMap.name: the name of the tensor in the signature") \
  X(0x8422, "C-CODE", WB_SEVERITY_VIOLATION, "schema, OperatorCode: a builtin operator, whose code is the larger of two fields") \
  X(0x8023, "C-NEW", WB_SEVERITY_UNCHECKED, "schema, BuiltinOperator: new members are added at the end") \
  X(0x8424, "C-NAME", WB_SEVERITY_VIOLATION, "schema, OperatorCode: a string if the operator is custom") \
  X(0x8025, "C-CUSTOM", WB_SEVERITY_UNCHECKED, "schema, BuiltinOperator: custom operators accept an opaque object") \
  X(0x8426, "C-VERSION", WB_SEVERITY_VIOLATION, "schema, OperatorCode.version: the version of the operator, 1 by default") \
  X(0x8627, "B-INDEX", WB_SEVERITY_FATAL, "schema, Tensor.buffer: an index that refers to the buffers table") \
  X(0x8428, "B-BOTH", WB_SEVERITY_VIOLATION, "schema, Buffer: models larger than 2 GB use offset and size instead") \
  X(0x8429, "B-OFFSET", WB_SEVERITY_VIOLATION, "schema, Buffer.offset: only valid if > 1") \
  X(0x862a, "B-RANGE", WB_SEVERITY_FATAL, "schema, Buffer: offset and size, from the beginning of the file") \
  X(0x822b, "B-ZERO", WB_SEVERITY_LINT, "schema, Model.buffers: the 0th entry must be an empty buffer (sentinel)") \
  X(0x822c, "B-UNUSED", WB_SEVERITY_LINT, "schema, Model.buffers: buffers of tensors and of metadata") \
  X(0x822d, "B-ALIGN", WB_SEVERITY_LINT, "schema, Buffer.data: force_align 16") \
  X(0x862e, "T-TYPE", WB_SEVERITY_FATAL, "schema, TensorType: 0 to 22") \
  X(0x862f, "T-DIM", WB_SEVERITY_FATAL, "schema, Tensor.shape: the tensor shape; only shape_signature has -1") \
  X(0x8630, "T-PRODUCT", WB_SEVERITY_FATAL, "schema, Tensor.shape: the tensor shape") \
  X(0x8231, "T-RANK", WB_SEVERITY_LINT, "schema, Tensor.shape: the tensor shape") \
  X(0x8632, "T-SHORT", WB_SEVERITY_FATAL, "schema, Tensor.buffer: elements in row-major order, little-endian") \
  X(0x8433, "T-LONG", WB_SEVERITY_VIOLATION, "schema, Tensor.buffer: elements in row-major order, little-endian") \
  X(0x8434, "T-RESOURCE", WB_SEVERITY_VIOLATION, "schema, TensorType: RESOURCE and VARIANT have no data in the file") \
  X(0x8435, "T-VARIABLE", WB_SEVERITY_VIOLATION, "schema, Tensor.is_variable") \
  X(0x8436, "T-NAME-UTF8", WB_SEVERITY_VIOLATION, "FlatBuffers, Schema: a string holds UTF-8") \
  X(0x8037, "T-TEXT", WB_SEVERITY_UNCHECKED, "a limit of this reader (TFLITE_TEXT); real names take a few hundred bytes") \
  X(0x8438, "T-SIGNATURE-RANK", WB_SEVERITY_VIOLATION, "schema, Tensor.shape_signature: encodes shape with unknown dimensions") \
  X(0x8439, "T-SIGNATURE-DIM", WB_SEVERITY_VIOLATION, "schema, Tensor.shape_signature: the shape, in which unknown dimensions are represented with -1") \
  X(0x823a, "T-BOOL", WB_SEVERITY_LINT, "schema, TensorType.BOOL") \
  X(0x823b, "T-PADDING", WB_SEVERITY_LINT, "schema, TensorType.INT4 and INT2: elements are packed, the first in the lowest bits") \
  X(0x863c, "X-HEAD", WB_SEVERITY_FATAL, "runtime, string_util: the number of texts, an offset for each and one for the end") \
  X(0x843d, "X-COUNT", WB_SEVERITY_VIOLATION, "runtime, string_util: as many texts as elements") \
  X(0x863e, "X-OFFSET", WB_SEVERITY_FATAL, "runtime, string_util: offsets from the start of the buffer, in ascending order, the last one is the end") \
  X(0x843f, "Q-COUNT", WB_SEVERITY_VIOLATION, "schema, QuantizationParameters: f = scale * (q - zero_point)") \
  X(0x8440, "Q-CHANNELS", WB_SEVERITY_VIOLATION, "schema, QuantizationParameters.quantized_dimension: the dimension that the scales correspond to") \
  X(0x8441, "Q-AXIS", WB_SEVERITY_VIOLATION, "schema, QuantizationParameters.quantized_dimension: a dimension of the shape") \
  X(0x8442, "Q-SCALE", WB_SEVERITY_VIOLATION, "schema, QuantizationParameters.scale: f = scale * (q - zero_point)") \
  X(0x8243, "Q-SCALE-ZERO", WB_SEVERITY_LINT, "schema, QuantizationParameters.scale: f = scale * (q - zero_point)") \
  X(0x8444, "Q-ZERO-POINT", WB_SEVERITY_VIOLATION, "schema, QuantizationParameters.zero_point: f = scale * (q - zero_point)") \
  X(0x8045, "Q-CUSTOM", WB_SEVERITY_UNCHECKED, "schema, CustomQuantization: parameters for experimenting") \
  X(0x8446, "Q-TENSOR", WB_SEVERITY_VIOLATION, "schema, BlockwiseQuantization: index to the tensor, in the tensors array of the subgraph") \
  X(0x8447, "Q-SELF", WB_SEVERITY_VIOLATION, "schema, BlockwiseQuantization: index to the tensor of the scales") \
  X(0x8448, "Q-TYPE", WB_SEVERITY_VIOLATION, "schema, BlockwiseQuantization.scales: index to the tensor of the scales") \
  X(0x8449, "Q-BLOCK", WB_SEVERITY_VIOLATION, "schema, BlockwiseQuantization.block_size: the block size of the tensor") \
  X(0x844a, "Q-SHAPE", WB_SEVERITY_VIOLATION, "schema, BlockwiseQuantization: one scale for each block") \
  X(0x844b, "Z-ORDER", WB_SEVERITY_VIOLATION, "schema, SparsityParameters.traversal_order: a permutation of the dimensions, then one of the block's") \
  X(0x844c, "Z-MAP", WB_SEVERITY_VIOLATION, "schema, SparsityParameters.block_map: how a block dimension maps to the original dimension") \
  X(0x844d, "Z-LEVELS", WB_SEVERITY_VIOLATION, "schema, SparsityParameters.dim_metadata: the size equals that of traversal_order") \
  X(0x844e, "Z-FORMAT", WB_SEVERITY_VIOLATION, "schema, DimensionType: DENSE or SPARSE_CSR") \
  X(0x844f, "Z-DENSE", WB_SEVERITY_VIOLATION, "schema, DimensionMetadata.dense_size: the size of that dimension") \
  X(0x8450, "Z-SEGMENTS", WB_SEVERITY_VIOLATION, "schema, DimensionMetadata.array_segments: the row pointers of a CSR matrix") \
  X(0x8451, "Z-INDICES", WB_SEVERITY_VIOLATION, "schema, DimensionMetadata.array_indices: the column indices of a CSR matrix") \
  X(0x8452, "Z-VALUES", WB_SEVERITY_VIOLATION, "schema, SparsityParameters: the non-zero values in traversal order") \
  X(0x8453, "E-BOTH", WB_SEVERITY_VIOLATION, "schema, Tensor.external_buffer: 0 indicates that the tensor uses the traditional buffer") \
  X(0x8454, "E-ID", WB_SEVERITY_VIOLATION, "schema, ExternalBuffer.id: unique identifier for this external buffer") \
  X(0x8455, "E-TWICE", WB_SEVERITY_VIOLATION, "schema, ExternalBuffer.id: unique identifier for this external buffer") \
  X(0x8456, "E-GROUP", WB_SEVERITY_VIOLATION, "schema, ExternalBuffer.group: index into the external_buffer_groups array") \
  X(0x8457, "E-LENGTH", WB_SEVERITY_VIOLATION, "schema, ExternalBuffer.length: the bytes of the tensor") \
  X(0x8458, "E-RANGE", WB_SEVERITY_VIOLATION, "schema, ExternalBuffer: offset and length within the file") \
  X(0x8459, "E-PATH", WB_SEVERITY_VIOLATION, "schema, ExternalBufferGroup: groups external buffers by file/URI") \
  X(0x805a, "E-UNCHECKED", WB_SEVERITY_UNCHECKED, "schema, ExternalBuffer: an immutable data slice stored in an external file") \
  X(0x845b, "G-TENSORS", WB_SEVERITY_VIOLATION, "schema, SubGraph.tensors: a list of all tensors used in this subgraph") \
  X(0x825c, "G-OPERATORS", WB_SEVERITY_LINT, "schema, SubGraph.operators: all operators, in execution order") \
  X(0x845d, "G-INPUT", WB_SEVERITY_VIOLATION, "schema, SubGraph.inputs: indices of the tensors that are inputs") \
  X(0x845e, "G-OUTPUT", WB_SEVERITY_VIOLATION, "schema, SubGraph.outputs: indices of the tensors that are outputs") \
  X(0x845f, "G-CONSTANT", WB_SEVERITY_VIOLATION, "schema, SubGraph.inputs: the list of non-static tensors that feed into the subgraph") \
  X(0x8460, "O-CODE", WB_SEVERITY_VIOLATION, "schema, Operator.opcode_index: index into the operator_codes array") \
  X(0x8461, "O-INPUT", WB_SEVERITY_VIOLATION, "schema, Operator.inputs: optional input are indicated by -1") \
  X(0x8462, "O-OUTPUT", WB_SEVERITY_VIOLATION, "schema, Operator.outputs: indices of tensors") \
  X(0x8463, "O-NO-OUTPUTS", WB_SEVERITY_VIOLATION, "schema, Operator.outputs: indices of tensors") \
  X(0x8464, "O-INTERMEDIATE", WB_SEVERITY_VIOLATION, "schema, Operator.intermediates: indices to the subgraph's tensors that are internal to an Op") \
  X(0x8465, "O-MUTATING", WB_SEVERITY_VIOLATION, "schema, Operator.mutating_variable_inputs: the same length as inputs, or empty") \
  X(0x8266, "O-OPTIONS", WB_SEVERITY_LINT, "schema, BuiltinOptions: builtins have a predetermined set of acceptable options") \
  X(0x8467, "O-LARGE", WB_SEVERITY_VIOLATION, "schema, Operator.large_custom_options_offset: from the beginning of the file, only valid if > 1") \
  X(0x8468, "O-LARGE-OFFSET", WB_SEVERITY_VIOLATION, "schema, Operator.large_custom_options_offset: only valid if > 1") \
  X(0x8469, "O-LARGE-BOTH", WB_SEVERITY_VIOLATION, "schema, Operator.large_custom_options_offset: custom options of models larger than 2 GB") \
  X(0x846a, "O-SUBGRAPH", WB_SEVERITY_VIOLATION, "schema, IfOptions, WhileOptions and others: indices of subgraphs") \
  X(0x846b, "O-CYCLE", WB_SEVERITY_VIOLATION, "schema, WhileOptions and others: indices of subgraphs") \
  X(0x846c, "O-UNPRODUCED", WB_SEVERITY_VIOLATION, "schema, SubGraph.operators: all operators, in execution order") \
  X(0x846d, "O-WRITTEN", WB_SEVERITY_VIOLATION, "schema, SubGraph.operators: tensors flow from one operator to the next") \
  X(0x806e, "O-UNCHECKED", WB_SEVERITY_UNCHECKED, "a limit of this reader (TFLITE_MARKS); real models have up to a few hundred")

#define WB_RULES_EXECUTORCH(X) \
  X(0x8e01, "F-SHORT", WB_SEVERITY_FATAL, "FlatBuffers, Binary Format: an offset to the root table, then the file identifier") \
  X(0x8e02, "F-IDENTIFIER", WB_SEVERITY_FATAL, "program.fbs and flat_tensor.fbs: file_identifier, in bytes 4 to 7") \
  X(0x8e03, "F-ROOT", WB_SEVERITY_FATAL, "FlatBuffers, Binary Format: the file starts with an offset to the root table") \
  X(0x8e04, "F-OFFSET", WB_SEVERITY_FATAL, "FlatBuffers, Binary Format: offsets point forward, within the buffer") \
  X(0x8e05, "F-ALIGN", WB_SEVERITY_FATAL, "FlatBuffers, Binary Format: all objects are aligned to their width") \
  X(0x8e06, "F-VTABLE", WB_SEVERITY_FATAL, "FlatBuffers, Binary Format: a table starts with a signed offset to its vtable") \
  X(0x8e07, "F-VTABLE-LENGTH", WB_SEVERITY_FATAL, "FlatBuffers, Binary Format: the first element of a vtable is its size in bytes") \
  X(0x8c08, "F-TABLE-LENGTH", WB_SEVERITY_VIOLATION, "FlatBuffers, Binary Format: the second element of a vtable is the size of the table") \
  X(0x8e09, "F-FIELD-HEAD", WB_SEVERITY_FATAL, "FlatBuffers, Binary Format: fields come after the offset to the vtable") \
  X(0x8e0a, "F-FIELD-BOUNDS", WB_SEVERITY_FATAL, "FlatBuffers, Binary Format: fields are inside their table") \
  X(0x8e0b, "F-FIELD-ALIGN", WB_SEVERITY_FATAL, "FlatBuffers, Binary Format: scalars are aligned to their own size") \
  X(0x8a0c, "F-FIELD-TABLE", WB_SEVERITY_LINT, "FlatBuffers, Binary Format: fields are inside their table") \
  X(0x8e0d, "F-VECTOR", WB_SEVERITY_FATAL, "FlatBuffers, Binary Format: a vector is its count and that many items") \
  X(0x8e0e, "F-VECTOR-ALIGN", WB_SEVERITY_FATAL, "FlatBuffers, Binary Format: vectors are aligned to their elements") \
  X(0x8e0f, "F-STRING", WB_SEVERITY_FATAL, "FlatBuffers, Binary Format: a string is a vector of bytes, and a zero byte after it") \
  X(0x8c10, "F-STRING-END", WB_SEVERITY_VIOLATION, "FlatBuffers, Binary Format: strings are null-terminated") \
  X(0x8c11, "F-UNION-KIND", WB_SEVERITY_VIOLATION, "FlatBuffers, Binary Format: a union is two fields, its kind and its value") \
  X(0x8e12, "F-UNION-VALUE", WB_SEVERITY_FATAL, "FlatBuffers, Binary Format: a union is two fields, its kind and its value") \
  X(0x8813, "F-UNION-UNKNOWN", WB_SEVERITY_UNCHECKED, "program.fbs, KernelTypes and InstructionArguments: new members are added at the end") \
  X(0x8e14, "F-SHARED", WB_SEVERITY_FATAL, "a limit of this reader (SHARES)") \
  X(0x8c15, "F-OVERLAP", WB_SEVERITY_VIOLATION, "FlatBuffers, Binary Format: each object has its own bytes") \
  X(0x8a16, "F-TRAILING", WB_SEVERITY_LINT, "the file ends with its last segment") \
  X(0x8e17, "H-MAGIC", WB_SEVERITY_FATAL, "flat_tensor_header.h: the magic of the header is FH01") \
  X(0x8e18, "H-LENGTH", WB_SEVERITY_FATAL, "extended_header.h and flat_tensor_header.h: the length of the header, itself included") \
  X(0x8a19, "H-OLD", WB_SEVERITY_LINT, "extended_header.h: segment_data_size was added to the header") \
  X(0x8e1a, "H-PROGRAM", WB_SEVERITY_FATAL, "extended_header.h: program_size, the size of the flatbuffer from the start of the file") \
  X(0x8c1b, "H-PLACE", WB_SEVERITY_VIOLATION, "flat_tensor_header.h: flatbuffer_offset, where the flatbuffer goes on after the header") \
  X(0x8e1c, "H-BASE", WB_SEVERITY_FATAL, "extended_header.h: segment_base_offset is 0 if there are no segments") \
  X(0x8e1d, "H-INSIDE", WB_SEVERITY_FATAL, "extended_header.h: segments follow the program") \
  X(0x8e1e, "H-DATA", WB_SEVERITY_FATAL, "extended_header.h and flat_tensor_header.h: segment_base_offset, segment_data_size") \
  X(0x8a1f, "H-SIZE", WB_SEVERITY_LINT, "extended_header.h: segment_data_size") \
  X(0x8e20, "S-RANGE", WB_SEVERITY_FATAL, "program.fbs, DataSegment: offset and size, relative to the base of segments") \
  X(0x8c21, "S-ORDER", WB_SEVERITY_VIOLATION, "program.fbs, Program.segments: data segments, sorted by offset") \
  X(0x8a22, "S-ALIGN", WB_SEVERITY_LINT, "program.fbs, DataSegment: segments are typically aligned so that they can be mapped") \
  X(0x8a23, "S-GAP", WB_SEVERITY_LINT, "program.fbs, DataSegment: the data of a segment may be followed by padding") \
  X(0x8e24, "C-BOTH", WB_SEVERITY_FATAL, "program.fbs, Program.constant_segment: if it has offsets, constant_buffer must be empty") \
  X(0x8e25, "C-SEGMENT", WB_SEVERITY_FATAL, "program.fbs, SubsegmentOffsets.segment_index: index of the segment in Program.segments") \
  X(0x8c26, "C-FIRST", WB_SEVERITY_VIOLATION, "program.fbs, Program.constant_segment: offsets[0] is reserved for tensors without data") \
  X(0x8e27, "C-OFFSET", WB_SEVERITY_FATAL, "program.fbs, SubsegmentOffsets.offsets: offsets into the data of the segment") \
  X(0x8e28, "N-NONE", WB_SEVERITY_FATAL, "flat_tensor.fbs, FlatTensor.named_data") \
  X(0x8c29, "N-KEY", WB_SEVERITY_VIOLATION, "program.fbs and flat_tensor.fbs, NamedData.key: a unique key") \
  X(0x8c2a, "N-UTF8", WB_SEVERITY_VIOLATION, "FlatBuffers, Schema: a string holds UTF-8") \
  X(0x882b, "N-TEXT", WB_SEVERITY_UNCHECKED, "a limit of this reader (EXECUTORCH_TEXT)") \
  X(0x8e2c, "N-SEGMENT", WB_SEVERITY_FATAL, "program.fbs and flat_tensor.fbs, NamedData.segment_index") \
  X(0x8c2d, "N-TWICE", WB_SEVERITY_VIOLATION, "program.fbs and flat_tensor.fbs, NamedData.key: unique; methods are found by name") \
  X(0x8e2e, "T-TYPE", WB_SEVERITY_FATAL, "scalar_type.fbs, ScalarType") \
  X(0x8e2f, "T-MISSING", WB_SEVERITY_FATAL, "program.fbs, Tensor.sizes and Tensor.dim_order; flat_tensor.fbs, TensorLayout") \
  X(0x8e30, "T-DIM", WB_SEVERITY_FATAL, "program.fbs, Tensor.sizes") \
  X(0x8e31, "T-PRODUCT", WB_SEVERITY_FATAL, "program.fbs, Tensor.sizes") \
  X(0x8e32, "T-RANK", WB_SEVERITY_FATAL, "tensor_impl.h: kTensorDimensionLimit") \
  X(0x8833, "T-SHAPE", WB_SEVERITY_UNCHECKED, "a limit of this reader: 32 digits of three bits") \
  X(0x8e34, "T-ORDER", WB_SEVERITY_FATAL, "program.fbs, Tensor.dim_order: in what order dimensions are laid out in memory") \
  X(0x8c35, "T-STORAGE", WB_SEVERITY_VIOLATION, "program.fbs, Tensor.storage_offset: the runtime only supports a value of zero") \
  X(0x8c36, "T-DYNAMISM", WB_SEVERITY_VIOLATION, "program.fbs, TensorShapeDynamism: static, bound, unbound") \
  X(0x8c37, "T-LAYOUT", WB_SEVERITY_VIOLATION, "program.fbs, Tensor.layout: may not be needed") \
  X(0x8e38, "T-LOCATION", WB_SEVERITY_FATAL, "program.fbs, TensorDataLocation: in the file, or outside") \
  X(0x8c39, "T-KEY", WB_SEVERITY_VIOLATION, "program.fbs, ExtraTensorInfo.location: fully_qualified_name must be non-empty") \
  X(0x8a3a, "T-EXTERNAL", WB_SEVERITY_LINT, "program.fbs, TensorDataLocation.EXTERNAL: stored outside of the file") \
  X(0x8e3b, "T-INDEX", WB_SEVERITY_FATAL, "program.fbs, Tensor.data_buffer_idx") \
  X(0x8e3c, "T-MUTABLE", WB_SEVERITY_FATAL, "program.fbs, ExtraTensorInfo.mutable_data_segments_idx") \
  X(0x8e3d, "T-RANGE", WB_SEVERITY_FATAL, "program.fbs, SubsegmentOffsets: the length is that of the tensor") \
  X(0x8e3e, "T-SHORT", WB_SEVERITY_FATAL, "flat_tensor.fbs, NamedData: a segment for each tensor") \
  X(0x8c3f, "T-LONG", WB_SEVERITY_VIOLATION, "flat_tensor.fbs, NamedData: a segment for each tensor") \
  X(0x8c40, "T-ALIGN", WB_SEVERITY_VIOLATION, "program.fbs, SubsegmentOffsets.offsets: must be aligned") \
  X(0x8a41, "T-BOOL", WB_SEVERITY_LINT, "scalar_type.fbs, BOOL") \
  X(0x8e42, "T-MEMORY", WB_SEVERITY_FATAL, "program.fbs, AllocationDetails.memory_id") \
  X(0x8e43, "T-PLANNED", WB_SEVERITY_FATAL, "program.fbs, AllocationDetails.memory_offset_low and memory_offset_high") \
  X(0x8844, "P-VERSION", WB_SEVERITY_UNCHECKED, "program.fbs, Program.version: schema version") \
  X(0x8c45, "P-METHODS", WB_SEVERITY_VIOLATION, "program.fbs, Program.execution_plan: entry points into the model") \
  X(0x8c46, "P-NAME", WB_SEVERITY_VIOLATION, "program.fbs, ExecutionPlan.name") \
  X(0x8e47, "P-INPUT", WB_SEVERITY_FATAL, "program.fbs, ExecutionPlan.inputs: indices of values") \
  X(0x8e48, "P-OUTPUT", WB_SEVERITY_FATAL, "program.fbs, ExecutionPlan.outputs: indices of values") \
  X(0x8c49, "P-CHAINS", WB_SEVERITY_VIOLATION, "program.fbs, ExecutionPlan.chains") \
  X(0x8c4a, "P-INSTRUCTIONS", WB_SEVERITY_VIOLATION, "program.fbs, Chain.instructions") \
  X(0x8c4b, "P-CHAIN", WB_SEVERITY_VIOLATION, "program.fbs, Chain.inputs and Chain.outputs: indices of values") \
  X(0x8e4c, "M-SIZE", WB_SEVERITY_FATAL, "program.fbs, ExecutionPlan.non_const_buffer_sizes") \
  X(0x8c4d, "M-HUGE", WB_SEVERITY_VIOLATION, "program.fbs, ExecutionPlan.non_const_buffer_sizes") \
  X(0x8a4e, "M-ZERO", WB_SEVERITY_LINT, "program.fbs, ExecutionPlan.non_const_buffer_sizes: ignore non_const_buffer_sizes[0]") \
  X(0x8c4f, "M-DEVICE", WB_SEVERITY_VIOLATION, "program.fbs, ExecutionPlan.non_const_buffer_device") \
  X(0x8e50, "V-KIND", WB_SEVERITY_FATAL, "program.fbs, EValue.val") \
  X(0x8e51, "V-MISSING", WB_SEVERITY_FATAL, "program.fbs, String.string_val and the items of lists") \
  X(0x8e52, "V-ITEM", WB_SEVERITY_FATAL, "program.fbs, IntList and TensorList: indices of values") \
  X(0x8e53, "V-ITEM-KIND", WB_SEVERITY_FATAL, "program.fbs, IntList and TensorList: indices of values") \
  X(0x8e54, "O-NAME", WB_SEVERITY_FATAL, "program.fbs, Operator.name") \
  X(0x8855, "O-UNKNOWN", WB_SEVERITY_UNCHECKED, "program.fbs, Operator: uniquely identified by its name and overload") \
  X(0x8e56, "D-ID", WB_SEVERITY_FATAL, "program.fbs, BackendDelegate.id") \
  X(0x8e57, "D-DATA", WB_SEVERITY_FATAL, "program.fbs, BackendDelegate.processed") \
  X(0x8c58, "D-SETTING", WB_SEVERITY_VIOLATION, "program.fbs, BackendDelegate.compile_specs: key and value of each") \
  X(0x8e59, "D-LOCATION", WB_SEVERITY_FATAL, "program.fbs, DataLocation: in the flatbuffer, or in a segment") \
  X(0x8e5a, "D-INDEX", WB_SEVERITY_FATAL, "program.fbs, BackendDelegateDataReference.index") \
  X(0x885b, "D-UNCHECKED", WB_SEVERITY_UNCHECKED, "program.fbs, BackendDelegate.processed: a binary blob") \
  X(0x8e5c, "I-KIND", WB_SEVERITY_FATAL, "program.fbs, Instruction.instr_args") \
  X(0x8e5d, "I-OPERATOR", WB_SEVERITY_FATAL, "program.fbs, KernelCall.op_index") \
  X(0x8e5e, "I-DELEGATE", WB_SEVERITY_FATAL, "program.fbs, DelegateCall.delegate_index") \
  X(0x8e5f, "I-VALUE", WB_SEVERITY_FATAL, "program.fbs, KernelCall, DelegateCall, MoveCall and FreeCall: indices of values") \
  X(0x8e60, "I-COUNT", WB_SEVERITY_FATAL, "the signature of the operator, with its outputs and what it returns") \
  X(0x8e61, "I-CONDITION", WB_SEVERITY_FATAL, "program.fbs, JumpFalseCall.cond_value_index") \
  X(0x8c62, "I-CONDITION-KIND", WB_SEVERITY_VIOLATION, "program.fbs, JumpFalseCall.cond_value_index: index of a boolean") \
  X(0x8e63, "I-JUMP", WB_SEVERITY_FATAL, "program.fbs, JumpFalseCall.destination_instruction") \
  X(0x8c64, "I-FREE", WB_SEVERITY_VIOLATION, "program.fbs, FreeCall.value_index: index of a tensor")

#define WB_RULES_BINTENSORS(X) \
  X(0x2601, "F1", WB_SEVERITY_FATAL, "Size Of Metadata Header: the first 8 bytes are the size of the metadata") \
  X(0x2602, "F2", WB_SEVERITY_FATAL, "the README caps the header at 100 MB, and every release refuses a longer one") \
  X(0x2603, "F3", WB_SEVERITY_FATAL, "Size Of Metadata Header: it says how many bytes to read for the metadata") \
  X(0x2604, "F4", WB_SEVERITY_FATAL, "Header Reconstruction: the header holds the metadata and all tensor descriptors") \
  X(0x2405, "P1", WB_SEVERITY_VIOLATION, "Byte-by-Byte Analysis: padding aligns the metadata to an 8-byte boundary") \
  X(0x2406, "P2", WB_SEVERITY_VIOLATION, "Byte-by-Byte Analysis: the padding is spaces (0x20)") \
  X(0x2407, "P3", WB_SEVERITY_VIOLATION, "Byte-by-Byte Analysis: padding is there to align to an 8-byte boundary") \
  X(0x2608, "V1", WB_SEVERITY_FATAL, "Varint Encoding: the discriminants are 251, 252 and 253") \
  X(0x2609, "V2", WB_SEVERITY_FATAL, "Varint Encoding: the discriminants are 251, 252 and 253") \
  X(0x240a, "V3", WB_SEVERITY_VIOLATION, "Enums: a discriminant is a 32-bit integer to every release") \
  X(0x220b, "V4", WB_SEVERITY_LINT, "Varint Encoding: all examples have the shortest form, and writers know no other") \
  X(0x260c, "M1", WB_SEVERITY_FATAL, "Option: the discriminant of None is 0, that of Some is 1") \
  X(0x260d, "M2", WB_SEVERITY_FATAL, "Vector, String: as many elements follow as the length in front of them says") \
  X(0x240e, "M3", WB_SEVERITY_VIOLATION, "String, Unicode Handling: an invalid UTF-8 sequence is a decoding error") \
  X(0x240f, "M4", WB_SEVERITY_VIOLATION, "String, Unicode Handling: an invalid UTF-8 sequence is a decoding error") \
  X(0x2410, "M5", WB_SEVERITY_VIOLATION, "HashMap vs BTreeMap: a BTreeMap keeps a sorted order of its keys") \
  X(0x2411, "M6", WB_SEVERITY_VIOLATION, "Header Reconstruction: the user's metadata is a map") \
  X(0x2612, "T1", WB_SEVERITY_FATAL, "Vector: as many elements follow as the length in front of them says") \
  X(0x2413, "T2", WB_SEVERITY_VIOLATION, "String, Unicode Handling: an invalid UTF-8 sequence is a decoding error") \
  X(0x2614, "T3", WB_SEVERITY_FATAL, "String: the length comes first, and that many bytes follow") \
  X(0x2415, "T4", WB_SEVERITY_VIOLATION, "Dtype: the discriminants go from 0 (BOOL) to 14 (U64) in every release") \
  X(0x2616, "T5", WB_SEVERITY_FATAL, "Vector: as many elements follow as the length in front of them says") \
  X(0x2417, "T6", WB_SEVERITY_VIOLATION, "the README disallows duplicate keys, and every release refuses them") \
  X(0x2618, "O1", WB_SEVERITY_FATAL, "the README: the buffer is indexed without holes; every release refuses others") \
  X(0x2619, "O2", WB_SEVERITY_FATAL, "TensorInfo: data_offsets are the start and the end in the buffer") \
  X(0x261a, "S1", WB_SEVERITY_FATAL, "dims are usize, and every release refuses a product that overflows") \
  X(0x261b, "S2", WB_SEVERITY_FATAL, "sizes are usize, and every release refuses one that overflows") \
  X(0x261c, "S3", WB_SEVERITY_FATAL, "Tensor Buffer: as many bytes as elements times the size of one") \
  X(0x241d, "B1", WB_SEVERITY_VIOLATION, "the README: the whole buffer is indexed; every release refuses bytes after it") \
  X(0x261e, "B2", WB_SEVERITY_FATAL, "Tensor Buffer: the remaining bytes of the file are the data of the tensors") \
  X(0x221f, "C1", WB_SEVERITY_LINT, "all writers sort by descending element type, then by name, which aligns the data")

/* Those of every format. */
#define WB_RULES(X) WB_RULES_GENERAL(X) \
  WB_RULES_STB(X) \
  WB_RULES_OINF(X) \
  WB_RULES_ZTENSOR(X) \
  WB_RULES_IDV(X) \
  WB_RULES_GGUF(X) \
  WB_RULES_NPY(X) \
  WB_RULES_SAFETENSORS(X) \
  WB_RULES_TFLITE(X) \
  WB_RULES_EXECUTORCH(X) \
  WB_RULES_BINTENSORS(X)

#endif
