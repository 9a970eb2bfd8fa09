/* Start-up and semihosting for Cortex-M and for RISC-V in QEMU. */
#include "board.h"

#include <stdint.h>

extern uint32_t board_stack[], board_data_from[], board_data[], board_data_end[], board_bss[],
    board_bss_end[];

enum { SYS_WRITE0 = 0x04, SYS_EXIT = 0x18 };

static intptr_t call(intptr_t operation, intptr_t argument) {
#if defined(__riscv)
  register intptr_t a0 __asm__("a0") = operation;
  register intptr_t a1 __asm__("a1") = argument;
  __asm__ volatile(
      ".option push\n.option norvc\n.balign 16\n"
      "slli x0, x0, 0x1f\nebreak\nsrai x0, x0, 7\n.option pop"
      : "+r"(a0)
      : "r"(a1)
      : "memory");
  return a0;
#else
  register intptr_t r0 __asm__("r0") = operation;
  register intptr_t r1 __asm__("r1") = argument;
  __asm__ volatile("bkpt 0xab" : "+r"(r0) : "r"(r1) : "memory");
  return r0;
#endif
}

void board_put(const char *text) { call(SYS_WRITE0, (intptr_t)text); }

static void leave(int code) {
  /* ADP_Stopped_ApplicationExit, or ADP_Stopped_RunTimeErrorUnknown. */
  for (;;) {
    call(SYS_EXIT, code == 0 ? 0x20026 : 0x20023);
  }
}

__attribute__((used, noreturn)) void board_start(void) {
  const uint32_t *from = board_data_from;
#if defined(__ARM_FP)
  /* CPACR: the floating-point unit, before its first use. */
  *(volatile uint32_t *)0xE000ED88 |= 0xFu << 20;
  __asm__ volatile("dsb\nisb");
#endif
  for (uint32_t *to = board_data; to < board_data_end;) {
    *to++ = *from++;
  }
  for (uint32_t *to = board_bss; to < board_bss_end;) {
    *to++ = 0;
  }
  leave(main());
  for (;;) {
  }
}

#if defined(__riscv)
__attribute__((naked, used, section(".vectors"))) void board_entry(void) {
  __asm__ volatile("la sp, board_stack\nla t0, board_trap\ncsrw mtvec, t0\nj board_start");
}

__attribute__((used, aligned(4))) void board_trap(void) { leave(1); }
#else
static void fault(void) { leave(1); }

/* The stack, reset, and every exception. */
__attribute__((used, section(".vectors"))) const struct {
  uint32_t *stack;
  void (*handlers[15])(void);
} board_vectors = {board_stack, {board_start, fault, fault, fault, fault, fault}};
#endif
