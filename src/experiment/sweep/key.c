#include "experiment/sweep/key.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

FovStatus fov_sweep_refuse(const FovSetting *setting, const char *expected) {
  return fov_fail(FOV_ERR_USAGE, "%s: %s = %.200s: expected %s", setting->where, setting->key,
                  setting->value, expected);
}

static bool read_number(double *number, const char *text, const char *end) {
  char *stop;
  *number = strtod(text, &stop);
  return stop == end && stop != text && isfinite(*number);
}

/** Splits the values at a separator, without the blanks around them. */
static FovStatus split(FovSweepKey *key, const char *values, char separator) {
  while (values) {
    const char *end = strchr(values, separator);
    size_t length = end ? (size_t)(end - values) : strlen(values);
    while (length > 0 && *values == ' ') values++, length--;
    while (length > 0 && values[length - 1] == ' ') length--;
    if (length == 0) return fov_sweep_refuse(key->setting, "values, found an empty one");
    if (length >= FOV_STRING_SIZE || key->count == FOV_SWEEP_VALUES)
      return fov_sweep_refuse(key->setting, "at most 1000 values of at most 511 bytes");
    key->values[key->count] = strndup(values, length);
    if (!key->values[key->count++]) return fov_fail(FOV_ERR_MEMORY, "no memory for a sweep");
    values = end ? end + 1 : NULL;
  }
  for (int i = 0; i < key->count; i++)
    for (int j = 0; j < i; j++)
      if (strcmp(key->values[i], key->values[j]) == 0)
        return fov_sweep_refuse(key->setting, "different values, found one twice");
  return FOV_OK;
}

static FovStatus read_range(FovSweepKey *key, const char *range) {
  const char *colon = strchr(range, ':'), *end = range + strlen(range);
  if (!colon || !read_number(&key->low, range, colon) || !read_number(&key->high, colon + 1, end))
    return fov_sweep_refuse(key->setting, "two numbers, such as log:1e-4:1e-2");
  if (key->low >= key->high) return fov_sweep_refuse(key->setting, "the lower number first");
  if (key->kind == FOV_SWEEP_LOGARITHMIC && key->low <= 0)
    return fov_sweep_refuse(key->setting, "numbers above 0 on a logarithmic scale");
  key->whole = strspn(range, "-0123456789:") == strlen(range);
  return FOV_OK;
}

/** How a setting's value varies. Moves it behind the word for that, such as "log:". */
static FovSweepKind take_kind(const char **value) {
  static const char *const words[] = {
      [FOV_SWEEP_LINEAR] = "lin:", [FOV_SWEEP_LOGARITHMIC] = "log:", [FOV_SWEEP_ANY] = "any:"};
  for (int kind = FOV_SWEEP_LINEAR; kind <= FOV_SWEEP_ANY; kind++) {
    size_t length = strlen(words[kind]);
    if (strncmp(*value, words[kind], length) != 0) continue;
    *value += length;
    return (FovSweepKind)kind;
  }
  return strchr(*value, ',') ? FOV_SWEEP_LIST : FOV_SWEEP_FIXED;
}

bool fov_sweep_varies(const char *value) {
  return take_kind(&value) != FOV_SWEEP_FIXED;
}

FovStatus fov_sweep_key_read(FovSweepKey *key, const FovSetting *setting) {
  const char *value = setting->value;
  *key = (FovSweepKey){.kind = take_kind(&value), .setting = setting};
  if (key->kind == FOV_SWEEP_FIXED) return FOV_OK;
  key->name = setting->key;
  if (key->kind == FOV_SWEEP_ANY) return split(key, value, ':');
  if (key->kind != FOV_SWEEP_LIST) return read_range(key, value);
  return split(key, value, ',');
}

double fov_sweep_key_draw(const FovSweepKey *key, FovRng *rng) {
  bool logarithmic = key->kind == FOV_SWEEP_LOGARITHMIC;
  double share = (double)fov_rng_uniform(rng), low = key->low, high = key->high;
  // Every whole number has an interval of length 1.
  if (key->whole) low -= 0.5, high += 0.5;
  if (!logarithmic)
    low += share * (high - low);
  else
    low *= pow(high / low, share);
  return key->whole ? fmin(fmax(round(low), key->low), key->high) : low;
}
