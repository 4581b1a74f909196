#include "learn/evaluate.h"

#include <stdlib.h>

#include "base/team.h"

typedef struct Evaluation {
  const FovEvaluate *what;
  FovWorkspace *workspace;
  FovEvaluation *shards; /**< sums, not means */
  real *log_p;           /**< [cases, A]: summed over rollouts */
} Evaluation;

static void count(FovEvaluation *sums, const FovRollout *rollout, const real *log_p, int actions) {
  for (int b = 0; b < rollout->lanes; b++)
    sums->wrong += fov_likeliest(log_p + (size_t)b * actions, actions) != rollout->labels[b];
  sums->cases += rollout->lanes;
}

static void evaluate_shard(void *context, int shard, int worker) {
  const Evaluation *evaluation = context;
  const FovEvaluate *what = evaluation->what;
  const FovAgent *agent = what->task->agent;
  FovArena *arena = &evaluation->workspace->arenas[worker];
  int64_t first = (int64_t)shard * FOV_SHARD, left = what->cases - first;
  int lanes = left < FOV_SHARD ? (int)left : FOV_SHARD;
  real *log_p = evaluation->log_p + first * agent->actions;
  FovEvaluation *sums = &evaluation->shards[shard];
  FovRollout rollout;
  for (int m = 0; m < what->rollouts; m++) {
    FovTape tape;
    fov_arena_rewind(arena);
    fov_tape_begin(&tape, arena, &agent->params, what->values, NULL);
    FovPlan plan = fov_plan_cases(arena, first, lanes, what->seed, what->split, m);
    plan.choice = fov_task_choice(what->task, what->progress, what->rollouts == 1);
    fov_rollout_run(&rollout, &tape, what->task, &plan);
    for (int i = 0; i < lanes * agent->actions; i++) log_p[i] += rollout.log_probabilities[i];
    for (int b = 0; b < lanes; b++) sums->reward += rollout.returns[b] / what->rollouts;
  }
  count(sums, &rollout, log_p, agent->actions);
}

FovStatus fov_evaluate(FovEvaluation *result, const FovEvaluate *what, FovWorkspace *workspace) {
  FOV_CHECK(what->cases > 0 && what->cases <= what->task->env->spec.cases, "%lld of %lld cases",
            (long long)what->cases, (long long)what->task->env->spec.cases);
  FOV_CHECK(what->threads <= workspace->count, "%d threads, %d arenas", what->threads,
            workspace->count);
  FOV_TRY(fov_memory_check(what->threads * fov_shard_bytes(what->task), "this evaluation"));
  int shards = (int)((what->cases + FOV_SHARD - 1) / FOV_SHARD);
  Evaluation evaluation = {.what = what, .workspace = workspace};
  size_t answers = (size_t)what->cases * what->task->agent->actions;
  evaluation.shards = calloc((size_t)shards, sizeof *evaluation.shards);
  evaluation.log_p = calloc(answers, sizeof *evaluation.log_p);
  if (!evaluation.shards || !evaluation.log_p) {
    free(evaluation.shards);
    free(evaluation.log_p);
    return fov_fail(FOV_ERR_MEMORY, "no memory for %zu answers", answers);
  }
  fov_team_run(what->threads, shards, evaluate_shard, &evaluation);
  *result = (FovEvaluation){0};
  for (int s = 0; s < shards; s++) {
    result->cases += evaluation.shards[s].cases;
    result->wrong += evaluation.shards[s].wrong;
    result->reward += evaluation.shards[s].reward;
  }
  result->reward /= (double)result->cases;
  free(evaluation.shards);
  free(evaluation.log_p);
  return FOV_OK;
}

void fov_interval(double *low, double *high, int64_t wrong, int64_t cases) {
  FOV_CHECK(cases > 0 && wrong >= 0 && wrong <= cases, "%lld of %lld", (long long)wrong,
            (long long)cases);
  double z = 1.959963984540054, n = (double)cases, p = (double)wrong / n;
  double centre = (p + z * z / (2 * n)) / (1 + z * z / n);
  double half = z / (1 + z * z / n) * sqrt(p * (1 - p) / n + z * z / (4 * n * n));
  // The ends are exactly 0 and 1 when all or none are wrong; rounding must not say otherwise.
  *low = wrong == 0 ? 0 : centre - half;
  *high = wrong == cases ? 1 : centre + half;
}
