#include "base/profile.h"
#include "learn/categorical.h"
#include "learn/rollout/play.h"
#include "tensor/ops.h"

/** Where the choices of this time step stand, by lane: [B] of the arrays [M, B]. */
static size_t row_of(const Play *play) {
  return (size_t)(play->rollout->time_steps - 1) * play->plan->lanes;
}

/* ---- heads ---- */

static FovVar *answer_logits(FovTimeStep *step, const Play *play) {
  if (!step->logits) step->logits = fov_agent_logits(play->task->agent, play->tape, &play->state);
  return step->logits;
}

const real *fov_step_log_p(FovTimeStep *step, FovArena *arena) {
  const FovVar *logits = step->logits;
  if (!logits || step->targets || step->log_p) return step->log_p;
  step->log_p = FOV_NEW(arena, real, (size_t)logits->rows * logits->cols);
  fov_log_softmax(step->log_p, fov_values(logits));
  return step->log_p;
}

real fov_step_offset(const FovTimeStep *step, const FovTask *task, const real *log_p, real average,
                     int i) {
  if (!task->baseline->from_answer) return 0;
  if (!log_p) return average;
  int actions = step->logits->cols, label = step->labels[i];
  const real *p = log_p + (size_t)i * actions;
  return task->reward->value(fov_likeliest(p, actions) == label, p, NULL, label, actions);
}

static const real *answer_log_p(FovTimeStep *step, const Play *play) {
  answer_logits(step, play);
  return fov_step_log_p(step, play->tape->arena);
}

/* ---- stopping ---- */

/** [n]: the decisions to be repeated; NULL: none. */
static const bool *forced_stops(const FovTimeStep *step, const Play *play) {
  if (!play->plan->forced || !play->plan->forced->stops) return NULL;
  const bool *stops = play->plan->forced->stops + row_of(play);
  bool *forced = FOV_NEW(play->tape->arena, bool, step->count);
  for (int i = 0; i < step->count; i++) forced[i] = stops[step->lanes[i]];
  return forced;
}

/** Decides in all lanes whether to stop, and marks those that were free to decide. Only these
 * consume random numbers, so a lane's draws do not depend on the rest of the batch. */
static void decide_stops(bool *stop, FovTimeStep *step, Play *play) {
  const FovTask *task = play->task;
  const FovStopRule *rule = task->stop;
  const FovAgent *agent = task->agent;
  int n = step->count;
  FovRng *rng = FOV_NEW(play->tape->arena, FovRng, n);
  memcpy(rng, play->policy_rng, (size_t)n * sizeof *rng);
  FovStopInput input = {.forced = forced_stops(step, play),
                        .actions = agent->actions,
                        .deterministic = play->plan->deterministic,
                        .rng = rng,
                        .lanes = n};
  if (rule->head.build) input.h = fov_agent_read(agent, play->tape, &play->state, FOV_READER_STOP);
  if (rule->reads_answer) input.log_probabilities = answer_log_p(step, play);
  step->log_stop =
      rule->decide(stop, play->tape, &input, agent->heads[FOV_READER_STOP], task->stop_options);
  for (int i = 0; i < n; i++) {
    if (play->looked[i] == task->options.glimpses) continue;
    step->events[i] |= FOV_EVENT_DECIDE;
    play->policy_rng[i] = rng[i];
  }
}

/** due: [n], written: whether a lane answers or acts now, after the last glimpse or having stopped.
 * Returns their number. */
static int find_due(bool *due, FovTimeStep *step, Play *play) {
  int n = step->count, most = play->task->options.glimpses, count = 0, free = 0;
  bool *stops = play->rollout->choices.stops + row_of(play);
  for (int i = 0; i < n; i++) {
    free += play->looked[i] < most;
    due[i] = false;
  }
  if (free > 0 && play->task->stop->decide) decide_stops(due, step, play);
  for (int i = 0; i < n; i++) {
    stops[step->lanes[i]] = due[i] && play->looked[i] < most;
    due[i] = (due[i] && !play->plan->full) || play->looked[i] == most;
    count += due[i];
  }
  return count;
}

/* ---- answering and acting ---- */

static int choose_action(const real *log_p, Play *play, int i, int lane, bool sample) {
  const FovChoices *forced = play->plan->forced;
  int A = play->task->agent->actions;
  if (forced && forced->actions) return forced->actions[row_of(play) + lane];
  return sample ? fov_sample(log_p, A, &play->policy_rng[i]) : fov_likeliest(log_p, A);
}

/** A control task's actions are sampled, for REINFORCE; answers are learned from their labels. A
 * vector, which has no log_p, is no action. */
static void choose_actions(FovTimeStep *step, const real *log_p, const bool *due, Play *play) {
  int A = play->task->agent->actions, *sampled = FOV_NEW(play->tape->arena, int, step->count);
  bool sample = play->task->env->spec.answer == FOV_ANSWER_MOVE && !play->plan->deterministic;
  for (int i = 0; i < step->count; i++) {
    int lane = step->lanes[i];
    sampled[i] = 0;
    if (!due[i]) continue;
    step->events[i] |= FOV_EVENT_ACT;
    if (!log_p) continue;
    sampled[i] = choose_action(log_p + (size_t)i * A, play, i, lane, sample);
    step->actions[i] = play->rollout->choices.actions[row_of(play) + lane] = sampled[i];
  }
  if (sample) step->log_act = fov_categorical_log_prob(play->tape, step->logits, sampled);
}

/** ‖y − target‖² */
static real squared_distance(const float *y, const real *target, int A) {
  real squares = 0;
  for (int j = 0; j < A; j++) squares += ((real)y[j] - target[j]) * ((real)y[j] - target[j]);
  return squares;
}

/** Larger numbers would have squares that overflow. */
static const float LARGEST = 1e15f;

/** The vector that lane i answers, [A], in the arena. A number that is not finite or too large is
 * answered as 0; its loss, which is taken from the number itself, ends a training. */
static const float *answer_vector(const FovTimeStep *step, Play *play, int i) {
  int A = step->logits->cols;
  const real *y = fov_value_row(step->logits, i);
  float *vector = FOV_NEW(play->tape->arena, float, A);
  for (int j = 0; j < A; j++) vector[j] = fabsf((float)y[j]) < LARGEST ? (float)y[j] : 0;
  return vector;
}

/** Records what lane i answers in its turn and steps its environment. Returns the reward. log_p:
 * [A]; NULL: it answers with a vector. */
static real step_lane(const FovTimeStep *step, const real *log_p, Play *play, int i) {
  const FovTask *task = play->task;
  FovRollout *rollout = play->rollout;
  int b = step->lanes[i], A = task->agent->actions, turn = rollout->taken[b]++;
  int label = step->labels[i], action = step->actions[i];
  size_t at = (size_t)b * rollout->turns + turn;
  rollout->labels[at] = label;
  rollout->answers[at] = action;
  rollout->aligned[at] = fov_play_align(step, play, i);
  if (rollout->log_probabilities)
    memcpy(rollout->log_probabilities + at * A, log_p, (size_t)A * sizeof(real));
  FovAnswer answer = {.action = action, .vector = log_p ? NULL : answer_vector(step, play, i)};
  if (rollout->squares)
    rollout->squares[at] = squared_distance(answer.vector, step->targets + (size_t)i * A, A);
  fov_env_step(task->env, &play->env[i], &answer, &play->env_rng[i]);
  play->looked[i] = 0;
  play->previous[i] = play->plan->teach ? label : action;
  play->earned[i] += play->env[i].reward;
  rollout->wrong[b] = rollout->log_probabilities
                          ? (rollout->wrong[b] && !task->env->spec.last) || action != label
                          : play->earned[i] < task->env->spec.goal;
  const real *before = NULL;
  if (task->env->spec.last && turn > 0 && rollout->log_probabilities)
    before = rollout->log_probabilities + (at - 1) * (size_t)A;
  return task->reward->value(play->env[i].reward, log_p, before, label, A);
}

void fov_play_act(FovTimeStep *step, Play *play) {
  const FovTask *task = play->task;
  const FovStopRule *rule = task->stop;
  int A = task->agent->actions, n = step->count;
  real *rewards = play->rollout->rewards + row_of(play);
  bool *due = FOV_NEW(play->tape->arena, bool, n);
  if (rule->cost)
    for (int i = 0; i < n; i++) rewards[step->lanes[i]] = (real)-rule->cost(task->stop_options);
  int count = find_due(due, step, play);
  if (count == 0 && play->plan->every) answer_logits(step, play);
  if (count == 0) return;
  const real *log_p = answer_log_p(step, play);
  choose_actions(step, log_p, due, play);
  FovPhase before = fov_profile_enter(FOV_PHASE_ENV);
  for (int i = 0; i < n; i++)
    if (due[i])
      rewards[step->lanes[i]] += step_lane(step, log_p ? log_p + (size_t)i * A : NULL, play, i);
  fov_profile_enter(before);
}

/* ---- looking ---- */

/** [n]: the places' choices to be repeated; NULL: none. */
static const FovChoice *forced_places(const FovTimeStep *step, const Play *play) {
  if (!play->plan->forced || !play->plan->forced->places) return NULL;
  const FovChoice *places = play->plan->forced->places + row_of(play);
  FovChoice *forced = FOV_NEW(play->tape->arena, FovChoice, step->count);
  for (int i = 0; i < step->count; i++) forced[i] = places[step->lanes[i]];
  return forced;
}

static void record_places(const FovTimeStep *step, const FovChoice *choices, Play *play) {
  FovChoice *places = play->rollout->choices.places + row_of(play);
  for (int i = 0; i < step->count; i++) places[step->lanes[i]] = choices[i];
}

/** Arrays for what the policy records. */
static void add_columns(FovPolicyOutput *output, const FovTimeStep *step, const Play *play) {
  FovColumn columns[FOV_COLUMNS];
  int count = fov_task_columns(columns, play->task);
  for (int c = 0; c < count; c++)
    output->columns[c] = FOV_NEW(play->tape->arena, real, (size_t)step->count * columns[c].width);
}

/** Moves places that lie outside the bounds to the nearest place inside. places: [n, 2]. */
static void cut(real *places, int n, const real bounds[2]) {
  for (int i = 0; i < 2 * n; i++) {
    real bound = bounds[i % 2];
    // A place that is not a number goes to the edge; its log π ends a training.
    places[i] = places[i] > bound ? bound : places[i] >= -bound ? places[i] : -bound;
  }
}

/** The scores of what the next glimpse may read, of lanes that may be done already. */
static FovVar *scores_of(Play *play, int n) {
  const FovTask *task = play->task;
  FovView view = {.images = play->images,
                  .changed = task->env->spec.changes,
                  .copies = play->plan->copies,
                  .lanes = n};
  return fov_agent_scores(&play->state, task->agent, play->tape, &view);
}

void fov_play_choose_place(FovTimeStep *step, Play *play) {
  const FovTask *task = play->task;
  const FovPolicy *policy = task->policy;
  FovImage shown = fov_observed(&task->env->spec.observation, NULL);
  int n = step->count;
  FovPolicyInput input = {.places = play->places,
                          .forced = forced_places(step, play),
                          .rng = play->policy_rng,
                          .width = shown.width,
                          .height = shown.height,
                          .progress = play->plan->progress,
                          .glimpse = play->rollout->time_steps - 1,
                          .deterministic = play->plan->deterministic,
                          .lanes = n};
  fov_task_bounds(input.bounds, task);
  FovPolicyOutput output = {.choices = FOV_NEW(play->tape->arena, FovChoice, n),
                            .places = FOV_NEW(play->tape->arena, real, 2 * n),
                            .costs = fov_arena_zeros(play->tape->arena, n * sizeof(real))};
  add_columns(&output, step, play);
  if (policy->head.build)
    input.h = fov_agent_read(task->agent, play->tape, &play->state, FOV_READER_POLICY);
  if (policy->sites) {
    input.scores = scores_of(play, n);
    input.grid = task->agent->attention->sites(task->agent->attention_layout);
  }
  policy->choose(&output, play->tape, &input, task->agent->heads[FOV_READER_POLICY],
                 task->policy_options);
  memcpy(play->places, output.places, 2 * (size_t)n * sizeof *play->places);
  cut(play->places, n, input.bounds);
  memcpy(step->columns, output.columns, sizeof step->columns);
  if (!task->agent->attention->through) step->log_look = output.log_prob;
  step->look_entropy = output.entropy;
  record_places(step, output.choices, play);
  real *rewards = play->rollout->rewards + row_of(play);
  for (int i = 0; i < n; i++) {
    if (fov_env_over(&play->env[i])) continue;
    step->events[i] |= FOV_EVENT_LOOK;
    rewards[step->lanes[i]] -= output.costs[i];
  }
}

FovChoice fov_first_choice(FovFirst first, FovRng *rng) {
  FovChoice choice = {.index = -1};
  for (int j = 0; j < 2 && first == FOV_FIRST_RANDOM; j++)
    choice.sample[j] = 2 * fov_rng_uniform(rng) - 1;
  return choice;
}

/** Moves a place towards the target, (x, y) from −1 to 1 or NaN: not known. */
static void come_near(FovChoice *choice, const float where[2], const real bounds[2], double near) {
  for (int j = 0; j < 2 && near > 0 && !isnan(where[j]); j++) {
    real target = bounds[j] > 0 ? (real)where[j] / bounds[j] : 0;
    target = target < -1 ? -1 : target > 1 ? 1 : target;
    choice->sample[j] += (real)near * (target - choice->sample[j]);
  }
}

void fov_play_choose_first(FovTimeStep *step, Play *play) {
  FovFirst first = (FovFirst)play->task->options.first;
  if (first == FOV_FIRST_LEARNED) {
    fov_play_choose_place(step, play);
    return;
  }
  const FovChoice *forced = forced_places(step, play);
  FovChoice *choices = FOV_NEW(play->tape->arena, FovChoice, step->count);
  real bounds[2];
  fov_task_bounds(bounds, play->task);
  for (int i = 0; i < step->count; i++) {
    choices[i] = forced ? forced[i] : fov_first_choice(first, &play->policy_rng[i]);
    if (!forced) come_near(&choices[i], play->env[i].where, bounds, play->plan->near);
    for (int j = 0; j < 2; j++) play->places[2 * i + j] = bounds[j] * choices[i].sample[j];
  }
  record_places(step, choices, play);
}
