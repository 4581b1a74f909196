#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "experiment/measure/parts.h"

static const double SECONDS = 0.2; // of one repeat

static FovStatus time_episode(double *seconds, double *drawing, const FovEvalRequest *request,
                              FovWorkspace *workspace, FovProfile *profile) {
  FovEvalResult result;
  *seconds = *drawing = 0;
  int64_t episodes = 0;
  do {
    memset(profile, 0, sizeof *profile);
    fov_profile_into(profile);
    FovStatus status = fov_evaluate(&result, request, workspace);
    fov_profile_into(NULL);
    FOV_TRY(status);
    for (int phase = 0; phase < FOV_PHASES; phase++)
      *(phase == FOV_PHASE_ENV ? drawing : seconds) += profile->seconds[phase];
    episodes += request->cases;
  } while (*seconds < SECONDS);
  *seconds /= (double)episodes;
  *drawing /= (double)episodes;
  return FOV_OK;
}

/** Repeats after a first time, which allocates. */
static FovStatus repeat_episode(FovRepeats *seconds, FovRepeats *drawing,
                                const FovEvalRequest *request, FovWorkspace *workspace,
                                FovProfile *profile, int repeats) {
  double look, draw;
  FOV_TRY(time_episode(&look, &draw, request, workspace, profile));
  for (int r = 0; r < repeats; r++) {
    FOV_TRY(time_episode(&look, &draw, request, workspace, profile));
    fov_repeats_add(seconds, look);
    fov_repeats_add(drawing, draw);
  }
  return FOV_OK;
}

FovStatus fov_measure_episode(FovRepeats *seconds, FovRepeats *drawing, const FovSubject *subject,
                              int repeats) {
  const FovParams *params = &subject->experiment.agent.params;
  FOV_TRY(fov_memory_check((double)params->size * sizeof(real), "this agent", ""));
  real *values = fov_params_block(params);
  FovProfile *profile = fov_profiles_create();
  FovWorkspace workspace = {0};
  FovStatus status = values && profile ? fov_workspace_create(&workspace, 1)
                                       : fov_fail(FOV_ERR_MEMORY, "no memory for an agent");
  if (status == FOV_OK) {
    fov_params_init(values, params, 0);
    FovEvalRequest request = fov_subject_request(subject, values, FOV_SHARD, 1);
    status = repeat_episode(seconds, drawing, &request, &workspace, profile, repeats);
  }
  fov_workspace_finish(&workspace);
  free(profile);
  free(values);
  return status;
}
