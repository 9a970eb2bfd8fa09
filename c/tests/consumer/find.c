/* Finds one tensor in a file: `find FILE NAME`. */
#include <stdio.h>
#include <stdlib.h>

#include "weighbridge.h"

int main(int argc, char **argv) {
  static unsigned char bytes[1 << 16];
  static wb_slot slots[64];
  wb_finding first[4];
  wb_findings found = WB_FINDINGS(first);
  wb_file file;
  wb_tensor tensor;
  size_t len;
  FILE *input;
  if (argc != 3 || (input = fopen(argv[1], "rb")) == NULL) {
    fprintf(stderr, "usage: %s FILE NAME\n", argv[0]);
    return 2;
  }
  len = fread(bytes, 1, sizeof bytes, input);
  fclose(input);
  if (wb_open(&file, bytes, len, WB_DETECT, &found) != WB_OK ||
      wb_check(&file, slots, 64, &found) != WB_OK) {
    printf("refused: %s\n", found.count > 0 ? wb_rule_id(first[0].rule) : "");
    return 1;
  }
  if (wb_find(&file, argv[2], &tensor) != WB_OK) {
    printf("no such tensor\n");
    return 1;
  }
  printf("dtype %u, %u dims, %lu bytes at %lu\n", tensor.dtype, (unsigned)tensor.rank,
         (unsigned long)tensor.len, (unsigned long)(tensor.data - bytes));
  return 0;
}
