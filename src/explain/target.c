#include "explain/target.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const names[] = {"logit",      "log_p",      "entropy", "baseline",
                                    "location_x", "location_y", NULL};

static bool has_class(FovTargetKind kind) {
  return kind == FOV_TARGET_LOGIT || kind == FOV_TARGET_LOG_P;
}

static bool is_location(FovTargetKind kind) {
  return kind == FOV_TARGET_LOCATION_X || kind == FOV_TARGET_LOCATION_Y;
}

/** The kind whose name is the first `length` bytes; −1: none. */
static int find_kind(const char *text, size_t length) {
  for (int k = 0; names[k]; k++)
    if (strlen(names[k]) == length && strncmp(text, names[k], length) == 0) return k;
  return -1;
}

/** A class: "answer", "label" or its number; false: it is none. */
static bool parse_class(int *output, const char *text) {
  char *end;
  *output = FOV_CLASS_ANSWER;
  if (strcmp(text, "answer") == 0) return true;
  *output = FOV_CLASS_LABEL;
  if (strcmp(text, "label") == 0) return true;
  long number = strtol(text, &end, 10);
  *output = (int)number;
  return end != text && *end == '\0' && number >= 0 && number < FOV_MAX_ACTIONS;
}

FovStatus fov_target_parse(FovTarget *target, const char *text) {
  size_t length = strcspn(text, ":");
  int kind = find_kind(text, length);
  *target = (FovTarget){.kind = (FovTargetKind)kind, .output = FOV_CLASS_ANSWER};
  if (kind >= 0 && text[length] == '\0') return FOV_OK;
  if (kind >= 0 && has_class(target->kind) && parse_class(&target->output, text + length + 1))
    return FOV_OK;
  return fov_fail(
      FOV_ERR_USAGE,
      "--target %s: expected logit, log_p, entropy, baseline, location_x or location_y; "
      "logit and log_p may name a class: logit:answer, logit:label, logit:3",
      text);
}

/** Whether a policy has a mean, which it then records. */
static bool has_mean(const FovTask *task) {
  FovColumn columns[FOV_COLUMNS];
  int count = fov_task_columns(columns, task);
  for (int c = 0; c < count; c++)
    if (strcmp(columns[c].name, "mean") == 0) return true;
  return false;
}

FovStatus fov_target_check(const FovTarget *target, const FovTask *task) {
  const char *name = names[target->kind], *env = task->env->type->plugin.name;
  FovAnswerKind answer = task->env->spec.answer;
  int glimpses = fov_task_glimpses(task), next = is_location(target->kind);
  if (target->time > glimpses - next)
    return fov_fail(
        FOV_ERR_USAGE, "--time %d: expected at most %d, %s", target->time, glimpses - next,
        next ? "since no place is chosen after the last glimpse" : "the glimpses of an episode");
  bool probable = target->kind == FOV_TARGET_LOG_P || target->kind == FOV_TARGET_ENTROPY;
  if (probable && answer == FOV_ANSWER_VECTOR)
    return fov_fail(FOV_ERR_USAGE,
                    "--target %s: expected answers with probabilities, and env = %s "
                    "asks for a vector; name one of its numbers: logit:0",
                    name, env);
  if (has_class(target->kind) && target->output == FOV_CLASS_LABEL && answer != FOV_ANSWER_CLASS)
    return fov_fail(FOV_ERR_USAGE, "--target %s:label: env = %s has no labels", name, env);
  if (has_class(target->kind) && target->output >= task->agent->actions)
    return fov_fail(FOV_ERR_USAGE, "--target %s:%d: expected a %s from 0 to %d", name,
                    target->output, answer == FOV_ANSWER_VECTOR ? "number of the vector" : "class",
                    task->agent->actions - 1);
  if (target->kind == FOV_TARGET_BASELINE && !task->baseline->predict)
    return fov_fail(FOV_ERR_USAGE, "--target baseline: baseline = %s predicts nothing",
                    task->baseline->plugin.name);
  if (is_location(target->kind) && !has_mean(task))
    return fov_fail(FOV_ERR_USAGE,
                    "--target %s: policy = %s has no mean; expected gaussian or "
                    "relative",
                    name, task->policy->plugin.name);
  if (is_location(target->kind) && glimpses == 1 && task->options.first != FOV_FIRST_LEARNED)
    return fov_fail(FOV_ERR_USAGE,
                    "--target %s: expected 2 glimpses or more, or first = learned: the agent "
                    "chooses no place",
                    name);
  return FOV_OK;
}

FovReader fov_target_reader(const FovTarget *target) {
  if (is_location(target->kind)) return FOV_READER_POLICY;
  return target->kind == FOV_TARGET_BASELINE ? FOV_READER_BASELINE : FOV_READER_ANSWER;
}

int fov_target_step(const FovTarget *target, const FovHeld *held, int b) {
  int next = is_location(target->kind), latest = held->rollout.glimpses[b] - next;
  if (target->time > 0) return target->time < latest ? target->time : latest;
  return held->last[b] - next;
}

/** The answer that the target belongs to, in arrays [B, N]. */
static size_t turn_of(const FovTarget *target, const FovHeld *held, int b) {
  const FovRollout *rollout = &held->rollout;
  int t = target->time > 0 ? fov_target_step(target, held, b) : held->last[b];
  return (size_t)b * rollout->turns + (size_t)held->turns[b * rollout->time_steps + t];
}

int fov_target_label(const FovTarget *target, const FovHeld *held, int b) {
  return held->rollout.labels[turn_of(target, held, b)];
}

int fov_target_answer(const FovTarget *target, const FovHeld *held, int b) {
  return held->rollout.answers[turn_of(target, held, b)];
}

/** The class that is explained, or the number of a vector. */
static int output_of(const FovTarget *target, const FovHeld *held, int b) {
  if (target->output >= 0) return target->output;
  bool label = target->output == FOV_CLASS_LABEL;
  int output = label ? fov_target_label(target, held, b) : fov_target_answer(target, held, b);
  return output < 0 ? 0 : output; // an answered vector is no class
}

/** log Σ e^x */
static double log_sum(const real *x, int count) {
  double top = (double)x[0], sum = 0;
  for (int j = 1; j < count; j++) top = fmax(top, (double)x[j]);
  for (int j = 0; j < count; j++) sum += exp((double)x[j] - top);
  return top + log(sum);
}

static double log_probability(real *slope, const real *x, int count, int output) {
  double sum = log_sum(x, count);
  for (int j = 0; j < count && slope; j++)
    slope[j] = (real)((j == output) - exp((double)x[j] - sum));
  return (double)x[output] - sum;
}

/** H = −Σ p log p; dH/dx_j = −p_j (log p_j + H) */
static double entropy(real *slope, const real *x, int count) {
  double sum = log_sum(x, count), H = 0;
  for (int j = 0; j < count; j++) H -= exp((double)x[j] - sum) * ((double)x[j] - sum);
  for (int j = 0; j < count && slope; j++) {
    double log_p = (double)x[j] - sum;
    slope[j] = (real)(-exp(log_p) * (log_p + H));
  }
  return H;
}

static double element(real *slope, const real *x, int count, int which) {
  for (int j = 0; j < count && slope; j++) slope[j] = j == which;
  return (double)x[which];
}

double fov_target_value(real *slope, const FovTarget *target, const FovHeld *held, int b,
                        const real *x, int count) {
  switch (target->kind) {
  case FOV_TARGET_LOGIT:
    return element(slope, x, count, output_of(target, held, b));
  case FOV_TARGET_LOG_P:
    return log_probability(slope, x, count, output_of(target, held, b));
  case FOV_TARGET_ENTROPY:
    return entropy(slope, x, count);
  case FOV_TARGET_LOCATION_Y:
    return element(slope, x, count, 1);
  default:
    return element(slope, x, count, 0);
  }
}
