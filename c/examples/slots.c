#include "slots.h"

#include "accepted.h"

static const uint32_t magic = 0x54534257; /* "WBST" */

static uint32_t get(const uint8_t *at) {
  return at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

static void set(uint8_t *at, uint32_t number) {
  for (int i = 0; i < 4; i++) {
    at[i] = (uint8_t)(number >> (8 * i));
  }
}

uint32_t slots_crc32c(const uint8_t *bytes, uint32_t len) {
  uint32_t crc = 0xFFFFFFFF;
  for (uint32_t i = 0; i < len; i++) {
    crc ^= bytes[i];
    for (int bit = 0; bit < 8; bit++) {
      crc = crc >> 1 ^ (0x82F63B78 & (0 - (crc & 1)));
    }
  }
  return ~crc;
}

/* The model of a slot, if its trailer and its digest are sound. */
static int model_of(const slots_flash *flash, int slot, slots_model *model) {
  const uint8_t *start = flash->mapped + (size_t)slot * flash->slot_len;
  const uint8_t *trailer = start + flash->slot_len - SLOTS_TRAILER;
  uint32_t len = get(trailer + 8);
  if (get(trailer) != magic || get(trailer + 16) != slots_crc32c(trailer, 16) ||
      len > flash->slot_len - SLOTS_TRAILER || get(trailer + 12) != slots_crc32c(start, len)) {
    return -1;
  }
  model->data = start;
  model->len = len;
  model->sequence = get(trailer + 4);
  model->slot = slot;
  return 0;
}

int slots_current(const slots_flash *flash, slots_model *model) {
  slots_model other;
  int first = model_of(flash, 0, model);
  int second = model_of(flash, 1, &other);
  /* The difference tells which is newer, even after the number has wrapped around. */
  if (second == 0 && (first != 0 || (int32_t)(other.sequence - model->sequence) > 0)) {
    *model = other;
    return 0;
  }
  return first;
}

/* The slot that is not current, and the number of its next model. */
static int free_slot(const slots_flash *flash, uint32_t *sequence) {
  slots_model model;
  if (slots_current(flash, &model) != 0) {
    *sequence = 1;
    return 0;
  }
  *sequence = model.sequence + 1;
  return 1 - model.slot;
}

int slots_write(const slots_flash *flash, uint32_t at, const uint8_t *bytes, uint32_t len) {
  uint32_t sequence;
  uint32_t start = (uint32_t)free_slot(flash, &sequence) * flash->slot_len;
  uint32_t room = flash->slot_len - SLOTS_TRAILER;
  if (at > room || len > room - at) {
    return -1;
  }
  if (at == 0) {
    /* The last sector first: it has the old trailer. */
    for (uint32_t left = flash->slot_len; left > 0; left -= flash->sector) {
      if (flash->erase(flash->self, start + left - flash->sector) != 0) {
        return -1;
      }
    }
  }
  return flash->write(flash->self, start + at, bytes, len);
}

wb_code slots_commit(const slots_flash *flash, uint32_t len, wb_slot *work, size_t work_count,
                     wb_findings *found) {
  uint8_t trailer[SLOTS_TRAILER];
  uint32_t sequence;
  uint32_t start = (uint32_t)free_slot(flash, &sequence) * flash->slot_len;
  const uint8_t *data = flash->mapped + start;
  wb_finding first[8];
  wb_findings own = WB_FINDINGS(first);
  uint32_t before;
  wb_file file;
  wb_code code;
  if (found == NULL) {
    found = &own;
  }
  before = found->count;
  if (len > flash->slot_len - SLOTS_TRAILER) {
    return WB_ROOM;
  }
  code = wb_open(&file, data, len, WB_DETECT, found);
  if (code != WB_OK) {
    return code;
  }
  code = wb_check(&file, work, work_count, found);
  if (!is_accepted(code, &file, found, before)) {
    return code;
  }
  set(trailer, magic);
  set(trailer + 4, sequence);
  set(trailer + 8, len);
  set(trailer + 12, slots_crc32c(data, len));
  set(trailer + 16, slots_crc32c(trailer, 16));
  start += flash->slot_len - SLOTS_TRAILER;
  return flash->write(flash->self, start, trailer, SLOTS_TRAILER) == 0 ? WB_OK : WB_ROOM;
}
