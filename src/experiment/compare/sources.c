/** Where runs come from. */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/text.h"
#include "experiment/compare/runs.h"
#include "experiment/sweep/folder.h"

/* ---- a run directory ---- */

static bool starts(const char *text, const char *start) {
  return strncmp(text, start, strlen(start)) == 0;
}

/** Copies the lines of a configuration to its recipe, to its task, or, that of the seed, nowhere.
 */
static void divide(FILE *recipe, FILE *task, const char *config) {
  for (const char *end; *config; config = end + (*end == '\n')) {
    end = config + strcspn(config, "\n");
    if (end == config || starts(config, "seed =")) continue;
    FILE *to = starts(config, "env =") || starts(config, "env.") ? task : recipe;
    fprintf(to, "%.*s\n", (int)(end - config), config);
  }
}

/** Reads the configuration and completes it with today's defaults, so that runs of an older version
 * are the same recipe. */
static FovStatus read_config(char **text, int64_t *seed, const char *path) {
  FovExperiment experiment;
  FovStatus status = fov_experiment_init(&experiment);
  if (status == FOV_OK) status = fov_settings_read(experiment.settings, path);
  if (status == FOV_OK) status = fov_experiment_resolve(&experiment);
  if (status == FOV_OK) status = fov_config_dump(text, &experiment.config);
  *seed = experiment.general.seed;
  fov_experiment_finish(&experiment);
  return status;
}

/** Writes the last name of a path, without the seed. */
static void label_of(char label[FOV_PATH_SIZE], const char *path) {
  char *absolute = realpath(path, NULL);
  const char *name = fov_file_name(absolute ? absolute : path);
  snprintf(label, FOV_PATH_SIZE, "%.*s", (int)fov_run_stem(name, strlen(name)), name);
  free(absolute);
}

/** row: its name, which is a part of the recipe; NULL: none. */
static FovStatus add_divided(FovComparedRun **run, FovRuns *runs, const char *dir,
                             const char *config, const char *row) {
  char label[FOV_PATH_SIZE], *recipe = NULL, *task = NULL;
  size_t size;
  label_of(label, dir);
  FILE *recipe_stream = open_memstream(&recipe, &size);
  FILE *task_stream = open_memstream(&task, &size);
  if (recipe_stream && row) fprintf(recipe_stream, FOV_SWEEP_ROW " = %s\n", row);
  if (recipe_stream && task_stream) divide(recipe_stream, task_stream, config);
  bool written = fov_text_close(&recipe, recipe_stream);
  written = fov_text_close(&task, task_stream) && written;
  FovStatus status = written ? fov_runs_add(run, runs, dir, recipe, task, label)
                             : fov_fail(FOV_ERR_MEMORY, "%s: no memory for its settings", dir);
  free(recipe);
  free(task);
  return status;
}

static FovStatus add_run(FovRuns *runs, const char *dir, const char *row) {
  char path[FOV_PATH_SIZE], *config = NULL;
  int64_t seed;
  FovComparedRun *run;
  FOV_TRY(read_config(&config, &seed, fov_sweep_path(path, dir, FOV_RUN_CONFIG, NULL)));
  FovStatus status = add_divided(&run, runs, dir, config, row);
  free(config);
  if (status != FOV_OK) return status;
  run->folder = true;
  run->seed = seed;
  runs->errors++;
  return FOV_OK;
}

/* ---- folders of runs ---- */

static bool has(const char *dir, const char *name) {
  char path[FOV_PATH_SIZE];
  return fov_file_exists(fov_sweep_path(path, dir, name, NULL));
}

/** Adds the rows of a plan, with their runs that have no directory yet. */
static FovStatus add_waiting(FovRuns *runs, const char *dir, const FovSweepPlan *plan) {
  char path[FOV_PATH_SIZE], name[FOV_SWEEP_NAME];
  int rows = plan->rows.count > 0 ? plan->rows.count : 1;
  FovWaiting *list =
      realloc(runs->waiting, (size_t)(runs->waiting_count + rows) * sizeof *runs->waiting);
  if (!list) return fov_fail(FOV_ERR_MEMORY, "%s: no memory for %d rows", dir, rows);
  runs->waiting = list;
  list += runs->waiting_count;
  runs->waiting_count += rows;
  memset(list, 0, (size_t)rows * sizeof *list);
  for (int r = 0; r < plan->rows.count; r++)
    snprintf(list[r].row, sizeof list[r].row, "%s", plan->rows.list[r].name);
  for (int c = 0; c < plan->configurations; c++)
    for (int s = 0; s < plan->seeds; s++) {
      fov_sweep_run_name(name, plan, c, plan->first_seed + s);
      list[fov_sweep_row(plan, c)].runs +=
          !has(fov_sweep_path(path, dir, name, NULL), FOV_RUN_CONFIG);
    }
  return FOV_OK;
}

/** Adds each run directory in a folder; counts them. plan: of the folder; NULL: none. */
static FovStatus add_entries(FovRuns *runs, int *count, DIR *folder, const char *dir,
                             const FovSweepPlan *plan) {
  char path[FOV_PATH_SIZE];
  FovStatus status = FOV_OK;
  for (const struct dirent *entry; status == FOV_OK && (entry = readdir(folder));) {
    if (entry->d_name[0] == '.') continue;
    fov_sweep_path(path, dir, entry->d_name, NULL);
    if (!has(path, FOV_RUN_CONFIG)) continue;
    status = add_run(runs, path, plan ? fov_sweep_row_of_run(plan, entry->d_name) : NULL);
    (*count)++;
  }
  return status;
}

static FovStatus add_folder(FovRuns *runs, int *count, const char *dir, const FovSweepPlan *plan) {
  DIR *folder = opendir(dir);
  *count = 0;
  if (!folder) return fov_fail(FOV_ERR_IO, "%s: cannot read: %s", dir, strerror(errno));
  FovStatus status = add_entries(runs, count, folder, dir, plan);
  closedir(folder);
  return status;
}

static FovStatus add_sweep(FovRuns *runs, const char *dir) {
  char path[FOV_PATH_SIZE];
  FovSweepPlan plan;
  int count;
  FovStatus status =
      fov_sweep_plan_read(&plan, fov_sweep_path(path, dir, FOV_SWEEP_PLAN, NULL), NULL, 0);
  for (int k = 0; status == FOV_OK && k < plan.key_count; k++)
    status = fov_runs_vary(runs, fov_sweep_key(&plan, k));
  if (status == FOV_OK) status = add_folder(runs, &count, dir, &plan);
  if (status == FOV_OK) status = add_waiting(runs, dir, &plan);
  fov_sweep_plan_finish(&plan);
  return status;
}

FovStatus fov_runs_read(FovRuns *runs, const char *source) {
  struct stat facts;
  int count;
  if (strlen(source) > FOV_PATH_SIZE / 2)
    return fov_fail(FOV_ERR_USAGE, "%.40s...: expected a path of at most %d bytes", source,
                    FOV_PATH_SIZE / 2);
  if (stat(source, &facts) != 0)
    return fov_fail(FOV_ERR_IO, "%s: cannot read: %s", source, strerror(errno));
  if (!S_ISDIR(facts.st_mode)) return fov_runs_read_csv(runs, source);
  if (has(source, FOV_SWEEP_PLAN)) return add_sweep(runs, source);
  if (has(source, FOV_RUN_CONFIG)) return add_run(runs, source, NULL);
  FOV_TRY(add_folder(runs, &count, source, NULL));
  if (count > 0) return FOV_OK;
  return fov_fail(FOV_ERR_USAGE,
                  "%s: expected a sweep, a run, a folder of runs or a CSV file; found a folder "
                  "without " FOV_RUN_CONFIG,
                  source);
}
