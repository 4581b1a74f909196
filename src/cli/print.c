#include "cli/print.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

static int first_error; // errno of the first flush of stdout that failed; 0: none

/** Bytes of the printable UTF-8 character at `text`; 0 for a control character (C0, DEL, C1) and
 * for what is no UTF-8 (RFC 3629). */
static size_t printable(const unsigned char *text) {
  if (text[0] < 0x80) return text[0] >= 0x20 && text[0] != 0x7F;
  size_t length = text[0] >= 0xF0 ? 4 : text[0] >= 0xE0 ? 3 : 2;
  if (text[0] < 0xC2 || text[0] > 0xF4) return 0;
  for (size_t i = 1; i < length; i++)
    if ((text[i] & 0xC0) != 0x80) return 0;
  return text[0] == 0xC2 && text[1] < 0xA0 ? 0 : length;
}

void fov_print_text(FILE *stream, const char *text) {
  while (*text) {
    size_t length = printable((const unsigned char *)text);
    if (length > 0)
      fwrite(text, 1, length, stream);
    else
      fputc(*text == '\n' ? '\n' : '?', stream);
    text += length > 0 ? length : 1;
  }
}

void fov_print(FILE *stream, const char *format, ...) {
  char *text;
  va_list arguments;
  va_start(arguments, format);
  int length = vasprintf(&text, format, arguments);
  va_end(arguments);
  if (length < 0) return; // no memory for a line: nothing sensible is left to print
  fov_print_text(stream, text);
  free(text);
}

void fov_print_flush(void) {
  errno = 0;
  if (fflush(stdout) != 0 && first_error == 0) first_error = errno;
}

FovStatus fov_print_finish(void) {
  fov_print_flush();
  if (first_error != 0)
    return fov_fail(FOV_ERR_IO, "cannot write the output: %s", strerror(first_error));
  // stdio keeps no errno of a write that failed while its buffer was full.
  if (ferror(stdout)) return fov_fail(FOV_ERR_IO, "cannot write all of the output");
  return FOV_OK;
}

const char *fov_duration(char text[32], double seconds) {
  long s = (long)(seconds + 0.5);
  if (seconds < 0)
    snprintf(text, 32, "?");
  else if (s >= 3600)
    snprintf(text, 32, "%ld:%02ld:%02ld", s / 3600, s / 60 % 60, s % 60);
  else
    snprintf(text, 32, "%ld:%02ld", s / 60, s % 60);
  return text;
}
