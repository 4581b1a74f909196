#include "base/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

enum { SIZE = 1024 };

static _Thread_local char message[SIZE];

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
  fov_text_clean(next);
  memcpy(message, next, SIZE);
  return status;
}

const char *fov_error_message(void) {
  return message;
}

static void (*on_no_memory)(void);

void fov_on_no_memory(void (*handler)(void)) {
  on_no_memory = handler;
}

void fov_no_memory(size_t bytes) {
  fov_fail(FOV_ERR_MEMORY, "no memory for another %zu bytes; make images, tiles or network smaller",
           bytes);
  if (on_no_memory) on_no_memory();
  fov_abort(__FILE__, __LINE__, "memory is left", "%s", message);
}

void fov_abort(const char *file, int line, const char *condition, const char *format, ...) {
  char text[SIZE];
  va_list arguments;
  va_start(arguments, format);
  write_message(text, format, arguments);
  va_end(arguments);
  fov_text_clean(text);
  fprintf(stderr, "%s:%d: check failed: %s: %s\n", file, line, condition, text);
  abort();
}
