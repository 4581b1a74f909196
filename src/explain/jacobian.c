#include "explain/jacobian.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "model/symbols.h"

typedef struct Making {
  const FovJacobian *jacobian;
  FovJacobianOf of;
} Making;

/** The watched inputs in their order: those of all symbols, or g_s at inputs[s − 1]. */
static FovVar **find_inputs(FovReplay *replay, int expected) {
  int left = expected;
  FovVar **inputs = FOV_NEW_ZEROS(replay->tape.arena, FovVar *, expected);
  for (FovWatched *w = replay->tape.watched; w; w = w->previous, left--)
    if (left > 0) inputs[left - 1] = w->var;
  FOV_CHECK(left == 0, "%d watched inputs, expected %d", expected - left, expected);
  return inputs;
}

/** Starts a backward pass from column j of x, in all rows. ones: room for x, zeros, as it stays. */
static void seed_column(FovReplay *replay, FovVar *x, int j, real *ones) {
  for (int i = 0; i < x->rows; i++) ones[(size_t)i * x->cols + (size_t)j] = 1;
  fov_tape_add_grad(&replay->tape, x, ones);
  for (int i = 0; i < x->rows; i++) ones[(size_t)i * x->cols + (size_t)j] = 0;
}

/** |dx/dg| of a row of g: squares would leave the range of a float long before norms do. */
static float norm_of(const FovVar *g, int row) {
  double sum = 0;
  if (!g->has_grad) return 0;
  const real *gradient = fov_grad_row(g, row);
  for (int k = 0; k < g->cols; k++) sum += (double)gradient[k] * (double)gradient[k];
  return (float)sqrt(sum);
}

/** Adds dx[b, j]/dg_s[b] to the norms [b, t, s]. */
static void add_norms(float *norms, const FovJacobian *jacobian, const FovHeld *held,
                      FovVar *const *inputs, int t) {
  int T = jacobian->T, S = jacobian->S;
  for (int s = 1; s <= (held->tokens ? S : t); s++) {
    const FovTimeStep *step = &held->rollout.at[held->tokens ? t : s];
    for (int i = 0; i < step->count; i++) {
      int b = step->lanes[i];
      float *norm = &norms[((size_t)b * T + (size_t)t - 1) * S + (size_t)s - 1];
      float more = held->tokens ? norm_of(inputs[0], b * S + s - 1) : norm_of(inputs[s - 1], i);
      *norm = hypotf(*norm, more);
    }
  }
}

/** Marks the glimpses that were not taken and what follows a sequence with NaN, and norms that are
 * not finite with infinity. */
static void finish_norms(float *norms, const FovJacobian *jacobian, const FovHeld *held) {
  int T = jacobian->T, S = jacobian->S;
  for (int b = 0; b < held->lanes; b++) {
    int taken = held->rollout.glimpses[b];
    int inputs = held->tokens ? fov_symbols_length(held->tokens + (size_t)b * S, S) : taken;
    for (int t = 0; t < T; t++)
      for (int s = 0; s < S; s++) {
        float *norm = &norms[((size_t)b * T + (size_t)t) * S + (size_t)s];
        if (t >= taken || s >= inputs)
          *norm = NAN;
        else if (isnan(*norm))
          *norm = INFINITY;
      }
  }
}

/** answers: [B, T] */
static void note_answers(int32_t *answers, FovArena *arena, const FovHeld *held, int T) {
  const FovRollout *rollout = &held->rollout;
  int *turns = FOV_NEW_ZEROS(arena, int, held->lanes);
  for (int i = 0; i < held->lanes * T; i++) answers[i] = -1;
  for (int t = 1; t < rollout->time_steps; t++) {
    const FovTimeStep *step = &rollout->at[t];
    for (int i = 0; i < step->count; i++) {
      int b = step->lanes[i];
      if (step->events[i] & FOV_EVENT_ACT)
        answers[b * T + t - 1] = rollout->answers[b * rollout->turns + turns[b]++];
    }
  }
}

static void make_shard(void *context, const FovExplained *explained, int64_t first) {
  const Making *making = context;
  const FovJacobian *jacobian = making->jacobian;
  const FovHeld *held = explained->held;
  int T = jacobian->T, S = jacobian->S, M = held->rollout.time_steps;
  float *norms = jacobian->norms + (size_t)first * T * S;
  FovReplay replay;
  const FovReplayRequest request = {.reader = FOV_READER_ANSWER,
                                    .watching =
                                        held->tokens ? FOV_WATCH_SYMBOLS : FOV_WATCH_READOUT};
  fov_arena_rewind(explained->scratch);
  fov_replay_run(&replay, explained->scratch, held, &request);
  FovVar **inputs = find_inputs(&replay, held->tokens ? 1 : M - 1);
  for (int t = 1; t < M; t++) {
    FovVar *x = making->of == FOV_JACOBIAN_LOGITS ? replay.outputs[t] : replay.states[t];
    real *ones = FOV_NEW_ZEROS(explained->arena, real, (size_t)x->rows * x->cols);
    for (int j = 0; j < x->cols && !fov_explained_stops(explained); j++) {
      seed_column(&replay, x, j, ones);
      fov_replay_backward(&replay, held);
      add_norms(norms, jacobian, held, inputs, t);
      fov_replay_clear(&replay, held);
    }
  }
  finish_norms(norms, jacobian, held);
  fov_held_places(jacobian->places + first * T * 2, held);
  note_answers(jacobian->answers + first * T, explained->arena, held, T);
  if (held->tokens)
    memcpy(jacobian->symbols + first * S, held->tokens,
           (size_t)held->lanes * S * sizeof *held->tokens);
}

/** The mean over the episodes of what is not NaN. */
static void average(const FovJacobian *jacobian) {
  size_t cells = (size_t)jacobian->T * jacobian->S;
  for (size_t i = 0; i < cells; i++) {
    double sum = 0, count = 0;
    for (int64_t e = 0; e < jacobian->episodes; e++) {
      float norm = jacobian->norms[(size_t)e * cells + i];
      if (isnan(norm)) continue;
      sum += (double)norm, count++;
    }
    jacobian->mean[i] = count > 0 ? sum / count : NAN;
  }
}

/** Huge weights can have gradients that are not finite. */
static FovStatus check_finite(const FovJacobian *jacobian) {
  size_t numbers = (size_t)jacobian->T * jacobian->S;
  for (size_t i = 0; i < (size_t)jacobian->episodes * numbers; i++)
    if (isinf(jacobian->norms[i]))
      return fov_fail(
          FOV_ERR_NUMBER,
          "the Jacobian of episode %zu is not finite: the agent's weights are too large",
          i / numbers);
  return FOV_OK;
}

/** What the arrays take: bytes. */
static double bytes_of(const FovJacobian *jacobian) {
  double E = (double)jacobian->episodes, T = jacobian->T, S = jacobian->S;
  return E * T * S * sizeof(float) + T * S * sizeof(double) +
         E * ((T + S) * sizeof(int32_t) + 2 * T * sizeof(float));
}

static FovStatus allocate(FovJacobian *jacobian, bool symbols) {
  size_t E = (size_t)jacobian->episodes, T = (size_t)jacobian->T, S = (size_t)jacobian->S;
  if ((jacobian->norms = calloc(E, T * S * sizeof *jacobian->norms)) &&
      (jacobian->mean = calloc(T * S, sizeof *jacobian->mean)) &&
      (jacobian->places = calloc(E, 2 * T * sizeof *jacobian->places)) &&
      (jacobian->answers = calloc(E, T * sizeof *jacobian->answers)) &&
      (!symbols || (jacobian->symbols = calloc(E, S * sizeof *jacobian->symbols))))
    return FOV_OK;
  return fov_fail(FOV_ERR_MEMORY, "no memory for a Jacobian of %zu episodes", E);
}

FovStatus fov_jacobian_make(FovJacobian *jacobian, const FovExplainRequest *request,
                            FovJacobianOf of) {
  const FovObservation *shown = &request->task->env->spec.observation;
  bool symbols = shown->kind == FOV_OBSERVATION_TOKENS;
  int T = fov_task_glimpses(request->task);
  Making making = {.jacobian = jacobian, .of = of};
  *jacobian = (FovJacobian){.episodes = request->count, .T = T, .S = symbols ? shown->length : T};
  FOV_TRY(allocate(jacobian, symbols));
  FOV_TRY(fov_explain_each(request, make_shard, &making, 0, bytes_of(jacobian)));
  FOV_TRY(check_finite(jacobian));
  average(jacobian);
  return FOV_OK;
}

void fov_jacobian_finish(FovJacobian *jacobian) {
  free(jacobian->norms), free(jacobian->mean);
  free(jacobian->places), free(jacobian->answers), free(jacobian->symbols);
  *jacobian = (FovJacobian){.norms = NULL};
}
