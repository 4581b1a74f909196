#include "viz/viewer/explaining.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "viz/viewer/explained.h"

enum { MOST_METHODS = 16, RESULTS = 1 + MOST_METHODS };

/** A part of an episode that has been computed. */
typedef struct Result {
  struct Result *before;
  FovExplainedPart what;
  double scale;    // of a map
  float numbers[]; // of a map the picture at its glimpse
} Result;

/** What the thread works on. Only it uses these while `busy`. */
typedef struct Job {
  FovRecorded recorded;
  FovOpenedAgent agent;
  FovExplainedPart what;
  Result *result;
  FovStatus status;
  char message[512];
} Job;

struct FovExplaining {
  const FovDrawExplain *how;
  Job job;
  pthread_t thread;
  bool busy;              // there is a thread, which may be done
  atomic_bool stop, done; // for the thread; by the thread
  int episode;            // of these results; −1: none
  int64_t index;          // of its case; −1: not known yet
  Result *last;           // of those that are kept
  bool failed[RESULTS];   // the Jacobian, and maps of each method
};

static int place_of(int method) {
  return method - FOV_EXPLAINED_JACOBIAN;
}

static void drop_results(FovExplaining *e, int episode) {
  while (e->last) {
    Result *result = e->last;
    e->last = result->before;
    free(result);
  }
  memset(e->failed, 0, sizeof e->failed);
  e->episode = episode;
  e->index = -1;
}

/* ---- the thread ---- */

/** Keeps of a map the picture at its glimpse. room: for as many numbers. Returns what is left. */
static Result *keep_picture(Result *result, const FovRecorded *recorded, float *room) {
  size_t pixels = (size_t)recorded->height * recorded->width;
  result->scale = fov_explained_keep_picture(result->numbers, room, recorded, result->what.glimpse);
  Result *smaller = realloc(result, sizeof *result + pixels * sizeof(float));
  return smaller ? smaller : result;
}

static FovStatus compute(Job *job, const FovDrawExplain *how, const atomic_bool *stop) {
  FovRecorded *recorded = &job->recorded;
  size_t pixels = (size_t)recorded->height * recorded->width;
  size_t count = fov_explained_numbers(recorded, job->what);
  Result *result = malloc(sizeof *result + (count + pixels) * sizeof(float));
  job->result = result;
  if (!result) return fov_fail(FOV_ERR_MEMORY, "no memory for an explanation");
  result->what = job->what;
  FOV_TRY(fov_explained_make(result->numbers, &job->agent, recorded, how, job->what, stop));
  if (job->what.method != FOV_EXPLAINED_JACOBIAN)
    job->result = keep_picture(result, recorded, result->numbers + count);
  return FOV_OK;
}

static void *work(void *context) {
  FovExplaining *e = context;
  Job *job = &e->job;
  job->status = compute(job, e->how, &e->stop);
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
  e->index = e->job.recorded.index;
  fov_recorded_finish(&e->job.recorded);
}

/** Ends the thread as soon as it can, without its result. */
static void stop_thread(FovExplaining *e) {
  if (!e->busy) return;
  atomic_store(&e->stop, true);
  end_thread(e);
  free(e->job.result);
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
  end_thread(e);
  if (job->status == FOV_OK) {
    job->result->before = e->last;
    e->last = job->result;
    return FOV_OK;
  }
  free(job->result);
  e->failed[place_of(job->what.method)] = true;
  return fov_fail(job->status, "%s", job->message);
}

static const Result *find(const FovExplaining *e, int method, int glimpse) {
  const Result *result = e->last;
  while (result && (result->what.method != method || result->what.glimpse != glimpse))
    result = result->before;
  return result;
}

/** Finds what is missing; false: nothing. The Jacobian comes last, for it takes the most time. */
static bool find_missing(FovExplainedPart *missing, const FovExplaining *e,
                         const FovWanted *wanted) {
  int method = wanted->method;
  if (method != FOV_EXPLAINED_JACOBIAN) {
    bool shown = find(e, method, wanted->glimpse);
    *missing = (FovExplainedPart){method, shown ? wanted->next : wanted->glimpse};
    if (e->failed[place_of(method)]) return false;
    if (!shown || !find(e, method, wanted->next)) return true;
  }
  *missing = (FovExplainedPart){.method = FOV_EXPLAINED_JACOBIAN};
  return !e->failed[place_of(FOV_EXPLAINED_JACOBIAN)] && !find(e, FOV_EXPLAINED_JACOBIAN, 0);
}

/** Begins with a part of the wanted episode. */
static FovStatus begin(FovExplaining *e, FovExplainedPart what, const FovWanted *wanted) {
  Job *job = &e->job;
  job->what = what;
  FovStatus status =
      fov_recorded_copy(&job->recorded, wanted->opened, wanted->episode, wanted->picture);
  job->recorded.index = e->index;
  if (status == FOV_OK) {
    status = start_thread(e);
    if (status != FOV_OK) fov_recorded_finish(&job->recorded);
  }
  if (status != FOV_OK) e->failed[place_of(what.method)] = true;
  return status;
}

FovStatus fov_explaining_step(bool *changed, FovExplaining *e, const FovWanted *wanted) {
  FovExplainedPart missing;
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
  if (!find_missing(&missing, e, wanted)) return FOV_OK;
  // The map of another glimpse is kept: it is finished.
  if (e->busy && e->job.what.method != missing.method) stop_thread(e);
  return e->busy ? FOV_OK : begin(e, missing, wanted);
}

bool fov_explaining_is_done(const FovExplaining *e, const FovWanted *wanted) {
  FovExplainedPart missing;
  if (!wanted) return !e->busy;
  return !e->busy && e->episode == wanted->episode && !find_missing(&missing, e, wanted);
}

FovExplanation fov_explaining_get(const FovExplaining *e, const FovWanted *wanted) {
  bool maps = wanted->method != FOV_EXPLAINED_JACOBIAN;
  FovExplanation explanation = {.method = fov_explained_name(e->how, wanted->method),
                                .pending = true};
  if (e->episode != wanted->episode) return explanation;
  const Result *map = maps ? find(e, wanted->method, wanted->glimpse) : NULL;
  const Result *jacobian = find(e, FOV_EXPLAINED_JACOBIAN, 0);
  FovWanted shown = *wanted;
  FovExplainedPart missing;
  shown.next = shown.glimpse;
  explanation.pending = find_missing(&missing, e, &shown);
  if (map) explanation.map = map->numbers, explanation.scale = map->scale;
  if (jacobian) explanation.jacobian = jacobian->numbers;
  return explanation;
}

int fov_explaining_next(FovExplaining *e, int method, const char *run) {
  stop_thread(e);
  const FovOpenedAgent *agent = &e->job.agent;
  bool loaded = agent->run && strcmp(agent->run, run) == 0;
  for (int tried = 0; tried < MOST_METHODS; tried++) {
    method++;
    if (method >= MOST_METHODS || !e->how->method(method)) method = 0;
    if (!loaded || e->how->check(&agent->trained.task, method) == FOV_OK) break;
  }
  return method;
}
