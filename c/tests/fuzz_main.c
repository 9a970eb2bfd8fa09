/* Runs fuzz.c without libFuzzer: mutates the files of a sequence of records, the same way each time.
 *
 *   fuzz RECORDS RUNS [FIRST]
 *
 * Each run depends on its number alone. If one fails, its number and its input are left behind. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "survey.h"

enum { FILES = 16384, LONGEST = 1 << 18, CHANGES = 4 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static record files[FILES];
static size_t file_count;
static uint64_t state;

/* splitmix64 */
static uint64_t random_number(void) {
  uint64_t z = state += UINT64_C(0x9E3779B97F4A7C15);
  z = (z ^ z >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
  z = (z ^ z >> 27) * UINT64_C(0x94D049BB133111EB);
  return z ^ z >> 31;
}

static size_t below(size_t end) { return end ? (size_t)(random_number() % end) : 0; }

/* A number at the edge of something, as a field of 1, 2, 4 or 8 bytes. */
static void put_number(uint8_t *bytes, size_t len) {
  static const uint64_t edges[] = {0,    1,      2,          7,           8,           63,
                                   0x7F, 0xFF,   0x7FFF,     0xFFFF,      0x7FFFFFFF,  0xFFFFFFFF,
                                   INT64_MAX, UINT64_MAX, UINT64_C(1) << 32, UINT64_C(1) << 61};
  uint64_t number = below(4) ? edges[below(16)] : below(2 * len + 2);
  size_t width = (size_t)1 << below(4), at;
  if (len < width) return;
  at = below(len - width + 1);
  for (size_t i = 0; i < width; i++) {
    bytes[at + i] = (uint8_t)(number >> (8 * i));
  }
}

/* Moves, doubles or removes bytes; returns the new length. */
static size_t move_bytes(uint8_t *bytes, size_t len) {
  size_t from = below(len), count = below(len - from < 64 ? len - from + 1 : 64), to = below(len);
  switch (below(3)) {
    case 0:
      memmove(bytes + from, bytes + from + count, len - from - count);
      return len - count;
    case 1:
      if (len + count > LONGEST) return len;
      memmove(bytes + from + count, bytes + from, len - from);
      return len + count;
    default:
      memmove(bytes + to, bytes + from, count < len - to ? count : len - to);
      return len;
  }
}

/* The input of a run; returns its length. */
static size_t mutated(uint64_t run, uint8_t *bytes) {
  const record *file;
  size_t len, changes;
  state = run * UINT64_C(0xD1342543DE82EF95);
  file = &files[below(file_count)];
  len = file->len < LONGEST ? file->len : LONGEST;
  memcpy(bytes, file->bytes, len);
  for (changes = 1 + below(CHANGES); changes > 0 && len > 0; changes--) {
    /* The index is near one end, mostly. */
    size_t near = len < 256 ? len : 256, part = below(2) ? len : near;
    uint8_t *start = below(4) ? bytes : bytes + len - part;
    switch (below(6)) {
      case 0:
        start[below(part)] ^= (uint8_t)(1u << below(8));
        break;
      case 1:
        start[below(part)] = (uint8_t)random_number();
        break;
      case 2:
      case 3:
        put_number(start, part);
        break;
      case 4:
        len = move_bytes(bytes, len);
        break;
      default:
        len -= below(8) ? below(9 < len ? 9 : len) : below(len);
    }
  }
  return len;
}

static void read_records(const char *path) {
  FILE *file = fopen(path, "rb");
  long size = -1;
  unsigned char *bytes;
  const unsigned char *at;
  if (!file || fseek(file, 0, SEEK_END) || (size = ftell(file)) < 0) size = -1;
  bytes = size < 0 ? NULL : malloc((size_t)size + 1);
  if (!bytes || fseek(file, 0, SEEK_SET) || fread(bytes, 1, (size_t)size, file) != (size_t)size) {
    perror(path);
    exit(2);
  }
  fclose(file);
  at = bytes;
  while (file_count < FILES && next_record(&at, bytes + size, &files[file_count])) file_count++;
}

/* Runs until one fails; the number of the current one is in `at`. */
static void run_all(volatile uint64_t *at, uint64_t end) {
  uint8_t *bytes = malloc(LONGEST);
  if (!bytes) exit(2);
  for (; *at < end; ++*at) {
    LLVMFuzzerTestOneInput(bytes, mutated(*at, bytes));
  }
  free(bytes);
}

/* Writes the input of a run that failed. */
static void leave(uint64_t run) {
  char name[64];
  static uint8_t bytes[LONGEST];
  size_t len = mutated(run, bytes);
  FILE *file;
  snprintf(name, sizeof name, "fuzz-%llu.bin", (unsigned long long)run);
  file = fopen(name, "wb");
  if (file) {
    fwrite(bytes, 1, len, file);
    fclose(file);
  }
  fprintf(stderr, "run %llu failed; its input is in %s\n", (unsigned long long)run, name);
}

int main(int argc, char **argv) {
  volatile uint64_t *at;
  int status;
  pid_t child;
  uint64_t first = argc == 4 ? strtoull(argv[3], NULL, 10) : 0;
  if (argc != 3 && argc != 4) {
    fprintf(stderr, "usage: %s RECORDS RUNS [FIRST]\n", argv[0]);
    return 2;
  }
  read_records(argv[1]);
  at = mmap(NULL, sizeof *at, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (file_count == 0 || at == MAP_FAILED) {
    fprintf(stderr, "no files\n");
    return 2;
  }
  *at = first;
  child = fork();
  if (child == 0) {
    run_all(at, first + strtoull(argv[2], NULL, 10));
    exit(0);
  }
  if (child < 0 || waitpid(child, &status, 0) != child || status != 0) {
    leave(*at);
    return 1;
  }
  printf("%llu runs over %llu files\n", (unsigned long long)(*at - first),
         (unsigned long long)file_count);
  return 0;
}
