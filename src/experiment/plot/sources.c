#include "experiment/plot/sources.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "experiment/sweep/folder.h"

static FovStatus add(FovSources *sources, const char *path, const char *name, bool in_sweep) {
  if (sources->count == sources->room) {
    int room = 2 * sources->room + 8;
    FovSource *list = realloc(sources->list, (size_t)room * sizeof *list);
    if (!list) return fov_fail(FOV_ERR_MEMORY, "no memory for %d runs", room);
    sources->list = list;
    sources->room = room;
  }
  FovSource *source = &sources->list[sources->count];
  *source = (FovSource){.path = strdup(path), .in_sweep = in_sweep};
  if (!source->path) return fov_fail(FOV_ERR_MEMORY, "no memory for the path of a run");
  snprintf(source->name, sizeof source->name, "%s", name);
  sources->count++;
  return FOV_OK;
}

/** Writes what a configuration varies; if that is too long, the start of its runs' names: "c06". */
static void name_configuration(char name[FOV_SOURCE_NAME], const FovSweepPlan *plan, int c) {
  char label[4 * FOV_STRING_SIZE];
  fov_sweep_describe(label, sizeof label, plan, c);
  if (strlen(label) >= FOV_SOURCE_NAME) {
    fov_sweep_run_name(label, plan, c, plan->first_seed);
    label[strcspn(label, "-")] = '\0';
  }
  snprintf(name, FOV_SOURCE_NAME, "%s", label);
}

/** Adds the runs of a plan that have begun. */
static FovStatus add_plan(FovSources *sources, const FovSweepPlan *plan, const char *dir) {
  char path[FOV_PATH_SIZE], name[FOV_SOURCE_NAME], run[FOV_SWEEP_NAME];
  int before = sources->count;
  for (int c = 0; c < plan->configurations; c++) {
    name_configuration(name, plan, c);
    for (int s = 0; s < plan->seeds; s++) {
      fov_sweep_run_name(run, plan, c, plan->first_seed + s);
      fov_sweep_path(path, dir, run, FOV_RUN_PROGRESS);
      if (fov_file_exists(path)) FOV_TRY(add(sources, path, name, true));
    }
  }
  if (sources->count > before) return FOV_OK;
  return fov_fail(FOV_ERR_FORMAT,
                  "%s: no run of this sweep has rows yet: plot it after evaluations", dir);
}

static FovStatus add_sweep(FovSources *sources, const char *plan_path, const char *dir) {
  FovSweepPlan plan;
  FovStatus status = fov_sweep_plan_read(&plan, plan_path, NULL, 0);
  if (status == FOV_OK) status = add_plan(sources, &plan, dir);
  fov_sweep_plan_finish(&plan);
  return status;
}

static FovStatus add_word(FovSources *sources, const char *word) {
  char path[FOV_PATH_SIZE];
  struct stat found;
  if (strlen(word) > FOV_PATH_SIZE / 2)
    return fov_fail(FOV_ERR_USAGE, "%.80s...: a path of more than %d bytes", word,
                    FOV_PATH_SIZE / 2);
  if (stat(word, &found) != 0)
    return fov_fail(FOV_ERR_IO, "%s: no such run: expected a run directory, a sweep or a CSV file",
                    word);
  if (!S_ISDIR(found.st_mode)) return add(sources, word, "", false);
  fov_sweep_path(path, word, FOV_SWEEP_PLAN, NULL);
  if (fov_file_exists(path)) return add_sweep(sources, path, word);
  fov_sweep_path(path, word, FOV_RUN_PROGRESS, NULL);
  if (fov_file_exists(path)) return add(sources, path, "", false);
  return fov_run_expect(path, word, FOV_RUN_PROGRESS);
}

FovStatus fov_sources_init(FovSources *sources, const char *const *words, int count) {
  *sources = (FovSources){.count = 0};
  for (int i = 0; i < count; i++) FOV_TRY(add_word(sources, words[i]));
  return FOV_OK;
}

void fov_sources_finish(FovSources *sources) {
  for (int i = 0; i < sources->count; i++) free(sources->list[i].path);
  free(sources->list);
  *sources = (FovSources){.count = 0};
}
