/* This library: checks the whole structure, and finds the tensor. With TRUSTED it does not check. */
#include "loader.h"
#include "weighbridge.h"

int loader_find(const uint8_t *bytes, uint32_t len, const char *name, located *result) {
  wb_finding first[1];
  wb_findings found = WB_FINDINGS(first);
  wb_file file;
  wb_tensor tensor;
  if (wb_open(&file, bytes, len, WB_DETECT, &found) != WB_OK) {
    return -1;
  }
#ifndef TRUSTED
  /* Names and parts of these models are in order, so no slots are needed. In .tflite and .pte files,
   * equal names and unused bytes are left to hosts: WB_UNCHECKED. */
  wb_code code = wb_check(&file, NULL, 0, &found);
  if (code != WB_OK && code != WB_UNCHECKED) {
    return -1;
  }
#endif
  if (wb_find(&file, name, &tensor) != WB_OK) {
    return -1;
  }
  result->data = tensor.data;
  result->len = (uint32_t)tensor.len;
  return 0;
}
