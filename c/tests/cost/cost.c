/* Measures a loader on a board in QEMU: instructions and stack, for one file that QEMU's loader puts
 * into memory. The name of the tensor is in the file's record. */
#include "board.h"
#include "loader.h"
#include "survey.h"

#if defined(__riscv)
#define FILES ((const unsigned char *)0x84000000)
#else
#define FILES ((const unsigned char *)0x21000000)
#endif

enum { NAME_AT = 16, PAINTED = 8192, MARGIN = 64, PAINT = 0x5A5A5A5A };

/* Counts instructions: QEMU is told how long one takes, and these clocks run in that time. */
#if defined(__riscv)
static void start_clock(void) {}

static uint32_t now(void) {
  uint32_t count;
  __asm__ volatile("csrr %0, minstret" : "=r"(count));
  return count;
}

/* One instruction lasts one unit. */
static uint32_t instructions(uint32_t from, uint32_t to) { return to - from; }
#else
/* SysTick counts down, 24 bits, a tick every 40 ns. */
static volatile uint32_t *const systick = (volatile uint32_t *)0xE000E010;

static void start_clock(void) {
  systick[1] = 0x00FFFFFF;
  systick[2] = 0;
  systick[0] = 5;
}

static uint32_t now(void) { return systick[2]; }

/* One instruction lasts 128 ns. */
static uint32_t instructions(uint32_t from, uint32_t to) { return ((from - to) & 0x00FFFFFF) * 5 / 16; }
#endif

static void put_number(uint32_t number) {
  char text[11], *at = text + sizeof text - 1;
  *at = '\0';
  do {
    *--at = (char)('0' + number % 10);
    number /= 10;
  } while (number != 0);
  board_put(at);
}

static int do_nothing(const uint8_t *bytes, uint32_t len, const char *name, located *result) {
  (void)bytes;
  (void)len;
  (void)name;
  (void)result;
  return 0;
}

typedef int loader(const uint8_t *bytes, uint32_t len, const char *name, located *result);

static uintptr_t stack_pointer(void) {
  uintptr_t at;
#if defined(__riscv)
  __asm__ volatile("mv %0, sp" : "=r"(at));
#else
  __asm__ volatile("mov %0, sp" : "=r"(at));
#endif
  return at;
}

/* What a call returned, and what it took. */
typedef struct cost {
  int code;
  uint32_t instructions;
  uint32_t stack;
} cost;

/* Calls a loader. */
__attribute__((noinline)) static cost measure(loader *call, const record *file, located *result) {
  const char *name = (const char *)file->bytes - 64 + NAME_AT;
  /* The call's frames lie below this one. */
  uintptr_t top = stack_pointer(), lowest = top - PAINTED;
  uint32_t from, to;
  cost own;
  for (uintptr_t at = lowest; at < top - MARGIN; at += 4) {
    *(volatile uint32_t *)at = PAINT;
  }
  from = now();
  own.code = call(file->bytes, (uint32_t)file->len, name, result);
  to = now();
  while (lowest < top - MARGIN && *(volatile uint32_t *)lowest == PAINT) {
    lowest += 4;
  }
  own.stack = (uint32_t)(top - lowest);
  own.instructions = instructions(from, to);
  return own;
}

int main(void) {
  const unsigned char *at = FILES;
  record file;
  located found = {0, 0}, nothing;
  cost none, all;
  start_clock();
  if (!next_record(&at, FILES + (16 << 20), &file)) {
    return 1;
  }
  none = measure(do_nothing, &file, &nothing);
  all = measure(loader_find, &file, &found);
  board_put("instructions ");
  put_number(all.instructions - none.instructions);
  board_put(" stack ");
  put_number(all.stack);
  board_put(" at ");
  put_number(found.data ? (uint32_t)(found.data - file.bytes) : 0);
  board_put(" len ");
  put_number(found.len);
  board_put("\n");
  return all.code;
}
