#include "experiment/experiment.h"

#include <stddef.h>
#include <string.h>

#include "learn/rollout/beam.h"
#include "model/sites.h"
#include "record/checkpoint.h"

static const FovOption general_options[] = {
    FOV_LONG(FovGeneralOptions, seed, "0", 0, 9e15, "random seed of the training"),
    FOV_OPTIONS_END,
};

static const FovOption start_options[] = {
    FOV_STRING(FovStartOptions, init, "",
               "run or checkpoint whose weights the training starts from; heads of another shape "
               "start as usual"),
    FOV_INT(FovStartOptions, patience, "0", 0, 100000,
            "evaluations without a better one after which the training stops; 0: it never stops "
            "early"),
    FOV_OPTIONS_END,
};

static const FovOption eval_options[] = {
    FOV_LONG(FovEvalOptions, seed, "2014", 0, 9e15,
             "random seed of the fixed validation and test cases"),
    FOV_INT(FovEvalOptions, times, "40", 1, 100000, "evaluations during a training, evenly spaced"),
    FOV_LONG(FovEvalOptions, cases, "0", 0, 1e9, "validation cases of each evaluation; 0: all"),
    FOV_INT(FovEvalOptions, episodes, "32", 1, 100000,
            "episodes recorded at each evaluation, for the viewer"),
    FOV_INT(FovEvalOptions, beam, "1", 1, FOV_SHARD,
            "width of the beam search of fovea eval; 1: no beam. With a beam, the reward is the "
            "number of right answers"),
    FOV_OPTIONS_END,
};

/** Keys that older experiment files and checkpoints use. */
static const FovRename renames[] = {
    {"estimator", "objective"},
    {"estimator.lambda", "objective.lambda"},
    {"mean", "policy.mean"},
    {"train.reinforce", "objective.policy"},
    {"train.entropy", "objective.entropy"},
    {"train.regression", "objective.baseline"},
    {NULL, NULL},
};

static const FovHint hints[] = {
    {"attention", "argmax",
     "the likeliest choice is taken wherever none is sampled, as in fovea eval; to train, set "
     "another attention, such as sampled"},
    {"attention", "hard",
     "set sampled, straight_through, gumbel or reinmax, which choose one of several tiles, or "
     "gaze, which chooses a place"},
    {"attention", "self_attention", "set attention = soft and tiles.blocks = 1"},
    {"attention", "self-attention", "set attention = soft and tiles.blocks = 1"},
    {"policy", "argmax",
     "the likeliest choice is taken wherever none is sampled, as in fovea eval; to train, set "
     "another policy"},
    {NULL, NULL, NULL},
};

/** A table of one kind of plug-in as a table of their common part. */
#define TABLE(plugins) ((const FovPlugin *const *)(plugins))

/** The slots with their tables and defaults. */
static const FovSlot default_slots[FOV_SLOTS] = {
    [FOV_SLOT_ENV] = {"env", "environment", TABLE(fov_envs), "cluttered", NULL, NULL},
    [FOV_SLOT_ATTENTION] = {"attention", "attention: how the core reads the image",
                            TABLE(fov_attentions), "gaze", NULL, NULL},
    [FOV_SLOT_ENCODER] = {"encoder", "encoder of a glimpse", TABLE(fov_encoders), "linear", NULL,
                          NULL},
    [FOV_SLOT_CORE] = {"core", "recurrent core", TABLE(fov_cores), "rnn", NULL, NULL},
    [FOV_SLOT_SCORE] = {"score",
                        "match of key and query, for attention over tiles and core = attention",
                        TABLE(fov_scores), "scaled_dot", NULL, NULL},
    [FOV_SLOT_POLICY] = {"policy", "location policy", TABLE(fov_policies), "gaussian", NULL, NULL},
    [FOV_SLOT_STOP] = {"stop", "stopping rule: may end the glimpses early", TABLE(fov_stop_rules),
                       "never", NULL, NULL},
    [FOV_SLOT_REWARD] = {"reward", "reward of an answer", TABLE(fov_rewards), "correct", NULL,
                         NULL},
    [FOV_SLOT_BASELINE] = {"baseline", "baseline that is subtracted from the return",
                           TABLE(fov_baselines), "learned", NULL, NULL},
    [FOV_SLOT_OBJECTIVE] = {"objective", "objective: gradients of a rollout", TABLE(fov_objectives),
                            "reinforce", NULL, NULL},
    [FOV_SLOT_OPTIMISER] = {"optimiser", "optimiser", TABLE(fov_optimisers), "adam", NULL, NULL},
};

/** The plug-in chosen for a slot, to be converted to its own kind. */
#define CHOSEN(experiment, slot) ((const void *)(experiment)->slots[slot].plugin)

/** Whether a name is one of several, up to NULL. */
static bool is_among(const char *name, const char *const *names) {
  while (*names && strcmp(name, *names) != 0) names++;
  return *names != NULL;
}

/** Tiles are read by attentions with sites and by those that can read symbols in the place of
 * tiles; keys are made by the former. */
static const char *unread_of_tiles(const FovExperiment *e, const char *name) {
  static const char *const of_keys[] = {"heads", "keys", "width", "cells", NULL},
                           *const of_blocks[] = {"block_heads", "block_hidden", NULL};
  const FovAttention *attention = CHOSEN(e, FOV_SLOT_ATTENTION);
  const FovScore *score = CHOSEN(e, FOV_SLOT_SCORE);
  bool cells = strcmp(name, "cells") == 0;
  if (!attention->sites && !attention->symbols) return "the attention reads no tiles";
  if (!attention->sites && is_among(name, of_keys)) return "the attention matches no keys";
  bool coarse = e->tiles.keys == FOV_KEYS_COARSE; // other keys change the width of a query
  if (score->keyless && (cells || (coarse && strcmp(name, "keys") == 0)))
    return "the score reads no keys";
  if (cells && !coarse) return "tiles.keys is not coarse";
  if (strcmp(name, "width") == 0 && e->tiles.keys == FOV_KEYS_VALUES) return "keys are values";
  if (is_among(name, of_blocks) && e->tiles.blocks == 0) return "tiles.blocks is 0";
  return NULL;
}

/** Whether only a training reads a setting. train.average chooses the weights; train.episodes and
 * train.batch give the progress of the policy's schedules. */
static bool is_of_training(const char *key) {
  static const char *const read[] = {"train.average", "train.episodes", "train.batch", NULL};
  static const char *const unread[] = {
      "eval.times", "eval.cases", "eval.episodes", "sensor.contrast", "sensor.brightness",
      "seed",       NULL};
  if (is_among(key, read)) return false;
  return is_among(key, unread) || strncmp(key, "train.", strlen("train.")) == 0 ||
         strncmp(key, "optimiser", strlen("optimiser")) == 0 ||
         strncmp(key, "objective", strlen("objective")) == 0;
}

/** Whether a setting distorts the images of the train split. */
static bool is_of_distortion(const char *key) {
  static const char *const keys[] = {"env.distort", "env.elastic", "env.distort_pieces", NULL};
  return is_among(key, keys);
}

/** Why a setting has no effect; NULL: it has. */
static const char *unread(const FovConfig *config, const char *key) {
  const FovExperiment *e = (const void *)((const char *)config - offsetof(FovExperiment, config));
  static const char *const of_glimpses[] = {"sensor.side", "sensor.scales", "sensor.gain",
                                            "sensor.bilinear", NULL};
  const FovAttention *attention = CHOSEN(e, FOV_SLOT_ATTENTION);
  const FovCore *core = CHOSEN(e, FOV_SLOT_CORE);
  size_t prefix = strlen("tiles.");
  if (e->trained && is_of_training(key)) return "the training is over";
  if (e->trained && e->split != FOV_SPLIT_TRAIN && is_of_distortion(key))
    return "only images of the train split are distorted";
  if (strncmp(key, "tiles.", prefix) == 0) return unread_of_tiles(e, key + prefix);
  bool window = attention->without_policy && attention->reach == FOV_REACH_GLIMPSE;
  if (strcmp(key, "first") == 0 && attention->without_policy)
    return "no policy chooses where the attention reads";
  if (strcmp(key, "context.width") == 0 && e->context.side == 0) return "context.side is 0";
  if (strcmp(key, "sensor.bilinear") == 0 && window) return "a window has filters of its own";
  if (e->sensor.whole && is_among(key, of_glimpses)) return "sensor.whole is yes";
  if (strcmp(key, "score") == 0)
    return attention->sites || core->scores ? NULL : "neither attention nor core matches keys";
  return NULL;
}

FovStatus fov_experiment_init(FovExperiment *experiment) {
  *experiment = (FovExperiment){.settings = NULL};
  FovExperiment *e = experiment;
  const FovGroup groups[FOV_GROUPS] = {
      {"", fov_task_options, &e->task},
      {"", fov_agent_options, &e->agent_options},
      {"", general_options, &e->general},
      {"sensor", fov_sensor_options, &e->sensor},
      {"glimpse", fov_glimpse_options, &e->glimpse},
      {"tiles", fov_tiles_options, &e->tiles},
      {"context", fov_context_options, &e->context},
      {"train", fov_train_options, &e->train},
      {"train", start_options, &e->start},
      {"eval", eval_options, &e->eval},
  };
  memcpy(e->groups, groups, sizeof groups);
  memcpy(e->slots, default_slots, sizeof default_slots);
  e->config = (FovConfig){e->groups, FOV_GROUPS, e->slots, FOV_SLOTS, renames, unread, hints};
  return fov_settings_create(&e->settings);
}

void fov_experiment_finish(FovExperiment *experiment) {
  fov_agent_finish(&experiment->agent);
  fov_config_finish(&experiment->config);
  fov_settings_destroy(experiment->settings);
  experiment->settings = NULL;
}

FovStatus fov_experiment_read(FovExperiment *experiment, const FovSafetensors *file) {
  const char *config;
  FOV_TRY(fov_checkpoint_config(&config, file));
  return fov_settings_parse(experiment->settings, config, fov_safetensors_path(file));
}

/** The attention that a setting chooses; NULL: there is none, or its name is unknown. */
static const FovAttention *chosen_attention(const FovSlot *attentions, const FovSetting *choice) {
  return choice ? (const void *)fov_plugin_find(attentions->table, choice->value) : NULL;
}

/** The attention that is chosen up to the source of a setting; NULL also without a setting. */
static const FovAttention *attention_at(const FovSettings *settings, const FovSlot *attentions,
                                        const FovSetting *setting) {
  if (!setting) return NULL;
  return chosen_attention(attentions,
                          fov_settings_choice(settings, attentions->key, setting->source));
}

/** Chooses a policy that fits an attention, unless the attention's source has chosen one. The
 * policy of an earlier attention without one, which allowed no other, does not count. */
static FovStatus bring_policy(FovSettings *settings, const FovSlot slots[FOV_SLOTS],
                              const FovSetting *attention) {
  const FovSlot *slot = &slots[FOV_SLOT_POLICY];
  const FovSetting *policy = fov_settings_choice(settings, slot->key, attention->source);
  if (policy && policy->source == attention->source) return FOV_OK;
  const FovSlot *attentions = &slots[FOV_SLOT_ATTENTION];
  const FovAttention *a = chosen_attention(attentions, attention),
                     *b = attention_at(settings, attentions, policy);
  const FovPolicy *p =
      (const void *)fov_plugin_find(slot->table, policy ? policy->value : slot->fallback);
  if (!a || !p) return FOV_OK; // an unknown name, which resolving refuses
  const char *name = fov_policy_for(a, p);
  bool none = b && b->without_policy && !fov_policy_for(b, p);
  if (!name && none && !a->without_policy) name = slot->fallback;
  if (!name) return FOV_OK;
  return fov_settings_insert(settings, attention, slot->key, name, "the attention's policy");
}

/** Brings the policy of every attention that counts in its source. */
static FovStatus bring_policies(FovSettings *settings, const FovSlot slots[FOV_SLOTS]) {
  size_t count;
  const FovSetting *list = fov_settings_list(&count, settings);
  for (size_t i = 0; i < count; i++) {
    if (fov_settings_choice(settings, slots[FOV_SLOT_ATTENTION].key, list[i].source) != &list[i])
      continue;
    FOV_TRY(bring_policy(settings, slots, &list[i]));
    list = fov_settings_list(&count, settings);
  }
  return FOV_OK;
}

/** Lets an attention that chooses among sites choose the first one, too, unless `first` is set.
 * A `first` that was set with an attention without a policy had no effect and does not count. */
static FovStatus bring_first(FovSettings *settings, const FovSlot *attentions) {
  const FovSetting *attention = fov_settings_choice(settings, attentions->key, SIZE_MAX);
  const FovSetting *first = fov_settings_choice(settings, "first", SIZE_MAX);
  const FovAttention *a = chosen_attention(attentions, attention),
                     *b = attention_at(settings, attentions, first);
  if (!a || !a->scores || (first && !(b && b->without_policy))) return FOV_OK;
  return fov_settings_insert(settings, attention, "first", "learned", "the attention's first site");
}

/** Fails if the settings are those of a sweep. */
static FovStatus check_no_sweep(const FovSettings *settings) {
  size_t count;
  const FovSetting *list = fov_settings_list(&count, settings);
  for (size_t i = 0; i < count; i++)
    if (strncmp(list[i].key, "sweep.", strlen("sweep.")) == 0)
      return fov_fail(FOV_ERR_USAGE,
                      "%s: expected an experiment, found %s of a sweep file; start a sweep with: "
                      "fovea sweep FILE -o DIR",
                      list[i].where, list[i].key);
  return FOV_OK;
}

FovStatus fov_experiment_resolve(FovExperiment *experiment) {
  FOV_TRY(check_no_sweep(experiment->settings));
  FOV_TRY(bring_policies(experiment->settings, experiment->slots));
  FOV_TRY(bring_first(experiment->settings, &experiment->slots[FOV_SLOT_ATTENTION]));
  return fov_config_resolve(&experiment->config, experiment->settings);
}

/** A cue is seen whole; without one, all is 0. */
static FovGlimpseShape cue_shape(const FovEnvSpec *spec) {
  FovImage cue = fov_observed(&spec->cue, NULL);
  if (spec->cue.kind == FOV_OBSERVATION_NONE) return (FovGlimpseShape){.scales = 0};
  return fov_sensor_glimpse(&(FovSensor){.whole = true}, cue.height, cue.width, cue.channels);
}

static FovAgentParts parts_of(const FovExperiment *experiment, const FovEnvSpec *spec) {
  const FovPolicy *policy = CHOSEN(experiment, FOV_SLOT_POLICY);
  const FovStopRule *stop = CHOSEN(experiment, FOV_SLOT_STOP);
  const FovBaseline *baseline = CHOSEN(experiment, FOV_SLOT_BASELINE);
  const FovSlot *slots = experiment->slots;
  FovImage shown = fov_observed(&spec->observation, NULL);
  FovAgentParts parts = {.options = experiment->agent_options,
                         .glimpse = experiment->glimpse,
                         .context = experiment->context,
                         .sensor = experiment->sensor,
                         .tiles = experiment->tiles,
                         .attention = CHOSEN(experiment, FOV_SLOT_ATTENTION),
                         .attention_options = slots[FOV_SLOT_ATTENTION].values,
                         .encoder = CHOSEN(experiment, FOV_SLOT_ENCODER),
                         .encoder_options = slots[FOV_SLOT_ENCODER].values,
                         .core = CHOSEN(experiment, FOV_SLOT_CORE),
                         .core_options = slots[FOV_SLOT_CORE].values,
                         .score = CHOSEN(experiment, FOV_SLOT_SCORE),
                         .score_options = slots[FOV_SLOT_SCORE].values,
                         .height = shown.height,
                         .width = shown.width,
                         .channels = shown.channels,
                         .vocabulary = spec->observation.vocabulary,
                         .cue = cue_shape(spec),
                         .actions = spec->actions};
  // A vector has no places to look at.
  parts.sensor.whole = parts.sensor.whole || spec->observation.kind == FOV_OBSERVATION_VECTOR;
  parts.heads[FOV_READER_POLICY] = &policy->head;
  parts.heads[FOV_READER_STOP] = &stop->head;
  parts.heads[FOV_READER_BASELINE] = &baseline->head;
  parts.head_options[FOV_READER_POLICY] = slots[FOV_SLOT_POLICY].values;
  parts.head_options[FOV_READER_STOP] = slots[FOV_SLOT_STOP].values;
  parts.head_options[FOV_READER_BASELINE] = slots[FOV_SLOT_BASELINE].values;
  return parts;
}

/** Fails if the cue is too large to be seen whole. */
static FovStatus check_cue(const FovEnvSpec *spec, const char *env) {
  FovImage cue = fov_observed(&spec->cue, NULL);
  if (cue.height <= FOV_MAX_WHOLE && cue.width <= FOV_MAX_WHOLE) return FOV_OK;
  return fov_fail(FOV_ERR_USAGE,
                  "env = %s: expected a cue of at most %d pixels each way, found %d x %d", env,
                  FOV_MAX_WHOLE, cue.width, cue.height);
}

/** Fails if an attention or a setting needs an image where a vector or a sequence is shown, or if
 * the answers that the agent would read have no classes. */
static FovStatus check_shown(const FovExperiment *experiment, const FovEnvSpec *spec) {
  const FovAttention *attention = CHOSEN(experiment, FOV_SLOT_ATTENTION);
  const char *env = experiment->slots[FOV_SLOT_ENV].plugin->name;
  bool symbols = spec->observation.kind == FOV_OBSERVATION_TOKENS;
  if (experiment->agent_options.previous && spec->answer != FOV_ANSWER_CLASS)
    return fov_fail(FOV_ERR_USAGE,
                    "previous = %d: expected an environment that is answered with a class, found "
                    "env = %s; set previous = 0",
                    experiment->agent_options.previous, env);
  FOV_TRY(check_cue(spec, env));
  if (spec->observation.kind == FOV_OBSERVATION_IMAGE) return FOV_OK;
  if (symbols && !attention->symbols)
    return fov_fail(
        FOV_ERR_USAGE,
        "attention = %s: expected an environment of images, found env = %s, which shows "
        "a sequence of symbols; set another one, such as attention = soft",
        attention->plugin.name, env);
  if (symbols && experiment->context.side)
    return fov_fail(FOV_ERR_USAGE,
                    "context.side: expected an environment of images, found env = %s, which shows "
                    "a sequence of symbols; set context.side = 0",
                    env);
  if (experiment->sensor.standardise == FOV_STANDARDISE_YES)
    return fov_fail(FOV_ERR_USAGE,
                    "sensor.standardise = yes: expected an environment of images, found env = %s, "
                    "which shows a %s; set sensor.standardise = auto",
                    env, symbols ? "sequence of symbols" : "vector");
  if (!symbols && (attention->without_policy || attention->sites))
    return fov_fail(
        FOV_ERR_USAGE,
        "attention = %s: expected an environment of images, found env = %s, which shows "
        "a vector; set attention = gaze",
        attention->plugin.name, env);
  if (experiment->sensor.inside)
    return fov_fail(FOV_ERR_USAGE,
                    "sensor.inside = yes: expected an environment of images, found env = %s", env);
  return FOV_OK;
}

FovStatus fov_experiment_build(FovExperiment *experiment, const FovEnvSpec *spec) {
  FOV_TRY(fov_spec_check(spec, experiment->slots[FOV_SLOT_ENV].plugin->name));
  FOV_TRY(check_shown(experiment, spec));
  const FovAgentParts parts = parts_of(experiment, spec);
  fov_agent_finish(&experiment->agent);
  return fov_agent_build(&experiment->agent, &parts);
}

FovStatus fov_experiment_build_heads(FovAgent *heads, const FovExperiment *experiment,
                                     const FovEnvSpec *spec, int width) {
  const FovAgentParts parts = parts_of(experiment, spec);
  return fov_agent_build_heads(heads, &parts, width);
}

FovStatus fov_experiment_env(FovEnv *env, const FovExperiment *experiment, FovSplit split) {
  return fov_env_create(env, CHOSEN(experiment, FOV_SLOT_ENV),
                        experiment->slots[FOV_SLOT_ENV].values, split);
}

FovTask fov_experiment_task(const FovExperiment *experiment, const FovEnv *env) {
  return (FovTask){.options = experiment->task,
                   .agent = &experiment->agent,
                   .env = env,
                   .policy = CHOSEN(experiment, FOV_SLOT_POLICY),
                   .policy_options = experiment->slots[FOV_SLOT_POLICY].values,
                   .stop = CHOSEN(experiment, FOV_SLOT_STOP),
                   .stop_options = experiment->slots[FOV_SLOT_STOP].values,
                   .reward = CHOSEN(experiment, FOV_SLOT_REWARD),
                   .baseline = CHOSEN(experiment, FOV_SLOT_BASELINE),
                   .standard = &experiment->standard};
}

FovStatus fov_experiment_check_beam(const FovExperiment *experiment, const FovTask *task,
                                    int rollouts) {
  if (experiment->eval.beam <= 1) return FOV_OK;
  if (rollouts == 1) return fov_beam_check(task);
  return fov_fail(FOV_ERR_USAGE, "eval.beam = %d: expected --rollouts 1, found %d",
                  experiment->eval.beam, rollouts);
}

FovTraining fov_experiment_training(const FovExperiment *experiment, const FovEnv *env) {
  return (FovTraining){.task = fov_experiment_task(experiment, env),
                       .objective = CHOSEN(experiment, FOV_SLOT_OBJECTIVE),
                       .objective_options = experiment->slots[FOV_SLOT_OBJECTIVE].values,
                       .optimiser = CHOSEN(experiment, FOV_SLOT_OPTIMISER),
                       .optimiser_options = experiment->slots[FOV_SLOT_OPTIMISER].values,
                       .options = experiment->train,
                       .seed = (uint64_t)experiment->general.seed};
}
