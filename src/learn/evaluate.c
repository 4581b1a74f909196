#include "learn/evaluate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/team.h"
#include "learn/categorical.h"
#include "learn/rollout/beam.h"
#include "model/symbols.h"

/** Sums over the episodes of a shard. */
typedef struct Sums {
  FovEvalResult result; /**< sums where it has means, and of squared distances */
  int64_t vectors;      /**< that were answered */
} Sums;

typedef struct Evaluation {
  const FovEvalRequest *request;
  FovWorkspace *workspace;
  Sums *shards;
  real *log_p;  /**< [threads, FOV_SHARD, N, A]: of a worker's shard, summed over rollouts; NULL
                     unless answers are classes */
  size_t first; /**< of the shards that this rank plays */
} Evaluation;

/** Numbers of one case's answers. */
static size_t answer_size(const FovTask *task) {
  return (size_t)task->env->spec.steps * task->agent->actions;
}

/** Counts a lane's answers, the rollouts having answered together. Returns whether those that count
 * are wrong. An answer without a probability makes the reward NaN. */
static bool judge(FovEvalResult *sums, const FovRollout *rollout, const real *log_p, int lane,
                  const FovTask *task) {
  const int *labels = rollout->labels + (size_t)lane * rollout->turns;
  int actions = task->agent->actions, answers = rollout->taken[lane], wrong = 0;
  bool last = false;
  for (int turn = 0; turn < answers; turn++) {
    last = fov_likeliest(log_p + (size_t)turn * actions, actions) != labels[turn];
    wrong += last;
    if (isnan(log_p[(size_t)turn * actions])) sums->reward = NAN;
  }
  sums->answers += answers;
  sums->wrong_answers += wrong;
  return task->env->spec.last ? last : wrong > 0;
}

/** log_p: of the shard's first case, or NULL of moves and vectors, whose rollouts have been
 * counted. wrong: likewise, or NULL. */
static void count_answers(FovEvalResult *sums, uint8_t *wrong, const FovRollout *rollout,
                          const real *log_p, const FovTask *task) {
  for (int b = 0; b < rollout->lanes; b++) {
    bool is =
        log_p ? judge(sums, rollout, log_p + b * answer_size(task), b, task) : rollout->wrong[b];
    if (wrong) wrong[b] = is;
    if (log_p) sums->wrong += is;
  }
  if (log_p) sums->cases += rollout->lanes;
}

/** Adds the squared distances of lane b's vectors. */
static void add_distances(Sums *sums, const FovRollout *rollout, int b) {
  const real *squares = rollout->squares + (size_t)b * rollout->turns;
  int taken = rollout->taken[b];
  for (int turn = 0; turn < taken; turn++) sums->result.distance += squares[turn];
  sums->result.last_distance += squares[taken - 1];
  sums->vectors += taken;
}

static void add_alignments(FovEvalResult *sums, const FovRollout *rollout, int b) {
  const uint8_t *aligned = rollout->aligned + (size_t)b * rollout->turns;
  for (int turn = 0; turn < rollout->taken[b]; turn++) {
    sums->in_known_part += (aligned[turn] & FOV_ALIGNED_PART) != 0;
    sums->in_known_place += (aligned[turn] & FOV_ALIGNED_SURE) != 0;
    sums->read_part += (aligned[turn] & FOV_ALIGNED_IN_PART) != 0;
    sums->read_place += (aligned[turn] & FOV_ALIGNED_IN_SURE) != 0;
  }
}

double fov_alignment_error(const FovEvalResult *result) {
  return 1 - (double)(result->read_place + result->read_part) /
                 (double)(result->in_known_part + result->in_known_place);
}

static void add_rollout(Sums *sums, real *log_p, const FovRollout *rollout, const FovTask *task) {
  FovEvalResult *result = &sums->result;
  size_t numbers = log_p ? (size_t)rollout->lanes * answer_size(task) : 0;
  for (size_t i = 0; i < numbers; i++) log_p[i] += rollout->log_probabilities[i];
  for (int b = 0; b < rollout->lanes; b++) {
    result->reward += rollout->returns[b];
    result->glimpses += rollout->glimpses[b];
    result->wrong += !log_p && rollout->wrong[b];
    result->cases += !log_p;
    if (rollout->squares) add_distances(sums, rollout, b);
    add_alignments(result, rollout, b);
  }
}

/** Counts what a beam search answered, each answer against the label in its place; the sequence is
 * right if all are, and if it is as long as its labels. glimpses: before each answer. */
static bool judge_beamed(FovEvalResult *sums, const FovBeamed *found, int glimpses) {
  bool wrong = found->length != found->count;
  for (int i = 0; i < found->count; i++) {
    bool differs = i >= found->length || found->answers[i] != found->labels[i];
    sums->wrong_answers += differs;
    sums->reward += !differs;
    wrong = wrong || differs;
  }
  sums->answers += found->count;
  sums->glimpses += found->length * glimpses;
  sums->wrong += wrong;
  sums->cases++;
  return wrong;
}

static int symbols_of(const void *shown, const FovTask *task) {
  return fov_symbols_length(shown, task->env->spec.observation.length);
}

/** Plays `lanes` cases from `first` on with a beam, as many at a time as have FOV_SHARD hypotheses
 * together. */
static void search_shard(FovEvalResult *sums, const Evaluation *evaluation, FovArena *arena,
                         int64_t first, int lanes) {
  const FovEvalRequest *request = evaluation->request;
  const FovTask *task = request->task;
  FovBeamed found[FOV_SHARD];
  int together = FOV_SHARD / request->beam;
  for (int done = 0; done < lanes; done += together) {
    int n = lanes - done < together ? lanes - done : together;
    FovTape tape;
    fov_arena_rewind(arena);
    fov_tape_begin(&tape, arena, &task->agent->params, request->values, NULL);
    FovPlan plan = fov_plan_cases(arena, first + done, n, request->seed, request->split, 0);
    plan.progress = request->progress;
    fov_beam_search(found, &tape, task, &plan, request->beam);
    for (int b = 0; b < n; b++) {
      bool wrong = judge_beamed(sums, &found[b], task->options.glimpses);
      if (request->wrong) request->wrong[first + done + b] = wrong;
      if (request->lengths) request->lengths[first + done + b] = symbols_of(found[b].shown, task);
    }
  }
}

/** Plays the m-th rollout of `lanes` cases from `first` on. Returns whether a choice was drawn. */
static bool play_repeat(FovRollout *rollout, const Evaluation *evaluation, FovArena *arena,
                        int64_t first, int lanes, int m) {
  const FovEvalRequest *request = evaluation->request;
  const FovTask *task = request->task;
  FovTape tape;
  fov_arena_rewind(arena);
  fov_tape_begin(&tape, arena, &task->agent->params, request->values, NULL);
  FovPlan plan = fov_plan_cases(arena, first, lanes, request->seed, request->split, m);
  plan.progress = request->progress;
  plan.deterministic = request->rollouts == 1;
  FovRng before[FOV_SHARD];
  size_t size = (size_t)lanes * sizeof *before;
  memcpy(before, plan.policy_rng, size);
  fov_rollout_run(rollout, &tape, task, &plan);
  return memcmp(before, plan.policy_rng, size) != 0;
}

static void evaluate_shard(void *context, int number, int worker) {
  const Evaluation *evaluation = context;
  size_t shard = evaluation->first + (size_t)number;
  const FovEvalRequest *request = evaluation->request;
  const FovTask *task = request->task;
  FovArena *arena = &evaluation->workspace->arenas[worker];
  int64_t first = (int64_t)(shard * FOV_SHARD), left = request->cases - first;
  int lanes = left < FOV_SHARD ? (int)left : FOV_SHARD;
  Sums *sums = &evaluation->shards[shard];
  if (request->beam > 1) {
    search_shard(&sums->result, evaluation, arena, first, lanes);
    sums->result.played = lanes;
    return;
  }
  size_t answers = FOV_SHARD * answer_size(task);
  real *log_p = evaluation->log_p ? evaluation->log_p + (size_t)worker * answers : NULL;
  if (log_p) memset(log_p, 0, answers * sizeof *log_p);
  FovRollout rollout = {0};
  bool drawn = true;
  for (int m = 0; m < request->rollouts; m++) {
    if (drawn) {
      drawn = play_repeat(&rollout, evaluation, arena, first, lanes, m);
      sums->result.played += lanes;
    }
    add_rollout(sums, log_p, &rollout, task);
  }
  count_answers(&sums->result, request->wrong ? request->wrong + first : NULL, &rollout, log_p,
                task);
  for (int b = 0; request->lengths && b < lanes; b++)
    request->lengths[first + b] = symbols_of(rollout.at[0].frames[b], task);
}

/** Memory of all shards, once it is known to fit. */
static FovStatus allocate(Evaluation *evaluation, int shards) {
  const FovEvalRequest *request = evaluation->request;
  const FovTask *task = request->task;
  bool classes = task->env->spec.answer == FOV_ANSWER_CLASS && request->beam <= 1;
  size_t answers = classes ? (size_t)request->threads * FOV_SHARD * answer_size(task) : 0;
  double shard = 0, kept = (double)answers * sizeof(real);
  // A training evaluates again and again in memory that it has already.
  if (!fov_workspace_is_used(evaluation->workspace, request->threads))
    FOV_TRY(fov_shard_bytes(&shard, task, request->values));
  FOV_TRY(fov_memory_check(request->threads * shard + kept, "this evaluation", "--threads"));
  evaluation->shards = calloc((size_t)shards, sizeof *evaluation->shards);
  if (classes) evaluation->log_p = malloc(answers * sizeof *evaluation->log_p);
  return evaluation->shards && (!classes || evaluation->log_p)
             ? FOV_OK
             : fov_fail(FOV_ERR_MEMORY, "no memory for %zu answers", answers);
}

static FovEvalResult add_shards(const Evaluation *evaluation, int shards) {
  const FovEvalRequest *request = evaluation->request;
  double episodes = (double)request->cases * request->rollouts;
  FovEvalResult sum = {0};
  int64_t vectors = 0;
  for (int s = 0; s < shards; s++) {
    const FovEvalResult *shard = &evaluation->shards[s].result;
    sum.cases += shard->cases;
    sum.wrong += shard->wrong;
    sum.played += shard->played;
    sum.answers += shard->answers;
    sum.wrong_answers += shard->wrong_answers;
    sum.in_known_part += shard->in_known_part;
    sum.in_known_place += shard->in_known_place;
    sum.read_part += shard->read_part;
    sum.read_place += shard->read_place;
    sum.reward += shard->reward;
    sum.glimpses += shard->glimpses;
    sum.distance += shard->distance;
    sum.last_distance += shard->last_distance;
    vectors += evaluation->shards[s].vectors;
  }
  sum.reward /= episodes;
  sum.glimpses /= episodes;
  sum.distance = vectors ? sqrt(sum.distance / (double)vectors) : 0;
  sum.last_distance = sqrt(sum.last_distance / episodes);
  return sum;
}

/** Plays this rank's shards, and gets the sums and outcomes of the others. */
static void play(Evaluation *evaluation, int shards) {
  const FovEvalRequest *request = evaluation->request;
  FovRanks *ranks = request->ranks;
  int count = fov_ranks_count(ranks), rank = ranks ? ranks->rank : 0;
  size_t bounds[FOV_MAX_RANKS + 1], cases[FOV_MAX_RANKS + 1];
  for (int r = 0; r <= count; r++) {
    bounds[r] = fov_ranks_share((size_t)shards, r, count);
    cases[r] = r < count ? bounds[r] * FOV_SHARD : (size_t)request->cases;
  }
  evaluation->first = bounds[rank];
  fov_team_run(request->threads, (int)(bounds[rank + 1] - bounds[rank]), evaluate_shard,
               evaluation);
  fov_ranks_gather(ranks, evaluation->shards, bounds, sizeof *evaluation->shards);
  if (request->wrong) fov_ranks_gather(ranks, request->wrong, cases, sizeof *request->wrong);
  if (request->lengths) fov_ranks_gather(ranks, request->lengths, cases, sizeof *request->lengths);
}

FovStatus fov_evaluate(FovEvalResult *result, const FovEvalRequest *request,
                       FovWorkspace *workspace) {
  FOV_CHECK(request->cases > 0 && request->cases <= request->task->env->spec.cases,
            "%lld of %lld cases", (long long)request->cases,
            (long long)request->task->env->spec.cases);
  FOV_CHECK(request->beam <= FOV_SHARD && (request->beam <= 1 || request->rollouts == 1),
            "a beam of %d, %d rollouts", request->beam, request->rollouts);
  FOV_CHECK(request->threads <= workspace->count, "%d threads, %d arenas", request->threads,
            workspace->count);
  FOV_CHECK(!request->wrong || request->rollouts == 1 ||
                request->task->env->spec.answer == FOV_ANSWER_CLASS,
            "the outcomes of %d rollouts of moves or vectors", request->rollouts);
  int shards = (int)((request->cases + FOV_SHARD - 1) / FOV_SHARD);
  Evaluation evaluation = {.request = request, .workspace = workspace};
  FovStatus status = fov_ranks_agree(request->ranks, allocate(&evaluation, shards));
  if (status == FOV_OK) {
    play(&evaluation, shards);
    *result = add_shards(&evaluation, shards);
  }
  free(evaluation.shards);
  free(evaluation.log_p);
  return status;
}
