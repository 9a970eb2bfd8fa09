/* Whether a model may be used, by the verdict of wb_check and its findings. */
#ifndef ACCEPTED_H
#define ACCEPTED_H

#include "weighbridge.h"

static inline int is_same(const char *one, const char *other) {
  while (*one != 0 && *one == *other) {
    one++;
    other++;
  }
  return *one == *other;
}

/* WB_OK is accepted. In every .tflite and .pte file a reader of mapped flash leaves equal names and
 * unused bytes to hosts, and in a .pte how each operator is called: these findings are accepted too,
 * those from `from` on, if the array holds them all. Nothing else may have been left unchecked. */
static inline int is_accepted(wb_code code, const wb_file *file, const wb_findings *found, uint32_t from) {
  uint32_t format = wb_format_of(file);
  if (code != WB_UNCHECKED || found->count > found->room ||
      (format != WB_FORMAT_TFLITE && format != WB_FORMAT_EXECUTORCH)) {
    return code == WB_OK;
  }
  for (uint32_t i = from; i < found->count; i++) {
    const char *id = wb_rule_id(found->items[i].rule);
    if (found->items[i].severity == WB_SEVERITY_UNCHECKED && !is_same(id, "NAMES-UNCHECKED") &&
        !is_same(id, "COVERAGE-UNCHECKED") && !is_same(id, "O-UNKNOWN")) {
      return 0;
    }
  }
  return 1;
}

#endif
