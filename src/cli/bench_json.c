#include <stdio.h>

#include "base/text.h"
#include "cli/bench.h"
#include "record/json_text.h"

json_t *fov_bench_json_repeats(const FovRepeats *repeats) {
  FovSpread s = fov_spread_of(repeats);
  return json_pack("[f,f,f]", s.low, s.median, s.high);
}

/** Nothing of a figure that does not apply. */
static void set_repeats(json_t *object, const char *key, const FovRepeats *repeats) {
  if (repeats->count == 0) return;
  json_object_set_new(object, key, fov_bench_json_repeats(repeats));
}

/** Adds `object`, with the number of threads it was measured on, to a list of the result. */
static void append(json_t *root, const char *key, int threads, json_t *object) {
  json_t *list = json_object_get(root, key);
  if (!list) {
    list = json_array();
    json_object_set_new(root, key, list);
  }
  json_object_set_new(object, "threads", json_integer(threads));
  json_array_append_new(list, object);
}

static json_t *shape_json(const FovShape *shape) {
  const FovProduct *p = &shape->product;
  return json_pack("{s:i, s:i, s:i, s:b, s:b, s:f, s:f}", "m", p->m, "n", p->n, "k", p->k,
                   "a_transposed", p->a_transposed, "b_transposed", p->b_transposed, "share",
                   shape->share, "flops_per_second", shape->rate);
}

static void add_gemm(json_t *root, const FovBenchResult *result) {
  for (int i = 0; i < result->count; i++) {
    const FovShapes *shapes = &result->shapes[i];
    json_t *list = json_array();
    for (int j = 0; j < shapes->count; j++)
      if (shapes->list[j].rate > 0) json_array_append_new(list, shape_json(&shapes->list[j]));
    append(root, "products", result->threads[i], json_pack("{s:o}", "shapes", list));
  }
}

static void add_rates(json_t *root, const char *key, const char *name,
                      const FovRepeats rates[FOV_BENCH_THREADS], const FovBenchResult *result) {
  for (int i = 0; i < result->count; i++) {
    json_t *object = json_pack("{s:s}", "what", name);
    set_repeats(object, "per_second", &rates[i]);
    append(root, key, result->threads[i], object);
  }
}

static void add_glimpse(json_t *root, const FovBenchResult *result) {
  for (int scales = 1; scales <= FOV_MAX_SCALES; scales++) {
    char name[32];
    snprintf(name, sizeof name, "%d scale%s", scales, fov_plural(scales));
    add_rates(root, "glimpse", name, result->glimpses[scales - 1], result);
  }
}

static void add_env(json_t *root, const FovBenchResult *result) {
  add_rates(root, "env", "images", result->images, result);
}

static json_t *phases_json(const FovTrainRate *rate) {
  static const char *const names[FOV_PHASES + 1] = {
      [FOV_PHASE_MODEL] = "model",   [FOV_PHASE_PRODUCTS] = "products",
      [FOV_PHASE_ENV] = "env",       [FOV_PHASE_SENSOR] = "sensor",
      [FOV_PHASE_REDUCE] = "reduce", [FOV_PHASE_OPTIMISE] = "optimiser",
      [FOV_PHASES] = "waiting",
  };
  json_t *object = json_object();
  for (int i = 0; i <= FOV_PHASES; i++) set_repeats(object, names[i], &rate->phases[i]);
  return object;
}

static void add_train(json_t *root, const FovBenchResult *result) {
  for (int i = 0; i < result->count; i++) {
    const FovTrainRate *rate = &result->train[i];
    json_t *object = json_pack("{s:f}", "flops_per_glimpse", result->flops);
    set_repeats(object, "limit_flops_per_second", &rate->limit);
    set_repeats(object, "glimpses_per_second", &rate->glimpses);
    set_repeats(object, "glimpses_per_second_beside_busy_processes", &rate->beside);
    set_repeats(object, "bytes_sent_per_update", &rate->sent);
    json_object_set_new(object, "busy_processes", json_integer(fov_bench_busy(result)));
    set_repeats(object, "share_of_limit", &rate->share);
    set_repeats(object, "page_faults_per_update", &rate->faults);
    set_repeats(object, "evaluated_glimpses_per_second", &rate->evaluated);
    json_object_set_new(object, "shares_of_time", phases_json(rate));
    append(root, "train", rate->threads, object);
  }
}

json_t *fov_bench_json(const FovBenchResult *result) {
  static void (*const add[FOV_BENCH_PHASES])(json_t *, const FovBenchResult *) = {
      [FOV_BENCH_GEMM] = add_gemm,
      [FOV_BENCH_GLIMPSE] = add_glimpse,
      [FOV_BENCH_ENV] = add_env,
      [FOV_BENCH_TRAIN] = add_train,
  };
  const FovExperiment *experiment = &result->subject->experiment;
  json_t *root = json_pack("{s:o, s:s, s:I}", "subject", fov_json_string(result->name), "core",
                           experiment->slots[FOV_SLOT_CORE].plugin->name, "parameters",
                           (json_int_t)fov_params_learned(&experiment->agent.params));
  for (int phase = 0; phase < FOV_BENCH_PHASES; phase++)
    if (result->has[phase]) add[phase](root, result);
  return root;
}
