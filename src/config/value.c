#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "config/names.h"

static size_t choice_count(const FovOption *option) {
  size_t count = 0;
  while (option->choices[count]) count++;
  return count;
}

/** A finite decimal number: no hexadecimal, nan or inf, which strtod takes too. */
static bool parse_real(double *value, const char *text) {
  char *end;
  *value = strtod(text, &end);
  bool decimal = strspn(text, "+-.0123456789eE") == strlen(text);
  return decimal && end != text && *end == '\0' && isfinite(*value);
}

/** All of int64_t in digits; 1e6 and the like up to 2^53, where doubles represent every integer. */
static bool parse_integer(int64_t *value, const char *text) {
  char *end;
  errno = 0;
  *value = strtoll(text, &end, 10);
  if (end != text && *end == '\0') return errno == 0;
  double real;
  if (!parse_real(&real, text) || fabs(real) > 0x1p53 || real != trunc(real)) return false;
  *value = (int64_t)real;
  return true;
}

static bool parse_bool(bool *value, const char *text) {
  static const char *const words[] = {"false", "true", "no", "yes", "off", "on", "0", "1"};
  for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
    if (strcasecmp(text, words[i]) != 0) continue;
    *value = i % 2;
    return true;
  }
  return false;
}

static bool parse_choice(int *value, const FovOption *option, const char *text) {
  for (int i = 0; option->choices[i]; i++) {
    if (strcmp(text, option->choices[i]) != 0) continue;
    *value = i;
    return true;
  }
  return false;
}

static bool parse_string(char value[FOV_STRING_SIZE], const char *text) {
  return snprintf(value, FOV_STRING_SIZE, "%s", text) < FOV_STRING_SIZE;
}

static bool in_range(const FovOption *option, double value) {
  return option->min <= value && value <= option->max;
}

/** Reads `text` into the option's field of `values`; false if it is not allowed. */
static bool parse(void *values, const FovOption *option, const char *text) {
  void *field = (char *)values + option->offset;
  int64_t integer;
  double real;
  switch (option->type) {
  case FOV_OPTION_INT:
    if (!parse_integer(&integer, text) || !in_range(option, (double)integer)) return false;
    *(int *)field = (int)integer;
    return *(int *)field == integer;
  case FOV_OPTION_LONG:
    if (!parse_integer(&integer, text) || !in_range(option, (double)integer)) return false;
    *(int64_t *)field = integer;
    return true;
  case FOV_OPTION_REAL:
    if (!parse_real(&real, text) || !in_range(option, real)) return false;
    *(double *)field = real;
    return true;
  case FOV_OPTION_BOOL:
    return parse_bool(field, text);
  case FOV_OPTION_CHOICE:
    return parse_choice(field, option, text);
  case FOV_OPTION_STRING:
    return parse_string(field, text);
  case FOV_OPTION_TEXT:
    break;
  }
  *(const char **)field = text;
  return true;
}

FovStatus fov_value_set(void *values, const FovOption *option, const char *text,
                        const char *subject) {
  if (parse(values, option, text)) return FOV_OK;
  if (option->type == FOV_OPTION_CHOICE)
    return fov_name_refuse(subject, text, option->choices, choice_count(option));
  char allowed[FOV_PHRASE_SIZE];
  fov_value_describe(allowed, option);
  return fov_fail(FOV_ERR_USAGE, "%s: expected %s", subject, allowed);
}

void fov_value_defaults(void *values, const FovOption *options) {
  for (; options && options->name; options++)
    FOV_CHECK(!options->fallback || parse(values, options, options->fallback),
              "option '%s' does not allow its default '%s'", options->name, options->fallback);
}

/** The shortest decimal that reads back as the same double. */
static void shortest(char text[32], double value) {
  for (int digits = 15; digits <= 17; digits++) {
    snprintf(text, 32, "%.*g", digits, value);
    if (strtod(text, NULL) == value) return;
  }
}

void fov_value_print(FILE *stream, const FovOption *option, const void *values) {
  const void *field = (const char *)values + option->offset;
  char real[32];
  switch (option->type) {
  case FOV_OPTION_INT:
    fprintf(stream, "%d", *(const int *)field);
    break;
  case FOV_OPTION_LONG:
    fprintf(stream, "%" PRId64, *(const int64_t *)field);
    break;
  case FOV_OPTION_REAL:
    shortest(real, *(const double *)field);
    fputs(real, stream);
    break;
  case FOV_OPTION_BOOL:
    fputs(*(const bool *)field ? "true" : "false", stream);
    break;
  case FOV_OPTION_CHOICE:
    fputs(option->choices[*(const int *)field], stream);
    break;
  case FOV_OPTION_STRING:
    fputs(field, stream);
    break;
  case FOV_OPTION_TEXT:
    fputs(*(const char *const *)field, stream);
    break;
  }
}

/** Limits of 2^63 and beyond are left out: no option's number reaches them. */
static void describe_range(char phrase[FOV_PHRASE_SIZE], const char *kind, double min, double max) {
  char low[32], high[32];
  shortest(low, min);
  shortest(high, max);
  bool has_min = min > -0x1p63, has_max = max < 0x1p63;
  if (has_min && has_max)
    snprintf(phrase, FOV_PHRASE_SIZE, "%s from %s to %s", kind, low, high);
  else if (has_min)
    snprintf(phrase, FOV_PHRASE_SIZE, "%s of at least %s", kind, low);
  else if (has_max)
    snprintf(phrase, FOV_PHRASE_SIZE, "%s of at most %s", kind, high);
  else
    snprintf(phrase, FOV_PHRASE_SIZE, "%s", kind);
}

void fov_value_describe(char phrase[FOV_PHRASE_SIZE], const FovOption *option) {
  switch (option->type) {
  case FOV_OPTION_INT:
  case FOV_OPTION_LONG:
    describe_range(phrase, "an integer", option->min, option->max);
    break;
  case FOV_OPTION_REAL:
    describe_range(phrase, "a number", option->min, option->max);
    break;
  case FOV_OPTION_BOOL:
    snprintf(phrase, FOV_PHRASE_SIZE, "true or false");
    break;
  case FOV_OPTION_CHOICE:
    fov_name_list(phrase, "one of ", option->choices, choice_count(option));
    break;
  case FOV_OPTION_STRING:
    snprintf(phrase, FOV_PHRASE_SIZE, "text of at most %d bytes", FOV_STRING_SIZE - 1);
    break;
  case FOV_OPTION_TEXT:
    snprintf(phrase, FOV_PHRASE_SIZE, "text");
    break;
  }
}
