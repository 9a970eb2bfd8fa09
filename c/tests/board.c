/* Surveys the files that QEMU's loader puts into memory. */
#include "board.h"
#include "survey.h"

#if defined(__riscv)
#define FILES ((const unsigned char *)0x84000000)
#else
#define FILES ((const unsigned char *)0x21000000)
#endif

int main(void) {
  static wb_slot slots[70000];
  static wb_finding items[256];
  const survey with = {slots, 70000, items, 256, board_put};
  const unsigned char *at = FILES;
  record file;
  while (next_record(&at, FILES + (16 << 20), &file)) {
    print_survey(&with, &file);
  }
  return 0;
}
