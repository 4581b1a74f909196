/** Checks of several runs, before any of them is explained. */
#include <stdlib.h>
#include <string.h>

#include "cli/explain.h"
#include "record/provenance.h"

/** What distinguishes a run. */
typedef struct Identity {
  char path[FOV_PATH_SIZE]; // of its checkpoint
  FovProvenance weights;
  char *environment; // its settings, lines "key = value", owned
} Identity;

/** Keeps the lines of a configuration that are the environment's. */
static void keep_environment(char *config) {
  char *to = config;
  for (size_t length; *config; config += length) {
    length = strcspn(config, "\n");
    length += config[length] == '\n';
    if (strncmp(config, "env =", 5) != 0 && strncmp(config, "env.", 4) != 0) continue;
    memmove(to, config, length);
    to += length;
  }
  *to = '\0';
}

static FovStatus identify(Identity *identity, const char *run, const FovExplainCommand *command,
                          const char *const *words, int count) {
  FovTrained trained;
  FovStatus status = fov_explain_read(&trained, run, command, words, count);
  if (status == FOV_OK)
    status = fov_config_dump(&identity->environment, &trained.experiment.config);
  if (status == FOV_OK) {
    keep_environment(identity->environment);
    strcpy(identity->path, trained.path);
    status = fov_provenance_read(&identity->weights, trained.path);
  }
  fov_trained_finish(&trained);
  return status;
}

/** Fails unless both environments have the same settings, and names the first that differ. */
static FovStatus check_environment(const char *a_name, const char *a, const char *b_name,
                                   const char *b) {
  while (*a || *b) {
    size_t length = strcspn(a, "\n"), other = strcspn(b, "\n");
    if (length != other || strncmp(a, b, length) != 0)
      return fov_fail(FOV_ERR_USAGE, "%s, %s: not the same environment: %.*s and %.*s", a_name,
                      b_name, (int)length, a, (int)other, b);
    a += length + 1, b += length + 1;
  }
  return FOV_OK;
}

/** Agents of an older version have no digest. */
static bool is_same(const Identity *a, const Identity *b) {
  return strcmp(a->path, b->path) == 0 ||
         (a->weights.weights[0] && strcmp(a->weights.weights, b->weights.weights) == 0);
}

/** Compares the last run of the list with those before it. */
static FovStatus check_last(const Identity *list, const char *const *runs, int last) {
  for (int i = 0; i < last; i++)
    if (is_same(&list[i], &list[last]))
      return fov_fail(FOV_ERR_USAGE, "%s, %s: the same weights; name each run once", runs[i],
                      runs[last]);
  return check_environment(runs[0], list[0].environment, runs[last], list[last].environment);
}

FovStatus fov_explain_check_runs(const char *const *runs, int run_count,
                                 const FovExplainCommand *command, const char *const *words,
                                 int count) {
  Identity *list = calloc((size_t)run_count, sizeof *list);
  FovStatus status = list ? FOV_OK : fov_fail(FOV_ERR_MEMORY, "no memory for %d runs", run_count);
  for (int i = 0; i < run_count && status == FOV_OK; i++) {
    status = identify(&list[i], runs[i], command, words, count);
    if (status == FOV_OK) status = check_last(list, runs, i);
  }
  for (int i = 0; i < run_count && list; i++) free(list[i].environment);
  free(list);
  return status;
}
