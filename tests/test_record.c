/** Checkpoints, recorded episodes and run directories of a toy training (tests/toy.h). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dirent.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/digest.h"
#include "base/file.h"
#include "base/gemm.h"
#include "base/version.h"
#include "check.h"
#include "record/checkpoint.h"
#include "record/recorder.h"
#include "record/run.h"
#include "record/safetensors.h"
#include "tests/folder.h"
#include "toy.h"

static int enter(void **state) {
  (void)state;
  return make_folder("last.safetensors");
}

/** A path inside the test's folder. */
static const char *inside(const char *name) {
  snprintf(path, sizeof path, "%s/%s", folder, name);
  return path;
}

/** Reads the whole file at `path`. */
static char *read_path(size_t *size) {
  char *data;
  assert_int_equal(fov_file_read(&data, size, path, 1 << 24), FOV_OK);
  return data;
}

/* ---- blocks of parameters, counted by the linker's --wrap ---- */

static int blocks;

real *__real_fov_params_block(const FovParams *params);
real *__wrap_fov_params_block(const FovParams *params);

real *__wrap_fov_params_block(const FovParams *params) {
  blocks++;
  return __real_fov_params_block(params);
}

/* ---- checkpoints ---- */

static const FovIdentity identity = {.config = "core = rnn\nseed = 0\n", .data = 7};
static const FovBest best = {.loss = -0.75, .error = 0.25, .update = 2};

static void save(const Toy *toy, FovTrainer *trainer) {
  assert_int_equal(fov_checkpoint_save(path, &toy->experiment.agent.params,
                                       fov_trainer_state(trainer), fov_trainer_weights(trainer),
                                       &best, &identity),
                   FOV_OK);
}

static FovStatus load(const Toy *toy, FovTrainer *trainer, FovBest *loaded) {
  FovSafetensors *file;
  FOV_TRY(fov_safetensors_open(&file, path));
  FovStatus status =
      fov_checkpoint_load(fov_trainer_state(trainer), loaded, &toy->experiment.agent.params, file);
  fov_safetensors_close(file);
  return status;
}

/** Opens the file at `path`. */
static FovSafetensors *open_path(void) {
  FovSafetensors *file;
  assert_int_equal(fov_safetensors_open(&file, path), FOV_OK);
  return file;
}

static FovStatus load_weights(real **values, int64_t *update, const FovParams *params,
                              bool averaged) {
  FovSafetensors *file = open_path();
  FovStatus status = fov_checkpoint_load_weights(values, update, params, averaged, file);
  fov_safetensors_close(file);
  return status;
}

static FovStatus check_data(uint64_t data) {
  FovSafetensors *file = open_path();
  FovStatus status = fov_checkpoint_check_data(file, data);
  fov_safetensors_close(file);
  return status;
}

/** A training that is stopped and resumed equals, bit for bit, one that was not stopped. */
static void test_a_resumed_training_is_the_same_training(void **state) {
  (void)state;
  for (const FovOptimiser *const *o = fov_optimisers; *o; o++) {
    Toy toy;
    char settings[128];
    snprintf(settings, sizeof settings,
             "optimiser = %s\nbaseline = average\ntrain.batch = 100\nlayers = 2\n"
             "context.side = 4\ncore.width = 32\n",
             (*o)->plugin.name);
    toy_create(&toy, settings);
    FovTrainer *whole = toy_trainer(&toy, 1), *begun = toy_trainer(&toy, 1);
    toy_train(whole, 7);
    toy_train(begun, 3);
    save(&toy, begun);
    fov_trainer_destroy(begun);
    FovTrainer *resumed = toy_trainer(&toy, 2);
    FovBest loaded;
    assert_int_equal(load(&toy, resumed, &loaded), FOV_OK);
    assert_true(loaded.loss == best.loss && loaded.error == best.error &&
                loaded.update == best.update);
    toy_train(resumed, 4);
    assert_same_state(&toy, whole, resumed);
    fov_trainer_destroy(whole), fov_trainer_destroy(resumed);
    toy_finish(&toy);
  }
}

static void test_the_same_training_is_the_same_bytes(void **state) {
  (void)state;
  Toy toy;
  toy_create(&toy, "train.batch = 200\n");
  char *bytes[2];
  size_t sizes[2];
  for (int i = 0; i < 2; i++) {
    FovTrainer *trainer = toy_trainer(&toy, 1 + 2 * i);
    toy_train(trainer, 3);
    save(&toy, trainer);
    bytes[i] = read_path(&sizes[i]);
    fov_trainer_destroy(trainer);
  }
  assert_int_equal(sizes[0], sizes[1]);
  assert_memory_equal(bytes[0], bytes[1], sizes[0]);
  free(bytes[0]), free(bytes[1]);
  toy_finish(&toy);
}

/** Fails unless the file at `path` has this digest of the weights to evaluate. */
static void assert_names_weights(uint64_t digest) {
  char text[FOV_DIGEST_SIZE + 1];
  FovSafetensors *file = open_path();
  assert_string_equal(fov_safetensors_text(file, "weights"), fov_digest_print(text, digest));
  fov_safetensors_close(file);
}

static void test_a_digest_of_weights_covers_names_shapes_and_values(void **state) {
  (void)state;
  FovParams params = {0}, renamed = {0}, reshaped = {0};
  fov_params_add(&params, "a", 3, 5, FOV_INIT_ZERO, 1);
  fov_params_add(&renamed, "b", 3, 5, FOV_INIT_ZERO, 1);
  fov_params_add(&reshaped, "a", 5, 3, FOV_INIT_ZERO, 1);
  assert_int_equal(params.size, 16);
  real values[16] = {1, 2, 3};
  const uint64_t digest = fov_weights_digest(&params, values);
  assert_true(digest != fov_weights_digest(&renamed, values));
  assert_true(digest != fov_weights_digest(&reshaped, values));
  values[15] = 1; // padding
  assert_true(digest == fov_weights_digest(&params, values));
  for (int i = 0; i < 15; i++) {
    real before = values[i];
    values[i] += 1;
    assert_true(digest != fov_weights_digest(&params, values));
    values[i] = before;
  }
  fov_params_finish(&params), fov_params_finish(&renamed), fov_params_finish(&reshaped);
}

static void test_weights_and_configuration_alone(void **state) {
  (void)state;
  Toy toy;
  toy_create(&toy, "");
  FovTrainer *trainer = toy_trainer(&toy, 1);
  const FovParams *params = &toy.experiment.agent.params;
  const FovTrainerState *s = fov_trainer_state(trainer);
  toy_train(trainer, 3);
  save(&toy, trainer);
  assert_memory_not_equal(s->average, s->value, toy_block_bytes(&toy));
  for (int averaged = 0; averaged < 2; averaged++) {
    real *values;
    int64_t update = 0;
    assert_int_equal(load_weights(&values, &update, params, averaged), FOV_OK);
    assert_memory_equal(values, averaged ? s->average : s->value, toy_block_bytes(&toy));
    assert_int_equal(update, 3);
    free(values);
  }
  assert_names_weights(fov_weights_digest(params, s->average));
  const char *config;
  FovSafetensors *file = open_path();
  assert_string_equal(fov_safetensors_path(file), path);
  assert_int_equal(fov_checkpoint_config(&config, file), FOV_OK);
  assert_string_equal(config, identity.config);
  fov_safetensors_close(file);
  fov_trainer_destroy(trainer);
  toy_finish(&toy);
}

static FovStatus load_standard(FovStandard *standard) {
  FovSafetensors *file = open_path();
  FovStatus status = fov_checkpoint_standard(standard, file);
  fov_safetensors_close(file);
  return status;
}

static void test_a_checkpoint_keeps_how_images_are_standardised(void **state) {
  (void)state;
  Toy toy;
  toy_create(&toy, "");
  FovTrainer *trainer = toy_trainer(&toy, 1);
  const FovParams *params = &toy.experiment.agent.params;
  const real *weights = fov_trainer_weights(trainer);
  const FovStandard none = {.channels = 0}, grey = {1, {0.25}, {0.5}},
                    rgb = {3, {0.1, 0.2, 0.3}, {1, 2, 3}}, *all[] = {&none, &grey, &rgb};
  for (int i = 0; i < 6; i++) {
    FovIdentity with = identity;
    with.standard = *all[i / 2];
    FovStandard found = {.channels = 7};
    FovStatus status = i % 2 ? fov_checkpoint_save_weights(path, params, weights, 3, &with)
                             : fov_checkpoint_save(path, params, fov_trainer_state(trainer),
                                                   weights, &best, &with);
    assert_int_equal(status, FOV_OK);
    assert_int_equal(load_standard(&found), FOV_OK);
    assert_int_equal(found.channels, with.standard.channels);
    assert_memory_equal(found.mean, with.standard.mean, sizeof found.mean);
    assert_memory_equal(found.deviation, with.standard.deviation, sizeof found.deviation);
  }
  FovIdentity flat = identity;
  flat.standard = (FovStandard){1, {0.25}, {0}};
  assert_int_equal(fov_checkpoint_save_weights(path, params, weights, 3, &flat), FOV_OK);
  assert_int_equal(load_standard(&flat.standard), FOV_ERR_FORMAT);
  assert_message("state.deviation: expected numbers above 0, found 0");
  fov_trainer_destroy(trainer);
  toy_finish(&toy);
}

static void test_best_weights_alone(void **state) {
  (void)state;
  Toy toy;
  toy_create(&toy, "");
  FovTrainer *trainer = toy_trainer(&toy, 1);
  const FovParams *params = &toy.experiment.agent.params;
  FovTrainerState *s = fov_trainer_state(trainer);
  toy_train(trainer, 3);
  assert_int_equal(fov_checkpoint_save_weights(path, params, s->average, 3, &identity), FOV_OK);
  for (int averaged = 0; averaged < 2; averaged++) {
    real *values;
    int64_t update = 0;
    assert_int_equal(load_weights(&values, &update, params, averaged), FOV_OK);
    assert_memory_equal(values, s->average, toy_block_bytes(&toy));
    assert_int_equal(update, 3);
    free(values);
  }
  assert_names_weights(fov_weights_digest(params, s->average));
  // Enough to evaluate, but not to resume.
  FovBest lost;
  assert_int_equal(load(&toy, trainer, &lost), FOV_ERR_FORMAT);
  assert_message("average.");
  s->average[0] = NAN;
  assert_int_equal(fov_checkpoint_save_weights(path, params, s->average, 4, &identity),
                   FOV_ERR_NUMBER);
  fov_trainer_destroy(trainer);
  toy_finish(&toy);
}

/** No memory of the configuration's size is allocated before the file is known to contain the
 * parameters. */
static void assert_weights_refused(const Toy *toy, const char *param) {
  real *values;
  int64_t update;
  int before = blocks;
  assert_int_equal(load_weights(&values, &update, &toy->experiment.agent.params, false),
                   FOV_ERR_FORMAT);
  assert_message(path);
  assert_message(param);
  assert_null(values);
  assert_int_equal(blocks, before);
}

static void test_a_checkpoint_of_another_agent_is_refused(void **state) {
  (void)state;
  Toy toy;
  toy_create(&toy, "");
  FovTrainer *trainer = toy_trainer(&toy, 1);
  save(&toy, trainer);
  fov_trainer_destroy(trainer);
  toy_finish(&toy);
  const struct {
    const char *settings, *param;
  } others[] = {{"core.width = 13\n", "core.w"},
                {"core = lstm\n", "core.w"},
                {"layers = 2\n", "gaze.core.w"},
                {"glimpse.where = 9\n", "where.w"},
                {"sensor.side = 5\n", "encoder.w"},
                {"glimpse.width = 1024\ncore.width = 1024\n", "glimpse.what"}};
  for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
    FovBest loaded;
    toy_create(&toy, others[i].settings);
    trainer = toy_trainer(&toy, 1);
    assert_int_equal(load(&toy, trainer, &loaded), FOV_ERR_FORMAT);
    assert_message(path);
    assert_message(others[i].param);
    assert_weights_refused(&toy, others[i].param);
    fov_trainer_destroy(trainer);
    toy_finish(&toy);
  }
}

/** An invalid state is not saved, and the file stays as it was. */
static void assert_save_refused(const Toy *toy, FovTrainer *trainer, const char *name) {
  size_t before_size, after_size;
  char *before = read_path(&before_size);
  assert_int_equal(fov_checkpoint_save(path, &toy->experiment.agent.params,
                                       fov_trainer_state(trainer), fov_trainer_weights(trainer),
                                       &best, &identity),
                   FOV_ERR_NUMBER);
  assert_message(path);
  assert_message(name);
  char *after = read_path(&after_size);
  assert_int_equal(after_size, before_size);
  assert_memory_equal(after, before, after_size);
  free(before), free(after);
}

/** Overwrites the start of an array of the checkpoint with `value`; loading must fail. */
static void assert_load_refused(const Toy *toy, FovTrainer *trainer, const char *name,
                                const void *value, size_t size, const char *message) {
  save(toy, trainer);
  size_t length;
  uint64_t header;
  char *data = read_path(&length);
  memcpy(&header, data, sizeof header);
  FovSafetensors *file = open_path();
  const char *array = fov_safetensors_find(file, name)->data;
  ptrdiff_t offset = array - (const char *)fov_safetensors_at(file, 0)->data;
  fov_safetensors_close(file);
  drop_digest(data);
  memcpy(data + sizeof header + header + offset, value, size);
  assert_int_equal(fov_file_write(path, data, length), FOV_OK);
  free(data);
  FovBest loaded;
  assert_int_not_equal(load(toy, trainer, &loaded), FOV_OK);
  assert_message(path);
  assert_message(message);
}

static void test_numbers_that_are_not_finite_are_refused(void **state) {
  (void)state;
  Toy toy;
  toy_create(&toy, "");
  FovTrainer *trainer = toy_trainer(&toy, 1);
  FovTrainerState *s = fov_trainer_state(trainer);
  const FovParams *params = &toy.experiment.agent.params;
  const FovParam *last = &params->list[params->count - 1];
  assert_string_equal(last->name, "baseline.bias");
  save(&toy, trainer);
  const struct {
    real *number, bad;
    const char *name;
  } cases[] = {{s->value + 2, NAN, ": number 2 of encoder.w is not finite"},
               {s->value + last->offset, INFINITY, ": number 0 of baseline.bias "},
               {s->average + last->offset, NAN, " of average.baseline.bias "},
               {s->first, -INFINITY, " of first.encoder.w "},
               {s->second, NAN, " of second.encoder.w "}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    real kept = *cases[i].number;
    *cases[i].number = cases[i].bad;
    assert_save_refused(&toy, trainer, cases[i].name);
    *cases[i].number = kept;
  }
  s->average_return = NAN;
  assert_save_refused(&toy, trainer, "state.average_return");
  s->average_return = 0;
  const real nan = NAN;
  const double infinite = INFINITY;
#define POISON(name, value) assert_load_refused(&toy, trainer, name, &value, sizeof value, name)
  POISON("encoder.w", nan);
  POISON("average.baseline.bias", nan);
  POISON("second.encoder.w", nan);
  POISON("state.average_return", infinite);
#undef POISON
  fov_trainer_destroy(trainer);
  toy_finish(&toy);
}

static void test_an_invalid_state_is_refused(void **state) {
  (void)state;
  Toy toy;
  toy_create(&toy, "");
  FovTrainer *trainer = toy_trainer(&toy, 1);
  FovTrainerState *s = fov_trainer_state(trainer);
  save(&toy, trainer);
  s->update = -1;
  assert_save_refused(&toy, trainer, "state.update");
  s->update = 2;
  const int64_t minus_one = -1, three = 3;
  assert_load_refused(&toy, trainer, "state.update", &minus_one, 8, "state.update");
  assert_load_refused(&toy, trainer, "state.sums.updates", &three, 8,
                      "state.update: expected 3 or more, the updates to report, found 2");
  fov_trainer_destroy(trainer);
  toy_finish(&toy);
}

static void test_other_data_are_refused(void **state) {
  (void)state;
  Toy toy;
  toy_create(&toy, "");
  FovTrainer *trainer = toy_trainer(&toy, 1);
  save(&toy, trainer);
  fov_trainer_destroy(trainer);
  toy_finish(&toy);
  assert_int_equal(check_data(identity.data), FOV_OK);
  assert_int_equal(check_data(identity.data + 1), FOV_ERR_USAGE);
  assert_message(path);
  assert_message("was started on other training data; see env.data");
  assert_int_equal(fov_safetensors_write(path, NULL, 0, NULL, 0), FOV_OK);
  assert_int_equal(check_data(identity.data), FOV_ERR_FORMAT);
  assert_message("not a fovea checkpoint");
}

static void test_files_that_are_not_checkpoints_are_refused(void **state) {
  (void)state;
  const char *config;
  Toy toy;
  FovBest loaded;
  toy_create(&toy, "");
  FovTrainer *trainer = toy_trainer(&toy, 1);
  assert_int_equal(load(&toy, trainer, &loaded), FOV_ERR_IO);
  assert_message(path);
  assert_int_equal(fov_file_write(path, "0123456789", 10), FOV_OK);
  assert_int_equal(load(&toy, trainer, &loaded), FOV_ERR_FORMAT);
  assert_message(path);
  assert_int_equal(fov_safetensors_write(path, NULL, 0, NULL, 0), FOV_OK);
  FovSafetensors *file = open_path();
  assert_int_equal(fov_checkpoint_config(&config, file), FOV_ERR_FORMAT);
  assert_message(path);
  fov_safetensors_close(file);
  snprintf(path, sizeof path, "%s/nowhere/last.safetensors", folder);
  assert_int_equal(fov_checkpoint_save(path, &toy.experiment.agent.params,
                                       fov_trainer_state(trainer), fov_trainer_weights(trainer),
                                       &best, &(FovIdentity){.config = ""}),
                   FOV_ERR_IO);
  assert_message(path);
  fov_trainer_destroy(trainer);
  toy_finish(&toy);
}

/* ---- recorder ---- */

/** Records episodes as requested, of an agent whose weights are then freed. */
static FovTrace record_values(const Toy *toy, FovRecordRequest what, real *values) {
  FovWorkspace workspace;
  FovTrace trace;
  assert_int_equal(fov_workspace_create(&workspace, 1), FOV_OK);
  what.task = &toy->task;
  what.values = values;
  what.update = 12;
  what.seed = 9;
  assert_int_equal(fov_record_trace(&trace, &what, &workspace), FOV_OK);
  fov_workspace_finish(&workspace);
  free(values);
  return trace;
}

/** The same of a freshly initialised agent. */
static FovTrace record_what(const Toy *toy, FovRecordRequest what) {
  const FovParams *params = &toy->experiment.agent.params;
  real *values = fov_params_block(params);
  fov_params_init(values, params, 4);
  return record_values(toy, what, values);
}

static FovTrace record(const Toy *toy, int episodes, bool sampled) {
  return record_what(toy, (FovRecordRequest){.episodes = episodes, .sampled = sampled});
}

/** A trace contains the digest of the weights that played it, like a checkpoint of them. */
static void test_a_trace_names_its_weights(void **state) {
  (void)state;
  Toy toy;
  toy_create(&toy, "");
  FovTrace trace = record(&toy, 1, false);
  const FovParams *params = &toy.experiment.agent.params;
  real *values = fov_params_block(params);
  fov_params_init(values, params, 4);
  char digest[FOV_DIGEST_SIZE + 1];
  assert_string_equal(trace.weights, fov_digest_print(digest, fov_weights_digest(params, values)));
  assert_string_equal(trace.subset, "");
  free(values);
  fov_trace_finish(&trace);
  toy_finish(&toy);
}

/** After the first cases come only wrong ones, in the order of a trace of all cases. */
static void check_wrong(const char *settings, int episodes, int wrong, int expected) {
  Toy toy;
  toy_create(&toy, settings);
  FovTrace all = record(&toy, 150, false);
  FovTrace some = record_what(&toy, (FovRecordRequest){.episodes = episodes, .wrong = wrong});
  size_t pixels = (size_t)TOY_SIDE * TOY_SIDE * all.frames;
  int e = 0, total = 0;
  for (int c = 0; c < 150; c++) total += all.wrong[c];
  assert_in_range(total, 10, 149);
  for (int c = 0; c < 150 && e < some.episodes; c++) {
    if (c >= episodes && !all.wrong[c]) continue;
    assert_int_equal(some.wrong[e], all.wrong[c]);
    assert_int_equal(some.lengths[e], all.lengths[c]);
    assert_memory_equal(some.images + e * pixels, all.images + c * pixels, pixels);
    e++;
  }
  assert_int_equal(e, some.episodes);
  assert_int_equal(e, expected);
  fov_trace_finish(&all), fov_trace_finish(&some);
  toy_finish(&toy);
}

static void test_wrong_episodes_follow_the_first_ones(void **state) {
  (void)state;
  check_wrong("env.cases = 150\n", 7, 5, 12);
  check_wrong("env.cases = 150\nenv = toy_game\nglimpses = 2\n", 7, 5, 12);
  check_wrong("env.cases = 150\n", 70, 3, 73);
  check_wrong("env.cases = 150\n", 150, 3, 150);
  Toy toy;
  toy_create(&toy, "env.cases = 150\n");
  FovTrace trace = record_what(&toy, (FovRecordRequest){.episodes = 1, .wrong = 1000});
  assert_string_equal(trace.subset, "first 1, then wrong");
  assert_in_range(trace.episodes, 10, 149);
  for (int e = 1; e < trace.episodes; e++) assert_int_equal(trace.wrong[e], 1);
  fov_trace_finish(&trace);
  toy_finish(&toy);
}

/** Episode e, glimpse t: the retina has the sensor's output, and the answer is the likeliest class.
 */
static void check_step(const FovTrace *trace, const FovSensor *sensor, int e, int t) {
  size_t i = (size_t)e * (size_t)trace->glimpses + (size_t)t;
  int likeliest = 0;
  int features = fov_glimpse_features(fov_sensor_glimpse(sensor, TOY_SIDE, TOY_SIDE, 1));
  const float *l = trace->locations + 2 * i, *p = trace->probabilities + TOY_ACTIONS * i;
  const FovImage image = {.bytes = trace->images + (size_t)e * TOY_SIDE * TOY_SIDE,
                          .height = TOY_SIDE,
                          .width = TOY_SIDE,
                          .channels = 1};
  real glimpse[TOY_SIDE * TOY_SIDE];
  assert_in_range(features, 1, TOY_SIDE * TOY_SIDE);
  fov_sensor_look(glimpse, sensor, &image, l[0], l[1]);
  for (int j = 0; j < features; j++)
    assert_int_equal(trace->retina[i * (size_t)features + (size_t)j], lround(255. * glimpse[j]));
  for (int a = 0; a < TOY_ACTIONS; a++) likeliest = p[a] > p[likeliest] ? a : likeliest;
  assert_near(p[0] + p[1] + p[2], 1, 1e-5, "probabilities of episode %d, glimpse %d", e, t);
  bool last = t == trace->glimpses - 1;
  assert_int_equal(trace->labels[i], e % TOY_ACTIONS);
  assert_int_equal(trace->answers[i], last ? likeliest : -1);
  assert_true(trace->rewards[i] == (last && trace->answers[i] == trace->labels[i]));
  if (last) assert_int_equal(trace->wrong[e], trace->answers[i] != trace->labels[i]);
}

static void check_trace(const char *settings, int side, int scales) {
  Toy toy;
  toy_create(&toy, settings);
  toy_resets = 0;
  FovTrace trace = record(&toy, 70, false);
  // The last 70 resets: earlier ones measured the memory.
  const ToyReset *resets = toy_log + toy_resets - 70;
  assert_int_equal(trace.episodes, 70);
  assert_int_equal(trace.glimpses, 3);
  assert_int_equal(trace.update, 12);
  assert_int_equal(trace.side, side);
  assert_int_equal(trace.scales, scales);
  assert_int_equal(trace.whole, toy.experiment.sensor.whole);
  assert_in_range(toy_resets, 70, TOY_LOG);
  for (int e = 0; e < 70; e++) {
    // The image is the case's, with the clutter of the case's generator.
    FovRng rng = fov_rng_stream(9, FOV_STREAM_FIXED_ENV, (uint64_t)e);
    assert_int_equal(resets[e].index, e);
    assert_int_equal(trace.images[e * TOY_SIDE * TOY_SIDE], (uint8_t)fov_rng_u32(&rng));
    assert_int_equal(trace.lengths[e], 3);
    for (int t = 0; t < 3; t++) check_step(&trace, &toy.experiment.sensor, e, t);
  }
  snprintf(path, sizeof path, "%s/trace.safetensors", folder);
  assert_int_equal(fov_trace_write(&trace, path), FOV_OK);
  FovTrace read;
  assert_int_equal(fov_trace_read(&read, path), FOV_OK);
  assert_memory_equal(read.locations, trace.locations, 70 * 3 * 2 * sizeof(float));
  fov_trace_finish(&read);
  fov_trace_finish(&trace);
  toy_finish(&toy);
}

static void test_a_trace_records_the_rollout(void **state) {
  (void)state;
  check_trace("env.cases = 90\nsensor.scales = 2\n", 4, 2);
  check_trace("env.cases = 90\nsensor.scales = 2\nsensor.whole = yes\n", TOY_SIDE, 1);
}

/** A trace shows brightness, although the agent is shown standardised images. */
static void test_a_trace_of_standardised_images_shows_brightness(void **state) {
  (void)state;
  enum { EPISODES = 8 };
  Toy toy;
  const FovStandard standard = {.channels = 1, .mean = {0.3}, .deviation = {0.2}};
  toy_create(&toy, "sensor.whole = yes\nsensor.gain = 3\n");
  toy.task.standard = &standard;
  FovTrace trace = record(&toy, EPISODES, false);
  assert_int_equal(trace.side, TOY_SIDE);
  for (int i = 0; i < EPISODES * trace.glimpses; i++)
    assert_memory_equal(trace.retina + i * TOY_SIDE * TOY_SIDE,
                        trace.images + i / trace.glimpses * TOY_SIDE * TOY_SIDE,
                        TOY_SIDE * TOY_SIDE);
  fov_trace_finish(&trace);
  toy_finish(&toy);
}

/** Every frame of a game is recorded as it was seen; after an episode's end there is nothing. */
static void test_a_trace_of_a_game_records_the_rollout(void **state) {
  (void)state;
  enum { EPISODES = 20, PIXELS = TOY_SIDE * TOY_SIDE };
  Toy toy;
  toy_create(&toy, "env = toy_game\nglimpses = 2\n");
  FovTrace trace = record(&toy, EPISODES, true);
  int T = trace.glimpses, features = fov_glimpse_features(toy.experiment.agent.glimpse), moved = 0;
  assert_true(trace.control && trace.frames == T);
  for (int i = 0; i < EPISODES * T; i++) {
    int t = i % T, length = trace.lengths[i / T];
    const uint8_t *frame = trace.images + i * PIXELS;
    const FovImage image = {.bytes = frame, .height = TOY_SIDE, .width = TOY_SIDE, .channels = 1};
    real glimpse[PIXELS];
    assert_int_equal(trace.labels[i], -1);
    assert_int_equal(trace.answers[i] >= 0, t < length && t % 2 == 1);
    assert_int_equal(isnan(trace.baselines[i]), t == 0 || t >= length);
    if (t >= length) continue;
    fov_sensor_look(glimpse, &toy.experiment.sensor, &image, trace.locations[2 * i],
                    trace.locations[2 * i + 1]);
    for (int j = 0; j < features; j++)
      assert_int_equal(trace.retina[i * features + j], lround(255. * glimpse[j]));
    if (t > 0) moved += memcmp(frame, frame - PIXELS, PIXELS) != 0;
  }
  assert_true(moved > EPISODES / 2);
  fov_trace_finish(&trace);
  toy_finish(&toy);
}

/** The retina of a glimpse, of which the cue is no part. */
static void check_patch(const FovTrace *trace, const FovSensor *sensor, int i) {
  real glimpse[16];
  const FovImage image = {.bytes = trace->images + i / trace->glimpses * TOY_SIDE * TOY_SIDE,
                          .height = TOY_SIDE,
                          .width = TOY_SIDE,
                          .channels = 1};
  if (i % trace->glimpses >= trace->lengths[i / trace->glimpses]) return;
  fov_sensor_look(glimpse, sensor, &image, trace->locations[2 * i], trace->locations[2 * i + 1]);
  for (int j = 0; j < 16; j++)
    assert_int_equal(trace->retina[16 * i + j], lround(255. * (double)glimpse[j]));
}

/** Where the answer is a place, the one that was answered and the true one are recorded as
 * locations; of a toy_walk, also what was shown at each. */
static void test_a_trace_records_answered_places(void **state) {
  (void)state;
  enum { EPISODES = 20 };
  Toy toy;
  toy_create(&toy, "env = toy_find\nglimpses = 2\nenv.cases = 90\n");
  FovTrace trace = record(&toy, EPISODES, false);
  const float *answer = fov_trace_column(&trace, "answer.place", 2);
  const float *target = fov_trace_column(&trace, "answer.target", 2);
  assert_true(trace.control && answer && target);
  for (int i = 0; i < EPISODES * trace.glimpses; i++) {
    int e = i / trace.glimpses, t = i % trace.glimpses;
    bool answered = t < trace.lengths[e] && t % 2 == 1;
    check_patch(&trace, &toy.experiment.sensor, i);
    assert_int_equal(!isnan(answer[2 * i]), answered);
    assert_int_equal(!isnan(target[2 * i + 1]), answered);
    if (!answered) continue;
    // (1, 1) stands for the location (0.5, 0.5).
    assert_close(target[2 * i], (e % 5 - 2) / 2.5 / 2, 1e-6);
    assert_close(target[2 * i + 1], (e % 3 - 1) / 2., 1e-6);
    double x = ((double)answer[2 * i] - target[2 * i]) / 0.5;
    double y = ((double)answer[2 * i + 1] - target[2 * i + 1]) / 0.5, square = x * x + y * y;
    assert_close((double)trace.rewards[i] / (1 + square), -1.5 * square / (1 + square), 1e-5);
  }
  fov_trace_finish(&trace);
  toy_finish(&toy);
}

/** A step out of the environment is charged; its cost stands where the next glimpse would be. */
static void test_a_trace_records_the_cost_of_leaving(void **state) {
  (void)state;
  enum { EPISODES = 20 };
  Toy toy;
  int left = 0;
  toy_create(&toy, "env = toy_walk\nglimpses = 1\nfirst = random\npolicy = relative\n"
                   "policy.reach = 1\npolicy.sigma = 2\npolicy.cost = 0.25\n");
  FovTrace trace = record(&toy, EPISODES, true);
  const float *costs = fov_trace_column(&trace, "policy.cost", 1);
  assert_non_null(costs);
  for (int e = 0; e < EPISODES; e++) {
    int length = trace.lengths[e];
    bool leaves = length < trace.glimpses;
    left += leaves;
    for (int t = 0; t < trace.glimpses; t++)
      assert_int_equal(isfinite(costs[e * trace.glimpses + t]), t > 0 && t < length + leaves);
  }
  assert_in_range(left, 1, EPISODES);
  fov_trace_finish(&trace);
  toy_finish(&toy);
}

/** Where the place of the target is known, it is recorded as a location. */
static void test_a_trace_records_targets(void **state) {
  (void)state;
  Toy toy;
  toy_create(&toy, "env = toy_turns\nglimpses = 2\n");
  FovTrace trace = record(&toy, 20, false);
  const float *target = fov_trace_column(&trace, "answer.target", 2);
  assert_true(target && !fov_trace_column(&trace, "answer.place", 2));
  for (int i = 0; i < 20 * trace.glimpses; i++) {
    int t = i % trace.glimpses, turn = t / 2; // the patterns are 6 of 20 pixels apart
    bool played = t < trace.lengths[i / trace.glimpses];
    assert_int_equal(!isnan(target[2 * i]), played);
    if (!played) continue;
    assert_close(target[2 * i], 0.6 * (turn - 1), 1e-6);
    assert_close(target[2 * i + 1], 0, 1e-6);
  }
  fov_trace_finish(&trace);
  toy_finish(&toy);
}

static void test_a_trace_of_vectors_records_each_as_a_pixel(void **state) {
  (void)state;
  enum { EPISODES = 20 };
  Toy toy;
  toy_create(&toy, "env = toy_walk\nglimpses = 1\npolicy = random\nenv.cases = 90\n");
  FovTrace trace = record(&toy, EPISODES, false);
  assert_true(trace.height == 1 && trace.width == 1 && trace.channels == TOY_SEEN);
  assert_true(trace.whole && trace.side == 1 && trace.frames == TOY_WALK);
  for (int i = 0; i < EPISODES * TOY_WALK; i++) {
    if (i % TOY_WALK >= trace.lengths[i / TOY_WALK]) continue;
    const uint8_t *seen = trace.images + i * TOY_SEEN;
    assert_memory_equal(seen, trace.retina + i * TOY_SEEN, TOY_SEEN);
    double x = 255 * fmax(0, trace.locations[2 * i]);
    assert_true(seen[0] >= x - 1 && seen[0] <= x + 255 * 0.125 + 1);
    assert_int_equal(seen[2], i % TOY_WALK ? 255 : 0); // the answers so far, cut at 1
  }
  fov_trace_finish(&trace);
  toy_finish(&toy);
}

/** A run's trace has the episodes that fit into `room` bytes, but at least one. */
static void test_the_size_of_a_trace_is_bounded(void **state) {
  (void)state;
  enum { HEADER = 4096 };
  const struct {
    double room;
    int least, most;
  } rooms[] = {{1, 1, 1}, {20000, 10, 80}, {1e9, 90, 90}};
  Toy toy;
  toy_create(&toy, "env.cases = 90\n");
  for (int i = 0; i < 3; i++) {
    struct stat file;
    FovTrace trace = record_what(&toy, (FovRecordRequest){.episodes = 1000, .room = rooms[i].room});
    assert_in_range(trace.episodes, rooms[i].least, rooms[i].most);
    snprintf(path, sizeof path, "%s/trace.safetensors", folder);
    assert_int_equal(fov_trace_write(&trace, path), FOV_OK);
    assert_int_equal(stat(path, &file), 0);
    if (i > 0) assert_true(file.st_size <= rooms[i].room + HEADER);
    fov_trace_finish(&trace);
  }
  toy_finish(&toy);
}

enum { PROBABILITY, CORRECT, INFORMATION_GAIN };
static const char *const rewards[] = {"probability", "correct", "information_gain"};

/** What the first answer earns, of probabilities [TOY_ACTIONS]. */
static double first_reward(int reward, const float *probabilities, int label) {
  double entropy = 0, most = 0;
  for (int a = 0; a < TOY_ACTIONS; a++) {
    entropy -= (double)probabilities[a] * log((double)probabilities[a]);
    most = fmax(most, (double)probabilities[a]);
  }
  if (reward == CORRECT) return (double)probabilities[label] == most;
  return reward == PROBABILITY ? (double)probabilities[label] : 1 - entropy / log(TOY_ACTIONS);
}

/** It is added to the prediction: what an answer would have earned after the glimpse before. */
static void test_a_baseline_of_answers_is_recorded_with_them(void **state) {
  (void)state;
  for (int reward = PROBABILITY; reward <= INFORMATION_GAIN; reward++) {
    Toy toy[2];
    FovTrace trace[2];
    double least = INFINITY, most = -INFINITY;
    for (int k = 0; k < 2; k++) {
      char settings[96];
      snprintf(settings, sizeof settings, "reward = %s\n%s", rewards[reward],
               k ? "baseline = answer\ntrain.answer = every\n" : "");
      toy_create(&toy[k], settings);
      trace[k] = record(&toy[k], 8, false);
    }
    int T = trace[0].glimpses;
    for (int i = 0; i < 8 * T; i++) {
      if (i % T == 0) continue;
      double known =
          first_reward(reward, trace[0].probabilities + (i - 1) * TOY_ACTIONS, trace[0].labels[i]);
      assert_near(trace[1].baselines[i], (double)trace[0].baselines[i] + known, 1e-6,
                  "%s, glimpse %d", rewards[reward], i);
      least = fmin(least, known), most = fmax(most, known);
    }
    assert_true(least < most);
    for (int k = 0; k < 2; k++) fov_trace_finish(&trace[k]), toy_finish(&toy[k]);
  }
}

/** The trace's columns of a choice: the mean and a sample around it, or nothing. `predicted`: the
 * agent has the baseline's head. */
static void check_choices(const char *settings, bool sampled, bool predicted, int first_choice) {
  Toy toy;
  toy_create(&toy, settings);
  FovTrace trace = record(&toy, 8, sampled);
  const float *means = fov_trace_column(&trace, "policy.mean", 2);
  const float *sigmas = fov_trace_column(&trace, "policy.sigma", 2);
  // A policy that learns nothing has no columns.
  assert_int_equal(means != NULL, first_choice < 3);
  assert_int_equal(sigmas != NULL, first_choice < 3);
  for (int i = 0; i < 8 * 3; i++) {
    bool chosen = i % 3 >= first_choice;
    assert_int_equal(isnan(trace.baselines[i]), !predicted || i % 3 == 0);
    for (int j = 2 * i; j < 2 * i + 2; j++) {
      assert_true(trace.locations[j] >= -1 && trace.locations[j] <= 1);
      if (!means) continue;
      assert_int_equal(isnan(means[j]), !chosen);
      assert_int_equal(isnan(sigmas[j]), !chosen);
      if (!chosen) continue;
      // The policy's 4 of 20 pixels are 0.4 of the 2 units that the image is wide.
      assert_near(sigmas[j], sampled ? 0.4 : 0, 1e-6, "sigma %d", j);
      assert_int_equal(trace.locations[j] == means[j], !sampled);
    }
  }
  fov_trace_finish(&trace);
  toy_finish(&toy);
}

static void test_values_without_a_choice_are_nan(void **state) {
  (void)state;
  check_choices("", false, true, 1);
  check_choices("baseline = none\n", true, false, 1);
  check_choices("policy = random\n", true, true, 3);
}

/** Glimpse i of a trace is the mean of those in the middle of K × K tiles, by weight. */
static void assert_mean_glimpse(const FovTrace *trace, const Toy *toy, const float *weights, int K,
                                int i) {
  enum { PIXELS = TOY_SIDE * TOY_SIDE };
  const FovImage image = {.bytes = trace->images + (size_t)(i / trace->glimpses) * PIXELS,
                          .height = TOY_SIDE,
                          .width = TOY_SIDE,
                          .channels = 1};
  int features = fov_glimpse_features(toy->experiment.agent.glimpse);
  real glimpse[PIXELS];
  double mean[PIXELS] = {0};
  for (int j = 0; j < K * K; j++) {
    fov_sensor_look(glimpse, &toy->experiment.sensor, &image, (real)(2 * (j % K) + 1 - K) / (real)K,
                    (real)(2 * (j / K) + 1 - K) / (real)K);
    for (int f = 0; f < features; f++) mean[f] += (double)weights[j] * (double)glimpse[f];
  }
  for (int f = 0; f < features; f++)
    assert_near(trace->retina[i * features + f], 255 * mean[f], 0.51, "glimpse %d, number %d", i,
                f);
}

/** The weights of soft attention: those of each glimpse sum to 1, the heads' mean is the column
 * that is drawn, and place and glimpse are the mean ones. */
static void test_the_weights_of_attention_are_recorded(void **state) {
  (void)state;
  enum { EPISODES = 8, K = 3, N = K * K, HEADS = 2 };
  Toy toy;
  toy_create(&toy, TOY_SOFT "tiles.heads = 2\ntiles.keys = values\nglimpse.width = 8\n");
  FovTrace trace = record_values(&toy, (FovRecordRequest){.episodes = EPISODES, .sampled = true},
                                 toy_lively_values(&toy));
  const float *mean = fov_trace_column(&trace, "attention.tiles", N);
  const float *heads = fov_trace_column(&trace, "attention.heads", HEADS * N);
  assert_non_null(mean);
  assert_non_null(heads);
  assert_string_equal(trace.attention, "soft");
  assert_int_equal(trace.reach, FOV_REACH_ALL);
  double spread = 0;
  for (int i = 0; i < EPISODES * trace.glimpses; i++) {
    double sum = 0, x = 0, y = 0;
    for (int j = 0; j < N; j++) {
      double w = (double)mean[i * N + j], one = (double)heads[i * HEADS * N + j];
      sum += w;
      x += w * (2 * (j % K) + 1 - K) / K;
      y += w * (2 * (j / K) + 1 - K) / K;
      assert_near(w, (one + (double)heads[i * HEADS * N + N + j]) / 2, 1e-6, "tile %d", j);
      spread += fabs(w - one);
    }
    assert_near(sum, 1, 1e-5, "glimpse %d", i);
    assert_near(trace.locations[2 * i], x, 1e-5, "x of glimpse %d", i);
    assert_near(trace.locations[2 * i + 1], y, 1e-5, "y of glimpse %d", i);
    assert_mean_glimpse(&trace, &toy, mean + i * N, K, i);
  }
  assert_true(spread > 1e-4);
  fov_trace_finish(&trace);
  toy_finish(&toy);
}

/** A tile is read at its middle, and the trace has the glimpse and its place. The first location,
 * the centre, lies in the corner of a tile. */
static void check_tile(const char *settings) {
  enum { EPISODES = 8, K = 4 };
  Toy toy;
  toy_create(&toy, settings);
  FovTrace trace = record(&toy, EPISODES, true);
  int T = trace.glimpses, features = fov_glimpse_features(toy.experiment.agent.glimpse);
  for (int i = 0; i < EPISODES * T; i++) {
    const FovImage image = {.bytes = trace.images + i / T * TOY_SIDE * TOY_SIDE,
                            .height = TOY_SIDE,
                            .width = TOY_SIDE,
                            .channels = 1};
    const float *l = trace.locations + 2 * i;
    real glimpse[TOY_SIDE * TOY_SIDE];
    fov_sensor_look(glimpse, &toy.experiment.sensor, &image, l[0], l[1]);
    for (int j = 0; j < features; j++)
      assert_int_equal(trace.retina[i * features + j], lround(255. * glimpse[j]));
    for (int j = 0; j < 2; j++) {
      double tile = ((double)l[j] + 1) / 2 * K;
      assert_near(tile - floor(tile), 0.5, 1e-6, "place %d of glimpse %d", j, i);
    }
  }
  fov_trace_finish(&trace);
  toy_finish(&toy);
}

static void test_a_trace_of_tiles_has_the_place_of_each(void **state) {
  (void)state;
  check_tile("attention = sampled\npolicy = sites\ntiles.side = 4\n");
  check_tile("attention = sampled\npolicy = sites\ntiles.side = 4\ntiles.keys = coarse\n");
  check_tile("attention = gumbel\npolicy = sites\ntiles.side = 4\nscore = location\n");
}

/** The outline of a window, around the place of each glimpse; the first window is the settings'. */
static void test_the_window_of_attention_is_recorded(void **state) {
  (void)state;
  enum { EPISODES = 8, G = 4 };
  for (int draw = 0; draw < 2; draw++) {
    Toy toy;
    toy_create(&toy, draw ? TOY_WINDOW "draw\n" : TOY_WINDOW "spatial_transformer\n");
    FovTrace trace = record(&toy, EPISODES, true);
    const float *window = fov_trace_column(&trace, "attention.window", 4);
    const float *filter = fov_trace_column(&trace, "attention.filter", 2);
    assert_non_null(window);
    assert_int_equal(filter != NULL, draw);
    double moved = 0;
    for (int i = 0; i < EPISODES * trace.glimpses; i++, window += 4, filter += draw ? 2 : 0) {
      assert_memory_equal(window, trace.locations + 2 * i, 2 * sizeof *window);
      assert_true(window[2] == window[3]);
      moved += fabs((double)window[0]);
      if (i % trace.glimpses != 0) continue;
      // 0.83 of the image's 2 for the second patch; the first is half as wide.
      assert_true(window[0] == 0 && window[1] == 0);
      assert_close(window[2], 0.83, 1e-6);
      if (draw) assert_close(filter[0], 0.83 * TOY_SIDE / 2 / G / 2, 1e-5);
      if (draw) assert_close(filter[1], 1, 1e-6);
    }
    assert_true(moved > 1e-4);
    fov_trace_finish(&trace);
    toy_finish(&toy);
  }
}

enum { LOCAL_SIDE = 3, LOCAL_TILES = LOCAL_SIDE * LOCAL_SIDE };

/** Weights of one glimpse are 0 outside the window of its place, D = 1. Without the Gaussian f of
 * local_p, they sum to 1. location: the recorded one. */
static void assert_local(const float *weights, const float *location, bool gaussian) {
  double sum = 0;
  for (int i = 0; i < LOCAL_TILES; i++) {
    double x = i % LOCAL_SIDE + 0.5 - ((double)location[0] + 1) / 2 * LOCAL_SIDE;
    double y = i / LOCAL_SIDE + 0.5 - ((double)location[1] + 1) / 2 * LOCAL_SIDE;
    bool inside = fabs(x) <= 1 + 1e-6 && fabs(y) <= 1 + 1e-6;
    assert_int_equal(weights[i] > 0, inside);
    sum += (double)weights[i] / (gaussian ? exp(-(x * x + y * y) / (2 * 0.5 * 0.5)) : 1);
  }
  assert_near(sum, 1, 1e-4, "weights");
}

/** Local attention: its windows, and their places. */
static void test_the_windows_of_local_attention_are_recorded(void **state) {
  (void)state;
  for (int predicted = 0; predicted < 2; predicted++) {
    Toy toy;
    char settings[128];
    snprintf(settings, sizeof settings, "attention = local_%c\n" TOY_TILES, predicted ? 'p' : 'm');
    toy_create(&toy, settings);
    FovTrace trace = record(&toy, 8, true);
    const float *weights = fov_trace_column(&trace, "attention.tiles", LOCAL_TILES);
    assert_non_null(weights);
    assert_int_equal(trace.glimpses, 3);
    for (int i = 0; i < trace.episodes * 3; i++) {
      const float *location = trace.locations + 2 * i;
      assert_local(weights + i * LOCAL_TILES, location, predicted);
      // Tiles 0, 3 and 6 at the three time steps: the left column.
      const double left[] = {-2 / 3.0, 2 * (i % 3 - 1) / 3.0};
      for (int j = 0; j < 2; j++)
        assert_near(location[j], predicted ? 0 : left[j], predicted ? 0.5 : 1e-6, "glimpse %d", i);
    }
    fov_trace_finish(&trace);
    toy_finish(&toy);
  }
}

/** The probability of a tile that was chosen is its weight; none chose the first one. */
static void test_the_probability_of_a_chosen_tile_is_recorded(void **state) {
  (void)state;
  Toy toy;
  toy_create(&toy, "attention = sampled\nfirst = centre\ntiles.side = 3\ntiles.width = 6\n");
  FovTrace trace = record(&toy, 8, true);
  const float *p = fov_trace_column(&trace, "policy.p", 1);
  const float *weights = fov_trace_column(&trace, "attention.tiles", LOCAL_TILES);
  assert_true(p && weights);
  for (int i = 0; i < trace.episodes * trace.glimpses; i++) {
    const float *at = trace.locations + 2 * i;
    int tile = 4 + (int)lround(1.5 * (double)at[0]) + 3 * (int)lround(1.5 * (double)at[1]);
    if (i % trace.glimpses == 0)
      assert_true(isnan(p[i]));
    else
      assert_close(p[i], weights[i * LOCAL_TILES + tile], 1e-5);
  }
  fov_trace_finish(&trace);
  toy_finish(&toy);
}

static void test_no_more_episodes_than_cases(void **state) {
  (void)state;
  Toy toy;
  toy_create(&toy, "env.cases = 5\n");
  FovTrace trace = record(&toy, 1000, true);
  assert_int_equal(trace.episodes, 5);
  fov_trace_finish(&trace);
  toy_finish(&toy);
}

/* ---- run directories ---- */

static char *read_file(const FovRun *run, const char *name) {
  char file[FOV_PATH_SIZE], *text;
  size_t size;
  assert_int_equal(fov_file_read(&text, &size, fov_run_path(file, run, name), 1 << 20), FOV_OK);
  assert_int_equal(strlen(text), size);
  return text;
}

static void write_file(const FovRun *run, const char *name) {
  char file[FOV_PATH_SIZE];
  assert_int_equal(fov_file_write(fov_run_path(file, run, name), "x", 1), FOV_OK);
}

static void test_a_fresh_run_makes_its_folders(void **state) {
  (void)state;
  FovRun run;
  for (int resume = 0; resume < 2; resume++) {
    assert_int_equal(fov_run_open(&run, inside(resume ? "a/b/d/" : "a/b/c"), resume), FOV_OK);
    assert_false(run.resumed);
    write_file(&run, FOV_RUN_CONFIG);
    fov_run_close(&run);
    fov_run_close(&run);
  }
}

static void test_a_run_is_resumed_only_on_request(void **state) {
  (void)state;
  FovRun run;
  assert_int_equal(fov_run_open(&run, inside("run"), false), FOV_OK);
  write_file(&run, FOV_RUN_CONFIG);
  fov_run_close(&run);
  // A folder without a checkpoint can be overwritten.
  assert_int_equal(fov_run_open(&run, path, false), FOV_OK);
  write_file(&run, FOV_RUN_LAST);
  fov_run_close(&run);
  assert_int_equal(fov_run_open(&run, path, false), FOV_ERR_USAGE);
  assert_message("has a run already; add --resume");
  assert_message(path);
  assert_int_equal(run.log, -1);
  assert_int_equal(fov_run_open(&run, path, true), FOV_OK);
  assert_true(run.resumed);
  fov_run_close(&run);
}

static int count_files(const char *dir) {
  int count = 0;
  DIR *entries = opendir(dir);
  assert_non_null(entries);
  while (readdir(entries)) count++;
  closedir(entries);
  return count;
}

/** A check writes nothing and has the result of opening; an open that is refused writes nothing
 * either. */
static void check_folder(const char *dir, bool resume, bool resumed, const char *complaint) {
  FovRun run;
  int files = count_files(dir);
  FovStatus expected = complaint ? FOV_ERR_USAGE : FOV_OK;
  assert_int_equal(fov_run_check(dir, resume), expected);
  if (complaint) assert_message(dir), assert_message(complaint);
  assert_int_equal(count_files(dir), files);
  assert_int_equal(fov_run_open(&run, dir, resume), expected);
  if (complaint) assert_message(complaint);
  if (complaint) assert_int_equal(count_files(dir), files);
  if (!complaint) assert_int_equal(run.resumed, resumed);
  fov_run_close(&run);
}

static void test_the_files_in_a_folder_decide(void **state) {
  (void)state;
  static const char lost[] = "a run that lost its last.safetensors; choose another --run",
                    foreign[] = "has files, but no run; choose another --run",
                    there[] = "has a run already; add --resume";
  const struct {
    const char *files[4], *fresh, *resume; /**< the files, and the expected messages */
  } cases[] = {
      {{".hidden"}, NULL, NULL},
      {{"thesis.tex"}, foreign, foreign},
      {{FOV_RUN_CONFIG}, foreign, foreign},
      {{FOV_RUN_LOG, FOV_RUN_LAST, "gaze.gif"}, there, NULL},
      {{FOV_RUN_LOG, FOV_RUN_CONFIG, FOV_RUN_BEST}, lost, lost},
      {{FOV_RUN_BEST}, lost, lost},
      // Files of a training that was killed before its first checkpoint.
      {{FOV_RUN_LOG}, NULL, NULL},
      {{FOV_RUN_LOG, ".config.ini.half"}, NULL, NULL},
      {{FOV_RUN_LOG, FOV_RUN_CONFIG}, NULL, NULL},
      {{FOV_RUN_LOG, FOV_RUN_CONFIG, FOV_RUN_JSON, "events.out.tfevents.1.here"}, NULL, NULL},
      // Rows are written after it.
      {{FOV_RUN_LOG, FOV_RUN_CONFIG, FOV_RUN_PROGRESS}, lost, lost},
      // Those of a sweep, or of something else that has a log.
      {{FOV_RUN_LOG, FOV_RUN_CONFIG, "sweep.ini"}, foreign, foreign},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    FovRun there_is = {0};
    char name[8];
    snprintf(name, sizeof name, "%zu", i);
    snprintf(there_is.dir, sizeof there_is.dir, "%s", inside(name));
    assert_int_equal(mkdir(there_is.dir, 0777), 0);
    for (int f = 0; f < 4 && cases[i].files[f]; f++) write_file(&there_is, cases[i].files[f]);
    check_folder(there_is.dir, false, false, cases[i].fresh);
    check_folder(there_is.dir, true, cases[i].fresh == there, cases[i].resume);
  }
}

static void test_checking_a_run_makes_no_folder(void **state) {
  (void)state;
  assert_int_equal(fov_run_check(inside("a/b"), false), FOV_OK);
  assert_int_equal(fov_run_check(path, true), FOV_OK);
  assert_false(fov_file_exists(inside("a")));
}

static void test_invalid_paths_are_refused(void **state) {
  (void)state;
  FovRun run;
  char longest[FOV_PATH_SIZE];
  memset(longest, 'a', sizeof longest - 1);
  longest[sizeof longest - 1] = '\0';
  assert_int_equal(fov_run_open(&run, "", false), FOV_ERR_USAGE);
  assert_int_equal(fov_run_check("", false), FOV_ERR_USAGE);
  assert_int_equal(fov_run_open(&run, longest, false), FOV_ERR_USAGE);
  assert_message("--run: expected a path of 1 to");
  assert_int_equal(fov_file_write(inside("file"), "x", 1), FOV_OK);
  assert_int_equal(fov_run_open(&run, path, false), FOV_ERR_IO);
  assert_message(path);
  assert_int_equal(fov_run_open(&run, inside("file/run"), false), FOV_ERR_IO);
  assert_message("Not a directory");
  assert_int_equal(symlink("nowhere", inside("link")), 0);
  assert_int_equal(fov_run_open(&run, inside("link/run"), false), FOV_ERR_IO);
  assert_message("cannot make the folder");
}

/** Another process that has a run open until its input ends. */
static pid_t hold(int held[2], int release[2]) {
  assert_int_equal(pipe(held), 0);
  assert_int_equal(pipe(release), 0);
  pid_t child = fork();
  assert_true(child >= 0);
  if (child > 0) return child;
  FovRun run;
  char byte = fov_run_open(&run, folder, false) == FOV_OK;
  close(release[1]);
  ssize_t written = write(held[1], &byte, 1), waited = read(release[0], &byte, 1);
  _exit(written == 1 && waited == 0 ? 0 : 1);
}

static void test_only_one_process_opens_a_run(void **state) {
  (void)state;
  int held[2], release[2], status;
  FovRun run;
  char byte = 0;
  pid_t child = hold(held, release);
  assert_int_equal(read(held[0], &byte, 1), 1);
  assert_int_equal(byte, 1);
  assert_int_equal(fov_run_open(&run, folder, false), FOV_ERR_USAGE);
  assert_message("another process is training in it");
  assert_message(folder);
  close(release[1]);
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_int_equal(status, 0);
  // The lock ends with its process.
  assert_int_equal(fov_run_open(&run, folder, false), FOV_OK);
  fov_run_close(&run);
  close(release[0]), close(held[0]), close(held[1]);
}

/** A line of the log: the time, then the text. */
static char *check_line(char *line, const char *text, size_t length) {
  int year, month, day, hour, minute, second, end = 0;
  sscanf(line, "%4d-%2d-%2dT%2d:%2d:%2dZ %n", &year, &month, &day, &hour, &minute, &second, &end);
  assert_int_equal(end, 21);
  assert_memory_equal(line + end, text, length);
  return line + end + length;
}

static void test_the_log_has_one_line_per_message(void **state) {
  (void)state;
  FovRun run;
  char longest[3000];
  memset(longest, 'a', sizeof longest - 1);
  longest[sizeof longest - 1] = '\0';
  assert_int_equal(fov_run_open(&run, folder, false), FOV_OK);
  assert_int_equal(fov_run_log(&run, "update %d: %s", 3, "fine"), FOV_OK);
  assert_int_equal(fov_run_log(&run, "two\nlines\x1b[2J"), FOV_OK);
  fov_run_close(&run);
  assert_int_equal(fov_run_open(&run, folder, false), FOV_OK);
  assert_int_equal(fov_run_log(&run, "%s", longest), FOV_OK);
  char *text = read_file(&run, FOV_RUN_LOG);
  char *second = check_line(text, "update 3: fine\n", 15);
  char *third = check_line(second, "two?lines?[2J\n", 14);
  char *end = check_line(third, longest, 2000);
  end += strspn(end, "a");
  assert_string_equal(end, "\n");
  free(text);
  fov_run_close(&run);
}

static json_t *describe_run(const FovRunFacts *facts) {
  FovRun run;
  json_error_t error;
  assert_int_equal(fov_run_open(&run, folder, false), FOV_OK);
  assert_int_equal(fov_run_describe(&run, facts), FOV_OK);
  char *text = read_file(&run, FOV_RUN_JSON);
  fov_run_close(&run);
  json_t *root = json_loads(text, 0, &error);
  if (!root) fail_msg("%s: %s", text, error.text);
  free(text);
  return root;
}

static const char *string_of(const json_t *root, const char *key) {
  const char *text = json_string_value(json_object_get(root, key));
  if (!text) fail_msg("no string '%s'", key);
  return text;
}

static void test_run_json_has_the_facts_of_the_run(void **state) {
  (void)state;
  json_t *root = describe_run(&(FovRunFacts){.command = "fovea train \"ä\"",
                                             .seed = INT64_C(9000000000000000),
                                             .threads = 3,
                                             .outcome = "running"});
  assert_string_equal(string_of(root, "fovea"), fov_version);
  assert_string_equal(string_of(root, "command"), "fovea train \"ä\"");
  assert_string_equal(string_of(root, "outcome"), "running");
  assert_string_equal(string_of(root, "gemm"), fov_gemm_library());
  assert_int_equal(strlen(string_of(root, "time")), 20);
  assert_true(*string_of(root, "host") && *string_of(root, "machine"));
  assert_int_equal(json_integer_value(json_object_get(root, "seed")), INT64_C(9000000000000000));
  assert_int_equal(json_integer_value(json_object_get(root, "threads")), 3);
  json_decref(root);
}

static void test_run_json_is_valid_for_any_command(void **state) {
  (void)state;
  json_t *root = describe_run(&(FovRunFacts){
      .command = "fovea train caf\xe9.ini", .threads = 1, .outcome = "\xff\xfe: cannot open"});
  assert_string_equal(string_of(root, "command"), "fovea train caf?.ini");
  assert_string_equal(string_of(root, "outcome"), "??: cannot open");
  json_decref(root);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, enter, remove_tree)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(test_a_digest_of_weights_covers_names_shapes_and_values),
      TEST(test_a_resumed_training_is_the_same_training),
      TEST(test_the_same_training_is_the_same_bytes),
      TEST(test_weights_and_configuration_alone),
      TEST(test_best_weights_alone),
      TEST(test_a_checkpoint_keeps_how_images_are_standardised),
      TEST(test_a_checkpoint_of_another_agent_is_refused),
      TEST(test_numbers_that_are_not_finite_are_refused),
      TEST(test_an_invalid_state_is_refused),
      TEST(test_other_data_are_refused),
      TEST(test_files_that_are_not_checkpoints_are_refused),
      TEST(test_a_trace_names_its_weights),
      TEST(test_wrong_episodes_follow_the_first_ones),
      TEST(test_a_trace_records_the_rollout),
      TEST(test_a_trace_of_standardised_images_shows_brightness),
      TEST(test_a_trace_of_a_game_records_the_rollout),
      TEST(test_a_trace_records_answered_places),
      TEST(test_a_trace_records_the_cost_of_leaving),
      TEST(test_a_trace_records_targets),
      TEST(test_a_trace_of_vectors_records_each_as_a_pixel),
      TEST(test_the_size_of_a_trace_is_bounded),
      TEST(test_values_without_a_choice_are_nan),
      TEST(test_the_weights_of_attention_are_recorded),
      TEST(test_a_trace_of_tiles_has_the_place_of_each),
      TEST(test_a_baseline_of_answers_is_recorded_with_them),
      TEST(test_the_window_of_attention_is_recorded),
      TEST(test_the_windows_of_local_attention_are_recorded),
      TEST(test_the_probability_of_a_chosen_tile_is_recorded),
      TEST(test_no_more_episodes_than_cases),
      TEST(test_a_fresh_run_makes_its_folders),
      TEST(test_a_run_is_resumed_only_on_request),
      TEST(test_the_files_in_a_folder_decide),
      TEST(test_checking_a_run_makes_no_folder),
      TEST(test_invalid_paths_are_refused),
      TEST(test_only_one_process_opens_a_run),
      TEST(test_the_log_has_one_line_per_message),
      TEST(test_run_json_has_the_facts_of_the_run),
      TEST(test_run_json_is_valid_for_any_command),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
