/* Replaces a model in a simulated flash, and cuts the power at every erased sector and at every
 * written byte. After each cut the current model must be the old one or the new one, whole. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "slots.h"

enum { SECTOR = 256, SLOT = 8 * SECTOR };

/* Flash whose power fails after a number of steps: an erase of a sector or a byte each. A cut erase
 * leaves a sector of any bits, a cut write some bits of a byte. */
typedef struct flash {
  uint8_t bytes[2 * SLOT];
  long steps_left;
  long steps;
  uint32_t random;
} flash;

static uint8_t random_byte(flash *self) {
  self->random = self->random * 1664525u + 1013904223u;
  return (uint8_t)(self->random >> 24);
}

static int step(flash *self) {
  self->steps++;
  return self->steps_left-- > 0;
}

static int erase(void *it, uint32_t at) {
  flash *self = (flash *)it;
  int whole = step(self);
  if (!whole && self->steps_left != -1) return -1;
  for (int i = 0; i < SECTOR; i++) {
    self->bytes[at + i] = whole ? 0xFF : random_byte(self);
  }
  return whole ? 0 : -1;
}

static int write(void *it, uint32_t at, const uint8_t *bytes, uint32_t len) {
  flash *self = (flash *)it;
  for (uint32_t i = 0; i < len; i++) {
    int whole = step(self);
    if (!whole && self->steps_left != -1) return -1;
    self->bytes[at + i] &= whole ? bytes[i] : (uint8_t)(bytes[i] | random_byte(self));
    if (!whole) return -1;
  }
  return 0;
}

static slots_flash interface_of(flash *self) {
  slots_flash with = {self->bytes, SLOT, SECTOR, erase, write, self};
  return with;
}

/* Writes a file in pieces of 100 bytes, and commits it. */
static wb_code replace(flash *self, const uint8_t *bytes, uint32_t len) {
  static wb_slot work[32];
  slots_flash with = interface_of(self);
  for (uint32_t at = 0; at < len; at += 100) {
    if (slots_write(&with, at, bytes + at, len - at < 100 ? len - at : 100) != 0) return WB_ROOM;
  }
  return slots_commit(&with, len, work, 32, NULL);
}

static void expect(int condition, const char *what, long cut) {
  if (!condition) {
    fprintf(stderr, "cut after %ld steps: %s\n", cut, what);
    exit(1);
  }
}

static int holds(const slots_model *model, const uint8_t *bytes, uint32_t len) {
  return model->len == len && memcmp(model->data, bytes, len) == 0;
}

/* Changes one bit of the first weight, so that another model is valid too. */
static void change_weight(uint8_t *bytes, uint32_t len) {
  wb_file file;
  wb_cursor cursor = {{0}};
  wb_tensor tensor;
  expect(wb_open(&file, bytes, len, WB_DETECT, NULL) == WB_OK, "the model does not open", -1);
  do {
    expect(wb_next(&file, &cursor, &tensor) == WB_OK, "no tensor in place", -1);
  } while (tensor.data == NULL || tensor.len == 0);
  bytes[tensor.data - bytes] ^= 1;
}

/* Numbers the model of the first slot, as a device does after as many replacements. */
static void set_sequence(flash *self, uint32_t number) {
  uint8_t *trailer = self->bytes + SLOT - SLOTS_TRAILER;
  for (int i = 0; i < 4; i++) {
    trailer[4 + i] = (uint8_t)(number >> (8 * i));
  }
  number = slots_crc32c(trailer, 16);
  for (int i = 0; i < 4; i++) {
    trailer[16 + i] = (uint8_t)(number >> (8 * i));
  }
}

int main(int argc, char **argv) {
  static uint8_t old_file[SLOT], new_file[SLOT];
  static flash start, now;
  uint32_t len;
  long steps, news = 0;
  slots_flash with = interface_of(&now);
  slots_model model;
  FILE *input;
  if (argc != 2 || (input = fopen(argv[1], "rb")) == NULL) {
    fprintf(stderr, "usage: %s MODEL\n", argv[0]);
    return 2;
  }
  len = (uint32_t)fread(old_file, 1, SLOT, input);
  fclose(input);
  memcpy(new_file, old_file, len);
  change_weight(new_file, len);

  memset(start.bytes, 0xFF, sizeof start.bytes);
  now = start;
  expect(slots_current(&with, &model) != 0, "erased flash has a model", -1);
  start.steps_left = 1L << 30;
  expect(replace(&start, old_file, len) == WB_OK, "the first model is refused", -1);

  /* Without a cut: how many steps there are. */
  start.steps = 0;
  now = start;
  expect(replace(&now, new_file, len) == WB_OK, "the new model is refused", -1);
  expect(slots_current(&with, &model) == 0 && holds(&model, new_file, len), "not the new model", -1);
  expect(model.sequence == 2 && model.slot == 1, "not in the other slot", -1);
  steps = now.steps;

  for (long cut = 0; cut < steps; cut++) {
    now = start;
    now.steps_left = cut;
    now.random = (uint32_t)cut;
    expect(replace(&now, new_file, len) != WB_OK, "a cut was not seen", cut);
    expect(slots_current(&with, &model) == 0, "no model", cut);
    expect(holds(&model, old_file, len) || holds(&model, new_file, len), "half a model", cut);
    news += holds(&model, new_file, len);
    /* The next attempt is cut too, anywhere; the one after it succeeds. */
    now.steps_left = (long)(now.random >> 8) % steps;
    expect(replace(&now, new_file, len) != WB_OK, "the second cut was not seen", cut);
    expect(slots_current(&with, &model) == 0, "no model after two cuts", cut);
    expect(holds(&model, old_file, len) || holds(&model, new_file, len), "half a model after two cuts", cut);
    now.steps_left = 1L << 30;
    expect(replace(&now, new_file, len) == WB_OK, "the last attempt is refused", cut);
    expect(slots_current(&with, &model) == 0 && holds(&model, new_file, len), "not the new model", cut);
  }

  /* The number of models wraps around, and the newer one is still known. */
  now = start;
  set_sequence(&now, UINT32_MAX);
  expect(replace(&now, new_file, len) == WB_OK, "the model after the last number is refused", -1);
  expect(slots_current(&with, &model) == 0 && holds(&model, new_file, len), "the old model came back", -1);
  expect(model.sequence == 0, "the number did not wrap around", -1);

  /* A file that breaks a rule never becomes current, and a worn weight is noticed. */
  now = start;
  expect(replace(&now, new_file, len - 8) == WB_INVALID, "half a file was accepted", -1);
  expect(slots_current(&with, &model) == 0 && holds(&model, old_file, len), "the old model is gone", -1);
  now.bytes[len - 1] ^= 1;
  expect(slots_current(&with, &model) != 0, "a changed byte was not noticed", -1);
  printf("%ld cuts, %ld of them after the new model was whole\n", steps, news);
  return 0;
}
