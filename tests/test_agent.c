/** Settings that an agent refuses. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "check.h"
#include "notes.h"
#include "toy_play.h"

/** Fails unless an agent of these settings is refused for images of a size, with that message. */
static void assert_agent_refuses(const char *settings, int height, int width, const char *message) {
  Toy toy;
  toy_create(&toy, "");
  FovExperiment *experiment = &toy.experiment;
  assert_int_equal(fov_settings_parse(experiment->settings, settings, "the test"), FOV_OK);
  assert_int_equal(fov_experiment_resolve(experiment), FOV_OK);
  const FovEnvSpec spec = {.observation = fov_byte_image(height, width, 1), .actions = 2};
  assert_int_equal(fov_experiment_build(experiment, &spec), FOV_ERR_USAGE);
  assert_message(message);
  toy_finish(&toy);
}

static void test_images_that_do_not_fit_the_encoder_are_refused(void **state) {
  (void)state;
  assert_agent_refuses("encoder = conv\n", 20, 20,
                       "encoder = conv: filters of encoder.side = 10 pixels do not fit in patches "
                       "of 4 x 4; make encoder.side smaller or the patches larger");
  assert_agent_refuses("encoder = conv\nencoder.side = 9\nsensor.whole = yes\n", 8, 8,
                       "do not fit in patches of 8 x 8");
  assert_agent_refuses("encoder = conv\n" TOY_SMALL_FILTERS "encoder.second = 2\n", 20, 20,
                       "encoder.second has filters of 3 x 3, which do not fit in maps of 2 x 2");
  assert_agent_refuses("glimpse.join = scale\nglimpse.where = 0\n", 20, 20,
                       "glimpse.join = scale: expected the place, found glimpse.where = 0");
  assert_agent_refuses("sensor.whole = yes\n", 20, 8193,
                       "images of 8193 x 20 pixels, expected at most 8192");
  assert_agent_refuses("sensor.whole = yes\nencoder = conv\nencoder.filters = 1024\n"
                       "encoder.side = 1\nencoder.stride = 1\n",
                       8000, 20, "1024 filters make maps of 65536000000 numbers");
  assert_agent_refuses(TOY_TWO_LAYERS, 8193, 20,
                       "context.side: images of 20 x 8193 pixels, expected at most 8192 each way; "
                       "make them smaller or set context.side = 0");
}

static void test_a_cue_that_is_too_large_is_refused(void **state) {
  (void)state;
  Toy toy;
  toy_create(&toy, "");
  FovEnvSpec spec = toy.env.spec;
  spec.cue = fov_byte_image(8192, 2, 1);
  assert_int_equal(fov_experiment_build(&toy.experiment, &spec), FOV_OK);
  spec.cue.width = 8193;
  assert_int_equal(fov_experiment_build(&toy.experiment, &spec), FOV_ERR_USAGE);
  assert_message("expected a cue of at most 8192 pixels each way, found 8193 x 8192");
  toy_finish(&toy);
}

static void test_a_context_without_a_state_to_start_is_refused(void **state) {
  (void)state;
  assert_agent_refuses("context.side = 4\n", 20, 20,
                       "context.side = 4: expected layers = 2, found layers = 1; set "
                       "layers = 2 or context.side = 0");
  assert_agent_refuses("layers = 2\ncontext.side = 4\ncore = none\n", 20, 20,
                       "context.side = 4: core = none has no state that could start from the "
                       "context; choose another core or set context.side = 0");
}

static void test_what_cannot_look_at_a_vector_is_refused(void **state) {
  (void)state;
  static const char *const settings[] = {TOY_TWO_LAYERS, "sensor.standardise = yes\n", TOY_SOFT,
                                         "sensor.inside = yes\n"};
  static const char *const messages[] = {
      "context.side = 3: expected images of 1 or 3 channels, found 4; set context.side = 0",
      "sensor.standardise = yes: expected an environment of images, found env = toy_walk",
      "attention = soft: expected an environment of images, found env = toy_walk, which shows",
      "sensor.inside = yes: expected an environment of images, found env = toy_walk"};
  for (int i = 0; i < 4; i++) {
    Toy toy;
    toy_create(&toy, "env = toy_walk\n");
    FovExperiment *experiment = &toy.experiment;
    assert_int_equal(fov_settings_parse(experiment->settings, settings[i], "the test"), FOV_OK);
    assert_int_equal(fov_experiment_resolve(experiment), FOV_OK);
    assert_int_equal(fov_experiment_build(experiment, &toy.env.spec), FOV_ERR_USAGE);
    assert_message(messages[i]);
    toy_finish(&toy);
  }
}

static void test_a_score_without_keys_is_refused_for_a_memory_that_grows(void **state) {
  (void)state;
  assert_agent_refuses("core = attention\nscore = location\n", 20, 20,
                       "score = location: expected a fixed number of sites, found a memory that "
                       "grows (core = attention); set another score, such as score = dot");
  assert_agent_refuses("core = attention\nscore = location\nlayers = 2\n", 20, 20,
                       "score = location");
}

static void test_tiles_that_do_not_fit_are_refused(void **state) {
  (void)state;
  assert_agent_refuses("attention = soft\ntiles.side = 21\n", 21, 20,
                       "tiles.side, tiles.down: expected at most as many tiles as pixels, found 21 "
                       "x 21 tiles on images of 20 x 21; lower tiles.side");
  assert_agent_refuses("attention = soft\ntiles.side = 2\ntiles.down = 22\n", 21, 20,
                       "2 x 22 tiles on images of 20 x 21; lower tiles.down");
  assert_agent_refuses(TOY_SOFT "sensor.whole = yes\n", 20, 20, "set sensor.whole = no");
  assert_agent_refuses(
      TOY_SOFT "sensor.side = 21\n", 20, 20,
      "sensor.side = 21: expected patches no larger than the image of 20 x 20 pixels");
  assert_agent_refuses(TOY_SOFT "tiles.heads = 4\n", 20, 20,
                       "tiles.heads = 4: expected a number that divides tiles.width = 6");
  assert_agent_refuses(TOY_SOFT "tiles.heads = 3\nglimpse.width = 16\n", 20, 20,
                       "tiles.heads = 3: expected a number that divides glimpse.width = 16");
  assert_agent_refuses("attention = soft\ntiles.side = 64\ntiles.heads = 2\n", 99, 99,
                       "expected at most 4096 weights");
  assert_agent_refuses(
      "attention = sampled\ntiles.side = 6\ntiles.keys = coarse\ntiles.cells = 11\n", 20, 20,
      "tiles.cells = 11: 6 tiles make a coarse view of 66 cells each way, expected "
      "at most 64; set tiles.cells = 10 or less");
  assert_agent_refuses(TOY_SOFT TOY_COARSE "tiles.down = 2\n", 20, 20,
                       "tiles.keys = coarse: expected as many tiles down as across, found 2 and 3");
  assert_agent_refuses(
      TOY_SOFT TOY_COARSE, 20, 8193,
      "tiles.keys = coarse: images of 8193 x 20 pixels, expected at most 8192 each "
      "way; make them smaller or set tiles.keys = projected");
}

static void test_keys_that_are_not_read_are_not_checked(void **state) {
  (void)state;
  static const char *const readers[] = {"attention = soft\nscore = location\n",
                                        "attention = first\n", NULL};
  for (int i = 0; readers[i]; i++) {
    Toy toy;
    char settings[200];
    snprintf(settings, sizeof settings, "%s" TOY_TILES "tiles.keys = coarse\ntiles.down = 2\n",
             readers[i]);
    toy_create(&toy, settings);
    toy_finish(&toy);
  }
}

static void test_a_window_of_the_whole_image_is_refused(void **state) {
  (void)state;
  assert_agent_refuses(TOY_WINDOW "draw\nsensor.whole = yes\n", 20, 20,
                       "attention = draw: expected sensor.whole = no, found yes; set "
                       "sensor.whole = no");
  assert_agent_refuses(TOY_WINDOW "spatial_transformer\nsensor.whole = yes\n", 20, 20,
                       "attention = spatial_transformer: expected sensor.whole = no");
}

/** Every attention but the gaze. */
static void test_patches_inside_the_image_are_refused_without_a_place_to_look(void **state) {
  (void)state;
  int gazes = 0;
  for (const FovAttention *const *attention = fov_attentions; *attention; attention++) {
    const char *name = (*attention)->plugin.name;
    char settings[128], message[192];
    if (!strcmp(name, "gaze")) {
      gazes++;
      continue;
    }
    snprintf(settings, sizeof settings, "attention = %s\nsensor.inside = yes\n", name);
    snprintf(message, sizeof message,
             "sensor.inside = yes: expected attention = gaze, found attention = %s, on which it "
             "has no effect; set sensor.inside = no",
             name);
    assert_agent_refuses(settings, 20, 20, message);
  }
  assert_int_equal(gazes, 1);
  Toy toy;
  toy_create(&toy, "sensor.inside = yes\n");
  toy_finish(&toy);
}

static void test_a_temperature_that_overflows_is_refused(void **state) {
  (void)state;
  assert_agent_refuses("attention = gumbel\nattention.temperature_end = 1e-300\n", 20, 20,
                       "attention.temperature_end = 1e-300: expected 0 or 0.01 to 100");
}

static void test_tiles_that_cannot_attend_to_each_other_are_refused(void **state) {
  (void)state;
  assert_agent_refuses("attention = soft\ntiles.side = 1\n" TOY_BLOCKS, 20, 20,
                       "tiles.blocks = 2: expected tiles or symbols that attend to each other, "
                       "found one; set tiles.blocks = 0, or tiles.side = 2 or more");
  assert_agent_refuses(TOY_SOFT TOY_BLOCKS "glimpse.width = 16\n", 20, 20,
                       "tiles.block_heads = 3: expected a number that divides glimpse.width = 16");
}

static void test_a_vector_without_halves_for_two_directions_is_refused(void **state) {
  (void)state;
  for (int width = 1; width <= 3; width += 2) {
    char settings[128], message[128];
    snprintf(settings, sizeof settings, TOY_SOFT "tiles.rnn = gru\nglimpse.width = %d\n", width);
    snprintf(message, sizeof message,
             "glimpse.width = %d: expected an even number, half for each "
             "direction of tiles.rnn = gru",
             width);
    assert_agent_refuses(settings, 20, 20, message);
  }
}

static void test_a_choice_from_one_tile_is_refused(void **state) {
  (void)state;
  static const char *const attentions[] = {"soft", "local_m", "local_p", "sampled", "gumbel"};
  for (int i = 0; i < 5; i++) {
    char settings[64];
    snprintf(settings, sizeof settings, "attention = %s\ntiles.side = 1\n", attentions[i]);
    assert_agent_refuses(settings, 20, 20,
                         "tiles.side = 1: expected tiles to choose from, found one; set "
                         "tiles.side = 2 or more");
  }
}

static void test_a_local_window_of_all_tiles_is_refused(void **state) {
  (void)state;
  assert_agent_refuses("attention = local_m\ntiles.side = 3\nattention.distance = 2\n", 20, 20,
                       "attention.distance = 2: expected at most 1 with 3 x 3 tiles, or the window "
                       "always has all of them; raise tiles.side or set attention = soft");
}

static void test_attention_without_keys_needs_no_heads_that_divide_its_units(void **state) {
  (void)state;
  Toy toy;
  toy_create(&toy, "attention = repeat\ntiles.heads = 7\ntiles.side = 1\n");
  toy_finish(&toy);
}

/** Resolves an experiment file and then settings of a command line up to a NULL. */
static FovStatus resolve(Toy *toy, const char *file, const char *const line[]) {
  toy_create(toy, "");
  FovSettings *settings = toy->experiment.settings;
  assert_int_equal(fov_settings_parse(settings, file, "the test"), FOV_OK);
  for (int i = 0; line[i]; i++) assert_int_equal(fov_settings_add(settings, line[i]), FOV_OK);
  return fov_experiment_resolve(&toy->experiment);
}

/** expected: the beginning of the setting and of those after it. */
static void assert_set(const char *file, const char *const line[], const char *key,
                       const char *expected) {
  Toy toy;
  char *text, start[32];
  assert_int_equal(resolve(&toy, file, line), FOV_OK);
  assert_int_equal(fov_config_dump(&text, &toy.experiment.config), FOV_OK);
  snprintf(start, sizeof start, "\n%s = ", key);
  const char *found = strstr(text, start);
  assert_non_null(found);
  if (strncmp(found + strlen(start), expected, strlen(expected)) != 0)
    fail_msg("expected %s = %s, found %.80s", key, expected, found);
  free(text);
  toy_finish(&toy);
}

/** expected: the beginning of the policy's settings. */
static void assert_policy(const char *file, const char *const line[], const char *expected) {
  assert_set(file, line, "policy", expected);
}

/** Fails unless a command line gets these notes, a line each. */
static void assert_line_notes(const char *const line[], const char *expected) {
  Toy toy;
  assert_int_equal(resolve(&toy, "", line), FOV_OK);
  assert_notes(toy.experiment.settings, expected);
  toy_finish(&toy);
}

#define LINE(...) ((const char *const[]){__VA_ARGS__, NULL})

static void test_settings_that_no_attention_reads_are_noted(void **state) {
  (void)state;
  static const char no_tiles[] = "command line: tiles.side = 3 has no effect: the attention reads "
                                 "no tiles\n",
                    no_keys[] = "command line: score = dot has no effect: neither attention nor "
                                "core matches keys\n";
  static const char *const readers[] = {"soft", "local_m", "local_p", "sampled", "gumbel", "relax"};
  static const char *const others[] = {"gaze", "draw", "spatial_transformer"};
  char attention[64];
  for (int i = 0; i < 6; i++) {
    snprintf(attention, sizeof attention, "attention=%s", readers[i]);
    assert_line_notes(LINE(attention, "tiles.side=3", "score=dot"), "");
  }
  for (int i = 0; i < 3; i++) {
    snprintf(attention, sizeof attention, "attention=%s", others[i]);
    assert_line_notes(LINE(attention, "tiles.side=3"), no_tiles);
    assert_line_notes(LINE(attention, "score=dot"), no_keys);
    assert_line_notes(LINE(attention, "score=dot", "core=attention"), "");
  }
  assert_line_notes(LINE("attention=first", "tiles.side=3"), "");
  assert_line_notes(LINE("attention=repeat", "score=dot"), no_keys);
}

static void test_settings_that_others_leave_without_effect_are_noted(void **state) {
  (void)state;
  static const struct {
    const char *line[3], *why; // the first setting, because of the others
  } cases[] = {
      {{"tiles.heads=2", "attention=repeat"}, "the attention matches no keys"},
      {{"tiles.keys=coarse", "attention=first"}, "the attention matches no keys"},
      {{"tiles.width=8", "attention=first"}, "the attention matches no keys"},
      {{"tiles.width=8", "attention=soft", "tiles.keys=values"}, "keys are values"},
      {{"tiles.keys=coarse", "attention=soft", "score=location"}, "the score reads no keys"},
      {{"tiles.keys=values", "attention=soft", "score=location"}, NULL},
      {{"tiles.cells=3", "attention=soft"}, "tiles.keys is not coarse"},
      {{"tiles.cells=3", "attention=soft", "tiles.keys=coarse"}, NULL},
      {{"tiles.block_heads=2", "attention=soft"}, "tiles.blocks is 0"},
      {{"tiles.block_hidden=8", "attention=repeat"}, "tiles.blocks is 0"},
      {{"tiles.block_heads=2", "attention=soft", "tiles.blocks=1"}, NULL},
      {{"sensor.side=9", "sensor.whole=yes"}, "sensor.whole is yes"},
      {{"context.width=8", "layers=2"}, "context.side is 0"},
      {{"context.width=8", "layers=2", "context.side=3"}, NULL},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char note[160] = "";
    const char *set = cases[i].line[0], *value = strchr(set, '=');
    if (cases[i].why)
      snprintf(note, sizeof note, "command line: %.*s = %s has no effect: %s\n", (int)(value - set),
               set, value + 1, cases[i].why);
    assert_line_notes(LINE(set, cases[i].line[1], cases[i].line[2]), note);
  }
}

static const char relative[] = "attention = soft\npolicy = relative\npolicy.sigma = 4\n";

static void test_an_attention_that_is_chosen_later_brings_its_policy(void **state) {
  (void)state;
  assert_policy(relative, LINE("attention=soft"), "centre\n");
  assert_policy(relative, LINE("attention=draw"), "centre\n");
  assert_policy(relative, LINE("attention=sampled"), "sites\n");
  assert_policy(relative, LINE("attention=soft", "attention=sampled"), "sites\n");
  assert_policy(relative, LINE("attention=gaze"),
                "relative\npolicy.reach = 0.5\npolicy.sigma = 4\n");
  assert_policy(relative, LINE("attention=sampled", "policy=random"), "random\n"); // and is refused
  assert_policy(relative, LINE(NULL), "relative\n");
}

static void test_a_policy_that_an_attention_has_brought_goes_with_it(void **state) {
  (void)state;
  static const char soft[] = "attention = soft\n", set[] = "attention = soft\npolicy = centre\n";
  static const char still[] = "policy = centre\n";
  assert_policy(soft, LINE("attention=gaze"), "gaussian\npolicy.mean = linear\n");
  assert_policy(soft, LINE("attention=gaze", "policy.sigma=3"),
                "gaussian\npolicy.mean = linear\npolicy.sigma = 3\n");
  assert_policy(soft, LINE("attention=gaze", "policy=centre"), "centre\n");
  assert_policy(soft, LINE("attention=draw"), "centre\n");
  assert_policy(soft, LINE("attention=sampled"), "sites\n");
  assert_policy(set, LINE("attention=gaze"), "gaussian\npolicy.mean = linear\n"); // of a run, too
  assert_policy(still, LINE("attention=gaze"), "centre\n");
}

static void test_an_attention_brings_its_policy_before_settings_of_it(void **state) {
  (void)state;
  static const char file[] = "attention = sampled\npolicy.entropy = 0.02\n";
  static const char set[] = "sites\npolicy.entropy = 0.01\n";
  assert_policy(relative, LINE("attention=sampled", "policy.entropy=0.01"), set);
  assert_policy(relative, LINE("policy.entropy=0.01", "attention=sampled"), set);
  assert_policy("", LINE("attention=sampled", "policy.entropy=0.01"), set);
  assert_policy(file, LINE(NULL), "sites\npolicy.entropy = 0.02\n");
  assert_policy(file, LINE("policy.entropy=0.01"), set);
  assert_policy(file, LINE("attention=gaze", "policy.sigma=3"),
                "gaussian\npolicy.mean = linear\npolicy.sigma = 3\n");
  Toy toy;
  assert_int_equal(resolve(&toy, relative, LINE("attention=sampled", "policy.sigma=3")),
                   FOV_ERR_USAGE);
  assert_message("command line: policy.sigma belongs to policy = gaussian, relative, but policy = "
                 "sites here");
  toy_finish(&toy);
}

static void test_an_attention_that_chooses_sites_chooses_the_first_one(void **state) {
  (void)state;
  static const char random[] = "first = random\n", sampled[] = "attention = sampled\n";
  static const char soft[] = "attention = soft\nfirst = centre\n";
  assert_set("", LINE("attention=sampled"), "first", "learned\n");
  assert_set(sampled, LINE(NULL), "first", "learned\n");
  assert_set("", LINE("attention=sampled", "first=centre"), "first", "centre\n");
  assert_set(random, LINE("attention=sampled"), "first", "random\n");
  assert_set(sampled, LINE("attention=gaze"), "first", "centre\n");
  assert_set("", LINE("attention=soft"), "first", "centre\n");
  assert_set(soft, LINE("attention=sampled"), "first", "learned\n"); // of a run
  assert_set(soft, LINE("attention=sampled", "first=random"), "first", "random\n");
}

static void test_other_names_of_attention_get_a_hint(void **state) {
  (void)state;
  static const char *const cases[][2] = {
      {"attention=argmax", "attention = argmax: the likeliest choice is taken wherever none is "
                           "sampled, as in fovea eval; to train, set another attention, such as "
                           "sampled"},
      {"attention=hard", "set sampled, straight_through, gumbel or reinmax"},
      {"attention=self_attention", "set attention = soft and tiles.blocks = 1"},
      {"attention=self-attention", "set attention = soft and tiles.blocks = 1"},
      {"policy=argmax", "as in fovea eval; to train, set another policy"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    Toy toy;
    assert_int_equal(resolve(&toy, "", LINE(cases[i][0])), FOV_ERR_USAGE);
    assert_message(cases[i][1]);
    toy_finish(&toy);
  }
}

static void test_a_policy_without_effect_is_refused(void **state) {
  (void)state;
  Toy toy;
  toy_create(&toy, TOY_SOFT);
  FovTask task = toy.task;
  assert_int_equal(fov_task_check(&task), FOV_OK);
  for (const FovPolicy *const *policy = fov_policies; *policy; policy++) {
    const char *name = (*policy)->plugin.name;
    char message[80];
    if (!strcmp(name, "centre")) continue;
    task.policy = *policy;
    snprintf(message, sizeof message,
             "attention = soft: policy = %s does not fit; set policy = centre", name);
    assert_int_equal(fov_task_check(&task), FOV_ERR_USAGE);
    assert_message(message);
  }
  toy_finish(&toy);
}

/** It would only ever see the top left corner. */
static void test_one_glimpse_of_a_place_that_moves_is_refused(void **state) {
  (void)state;
  Toy toy;
  toy_create(&toy, "env = toy\nattention = local_m\ntiles.side = 3\nglimpses = 2\n");
  FovTask task = toy.task;
  assert_int_equal(fov_task_check(&task), FOV_OK);
  task.options.glimpses = 1;
  assert_int_equal(fov_task_check(&task), FOV_ERR_USAGE);
  assert_message("attention = local_m reads another place with every glimpse: expected glimpses = "
                 "2 or more, found 1");
  toy_finish(&toy);
}

static void look(const void *env, FovEnvLane *lane, const float place[2], FovRng *rng) {
  (void)env, (void)lane, (void)place, (void)rng;
}

/** Its choice would be among what was shown before the look. */
static void test_a_choice_by_what_a_look_changes_is_refused(void **state) {
  (void)state;
  for (int sampled = 0; sampled < 2; sampled++) {
    Toy toy;
    toy_create(&toy, sampled ? "attention = sampled\ntiles.side = 3\n" : "attention = gaze\n");
    FovEnvType type = *toy.env.type;
    FovEnv env = toy.env;
    FovTask task = toy.task;
    type.look = look;
    env.type = &type;
    task.env = &env;
    assert_int_equal(fov_task_check(&task), sampled ? FOV_ERR_USAGE : FOV_OK);
    if (sampled) assert_message("attention = sampled chooses by what is shown, but env = toy ");
    toy_finish(&toy);
  }
}

/** The logits of the first answers [lanes, A] after one glimpse, which the caller frees. shift:
 * added to the context's weights. */
static real *first_logits(const Toy *toy, const real *values, real shift, int *count) {
  const FovParam *context = toy_param(toy, "context.w");
  real *shifted = toy_copy(toy, values);
  ToyPlay play;
  for (size_t i = 0; i < toy_count(context); i++) shifted[context->offset + i] += shift;
  toy_play(&play, toy, shifted, 4);
  const FovVar *logits = play.rollout.at[1].logits;
  *count = logits->rows * logits->cols;
  real *copy = malloc((size_t)*count * sizeof *copy);
  assert_non_null(copy);
  for (int b = 0; b < logits->rows; b++)
    memcpy(copy + b * logits->cols, fov_value_row(logits, b), (size_t)logits->cols * sizeof *copy);
  toy_play_finish(&play);
  free(shifted);
  return copy;
}

/** With two layers the second layer makes the query. It starts from the context, which answers do
 * not see. */
static void test_the_context_decides_what_is_read_first(void **state) {
  (void)state;
  const char *const attentions[] = {"attention = gaze\npolicy = centre\n",
                                    TOY_WINDOW "draw\npolicy = centre\n", TOY_SOFT};
  for (int i = 0; i < 3; i++) {
    Toy toy;
    char settings[256];
    int count;
    snprintf(settings, sizeof settings, TOY_TWO_LAYERS "glimpses = 1\n%s", attentions[i]);
    toy_create(&toy, settings);
    real *values = toy_lively_values(&toy);
    real *before = first_logits(&toy, values, 0, &count);
    real *after = first_logits(&toy, values, (real)0.5, &count);
    bool same = memcmp(before, after, (size_t)count * sizeof *before) == 0;
    assert_true(same == (i == 0));
    free(before);
    free(after);
    free(values);
    toy_finish(&toy);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_the_context_decides_what_is_read_first),
      cmocka_unit_test(test_images_that_do_not_fit_the_encoder_are_refused),
      cmocka_unit_test(test_a_cue_that_is_too_large_is_refused),
      cmocka_unit_test(test_a_context_without_a_state_to_start_is_refused),
      cmocka_unit_test(test_what_cannot_look_at_a_vector_is_refused),
      cmocka_unit_test(test_a_score_without_keys_is_refused_for_a_memory_that_grows),
      cmocka_unit_test(test_tiles_that_do_not_fit_are_refused),
      cmocka_unit_test(test_keys_that_are_not_read_are_not_checked),
      cmocka_unit_test(test_a_window_of_the_whole_image_is_refused),
      cmocka_unit_test(test_one_glimpse_of_a_place_that_moves_is_refused),
      cmocka_unit_test(test_a_choice_by_what_a_look_changes_is_refused),
      cmocka_unit_test(test_patches_inside_the_image_are_refused_without_a_place_to_look),
      cmocka_unit_test(test_a_temperature_that_overflows_is_refused),
      cmocka_unit_test(test_tiles_that_cannot_attend_to_each_other_are_refused),
      cmocka_unit_test(test_a_vector_without_halves_for_two_directions_is_refused),
      cmocka_unit_test(test_a_choice_from_one_tile_is_refused),
      cmocka_unit_test(test_a_local_window_of_all_tiles_is_refused),
      cmocka_unit_test(test_attention_without_keys_needs_no_heads_that_divide_its_units),
      cmocka_unit_test(test_settings_that_no_attention_reads_are_noted),
      cmocka_unit_test(test_settings_that_others_leave_without_effect_are_noted),
      cmocka_unit_test(test_an_attention_that_is_chosen_later_brings_its_policy),
      cmocka_unit_test(test_a_policy_that_an_attention_has_brought_goes_with_it),
      cmocka_unit_test(test_an_attention_brings_its_policy_before_settings_of_it),
      cmocka_unit_test(test_an_attention_that_chooses_sites_chooses_the_first_one),
      cmocka_unit_test(test_other_names_of_attention_get_a_hint),
      cmocka_unit_test(test_a_policy_without_effect_is_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
