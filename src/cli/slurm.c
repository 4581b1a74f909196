#include "cli/slurm.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/text.h"
#include "cli/print.h"
#include "cli/program.h"

/** Tasks of an array, unless the user sets them: of more, most would only wait in the queue. */
enum { MOST_TASKS = 64 };

/* ---- submitting ---- */

static int choose_tasks(int left, int jobs) {
  int tasks = (left + jobs - 1) / jobs;
  return tasks < MOST_TASKS ? tasks : MOST_TASKS;
}

/** Cuts the last line of sbatch --parsable, "12" or "12;cluster", after the number. */
static FovStatus read_number(char job[FOV_PROGRAM_LINE]) {
  size_t digits = strspn(job, "0123456789");
  if (digits == 0 || (job[digits] && job[digits] != ';'))
    return fov_fail(FOV_ERR_FORMAT,
                    "sbatch succeeded, but printed '%.200s' instead of the number of a job; squeue "
                    "shows whether it was submitted",
                    job);
  job[digits] = '\0';
  return FOV_OK;
}

/** Adds to the error how to go on with a sweep whose folder has been written. */
static FovStatus name_continuation(const FovSweep *sweep, FovStatus status, const char *what) {
  char reason[FOV_PROGRAM_LINE + 128], command[FOV_PATH_SIZE];
  snprintf(reason, sizeof reason, "%s", fov_error_message());
  fov_sweep_continuation(command, sizeof command, sweep);
  return fov_fail(status, "%s: %s; continue with: %s --slurm, and its options", what, reason,
                  command);
}

static FovStatus submit(FovSweep *sweep, const FovSlurmArray *array, const FovSlurmScript *script) {
  char job[FOV_PROGRAM_LINE], line[FOV_PROGRAM_LINE + 64];
  FOV_TRY(fov_sweep_write(sweep));
  FOV_TRY(fov_make_folders(script->folder)); // Slurm does not create it
  FOV_TRY(fov_file_write(script->path, script->text, strlen(script->text)));
  FovStatus status = fov_program_run(job, script->command);
  if (status != FOV_OK) return name_continuation(sweep, status, "not submitted");
  FOV_TRY(read_number(job));
  snprintf(line, sizeof line, "submitted job %s of Slurm", job);
  FOV_TRY(fov_sweep_log(sweep, line));
  fov_print(stdout, "%s: %d task%s\n", line, array->tasks, fov_plural(array->tasks));
  fov_print(stdout, "its tasks: squeue --job %s\n", job);
  fov_print(stdout, "every run: %s/results.csv\n", array->dir);
  return FOV_OK;
}

FovStatus fov_slurm_submit(FovSlurmArray *array, FovSweep *sweep, bool dry_run) {
  int left;
  FovSlurmScript script;
  FOV_TRY(fov_sweep_left(&left, sweep));
  if (left == 0) return fov_print(stdout, "%s: nothing is left to do\n", array->dir), FOV_OK;
  if (array->tasks == 0) array->tasks = choose_tasks(left, array->jobs);
  FovStatus status = fov_slurm_script_make(&script, array);
  if (status == FOV_OK && dry_run)
    fov_print_text(stdout, script.text);
  else if (status == FOV_OK)
    status = submit(sweep, array, &script);
  fov_slurm_script_finish(&script);
  return status;
}

/* ---- in a job ---- */

FovStatus fov_slurm_name(char name[FOV_SLURM_NAME]) {
  const char *array = getenv("SLURM_ARRAY_JOB_ID"), *task = getenv("SLURM_ARRAY_TASK_ID");
  const char *job = getenv("SLURM_JOB_ID");
  if (array && task)
    snprintf(name, FOV_SLURM_NAME, "%.60s_%.60s", array, task);
  else if (job)
    snprintf(name, FOV_SLURM_NAME, "%.120s", job);
  else
    return fov_fail(FOV_ERR_USAGE, "--requeue: expected a job of Slurm, found no SLURM_JOB_ID; "
                                   "use it in a script for sbatch");
  return FOV_OK;
}

static FovStatus requeue(const FovSweep *sweep, const char *job) {
  char line[FOV_PROGRAM_LINE];
  FovStatus status = fov_program_run(line, (const char *const[]){"scontrol", "requeue", job, NULL});
  if (status == FOV_OK) return fov_fail(FOV_ERR_INTERRUPT, "saved; requeued as job %s", job);
  return name_continuation(sweep, status, "saved, not requeued");
}

FovStatus fov_slurm_requeue(const FovSweep *sweep, const char *job) {
  FovStatus status = requeue(sweep, job);
  FOV_TRY(fov_sweep_log(sweep, fov_error_message()));
  return status;
}
