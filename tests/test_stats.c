#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/stats.h"

static void test_wilson_s_interval(void **state) {
  (void)state;
  const struct {
    int64_t hits, trials;
    double low, high;
  } known[] = {{10, 100, 0.05523, 0.17437},
               {0, 50, 0, 0.07135},
               {50, 50, 0.92865, 1},
               {1, 1, 0.20654, 1},
               {5, 10, 0.23659, 0.76341}};
  for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
    double low, high;
    fov_stats_wilson(&low, &high, known[i].hits, known[i].trials);
    assert_float_equal(low, known[i].low, 1e-5);
    assert_float_equal(high, known[i].high, 1e-5);
  }
}

/** Published tables, on both sides of the switch to the expansion. */
static void test_student_s_quantile(void **state) {
  (void)state;
  const struct {
    int64_t freedom;
    double quantile, tolerance;
  } known[] = {{1, 12.7062, 5e-4},     {2, 4.30265, 5e-4},           {10, 2.22814, 5e-4},
               {18, 2.10092, 5e-4},    {19, 2.0930241, 2e-5},        {30, 2.0422725, 2e-5},
               {100, 1.9839715, 1e-6}, {1000000000, 1.9599640, 1e-6}};
  for (size_t i = 0; i < sizeof known / sizeof *known; i++)
    assert_float_equal(fov_stats_student(known[i].freedom), known[i].quantile, known[i].tolerance);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_wilson_s_interval),
      cmocka_unit_test(test_student_s_quantile),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
