/* Memory functions that are as small as those of the Rust images (firmware/src/mem.rs), so that
 * sizes can be compared. Loops must not become calls of the same functions. */
#include <stddef.h>

#define SAME_AS(function) __attribute__((alias(#function)))

void *memmove(void *to, const void *from, size_t len) {
  unsigned char *a = to;
  const unsigned char *b = from;
  if (a <= b) {
    for (size_t i = 0; i < len; i++) a[i] = b[i];
  } else {
    while (len-- > 0) a[len] = b[len];
  }
  return to;
}

/* The order of arguments in the run-time ABI of ARM; compilers for ARM call this one. */
void __aeabi_memset(void *to, size_t len, int byte) {
  unsigned char *a = to;
  while (len-- > 0) a[len] = (unsigned char)byte;
}

void *memset(void *to, int byte, size_t len) {
  __aeabi_memset(to, len, byte);
  return to;
}

int memcmp(const void *x, const void *y, size_t len) {
  const unsigned char *a = x, *b = y;
  for (size_t i = 0; i < len; i++) {
    if (a[i] != b[i]) return a[i] - b[i];
  }
  return 0;
}

void *memcpy(void *to, const void *from, size_t len) SAME_AS(memmove);
int bcmp(const void *x, const void *y, size_t len) SAME_AS(memcmp);

/* Other names of the ABI. */
void *__aeabi_memcpy(void *to, const void *from, size_t len) SAME_AS(memmove);
void *__aeabi_memcpy4(void *to, const void *from, size_t len) SAME_AS(memmove);
void *__aeabi_memcpy8(void *to, const void *from, size_t len) SAME_AS(memmove);
void *__aeabi_memmove(void *to, const void *from, size_t len) SAME_AS(memmove);
void *__aeabi_memmove4(void *to, const void *from, size_t len) SAME_AS(memmove);
void *__aeabi_memmove8(void *to, const void *from, size_t len) SAME_AS(memmove);
void __aeabi_memset4(void *to, size_t len, int byte) SAME_AS(__aeabi_memset);
void __aeabi_memset8(void *to, size_t len, int byte) SAME_AS(__aeabi_memset);
void __aeabi_memclr(void *to, size_t len) { __aeabi_memset(to, len, 0); }
void __aeabi_memclr4(void *to, size_t len) SAME_AS(__aeabi_memclr);
void __aeabi_memclr8(void *to, size_t len) SAME_AS(__aeabi_memclr);
