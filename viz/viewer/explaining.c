#include "viz/viewer/explaining.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "viz/viewer/explained.h"

enum { MOST_METHODS = 16, RESULTS = 1 + MOST_METHODS, NONE = -2 };

/** Something of an episode: the Jacobian, or a method's map. */
typedef struct Result {
  float *numbers; // NULL: none yet
  double scale;   // of a map
  bool failed;
} Result;

/** What the thread works on. Only it uses these while `busy`. */
typedef struct Job {
  FovRecorded recorded;
  FovOpenedAgent agent;
  int what;
  Result result;
  FovStatus status;
  char message[512];
} Job;

struct FovExplaining {
  const FovDrawExplain *how;
  Job job;
  pthread_t thread;
  bool busy;              // there is a thread, which may be done
  atomic_bool stop, done; // for the thread; by the thread
  int episode;            // whose results these are; −1: nobody's
  int64_t index;          // of its case; −1: not known yet
  Result results[RESULTS];
};

static int place_of(int what) {
  return what - FOV_EXPLAINED_JACOBIAN;
}

static void drop_results(FovExplaining *e, int episode) {
  for (int i = 0; i < RESULTS; i++) free(e->results[i].numbers);
  memset(e->results, 0, sizeof e->results);
  e->episode = episode;
  e->index = -1;
}

/* ---- the thread ---- */

static FovStatus compute(Result *result, FovExplaining *e) {
  Job *job = &e->job;
  size_t count = fov_explained_numbers(&job->recorded, job->what);
  result->numbers = malloc(2 * count * sizeof *result->numbers); // with room for the scale
  if (!result->numbers) return fov_fail(FOV_ERR_MEMORY, "no memory for an explanation");
  FOV_TRY(fov_explained_make(result->numbers, &job->agent, &job->recorded, e->how, job->what,
                             &e->stop));
  if (job->what != FOV_EXPLAINED_JACOBIAN)
    result->scale = fov_map_scale(result->numbers, result->numbers + count, count);
  return FOV_OK;
}

static void *work(void *context) {
  FovExplaining *e = context;
  Job *job = &e->job;
  job->result = (Result){0};
  job->status = compute(&job->result, e);
  snprintf(job->message, sizeof job->message, "%s", fov_error_message());
  atomic_store(&e->done, true);
  return NULL;
}

/** The thread takes no signals: they are for the one that shows the window. */
static FovStatus start_thread(FovExplaining *e) {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  atomic_store(&e->stop, false);
  atomic_store(&e->done, false);
  e->busy = pthread_create(&e->thread, NULL, work, e) == 0;
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  return e->busy ? FOV_OK : fov_fail(FOV_ERR_MEMORY, "no thread for an explanation");
}

/** Waits for the thread. */
static void end_thread(FovExplaining *e) {
  if (!e->busy) return;
  pthread_join(e->thread, NULL);
  e->busy = false;
  fov_recorded_finish(&e->job.recorded);
}

/** Ends the thread as soon as it can, without its result. */
static void stop_thread(FovExplaining *e) {
  if (!e->busy) return;
  atomic_store(&e->stop, true);
  end_thread(e);
  free(e->job.result.numbers);
}

/* ---- the results ---- */

FovExplaining *fov_explaining_create(const FovDrawExplain *how) {
  FovExplaining *e = how ? calloc(1, sizeof *e) : NULL;
  if (!e) return NULL;
  e->how = how;
  e->episode = -1;
  return e;
}

void fov_explaining_destroy(FovExplaining *e) {
  if (!e) return;
  fov_explaining_forget(e);
  fov_opened_agent_finish(&e->job.agent);
  free(e);
}

void fov_explaining_forget(FovExplaining *e) {
  if (!e) return;
  stop_thread(e);
  drop_results(e, -1);
}

/** Keeps what the thread has made. */
static FovStatus take_result(FovExplaining *e) {
  Job *job = &e->job;
  e->index = job->recorded.index;
  end_thread(e);
  Result *result = &e->results[place_of(job->what)];
  if (job->status == FOV_OK) {
    *result = job->result;
    return FOV_OK;
  }
  free(job->result.numbers);
  result->failed = true;
  return fov_fail(job->status, "%s", job->message);
}

/** What is missing; NONE: nothing. The Jacobian comes last, for it takes the most time. */
static int find_missing(const FovExplaining *e, const FovWanted *wanted) {
  const Result *map = &e->results[place_of(wanted->method)];
  const Result *jacobian = &e->results[place_of(FOV_EXPLAINED_JACOBIAN)];
  if (!map->numbers && !map->failed) return wanted->method;
  return map->numbers && !jacobian->numbers && !jacobian->failed ? FOV_EXPLAINED_JACOBIAN : NONE;
}

FovStatus fov_explaining_step(bool *changed, FovExplaining *e, const FovWanted *wanted) {
  *changed = false;
  if (!wanted) {
    stop_thread(e);
    return FOV_OK;
  }
  if (e->episode != wanted->episode) {
    stop_thread(e);
    drop_results(e, wanted->episode);
  }
  if (e->busy && atomic_load(&e->done)) {
    *changed = true;
    FOV_TRY(take_result(e));
  }
  int missing = find_missing(e, wanted);
  if (e->busy && e->job.what != missing) stop_thread(e);
  if (e->busy || missing == NONE) return FOV_OK;
  e->job.what = missing;
  FovStatus status =
      fov_recorded_copy(&e->job.recorded, wanted->opened, wanted->episode, wanted->picture);
  e->job.recorded.index = e->index;
  if (status == FOV_OK) status = start_thread(e);
  if (status != FOV_OK) e->results[place_of(missing)].failed = true;
  return status;
}

bool fov_explaining_has(const FovExplaining *e, int episode) {
  return e->episode == episode;
}

bool fov_explaining_is_done(const FovExplaining *e, const FovWanted *wanted) {
  if (!wanted) return !e->busy;
  return !e->busy && e->episode == wanted->episode && find_missing(e, wanted) == NONE;
}

FovExplanation fov_explaining_get(const FovExplaining *e, int episode, int method) {
  const Result *map = &e->results[place_of(method)];
  bool maps = method != FOV_EXPLAINED_JACOBIAN;
  FovExplanation explanation = {.method = maps ? e->how->method(method) : "sequential Jacobian",
                                .pending = e->busy};
  if (e->episode != episode) return explanation;
  explanation.map = maps ? map->numbers : NULL;
  explanation.scale = map->scale;
  explanation.jacobian = e->results[place_of(FOV_EXPLAINED_JACOBIAN)].numbers;
  return explanation;
}

int fov_explaining_next(FovExplaining *e, int method) {
  stop_thread(e);
  do {
    method++;
    if (method >= MOST_METHODS || !e->how->method(method)) method = 0;
  } while (e->job.agent.run && e->how->check(&e->job.agent.trained.task, method) != FOV_OK);
  return method;
}
