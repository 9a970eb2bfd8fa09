/* What is measured: opening a model and finding one tensor. Each file beside this one does it in
 * another way. */
#ifndef LOADER_H
#define LOADER_H

#include <stdint.h>

/* A tensor in place; null, if its data is not stored in one piece. */
typedef struct located {
  const uint8_t *data;
  uint32_t len;
} located;

/* Opens the model at `bytes` of `len` bytes, aligned to 64, and finds a tensor. Returns 0, or -1. */
int loader_find(const uint8_t *bytes, uint32_t len, const char *name, located *result);

#endif
