#include "experiment/gradient/gradient.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "experiment/gradient/estimators.h"
#include "experiment/gradient/figures.h"
#include "learn/trainer/update.h"

/** What the estimators share. */
typedef struct Comparison {
  const FovGradientRequest *request;
  FovGradientResult *result;
  FovGradientParams compared;
  FovGradientSums references[2]; /**< of expected loss and likelihood; without a sum: none */
  int64_t exact_samples;         /**< of the exact gradients */
  double average_return;
} Comparison;

/** Samples a kind of estimator. subject: stays loaded. */
static FovStatus sample(FovGradientSums *sums, FovEstimatorSubject *subject,
                        const Comparison *comparison, const FovEstimatorKind *kind, int64_t samples,
                        uint64_t choice_seed) {
  const FovGradientRequest *request = comparison->request;
  FOV_TRY(fov_estimator_load(subject, request, kind));
  const FovSampling sampling = {.training = &subject->training,
                                .progress = subject->trained.progress,
                                .values = subject->trained.values,
                                .compared = &comparison->compared,
                                .average_return = comparison->average_return,
                                .cases = request->cases,
                                .samples = samples,
                                .image_seed = request->seed,
                                .choice_seed = choice_seed,
                                .threads = request->threads};
  return fov_gradient_sample(sums, &sampling);
}

/** The parameters of plain REINFORCE, which has no baseline, and their groups. */
static FovStatus find_params(Comparison *comparison, const FovTrained *trained) {
  FovGradientResult *result = comparison->result;
  const FovGradientParams *compared = &comparison->compared;
  FOV_TRY(fov_gradient_params_create(&comparison->compared, &trained->experiment.agent.params));
  result->group_count = compared->group_count;
  memcpy(result->groups, compared->groups, sizeof result->groups);
  return FOV_OK;
}

static const char *loss_of(FovAnswerKind answer, bool own_reward) {
  if (answer == FOV_ANSWER_MOVE) return "-E[R]";
  bool classes = answer == FOV_ANSWER_CLASS;
  return classes && !own_reward ? "E[-log p(y | l)]" : "-E[R] and the answers' loss";
}

enum { TIMES = 4, COPIES = 8 }; // the sampled reference has so many times as many samples; its K

/** Samples of the exact gradients: one, unless first places are random. Then two or more, whose
 * mean takes about as long as the sampled reference. */
static int64_t count_exact_samples(const FovGradientRequest *request, const FovTask *task) {
  int sequences = fov_train_sequences(task);
  if (task->options.first != FOV_FIRST_RANDOM || sequences == 0) return 1;
  return (TIMES * COPIES * request->samples + sequences - 1) / sequences + 1;
}

/** Fails if a change is of that key, or of the plug-in's options. */
static FovStatus refuse_key(const FovGradientRequest *request, const char *key, const char *how) {
  size_t length = strlen(key);
  for (int i = 0; i < request->change_count; i++)
    if (strncmp(request->changes[i], key, length) == 0 &&
        strchr(".= ", request->changes[i][length]))
      return fov_fail(FOV_ERR_USAGE,
                      "%s: expected a setting of agent or environment; bench gradient %s",
                      request->changes[i], how);
  return FOV_OK;
}

/** Fails if a setting is one of those that the estimators set themselves. */
static FovStatus check_changes(const FovGradientRequest *request) {
  static const char *const own[] = {"attention", "objective", "estimator",
                                    "baseline",  "reward",    "train"};
  for (size_t k = 0; k < sizeof own / sizeof *own; k++)
    FOV_TRY(refuse_key(request, own[k], "sets it itself"));
  FOV_TRY(refuse_key(request, "policy.entropy", "leaves bonuses out"));
  return refuse_key(request, "seed", "draws by --seed N");
}

/** Costs count only if the loss has them. */
static FovStatus check_costs(const FovGradientRequest *request, FovAnswerKind answer) {
  if (request->own_reward || answer != FOV_ANSWER_CLASS) return FOV_OK;
  FOV_TRY(refuse_key(request, "policy.cost", "leaves costs out without --own-reward"));
  return refuse_key(request, "stop.cost", "leaves costs out without --own-reward");
}

/** Finds the checkpoint and its groups. */
static FovStatus prepare(Comparison *comparison) {
  FovGradientResult *result = comparison->result;
  FovEstimatorSubject subject;
  FovStatus status = fov_estimator_load(&subject, comparison->request, &fov_estimator_kinds[0]);
  if (status == FOV_OK) {
    snprintf(result->path, sizeof result->path, "%s", subject.trained.path);
    result->update = subject.trained.update;
    result->checked = subject.trained.checked;
    comparison->exact_samples = count_exact_samples(comparison->request, &subject.trained.task);
    result->loss = loss_of(subject.trained.env.spec.answer, comparison->request->own_reward);
    status = check_costs(comparison->request, subject.trained.env.spec.answer);
    if (status == FOV_OK) status = find_params(comparison, &subject.trained);
    if (status == FOV_OK && comparison->request->cases > subject.trained.env.spec.cases)
      status = fov_fail(FOV_ERR_USAGE, "--cases %d: expected at most the %lld training cases",
                        comparison->request->cases, (long long)subject.trained.env.spec.cases);
  }
  fov_estimator_finish(&subject);
  return status;
}

/** Whether an estimator is left out, not an error. */
static bool is_undefined(FovStatus status) {
  return status == FOV_ERR_USAGE || status == FOV_ERR_FORMAT;
}

/** The exact gradients, if all sequences of choices can be enumerated. */
static FovStatus find_exact(Comparison *comparison) {
  FovGradientResult *result = comparison->result;
  const FovGradientRequest *request = comparison->request;
  int count = request->own_reward ? 1 : 2;
  for (int i = 0; i < count; i++) {
    FovEstimatorSubject subject;
    FovStatus status = sample(&comparison->references[i], &subject, comparison, &fov_exact_kinds[i],
                              comparison->exact_samples, request->seed + 1);
    result->sequences = subject.training.options.copies;
    fov_estimator_finish(&subject);
    if (is_undefined(status)) result->sequences = 0;
    if (status != FOV_OK) return status;
  }
  result->reference_samples = comparison->exact_samples;
  return FOV_OK;
}

/** The references: exact, or the mean of many samples of choices that no estimator draws. */
static FovStatus find_references(Comparison *comparison) {
  const FovGradientRequest *request = comparison->request;
  FovStatus status = find_exact(comparison);
  if (!is_undefined(status)) return status;
  fov_gradient_sums_finish(&comparison->references[0]);
  FovEstimatorSubject subject;
  comparison->result->reference_samples = TIMES * request->samples;
  status = sample(&comparison->references[0], &subject, comparison, &fov_sampled_kind,
                  TIMES * request->samples, request->seed + 1);
  fov_estimator_finish(&subject);
  return status;
}

static FovStatus measure(FovEstimator *estimator, Comparison *comparison,
                         const FovEstimatorKind *kind) {
  FovEstimatorSubject subject;
  FovGradientSums sums = {0};
  const FovGradientSums *reference = &comparison->references[kind->likelihood];
  *estimator = (FovEstimator){.name = kind->name, .likelihood = kind->likelihood};
  FovStatus status = sample(&sums, &subject, comparison, kind, comparison->request->samples,
                            comparison->request->seed);
  if (status == FOV_OK) {
    fov_gradient_figures(estimator, &sums, reference->sum ? reference : NULL,
                         &comparison->compared);
    if (kind == fov_estimator_kinds)
      comparison->average_return = sums.reward / (double)sums.samples;
  } else if (is_undefined(status)) {
    snprintf(estimator->reason, sizeof estimator->reason, "%s", fov_error_message());
    fov_text_clean(estimator->reason); // which may end inside a character
    status = FOV_OK;
  }
  fov_gradient_sums_finish(&sums);
  fov_estimator_finish(&subject);
  return status;
}

static FovStatus measure_all(Comparison *comparison) {
  FovGradientResult *result = comparison->result;
  while (fov_estimator_kinds[result->count].name) result->count++;
  result->estimators = calloc((size_t)result->count, sizeof *result->estimators);
  if (!result->estimators) return fov_fail(FOV_ERR_MEMORY, "no memory for figures");
  for (int i = 0; i < result->count; i++)
    FOV_TRY(measure(&result->estimators[i], comparison, &fov_estimator_kinds[i]));
  return FOV_OK;
}

FovStatus fov_gradient_measure(FovGradientResult *result, const FovGradientRequest *request) {
  Comparison comparison = {.request = request, .result = result};
  *result = (FovGradientResult){.count = 0};
  FOV_TRY(check_changes(request));
  FovStatus status = prepare(&comparison);
  if (status == FOV_OK) status = find_references(&comparison);
  if (status == FOV_OK) status = measure_all(&comparison);
  for (int i = 0; i < 2; i++) fov_gradient_sums_finish(&comparison.references[i]);
  fov_gradient_params_finish(&comparison.compared);
  return status;
}

void fov_gradient_finish(FovGradientResult *result) {
  free(result->estimators);
  *result = (FovGradientResult){.count = 0};
}
