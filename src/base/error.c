#include "base/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SIZE = 1024 };

static _Thread_local char message[SIZE];

/** Control characters would let a file's text drive the terminal that prints it. */
static void remove_controls(char *text) {
  for (; *text; text++)
    if ((unsigned char)*text < ' ' || *text == 0x7f) *text = '?';
}

/** Writes the message. One that is too long keeps its start and its end, which has the reason. */
static void write_message(char text[SIZE], const char *format, va_list arguments) {
  va_list again;
  va_copy(again, arguments);
  int length = vsnprintf(text, SIZE, format, arguments);
  char *whole = length < SIZE ? NULL : malloc((size_t)length + 1);
  if (whole) {
    vsnprintf(whole, (size_t)length + 1, format, again);
    snprintf(text + SIZE / 2, SIZE / 2, "...%s", whole + length + 4 - SIZE / 2);
  }
  va_end(again);
  free(whole);
}

FovStatus fov_fail(FovStatus status, const char *format, ...) {
  // Formatted apart first: an argument may be the previous message itself.
  char next[SIZE];
  va_list arguments;
  va_start(arguments, format);
  write_message(next, format, arguments);
  va_end(arguments);
  remove_controls(next);
  memcpy(message, next, SIZE);
  return status;
}

const char *fov_error_message(void) {
  return message;
}

void fov_abort(const char *file, int line, const char *condition, const char *format, ...) {
  fprintf(stderr, "%s:%d: check failed: %s: ", file, line, condition);
  va_list arguments;
  va_start(arguments, format);
  vfprintf(stderr, format, arguments);
  va_end(arguments);
  fputc('\n', stderr);
  abort();
}
