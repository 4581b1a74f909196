#include "base/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

static _Thread_local char message[1024];

/** Control characters would let a file's text drive the terminal that prints it. */
static void remove_controls(char *text) {
  for (; *text; text++)
    if ((unsigned char)*text < ' ' || *text == 0x7f) *text = '?';
}

FovStatus fov_fail(FovStatus status, const char *format, ...) {
  // Formatted apart first: an argument may be the previous message itself.
  char next[sizeof message];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(next, sizeof next, format, arguments);
  va_end(arguments);
  remove_controls(next);
  snprintf(message, sizeof message, "%s", next);
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
