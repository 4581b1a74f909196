#include "experiment/gradient/sample.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/profile.h"
#include "base/team.h"
#include "learn/trainer/update.h"
#include "learn/workspace.h"

enum { CHUNKS = 16 }; // that samples are summed in: fixed, so that sums have one order

/** The group of a name; the last one collects what is left. */
static int group_of(FovGradientParams *compared, const char *name) {
  size_t length = strcspn(name, ".");
  for (int i = 0; i < compared->group_count; i++)
    if (strlen(compared->groups[i]) == length && strncmp(compared->groups[i], name, length) == 0)
      return i;
  if (compared->group_count == FOV_GRADIENT_GROUPS) return FOV_GRADIENT_GROUPS - 1;
  memcpy(compared->groups[compared->group_count], name, length);
  return compared->group_count++;
}

/** The directions on which gradients are projected. */
static FovStatus draw_signs(FovGradientParams *compared) {
  FovRng rng = fov_rng_stream(0, FOV_STREAM_INIT, 0);
  compared->signs = malloc(compared->size * sizeof *compared->signs);
  if (!compared->signs) return fov_fail(FOV_ERR_MEMORY, "no memory for projections");
  for (size_t i = 0; i < compared->size; i++) compared->signs[i] = fov_rng_u32(&rng);
  return FOV_OK;
}

FovStatus fov_gradient_params_create(FovGradientParams *compared, const FovParams *params) {
  *compared =
      (FovGradientParams){.params = calloc((size_t)params->count, sizeof *compared->params)};
  if (!compared->params) return fov_fail(FOV_ERR_MEMORY, "no memory for names");
  for (int i = 0; i < params->count; i++) {
    const FovParam *param = &params->list[i];
    size_t count = (size_t)param->rows * (size_t)param->cols;
    memcpy(compared->params[i].name, param->name, sizeof param->name);
    compared->params[i].offset = compared->size;
    compared->params[i].count = count;
    compared->params[i].group = group_of(compared, param->name);
    compared->size += count;
  }
  compared->count = params->count;
  return draw_signs(compared);
}

void fov_gradient_params_finish(FovGradientParams *compared) {
  free(compared->params);
  free(compared->signs);
  *compared = (FovGradientParams){0};
}

/** Where a compared parameter is in an agent's gradient. */
static FovStatus find_param(size_t *offset, const FovParams *params, const char *name) {
  for (int i = 0; i < params->count; i++) {
    *offset = params->list[i].offset;
    if (strcmp(params->list[i].name, name) == 0) return FOV_OK;
  }
  return fov_fail(FOV_ERR_USAGE, "has no parameter %s", name);
}

/** A sampling while it is done. */
typedef struct Work {
  const FovSampling *sampling;
  size_t *offsets; // of the compared parameters in the agent's gradient
  FovGradientSums chunks[CHUNKS];
  FovArena arenas[FOV_MAX_THREADS];
  real *gradients[FOV_MAX_THREADS];
} Work;

/** Lanes of a shard: whole cases. */
static int shard_lanes(const FovTraining *training) {
  int copies = training->options.copies;
  return FOV_MAX_SHARD / copies * copies;
}

/** Lanes of a sample, in all its shards. */
static int sample_lanes(const FovSampling *sampling) {
  return sampling->cases * sampling->training->options.copies;
}

/** Lanes first … first+lanes−1 of a sample: a case has the same image in every sample, each lane
 * its own choices. */
static FovPlan plan_lanes(FovArena *arena, const FovSampling *sampling, int64_t sample, int first,
                          int lanes) {
  const FovTraining *training = sampling->training;
  int copies = training->options.copies, all = sample_lanes(sampling);
  int64_t *cases = FOV_NEW(arena, int64_t, lanes);
  FovRng *env_rng = FOV_NEW(arena, FovRng, lanes), *policy_rng = FOV_NEW(arena, FovRng, lanes);
  for (int b = 0; b < lanes; b++) {
    cases[b] = (first + b) / copies;
    env_rng[b] = fov_case_rng(sampling->image_seed, FOV_SPLIT_TRAIN, cases[b]);
    policy_rng[b] = fov_rng_stream(sampling->choice_seed, FOV_STREAM_POLICY,
                                   (uint64_t)(sample * all + first + b));
  }
  const FovBaseline *baseline = training->task.baseline;
  FovPlan plan = {.lanes = lanes,
                  .cases = cases,
                  .env_rng = env_rng,
                  .policy_rng = policy_rng,
                  .copies = copies,
                  .progress = sampling->progress,
                  .teach = true,
                  .predict = baseline->head.build,
                  .every =
                      baseline->from_answer || training->options.answer == FOV_TRAIN_ANSWER_EVERY};
  fov_train_enumerate(&plan, arena, training);
  return plan;
}

static FovShardInput shard_input(const FovSampling *sampling) {
  return (FovShardInput){.training = sampling->training,
                         .values = sampling->values,
                         .average_return = sampling->average_return,
                         .batch = sample_lanes(sampling)};
}

/** Adds sample number `sample` to a gradient. */
static void play_sample(real *gradient, double *reward, FovArena *arena,
                        const FovSampling *sampling, int64_t sample) {
  const FovTraining *training = sampling->training;
  int lanes = sample_lanes(sampling), most = shard_lanes(training);
  const FovShardInput input = shard_input(sampling);
  for (int first = 0; first < lanes; first += most) {
    FovSums sums = {0};
    fov_arena_rewind(arena);
    int left = lanes - first;
    FovPlan plan = plan_lanes(arena, sampling, sample, first, left < most ? left : most);
    fov_train_play(&sums, gradient, arena, &plan, &input);
    *reward += sums.reward / lanes;
  }
}

/** sum += x; projections += ±x. Returns |x|². */
FOV_KERNEL static double add_numbers(double *restrict sum, double projections[FOV_PROJECTIONS],
                                     const real *restrict x, const uint32_t *restrict signs,
                                     size_t count) {
  double squares = 0;
  for (size_t i = 0; i < count; i++) {
    double number = (double)x[i];
    sum[i] += number;
    squares += number * number;
    for (int p = 0; p < FOV_PROJECTIONS; p++)
      projections[p] += signs[i] >> p & 1 ? number : -number;
  }
  return squares;
}

/** Adds the projections of one sample. */
static void add_projections(FovGradientSums *sums, int group,
                            const double projections[FOV_PROJECTIONS]) {
  for (int p = 0; p < FOV_PROJECTIONS; p++) {
    sums->projected[group][p] += projections[p];
    sums->projected_squares[group][p] += projections[p] * projections[p];
  }
}

static void add_sample(FovGradientSums *sums, const real *gradient, const Work *work) {
  const FovGradientParams *compared = work->sampling->compared;
  double projections[FOV_GRADIENT_GROUPS][FOV_PROJECTIONS] = {{0}}, all[FOV_PROJECTIONS] = {0};
  for (int i = 0; i < compared->count; i++) {
    size_t offset = compared->params[i].offset;
    int group = compared->params[i].group;
    sums->squares[group] +=
        add_numbers(sums->sum + offset, projections[group], gradient + work->offsets[i],
                    compared->signs + offset, compared->params[i].count);
  }
  for (int g = 0; g < compared->group_count; g++) {
    for (int p = 0; p < FOV_PROJECTIONS; p++) all[p] += projections[g][p];
    add_projections(sums, g, projections[g]);
  }
  add_projections(sums, FOV_GRADIENT_GROUPS, all);
  sums->samples++;
}

static void sample_chunk(void *context, int chunk, int worker) {
  Work *work = context;
  const FovSampling *sampling = work->sampling;
  FovGradientSums *sums = &work->chunks[chunk];
  real *gradient = work->gradients[worker];
  for (int64_t s = chunk; s < sampling->samples; s += CHUNKS) {
    memset(gradient, 0, sampling->training->task.agent->params.size * sizeof *gradient);
    double start = fov_now();
    play_sample(gradient, &sums->reward, &work->arenas[worker], sampling, s);
    sums->seconds += fov_now() - start;
    add_sample(sums, gradient, work);
  }
}

static void add_chunk(FovGradientSums *sums, const FovGradientSums *chunk, size_t size) {
  for (size_t i = 0; i < size; i++) sums->sum[i] += chunk->sum[i];
  for (int g = 0; g < FOV_GRADIENT_GROUPS; g++) sums->squares[g] += chunk->squares[g];
  for (int g = 0; g <= FOV_GRADIENT_GROUPS; g++)
    for (int p = 0; p < FOV_PROJECTIONS; p++) {
      sums->projected[g][p] += chunk->projected[g][p];
      sums->projected_squares[g][p] += chunk->projected_squares[g][p];
    }
  sums->reward += chunk->reward;
  sums->seconds += chunk->seconds;
  sums->samples += chunk->samples;
}

static FovStatus allocate(Work *work) {
  const FovGradientParams *compared = work->sampling->compared;
  const FovParams *params = &work->sampling->training->task.agent->params;
  bool complete = (work->offsets = calloc((size_t)compared->count, sizeof *work->offsets));
  for (int c = 0; c < CHUNKS; c++)
    complete = (work->chunks[c].sum = calloc(compared->size, sizeof(double))) && complete;
  for (int t = 0; t < work->sampling->threads; t++)
    complete = (work->gradients[t] = fov_params_block(params)) && complete;
  if (!complete)
    return fov_fail(FOV_ERR_MEMORY, "no memory for %d gradients of %zu numbers", CHUNKS,
                    compared->size);
  for (int i = 0; i < compared->count; i++)
    FOV_TRY(find_param(&work->offsets[i], params, compared->params[i].name));
  return FOV_OK;
}

/** A shard of full rollouts, to measure what it takes. */
static void try_shard(void *context, FovArena *arena, int lanes) {
  const Work *work = context;
  FovSums sums = {0};
  const FovShardInput input = shard_input(work->sampling);
  FovPlan plan = plan_lanes(arena, work->sampling, 0, 0, lanes);
  plan.full = true;
  fov_train_play(&sums, work->gradients[0], arena, &plan, &input);
}

static FovStatus check_memory(Work *work) {
  const FovSampling *sampling = work->sampling;
  const FovTraining *training = sampling->training;
  int lanes = sample_lanes(sampling), most = shard_lanes(training);
  double shard = fov_shard_measure(&training->task, training->options.copies,
                                   lanes < most ? lanes : most, try_shard, work);
  double gradient = (double)training->task.agent->params.size * sizeof(real);
  double sums = (double)sampling->compared->size * sizeof(double);
  return fov_memory_check(sampling->threads * (shard + gradient) + CHUNKS * sums,
                          "this measurement", "--cases, --threads");
}

static void finish(Work *work) {
  for (int c = 0; c < CHUNKS; c++) fov_gradient_sums_finish(&work->chunks[c]);
  for (int t = 0; t < work->sampling->threads; t++) {
    fov_arena_finish(&work->arenas[t]);
    free(work->gradients[t]);
  }
  free(work->offsets);
  free(work);
}

FovStatus fov_gradient_sample(FovGradientSums *sums, const FovSampling *sampling) {
  Work *work = calloc(1, sizeof *work);
  if (!work) return fov_fail(FOV_ERR_MEMORY, "no memory for samples");
  work->sampling = sampling;
  FovStatus status = allocate(work);
  if (status == FOV_OK) status = check_memory(work);
  if (status == FOV_OK) {
    fov_team_run(sampling->threads, CHUNKS, sample_chunk, work);
    for (int c = 1; c < CHUNKS; c++)
      add_chunk(&work->chunks[0], &work->chunks[c], sampling->compared->size);
    *sums = work->chunks[0];
    sums->lanes = sample_lanes(sampling);
    work->chunks[0].sum = NULL;
  }
  finish(work);
  return status;
}

void fov_gradient_sums_finish(FovGradientSums *sums) {
  free(sums->sum);
  *sums = (FovGradientSums){0};
}
