/* What the tests print about a file, on a host and on a board: tests/tests/c compares it. */
#ifndef SURVEY_H
#define SURVEY_H

#include "weighbridge.h"

/* The caller's memory and output. */
typedef struct survey {
  wb_slot *slots;
  size_t slot_count;
  wb_finding *items;
  uint32_t room;
  void (*put)(const char *text);
} survey;

/* A file in a sequence: the record of firmware/src/input.rs. */
typedef struct record {
  const unsigned char *bytes;
  size_t len;
  uint32_t mode;
} record;

/* The record at *at before end, which then points to the next one; 0 if there is none. */
int next_record(const unsigned char **at, const unsigned char *end, record *found);

/* Prints one line about a file. */
void print_survey(const survey *with, const record *file);

#endif
