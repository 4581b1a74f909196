#include "learn/rollout/play.h"

static FovChoices make_choices(FovArena *arena, size_t count) {
  FovChoices choices = {.places = FOV_NEW(arena, FovChoice, count),
                        .actions = FOV_NEW(arena, int, count),
                        .stops = fov_arena_zeros(arena, count * sizeof(bool))};
  for (size_t i = 0; i < count; i++) {
    choices.places[i] = (FovChoice){.index = -1};
    choices.actions[i] = -1;
  }
  return choices;
}

static FovRollout make_rollout(FovArena *arena, const FovTask *task, int lanes) {
  const FovEnvSpec *spec = &task->env->spec;
  size_t B = (size_t)lanes, M = (size_t)fov_task_glimpses(task) + 1, N = (size_t)spec->steps;
  FovRollout rollout = {.lanes = lanes,
                        .turns = spec->steps,
                        .at = fov_arena_zeros(arena, M * sizeof *rollout.at),
                        .choices = make_choices(arena, M * B),
                        .rewards = fov_arena_zeros(arena, M * B * sizeof(real)),
                        .returns = fov_arena_zeros(arena, M * B * sizeof(real)),
                        .taken = fov_arena_zeros(arena, B * sizeof(int)),
                        .labels = FOV_NEW(arena, int, B *N),
                        .answers = FOV_NEW(arena, int, B *N),
                        .aligned = fov_arena_zeros(arena, B * N),
                        .glimpses = fov_arena_zeros(arena, B * sizeof(int)),
                        .wrong = fov_arena_zeros(arena, B * sizeof(bool))};
  for (size_t i = 0; i < B * N; i++) rollout.labels[i] = rollout.answers[i] = -1;
  if (spec->answer == FOV_ANSWER_CLASS)
    rollout.log_probabilities = fov_arena_zeros(arena, B * N * spec->actions * sizeof(real));
  if (spec->answer == FOV_ANSWER_VECTOR)
    rollout.squares = fov_arena_zeros(arena, B * N * sizeof(real));
  return rollout;
}

/** No answer of any lane yet. */
static int *no_answers(FovArena *arena, int lanes) {
  int *answers = FOV_NEW(arena, int, lanes);
  for (int b = 0; b < lanes; b++) answers[b] = -1;
  return answers;
}

static Play make_play(FovRollout *rollout, FovTape *tape, const FovTask *task,
                      const FovPlan *plan) {
  FovArena *arena = tape->arena;
  int B = plan->lanes;
  return (Play){.task = task,
                .plan = plan,
                .tape = tape,
                .rollout = rollout,
                .count = B,
                .lanes = FOV_NEW(arena, int, B),
                .env = FOV_NEW(arena, FovEnvLane, B),
                .images = FOV_NEW(arena, FovImage, B),
                .cues = FOV_NEW(arena, FovImage, B),
                .env_rng = plan->env_rng,
                .policy_rng = plan->policy_rng,
                .looked = fov_arena_zeros(arena, (size_t)B * sizeof(int)),
                .previous = no_answers(arena, B),
                .earned = fov_arena_zeros(arena, (size_t)B * sizeof(real)),
                .places = fov_arena_zeros(arena, 2 * (size_t)B * sizeof(real)),
                .locations = fov_constant(tape, fov_task_glimpses(task) * B, 2)};
}

/** [n, A]: the vectors that are due; NULL: answers are no vectors. */
static real *gather_targets(const Play *play) {
  const FovEnvSpec *spec = &play->task->env->spec;
  int A = spec->actions;
  if (spec->answer != FOV_ANSWER_VECTOR) return NULL;
  real *targets = FOV_NEW(play->tape->arena, real, (size_t)play->count * A);
  for (int i = 0; i < play->count; i++)
    for (int j = 0; j < A; j++) targets[(size_t)i * A + j] = play->env[i].target[j];
  return targets;
}

/** [n, 2]: where what is asked for is; NULL: not known, or not to be recorded. */
static float *gather_where(const Play *play) {
  if (!play->plan->frames || !play->task->env->spec.located) return NULL;
  float *where = FOV_NEW(play->tape->arena, float, 2 * (size_t)play->count);
  for (int i = 0; i < play->count; i++)
    memcpy(where + 2 * i, play->env[i].where, sizeof play->env[i].where);
  return where;
}

FovTimeStep *fov_play_begin_step(Play *play) {
  FovArena *arena = play->tape->arena;
  int n = play->count;
  FovTimeStep *step = &play->rollout->at[play->rollout->time_steps++];
  *step = (FovTimeStep){.count = n,
                        .lanes = memcpy(FOV_NEW(arena, int, n), play->lanes, n * sizeof(int)),
                        .frames = FOV_NEW(arena, const void *, n),
                        .labels = FOV_NEW(arena, int, n),
                        .targets = gather_targets(play),
                        .where = gather_where(play),
                        .actions = FOV_NEW(arena, int, n),
                        .events = fov_arena_zeros(arena, (size_t)n)};
  for (int i = 0; i < n; i++) {
    step->frames[i] = play->env[i].observation;
    step->labels[i] = play->env[i].label;
    step->actions[i] = -1;
  }
  return step;
}

static void predict(FovTimeStep *step, const Play *play) {
  const FovTask *task = play->task;
  const FovAgent *agent = task->agent;
  if (!play->plan->predict) return;
  FovVar *h = fov_agent_read(agent, play->tape, &play->state, FOV_READER_BASELINE);
  step->baseline = task->baseline->predict(play->tape, h, agent->heads[FOV_READER_BASELINE]);
}

static void play_step(Play *play) {
  FovTimeStep *step = fov_play_begin_step(play);
  fov_play_see(step, play);
  fov_play_act(step, play);
  if (play->task->env->spec.changes) fov_play_show(play);
  bool going_on = fov_play_goes_on(play);
  if (going_on) {
    fov_play_choose_place(step, play);
    fov_play_look(play);
  }
  if (going_on || step->log_act || step->log_stop) predict(step, play);
  fov_play_drop(play);
}

static void sum_returns(FovRollout *rollout) {
  int B = rollout->lanes, last = rollout->time_steps - 1;
  real *returns = rollout->returns;
  for (int t = last; t >= 0; t--)
    for (int b = 0; b < B; b++)
      returns[t * B + b] = rollout->rewards[t * B + b] + (t < last ? returns[(t + 1) * B + b] : 0);
}

void fov_play_begin(Play *play, FovRollout *rollout, FovTape *tape, const FovTask *task,
                    const FovPlan *plan) {
  int glimpses = fov_task_glimpses(task);
  tape->steps = glimpses;
  *rollout = make_rollout(tape->arena, task, plan->lanes);
  *play = make_play(rollout, tape, task, plan);
  fov_play_start(play);
  rollout->cues = play->cues;
  play->state = fov_agent_begin(task->agent, tape, play->images, play->cues, play->count, glimpses);
  FovTimeStep *first = fov_play_begin_step(play);
  fov_play_choose_first(first, play);
  fov_play_look(play);
}

void fov_rollout_run(FovRollout *rollout, FovTape *tape, const FovTask *task, const FovPlan *plan) {
  FOV_CHECK(!plan->predict || task->baseline->head.build, "baseline = %s predicts nothing",
            task->baseline->plugin.name);
  Play play;
  fov_play_begin(&play, rollout, tape, task, plan);
  bool chosen = task->options.first == FOV_FIRST_LEARNED && !task->agent->attention->without_policy;
  if (chosen) predict(&rollout->at[0], &play);
  while (play.count > 0) play_step(&play);
  sum_returns(rollout);
}
