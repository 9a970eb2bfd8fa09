/* Holds every promise of the interface for one input, and aborts at the first that is broken. The
 * verdicts themselves are compared with the core's by tests/tests/c.
 *
 * libFuzzer calls LLVMFuzzerTestOneInput; without it, fuzz_main.c does. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "weighbridge.h"

enum { SLOTS = 4096, ROOM = 8, CANARY = 0xA5, NAME = 40, EXTENTS = 8 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define EXPECT(condition)                                              \
  do {                                                                 \
    if (!(condition)) {                                                \
      fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition); \
      abort();                                                         \
    }                                                                  \
  } while (0)

/* An input right before a page that cannot be read, and what it held before. */
typedef struct input {
  const uint8_t *bytes;
  const uint8_t *original;
  size_t len;
} input;

/* How a file is checked: its mode, and the caller's memory. */
typedef struct setting {
  uint32_t mode;
  size_t slots;
  uint32_t room;
} setting;

static int is_canary(const void *bytes, size_t len) {
  const uint8_t *at = (const uint8_t *)bytes;
  for (size_t i = 0; i < len; i++) {
    if (at[i] != CANARY) return 0;
  }
  return 1;
}

static void expect_findings(const wb_findings *found, const wb_finding *items, const input *in) {
  uint32_t kept = found->count < found->room ? found->count : found->room;
  EXPECT(found->unchecked <= found->count);
  EXPECT(found->worst <= WB_SEVERITY_FATAL);
  for (uint32_t i = 0; i < kept; i++) {
    EXPECT(items[i].offset <= in->len);
    EXPECT(items[i].severity <= found->worst);
    EXPECT(items[i].kind <= WB_KIND_SLOT);
    EXPECT(wb_rule_id(items[i].rule)[0] != '\0');
  }
  EXPECT(is_canary(items + kept, (ROOM - kept) * sizeof *items));
}

/* A verdict and the findings agree: fail closed. */
static void expect_agreement(wb_code verdict, const wb_findings *found) {
  switch (verdict) {
    case WB_OK:
      EXPECT(found->unchecked == 0 && (found->count == 0 || found->worst == WB_SEVERITY_LINT));
      break;
    case WB_UNCHECKED:
      EXPECT(found->unchecked > 0 && found->worst < WB_SEVERITY_VIOLATION);
      break;
    default:
      EXPECT(verdict == WB_INVALID);
      EXPECT(found->count > 0 && found->worst >= WB_SEVERITY_VIOLATION);
  }
}

/* Copies a name, which may contain zeros; returns its length, or -1 if it was cut. */
static long expect_name(const wb_file *file, const wb_tensor *tensor, char *name) {
  wb_code code;
  long end = NAME;
  memset(name, CANARY, NAME + 1);
  code = wb_name(file, tensor, name, NAME);
  EXPECT(code == WB_OK || code == WB_ROOM);
  /* Nothing is written after the last zero. */
  while (end >= 0 && is_canary(name + end, 1)) end--;
  EXPECT(end >= 0 && end < NAME && name[end] == '\0');
  EXPECT(code == WB_OK || end == NAME - 1);
  EXPECT(wb_name(file, tensor, NULL, 0) == WB_ROOM);
  return code == WB_OK ? end : -1;
}

static void expect_shape(const wb_file *file, const wb_tensor *tensor) {
  uint64_t extents[EXTENTS + 1];
  wb_code code;
  memset(extents, CANARY, sizeof extents);
  code = wb_shape(file, tensor, extents, EXTENTS);
  EXPECT(code == WB_OK || code == WB_ROOM || code == WB_NOT_FOUND);
  EXPECT((code == WB_ROOM) == (code != WB_NOT_FOUND && tensor->rank > EXTENTS));
  if (code == WB_OK) {
    EXPECT(is_canary(extents + tensor->rank, (EXTENTS + 1 - tensor->rank) * sizeof *extents));
  }
  EXPECT(is_canary(extents + EXTENTS, sizeof *extents));
}

static void expect_data(const wb_tensor *tensor, const input *in) {
  EXPECT(tensor->status <= WB_STATUS_BROKEN);
  if (tensor->data == NULL) {
    EXPECT(tensor->len == 0);
    return;
  }
  EXPECT(tensor->status == WB_STATUS_SOUND && tensor->encoding == 0);
  EXPECT(tensor->data >= in->bytes && tensor->len <= in->len);
  EXPECT((size_t)(tensor->data - in->bytes) <= in->len - tensor->len);
}

/* Every tensor; in a sound file, each is also found by its name, or an earlier one with the same. */
static void expect_tensors(const wb_file *file, const input *in, int sound) {
  wb_cursor cursor = {{0}};
  wb_tensor tensor, found;
  char name[NAME + 1];
  uint64_t count = 0;
  wb_code code;
  while ((code = wb_next(file, &cursor, &tensor)) == WB_OK) {
    long len;
    /* Each has bytes of its own. */
    EXPECT(++count <= in->len);
    expect_data(&tensor, in);
    len = expect_name(file, &tensor, name);
    expect_shape(file, &tensor);
    if (sound && count <= 8 && len >= 0) {
      EXPECT(wb_find_bytes(file, name, (size_t)len, &found) == WB_OK);
      EXPECT(found.index <= tensor.index);
    }
  }
  EXPECT(code == WB_END || code == WB_INVALID);
  EXPECT(!sound || (code == WB_END && count == wb_count(file)));
  code = wb_find(file, "no such tensor", &found);
  EXPECT(code == WB_NOT_FOUND || (!sound && code == WB_INVALID) || code == WB_OK);
}

/* Opens and checks; returns the verdict. */
static wb_code verdict_of(const input *in, const setting *with, wb_file *file) {
  static wb_slot slots[SLOTS];
  wb_finding items[ROOM];
  wb_findings found = {items, with->room, 0, 0, 0, 0, 0};
  wb_code code;
  memset(items, CANARY, sizeof items);
  code = wb_open(file, in->bytes, in->len, with->mode, &found);
  expect_findings(&found, items, in);
  if (code != WB_OK) {
    expect_agreement(code, &found);
    EXPECT(wb_check(file, slots, SLOTS, NULL) == WB_ARGUMENT && wb_count(file) == 0);
    return code;
  }
  EXPECT(wb_format_of(file) != 0);
  code = wb_check(file, slots, with->slots, &found);
  expect_findings(&found, items, in);
  expect_agreement(code, &found);
  EXPECT(found.slots_needed == 0 || found.slots_needed > with->slots);
  EXPECT(wb_check(file, slots, with->slots, NULL) == code);
  return code;
}

/* With more memory, only what was unchecked is decided. */
static void expect_promises(const input *in, uint32_t mode) {
  const setting little = {mode, 0, 0}, some = {mode, 3, 2}, plenty = {mode, SLOTS, ROOM};
  wb_file file;
  wb_code first = verdict_of(in, &little, &file), second = verdict_of(in, &some, &file);
  wb_code last = verdict_of(in, &plenty, &file);
  EXPECT(first == WB_UNCHECKED || first == second);
  EXPECT(second == WB_UNCHECKED || second == last);
  if (wb_format_of(&file) != 0) {
    expect_tensors(&file, in, last == WB_OK);
  }
  EXPECT(memcmp(in->bytes, in->original, in->len) == 0);
}

/* The end of memory that is followed by a page without access. */
static uint8_t *guarded(size_t size) {
  static uint8_t *end;
  static size_t room;
  size_t page = (size_t)sysconf(_SC_PAGESIZE);
  if (size > room || end == NULL) {
    uint8_t *map;
    room = (size / page + 256) * page;
    map = mmap(NULL, room + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    EXPECT(map != MAP_FAILED);
    end = map + room;
    EXPECT(mprotect(end, page, PROT_NONE) == 0);
  }
  return end;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  /* Each format alone, and the one that the content indicates. */
  static const uint32_t formats[] = {WB_DETECT,      WB_FORMAT_STB,         WB_FORMAT_OINF,
                                     WB_FORMAT_ZTENSOR, WB_FORMAT_IDV,      WB_FORMAT_GGUF,
                                     WB_FORMAT_NPY,  WB_FORMAT_SAFETENSORS, WB_FORMAT_TFLITE,
                                     WB_FORMAT_BINTENSORS, WB_FORMAT_EXECUTORCH};
  uint8_t *bytes = guarded(size) - size;
  input in = {bytes, data, size};
  wb_file file;
  uint32_t detected = 0;
  if (size > 0) memcpy(bytes, data, size);
  if (wb_open(&file, bytes, size, WB_DETECT, NULL) == WB_OK) detected = wb_format_of(&file);
  expect_promises(&in, WB_DETECT);
  expect_promises(&in, detected | WB_REGION);
  /* One more, which the content chooses: most do not fit. */
  expect_promises(&in, formats[(size + (size ? data[size / 2] : 0)) % 11]);
  return 0;
}
