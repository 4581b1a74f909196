#include "cli/print.h"

#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/text.h"

enum { DEFAULT_COLUMNS = 80 };

static int first_error; // errno of the first flush of stdout that failed; 0: none

void fov_print_text(FILE *stream, const char *text) {
  while (*text) {
    size_t length = fov_text_character(text);
    if (fov_text_printable(text) > 0)
      fwrite(text, 1, length, stream);
    else
      fputc(*text == '\n' ? '\n' : '?', stream);
    text += length;
  }
}

/** Prints a line with the newlines that its format has before and after it; others become '?'. */
static void print_line(FILE *stream, char *line, const char *format) {
  char *end = line + strlen(line);
  for (const char *f = format + strlen(format); f > format && f[-1] == '\n' && end > line; f--)
    end--;
  for (char *c = line + strspn(format, "\n"); c < end; c++)
    if (*c == '\n') *c = '?';
  fov_print_text(stream, line);
}

void fov_print(FILE *stream, const char *format, ...) {
  char text[2048], *longer = NULL; // an error is printed even where there is no memory left
  va_list arguments, again;
  va_start(arguments, format);
  va_copy(again, arguments);
  int length = vsnprintf(text, sizeof text, format, arguments);
  if (length >= (int)sizeof text && vasprintf(&longer, format, again) < 0) longer = NULL;
  va_end(again);
  va_end(arguments);
  print_line(stream, longer ? longer : text, format);
  free(longer);
}

int fov_print_columns(void) {
  struct winsize size = {0};
  if (!isatty(STDOUT_FILENO)) return INT_MAX;
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return DEFAULT_COLUMNS - 1;
  return size.ws_col - 1;
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
