#include "experiment/gradient/estimators.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "learn/trainer/update.h"

#define COPIES "train.copies=4"

#define REINFORCE "objective=reinforce"

const FovEstimatorKind fov_estimator_kinds[] = {
    {.name = "reinforce", .settings = {REINFORCE, "baseline=none"}},
    {.name = "· average", .settings = {REINFORCE, "baseline=average"}},
    {.name = "· learned", .settings = {REINFORCE, "baseline=learned"}, .need = FOV_NEEDS_LEARNED},
    {.name = "· answer", .settings = {REINFORCE, "baseline=answer"}, .need = FOV_NEEDS_ANSWER},
    {.name = "· leave_one_out, K = 4", .settings = {REINFORCE, "baseline=leave_one_out", COPIES}},
    {.name = "· self_critical", .settings = {REINFORCE, "baseline=self_critical"}},
    {.name = "gae, λ = 0.9",
     .settings = {"objective=gae", "objective.lambda=0.9"},
     .need = FOV_NEEDS_HEAD},
    {.name = "straight_through",
     .settings = {REINFORCE, "baseline=none", "attention=straight_through"},
     .need = FOV_NEEDS_SITES},
    {.name = "gumbel",
     .settings = {REINFORCE, "baseline=none", "attention=gumbel"},
     .need = FOV_NEEDS_SITES},
    {.name = "reinmax",
     .settings = {REINFORCE, "baseline=none", "attention=reinmax"},
     .need = FOV_NEEDS_SITES},
    {.name = "rebar, leave_one_out, K = 4",
     .settings = {REINFORCE, "baseline=leave_one_out", "attention=rebar", COPIES},
     .need = FOV_NEEDS_SITES},
    {.name = "relax, leave_one_out, K = 4",
     .settings = {REINFORCE, "baseline=leave_one_out", "attention=relax", COPIES},
     .need = FOV_NEEDS_CONTROL},
    {.name = "vimco, K = 4",
     .settings = {"objective=vimco", "baseline=none", COPIES},
     .need = FOV_NEEDS_LABELS,
     .likelihood = true},
    {.name = "wake_sleep, K = 4",
     .settings = {"objective=wake_sleep", "baseline=none", COPIES},
     .need = FOV_NEEDS_LABELS,
     .likelihood = true},
    {.name = NULL},
};

const FovEstimatorKind fov_exact_kinds[2] = {
    {.name = "exact", .settings = {"objective=exact", "baseline=none"}, .need = FOV_NEEDS_LABELS},
    {.name = "marginal",
     .settings = {"objective=marginal", "baseline=none"},
     .need = FOV_NEEDS_LABELS,
     .likelihood = true},
};

const FovEstimatorKind fov_sampled_kind = {
    .name = "mean", .settings = {REINFORCE, "baseline=leave_one_out", "train.copies=8"}};

/** Whether the agent that was loaded can be read in the way of a kind. */
static FovStatus check_need(const FovTrained *trained, const FovEstimatorKind *kind) {
  const FovBaseline *baseline = trained->task.baseline;
  const FovAttention *attention = trained->experiment.agent.attention;
  const struct {
    bool met;
    const char *what;
  } needs[] = {
      [FOV_NEEDS_NOTHING] = {true, ""},
      [FOV_NEEDS_SITES] = {attention->scores, "an attention that reads one tile"},
      [FOV_NEEDS_LABELS] = {trained->env.spec.answer == FOV_ANSWER_CLASS, "labels"},
      [FOV_NEEDS_HEAD] = {baseline->head.build, "an agent with a learned baseline"},
      [FOV_NEEDS_LEARNED] = {baseline->head.build && !baseline->from_answer,
                             "an agent trained with baseline = learned"},
      [FOV_NEEDS_ANSWER] = {baseline->from_answer, "an agent trained with baseline = answer"},
      [FOV_NEEDS_CONTROL] = {attention->control, "an agent trained with attention = relax"},
  };
  if (needs[kind->need].met) return FOV_OK;
  return fov_fail(FOV_ERR_USAGE, "needs %s", needs[kind->need].what);
}

/** Fails if the kind that was loaded estimates another gradient than that of the agent's reward. */
static FovStatus check_reward(const FovTrained *trained, const FovEstimatorKind *kind) {
  if (!kind->likelihood && !trained->experiment.agent.attention->through) return FOV_OK;
  return fov_fail(FOV_ERR_USAGE,
                  "estimates the gradient of the last answer's loss, not of the agent's reward");
}

/** Fails unless the agent makes choices whose gradient is to be estimated. */
static FovStatus check_choices(const FovTrained *trained) {
  const FovTask *task = &trained->task;
  if (task->policy->head.build || task->policy->sites || task->stop->head.build ||
      task->env->spec.answer == FOV_ANSWER_MOVE)
    return FOV_OK;
  return fov_fail(FOV_ERR_USAGE,
                  "%s: expected choices that are sampled, such as policy = gaussian or sites, "
                  "found policy = %s",
                  trained->path, task->policy->plugin.name);
}

/** Makes the training's loss the same for every estimator: that of the choices and of the last
 * answer or, with own_reward, of the answers of the training. Bonuses and the baseline's loss are
 * left out. */
static void equalise(FovEstimatorSubject *subject, const FovGradientRequest *request) {
  FovTrainOptions *o = &subject->training.options;
  if (!request->own_reward) {
    o->answer = FOV_TRAIN_ANSWER_LAST;
    o->last = 0;
  }
  o->near = 0; // as in evaluations
  int sequences = fov_train_sequences(&subject->training.task);
  if (subject->training.objective->enumerates && sequences > 0 && sequences <= FOV_MAX_SHARD)
    o->copies = sequences;
  o->shard = FOV_MAX_SHARD / o->copies * o->copies;
  o->batch = request->cases * o->copies;
}

/** Whether a kind has a setting of that name. */
static bool sets(const FovEstimatorKind *kind, const char *name) {
  for (int i = 0; i < 5 && kind->settings[i]; i++)
    if (strncmp(kind->settings[i], name, strlen(name)) == 0) return true;
  return false;
}

/** Adds the settings that the objective, the policy and the stop rule have. */
static int add_common(const char **all, int count, const FovTrained *plain,
                      const FovEstimatorKind *kind, bool own_reward) {
  bool classes = plain->env.spec.answer == FOV_ANSWER_CLASS;
  const char *objective = kind->settings[0];
  if (!sets(kind, "train.copies")) all[count++] = "train.copies=1";
  if (classes && !own_reward) {
    all[count++] = "reward=log_probability";
    if (fov_option_find(plain->task.policy->plugin.options, "cost")) all[count++] = "policy.cost=0";
    if (fov_option_find(plain->task.stop->plugin.options, "cost")) all[count++] = "stop.cost=0";
  }
  if (plain->task.policy->entropy) all[count++] = "policy.entropy=0";
  if (plain->experiment.agent.attention->scores && !sets(kind, "attention"))
    all[count++] = "attention=sampled";
  if (strcmp(objective, "objective=marginal") != 0) all[count++] = "objective.policy=1";
  if (strcmp(objective, "objective=reinforce") == 0 || strcmp(objective, "objective=gae") == 0) {
    all[count++] = "objective.baseline=0";
    all[count++] = "objective.entropy=0";
  }
  return count;
}

/** Loads the checkpoint as it is, then with the settings of the kind. */
static FovStatus load(FovEstimatorSubject *subject, const FovGradientRequest *request,
                      const FovEstimatorKind *kind, const char **all) {
  FovTrained plain = {0};
  int count = 0;
  FovStatus status = fov_trained_load(&plain, request->source, request->changes,
                                      request->change_count, FOV_SPLIT_TRAIN);
  if (status == FOV_OK) status = check_choices(&plain);
  if (status == FOV_OK) status = check_need(&plain, kind);
  for (int i = 0; i < request->change_count; i++) all[count++] = request->changes[i];
  for (int i = 0; i < 5 && kind->settings[i]; i++) all[count++] = kind->settings[i];
  if (status == FOV_OK) count = add_common(all, count, &plain, kind, request->own_reward);
  fov_trained_finish(&plain);
  FOV_TRY(status);
  return fov_trained_load(&subject->trained, request->source, all, count, FOV_SPLIT_TRAIN);
}

FovStatus fov_estimator_load(FovEstimatorSubject *subject, const FovGradientRequest *request,
                             const FovEstimatorKind *kind) {
  enum { COMMON = 16 };
  const char **all = calloc((size_t)request->change_count + COMMON, sizeof *all);
  *subject = (FovEstimatorSubject){{.values = NULL}, {.seed = 0}};
  if (!all) return fov_fail(FOV_ERR_MEMORY, "no memory for settings");
  FovStatus status = load(subject, request, kind, all);
  free(all);
  FOV_TRY(status);
  const FovTrained *trained = &subject->trained;
  if (request->own_reward) FOV_TRY(check_reward(trained, kind));
  subject->training = fov_experiment_training(&trained->experiment, &trained->env);
  equalise(subject, request);
  FovTraining checked = subject->training;
  if (checked.task.baseline->from_answer) checked.options.answer = FOV_TRAIN_ANSWER_EVERY;
  return fov_train_check(&checked);
}

void fov_estimator_finish(FovEstimatorSubject *subject) {
  fov_trained_finish(&subject->trained);
}
