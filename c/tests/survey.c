#include "survey.h"

/* Not every board has a C library. */
static size_t length(const char *text) {
  size_t len = 0;
  while (text[len] != '\0') {
    len++;
  }
  return len;
}

static void put_number(const survey *with, uint64_t number) {
  char text[21];
  char *at = text + sizeof text - 1;
  *at = '\0';
  do {
    *--at = (char)('0' + number % 10);
    number /= 10;
  } while (number != 0);
  with->put(at);
}

static void put_signed(const survey *with, int32_t number) {
  if (number < 0) {
    with->put("-");
    number = -number;
  }
  put_number(with, (uint32_t)number);
}

/* FNV-1a of numbers and bytes. */
static uint64_t digest(uint64_t state, const void *bytes, size_t len) {
  const unsigned char *at = (const unsigned char *)bytes;
  for (size_t i = 0; i < len; i++) {
    state = (state ^ at[i]) * UINT64_C(0x00000100000001B3);
  }
  return state;
}

static uint64_t digest_number(uint64_t state, uint64_t number) {
  unsigned char bytes[8];
  for (int i = 0; i < 8; i++) {
    bytes[i] = (unsigned char)(number >> (8 * i));
  }
  return digest(state, bytes, sizeof bytes);
}

static int comes_before(const wb_finding *a, const wb_finding *b) {
  if (a->rule != b->rule) return a->rule < b->rule;
  if (a->offset != b->offset) return a->offset < b->offset;
  if (a->kind != b->kind) return a->kind < b->kind;
  return a->entry < b->entry;
}

/* The order of findings is not promised. */
static void sort(wb_finding *items, uint32_t count) {
  for (uint32_t i = 1; i < count; i++) {
    wb_finding item = items[i];
    uint32_t at = i;
    for (; at > 0 && comes_before(&item, &items[at - 1]); at--) {
      items[at] = items[at - 1];
    }
    items[at] = item;
  }
}

static void put_findings(const survey *with, const wb_findings *found) {
  with->put(" findings ");
  put_number(with, found->count);
  with->put(" unchecked ");
  put_number(with, found->unchecked);
  with->put(" worst ");
  put_number(with, found->worst);
  if (found->count > found->room) {
    return;
  }
  sort(with->items, found->count);
  for (uint32_t i = 0; i < found->count; i++) {
    const wb_finding *item = &with->items[i];
    with->put(" ");
    with->put(wb_rule_id(item->rule));
    with->put("@");
    put_number(with, item->offset);
    with->put("/");
    put_number(with, item->kind);
    with->put("/");
    put_number(with, item->entry);
    with->put("/");
    put_number(with, item->severity);
  }
}

static uint64_t digest_tensor(uint64_t state, const wb_file *file, const wb_tensor *tensor,
                              const record *in) {
  char name[256];
  uint64_t extents[8] = {0};
  uint64_t numbers[] = {tensor->index,
                        tensor->dtype,
                        tensor->status,
                        tensor->layout,
                        tensor->encoding,
                        tensor->big_endian,
                        tensor->rank,
                        tensor->elements,
                        tensor->data ? (uint64_t)(tensor->data - in->bytes) : 0,
                        tensor->len};
  for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
    state = digest_number(state, numbers[i]);
  }
  if (wb_name(file, tensor, name, sizeof name) != WB_ARGUMENT) {
    state = digest(state, name, length(name));
  }
  wb_shape(file, tensor, extents, 8);
  for (int i = 0; i < 8; i++) {
    state = digest_number(state, extents[i]);
  }
  return state;
}

static void put_tensors(const survey *with, const wb_file *file, const record *in) {
  wb_cursor cursor = {{0}};
  wb_tensor tensor, found;
  uint64_t count = 0, lookups = 0, state = UINT64_C(0xCBF29CE484222325);
  while (wb_next(file, &cursor, &tensor) == WB_OK) {
    char name[256];
    count++;
    state = digest_tensor(state, file, &tensor, in);
    /* Finding each takes quadratic time. */
    if (count <= 40 && wb_name(file, &tensor, name, sizeof name) == WB_OK) {
      lookups += wb_find(file, name, &found) == WB_OK;
    }
  }
  with->put(" tensors ");
  put_number(with, count);
  with->put(" ");
  put_number(with, state);
  with->put(" lookups ");
  put_number(with, lookups);
}

int next_record(const unsigned char **at, const unsigned char *end, record *found) {
  const unsigned char *head = *at;
  size_t len;
  if ((size_t)(end - head) < 64 || head[0] != 'F' || head[1] != 'I' || head[2] != 'L' ||
      head[3] != 'E') {
    return 0;
  }
  len = head[4] | (size_t)head[5] << 8 | (size_t)head[6] << 16 | (size_t)head[7] << 24;
  if (len > (size_t)(end - head) - 64) {
    return 0;
  }
  found->bytes = head + 64;
  found->len = len;
  found->mode = (uint32_t)(head[9] | head[10] << 8);
  *at = head + 64 + (len + 63) / 64 * 64;
  return 1;
}

void print_survey(const survey *with, const record *in) {
  wb_file file;
  wb_findings found = {with->items, with->room, 0, 0, 0, 0, 0};
  wb_code opened = wb_open(&file, in->bytes, in->len, in->mode, &found);
  with->put("open ");
  put_signed(with, opened);
  if (opened == WB_OK) {
    with->put(" check ");
    put_signed(with, wb_check(&file, with->slots, with->slot_count, &found));
  }
  put_findings(with, &found);
  if (opened == WB_OK) {
    with->put(" format ");
    put_number(with, wb_format_of(&file));
    with->put(" count ");
    put_number(with, wb_count(&file));
    put_tensors(with, &file, in);
  }
  with->put("\n");
}
