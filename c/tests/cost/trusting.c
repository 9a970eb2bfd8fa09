/* A loader of STB as it is written by hand for one project: it looks at the magic, and trusts the
 * rest. */
#include "loader.h"

enum { HEADER = 32, ENTRY = 32, COUNT = 6, OFFSET = 4, SIZE = 12 };

static uint32_t read_word(const uint8_t *at) {
  return *(const uint32_t __attribute__((may_alias)) *)at;
}

int loader_find(const uint8_t *bytes, uint32_t len, const char *name, located *result) {
  const uint8_t *entry = bytes + HEADER;
  uint32_t id = 0, count = bytes[COUNT] | (uint32_t)bytes[COUNT + 1] << 8;
  (void)len;
  if (read_word(bytes) != 0x30425453) { /* STB0 */
    return -1;
  }
  for (; *name != '\0'; name++) {
    id = 10 * id + (uint32_t)(*name - '0');
  }
  for (; count > 0; count--, entry += ENTRY) {
    if (entry[0] == id) {
      result->data = bytes + read_word(entry + OFFSET);
      result->len = read_word(entry + SIZE);
      return 0;
    }
  }
  return -1;
}
