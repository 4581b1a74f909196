/** Names of recipes and tasks: the settings that distinguish them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

#include "experiment/compare/runs.h"

enum { LONG_NAME = 72 }; // bytes; beyond it the name of a folder is easier to read

/** A setting that some variant has. */
typedef struct Key {
  const char *text; // in the settings of a variant
  size_t length;
  int kinds; // different values; absent is one
  bool kept;
} Key;

/** All keys of all variants, and the variants that the kept ones leave equal. */
typedef struct Naming {
  const FovVariants *variants;
  Key *keys; // [count]
  int count, room;
  int classes[FOV_COMPARE_VARIANTS], class_count;
} Naming;

/** The value of a key, up to the end of its line; NULL: the variant does not have it. */
static const char *find_value(size_t *length, const FovVariant *variant, const Key *key) {
  for (const char *line = variant->settings; *line; line += strcspn(line, "\n") + 1) {
    if (strncmp(line, key->text, key->length) != 0 || strncmp(line + key->length, " = ", 3) != 0)
      continue;
    const char *value = line + key->length + 3;
    *length = strcspn(value, "\n");
    return value;
  }
  *length = 0;
  return NULL;
}

typedef struct Value {
  const char *text; // NULL: absent
  size_t length;
} Value;

static bool same_value(const Value *x, const Value *y) {
  if (!x->text || !y->text) return x->text == y->text;
  return x->length == y->length && strncmp(x->text, y->text, x->length) == 0;
}

/** Divides each class of variants by the value of a key; returns how many classes there are. */
static int divide(int *classes, const Naming *naming, const int *before, const Key *key) {
  Value values[FOV_COMPARE_VARIANTS];
  int count = 0;
  for (int i = 0; i < naming->variants->count; i++) {
    values[i].text = find_value(&values[i].length, &naming->variants->list[i], key);
    int j = 0;
    while (j < i && (before[j] != before[i] || !same_value(&values[i], &values[j]))) j++;
    classes[i] = j < i ? classes[j] : count++;
  }
  return count;
}

static bool has_key(const Naming *naming, const Key *key) {
  for (int k = 0; k < naming->count; k++)
    if (naming->keys[k].length == key->length &&
        strncmp(naming->keys[k].text, key->text, key->length) == 0)
      return true;
  return false;
}

static FovStatus add_key(Naming *naming, const Key *key) {
  if (naming->count == naming->room) {
    naming->room = 2 * naming->room + 64;
    Key *keys = realloc(naming->keys, (size_t)naming->room * sizeof *keys);
    if (!keys) return fov_fail(FOV_ERR_MEMORY, "no memory for the names of recipes");
    naming->keys = keys;
  }
  naming->keys[naming->count++] = *key;
  return FOV_OK;
}

/** Finds the keys in which variants differ. */
static FovStatus find_keys(Naming *naming) {
  const int same[FOV_COMPARE_VARIANTS] = {0};
  int classes[FOV_COMPARE_VARIANTS];
  for (int i = 0; i < naming->variants->count; i++) {
    const char *line = naming->variants->list[i].settings;
    for (; *line; line += strcspn(line, "\n") + 1) {
      const char *end = strstr(line, " = ");
      Key key = {.text = line, .length = (size_t)(end - line)};
      if (has_key(naming, &key)) continue;
      key.kinds = divide(classes, naming, same, &key);
      FOV_TRY(add_key(naming, &key));
    }
  }
  return FOV_OK;
}

static bool is_varying(const FovRuns *runs, const Key *key) {
  for (int i = 0; i < runs->varying_count; i++)
    if (strlen(runs->varying[i]) == key->length &&
        strncmp(runs->varying[i], key->text, key->length) == 0)
      return true;
  return false;
}

/** Keeps a key; `always`: also if it divides no class. */
static void keep(Naming *naming, Key *key, bool always) {
  int classes[FOV_COMPARE_VARIANTS];
  int count = divide(classes, naming, naming->classes, key);
  if (count == naming->class_count && !always) return;
  key->kept = true;
  naming->class_count = count;
  memcpy(naming->classes, classes, sizeof classes);
}

/** Whether a key is an option of a plug-in or of a group. */
static bool is_option(const Key *key) {
  return memchr(key->text, '.', key->length) != NULL;
}

/** Keeps what the user has varied, then as few other keys as it takes: plug-ins before their
 * options, which only some of them have, and keys with few values first. */
static void choose_keys(Naming *naming, const FovRuns *runs) {
  naming->class_count = 1;
  for (int k = 0; k < naming->count; k++) {
    Key *key = &naming->keys[k];
    if (key->kinds > 1 && is_varying(runs, key)) keep(naming, key, true);
  }
  for (int option = 0; option < 2; option++)
    for (int kinds = 2; kinds <= naming->variants->count; kinds++)
      for (int k = 0; k < naming->count; k++) {
        Key *key = &naming->keys[k];
        if (key->kinds == kinds && is_option(key) == option && !key->kept) keep(naming, key, false);
      }
}

/** Keys whose value is a name by itself. */
static bool is_plain(const Key *key) {
  static const char *const plain[] = {"recipe", "task", "env", "row"};
  for (size_t i = 0; i < sizeof plain / sizeof *plain; i++)
    if (strlen(plain[i]) == key->length && strncmp(plain[i], key->text, key->length) == 0)
      return true;
  return false;
}

static void print_name(FILE *stream, const Naming *naming, const FovVariant *variant) {
  const char *lead = "";
  for (int k = 0; k < naming->count; k++) {
    const Key *key = &naming->keys[k];
    size_t length;
    const char *value = key->kept ? find_value(&length, variant, key) : NULL;
    if (!value) continue;
    fputs(lead, stream);
    if (!is_plain(key)) fprintf(stream, "%.*s=", (int)key->length, key->text);
    fprintf(stream, "%.*s", (int)length, value);
    lead = " ";
  }
}

static FovStatus name_variant(FovVariant *variant, const Naming *naming) {
  size_t size;
  FILE *stream = open_memstream(&variant->name, &size);
  if (stream) print_name(stream, naming, variant);
  if (!fov_text_close(&variant->name, stream))
    return fov_fail(FOV_ERR_MEMORY, "no memory for the names of recipes");
  return FOV_OK;
}

static bool labels_differ(const FovVariants *variants) {
  for (int i = 0; i < variants->count; i++)
    for (int j = 0; j < i; j++)
      if (strcmp(variants->list[i].label, variants->list[j].label) == 0) return false;
  return true;
}

/** Whether a name has no text, or would fill a line. */
static bool is_unfit(const FovVariants *variants) {
  for (int i = 0; i < variants->count; i++) {
    size_t length = strlen(variants->list[i].name);
    if (length == 0 || length > LONG_NAME) return true;
  }
  return false;
}

/** Names the variants by their folders. */
static FovStatus use_labels(FovVariants *variants) {
  for (int i = 0; i < variants->count; i++) {
    FovVariant *variant = &variants->list[i];
    free(variant->name);
    variant->name = strdup(variant->label);
    if (!variant->name) return fov_fail(FOV_ERR_MEMORY, "no memory for the names of recipes");
  }
  return FOV_OK;
}

static FovStatus name_all(FovVariants *variants, const FovRuns *runs) {
  Naming naming = {.variants = variants};
  FovStatus status = find_keys(&naming);
  if (status == FOV_OK) choose_keys(&naming, runs);
  // The only one differs from none: what could have differed names it.
  for (int k = 0; k < naming.count && variants->count == 1; k++)
    naming.keys[k].kept = is_plain(&naming.keys[k]) || is_varying(runs, &naming.keys[k]);
  for (int i = 0; i < variants->count && status == FOV_OK; i++)
    status = name_variant(&variants->list[i], &naming);
  free(naming.keys);
  return status;
}

FovStatus fov_runs_name(FovRuns *runs) {
  FovVariants *recipes = &runs->recipes;
  FOV_TRY(name_all(recipes, runs));
  if (is_unfit(recipes) && labels_differ(recipes)) FOV_TRY(use_labels(recipes));
  return name_all(&runs->tasks, runs);
}
