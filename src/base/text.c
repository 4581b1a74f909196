#include "base/text.h"

#include <stdlib.h>
#include <string.h>

size_t fov_text_printable(const char *text) {
  const unsigned char *c = (const unsigned char *)text;
  if (c[0] < 0x80) return c[0] >= 0x20 && c[0] != 0x7F;
  size_t length = c[0] >= 0xF0 ? 4 : c[0] >= 0xE0 ? 3 : 2;
  if (c[0] < 0xC2 || c[0] > 0xF4) return 0;
  for (size_t i = 1; i < length; i++)
    if ((c[i] & 0xC0) != 0x80) return 0;
  bool c1 = c[0] == 0xC2 && c[1] < 0xA0;
  bool overlong = (c[0] == 0xE0 && c[1] < 0xA0) || (c[0] == 0xF0 && c[1] < 0x90);
  bool surrogate = c[0] == 0xED && c[1] >= 0xA0, beyond = c[0] == 0xF4 && c[1] >= 0x90;
  // U+2028 to U+202E: separators and bidirectional controls; U+2066 to U+2069: more of these
  bool layout = c[0] == 0xE2 && ((c[1] == 0x80 && c[2] >= 0xA8 && c[2] <= 0xAE) ||
                                 (c[1] == 0x81 && c[2] >= 0xA6 && c[2] <= 0xA9));
  return c1 || layout || overlong || surrogate || beyond ? 0 : length;
}

bool fov_text_is_printable(const char *text) {
  size_t length = 0;
  while (*text && (length = fov_text_printable(text)) > 0) text += length;
  return !*text;
}

size_t fov_text_character(const char *text) {
  size_t bytes = fov_text_printable(text);
  return bytes > 0 ? bytes : 1;
}

int fov_text_columns(const char *text, size_t length) {
  int columns = 0;
  for (size_t i = 0; i < length && text[i]; i += fov_text_character(text + i)) columns++;
  return columns;
}

size_t fov_text_mark(const char *text) {
  static const char mark[] = "\xEF\xBB\xBF";
  return strncmp(text, mark, strlen(mark)) == 0 ? strlen(mark) : 0;
}

void fov_text_clean(char *text) {
  while (*text) {
    if (fov_text_printable(text) == 0) *text = '?';
    text += fov_text_character(text);
  }
}

void fov_text_ascii(char *text) {
  for (char *c = text; *c; c++)
    if (*c < ' ' || *c > '~') *c = '?';
}

void fov_text_put_word(FILE *stream, const char *word) {
  static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                              "_-./:=,@%+";
  if (*word && !word[strspn(word, plain)]) {
    fputs(word, stream);
    return;
  }
  putc('\'', stream);
  for (; *word; word++) fprintf(stream, *word == '\'' ? "'\\''" : "%c", *word);
  putc('\'', stream);
}

char *fov_text_word(char *text, size_t size, const char *word) {
  snprintf(text, size, "%s", word);
  FILE *stream = fmemopen(text, size, "w");
  if (!stream) return text;
  fov_text_put_word(stream, word);
  fclose(stream);
  text[size - 1] = '\0';
  return text;
}

const char *fov_plural(long long count) {
  return count == 1 ? "" : "s";
}

bool fov_text_close(char **text, FILE *stream) {
  bool written = stream && !ferror(stream);
  if (stream && fclose(stream) != 0) written = false;
  if (written && *text) return true;
  if (stream) free(*text);
  *text = NULL;
  return false;
}
