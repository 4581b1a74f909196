#include "experiment/tested.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/profile.h"
#include "base/stats.h"
#include "record/checkpoint.h"

/** Processor time of a worker without that of the environment, whose share is taken from the clock.
 */
static double agent_seconds(const FovProfile *profile) {
  double all = 0;
  for (int phase = 0; phase < FOV_PHASES; phase++) all += profile->seconds[phase];
  return all > 0 ? profile->processor * (1 - profile->seconds[FOV_PHASE_ENV] / all) : 0;
}

/** Means of a rollout of what the workers counted. Sums of whole numbers are exact, so that the
 * means do not depend on the threads. */
static void add_costs(FovTested *tested, const FovProfile *profiles, int threads, double rollouts) {
  FovOutcomes *o = &tested->outcomes;
  double flops = 0;
  for (int i = 0; i < threads; i++) {
    flops += profiles[i].flops;
    o->input_numbers += profiles[i].numbers;
    o->input_pixels += profiles[i].pixels;
    tested->milliseconds += 1e3 * agent_seconds(&profiles[i]);
  }
  o->mflop = flops / 1e6 / rollouts;
  o->input_numbers /= rollouts;
  o->input_pixels /= rollouts;
  tested->milliseconds /= rollouts;
}

/** Evaluates and counts the work. */
static FovStatus play(FovTested *tested, const FovEvalRequest *request, FovProfile *profiles) {
  FovWorkspace workspace;
  FOV_TRY(fov_workspace_create(&workspace, request->threads));
  fov_profile_into(profiles);
  FovStatus status = fov_evaluate(&tested->result, request, &workspace);
  fov_profile_into(NULL);
  fov_workspace_finish(&workspace);
  add_costs(tested, profiles, request->threads, (double)tested->result.played);
  return status;
}

/** Of moves and vectors each rollout counts as a case. Rollouts of one case are not independent of
 * each other, so the interval counts cases. */
static void add_interval(FovTested *tested, int64_t cases) {
  int64_t repeats = tested->result.cases / cases;
  int64_t wrong = (tested->result.wrong + repeats / 2) / repeats;
  fov_stats_wilson(&tested->low, &tested->high, wrong, cases);
}

static FovStatus run(FovTested *tested, const FovEvalRequest *request) {
  FovProfile *profiles = fov_profiles_create();
  if (!profiles) return fov_fail(FOV_ERR_MEMORY, "no memory to count the work");
  FovStatus status = play(tested, request, profiles);
  free(profiles);
  FOV_TRY(status);
  const FovEvalResult *result = &tested->result;
  if (!isfinite(result->reward))
    return fov_fail(FOV_ERR_NUMBER,
                    "the evaluation is not finite: the agent's weights are too large");
  tested->outcomes.reward = result->reward;
  tested->outcomes.glimpses = result->glimpses;
  tested->outcomes.answer_error =
      result->answers ? (double)result->wrong_answers / (double)result->answers : NAN;
  tested->outcomes.alignment_error = fov_alignment_error(result);
  add_interval(tested, request->cases);
  return FOV_OK;
}

FovStatus fov_tested_run(FovTested *tested, const FovTrained *trained, int rollouts, int threads,
                         FovTestedCases wanted) {
  const FovParams *params = &trained->experiment.agent.params;
  *tested = (FovTested){.outcomes = {.cases = trained->env.spec.cases,
                                     .parameters = (int64_t)fov_params_learned(params),
                                     .update = trained->update,
                                     .seed = trained->experiment.eval.seed,
                                     .rollouts = rollouts,
                                     .split = trained->split}};
  FovOutcomes *o = &tested->outcomes;
  FOV_TRY(fov_experiment_check_beam(&trained->experiment, &trained->task, rollouts));
  size_t cases = (size_t)o->cases;
  if (((wanted & FOV_TESTED_WRONG) && !(o->wrong = calloc(cases, 1))) ||
      ((wanted & FOV_TESTED_LENGTHS) &&
       !(tested->lengths = calloc(cases, sizeof *tested->lengths))))
    return fov_fail(FOV_ERR_MEMORY, "no memory for %lld outcomes", (long long)o->cases);
  fov_digest_print(o->weights, fov_weights_digest(params, trained->values));
  fov_digest_print(o->data, trained->env.spec.digest);
  FovEvalRequest request = {.task = &trained->task,
                            .values = trained->values,
                            .cases = o->cases,
                            .rollouts = rollouts,
                            .beam = trained->experiment.eval.beam,
                            .progress = trained->progress,
                            .seed = (uint64_t)o->seed,
                            .split = trained->split,
                            .threads = threads,
                            .wrong = o->wrong,
                            .lengths = tested->lengths};
  return run(tested, &request);
}

void fov_tested_finish(FovTested *tested) {
  fov_outcomes_finish(&tested->outcomes);
  free(tested->lengths);
  tested->lengths = NULL;
}
