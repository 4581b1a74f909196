#include "config/names.h"

#include <ctype.h>
#include <string.h>

enum { MAX_WORD = 63 }; // letters; a longer word has no nearest name

/** How many letters must be inserted, deleted or replaced to turn `a` into `b` (Levenshtein 1966),
 * without regard to case. */
static size_t edit_distance(const char *a, const char *b) {
  size_t row[MAX_WORD + 1], length = strlen(b); // row[j]: from a[0, i) to b[0, j)
  for (size_t j = 0; j <= length; j++) row[j] = j;
  for (size_t i = 0; a[i]; i++) {
    size_t diagonal = row[0]++;
    for (size_t j = 1; j <= length; j++) {
      size_t best = diagonal + (tolower((unsigned char)a[i]) != tolower((unsigned char)b[j - 1]));
      diagonal = row[j];
      if (row[j] + 1 < best) best = row[j] + 1;
      if (row[j - 1] + 1 < best) best = row[j - 1] + 1;
      row[j] = best;
    }
  }
  return row[length];
}

const char *fov_nearest(const char *word, const char *const *names, size_t count) {
  size_t length = strlen(word), limit = length / 3 > 2 ? length / 3 : 2;
  const char *nearest = NULL;
  for (size_t i = 0; i < count && length <= MAX_WORD; i++) {
    if (strlen(names[i]) > MAX_WORD) continue;
    size_t distance = edit_distance(word, names[i]);
    if (distance > limit || (nearest && distance == limit)) continue;
    nearest = names[i];
    limit = distance;
  }
  return nearest;
}

void fov_name_list(char phrase[FOV_PHRASE_SIZE], const char *lead, const char *const *names,
                   size_t count) {
  size_t used = (size_t)snprintf(phrase, FOV_PHRASE_SIZE, "%s", lead);
  for (size_t i = 0; i < count && used < FOV_PHRASE_SIZE; i++)
    used +=
        (size_t)snprintf(phrase + used, FOV_PHRASE_SIZE - used, "%s%s", i ? ", " : "", names[i]);
}

FovStatus fov_name_refuse(const char *subject, const char *word, const char *const *names,
                          size_t count) {
  char list[FOV_PHRASE_SIZE];
  fov_name_list(list, "one of ", names, count);
  const char *nearest = fov_nearest(word, names, count);
  return fov_fail(FOV_ERR_USAGE, "%s: expected %s%s%s%s", subject, list,
                  nearest ? "; did you mean '" : "", nearest ? nearest : "", nearest ? "'?" : "");
}
