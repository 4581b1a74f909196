#include "experiment/sweep/folder.h"

#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/file.h"
#include "record/csv.h"
#include "record/outcomes.h"
#include "record/progress.h"

/** In a run's directory: why it diverged. */
#define DIVERGED "diverged.txt"

const char *fov_sweep_path(char *path, const char *dir, const char *name, const char *file) {
  snprintf(path, FOV_PATH_SIZE, "%s/%s%s%s", dir, name, file ? "/" : "", file ? file : "");
  return path;
}

/* ---- the plan ---- */

/** Whether a folder has anything in it but hidden files and claims, which a sweep writes first. */
static bool has_files(const char *dir) {
  DIR *folder = opendir(dir);
  bool files = false;
  if (!folder) return false;
  for (const struct dirent *entry; (entry = readdir(folder));)
    files = files || (entry->d_name[0] != '.' && strcmp(entry->d_name, FOV_SWEEP_CLAIMS) != 0);
  closedir(folder);
  return files;
}

/** Length of a line without its end. */
static int line_length(const char *line) {
  return (int)strcspn(line, "\n");
}

static const char *next_line(const char *line) {
  return line + line_length(line) + (line[line_length(line)] == '\n');
}

/** The lines that may change: a sweep can get more seeds, and rollouts. */
static const char seeds_line[] = "sweep.seeds = ", rollouts_line[] = "sweep.rollouts = ";

static bool is_seeds(const char *line) {
  return strncmp(line, seeds_line, strlen(seeds_line)) == 0;
}

static bool is_rollouts(const char *line) {
  return strncmp(line, rollouts_line, strlen(rollouts_line)) == 0;
}

/** Fails unless the plan has the seeds of a line of the folder's plan. */
static FovStatus compare_seeds(const char *line, const FovSweepPlan *plan, const char *dir) {
  char kept[FOV_STRING_SIZE];
  int64_t first;
  int count;
  snprintf(kept, sizeof kept, "%.*s", line_length(line) - (int)strlen(seeds_line),
           line + strlen(seeds_line));
  FOV_TRY(fov_sweep_read_seeds(&first, &count, kept));
  if (plan->first_seed <= first && first + count <= plan->first_seed + plan->seeds) return FOV_OK;
  return fov_fail(FOV_ERR_USAGE,
                  "%s: holds a sweep with the seeds %s: expected these and perhaps more, found %s",
                  dir, kept, plan->options.seeds);
}

/** Fails unless the plan has the rollouts of a line of the folder's plan, or that has only one. */
static FovStatus compare_rollouts(const char *line, const FovSweepPlan *plan, const char *dir) {
  int kept = atoi(line + strlen(rollouts_line));
  if (kept == 1 || kept == plan->options.rollouts) return FOV_OK;
  return fov_fail(FOV_ERR_USAGE,
                  "%s: holds a sweep that is tested with %d rollouts: expected --rollouts %d, "
                  "found %d",
                  dir, kept, kept, plan->options.rollouts);
}

/** Moves behind lines with rollouts, which folders of older versions do not have. */
static FovStatus skip_rollouts(const char **kept, const char **text, const FovSweepPlan *plan,
                               const char *dir) {
  if (is_rollouts(*text)) *text = next_line(*text);
  if (!is_rollouts(*kept)) return FOV_OK;
  FOV_TRY(compare_rollouts(*kept, plan, dir));
  *kept = next_line(*kept);
  return FOV_OK;
}

/** Compares a file of the folder with a text, line by line. */
static FovStatus compare_text(const char *path, const char *text, const FovSweepPlan *plan,
                              const char *dir) {
  char *file;
  size_t size;
  FOV_TRY(fov_file_read(&file, &size, path, 1 << 20));
  const char *kept = file;
  FovStatus status = skip_rollouts(&kept, &text, plan, dir);
  while (status == FOV_OK && (*kept || *text)) {
    int length = line_length(kept), other = line_length(text);
    if (is_seeds(kept) && is_seeds(text))
      status = compare_seeds(kept, plan, dir);
    else if (length != other || strncmp(kept, text, (size_t)length) != 0)
      status = fov_fail(FOV_ERR_USAGE,
                        "%s: holds another sweep, with '%.*s' instead of '%.*s'; choose another -o",
                        dir, length, kept, other, text);
    kept = next_line(kept);
    text = next_line(text);
    if (status == FOV_OK) status = skip_rollouts(&kept, &text, plan, dir);
  }
  free(file);
  return status;
}

static FovStatus compare_experiments(const FovSweepPlan *plan, const char *dir) {
  char path[FOV_PATH_SIZE];
  for (int i = 0; i < plan->experiment_count; i++) {
    const FovSweepExperiment *experiment = &plan->experiments[i];
    fov_sweep_path(path, dir, experiment->file, NULL);
    FOV_TRY(compare_text(path, experiment->text, plan, dir));
  }
  return FOV_OK;
}

FovStatus fov_sweep_folder_check(const char *dir, const FovSweepPlan *plan) {
  char path[FOV_PATH_SIZE];
  if (strlen(dir) == 0 || strlen(dir) > FOV_PATH_SIZE / 2)
    return fov_fail(FOV_ERR_USAGE, "-o: expected a path of 1 to %d bytes, found %zu",
                    FOV_PATH_SIZE / 2, strlen(dir));
  fov_sweep_path(path, dir, FOV_SWEEP_PLAN, NULL);
  if (fov_file_exists(path)) {
    FOV_TRY(compare_text(path, plan->text, plan, dir));
    return compare_experiments(plan, dir);
  }
  fov_sweep_path(path, dir, FOV_SWEEP_CLAIMS, NULL); // a sweep's first files
  if (has_files(dir) && !fov_file_exists(path))
    return fov_fail(FOV_ERR_USAGE, "%s: has files, but no sweep; choose another -o", dir);
  return FOV_OK;
}

static FovStatus write_plan(const char *dir, const FovSweepPlan *plan) {
  char path[FOV_PATH_SIZE];
  FOV_TRY(fov_sweep_folder_check(dir, plan)); // another process may have been faster
  // The experiments are written first: a folder with a plan has all.
  for (int i = 0; i < plan->experiment_count; i++) {
    const FovSweepExperiment *experiment = &plan->experiments[i];
    fov_sweep_path(path, dir, experiment->file, NULL);
    FOV_TRY(fov_file_write(path, experiment->text, strlen(experiment->text)));
  }
  fov_sweep_path(path, dir, FOV_SWEEP_PLAN, NULL);
  return fov_file_write(path, plan->text, strlen(plan->text));
}

FovStatus fov_sweep_folder_open(const char *dir, const FovSweepPlan *plan) {
  char claims[FOV_PATH_SIZE];
  int lock;
  FOV_TRY(fov_sweep_folder_check(dir, plan));
  FOV_TRY(fov_make_folders(fov_sweep_path(claims, dir, FOV_SWEEP_CLAIMS, NULL)));
  FOV_TRY(fov_sweep_lock(&lock, dir));
  FovStatus status = write_plan(dir, plan);
  close(lock);
  return status;
}

/** Locks a file of the folder's claims; −1 if another process has it and `how` is LOCK_NB. */
static FovStatus claim_file(int *claim, const char *dir, const char *name, int how) {
  char path[FOV_PATH_SIZE];
  fov_sweep_path(path, dir, FOV_SWEEP_CLAIMS, name);
  FOV_TRY(fov_file_open_append(claim, path));
  if (TEMP_FAILURE_RETRY(flock(*claim, LOCK_EX | how)) == 0) return FOV_OK;
  int why = errno;
  close(*claim);
  *claim = -1;
  return why == EWOULDBLOCK ? FOV_OK
                            : fov_fail(FOV_ERR_IO, "%s: cannot lock: %s", path, strerror(why));
}

FovStatus fov_sweep_claim(int *claim, const char *dir, const char *name) {
  return claim_file(claim, dir, name, LOCK_NB);
}

FovStatus fov_sweep_lock(int *lock, const char *dir) {
  return claim_file(lock, dir, "folder", 0);
}

/* ---- a run's files ---- */

/** Reads the outcomes; false if they are missing, unreadable or of other weights than the best. */
static bool read_outcomes(FovOutcomes *outcomes, const FovSweepRun *run, const char *dir,
                          FovSplit split, int rollouts) {
  char path[FOV_PATH_SIZE], best[FOV_PATH_SIZE], name[FOV_OUTCOMES_NAME];
  bool differ;
  fov_sweep_path(path, dir, run->name, fov_outcomes_name(name, split, rollouts));
  fov_sweep_path(best, dir, run->name, FOV_RUN_BEST);
  *outcomes = (FovOutcomes){.cases = 0};
  if (fov_file_exists(path) && fov_outcomes_read(outcomes, path) == FOV_OK &&
      (fov_outcomes_differ(&differ, outcomes, best) != FOV_OK || !differ))
    return true;
  fov_outcomes_finish(outcomes);
  return false;
}

static void read_progress(FovSweepRun *run, const char *dir, int64_t episodes) {
  char path[FOV_PATH_SIZE];
  FovProgress *rows;
  size_t count;
  fov_sweep_path(path, dir, run->name, FOV_RUN_PROGRESS);
  if (!fov_file_exists(path) || fov_progress_read(&rows, &count, path) != FOV_OK) return;
  if (count > 0) {
    const FovProgress *last = &rows[count - 1];
    run->episodes = last->episodes;
    run->seconds = last->seconds;
    run->progress = fmin(1, (double)last->episodes / (double)episodes);
    if (run->state != FOV_SWEEP_FINISHED) run->valid_error = last->valid_error;
  }
  free(rows);
}

static bool read_divergence(FovSweepRun *run, const char *dir) {
  char path[FOV_PATH_SIZE], *text;
  size_t size;
  fov_sweep_path(path, dir, run->name, DIVERGED);
  if (!fov_file_exists(path) || fov_file_read(&text, &size, path, FOV_PATH_SIZE) != FOV_OK)
    return false;
  snprintf(run->reason, sizeof run->reason, "%.*s", (int)strcspn(text, "\n"), text);
  free(text);
  return true;
}

FovStatus fov_sweep_note_divergence(const FovSweepRun *run, const char *dir) {
  char path[FOV_PATH_SIZE], line[FOV_SWEEP_REASON + 1];
  int length = snprintf(line, sizeof line, "%.*s\n", FOV_SWEEP_REASON - 1, run->reason);
  return fov_file_write(fov_sweep_path(path, dir, run->name, DIVERGED), line, (size_t)length);
}

/** Reads the test errors, if there are any. */
static void read_tests(FovSweepRun *run, const char *dir, int rollouts) {
  FovOutcomes outcomes;
  if (read_outcomes(&outcomes, run, dir, FOV_SPLIT_TEST, 1)) {
    run->test_error = fov_outcomes_error(&outcomes);
    run->answer_error = outcomes.answer_error;
    run->alignment_error = outcomes.alignment_error;
  }
  fov_outcomes_finish(&outcomes);
  if (rollouts > 1 && read_outcomes(&outcomes, run, dir, FOV_SPLIT_TEST, rollouts)) {
    run->rollouts_error = fov_outcomes_error(&outcomes);
    fov_outcomes_finish(&outcomes);
  }
}

void fov_sweep_scan(FovSweepRun *run, const char *dir, int64_t episodes, int rollouts) {
  char path[FOV_PATH_SIZE];
  FovOutcomes outcomes;
  bool validated = read_outcomes(&outcomes, run, dir, FOV_SPLIT_VALID, 1);
  // fovea eval --save may have validated a run that has not ended.
  if (validated && fov_run_is_finished(fov_sweep_path(path, dir, run->name, NULL))) {
    if (run->state != FOV_SWEEP_FINISHED) *run->reason = '\0';
    run->state = FOV_SWEEP_FINISHED;
    run->valid_error = fov_outcomes_error(&outcomes);
    run->parameters = outcomes.parameters;
    run->mflop = outcomes.mflop;
    run->input_numbers = outcomes.input_numbers;
    run->input_pixels = outcomes.input_pixels;
  } else if (read_divergence(run, dir)) {
    run->state = FOV_SWEEP_DIVERGED;
  }
  fov_outcomes_finish(&outcomes);
  read_progress(run, dir, episodes);
  read_tests(run, dir, rollouts);
  if (fov_sweep_is_tested(run, rollouts)) *run->reason = '\0';
}

/* ---- results.csv ---- */

const char *const fov_sweep_states[] = {
    [FOV_SWEEP_WAITING] = "waiting",   [FOV_SWEEP_RUNNING] = "waiting",
    [FOV_SWEEP_PAUSED] = "stopped",    [FOV_SWEEP_FINISHED] = "finished",
    [FOV_SWEEP_DIVERGED] = "diverged", [FOV_SWEEP_FAILED] = "failed"};

static void print_run(FILE *stream, const FovSweepPlan *plan, const FovSweepRun *run) {
  char value[FOV_STRING_SIZE];
  fprintf(stream, "%s,%d", run->name, run->configuration);
  for (int k = 0; k < plan->key_count; k++) {
    fov_sweep_value(value, plan, k, run->configuration);
    putc(',', stream);
    fov_csv_print(stream, value);
  }
  if (plan->row_tasks) {
    putc(',', stream);
    fov_csv_print(stream, plan->row_tasks[fov_sweep_row(plan, run->configuration)]);
  }
  fprintf(stream, ",%lld,%s", (long long)run->seed, fov_sweep_states[run->state]);
  fov_csv_number(stream, "%.9g", run->valid_error);
  fov_csv_number(stream, "%.9g", run->test_error);
  if (plan->options.rollouts > 1) fov_csv_number(stream, "%.9g", run->rollouts_error);
  fprintf(stream, ",%lld,%.1f,%lld", (long long)run->episodes, run->seconds,
          (long long)run->parameters);
  fov_csv_number(stream, "%.6g", run->mflop);
  fov_csv_number(stream, "%.9g", run->input_numbers);
  fov_csv_number(stream, "%.9g", run->input_pixels);
  fov_csv_number(stream, "%.9g", run->answer_error);
  fov_csv_number(stream, "%.9g", run->alignment_error);
  putc(',', stream);
  fov_csv_print(stream, run->reason);
  putc('\n', stream);
}

FovStatus fov_sweep_write_results(const char *dir, const FovSweepPlan *plan,
                                  const FovSweepRun *runs, int count) {
  char path[FOV_PATH_SIZE];
  FovReplace file = {0};
  FOV_TRY(fov_replace_begin(&file, fov_sweep_path(path, dir, FOV_SWEEP_RESULTS, NULL)));
  fputs("run,configuration", file.stream);
  for (int k = 0; k < plan->key_count; k++) fprintf(file.stream, ",%s", fov_sweep_key(plan, k));
  if (plan->row_tasks) fputs(",task", file.stream);
  fputs(",seed,state,valid_error,test_error", file.stream);
  if (plan->options.rollouts > 1) fprintf(file.stream, ",test_error_%d", plan->options.rollouts);
  fputs(",episodes,seconds,parameters,mflop,input_numbers,input_pixels,answer_error,"
        "alignment_error,reason\n",
        file.stream);
  for (int i = 0; i < count; i++) print_run(file.stream, plan, &runs[i]);
  return fov_replace_commit(&file);
}
