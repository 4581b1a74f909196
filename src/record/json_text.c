#include "record/json_text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

char *fov_json_text(const json_t *value, size_t flags) {
  size_t length = value ? json_dumpb(value, NULL, 0, flags) : 0; // without a buffer that grows
  char *text = length > 0 ? malloc(length + 1) : NULL;
  if (!text) return NULL;
  if (json_dumpb(value, text, length, flags) != length) {
    free(text);
    return NULL;
  }
  text[length] = '\0';
  return text;
}

json_t *fov_json_string(const char *text) {
  json_t *string = json_string(text);
  if (string) return string;
  char *ascii = strdup(text);
  if (!ascii) return NULL;
  for (char *c = ascii; *c; c++)
    if (*c & 0x80) *c = '?';
  string = json_string(ascii);
  free(ascii);
  return string;
}

json_t *fov_json_number(double value) {
  return isfinite(value) ? json_real(value) : json_null();
}
