#include "learn/rollout.h"

#include "base/profile.h"
#include "tensor/ops.h"

FovChoice fov_task_choice(const FovTask *task, double progress, bool deterministic) {
  FovChoice choice = {.deterministic = deterministic};
  if (!task->policy->sigma) return choice;
  double pixels = task->policy->sigma(task->policy_options, progress);
  choice.sigma[0] = (real)(2 * pixels / task->env->spec.width);
  choice.sigma[1] = (real)(2 * pixels / task->env->spec.height);
  return choice;
}

static FovEnvLane *start_lanes(FovArena *arena, const FovEnv *env, const FovPlan *plan) {
  const FovEnvSpec *spec = &env->spec;
  size_t pixels = (size_t)spec->height * spec->width * spec->channels;
  FovEnvLane *lanes = FOV_NEW(arena, FovEnvLane, plan->lanes);
  FovStage before = fov_profile_enter(FOV_STAGE_ENV);
  for (int b = 0; b < plan->lanes; b++) {
    lanes[b] = (FovEnvLane){.image = fov_arena_alloc(arena, pixels),
                            .state = fov_arena_alloc(arena, spec->state_size)};
    fov_env_reset(env, &lanes[b], plan->cases[b], &plan->env_rng[b]);
  }
  fov_profile_enter(before);
  return lanes;
}

/** The raw sample of glimpse t: log π belongs to it, and no gradient flows through it. */
static void choose(FovRollout *rollout, real *raw, FovTape *tape, const FovTask *task,
                   const FovPlan *plan, const FovAgentState *state, int t) {
  const FovAgent *agent = task->agent;
  if (task->policy->learned) rollout->mean[t] = fov_agent_mean(agent, tape, state);
  if (plan->predict) rollout->baseline[t] = fov_agent_baseline(agent, tape, state);
  rollout->log_prob[t] = task->policy->choose(raw, tape, rollout->mean[t], &plan->choice,
                                              plan->policy_rng, plan->lanes);
}

static void choose_first(real *raw, FovFirst first, FovRng *rng, int lanes) {
  for (int i = 0; i < 2 * lanes; i++)
    raw[i] = first == FOV_FIRST_RANDOM ? 2 * fov_rng_uniform(&rng[i / 2]) - 1 : 0;
}

/** Where the eye goes for a raw sample: it stays on the image. */
static void cut(real *location, const real *raw, int count) {
  for (int i = 0; i < count; i++) location[i] = raw[i] < -1 ? -1 : raw[i] > 1 ? 1 : raw[i];
}

static FovImage image_of(const FovTask *task, const FovEnvLane *lane) {
  const FovEnvSpec *spec = &task->env->spec;
  return (FovImage){.bytes = lane->image,
                    .height = spec->height,
                    .width = spec->width,
                    .channels = spec->channels};
}

/** The state before the first glimpse; a context sees every lane's image, coarsely. */
static FovAgentState begin(FovTape *tape, const FovTask *task, const FovEnvLane *lanes, int B) {
  const FovAgent *agent = task->agent;
  FovVar *coarse = agent->coarse ? fov_constant(tape, B, agent->coarse) : NULL;
  FovStage before = fov_profile_enter(FOV_STAGE_SENSOR);
  for (int b = 0; coarse && b < B; b++) {
    FovImage image = image_of(task, &lanes[b]);
    fov_sensor_shrink(coarse->value + (size_t)b * coarse->stride, &image, agent->context.side);
  }
  fov_profile_enter(before);
  return fov_agent_begin(agent, tape, coarse, B);
}

static void look(FovVar *rho, const FovTask *task, const FovEnvLane *lanes, const FovVar *l_t) {
  FovStage before = fov_profile_enter(FOV_STAGE_SENSOR);
  for (int b = 0; b < rho->rows; b++) {
    FovImage image = image_of(task, &lanes[b]);
    fov_sensor_look(rho->value + (size_t)b * rho->stride, &task->agent->sensor, &image,
                    l_t->value[2 * b], l_t->value[2 * b + 1]);
  }
  fov_profile_enter(before);
}

int fov_likeliest(const real *log_probabilities, int actions) {
  int best = 0;
  for (int a = 1; a < actions; a++)
    if (log_probabilities[a] > log_probabilities[best]) best = a;
  return best;
}

/** Answers with the likeliest class and collects what it earns at the last glimpse. */
static void answer(FovRollout *rollout, FovTape *tape, const FovTask *task, FovEnvLane *lanes,
                   const FovPlan *plan) {
  int T = rollout->glimpses, B = rollout->lanes, A = task->agent->actions;
  FovVar *logits = rollout->logits[T - 1];
  rollout->log_probabilities = FOV_NEW(tape->arena, real, B * A);
  fov_log_softmax(rollout->log_probabilities, fov_values(logits));
  memset(rollout->rewards, 0, (size_t)T * B * sizeof(real));
  for (int b = 0; b < B; b++) {
    const real *log_p = rollout->log_probabilities + (size_t)b * A;
    rollout->labels[b] = lanes[b].label;
    rollout->answers[b] = fov_likeliest(log_p, A);
    rollout->images[b] = lanes[b].image;
    fov_env_step(task->env, &lanes[b], rollout->answers[b], &plan->env_rng[b]);
    rollout->rewards[(T - 1) * B + b] = task->reward->value(lanes[b].reward, log_p, lanes[b].label);
  }
}

static void sum_returns(real *returns, const real *rewards, int T, int B) {
  for (int t = T - 1; t >= 0; t--)
    for (int b = 0; b < B; b++)
      returns[t * B + b] = rewards[t * B + b] + (t + 1 < T ? returns[(t + 1) * B + b] : 0);
}

void fov_rollout_run(FovRollout *rollout, FovTape *tape, const FovTask *task, const FovPlan *plan) {
  const FovAgent *agent = task->agent;
  FovArena *arena = tape->arena;
  int T = agent->options.glimpses, B = plan->lanes;
  tape->steps = T;
  *rollout = (FovRollout){.glimpses = T,
                          .lanes = B,
                          .rewards = FOV_NEW(arena, real, T * B),
                          .returns = FOV_NEW(arena, real, T * B),
                          .labels = FOV_NEW(arena, int, B),
                          .answers = FOV_NEW(arena, int, B),
                          .images = FOV_NEW(arena, const uint8_t *, B)};
  FovEnvLane *lanes = start_lanes(arena, task->env, plan);
  real *raw = FOV_NEW(arena, real, 2 * B);
  FovVar *glimpses = fov_constant(tape, T * B, fov_glimpse_features(agent->glimpse));
  FovVar *locations = fov_constant(tape, T * B, 2);
  FovAgentState state = begin(tape, task, lanes, B);
  FovFirst first = (FovFirst)agent->options.first;
  for (int t = 0; t < T; t++) {
    if (t == 0 && first != FOV_FIRST_LEARNED)
      choose_first(raw, first, plan->policy_rng, B);
    else
      choose(rollout, raw, tape, task, plan, &state, t);
    FovVar *l_t = rollout->location[t] = fov_rows(tape, locations, t * B, B);
    FovVar *rho = rollout->rho[t] = fov_rows(tape, glimpses, t * B, B);
    cut(l_t->value, raw, 2 * B);
    look(rho, task, lanes, l_t);
    fov_agent_see(&state, agent, tape, rho, l_t);
    if (plan->every || t == T - 1) rollout->logits[t] = fov_agent_logits(agent, tape, &state);
  }
  answer(rollout, tape, task, lanes, plan);
  sum_returns(rollout->returns, rollout->rewards, T, B);
}
