#include "experiment/sweep/halving.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/file.h"
#include "experiment/sweep/folder.h"

enum { FACTOR = 3, LEVELS = FOV_HALVING_RUNGS + 1, JOURNAL_LIMIT = 64 << 20 };

/** What the journal has of a run. */
typedef struct Standing {
  int target;            // the rung that it was last sent to; −1: not started
  bool ended[LEVELS];    // it has reached the rung, or failed on the way
  double errors[LEVELS]; // NaN: it failed
  int order[LEVELS];     // of the result among all lines
} Standing;

struct FovHalving {
  const char *dir;
  const FovSweepRun *runs;
  int count, rungs;
  Standing *standings; // [count]
  int *best;           // [count], for sorting
  int journal;         // descriptor, locked while a decision is made
  int lines;           // read so far
  bool begun;          // this process has made a decision
};

FovStatus fov_halving_create(FovHalving **halving, const char *dir, const FovSweepRun *runs,
                             int count, int times) {
  FovHalving *h = *halving = calloc(1, sizeof *h);
  if (!h) return fov_fail(FOV_ERR_MEMORY, "no memory for a sweep");
  *h = (FovHalving){.dir = dir, .runs = runs, .count = count, .journal = -1};
  for (; h->rungs < FOV_HALVING_RUNGS && times >= FACTOR; times /= FACTOR) h->rungs++;
  h->standings = calloc((size_t)count, sizeof *h->standings);
  h->best = calloc((size_t)count, sizeof *h->best);
  return h->standings && h->best ? FOV_OK : fov_fail(FOV_ERR_MEMORY, "no memory for a sweep");
}

void fov_halving_destroy(FovHalving *halving) {
  if (!halving) return;
  free(halving->standings);
  free(halving->best);
  free(halving);
}

/* ---- the journal ---- */

static int find_run(const FovHalving *h, const char *name) {
  for (int i = 0; i < h->count; i++)
    if (strcmp(h->runs[i].name, name) == 0) return i;
  return -1;
}

/** Takes a line "start|result|fail,RUN,RUNG,ERROR"; false if it is none. */
static bool take_line(FovHalving *h, const char *line) {
  char event[16], name[FOV_SWEEP_NAME];
  int rung, run;
  double error = NAN;
  if (sscanf(line, "%15[a-z],%63[^,],%d,%lf", event, name, &rung, &error) < 3) return false;
  if ((run = find_run(h, name)) < 0 || rung < 0 || rung > h->rungs) return false;
  Standing *s = &h->standings[run];
  h->lines++;
  if (strcmp(event, "start") == 0) {
    s->target = rung;
    s->ended[rung] = false;
    return true;
  }
  s->ended[rung] = true;
  s->errors[rung] = strcmp(event, "result") == 0 ? error : NAN;
  s->order[rung] = h->lines;
  return strcmp(event, "result") == 0 || strcmp(event, "fail") == 0;
}

/** Reads the whole journal; a last line without its end was cut off by a kill and does not count,
 * and what is appended begins after it. */
static FovStatus read_journal(FovHalving *h, const char *path) {
  char *text;
  size_t size;
  FOV_TRY(fov_file_read(&text, &size, path, JOURNAL_LIMIT));
  size_t used = strlen(text); // a power cut may leave zeros after the last line
  if (memchr(text + used, '\n', size - used)) {
    free(text);
    return fov_fail(FOV_ERR_FORMAT, "%s: expected lines of text, found a zero byte", path);
  }
  for (int i = 0; i < h->count; i++) h->standings[i] = (Standing){.target = -1};
  h->lines = 0;
  FovStatus status = FOV_OK;
  char *line = text, *end;
  for (; status == FOV_OK && (end = strchr(line, '\n')); line = end + 1) {
    *end = '\0';
    if (!take_line(h, line))
      status = fov_fail(FOV_ERR_FORMAT, "%s: '%.80s' is no line of this sweep", path, line);
  }
  if (status == FOV_OK && line < text + size && ftruncate(h->journal, line - text) != 0)
    status = fov_fail(FOV_ERR_IO, "%s: cannot write: %s", path, strerror(errno));
  free(text);
  return status;
}

/** Locks the journal, waiting for other processes, and reads it. */
static FovStatus lock(FovHalving *h) {
  char path[FOV_PATH_SIZE];
  fov_sweep_path(path, h->dir, FOV_SWEEP_JOURNAL, NULL);
  FOV_TRY(fov_file_open_append(&h->journal, path));
  while (flock(h->journal, LOCK_EX) != 0)
    if (errno != EINTR) return fov_fail(FOV_ERR_IO, "%s: cannot lock: %s", path, strerror(errno));
  return read_journal(h, path);
}

static void unlock(FovHalving *h) {
  if (h->journal >= 0) close(h->journal);
  h->journal = -1;
}

static FovStatus append(FovHalving *h, const char *event, int run, int rung, double error) {
  char line[256];
  int length = snprintf(line, sizeof line, "%s,%s,%d,", event, h->runs[run].name, rung);
  if (isfinite(error))
    length += snprintf(line + length, sizeof line - (size_t)length, "%.9g", error);
  line[length++] = '\n';
  line[length] = '\0';
  if (!fov_write_all(h->journal, line, (size_t)length) || fsync(h->journal) != 0)
    return fov_fail(FOV_ERR_IO, "%s/%s: cannot write: %s", h->dir, FOV_SWEEP_JOURNAL,
                    strerror(errno));
  line[length - 1] = '\0';
  return take_line(h, line) ? FOV_OK
                            : fov_fail(FOV_ERR_FORMAT, "%s/%s: '%.80s' is no line of this sweep",
                                       h->dir, FOV_SWEEP_JOURNAL, line);
}

/* ---- decisions ---- */

/** Share of the training up to a rung. */
static double share_of(const FovHalving *h, int rung) {
  return pow(FACTOR, rung - h->rungs);
}

/** Puts the runs with a result at the rung into h->best, the best first, earlier ones before later;
 * returns how many they are. */
static int sort_rung(FovHalving *h, int rung) {
  int count = 0;
  for (int i = 0; i < h->count; i++) {
    const Standing *s = &h->standings[i];
    if (!s->ended[rung] || isnan(s->errors[rung])) continue;
    int at = count++;
    for (; at > 0; at--) {
      const Standing *before = &h->standings[h->best[at - 1]];
      if (before->errors[rung] < s->errors[rung] ||
          (before->errors[rung] == s->errors[rung] && before->order[rung] < s->order[rung]))
        break;
      h->best[at] = h->best[at - 1];
    }
    h->best[at] = i;
  }
  return count;
}

/** The first of the best `count` of the sorted rung that stayed there; −1: none. */
static int first_waiting(const FovHalving *h, int rung, int count) {
  for (int i = 0; i < count; i++)
    if (h->standings[h->best[i]].target == rung) return h->best[i];
  return -1;
}

/** A run that may go on from its rung. */
static int promotable(FovHalving *h) {
  for (int rung = h->rungs - 1; rung >= 0; rung--) {
    int count = sort_rung(h, rung), run = first_waiting(h, rung, count / FACTOR);
    if (run >= 0) return run;
  }
  return -1;
}

/** The best run that waits at the highest rung where one does, unless a run has reached the end. */
static int best_waiting(FovHalving *h) {
  if (sort_rung(h, h->rungs) > 0) return -1;
  for (int rung = h->rungs - 1; rung >= 0; rung--) {
    int count = sort_rung(h, rung), run = first_waiting(h, rung, count);
    if (run >= 0) return run;
  }
  return -1;
}

static bool is_under_way(const Standing *s) {
  return s->target >= 0 && !s->ended[s->target];
}

/** Claims a run that a process left that was killed; counts those that others work on. */
static FovStatus claim_left(int *run, int *claim, int *elsewhere, const FovHalving *h) {
  *run = -1;
  *elsewhere = 0;
  for (int i = 0; i < h->count && *run < 0; i++) {
    if (!is_under_way(&h->standings[i])) continue;
    FOV_TRY(fov_sweep_claim(claim, h->dir, h->runs[i].name));
    if (*claim >= 0)
      *run = i;
    else
      ++*elsewhere;
  }
  return FOV_OK;
}

static int unstarted(const FovHalving *h) {
  for (int i = 0; i < h->count; i++)
    if (h->standings[i].target < 0) return i;
  return -1;
}

/** Sends a run to its next rung. It is free: whoever starts or ends a run holds the journal. */
static FovStatus send(int *run, int *claim, FovHalving *h, int chosen) {
  FOV_TRY(fov_sweep_claim(claim, h->dir, h->runs[chosen].name));
  if (*claim < 0) return FOV_OK;
  FovStatus status = append(h, "start", chosen, h->standings[chosen].target + 1, NAN);
  if (status == FOV_OK)
    *run = chosen;
  else
    close(*claim);
  return status;
}

/** The run to send on, if `elsewhere` runs are under way; −1: none now. */
static int choose(FovHalving *h, int elsewhere) {
  int chosen = promotable(h);
  if (chosen < 0) chosen = unstarted(h);
  return chosen < 0 && elsewhere == 0 ? best_waiting(h) : chosen;
}

static bool has_failed(const Standing *s) {
  return s->target >= 0 && s->ended[s->target] && isnan(s->errors[s->target]);
}

/** Whether a start tries it again: it has failed, and has not diverged. */
static bool may_try(const FovHalving *h, int i) {
  return has_failed(&h->standings[i]) && h->runs[i].state != FOV_SWEEP_DIVERGED;
}

/** Sends those that failed before this process began on their way again. */
static FovStatus send_failed(FovHalving *h) {
  for (int i = 0; i < h->count; i++)
    if (may_try(h, i)) FOV_TRY(append(h, "start", i, h->standings[i].target, NAN));
  h->begun = true;
  return FOV_OK;
}

static FovStatus decide(int *run, int *claim, FovHalving *h) {
  int elsewhere;
  if (!h->begun) FOV_TRY(send_failed(h));
  FOV_TRY(claim_left(run, claim, &elsewhere, h));
  if (*run >= 0) return FOV_OK;
  int chosen = choose(h, elsewhere);
  return chosen < 0 ? FOV_OK : send(run, claim, h, chosen);
}

FovStatus fov_halving_next(int *run, int *claim, double *until, FovHalving *halving) {
  *run = -1;
  FovStatus status = lock(halving);
  if (status == FOV_OK) status = decide(run, claim, halving);
  if (status == FOV_OK && *run >= 0) *until = share_of(halving, halving->standings[*run].target);
  unlock(halving);
  return status;
}

FovStatus fov_halving_end(FovHalving *halving, int run, int *claim, double valid_error) {
  FovStatus status = lock(halving);
  const Standing *s = &halving->standings[run];
  if (status == FOV_OK && is_under_way(s))
    status =
        append(halving, isfinite(valid_error) ? "result" : "fail", run, s->target, valid_error);
  close(*claim);
  *claim = -1;
  unlock(halving);
  return status;
}

FovStatus fov_halving_is_over(bool *over, FovHalving *halving) {
  char path[FOV_PATH_SIZE];
  int under_way = 0;
  *over = false;
  if (!fov_file_exists(fov_sweep_path(path, halving->dir, FOV_SWEEP_JOURNAL, NULL))) return FOV_OK;
  FovStatus status = lock(halving);
  for (int i = 0; i < halving->count; i++)
    under_way += is_under_way(&halving->standings[i]) || (!halving->begun && may_try(halving, i));
  *over = status == FOV_OK && under_way == 0 && choose(halving, 0) < 0;
  unlock(halving);
  return status;
}

bool fov_halving_is_paused(const FovHalving *halving, int run) {
  const Standing *s = &halving->standings[run];
  return s->target >= 0 && s->target < halving->rungs && s->ended[s->target] && !has_failed(s);
}

bool fov_halving_has_failed(const FovHalving *halving, int run) {
  return has_failed(&halving->standings[run]);
}
