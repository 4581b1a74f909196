#include "record/recorder.h"

#include "tensor/ops.h"

/** Copies a [B, cols] var into rows of an [E, T, cols] array; NaN where there is none. */
static void copy_column(float *to, const FovVar *var, int lanes, int glimpses, int t, int cols) {
  for (int b = 0; b < lanes; b++)
    for (int j = 0; j < cols; j++)
      to[((size_t)b * glimpses + t) * cols + j] =
          var ? (float)var->value[(size_t)b * var->stride + j] : NAN;
}

static void copy_retina(uint8_t *to, const FovVar *rho, int glimpses, int t) {
  for (int b = 0; b < rho->rows; b++)
    for (int j = 0; j < rho->cols; j++)
      to[((size_t)b * glimpses + t) * rho->cols + j] =
          (uint8_t)(255 * rho->value[(size_t)b * rho->stride + j] + (real)0.5);
}

static void copy_probabilities(float *to, const FovVar *logits, FovArena *arena, int glimpses,
                               int t) {
  int B = logits->rows, A = logits->cols;
  real *log_p = FOV_NEW(arena, real, B * A);
  fov_log_softmax(log_p, fov_values(logits));
  for (int b = 0; b < B; b++)
    for (int a = 0; a < A; a++)
      to[((size_t)b * glimpses + t) * A + a] = (float)fmin(1, exp(log_p[b * A + a]));
}

/** Copies a rollout's lanes into the trace's episodes from `first` on. */
static void copy_rollout(FovTrace *trace, const FovRollout *rollout, const FovChoice *choice,
                         FovArena *arena, int first) {
  int T = trace->glimpses, B = rollout->lanes, A = trace->actions;
  size_t pixels = (size_t)trace->height * trace->width * trace->channels, step = (size_t)first * T;
  for (int t = 0; t < T; t++) {
    copy_column(trace->locations + step * 2, rollout->location[t], B, T, t, 2);
    copy_column(trace->means + step * 2, rollout->mean[t], B, T, t, 2);
    copy_column(trace->baselines + step, rollout->baseline[t], B, T, t, 1);
    copy_retina(trace->retina + step * rollout->rho[t]->cols, rollout->rho[t], T, t);
    copy_probabilities(trace->probabilities + step * A, rollout->logits[t], arena, T, t);
    for (int b = 0; b < B; b++) {
      size_t i = step + (size_t)b * T + t;
      trace->rewards[i] = (float)rollout->rewards[t * B + b];
      for (int j = 0; j < 2; j++)
        trace->sigmas[2 * i + j] = !rollout->mean[t]       ? NAN
                                   : choice->deterministic ? 0
                                                           : (float)choice->sigma[j];
    }
  }
  for (int b = 0; b < B; b++) {
    memcpy(trace->images + (size_t)(first + b) * pixels, rollout->images[b], pixels);
    trace->labels[first + b] = rollout->labels[b];
    trace->answers[first + b] = rollout->answers[b];
  }
}

FovStatus fov_record_trace(FovTrace *trace, const FovRecord *what, FovWorkspace *workspace) {
  const FovAgent *agent = what->task->agent;
  const FovEnvSpec *spec = &what->task->env->spec;
  int episodes = what->episodes < spec->cases ? what->episodes : (int)spec->cases;
  *trace = (FovTrace){.episodes = episodes,
                      .glimpses = agent->options.glimpses,
                      .height = spec->height,
                      .width = spec->width,
                      .channels = spec->channels,
                      .actions = agent->actions,
                      .side = agent->glimpse.side,
                      .scales = agent->glimpse.scales,
                      .whole = agent->sensor.whole,
                      .update = what->update};
  double retina = fov_glimpse_features(agent->glimpse);
  double image = (double)spec->height * spec->width * spec->channels;
  FOV_TRY(fov_memory_check(fov_shard_bytes(what->task) +
                               episodes * (image + retina * agent->options.glimpses),
                           "this trace"));
  FOV_TRY(fov_trace_allocate(trace));
  FovArena *arena = &workspace->arenas[0];
  for (int first = 0; first < episodes; first += FOV_SHARD) {
    int lanes = episodes - first < FOV_SHARD ? episodes - first : FOV_SHARD;
    FovTape tape;
    FovRollout rollout;
    fov_arena_rewind(arena);
    fov_tape_begin(&tape, arena, &agent->params, what->values, NULL);
    FovPlan plan = fov_plan_cases(arena, first, lanes, what->seed, what->split, 0);
    plan.choice = fov_task_choice(what->task, what->progress, !what->sampled);
    plan.predict = what->predict;
    plan.every = true;
    fov_rollout_run(&rollout, &tape, what->task, &plan);
    copy_rollout(trace, &rollout, &plan.choice, arena, first);
  }
  return FOV_OK;
}
