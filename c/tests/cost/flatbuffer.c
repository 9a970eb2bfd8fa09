/* A .tflite file as TensorFlow Lite for Microcontrollers reads it: through vtables, without a check of
 * any offset. The accessors are those that flatc writes, by hand. */
#include "loader.h"

typedef uint32_t __attribute__((may_alias)) word;
typedef uint16_t __attribute__((may_alias)) half;

enum { VERSION = 3 };
/* Numbers of fields in the schema. */
enum { MODEL_VERSION = 0, MODEL_SUBGRAPHS = 2, MODEL_BUFFERS = 4 };
enum { SUBGRAPH_TENSORS = 0, TENSOR_BUFFER = 2, TENSOR_NAME = 3, BUFFER_DATA = 0 };

static uint32_t read_word(const uint8_t *at) { return *(const word *)at; }

static const uint8_t *target(const uint8_t *at) { return at + read_word(at); }

/* The field of a table; null if the file leaves it out. */
static const uint8_t *field(const uint8_t *table, uint32_t number) {
  const uint8_t *vtable = table - (int32_t)read_word(table);
  uint32_t at = 4 + 2 * number;
  uint32_t place = at < *(const half *)vtable ? *(const half *)(vtable + at) : 0;
  return place ? table + place : 0;
}

static const uint8_t *pointed(const uint8_t *table, uint32_t number) {
  const uint8_t *at = field(table, number);
  return at ? target(at) : 0;
}

static uint32_t number_in(const uint8_t *table, uint32_t number) {
  const uint8_t *at = field(table, number);
  return at ? read_word(at) : 0;
}

static uint32_t length(const uint8_t *vector) { return vector ? read_word(vector) : 0; }

static const uint8_t *table_in(const uint8_t *vector, uint32_t i) { return target(vector + 4 + 4 * i); }

static int equal(const uint8_t *text, const char *name) {
  uint32_t len = length(text);
  for (uint32_t i = 0; i < len; i++) {
    if (text[4 + i] != (uint8_t)name[i] || name[i] == '\0') return 0;
  }
  return name[len] == '\0';
}

int loader_find(const uint8_t *bytes, uint32_t len, const char *name, located *result) {
  const uint8_t *model = target(bytes), *tensors, *buffers;
  (void)len;
  if (number_in(model, MODEL_VERSION) != VERSION) {
    return -1;
  }
  tensors = pointed(table_in(pointed(model, MODEL_SUBGRAPHS), 0), SUBGRAPH_TENSORS);
  buffers = pointed(model, MODEL_BUFFERS);
  for (uint32_t i = 0; i < length(tensors); i++) {
    const uint8_t *tensor = table_in(tensors, i);
    if (equal(pointed(tensor, TENSOR_NAME), name)) {
      const uint8_t *data = pointed(table_in(buffers, number_in(tensor, TENSOR_BUFFER)), BUFFER_DATA);
      result->len = length(data);
      result->data = data + 4;
      return 0;
    }
  }
  return -1;
}
