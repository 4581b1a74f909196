#include "experiment/compare/runs.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

static void finish_variants(FovVariants *variants) {
  for (int i = 0; i < variants->count; i++) {
    free(variants->list[i].settings);
    free(variants->list[i].label);
    free(variants->list[i].name);
  }
}

void fov_runs_finish(FovRuns *runs) {
  for (int i = 0; i < runs->count; i++) {
    free(runs->list[i].source);
    fov_outcomes_finish(&runs->list[i].outcomes);
  }
  finish_variants(&runs->recipes);
  finish_variants(&runs->tasks);
  for (int i = 0; i < runs->varying_count; i++) free(runs->varying[i]);
  free(runs->varying);
  free(runs->waiting);
  free(runs->list);
  *runs = (FovRuns){.list = NULL};
}

void fov_runs_note(FovRuns *runs, const char *format, ...) {
  if (runs->note_count == FOV_COMPARE_NOTES) return;
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(runs->notes[runs->note_count], FOV_COMPARE_NOTE, format, arguments);
  fov_text_clean(runs->notes[runs->note_count++]); // which may end inside a character
  va_end(arguments);
}

static FovStatus no_memory(void) {
  return fov_fail(FOV_ERR_MEMORY, "no memory for the runs to compare");
}

/** Keeps the alphabetically first label, so that the order of the runs does not matter. */
static FovStatus choose_label(FovVariant *variant, const char *label) {
  if (strcmp(label, variant->label) >= 0) return FOV_OK;
  free(variant->label);
  variant->label = strdup(label);
  return variant->label ? FOV_OK : no_memory();
}

/** Finds or adds the variant with these settings. */
static FovStatus find_variant(int *index, FovVariants *variants, const char *settings,
                              const char *label, const char *kind) {
  for (*index = 0; *index < variants->count; (*index)++)
    if (strcmp(variants->list[*index].settings, settings) == 0)
      return choose_label(&variants->list[*index], label);
  if (variants->count == FOV_COMPARE_VARIANTS)
    return fov_fail(FOV_ERR_USAGE, "%s: expected at most %d %s, found more", label,
                    FOV_COMPARE_VARIANTS, kind);
  FovVariant *variant = &variants->list[variants->count++];
  variant->settings = strdup(settings);
  variant->label = strdup(label);
  return variant->settings && variant->label ? FOV_OK : no_memory();
}

static FovStatus make_room(FovRuns *runs, const char *source) {
  if (runs->count == FOV_COMPARE_RUNS)
    return fov_fail(FOV_ERR_USAGE, "%s: expected at most %d runs, found more", source,
                    FOV_COMPARE_RUNS);
  if (runs->count < runs->room) return FOV_OK;
  int room = 2 * runs->room + 16;
  FovComparedRun *list = realloc(runs->list, (size_t)room * sizeof *list);
  if (!list) return no_memory();
  runs->list = list;
  runs->room = room;
  return FOV_OK;
}

FovStatus fov_runs_add(FovComparedRun **run, FovRuns *runs, const char *source, const char *recipe,
                       const char *task, const char *label) {
  int r, t;
  FOV_TRY(find_variant(&r, &runs->recipes, recipe, label, "recipes"));
  FOV_TRY(find_variant(&t, &runs->tasks, task, label, "tasks"));
  FOV_TRY(make_room(runs, source));
  char *copy = strdup(source);
  if (!copy) return no_memory();
  *run = &runs->list[runs->count++];
  **run = (FovComparedRun){.source = copy,
                           .recipe = r,
                           .task = t,
                           .seed = -1,
                           .valid = NAN,
                           .test = NAN,
                           .plain = NAN,
                           .score = NAN};
  for (int cost = 0; cost < FOV_COSTS; cost++) (*run)->costs[cost] = NAN;
  return FOV_OK;
}

FovStatus fov_runs_vary(FovRuns *runs, const char *key) {
  size_t size = (size_t)(runs->varying_count + 1) * sizeof *runs->varying;
  char **list = realloc(runs->varying, size);
  if (list) runs->varying = list;
  if (!list || !(list[runs->varying_count] = strdup(key))) return no_memory();
  runs->varying_count++;
  return FOV_OK;
}
