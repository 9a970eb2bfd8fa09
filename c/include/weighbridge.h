/* Weighbridge for C: validates tensor files in mapped memory. No heap, no globals, no panic; every
 * function is reentrant. docs/c.md shows how to use it.
 *
 * Written from c/src by a test: WEIGHBRIDGE_HEADER=write scripts/c.sh header. Do not edit. */
#ifndef WEIGHBRIDGE_H
#define WEIGHBRIDGE_H

#include <stddef.h>
#include <stdint.h>

#define WB_VERSION "0.1.0"

/* A format, for the mode of wb_open. */
enum wb_format {
  /* By the first bytes of the file. */
  WB_DETECT = 0,
  WB_FORMAT_STB = 1, /* STB */
  WB_FORMAT_OINF = 2, /* OINF */
  WB_FORMAT_ZTENSOR = 3, /* zTensor */
  WB_FORMAT_IDV = 5, /* ML.NET IDV */
  WB_FORMAT_GGUF = 7, /* GGUF */
  WB_FORMAT_NPY = 9, /* NPY */
  WB_FORMAT_SAFETENSORS = 6, /* safetensors */
  WB_FORMAT_TFLITE = 16, /* TensorFlow Lite */
  WB_FORMAT_EXECUTORCH = 17, /* ExecuTorch */
  WB_FORMAT_BINTENSORS = 4, /* BinTensors */
};

/* What a function returns: the verdict of a check, or the reason why there is no result. */
enum wb_codes {
  /* Done; for a check: the file is valid, and everything in its structure was checked. */
  WB_OK = 0,
  /* The end of an iteration. */
  WB_END = 1,
  /* There is no such tensor. */
  WB_NOT_FOUND = 2,
  /* No rule is broken, but something was not checked: see the findings, and slots_needed. */
  WB_UNCHECKED = -1,
  /* The file breaks a rule, and its data must not be used. */
  WB_INVALID = -2,
  /* The caller's array or buffer is too small. */
  WB_ROOM = -3,
  /* A null pointer, an unknown format, or a file that is not open. */
  WB_ARGUMENT = -4,
};
typedef int32_t wb_code;

/* The severity of a rule. */
enum wb_severity {
  /* Not a breach: something could not be checked. */
  WB_SEVERITY_UNCHECKED = 0,
  /* Legal, but no real writer does it, or it hides bytes. */
  WB_SEVERITY_LINT = 1,
  /* The specification forbids it; the data is still readable. */
  WB_SEVERITY_VIOLATION = 2,
  /* The data cannot be read safely, or would be misread. */
  WB_SEVERITY_FATAL = 3,
};

/* Whether a tensor's data may be used. */
enum wb_status {
  /* Everything that the index says about it is valid. */
  WB_STATUS_SOUND = 0,
  /* Its type, encoding or layout is unknown to this build. */
  WB_STATUS_UNSUPPORTED = 1,
  /* It breaks a rule that reading depends on, or its bytes are not in the file. */
  WB_STATUS_BROKEN = 2,
};

/* The kind of entry that a finding is about. */
enum wb_kind {
  /* The file as a whole. */
  WB_KIND_FILE = 0,
  /* A tensor. */
  WB_KIND_TENSOR = 1,
  /* Metadata of the file. */
  WB_KIND_METADATA = 2,
  /* A size variable (OINF). */
  WB_KIND_SIZE_VAR = 3,
  /* Metadata of a tensor. */
  WB_KIND_ATTRIBUTE = 4,
  /* The name of a slot of a tensor (IDV). */
  WB_KIND_SLOT = 5,
};

/* Every type of elements: X(constant, number, name, bits of an element, elements in a block,
 * bytes of a block). A type has bits or blocks; both are 0 if neither is fixed. */
#define WB_DTYPES(X) \
  X(WB_DTYPE_UNKNOWN, 0, "unknown", 0, 0, 0) \
  X(WB_DTYPE_I8, 1, "i8", 8, 0, 0) \
  X(WB_DTYPE_I16, 2, "i16", 16, 0, 0) \
  X(WB_DTYPE_I32, 3, "i32", 32, 0, 0) \
  X(WB_DTYPE_I64, 4, "i64", 64, 0, 0) \
  X(WB_DTYPE_U8, 5, "u8", 8, 0, 0) \
  X(WB_DTYPE_U16, 6, "u16", 16, 0, 0) \
  X(WB_DTYPE_U32, 7, "u32", 32, 0, 0) \
  X(WB_DTYPE_U64, 8, "u64", 64, 0, 0) \
  X(WB_DTYPE_F16, 9, "f16", 16, 0, 0) \
  X(WB_DTYPE_BF16, 10, "bf16", 16, 0, 0) \
  X(WB_DTYPE_F32, 11, "f32", 32, 0, 0) \
  X(WB_DTYPE_F64, 12, "f64", 64, 0, 0) \
  X(WB_DTYPE_F8E5M2, 13, "f8e5m2", 8, 0, 0) \
  X(WB_DTYPE_F8E4M3, 14, "f8e4m3", 8, 0, 0) \
  X(WB_DTYPE_BOOL, 15, "bool", 8, 0, 0) \
  X(WB_DTYPE_I4, 16, "i4", 4, 0, 0) \
  X(WB_DTYPE_I2, 17, "i2", 2, 0, 0) \
  X(WB_DTYPE_I1, 18, "i1", 1, 0, 0) \
  X(WB_DTYPE_U4, 19, "u4", 4, 0, 0) \
  X(WB_DTYPE_U2, 20, "u2", 2, 0, 0) \
  X(WB_DTYPE_U1, 21, "u1", 1, 0, 0) \
  X(WB_DTYPE_T2, 22, "t2", 2, 0, 0) \
  X(WB_DTYPE_T1, 23, "t1", 1, 0, 0) \
  X(WB_DTYPE_BITSET, 24, "bitset", 0, 0, 0) \
  X(WB_DTYPE_TEXT, 25, "text", 0, 0, 0) \
  X(WB_DTYPE_TIMESPAN, 26, "timespan", 64, 0, 0) \
  X(WB_DTYPE_DATETIME, 27, "datetime", 64, 0, 0) \
  X(WB_DTYPE_DATETIMEOFFSET, 28, "datetimeoffset", 80, 0, 0) \
  X(WB_DTYPE_ROWID, 29, "rowid", 128, 0, 0) \
  X(WB_DTYPE_KEY_U8, 30, "key<u8>", 8, 0, 0) \
  X(WB_DTYPE_KEY_U16, 31, "key<u16>", 16, 0, 0) \
  X(WB_DTYPE_KEY_U32, 32, "key<u32>", 32, 0, 0) \
  X(WB_DTYPE_KEY_U64, 33, "key<u64>", 64, 0, 0) \
  X(WB_DTYPE_C64, 34, "c64", 64, 0, 0) \
  X(WB_DTYPE_F4E2M1, 35, "f4e2m1", 4, 0, 0) \
  X(WB_DTYPE_F6E2M3, 36, "f6e2m3", 6, 0, 0) \
  X(WB_DTYPE_F6E3M2, 37, "f6e3m2", 6, 0, 0) \
  X(WB_DTYPE_F8E8M0, 38, "f8e8m0", 8, 0, 0) \
  X(WB_DTYPE_F8E4M3FNUZ, 39, "f8e4m3fnuz", 8, 0, 0) \
  X(WB_DTYPE_F8E5M2FNUZ, 40, "f8e5m2fnuz", 8, 0, 0) \
  X(WB_DTYPE_Q4_0, 41, "q4_0", 0, 32, 18) \
  X(WB_DTYPE_Q4_1, 42, "q4_1", 0, 32, 20) \
  X(WB_DTYPE_Q5_0, 43, "q5_0", 0, 32, 22) \
  X(WB_DTYPE_Q5_1, 44, "q5_1", 0, 32, 24) \
  X(WB_DTYPE_Q8_0, 45, "q8_0", 0, 32, 34) \
  X(WB_DTYPE_Q8_1, 46, "q8_1", 0, 32, 36) \
  X(WB_DTYPE_Q2_K, 47, "q2_k", 0, 256, 84) \
  X(WB_DTYPE_Q3_K, 48, "q3_k", 0, 256, 110) \
  X(WB_DTYPE_Q4_K, 49, "q4_k", 0, 256, 144) \
  X(WB_DTYPE_Q5_K, 50, "q5_k", 0, 256, 176) \
  X(WB_DTYPE_Q6_K, 51, "q6_k", 0, 256, 210) \
  X(WB_DTYPE_Q8_K, 52, "q8_k", 0, 256, 292) \
  X(WB_DTYPE_IQ2_XXS, 53, "iq2_xxs", 0, 256, 66) \
  X(WB_DTYPE_IQ2_XS, 54, "iq2_xs", 0, 256, 74) \
  X(WB_DTYPE_IQ3_XXS, 55, "iq3_xxs", 0, 256, 98) \
  X(WB_DTYPE_IQ1_S, 56, "iq1_s", 0, 256, 50) \
  X(WB_DTYPE_IQ4_NL, 57, "iq4_nl", 0, 32, 18) \
  X(WB_DTYPE_IQ3_S, 58, "iq3_s", 0, 256, 110) \
  X(WB_DTYPE_IQ2_S, 59, "iq2_s", 0, 256, 82) \
  X(WB_DTYPE_IQ4_XS, 60, "iq4_xs", 0, 256, 136) \
  X(WB_DTYPE_IQ1_M, 61, "iq1_m", 0, 256, 56) \
  X(WB_DTYPE_TQ1_0, 62, "tq1_0", 0, 256, 54) \
  X(WB_DTYPE_TQ2_0, 63, "tq2_0", 0, 256, 66) \
  X(WB_DTYPE_MXFP4, 64, "mxfp4", 0, 32, 17) \
  X(WB_DTYPE_NVFP4, 65, "nvfp4", 0, 64, 36) \
  X(WB_DTYPE_Q1_0, 66, "q1_0", 0, 128, 18) \
  X(WB_DTYPE_Q2_0, 67, "q2_0", 0, 64, 18) \
  X(WB_DTYPE_C128, 68, "c128", 128, 0, 0) \
  X(WB_DTYPE_UTF32, 69, "utf32", 0, 0, 0) \
  X(WB_DTYPE_BYTES, 70, "bytes", 0, 0, 0) \
  X(WB_DTYPE_VOID, 71, "void", 0, 0, 0) \
  X(WB_DTYPE_RECORD, 72, "record", 0, 0, 0) \
  X(WB_DTYPE_DATETIME64, 73, "datetime64", 64, 0, 0) \
  X(WB_DTYPE_TIMEDELTA64, 74, "timedelta64", 64, 0, 0) \
  X(WB_DTYPE_LONGDOUBLE, 75, "longdouble", 0, 0, 0) \
  X(WB_DTYPE_LONGCOMPLEX, 76, "longcomplex", 0, 0, 0)

/* The type of an element. */
enum wb_dtype {
#define WB_DTYPE(constant, number, name, bits, elements, bytes) constant = number,
  WB_DTYPES(WB_DTYPE)
#undef WB_DTYPE
};

/* In the mode of wb_open, added to a format: the memory may go on after the file, as a partition
 * does. A format that records its length (STB, OINF, IDV) is checked against that length. */
#define WB_REGION 0x100u

/* A broken rule at one place in the file. */
typedef struct wb_finding {
  /* Offset of the first byte of the finding in the file. */
  uint64_t offset;
  /* Position of the entry in its table; 0 for the file. */
  uint32_t entry;
  /* The rule; wb_rule_id returns its id. */
  uint16_t rule;
  /* A wb_severity. */
  uint8_t severity;
  /* A wb_kind: what entry counts. */
  uint8_t kind;
} wb_finding;

/* The caller's array of findings; initialise it with WB_FINDINGS(array). */
typedef struct wb_findings {
  /* The array, which receives the first findings; null if room is 0. */
  wb_finding *items;
  /* Number of findings that it holds. */
  uint32_t room;
  /* Number of findings, those without room included. */
  uint32_t count;
  /* Number of findings of severity unchecked. */
  uint32_t unchecked;
  /* The highest severity, a wb_severity. */
  uint32_t worst;
  /* Number of slots that a complete check takes, if there were too few; otherwise 0. */
  uint32_t slots_needed;
  /* 0. */
  uint32_t reserved;
} wb_findings;

/* A tensor: its data in place, and where the file describes it. */
typedef struct wb_tensor {
  /* The data in place; null if status is not WB_STATUS_SOUND, or the data is encoded or in
   * several pieces. */
  const uint8_t *data;
  /* Length of the data in bytes; 0 if data is null. */
  size_t len;
  /* Byte order of elements: 0 little-endian, 1 big-endian. */
  uint8_t big_endian;
  /* A wb_status. */
  uint8_t status;
  /* The order of elements: 0 row-major, 1 column-major, 2 channels last, 3 to 5 sparse, 6
   * blocks of rows, 7 unknown. */
  uint8_t layout;
  /* A wb_dtype. */
  uint8_t dtype;
  /* How data is stored: 0 as is, 1 deflate, 2 zlib, 3 zstd, 4 another. */
  uint8_t encoding;
  /* How the name is stored; for wb_name. */
  uint8_t name_encoding;
  /* How the shape is stored; for wb_shape. */
  uint8_t shape_encoding;
  /* 1 if shape_lead counts. */
  uint8_t shape_leads;
  /* The first extent, if the file stores it apart from the shape. */
  uint64_t shape_lead;
  /* Offset of the stored shape. */
  uint64_t shape_offset;
  /* Length of the stored shape in bytes. */
  uint32_t shape_len;
  /* Number of extents. */
  uint32_t rank;
  /* Offset of the stored name. */
  uint64_t name_offset;
  /* Length of the stored name in bytes. */
  uint32_t name_len;
  /* Position in the index. */
  uint32_t index;
  /* Number of elements. */
  uint64_t elements;
} wb_tensor;

/* An open file. Its memory must stay mapped and unchanged while it is used. */
typedef struct wb_file {
  uint64_t opaque[sizeof(void *) > 4 ? 20 : 16];
} wb_file;

/* The position of an iteration; all zeros at the start. */
typedef struct wb_cursor {
  uint64_t opaque[sizeof(void *) > 4 ? 24 : 18];
} wb_cursor;

/* Working memory of a check: one for each tensor, and for each part of the file. */
typedef struct wb_slot {
  uint64_t opaque[sizeof(void *) > 4 ? 3 : 2];
} wb_slot;

/* Initialises a wb_findings for an array of wb_finding. */
#define WB_FINDINGS(array) \
  { (array), (uint32_t)(sizeof(array) / sizeof((array)[0])), 0, 0, 0, 0, 0 }

/* The sizes that the library was built with. */
#if defined(__cplusplus)
#define WB_ASSERT(condition, what) static_assert(condition, what)
#define WB_ALIGNOF(type) alignof(type)
#else
#define WB_ASSERT(condition, what) _Static_assert(condition, what)
#define WB_ALIGNOF(type) _Alignof(type)
#endif
WB_ASSERT(sizeof(wb_finding) == 16, "wb_finding");
WB_ASSERT(sizeof(wb_findings) == sizeof(void *) + 24, "wb_findings");
WB_ASSERT(sizeof(wb_tensor) == 2 * sizeof(void *) + 56, "wb_tensor");
WB_ASSERT(WB_ALIGNOF(wb_file) == 8, "wb_file");
WB_ASSERT(WB_ALIGNOF(wb_cursor) == 8, "wb_cursor");
WB_ASSERT(WB_ALIGNOF(wb_slot) == 8, "wb_slot");

#ifdef __cplusplus
extern "C" {
#endif

/* Opens a file at data of len bytes: in the format mode (a wb_format), or in the one that its
 * first bytes indicate (WB_DETECT). Add WB_REGION if the memory may go on after the file.
 * Findings are added to findings, which may be null; file and data may not.
 *
 * Returns WB_OK, or a reason why the file is not open: WB_INVALID, WB_UNCHECKED if it exceeds a
 * limit of this library, or WB_ARGUMENT. An open file may still be invalid: wb_check says so.
 *
 * Requires: data has len readable bytes that do not change while file is used. file is
 * writable. findings is null, or has room writable items. */
wb_code wb_open(wb_file *file, const void *data, size_t len, uint32_t mode, wb_findings *findings);

/* Checks the structure of an open file: every entry, names, extents, and the place of all data.
 * The findings of this check are added to findings, which may be null.
 *
 * If names or parts of the file are not in ascending order, they are sorted in slots, and
 * otherwise none is needed. Returns WB_OK, WB_INVALID, or WB_UNCHECKED; if slots_needed of
 * findings is not 0, a check with that many slots leaves nothing unchecked for lack of them.
 *
 * Requires: file is from wb_open, and its memory still there. slots has slot_count writable
 * items. findings is null, or has room writable items. */
wb_code wb_check(const wb_file *file, wb_slot *slots, size_t slot_count, wb_findings *findings);

/* The next tensor. Begin with a cursor of zeros. Returns WB_OK, WB_END, or WB_INVALID if the
 * index cannot be read further.
 *
 * Requires: file is from wb_open, and its memory still there. cursor holds zeros or was left by
 * a call for the same file. tensor is writable. */
wb_code wb_next(const wb_file *file, wb_cursor *cursor, wb_tensor *tensor);

/* The first tensor whose name is the len bytes at name. In STB, whose tensors have numbers, the
 * name is the number in decimal digits. Returns WB_OK, WB_NOT_FOUND or WB_INVALID.
 *
 * Requires: file is from wb_open, and its memory still there. name has len readable bytes.
 * tensor is writable. */
wb_code wb_find_bytes(const wb_file *file, const char *name, size_t len, wb_tensor *tensor);

/* The first tensor with this number as its name, as tensors in STB have. Returns WB_OK,
 * WB_NOT_FOUND or WB_INVALID.
 *
 * Requires: file is from wb_open, and its memory still there. tensor is writable. */
wb_code wb_find_id(const wb_file *file, uint8_t id, wb_tensor *tensor);

/* Copies the rank extents of a tensor, outermost first. Returns WB_OK, WB_ROOM if there are
 * more than room, of which the first ones were copied, or WB_NOT_FOUND if the file does not
 * state them; a broken tensor may have some that cannot be read.
 *
 * Requires: file is from wb_open, and its memory still there. tensor is from the same file.
 * extents has room writable items. */
wb_code wb_shape(const wb_file *file, const wb_tensor *tensor, uint64_t *extents, size_t room);

/* Copies the name of a tensor and a zero. Returns WB_OK, or WB_ROOM if it is longer than room
 * minus 1 bytes; then it was cut. A name may contain zeros.
 *
 * Requires: file is from wb_open, and its memory still there. tensor is from the same file.
 * text has room writable bytes. */
wb_code wb_name(const wb_file *file, const wb_tensor *tensor, char *text, size_t room);

/* The format of an open file, a wb_format; 0 if it is not open.
 *
 * Requires: file is from wb_open, or null. */
uint32_t wb_format_of(const wb_file *file);

/* Number of tensors that the file declares; a broken file may have fewer.
 *
 * Requires: file is from wb_open, or null. */
uint64_t wb_count(const wb_file *file);

/* The id of a rule, such as T-SIZE: documentation and the command weighbridge explain use it.
 * Empty if this build has no such rule. */
const char *wb_rule_id(uint16_t rule);

#ifdef __cplusplus
}
#endif

/* The first tensor with this name, which ends with a zero: wb_find_bytes. */
static inline wb_code wb_find(const wb_file *file, const char *name, wb_tensor *tensor) {
  size_t len = 0;
  while (name[len] != '\0') {
    len++;
  }
  return wb_find_bytes(file, name, len, tensor);
}

#endif
