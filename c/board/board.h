/* What the examples need of a board: text and an exit, through the debugger (semihosting), here
 * QEMU. */
#ifndef BOARD_H
#define BOARD_H

#ifdef __cplusplus
extern "C" {
#endif

/* The program, which returns 0 for success. */
int main(void);

/* Writes text that ends with a zero. */
void board_put(const char *text);

#ifdef __cplusplus
}
#endif

#endif
