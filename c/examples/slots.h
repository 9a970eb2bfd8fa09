/* Two slots in flash for a model that is replaced in the field. At any moment of a replacement, at
 * least one slot holds a whole model.
 *
 * A slot ends with a trailer, which is written last: magic, sequence number, length, the CRC-32C of
 * the file, and the CRC-32C of the trailer itself. The sound trailer with the highest number is that
 * of the current model. */
#ifndef SLOTS_H
#define SLOTS_H

#include <stddef.h>
#include <stdint.h>

#include "weighbridge.h"

/* The caller's flash, mapped for reading. Both functions return 0 for success. An erased byte is
 * 0xFF; a write clears bits. Flash that is written in units of more than four bytes needs a trailer
 * that is padded to them. */
typedef struct slots_flash {
  const uint8_t *mapped;
  /* Length of each of the two slots: a multiple of the sector. */
  uint32_t slot_len;
  uint32_t sector;
  int (*erase)(void *self, uint32_t at);
  int (*write)(void *self, uint32_t at, const uint8_t *bytes, uint32_t len);
  void *self;
} slots_flash;

/* A model in a slot. */
typedef struct slots_model {
  const uint8_t *data;
  uint32_t len;
  uint32_t sequence;
  int slot;
} slots_model;

enum { SLOTS_TRAILER = 20 };

/* The current model, whose digest was compared; returns 0, or -1 if there is none. This suffices at
 * each start, because only checked files get a trailer. */
int slots_current(const slots_flash *flash, slots_model *model);

/* Writes the next piece of a new file into the slot that is not current. The first piece, at offset
 * 0, erases the slot. Pieces begin and end at units of writing, but for the last one. Returns 0, or
 * -1. */
int slots_write(const slots_flash *flash, uint32_t at, const uint8_t *bytes, uint32_t len);

/* Checks the new file of this length, all of its structure but what a .tflite or .pte file leaves to
 * hosts, and makes it current. Returns WB_OK; the verdict, if the file must not be used; or WB_ROOM, if flash could not be written. */
wb_code slots_commit(const slots_flash *flash, uint32_t len, wb_slot *work, size_t work_count,
                     wb_findings *found);

/* CRC-32C (Castagnoli). */
uint32_t slots_crc32c(const uint8_t *bytes, uint32_t len);

#endif
