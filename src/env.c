#include "env.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/digest.h"

const char *const fov_split_names[] = {
    [FOV_SPLIT_TRAIN] = "train", [FOV_SPLIT_VALID] = "valid", [FOV_SPLIT_TEST] = "test", NULL};

/* ---- observations ---- */

static size_t image_count(const FovObservation *o) {
  return (size_t)o->height * (size_t)o->width * (size_t)o->channels;
}

size_t fov_observation_bytes(const FovObservation *o) {
  switch (o->kind) {
  case FOV_OBSERVATION_NONE:
    return 0;
  case FOV_OBSERVATION_IMAGE:
    return image_count(o) * (o->floats ? sizeof(float) : 1);
  case FOV_OBSERVATION_TOKENS:
    return (size_t)o->length * sizeof(int32_t);
  case FOV_OBSERVATION_VECTOR:
    return (size_t)o->length * sizeof(float);
  }
  FOV_CHECK(false, "no such kind of observation: %d", o->kind);
}

void fov_observation_describe(char text[FOV_DESCRIPTION], const FovObservation *o) {
  switch (o->kind) {
  case FOV_OBSERVATION_NONE:
    snprintf(text, FOV_DESCRIPTION, "nothing");
    return;
  case FOV_OBSERVATION_IMAGE:
    snprintf(text, FOV_DESCRIPTION, "an image of %d x %d x %d %s", o->width, o->height, o->channels,
             o->floats ? "floats" : "bytes");
    return;
  case FOV_OBSERVATION_TOKENS:
    snprintf(text, FOV_DESCRIPTION, "%d tokens of a vocabulary of %d", o->length, o->vocabulary);
    return;
  case FOV_OBSERVATION_VECTOR:
    snprintf(text, FOV_DESCRIPTION, "a vector of %d numbers", o->length);
    return;
  }
  snprintf(text, FOV_DESCRIPTION, "an observation of unknown kind %d", o->kind);
}

static bool in_range(int value, int most) {
  return value >= 1 && value <= most;
}

static bool observation_fits(const FovObservation *o) {
  switch (o->kind) {
  case FOV_OBSERVATION_NONE:
    return true;
  case FOV_OBSERVATION_IMAGE:
    return in_range(o->height, FOV_MAX_IMAGE_SIDE) && in_range(o->width, FOV_MAX_IMAGE_SIDE) &&
           (o->floats ? in_range(o->channels, FOV_MAX_CHANNELS)
                      : o->channels == 1 || o->channels == 3);
  case FOV_OBSERVATION_TOKENS:
    return in_range(o->length, FOV_MAX_LENGTH) && in_range(o->vocabulary, FOV_MAX_LENGTH);
  case FOV_OBSERVATION_VECTOR:
    return in_range(o->length, FOV_MAX_LENGTH);
  }
  return false;
}

/* ---- creating ---- */

static FovStatus check_observation(const FovObservation *observation, const char *name,
                                   const char *what) {
  char text[FOV_DESCRIPTION];
  if (observation_fits(observation)) return FOV_OK;
  fov_observation_describe(text, observation);
  return fov_fail(FOV_ERR_NUMBER, "env = %s: %s: out of range: %s", name, what, text);
}

static FovStatus check_number(double value, double least, double most, const char *name,
                              const char *what) {
  if (value >= least && value <= most) return FOV_OK;
  return fov_fail(FOV_ERR_NUMBER, "env = %s: %s: expected %.0f to %.0f, found %g", name, what,
                  least, most, value);
}

static FovStatus check_spec(const FovEnvSpec *spec, const char *name) {
  FOV_TRY(check_observation(&spec->observation, name, "observation"));
  FOV_TRY(check_observation(&spec->cue, name, "cue"));
  FOV_TRY(check_number(spec->observation.kind, FOV_OBSERVATION_IMAGE, FOV_OBSERVATION_VECTOR, name,
                       "kind of observation"));
  FOV_TRY(check_number(spec->answer, FOV_ANSWER_CLASS, FOV_ANSWER_VECTOR, name, "kind of answer"));
  FOV_TRY(check_number(spec->actions, 1, FOV_MAX_ACTIONS, name, "actions"));
  FOV_TRY(check_number(spec->steps, 1, FOV_MAX_STEPS, name, "steps"));
  FOV_TRY(check_number((double)spec->cases, 1, 0x1p53, name, "cases"));
  for (int j = 0; j < 2; j++) FOV_TRY(check_number((double)spec->place[j], 0, 1, name, "place"));
  if (isfinite(spec->goal)) return FOV_OK;
  return fov_fail(FOV_ERR_NUMBER, "env = %s: goal: expected a finite return, found %g", name,
                  (double)spec->goal);
}

FovStatus fov_env_create(FovEnv *env, const FovEnvType *type, const void *options, FovSplit split) {
  *env = (FovEnv){.type = type};
  FOV_TRY(type->create(&env->impl, &env->spec, options, split));
  FovStatus status = check_spec(&env->spec, type->plugin.name);
  if (status != FOV_OK) fov_env_finish(env);
  return status;
}

void fov_env_finish(FovEnv *env) {
  if (env->type) env->type->destroy(env->impl);
  *env = (FovEnv){0};
}

/** Adds how many names there are and, if there are any, each with its terminator. */
static void add_names(FovDigest *digest, const char *const *names, int count) {
  fov_digest_add(digest, &count, sizeof count);
  for (int i = 0; names && i < count; i++) fov_digest_add(digest, names[i], strlen(names[i]) + 1);
}

uint64_t fov_env_symbols(const FovEnvSpec *spec) {
  FovDigest digest = FOV_DIGEST_START;
  if (spec->observation.kind != FOV_OBSERVATION_TOKENS) return 0;
  add_names(&digest, spec->symbols, spec->observation.vocabulary);
  add_names(&digest, spec->names, spec->actions);
  return fov_digest_value(&digest);
}

/* ---- lanes ---- */

static size_t target_bytes(const FovEnvSpec *spec) {
  return spec->answer == FOV_ANSWER_VECTOR ? (size_t)spec->actions * sizeof(float) : 0;
}

size_t fov_env_lane_bytes(const FovEnvSpec *spec) {
  return fov_observation_bytes(&spec->observation) + fov_observation_bytes(&spec->cue) +
         spec->state_size + target_bytes(spec);
}

static void *array(FovArena *arena, size_t bytes) {
  return bytes ? fov_arena_alloc(arena, bytes) : NULL;
}

FovEnvLane fov_env_lane(FovArena *arena, const FovEnvSpec *spec) {
  return (FovEnvLane){.observation = array(arena, fov_observation_bytes(&spec->observation)),
                      .cue = array(arena, fov_observation_bytes(&spec->cue)),
                      .state = array(arena, spec->state_size),
                      .target = array(arena, target_bytes(spec)),
                      .label = -1};
}

/* ---- the contract of a lane ---- */

static FovStatus check_floats(const float *values, size_t count, const char *name,
                              const char *what) {
  for (size_t i = 0; i < count; i++)
    if (!isfinite(values[i]))
      return fov_fail(FOV_ERR_NUMBER, "env = %s: %s: number %zu: expected a finite one, found %g",
                      name, what, i, (double)values[i]);
  return FOV_OK;
}

static FovStatus check_tokens(const int32_t *tokens, const FovObservation *o, const char *name,
                              const char *what) {
  for (int i = 0; i < o->length; i++)
    if (tokens[i] < (i > 0 ? -1 : 0) || tokens[i] >= o->vocabulary ||
        (i > 0 && tokens[i - 1] == -1 && tokens[i] != -1))
      return fov_fail(FOV_ERR_NUMBER,
                      "env = %s: %s: token %d: expected 0 to %d, or -1 from the end on, found %d",
                      name, what, i, o->vocabulary - 1, tokens[i]);
  return FOV_OK;
}

/** Any byte is a pixel; floats and tokens can be wrong. */
static FovStatus check_values(const void *values, const FovObservation *o, const char *name,
                              const char *what) {
  if (o->kind == FOV_OBSERVATION_TOKENS) return check_tokens(values, o, name, what);
  if (o->kind == FOV_OBSERVATION_VECTOR) return check_floats(values, (size_t)o->length, name, what);
  if (o->kind == FOV_OBSERVATION_IMAGE && o->floats)
    return check_floats(values, image_count(o), name, what);
  return FOV_OK;
}

/** A right answer is expected until the episode ends, if there is one at all. */
static FovStatus check_right_answer(const FovEnv *env, const FovEnvLane *lane) {
  const FovEnvSpec *spec = &env->spec;
  const char *name = env->type->plugin.name;
  bool class = spec->answer == FOV_ANSWER_CLASS;
  int least = class ? 0 : -1, most = class ? spec->actions - 1 : -1;
  if (fov_env_over(lane)) return FOV_OK;
  FOV_TRY(check_number(lane->label, least, most, name, "label"));
  if (spec->answer != FOV_ANSWER_VECTOR) return FOV_OK;
  return check_floats(lane->target, (size_t)spec->actions, name, "target");
}

/** An alignment lies inside the observation's columns or symbols. */
static FovStatus check_alignment(const FovEnv *env, const FovEnvLane *lane) {
  const FovObservation *o = &env->spec.observation;
  int most = (o->kind == FOV_OBSERVATION_IMAGE ? o->width : o->length) - 1;
  const int places[] = {lane->from.sure, lane->from.first, lane->from.last};
  for (int i = 0; i < 3; i++)
    FOV_TRY(check_number(places[i], -1, most, env->type->plugin.name, "alignment"));
  return FOV_OK;
}

/** Only a located environment has a place. */
static FovStatus check_where(const FovEnv *env, const FovEnvLane *lane) {
  for (int j = 0; j < 2; j++)
    if (!isnan(lane->where[j]) && !(env->spec.located && fabsf(lane->where[j]) <= 1))
      return fov_fail(FOV_ERR_NUMBER, "env = %s: where: expected %s, found %g",
                      env->type->plugin.name,
                      env->spec.located ? "-1 to 1 or nan" : "nan, because it is not located",
                      (double)lane->where[j]);
  return FOV_OK;
}

static FovStatus check_lane(const FovEnv *env, const FovEnvLane *lane) {
  const char *name = env->type->plugin.name;
  FOV_TRY(check_alignment(env, lane));
  FOV_TRY(check_where(env, lane));
  FOV_TRY(check_right_answer(env, lane));
  FOV_TRY(check_floats(&lane->reward, 1, name, "reward"));
  FOV_TRY(check_values(lane->observation, &env->spec.observation, name, "observation"));
  return check_values(lane->cue, &env->spec.cue, name, "cue");
}

/* ---- playing ---- */

float fov_vector_loss(const float *y, const float *target, int A) {
  float squares = 0;
  for (int i = 0; i < A; i++) squares += (y[i] - target[i]) * (y[i] - target[i]);
  return FOV_VECTOR_LOSS * squares / (float)A;
}

FovStatus fov_env_try_reset(const FovEnv *env, FovEnvLane *lane, int64_t index, FovRng *rng) {
  FOV_CHECK(index >= 0 && index < env->spec.cases, "%s: case %lld of %lld", env->type->plugin.name,
            (long long)index, (long long)env->spec.cases);
  lane->label = -1;
  lane->from = fov_aligned_nowhere();
  lane->where[0] = lane->where[1] = NAN;
  lane->reward = 0;
  lane->terminated = lane->truncated = false;
  lane->taken = 0;
  env->type->reset(env->impl, lane, index, rng);
  return check_lane(env, lane);
}

static void check_answer(const FovEnv *env, const FovAnswer *answer) {
  const char *name = env->type->plugin.name;
  int A = env->spec.actions, action = answer->action;
  if (env->spec.answer != FOV_ANSWER_VECTOR) {
    FOV_CHECK(!answer->vector && action >= 0 && action < A, "%s: action %d of %d", name, action, A);
    return;
  }
  FOV_CHECK(answer->vector && action == -1, "%s: action %d for a vector of %d", name, action, A);
  for (int i = 0; i < A; i++)
    FOV_CHECK(isfinite(answer->vector[i]), "%s: number %d of the answer is %g", name, i,
              (double)answer->vector[i]);
}

FovStatus fov_env_try_step(const FovEnv *env, FovEnvLane *lane, const FovAnswer *answer,
                           FovRng *rng) {
  FOV_CHECK(!fov_env_over(lane), "%s: the episode is over: reset the lane first",
            env->type->plugin.name);
  check_answer(env, answer);
  lane->reward = 0;
  lane->from = fov_aligned_nowhere();
  env->type->step(env->impl, lane, answer, rng);
  lane->taken++;
  lane->truncated = !lane->terminated && lane->taken == env->spec.steps;
  return check_lane(env, lane);
}

FovStatus fov_env_try_look(const FovEnv *env, FovEnvLane *lane, const float place[2], FovRng *rng) {
  const char *name = env->type->plugin.name;
  FOV_CHECK(!fov_env_over(lane), "%s: the episode is over: reset the lane first", name);
  for (int j = 0; j < 2; j++)
    FOV_CHECK(fabsf(place[j]) <= 1, "%s: a place at %g", name, (double)place[j]);
  env->type->look(env->impl, lane, place, rng);
  if (lane->terminated && lane->taken == 0)
    return fov_fail(FOV_ERR_NUMBER, "env = %s: look: ends an episode before its first step", name);
  return check_lane(env, lane);
}

void fov_env_look(const FovEnv *env, FovEnvLane *lane, const float place[2], FovRng *rng) {
  FovStatus status = fov_env_try_look(env, lane, place, rng);
  FOV_CHECK(status == FOV_OK, "%s", fov_error_message());
}

void fov_env_reset(const FovEnv *env, FovEnvLane *lane, int64_t index, FovRng *rng) {
  FovStatus status = fov_env_try_reset(env, lane, index, rng);
  FOV_CHECK(status == FOV_OK, "%s", fov_error_message());
}

void fov_env_step(const FovEnv *env, FovEnvLane *lane, const FovAnswer *answer, FovRng *rng) {
  FovStatus status = fov_env_try_step(env, lane, answer, rng);
  FOV_CHECK(status == FOV_OK, "%s", fov_error_message());
}
