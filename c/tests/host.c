/* Surveys the files of a sequence of records on a host. Each file ends where its page ends, and the
 * next page cannot be read, so that reading past the end is a crash whoever does it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "survey.h"

static void put(const char *text) { fputs(text, stdout); }

static void fail(const char *what) {
  perror(what);
  exit(1);
}

static unsigned char *read_file(const char *path, size_t *len) {
  FILE *file = fopen(path, "rb");
  unsigned char *bytes;
  long size;
  if (!file || fseek(file, 0, SEEK_END) || (size = ftell(file)) < 0) fail(path);
  rewind(file);
  bytes = malloc((size_t)size + 1);
  if (!bytes || fread(bytes, 1, (size_t)size, file) != (size_t)size) fail(path);
  fclose(file);
  *len = (size_t)size;
  return bytes;
}

static void survey_guarded(const survey *with, const record *file) {
  size_t page = (size_t)sysconf(_SC_PAGESIZE);
  size_t pages = (file->len + page - 1) / page * page;
  unsigned char *map = mmap(NULL, pages + page, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  record copy = *file;
  if (map == MAP_FAILED) fail("mmap");
  copy.bytes = map + pages - file->len;
  memcpy(map + pages - file->len, file->bytes, file->len);
  /* Nor is the file written to. */
  if (pages && mprotect(map, pages, PROT_READ)) fail("mprotect");
  if (mprotect(map + pages, page, PROT_NONE)) fail("mprotect");
  print_survey(with, &copy);
  munmap(map, pages + page);
}

int main(int argc, char **argv) {
  static wb_slot slots[70000];
  static wb_finding items[256];
  survey with = {slots, 70000, items, 256, put};
  size_t len = 0;
  unsigned char *bytes;
  const unsigned char *at;
  record file;
  if (argc != 2) {
    fprintf(stderr, "usage: %s RECORDS\n", argv[0]);
    return 2;
  }
  bytes = read_file(argv[1], &len);
  at = bytes;
  while (next_record(&at, bytes + len, &file)) {
    survey_guarded(&with, &file);
  }
  free(bytes);
  return 0;
}
