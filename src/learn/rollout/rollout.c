#include "learn/rollout/rollout.h"

#include "base/profile.h"
#include "tensor/ops.h"

FovStatus fov_spec_check(const FovEnvSpec *spec, const char *env) {
  const FovObservation *shown = &spec->observation;
  char found[FOV_DESCRIPTION];
  fov_observation_describe(found, shown);
  if (shown->kind != FOV_OBSERVATION_IMAGE || shown->floats)
    return fov_fail(FOV_ERR_USAGE, "env = %s: expected an image of bytes, found %s", env, found);
  if (spec->answer == FOV_ANSWER_VECTOR)
    return fov_fail(FOV_ERR_USAGE,
                    "env = %s: expected a class or a move as the answer, found a vector of %d "
                    "numbers",
                    env, spec->actions);
  if (spec->cue.kind == FOV_OBSERVATION_NONE) return FOV_OK;
  fov_observation_describe(found, &spec->cue);
  return fov_fail(FOV_ERR_USAGE, "env = %s: expected no cue, found %s", env, found);
}

FovStatus fov_task_check(const FovTask *task) {
  FOV_TRY(fov_spec_check(&task->env->spec, task->env->type->plugin.name));
  if (task->env->spec.answer != FOV_ANSWER_MOVE || !task->reward->labelled) return FOV_OK;
  return fov_fail(FOV_ERR_USAGE, "reward = %s needs labels, and env = %s has none",
                  task->reward->plugin.name, task->env->type->plugin.name);
}

int fov_task_glimpses(const FovTask *task) {
  return task->agent->options.glimpses * task->env->spec.steps;
}

FovChoice fov_task_choice(const FovTask *task, double progress, bool deterministic) {
  FovChoice choice = {.deterministic = deterministic};
  if (!task->policy->sigma) return choice;
  double pixels = task->policy->sigma(task->policy_options, progress);
  choice.sigma[0] = (real)(2 * pixels / task->env->spec.observation.width);
  choice.sigma[1] = (real)(2 * pixels / task->env->spec.observation.height);
  return choice;
}

/** The lanes that still play, side by side: arrays are [B], of which the first n are in use. */
typedef struct Play {
  const FovTask *task;
  const FovPlan *plan;
  FovTape *tape;
  FovRollout *rollout;
  FovAgentState state;
  int count; // n
  int *lanes;
  FovEnvLane *env;
  FovRng *env_rng, *policy_rng;
  int *looked;                  // glimpses since the last action
  real *earned;                 // in all, from the environment
  real *raw;                    // [n, 2]: the next place, as it was sampled
  FovVar *glimpses, *locations; // rows for all time_steps
  int row;                      // the first of them that is free
} Play;

/* ---- beginning ---- */

static void start_lanes(Play *play) {
  const FovEnv *env = play->task->env;
  FovArena *arena = play->tape->arena;
  FovPhase before = fov_profile_enter(FOV_PHASE_ENV);
  for (int b = 0; b < play->count; b++) {
    play->lanes[b] = b;
    play->env[b] = fov_env_lane(arena, &env->spec);
    fov_env_reset(env, &play->env[b], play->plan->cases[b], &play->env_rng[b]);
  }
  fov_profile_enter(before);
}

static void *zeros(FovArena *arena, size_t bytes) {
  return memset(fov_arena_alloc(arena, bytes), 0, bytes);
}

static FovRollout make_rollout(FovArena *arena, const FovTask *task, int lanes) {
  const FovEnvSpec *spec = &task->env->spec;
  size_t B = (size_t)lanes, M = (size_t)fov_task_glimpses(task) + 1, N = (size_t)spec->steps;
  FovRollout rollout = {.lanes = lanes,
                        .turns = spec->steps,
                        .at = zeros(arena, M * sizeof *rollout.at),
                        .rewards = zeros(arena, M * B * sizeof(real)),
                        .returns = zeros(arena, M * B * sizeof(real)),
                        .taken = zeros(arena, B * sizeof(int)),
                        .labels = FOV_NEW(arena, int, B *N),
                        .answers = FOV_NEW(arena, int, B *N),
                        .glimpses = zeros(arena, B * sizeof(int)),
                        .wrong = zeros(arena, B * sizeof(bool))};
  for (size_t i = 0; i < B * N; i++) rollout.labels[i] = rollout.answers[i] = -1;
  if (spec->answer != FOV_ANSWER_MOVE)
    rollout.log_probabilities = zeros(arena, B * N * spec->actions * sizeof(real));
  return rollout;
}

static Play make_play(FovRollout *rollout, FovTape *tape, const FovTask *task,
                      const FovPlan *plan) {
  FovArena *arena = tape->arena;
  int B = plan->lanes, rows = fov_task_glimpses(task) * B;
  return (Play){.task = task,
                .plan = plan,
                .tape = tape,
                .rollout = rollout,
                .count = B,
                .lanes = FOV_NEW(arena, int, B),
                .env = FOV_NEW(arena, FovEnvLane, B),
                .env_rng = plan->env_rng,
                .policy_rng = plan->policy_rng,
                .looked = zeros(arena, (size_t)B * sizeof(int)),
                .earned = zeros(arena, (size_t)B * sizeof(real)),
                .raw = FOV_NEW(arena, real, 2 * B),
                .glimpses = fov_constant(tape, rows, fov_glimpse_features(task->agent->glimpse)),
                .locations = fov_constant(tape, rows, 2)};
}

static FovTimeStep *begin_step(Play *play) {
  FovArena *arena = play->tape->arena;
  int n = play->count;
  FovTimeStep *step = &play->rollout->at[play->rollout->time_steps++];
  *step = (FovTimeStep){.count = n,
                        .lanes = memcpy(FOV_NEW(arena, int, n), play->lanes, n * sizeof(int)),
                        .frames = FOV_NEW(arena, const uint8_t *, n),
                        .labels = FOV_NEW(arena, int, n),
                        .actions = FOV_NEW(arena, int, n),
                        .events = zeros(arena, (size_t)n)};
  for (int i = 0; i < n; i++) {
    step->frames[i] = play->env[i].observation;
    step->labels[i] = play->env[i].label;
    step->actions[i] = -1;
  }
  return step;
}

/* ---- looking ---- */

/** Where the eye goes for a raw sample: it stays on the image. */
static void cut(real *location, const real *raw, int count) {
  for (int i = 0; i < count; i++) location[i] = raw[i] < -1 ? -1 : raw[i] > 1 ? 1 : raw[i];
}

static FovImage image_of(const Play *play, int i) {
  const FovObservation *shown = &play->task->env->spec.observation;
  return (FovImage){.bytes = play->env[i].observation,
                    .height = shown->height,
                    .width = shown->width,
                    .channels = shown->channels};
}

/** The state before the first glimpse; a context sees every lane's image, coarsely. */
static FovAgentState begin_state(const Play *play) {
  const FovAgent *agent = play->task->agent;
  int B = play->count;
  FovVar *coarse = agent->coarse ? fov_constant(play->tape, B, agent->coarse) : NULL;
  FovPhase before = fov_profile_enter(FOV_PHASE_SENSOR);
  for (int b = 0; coarse && b < B; b++) {
    FovImage image = image_of(play, b);
    fov_sensor_shrink(coarse->value + (size_t)b * coarse->stride, &image, agent->context.side);
  }
  fov_profile_enter(before);
  return fov_agent_begin(agent, play->tape, coarse, B);
}

static void look(FovVar *rho, const Play *play, const FovVar *l_t) {
  FovPhase before = fov_profile_enter(FOV_PHASE_SENSOR);
  for (int i = 0; i < rho->rows; i++) {
    FovImage image = image_of(play, i);
    fov_sensor_look(rho->value + (size_t)i * rho->stride, &play->task->agent->sensor, &image,
                    l_t->value[2 * i], l_t->value[2 * i + 1]);
  }
  fov_profile_enter(before);
}

/** Keeps the images as they are now, before an action changes them. */
static void keep_frames(FovTimeStep *step, FovArena *arena, size_t size) {
  for (int i = 0; i < step->count; i++)
    step->frames[i] = memcpy(fov_arena_alloc(arena, size), step->frames[i], size);
}

static void see(FovTimeStep *step, Play *play) {
  const FovTask *task = play->task;
  const FovEnvSpec *spec = &task->env->spec;
  int n = step->count;
  FovVar *l_t = step->location = fov_rows(play->tape, play->locations, play->row, n);
  step->rho = fov_rows(play->tape, play->glimpses, play->row, n);
  play->row += n;
  cut(l_t->value, play->raw, 2 * n);
  look(step->rho, play, l_t);
  if (play->plan->frames && spec->changes)
    keep_frames(step, play->tape->arena, fov_observation_bytes(&spec->observation));
  fov_agent_see(&play->state, task->agent, play->tape, step->rho, l_t);
  for (int i = 0; i < n; i++) {
    play->looked[i]++;
    play->rollout->glimpses[step->lanes[i]]++;
  }
}

/* ---- choosing ---- */

static FovVar *answer_head(FovTimeStep *step, const Play *play) {
  if (!step->logits) step->logits = fov_agent_logits(play->task->agent, play->tape, &play->state);
  return step->logits;
}

const real *fov_step_log_p(FovTimeStep *step, FovArena *arena) {
  const FovVar *logits = step->logits;
  if (!logits || step->log_p) return step->log_p;
  step->log_p = FOV_NEW(arena, real, (size_t)logits->rows * logits->cols);
  fov_log_softmax(step->log_p, fov_values(logits));
  return step->log_p;
}

static const real *answer_log_p(FovTimeStep *step, const Play *play) {
  answer_head(step, play); // makes the logits
  return fov_step_log_p(step, play->tape->arena);
}

/** Asks all lanes whether to stop; marks those that were free to choose. Only their generators
 * move, so that no lane's draws depend on who else is asked. */
static void ask(bool *stop, FovTimeStep *step, Play *play) {
  const FovTask *task = play->task;
  const FovStopRule *rule = task->stop;
  int n = step->count;
  FovRng *rng = FOV_NEW(play->tape->arena, FovRng, n);
  memcpy(rng, play->policy_rng, (size_t)n * sizeof *rng);
  FovStopInput input = {.actions = task->agent->actions,
                        .deterministic = play->plan->choice.deterministic,
                        .rng = rng,
                        .lanes = n};
  if (rule->learned) input.logits = fov_agent_stop(task->agent, play->tape, &play->state);
  if (rule->reads_answer) input.log_probabilities = answer_log_p(step, play);
  step->log_stop = rule->decide(stop, play->tape, &input, task->stop_options);
  for (int i = 0; i < n; i++) {
    if (play->looked[i] == task->agent->options.glimpses) continue;
    step->events[i] |= FOV_EVENT_DECIDE;
    play->policy_rng[i] = rng[i];
  }
}

/** due: [n]: who answers or acts now, having taken all glimpses or stopped. Returns their number.
 */
static int decide(bool *due, FovTimeStep *step, Play *play) {
  int n = step->count, most = play->task->agent->options.glimpses, count = 0, free = 0;
  for (int i = 0; i < n; i++) {
    free += play->looked[i] < most;
    due[i] = false;
  }
  if (free > 0 && play->task->stop->decide) ask(due, step, play);
  for (int i = 0; i < n; i++) count += due[i] = due[i] || play->looked[i] == most;
  return count;
}

/** A control task's actions are sampled, for REINFORCE; answers are learned from their labels. */
static void choose_actions(FovTimeStep *step, const real *log_p, const bool *due, Play *play) {
  int A = play->task->agent->actions, *sampled = FOV_NEW(play->tape->arena, int, step->count);
  bool sample =
      play->task->env->spec.answer == FOV_ANSWER_MOVE && !play->plan->choice.deterministic;
  for (int i = 0; i < step->count; i++, log_p += A) {
    sampled[i] = 0;
    if (!due[i]) continue;
    sampled[i] = sample ? fov_sample(log_p, A, &play->policy_rng[i]) : fov_likeliest(log_p, A);
    step->actions[i] = sampled[i];
    step->events[i] |= FOV_EVENT_ACT;
  }
  if (sample) step->log_act = fov_categorical_log_prob(play->tape, step->logits, sampled);
}

/** Notes what lane i answers in its turn and steps its environment. Returns the reward. */
static real step_lane(const FovTimeStep *step, const real *log_p, Play *play, int i) {
  const FovTask *task = play->task;
  FovRollout *rollout = play->rollout;
  int b = step->lanes[i], A = task->agent->actions, turn = rollout->taken[b]++;
  int label = step->labels[i], action = step->actions[i];
  size_t at = (size_t)b * rollout->turns + turn;
  rollout->labels[at] = label;
  rollout->answers[at] = action;
  if (rollout->log_probabilities)
    memcpy(rollout->log_probabilities + at * A, log_p, (size_t)A * sizeof(real));
  fov_env_step(task->env, &play->env[i], &(FovAnswer){.action = action}, &play->env_rng[i]);
  play->looked[i] = 0;
  play->earned[i] += play->env[i].reward;
  rollout->wrong[b] = task->env->spec.answer == FOV_ANSWER_MOVE
                          ? play->earned[i] < task->env->spec.goal
                          : rollout->wrong[b] || action != label;
  return task->reward->value(play->env[i].reward, log_p, label);
}

static void act(FovTimeStep *step, Play *play) {
  const FovTask *task = play->task;
  const FovStopRule *rule = task->stop;
  int A = task->agent->actions, n = step->count;
  real *rewards =
      play->rollout->rewards + (size_t)(play->rollout->time_steps - 1) * play->plan->lanes;
  bool *due = FOV_NEW(play->tape->arena, bool, n);
  if (rule->cost)
    for (int i = 0; i < n; i++) rewards[step->lanes[i]] = (real)-rule->cost(task->stop_options);
  if (decide(due, step, play) == 0) {
    if (play->plan->every) answer_head(step, play);
    return;
  }
  const real *log_p = answer_log_p(step, play);
  choose_actions(step, log_p, due, play);
  FovPhase before = fov_profile_enter(FOV_PHASE_ENV);
  for (int i = 0; i < n; i++)
    if (due[i]) rewards[step->lanes[i]] += step_lane(step, log_p + (size_t)i * A, play, i);
  fov_profile_enter(before);
}

/** The raw sample of the next place: log π belongs to it, and no gradient flows through it. */
static void choose_place(FovTimeStep *step, Play *play) {
  const FovTask *task = play->task;
  if (task->policy->learned) step->mean = fov_agent_mean(task->agent, play->tape, &play->state);
  step->log_look = task->policy->choose(play->raw, play->tape, step->mean, &play->plan->choice,
                                        play->policy_rng, step->count);
  for (int i = 0; i < step->count; i++)
    if (!fov_env_over(&play->env[i])) step->events[i] |= FOV_EVENT_LOOK;
}

static void predict(FovTimeStep *step, const Play *play) {
  if (play->plan->predict)
    step->baseline = fov_agent_baseline(play->task->agent, play->tape, &play->state);
}

/** Time step 0: where the first glimpse falls. */
static void choose_first(Play *play) {
  FovTimeStep *step = begin_step(play);
  FovFirst first = (FovFirst)play->task->agent->options.first;
  if (first == FOV_FIRST_LEARNED) {
    choose_place(step, play);
    predict(step, play);
    return;
  }
  for (int i = 0; i < 2 * play->count; i++)
    play->raw[i] =
        first == FOV_FIRST_RANDOM ? 2 * fov_rng_uniform(&play->policy_rng[i / 2]) - 1 : 0;
}

/* ---- going on ---- */

/** Moves lane `from` to place `to`. */
static void move_lane(Play *play, int to, int from) {
  play->lanes[to] = play->lanes[from];
  play->env[to] = play->env[from];
  play->env_rng[to] = play->env_rng[from];
  play->policy_rng[to] = play->policy_rng[from];
  play->looked[to] = play->looked[from];
  play->earned[to] = play->earned[from];
  memcpy(play->raw + 2 * to, play->raw + 2 * from, 2 * sizeof *play->raw);
}

/** Closes ranks over the lanes that are done, so that nothing is computed for them. */
static void drop_finished(Play *play) {
  int n = 0, *rows = FOV_NEW(play->tape->arena, int, play->count);
  for (int i = 0; i < play->count; i++) {
    if (fov_env_over(&play->env[i])) continue;
    if (n < i) move_lane(play, n, i);
    rows[n++] = i;
  }
  if (n > 0 && n < play->count) fov_agent_keep(&play->state, play->tape, rows, n);
  play->count = n;
}

static bool anybody_plays(const Play *play) {
  for (int i = 0; i < play->count; i++)
    if (!fov_env_over(&play->env[i])) return true;
  return false;
}

static void sum_returns(FovRollout *rollout) {
  int B = rollout->lanes;
  real *returns = rollout->returns;
  for (int t = rollout->time_steps - 1; t >= 0; t--)
    for (int b = 0; b < B; b++)
      returns[t * B + b] = rollout->rewards[t * B + b] +
                           (t + 1 < rollout->time_steps ? returns[(t + 1) * B + b] : 0);
}

void fov_rollout_run(FovRollout *rollout, FovTape *tape, const FovTask *task, const FovPlan *plan) {
  tape->steps = fov_task_glimpses(task);
  *rollout = make_rollout(tape->arena, task, plan->lanes);
  Play play = make_play(rollout, tape, task, plan);
  start_lanes(&play);
  play.state = begin_state(&play);
  choose_first(&play);
  while (play.count > 0) {
    FovTimeStep *step = begin_step(&play);
    see(step, &play);
    act(step, &play);
    bool going_on = anybody_plays(&play);
    if (going_on) choose_place(step, &play);
    if (going_on || step->log_act || step->log_stop) predict(step, &play);
    drop_finished(&play);
  }
  sum_returns(rollout);
}
