/** Optimisers and schedules of the learning rate, against the formulas of their papers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "learn/optimiser.h"
#include "learn/schedule.h"
#include "plugin.h"

/* ---- optimisers ---- */

enum { NUMBERS = 37 };

/** Numbers and moments of an optimiser under test. */
typedef struct Descent {
  real value[NUMBERS], first[NUMBERS], second[NUMBERS], gradient[NUMBERS];
} Descent;

static FovOptimiserStep step_of(Descent *d, real rate, int64_t update) {
  return (FovOptimiserStep){.value = d->value,
                            .first = d->first,
                            .second = d->second,
                            .gradient = d->gradient,
                            .count = NUMBERS,
                            .rows = 1,
                            .cols = NUMBERS,
                            .scale = 1,
                            .rate = rate,
                            .number = update};
}

/** f(x) = Σ a_i (x_i − c_i)² / 2 with curvatures from 0.5 to 2, at a rate that falls to 0. */
static void test_every_optimiser_minimises_a_quadratic(void **state) {
  (void)state;
  for (const FovOptimiser *const *o = fov_optimisers; *o; o++) {
    FovSlot slot = plugin_default(PLUGINS(fov_optimisers), &(*o)->plugin);
    Descent d = {0};
    enum { STEPS = 500 };
    for (int t = 1; t <= STEPS; t++) {
      for (int i = 0; i < NUMBERS; i++)
        d.gradient[i] = (real)(0.5 + 1.5 * i / NUMBERS) * (d.value[i] - (real)sin(i));
      FovOptimiserStep step = step_of(&d, (real)(0.05 * (STEPS - t + 1) / STEPS), t);
      (*o)->step(&step, slot.values);
    }
    for (int i = 0; i < NUMBERS; i++)
      if (!(fabs((double)d.value[i] - sin(i)) < 0.02))
        fail_msg("%s: x[%d] is %g, expected %g", (*o)->plugin.name, i, (double)d.value[i], sin(i));
    free(slot.values);
  }
}

/** The update of one number: x, m, v before and after step t. */
typedef void Formula(double *x, double *m, double *v, double g, double rate, int t);

static void adam(double *x, double *m, double *v, double g, double rate, int t) {
  *m = 0.8 * *m + 0.2 * g;
  *v = 0.9 * *v + 0.1 * g * g;
  *x -= rate * (*m / (1 - pow(0.8, t))) / (sqrt(*v / (1 - pow(0.9, t))) + 0.01);
}

static void adamw(double *x, double *m, double *v, double g, double rate, int t) {
  *x -= rate * 0.3 * *x;
  adam(x, m, v, g, rate, t);
}

static void momentum(double *x, double *m, double *v, double g, double rate, int t) {
  (void)v, (void)t;
  *m = 0.7 * *m + g;
  *x -= rate * *m;
}

static void nesterov(double *x, double *m, double *v, double g, double rate, int t) {
  (void)v, (void)t;
  *m = 0.7 * *m + g;
  *x -= rate * (g + 0.7 * *m);
}

static void decayed(double *x, double *m, double *v, double g, double rate, int t) {
  momentum(x, m, v, g + 0.3 * *x, rate, t);
}

#define ADAM "plugin.beta1 = 0.8\nplugin.beta2 = 0.9\nplugin.epsilon = 0.01\n"

static const struct {
  const char *settings;
  Formula *formula;
} optimiser_cases[] = {
    {"plugin = adam\n" ADAM, adam},
    {"plugin = adamw\n" ADAM "plugin.decay = 0.3", adamw},
    {"plugin = muon\nplugin.decay = 0.3\n" ADAM, adam}, // of parameters outside hidden layers
    {"plugin = sgd\nplugin.momentum = 0.7", momentum},
    {"plugin = sgd\nplugin.momentum = 0.7\nplugin.nesterov = yes", nesterov},
    {"plugin = sgd\nplugin.momentum = 0.7\nplugin.decay = 0.3", decayed},
};
enum { OPTIMISER_CASES = sizeof optimiser_cases / sizeof *optimiser_cases };

/** Two steps of every number, with the gradient scaled by 1/2, as clipping does. */
static void check_steps(const char *settings, Formula *formula) {
  FovSlot slot = plugin_choose(PLUGINS(fov_optimisers), settings);
  Descent d = {0};
  double x[NUMBERS], m[NUMBERS] = {0}, v[NUMBERS] = {0};
  for (int i = 0; i < NUMBERS; i++) d.value[i] = (real)(x[i] = 0.125 * (i - 5));
  for (int t = 1; t <= 2; t++) {
    for (int i = 0; i < NUMBERS; i++) d.gradient[i] = (real)(i % 7 - 3.5) * (t == 1 ? 2 : -1);
    FovOptimiserStep step = step_of(&d, (real)0.25, t);
    step.scale = (real)0.5;
    ((const FovOptimiser *)slot.plugin)->step(&step, slot.values);
    for (int i = 0; i < NUMBERS; i++) {
      formula(&x[i], &m[i], &v[i], 0.5 * d.gradient[i], 0.25, t);
      assert_close(d.value[i], x[i], 2e-6 * (1 + fabs(x[i])));
      assert_close(d.first[i], m[i], 2e-6 * (1 + fabs(m[i])));
      assert_close(d.second[i], v[i], 2e-6 * (1 + fabs(v[i])));
    }
  }
  free(slot.values);
}

static void test_every_optimiser_takes_the_steps_of_its_paper(void **state) {
  (void)state;
  for (int i = 0; i < OPTIMISER_CASES; i++)
    check_steps(optimiser_cases[i].settings, optimiser_cases[i].formula);
  for (const FovOptimiser *const *o = fov_optimisers; *o; o++) {
    char line[64];
    snprintf(line, sizeof line, "plugin = %s\n", (*o)->plugin.name);
    int cases = 0;
    for (int i = 0; i < OPTIMISER_CASES; i++)
      cases += !strncmp(optimiser_cases[i].settings, line, strlen(line));
    if (cases == 0) fail_msg("%s: no case here", (*o)->plugin.name);
  }
}

enum { ROWS = 48, COLS = 33, AREA = ROWS * COLS };

/** Number i of a matrix with one nonzero number in each of 33 rows and columns; signs and sizes
 * differ. */
static double *diagonal(double *x, int rows, int i) {
  return rows == ROWS ? &x[(i * 5 + 3) % ROWS * COLS + i] : &x[i * ROWS + (i * 5 + 3) % ROWS];
}

/** The singular values of such a matrix are its numbers, which Muon's iteration changes one by one.
 */
static void check_muon(int rows, int cols) {
  FovSlot slot = plugin_choose(PLUGINS(fov_optimisers),
                               "plugin = muon\nplugin.momentum = 0.7\nplugin.turns = 4\n"
                               "plugin.decay = 0.3");
  const FovOptimiser *muon = (const FovOptimiser *)slot.plugin;
  static real value[AREA], first[AREA], second[AREA], gradient[AREA];
  static double x[AREA], m[AREA], g[AREA];
  real *scratch = calloc(muon->scratch(rows, cols), sizeof *scratch);
  memset(first, 0, sizeof first);
  memset(m, 0, sizeof m);
  for (int i = 0; i < AREA; i++) value[i] = (real)(x[i] = 0.125 * (i % 9 - 4));
  for (int t = 1; t <= 2; t++) {
    double squares = 0;
    memset(g, 0, sizeof g);
    for (int i = 0; i < COLS; i++) *diagonal(g, rows, i) = pow(-0.9, i + 7 * t);
    for (int i = 0; i < AREA; i++) {
      gradient[i] = (real)g[i];
      m[i] = 0.7 * m[i] + 0.5 * g[i];
      squares += pow(0.5 * g[i] + 0.7 * m[i], 2);
    }
    FovOptimiserStep step = {value, first,   second,    gradient,   AREA, rows,
                             cols,  scratch, (real)0.5, (real)0.25, t};
    muon->step(&step, slot.values);
    for (int i = 0; i < AREA; i++) {
      double s = (0.5 * g[i] + 0.7 * m[i]) / sqrt(squares);
      for (int k = 0; k < 4; k++) s = 3.4445 * s - 4.7750 * pow(s, 3) + 2.0315 * pow(s, 5);
      x[i] = x[i] * (1 - 0.25 * 0.3) - 0.25 * 0.2 * sqrt(ROWS) * s;
      assert_close(value[i], x[i], 1e-4);
      assert_close(first[i], m[i], 1e-6);
      assert_close(second[i], 0, 0);
    }
  }
  free(scratch);
  free(slot.values);
}

static void test_muon_makes_singular_values_one(void **state) {
  (void)state;
  check_muon(ROWS, COLS);
  check_muon(COLS, ROWS);
}

static void test_muon_takes_no_step_without_a_gradient(void **state) {
  (void)state;
  FovSlot slot = plugin_choose(PLUGINS(fov_optimisers), "plugin = muon");
  const FovOptimiser *muon = (const FovOptimiser *)slot.plugin;
  static real value[AREA], first[AREA], second[AREA], gradient[AREA];
  real *scratch = calloc(muon->scratch(ROWS, COLS), sizeof *scratch);
  FovOptimiserStep step = {value, first, second, gradient, AREA, ROWS, COLS, scratch, 1, 1, 1};
  muon->step(&step, slot.values);
  for (int i = 0; i < AREA; i++) assert_close(value[i], 0, 0);
  // The momentum of an old gradient decays, and the steps with it.
  for (int i = 0; i < AREA; i++) gradient[i] = (real)sin(i);
  muon->step(&step, slot.values);
  memset(gradient, 0, sizeof gradient);
  for (int t = 0; t < 1000; t++) muon->step(&step, slot.values);
  static real settled[AREA];
  memcpy(settled, value, sizeof value);
  for (int t = 0; t < 2000; t++) muon->step(&step, slot.values);
  for (int i = 0; i < AREA; i++) assert_close(value[i], settled[i], 1e-9);
  free(scratch);
  free(slot.values);
}

/* ---- schedules ---- */

static void test_schedules_have_known_values(void **state) {
  (void)state;
  const struct {
    FovSchedule schedule;
    double middle, end;
  } known[] = {
      {FOV_SCHEDULE_CONSTANT, 1, 1}, {FOV_SCHEDULE_LINEAR, 0.5, 0}, {FOV_SCHEDULE_COSINE, 0.5, 0}};
  for (int i = 0; i < 3; i++) {
    assert_close(fov_schedule(known[i].schedule, 0, 0), 1, 0);
    assert_close(fov_schedule(known[i].schedule, 0.5, 0), known[i].middle, 1e-12);
    assert_close(fov_schedule(known[i].schedule, 1, 0), known[i].end, 1e-12);
    // With a warm-up of a fifth, the rise is linear and the schedule fills the rest.
    assert_close(fov_schedule(known[i].schedule, 0, 0.2), 0, 0);
    assert_close(fov_schedule(known[i].schedule, 0.05, 0.2), 0.25, 1e-12);
    assert_close(fov_schedule(known[i].schedule, 0.2, 0.2), 1, 1e-12);
    assert_close(fov_schedule(known[i].schedule, 0.6, 0.2), known[i].middle, 1e-12);
    assert_close(fov_schedule(known[i].schedule, 1, 0.2), known[i].end, 1e-12);
    assert_close(fov_schedule(known[i].schedule, 0.5, 1), 0.5, 1e-12);
  }
  assert_close(fov_schedule(FOV_SCHEDULE_COSINE, 0.25, 0), (1 + sqrt(0.5)) / 2, 1e-12);
}

static void test_schedules_rise_then_fall(void **state) {
  (void)state;
  for (int s = FOV_SCHEDULE_CONSTANT; s <= FOV_SCHEDULE_COSINE; s++)
    for (int i = 1; i <= 1000; i++) {
      double before = fov_schedule((FovSchedule)s, (i - 1) / 1000., 0.3);
      double after = fov_schedule((FovSchedule)s, i / 1000., 0.3);
      assert_true(after >= 0 && after <= 1);
      assert_true(i <= 300 ? after > before : after <= before);
    }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_every_optimiser_minimises_a_quadratic),
      cmocka_unit_test(test_every_optimiser_takes_the_steps_of_its_paper),
      cmocka_unit_test(test_muon_makes_singular_values_one),
      cmocka_unit_test(test_muon_takes_no_step_without_a_gradient),
      cmocka_unit_test(test_schedules_have_known_values),
      cmocka_unit_test(test_schedules_rise_then_fall),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
