#include "explain/jacobian.h"

#include <math.h>
#include <string.h>

typedef struct Making {
  float *norms; // [E, T, T]
  int T;
  FovJacobianOf of;
} Making;

/** The watched inputs by time step: g_s at inputs[s], s = 1 … M−1. */
static FovVar **find_inputs(FovReplay *replay, const FovHeld *held) {
  int M = held->rollout.time_steps, s = M - 1;
  FovVar **inputs = FOV_NEW_ZEROS(replay->tape.arena, FovVar *, M);
  for (FovWatched *w = replay->tape.watched; w; w = w->previous) inputs[s--] = w->var;
  FOV_CHECK(s == 0, "%d read-outs of %d glimpses", M - 1 - s, M - 1);
  return inputs;
}

/** Starts a backward pass from column j of x, in all rows. ones: room for x, zeros, as it stays. */
static void seed_column(FovReplay *replay, FovVar *x, int j, real *ones) {
  for (int i = 0; i < x->rows; i++) ones[(size_t)i * x->cols + (size_t)j] = 1;
  fov_tape_add_grad(&replay->tape, x, ones);
  for (int i = 0; i < x->rows; i++) ones[(size_t)i * x->cols + (size_t)j] = 0;
}

/** norms[b, t, s] += |dx[b, j]/dg_s[b]|² */
static void add_squares(float *norms, const Making *making, const FovHeld *held,
                        FovVar *const *inputs, int t) {
  int T = making->T;
  for (int s = 1; s <= t; s++) {
    const FovTimeStep *step = &held->rollout.at[s];
    const FovVar *g = inputs[s];
    for (int i = 0; i < step->count && g->has_grad; i++) {
      const real *gradient = fov_grad_row(g, i);
      double sum = 0;
      for (int k = 0; k < g->cols; k++) sum += (double)gradient[k] * (double)gradient[k];
      norms[((size_t)step->lanes[i] * T + (size_t)t - 1) * T + (size_t)s - 1] += (float)sum;
    }
  }
}

/** Marks the glimpses that were not taken, and takes roots. */
static void finish_norms(float *norms, const Making *making, const FovHeld *held) {
  int T = making->T;
  for (int b = 0; b < held->lanes; b++)
    for (int i = 0; i < T * T; i++) {
      int taken = held->rollout.glimpses[b], t = i / T, s = i % T;
      float *norm = &norms[(size_t)b * T * T + (size_t)i];
      *norm = t < taken && s < taken ? sqrtf(*norm) : NAN;
    }
}

static void make_shard(void *context, const FovExplained *explained, int64_t first) {
  const Making *making = context;
  const FovHeld *held = explained->held;
  float *norms = making->norms + (size_t)first * making->T * making->T;
  FovReplay replay;
  const FovReplayRequest request = {.reader = FOV_READER_ANSWER, .watching = FOV_WATCH_READOUT};
  fov_arena_rewind(explained->scratch);
  fov_replay_run(&replay, explained->scratch, held, &request);
  FovVar **inputs = find_inputs(&replay, held);
  for (int t = 1; t < held->rollout.time_steps; t++) {
    FovVar *x = making->of == FOV_JACOBIAN_LOGITS ? replay.outputs[t] : replay.states[t];
    real *ones = FOV_NEW_ZEROS(explained->arena, real, (size_t)x->rows * x->cols);
    for (int j = 0; j < x->cols && !fov_explained_stops(explained); j++) {
      seed_column(&replay, x, j, ones);
      fov_replay_backward(&replay, held);
      add_squares(norms, making, held, inputs, t);
      fov_replay_clear(&replay, held);
    }
  }
  finish_norms(norms, making, held);
}

FovStatus fov_jacobian(float *norms, const FovExplainRequest *request, FovJacobianOf of) {
  int T = fov_task_glimpses(request->task);
  Making making = {.norms = norms, .T = T, .of = of};
  memset(norms, 0, (size_t)request->count * T * T * sizeof *norms);
  return fov_explain_each(request, make_shard, &making, 0);
}

void fov_jacobian_mean(double *mean, const float *norms, int64_t episodes, int T) {
  for (int i = 0; i < T * T; i++) {
    double sum = 0, count = 0;
    for (int64_t e = 0; e < episodes; e++) {
      float norm = norms[(size_t)e * T * T + (size_t)i];
      if (isnan(norm)) continue;
      sum += (double)norm, count++;
    }
    mean[i] = count > 0 ? sum / count : NAN;
  }
}
