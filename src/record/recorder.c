#include "record/recorder.h"

#include <stdio.h>

#include "base/team.h"

enum { NUMBERS = 10 }; // of a glimpse, beside the probabilities: places, policy, reward, answer

/** Copies row i of a var; nothing of NULL. */
static void copy_row(float *to, const FovVar *var, int i) {
  for (int j = 0; var && j < var->cols; j++) to[j] = (float)var->value[(size_t)i * var->stride + j];
}

static void copy_retina(uint8_t *to, const FovVar *rho, int i) {
  for (int j = 0; j < rho->cols; j++)
    to[j] = (uint8_t)(255 * fmin(1, (double)rho->value[(size_t)i * rho->stride + j]) + 0.5);
}

static void copy_probabilities(float *to, const real *log_p, int actions) {
  for (int a = 0; a < actions; a++) to[a] = (float)fmin(1, exp(log_p[a]));
}

static void copy_frame(FovTrace *trace, const uint8_t *image, int episode, int t) {
  size_t pixels = (size_t)trace->height * trace->width * trace->channels;
  size_t frame = (size_t)episode * trace->frames + (trace->frames > 1 ? t : 0);
  memcpy(trace->images + frame * pixels, image, pixels);
}

/** What lane i saw and did at a step: glimpse t of the trace. */
static void copy_glimpse(FovTrace *trace, const FovTimeStep *step, const real *log_p, real reward,
                         int episode, int t, int i) {
  size_t at = (size_t)episode * trace->glimpses + t;
  copy_row(trace->locations + 2 * at, step->location, i);
  copy_retina(trace->retina + at * step->rho->cols, step->rho, i);
  copy_probabilities(trace->probabilities + at * trace->actions, log_p, trace->actions);
  copy_frame(trace, step->frames[i], episode, t);
  trace->rewards[at] = (float)reward;
  trace->labels[at] = step->labels[i];
  trace->answers[at] = step->actions[i];
}

/** What lane i chose and expected of its next glimpse, t of the trace. */
static void copy_choice(FovTrace *trace, const FovTimeStep *step, const FovChoice *choice,
                        int episode, int t, int i) {
  size_t at = (size_t)episode * trace->glimpses + t;
  if (!(step->events[i] & FOV_EVENT_LOOK)) return;
  copy_row(trace->means + 2 * at, step->mean, i);
  copy_row(trace->baselines + at, step->baseline, i);
  for (int j = 0; step->mean && j < 2; j++)
    trace->sigmas[2 * at + j] = choice->deterministic ? 0 : (float)choice->sigma[j];
}

/** Copies a rollout's lanes into the trace's episodes from `first` on. */
static void copy_rollout(FovTrace *trace, const FovRollout *rollout, const FovChoice *choice,
                         FovArena *arena, int first) {
  int B = rollout->lanes;
  for (int t = 0; t < rollout->time_steps; t++) {
    FovTimeStep *step = &rollout->at[t];
    const real *log_p = fov_step_log_p(step, arena);
    for (int i = 0; i < step->count; i++) {
      int b = step->lanes[i], episode = first + b;
      if (t > 0)
        copy_glimpse(trace, step, log_p + (size_t)i * trace->actions, rollout->rewards[t * B + b],
                     episode, t - 1, i);
      copy_choice(trace, step, choice, episode, t, i);
    }
  }
  for (int b = 0; b < B; b++) {
    trace->lengths[first + b] = rollout->glimpses[b];
    trace->wrong[first + b] = rollout->wrong[b];
  }
}

static double frames_bytes(const FovTask *task) {
  const FovEnvSpec *spec = &task->env->spec;
  double frames = spec->changes ? fov_task_glimpses(task) : 1;
  return frames * (double)fov_observation_bytes(&spec->observation);
}

static double episode_bytes(const FovTask *task) {
  double numbers = (NUMBERS + (double)task->env->spec.actions) * sizeof(float);
  double glimpse = numbers + fov_glimpse_features(task->agent->glimpse);
  return frames_bytes(task) + fov_task_glimpses(task) * glimpse;
}

static int episodes_of(const FovRecordRequest *what) {
  int64_t cases = what->task->env->spec.cases;
  double fit = what->room > 0 ? what->room / episode_bytes(what->task) : (double)cases;
  int episodes = what->episodes < cases ? what->episodes : (int)cases;
  return fit >= episodes ? episodes : fit > 1 ? (int)fit : 1;
}

FovStatus fov_record_check(const FovRecordRequest *what) {
  int episodes = episodes_of(what), lanes = episodes < FOV_SHARD ? episodes : FOV_SHARD;
  // A game's frames are kept twice: by the rollout, then in the trace.
  double kept = what->task->env->spec.changes ? lanes * frames_bytes(what->task) : 0;
  char name[80];
  snprintf(name, sizeof name, "a trace of %d episodes (eval.episodes, --episodes)", episodes);
  return fov_memory_check(fov_shard_bytes(what->task) + kept + episodes * episode_bytes(what->task),
                          name);
}

/** A recording under way. */
typedef struct Recording {
  const FovRecordRequest *what;
  FovTrace *trace;
  FovArena *arena;
} Recording;

static void record_shard(void *context, int shard, int worker) {
  (void)worker;
  const Recording *recording = context;
  const FovRecordRequest *what = recording->what;
  FovArena *arena = recording->arena;
  int first = shard * FOV_SHARD, left = recording->trace->episodes - first;
  FovTape tape;
  FovRollout rollout;
  fov_arena_rewind(arena);
  fov_tape_begin(&tape, arena, &what->task->agent->params, what->values, NULL);
  FovPlan plan =
      fov_plan_cases(arena, first, left < FOV_SHARD ? left : FOV_SHARD, what->seed, what->split, 0);
  plan.choice = fov_task_choice(what->task, what->progress, !what->sampled);
  plan.predict = what->predict;
  plan.every = plan.frames = true;
  fov_rollout_run(&rollout, &tape, what->task, &plan);
  copy_rollout(recording->trace, &rollout, &plan.choice, arena, first);
}

FovStatus fov_record_trace(FovTrace *trace, const FovRecordRequest *what, FovWorkspace *workspace) {
  const FovAgent *agent = what->task->agent;
  const FovEnvSpec *spec = &what->task->env->spec;
  int episodes = episodes_of(what), T = fov_task_glimpses(what->task);
  *trace = (FovTrace){.episodes = episodes,
                      .glimpses = T,
                      .frames = spec->changes ? T : 1,
                      .height = spec->observation.height,
                      .width = spec->observation.width,
                      .channels = spec->observation.channels,
                      .actions = agent->actions,
                      .side = agent->glimpse.side,
                      .scales = agent->glimpse.scales,
                      .whole = agent->sensor.whole,
                      .control = spec->answer == FOV_ANSWER_MOVE,
                      .update = what->update};
  FOV_TRY(fov_record_check(what));
  FOV_TRY(fov_trace_allocate(trace));
  FovStatus status = fov_trace_set_names(trace, spec->names);
  if (status != FOV_OK) {
    fov_trace_finish(trace);
    return status;
  }
  Recording recording = {.what = what, .trace = trace, .arena = &workspace->arenas[0]};
  // On a team of one: no signal may reach a product.
  fov_team_run(1, (episodes + FOV_SHARD - 1) / FOV_SHARD, record_shard, &recording);
  return FOV_OK;
}
