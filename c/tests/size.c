/* The smallest useful program, whose size is what the library costs: opens a file, checks it and
 * finds one tensor. The same as firmware/src/bin/size.rs. */
#include "weighbridge.h"

const void *entry(const void *bytes, size_t len, const char *name, size_t name_len, wb_slot *slots,
                  size_t slot_count, wb_findings *found);

const void *entry(const void *bytes, size_t len, const char *name, size_t name_len, wb_slot *slots,
                  size_t slot_count, wb_findings *found) {
  wb_file file;
  wb_tensor tensor;
  if (wb_open(&file, bytes, len, WB_DETECT, found) != WB_OK ||
      wb_check(&file, slots, slot_count, found) != WB_OK ||
      wb_find_bytes(&file, name, name_len, &tensor) != WB_OK) {
    return NULL;
  }
  return tensor.data;
}
