/** One episode of an untrained agent for other programs, with the places that they give, in double
 * precision: reads commands from stdin and prints a line of numbers for each.
 *
 *     play N SETTINGS… CASE T PLACES…
 *
 * There are N settings key=value. PLACES are the first one's x and y and the actions of a relative
 * policy after each glimpse but the last: 2 T numbers. Prints the image and the cue; then for each
 * glimpse its place, the patch, log p of each class, or the vector that is answered and the right
 * one, and the reward of the answer after it, less the step's. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "experiment/experiment.h"

static void stop(const char *why) {
  fprintf(stderr, "fovea_peer_play: %s\n", why);
  exit(2);
}

static void require(FovStatus status) {
  if (status != FOV_OK) stop(fov_error_message());
}

static double read_number(double least, double most) {
  double number;
  if (scanf("%lf", &number) != 1 || !(number >= least && number <= most)) stop("a bad number");
  return number;
}

static void read_settings(FovExperiment *experiment) {
  char setting[256];
  require(fov_experiment_init(experiment));
  for (int n = (int)read_number(0, 100); n > 0; n--) {
    if (scanf("%255s", setting) != 1) stop("expected a setting");
    require(fov_settings_add(experiment->settings, setting));
  }
  require(fov_experiment_resolve(experiment));
}

static void print_numbers(const real *numbers, int count) {
  for (int i = 0; i < count; i++) printf("%.17g ", (double)numbers[i]);
}

static void print_step(const FovRollout *rollout, FovArena *arena, int t, int actions) {
  FovTimeStep *step = &rollout->at[t];
  print_numbers(step->location->value, 2);
  print_numbers(step->rho->value, step->rho->cols);
  print_numbers(step->targets ? step->logits->value : fov_step_log_p(step, arena), actions);
  if (step->targets) print_numbers(step->targets, actions);
  print_numbers(&rollout->rewards[t], 1);
}

static void print_image(const FovImage *image) {
  int count = image->height * image->width * image->channels;
  for (int i = 0; i < count; i++)
    printf("%.9g ", image->floats ? (double)image->floats[i] : image->bytes[i] / 255.);
}

/** The case as it is shown after a reset. */
static void print_case(const FovEnv *env, FovArena *arena, int64_t index) {
  FovRng rng = fov_case_rng(0, FOV_SPLIT_TRAIN, index);
  FovEnvLane lane = fov_env_lane(arena, &env->spec);
  fov_env_reset(env, &lane, index, &rng);
  FovImage image = fov_lane_image(&lane, &env->spec);
  FovImage cue = fov_observed(&env->spec.cue, lane.cue);
  print_image(&image);
  if (env->spec.cue.kind != FOV_OBSERVATION_NONE) print_image(&cue);
}

/** Plays case `index`; places: [glimpses]. */
static void play(FovExperiment *experiment, const FovEnv *env, int64_t index, FovChoice *places) {
  FovArena arena = {.first = NULL};
  FovTape tape;
  FovRollout rollout;
  FovTask task = fov_experiment_task(experiment, env);
  const FovParams *params = &experiment->agent.params;
  real *values = fov_params_block(params);
  if (!values) stop("no memory");
  fov_params_init(values, params, 1);
  fov_tape_begin(&tape, &arena, params, values, NULL);
  FovPlan plan = fov_plan_cases(&arena, index, 1, 0, FOV_SPLIT_TRAIN, 0);
  plan.forced = &(FovChoices){.places = places};
  fov_rollout_run(&rollout, &tape, &task, &plan);
  print_case(env, &arena, index);
  for (int t = 1; t < rollout.time_steps; t++) print_step(&rollout, &arena, t, env->spec.actions);
  free(values);
  fov_arena_finish(&arena);
}

static void run(void) {
  FovExperiment experiment;
  FovEnv env;
  read_settings(&experiment);
  require(fov_experiment_env(&env, &experiment, FOV_SPLIT_TRAIN));
  require(fov_experiment_build(&experiment, &env.spec));
  int64_t index = (int64_t)read_number(0, (double)env.spec.cases - 1);
  int T = (int)read_number(env.spec.steps, env.spec.steps);
  FovChoice *places = calloc((size_t)T + 1, sizeof *places);
  if (!places) stop("no memory");
  for (int i = 0; i < 2 * T; i++) places[i / 2].sample[i % 2] = (real)read_number(-1e9, 1e9);
  for (int t = 0; t <= T; t++) places[t].index = -1;
  play(&experiment, &env, index, places);
  free(places);
  fov_env_finish(&env);
  fov_experiment_finish(&experiment);
}

int main(void) {
  char word[32];
  while (scanf("%31s", word) == 1) {
    if (strcmp(word, "play") != 0) stop("unknown command");
    run();
    putchar('\n');
  }
  return 0;
}
