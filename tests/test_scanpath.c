/** Scanpaths: their statistics, measures between them, fixations of people, and studies. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <unistd.h>

#include "base/file.h"
#include "check.h"
#include "experiment/scanpath/fixations.h"
#include "experiment/scanpath/study.h"
#include "traces.h"
#include "working_folder.h"

enum { EPISODES = 12 };

static void write_trace(FovTrace trace, const char *path) {
  assert_int_equal(fov_trace_write(&trace, path), FOV_OK);
  fov_trace_finish(&trace);
}

#define PATH(name, ...)                                                                            \
  double name##_places[] = {__VA_ARGS__};                                                          \
  const FovScanpath name = {name##_places, (int)(sizeof name##_places / sizeof(double) / 2)}

static double room[64];

/* ---- statistics ---- */

static void test_a_revisit_returns_after_the_gaze_was_away(void **state) {
  (void)state;
  PATH(stays, .1, .1, .11, .1, .1, .11, .12, .1);
  PATH(returns, .1, .1, .5, .5, .12, .1, .1, .12, .52, .5);
  assert_int_equal(fov_scanpath_revisits(&stays, 0.1), 0);
  assert_int_equal(fov_scanpath_revisits(&returns, 0.1), 3); // places 3 and 4, then 5
  assert_int_equal(fov_scanpath_revisits(&returns, 0.01), 0);
}

/** Patches of 8 and 16 pixels on an image of 32 × 32. */
static void test_statistics_of_an_episode(void **state) {
  (void)state;
  FovTrace trace = make_up_trace(1, 1);
  double places[2 * GLIMPSES], values[FOV_SCANPATH_STATISTICS];
  uint8_t mask[SIZE * SIZE];
  const float locations[] = {0, 0, 0.5f, 0, 1, 0, 0.5f, 0};
  memcpy(trace.locations, locations, sizeof locations);
  FovScanpath path = fov_scanpath_of(places, &trace, 0);
  assert_near(places[2], 0.75, 1e-12, "x");
  assert_near(places[3], 0.5, 1e-12, "y");
  fov_scanpath_statistics(values, &trace, 0, &path, mask);
  assert_near(values[FOV_SCANPATH_GLIMPSES], 4, 0, "glimpses");
  assert_near(values[FOV_SCANPATH_SACCADE], 0.25, 1e-12, "saccade");
  assert_near(values[FOV_SCANPATH_PATH], 0.75, 1e-12, "path");
  assert_near(values[FOV_SCANPATH_REVISITS], 1, 0, "revisits");
  // Columns 12 to 19, 20 to 27 and 28 to 31 of rows 12 to 19; with the coarse ones 8 to 31, 8
  // to 23.
  assert_near(values[FOV_SCANPATH_FINE], 100.0 * 20 * 8 / 1024, 1e-9, "fine");
  assert_near(values[FOV_SCANPATH_SEEN], 100.0 * 24 * 16 / 1024, 1e-9, "seen");
  fov_trace_finish(&trace);
}

static void set_likeliest(FovTrace *trace, int e, int t, int class) {
  for (int a = 0; a < CLASSES; a++)
    trace->probabilities[((size_t)e * GLIMPSES + t) * CLASSES + a] = a == class ? 0.7f : 0.1f;
}

static double decision_of(const FovTrace *trace, int e) {
  double places[2 * GLIMPSES], values[FOV_SCANPATH_STATISTICS];
  uint8_t mask[SIZE * SIZE];
  FovScanpath path = fov_scanpath_of(places, trace, e);
  fov_scanpath_statistics(values, trace, e, &path, mask);
  return values[FOV_SCANPATH_DECISION];
}

static void test_the_decision_is_when_the_answer_stays_the_likeliest(void **state) {
  (void)state;
  FovTrace trace = make_up_trace(1, 1);
  static const int likeliest[][GLIMPSES] = {{2, 2, 2, 2}, {2, 1, 2, 2}, {1, 2, 0, 2}, {0, 0, 0, 0}};
  static const double expected[] = {1, 3, 4, 4}; // the last: sampled, never the likeliest before
  for (int i = 0; i < 4; i++) {
    for (int t = 0; t < GLIMPSES; t++) set_likeliest(&trace, 0, t, likeliest[i][t]);
    trace.answers[GLIMPSES - 1] = 2;
    assert_near(decision_of(&trace, 0), expected[i], 0, "decision");
  }
  trace.answers[1] = 0; // a turn of two glimpses before the other
  assert_near(decision_of(&trace, 0), 1.5, 0,
              "decision"); // the first at once, the second at its end
  trace.control = true;
  assert_true(isnan(decision_of(&trace, 0)));
  fov_trace_finish(&trace);
}

/* ---- measures ---- */

static void test_multimatch(void **state) {
  (void)state;
  double s[4];
  PATH(a, .1, .1, .5, .1, .5, .4, .9, .4);
  PATH(moved, .1, .2, .5, .2, .5, .5, .9, .5);
  PATH(back, .9, .4, .5, .4, .5, .1, .1, .1);
  PATH(two, .1, .1, .5, .1);
  fov_multimatch(s, &a, &a, 1, room);
  for (int k = 0; k < 4; k++) assert_near(s[k], 1, 1e-12, "equal");
  fov_multimatch(s, &a, &moved, 1, room);
  for (int k = 0; k < 3; k++) assert_near(s[k], 1, 1e-12, "the same saccades");
  assert_near(s[3], 1 - 0.1 / sqrt(2), 1e-12, "position");
  fov_multimatch(s, &a, &back, 1, room); // pairs: median of opposite saccades
  assert_near(s[1], 0, 1e-12, "direction");
  assert_near(s[2], 1, 1e-12, "length");
  fov_multimatch(s, &a, &two, 1, room);
  for (int k = 0; k < 4; k++) assert_true(isnan(s[k]));
}

static void test_scanmatch(void **state) {
  (void)state;
  PATH(a, .1, .1, .9, .1, .9, .9);
  PATH(part, .9, .1, .9, .9);
  PATH(near, .1 + 1 / 12., .1, .9, .1, .9, .9 - 2 / 12.);
  PATH(far, .9, .9);
  PATH(first, .1, .1);
  assert_near(fov_scanmatch(&a, &a, 1, room), 1, 1e-12, "equal");
  assert_near(fov_scanmatch(&a, &part, 1, room), 2 / 3., 1e-12, "two of three");
  assert_near(fov_scanmatch(&a, &near, 1, room), (2.5 + 3.5 + 1.5) / 10.5, 1e-12, "tiles away");
  assert_near(fov_scanmatch(&first, &far, 1, room), 0, 1e-12, "beyond the threshold: a gap");
}

static void test_dynamic_warping(void **state) {
  (void)state;
  PATH(a, 0, 0, .5, 0, 1, 0);
  PATH(slow, 0, 0, 0, 0, .5, 0, 1, 0, 1, 0);
  PATH(above, 0, .2, .5, .2, 1, .2);
  assert_near(fov_dynamic_warping(&a, &a, room), 0, 0, "equal");
  assert_near(fov_dynamic_warping(&a, &slow, room), 0, 0, "longer");
  assert_near(fov_dynamic_warping(&a, &above, room), 0.6, 1e-12, "three pairs");
}

static double sum_of(const FovScanpathMap *map) {
  double sum = 0;
  for (int i = 0; i < map->rows * map->columns; i++) sum += map->density[i];
  return sum;
}

static void test_densities_predict_places(void **state) {
  (void)state;
  FovScanpathMap map, prior;
  PATH(places, .3, .4, .9, .99);
  PATH(elsewhere, .05, .1, .7, .2);
  assert_int_equal(fov_scanpath_map_create(&map, 1.25), FOV_OK);
  assert_int_equal(fov_scanpath_map_create(&prior, 1.25), FOV_OK);
  assert_int_equal(map.rows, 40);
  for (int i = 0; i < 32 * 40; i++) prior.density[i] = 1.0 / (32 * 40);
  assert_true(isnan(fov_scanpath_nss(&prior, &places, 1.25)));
  assert_near(fov_scanpath_gain(&prior, &prior, &places, 1.25), 0, 1e-12, "no gain");
  fov_scanpath_map_fill(&map, &places, 1.25, 0.05);
  assert_near(sum_of(&map), 1, 1e-9, "a density");
  assert_true(fov_scanpath_nss(&map, &places, 1.25) > 3);
  assert_true(fov_scanpath_nss(&map, &elsewhere, 1.25) < 0);
  assert_true(fov_scanpath_gain(&map, &prior, &places, 1.25) > 3);
  assert_near(fov_scanpath_gain(&map, &prior, &elsewhere, 1.25), log2(0.1), 0.01, "the even share");
  assert_near(fov_scanpath_gain(&map, &prior, &places, 1.25),
              -fov_scanpath_gain(&prior, &map, &places, 1.25), 1e-12, "signed");
  fov_scanpath_map_finish(&map);
  fov_scanpath_map_finish(&prior);
}

/** Standardised by hand: a map of four tiles with 0.7, 0.1, 0.1, 0.1. */
static void test_nss_is_in_deviations_of_the_map(void **state) {
  (void)state;
  double density[] = {0.7, 0.1, 0.1, 0.1};
  FovScanpathMap map = {density, 2, 2};
  PATH(first, .2, .2);
  PATH(both, .2, .2, .8, .2);
  double deviation = sqrt((0.45 * 0.45 + 3 * 0.15 * 0.15) / 4);
  assert_near(fov_scanpath_nss(&map, &first, 1), 0.45 / deviation, 1e-12, "one");
  assert_near(fov_scanpath_nss(&map, &both, 1), 0.15 / deviation, 1e-12, "mean of two");
}

static void test_drawn_gazes_are_inside_and_around(void **state) {
  (void)state;
  static double places[2 * 4000];
  FovScanpath path = {places, 4000};
  for (int kind = 0; kind < 2; kind++) {
    FovRng rng = fov_rng_stream(1, FOV_STREAM_SCANPATH, (uint64_t)kind);
    (kind ? fov_scanpath_draw_random : fov_scanpath_draw_centre)(&path, 0.5, &rng);
    double x = 0, square = 0;
    for (int t = 0; t < path.count; t++) {
      assert_true(places[2 * t] >= 0 && places[2 * t] <= 1);
      assert_true(places[2 * t + 1] >= 0 && places[2 * t + 1] <= 0.5);
      x += places[2 * t];
      square += (places[2 * t + 1] - 0.25) * (places[2 * t + 1] - 0.25);
    }
    // A normal distribution that is cut at two deviations keeps 0.77 of its variance.
    double expected = kind ? 0.25 / 12 : 0.77 * 0.25 * 0.25 * 0.25;
    assert_near(x / path.count, 0.5, 0.02, "middle");
    assert_near(square / path.count, expected, 0.08 * expected, "variance");
  }
}

/* ---- fixations ---- */

static void write_text(const char *path, const char *text) {
  assert_int_equal(fov_file_write(path, text, strlen(text)), FOV_OK);
}

static void test_fixations_become_a_path_for_each_observer(void **state) {
  (void)state;
  FovTrace trace = make_up_trace(3, 1);
  FovFixations f;
  write_text("f.csv",
             "x,observer,y,episode,duration\n16,b,8,2,0.3\n1,a,2,2,1\n32,b,0,2,0.1\n4,a,4,0,2\n");
  assert_int_equal(fov_fixations_read(&f, "f.csv", &trace), FOV_OK);
  assert_int_equal(f.count, 3);
  static const int episodes[] = {0, 2, 2}, counts[] = {1, 1, 2};
  for (int i = 0; i < 3; i++) {
    assert_int_equal(f.episodes[i], episodes[i]);
    assert_int_equal(f.paths[i].count, counts[i]);
  }
  assert_near(f.paths[2].places[0], 0.5, 1e-12, "x");
  assert_near(f.paths[2].places[1], 0.25, 1e-12, "y");
  assert_near(f.paths[2].places[2], 1, 1e-12, "x");
  fov_fixations_finish(&f);
  fov_trace_finish(&trace);
}

static void test_fixations_refuse_what_is_no_place(void **state) {
  (void)state;
  FovTrace trace = make_up_trace(3, 1);
  FovFixations f;
  static const char *const texts[][2] = {
      {"episode,x\n0,1\n", "no column 'y'"},
      {"episode,x,y\n", "no fixations"},
      {"episode,x,y\n0,1,1\n3,1,1\n", "f.csv:3: episode = '3': expected a number from 0 to 2"},
      {"episode,x,y\n0.5,1,1\n", "f.csv:2: episode = 0.5"},
      {"episode,x,y\n0,33,1\n", "f.csv:2: x = '33': expected a number from 0 to 32"},
      {"episode,x,y\n0,1,nan\n", "y = 'nan'"},
      {"episode,x,y\n0,1,\n", "y = ''"},
  };
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    write_text("f.csv", texts[i][0]);
    assert_int_not_equal(fov_fixations_read(&f, "f.csv", &trace), FOV_OK);
    assert_non_null(strstr(fov_error_message(), texts[i][1]));
  }
  fov_trace_finish(&trace);
}

/* ---- studies ---- */

static FovScanpathStudy study_of(const char *const *sources, int count, const char *fixations) {
  FovScanpathStudy study;
  const FovScanpathRequest request = {sources, count, fixations, 0.05};
  assert_int_equal(fov_scanpath_study(&study, &request), FOV_OK);
  return study;
}

static void test_a_single_source_is_not_compared(void **state) {
  (void)state;
  write_trace(make_up_trace(EPISODES, 1), "a.trace");
  FovScanpathStudy study = study_of((const char *[]){"a.trace"}, 1, NULL);
  assert_int_equal(study.count, 1);
  assert_null(study.reference);
  assert_null(study.rows[0].measures);
  assert_near(study.rows[0].statistics[5][FOV_SCANPATH_GLIMPSES], GLIMPSES, 0, "glimpses");
  fov_scanpath_study_finish(&study);
}

/** The places of glimpses are those of make_up_glimpse, but different for each episode. */
static FovTrace make_up_gaze(int episodes) {
  FovTrace trace = make_up_trace(episodes, 1);
  for (int i = 0; i < 2 * episodes * GLIMPSES; i++)
    trace.locations[i] = (float)sin(i * i); // anywhere
  return trace;
}

static void test_an_equal_gaze_is_equal_and_others_are_not(void **state) {
  (void)state;
  write_trace(make_up_gaze(EPISODES), "a.trace");
  write_trace(make_up_gaze(EPISODES - 2), "b.trace");
  FovScanpathStudy study = study_of((const char *[]){"a.trace", "b.trace"}, 2, NULL);
  assert_int_equal(study.count, 4);
  assert_int_equal(study.episodes, EPISODES - 2);
  assert_string_equal(study.reference, "a.trace");
  assert_null(study.rows[0].measures);
  double mean[4][FOV_SCANPATH_MEASURES] = {{0}};
  for (int i = 1; i < 4; i++)
    for (int e = 0; e < study.episodes; e++)
      for (int m = 0; m < FOV_SCANPATH_MEASURES; m++)
        mean[i][m] += study.rows[i].measures[e][m] / study.episodes;
  static const double equal[] = {1, 1, 1, 1, 1, 0};
  for (int m = 0; m < 6; m++) {
    assert_near(mean[1][m], equal[m], 1e-9, "%s", fov_scanpath_measure_names[m]);
    for (int i = 2; i < 4; i++) assert_true(fabs(mean[i][m] - equal[m]) > 0.1);
  }
  assert_true(mean[1][FOV_SCANPATH_NSS] > 2 && mean[1][FOV_SCANPATH_GAIN] > 1);
  assert_true(fabs(mean[3][FOV_SCANPATH_NSS]) < 0.5);
  assert_true(mean[3][FOV_SCANPATH_GAIN] < 0);
  FovScanpathStudy again = study_of((const char *[]){"a.trace", "b.trace"}, 2, NULL);
  for (int i = 1; i < 4; i++)
    assert_memory_equal(study.rows[i].measures, again.rows[i].measures,
                        sizeof *study.rows[i].measures * (size_t)study.episodes);
  fov_scanpath_study_finish(&study);
  fov_scanpath_study_finish(&again);
}

/** Fixations at the agent's places: it is compared, too, on the images that people saw. */
static void test_people_are_the_reference(void **state) {
  (void)state;
  FovTrace trace = make_up_gaze(EPISODES);
  FILE *csv = fopen("people.csv", "w");
  fputs("episode,x,y\n", csv);
  for (int e = 0; e < 3; e++)
    for (int t = 0; t < GLIMPSES; t++) {
      const float *at = trace.locations + 2 * (e * GLIMPSES + t);
      fprintf(csv, "%d,%.9g,%.9g\n", e, 16 * (at[0] + 1.0), 16 * (at[1] + 1.0));
    }
  fclose(csv);
  write_trace(trace, "a.trace");
  FovScanpathStudy study = study_of((const char *[]){"a.trace"}, 1, "people.csv");
  assert_int_equal(study.count, 3);
  assert_int_equal(study.paths, 3);
  for (int e = 0; e < EPISODES; e++) {
    double position = study.rows[0].measures[e][FOV_SCANPATH_POSITION];
    assert_true(e < 3 ? fabs(position - 1) < 1e-6 : isnan(position));
  }
  fov_scanpath_study_finish(&study);
}

/** The first place is left out, so a gaze that stopped there has no measures. */
static void test_a_gaze_of_one_place_has_no_measures(void **state) {
  (void)state;
  FovTrace trace = make_up_gaze(EPISODES);
  write_trace(make_up_gaze(EPISODES), "a.trace");
  trace.lengths[0] = 1;
  write_trace(trace, "b.trace");
  FovScanpathStudy study = study_of((const char *[]){"a.trace", "b.trace"}, 2, NULL);
  for (int m = 0; m < FOV_SCANPATH_MEASURES; m++) {
    assert_true(isnan(study.rows[1].measures[0][m]));
    assert_true(isfinite(study.rows[1].measures[1][m]));
  }
  fov_scanpath_study_finish(&study);
}

static void assert_refused(const char *a, const char *b, const char *why) {
  FovScanpathStudy study;
  const FovScanpathRequest request = {(const char *[]){a, b}, b ? 2 : 1, NULL, 0.05};
  assert_int_not_equal(fov_scanpath_study(&study, &request), FOV_OK);
  assert_non_null(strstr(fov_error_message(), why));
}

static void test_sources_without_scanpaths_are_refused(void **state) {
  (void)state;
  write_trace(make_up_trace(2, 1), "a.trace");
  write_trace(make_up_trace(2, 3), "colour.trace");
  write_trace(make_up_heads(2, 4, 2), "soft.trace");
  assert_refused("soft.trace", NULL, "soft.trace: its attention has weights over all tiles");
  assert_refused("a.trace", "colour.trace", "not the same episodes");
  assert_refused("a.trace", "absent.trace", "absent.trace");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_a_revisit_returns_after_the_gaze_was_away),
      cmocka_unit_test(test_statistics_of_an_episode),
      cmocka_unit_test(test_the_decision_is_when_the_answer_stays_the_likeliest),
      cmocka_unit_test(test_multimatch),
      cmocka_unit_test(test_scanmatch),
      cmocka_unit_test(test_dynamic_warping),
      cmocka_unit_test(test_densities_predict_places),
      cmocka_unit_test(test_nss_is_in_deviations_of_the_map),
      cmocka_unit_test(test_drawn_gazes_are_inside_and_around),
      cmocka_unit_test(test_fixations_become_a_path_for_each_observer),
      cmocka_unit_test(test_fixations_refuse_what_is_no_place),
      cmocka_unit_test(test_a_single_source_is_not_compared),
      cmocka_unit_test(test_an_equal_gaze_is_equal_and_others_are_not),
      cmocka_unit_test(test_people_are_the_reference),
      cmocka_unit_test(test_a_gaze_of_one_place_has_no_measures),
      cmocka_unit_test(test_sources_without_scanpaths_are_refused),
  };
  return cmocka_run_group_tests_name("scanpath", tests, enter_folder, leave_folder);
}
