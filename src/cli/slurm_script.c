#include "cli/slurm_script.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "base/version.h"

/** Seconds before the time limit: runs are saved after an update or an evaluation. */
enum { WARNING = 90 };

/** Memory is measured for the first configuration of each row only, so more is requested: a factor,
 * and bytes for what a process needs besides. */
static const double MORE = 1.5, BESIDES = 256 << 20;

/* ---- words ---- */

/** Fails on text that a line of a script cannot hold. */
static FovStatus check_text(const char *text, const char *what) {
  for (const char *c = text; *c; c++)
    if (iscntrl((unsigned char)*c))
      return fov_fail(FOV_ERR_USAGE, "--slurm: %s has a control character: '%.200s'", what, text);
  return FOV_OK;
}

static FovStatus check(const FovSlurmArray *array) {
  FOV_TRY(check_text(array->dir, "the folder"));
  // In a file name a backslash switches sbatch's patterns off.
  if (strchr(array->dir, '\\'))
    return fov_fail(FOV_ERR_USAGE, "--slurm: the folder has a backslash: '%.200s'", array->dir);
  for (int i = 0; i < array->option_count; i++)
    FOV_TRY(check_text(array->options[i], "an option of sbatch"));
  // sbatch would take it for the script.
  if (array->option_count > 0 && array->options[0][0] != '-')
    return fov_fail(FOV_ERR_USAGE, "--slurm: expected options of sbatch after --, found '%.200s'",
                    array->options[0]);
  return FOV_OK;
}

/* ---- directives, whose words sbatch reads as a shell does ---- */

/** The last name in the path of the folder. */
static void write_name(FILE *stream, const char *dir) {
  char name[FOV_PATH_SIZE];
  size_t end = strlen(dir);
  while (end > 1 && dir[end - 1] == '/') end--;
  size_t start = end;
  while (start > 0 && dir[start - 1] != '/') start--;
  snprintf(name, sizeof name, "--job-name=%.*s", (int)(end - start), dir + start);
  fov_text_put_word(stream, name);
}

/** The file of a task's output, as a pattern: "%A" is the number of the array, "%a" of the task,
 * "%%" stands for "%". */
static void write_output(FILE *stream, const char *folder) {
  char pattern[2 * FOV_PATH_SIZE + 64] = "--output=";
  size_t at = strlen(pattern);
  for (; *folder; folder++) {
    if (*folder == '%') pattern[at++] = '%';
    pattern[at++] = *folder;
  }
  snprintf(pattern + at, sizeof pattern - at, "/%%A_%%a.txt");
  fov_text_put_word(stream, pattern);
}

static void write_directives(FILE *stream, const FovSlurmScript *script,
                             const FovSlurmArray *array) {
  fputs("#SBATCH ", stream);
  write_name(stream, array->dir);
  fprintf(stream,
          "\n#SBATCH --array=0-%d\n"
          "#SBATCH --nodes=1 --ntasks=1 --cpus-per-task=%d --mem=%.0fM\n"
          "#SBATCH --open-mode=append ",
          array->tasks - 1, array->jobs * array->threads,
          ceil((MORE * array->bytes + BESIDES) / (1 << 20)));
  write_output(stream, script->folder);
  fprintf(stream, "\n#SBATCH --requeue --signal=B:USR1@%d\n", WARNING);
}

/* ---- the script ---- */

static void write_script(FILE *stream, const FovSlurmScript *script, const FovSlurmArray *array,
                         const char *program) {
  fprintf(stream, "#!/bin/sh\n# Written by fovea %s; submitted with:", fov_version);
  for (const char **word = script->command; *word; word++)
    putc(' ', stream), fov_text_put_word(stream, *word);
  putc('\n', stream);
  write_directives(stream, script, array);
  fputs("# With exec the signal reaches fovea, which saves all runs and requeues the task.\nexec ",
        stream);
  fov_text_put_word(stream, program);
  fputs(" sweep --output=", stream);
  fov_text_put_word(stream, array->dir);
  if (array->rows) fputs(" --rows ", stream), fov_text_put_word(stream, array->rows);
  fprintf(stream, " --jobs %d --threads %d%s --requeue\n", array->jobs, array->threads,
          array->test ? " --test" : "");
}

static FovStatus make_command(FovSlurmScript *script, const FovSlurmArray *array) {
  const char **word = script->command = calloc((size_t)array->option_count + 4, sizeof *word);
  if (!word) return fov_fail(FOV_ERR_MEMORY, "no memory for the arguments of sbatch");
  *word++ = "sbatch";
  *word++ = "--parsable";
  for (int i = 0; i < array->option_count; i++) *word++ = array->options[i];
  *word = script->path;
  return FOV_OK;
}

/** The path of this program, which another machine has, too. */
static FovStatus find_program(char program[FOV_PATH_SIZE]) {
  static const char self[] = "/proc/self/exe";
  ssize_t length = readlink(self, program, FOV_PATH_SIZE - 1);
  if (length < 0) return fov_fail(FOV_ERR_IO, "%s: cannot read: %s", self, strerror(errno));
  program[length] = '\0';
  return check_text(program, "the path of fovea");
}

FovStatus fov_slurm_script_make(FovSlurmScript *script, const FovSlurmArray *array) {
  char program[FOV_PATH_SIZE];
  size_t size;
  *script = (FovSlurmScript){.text = NULL};
  snprintf(script->path, sizeof script->path, "%s/slurm.sh", array->dir);
  snprintf(script->folder, sizeof script->folder, "%s/slurm", array->dir);
  FOV_TRY(check(array));
  FOV_TRY(find_program(program));
  FOV_TRY(make_command(script, array));
  FILE *stream = open_memstream(&script->text, &size);
  if (stream) write_script(stream, script, array, program);
  if (fov_text_close(&script->text, stream)) return FOV_OK;
  return fov_fail(FOV_ERR_MEMORY, "no memory for a batch script");
}

void fov_slurm_script_finish(FovSlurmScript *script) {
  free(script->text);
  free(script->command);
}
