#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "experiment/plot/curves.h"
#include "tests/check.h"
#include "tests/working_folder.h"

/** t of one degree of freedom; s/√2 is half the range of two values. */
static const double STUDENT_1 = 12.706204736174707;

/** A point of a file: everything that these tests plot. */
typedef struct Row {
  int64_t episodes;
  double seconds, error;
} Row;

/** Appends rows with 4 glimpses an episode and an extra column, `novel`: 10 × error. */
static void append(const char *file, const Row *rows, int count, double glimpses) {
  for (int i = 0; i < count; i++) {
    FovProgress row = {.update = rows[i].episodes / 100,
                       .episodes = rows[i].episodes,
                       .seconds = rows[i].seconds,
                       .rate = 1.0 / (i + 1),
                       .valid_error = rows[i].error,
                       .valid_glimpses = glimpses};
    fov_progress_add(&row, "novel", 10 * rows[i].error);
    assert_int_equal(fov_progress_append(file, &row), FOV_OK);
  }
}

static void write_file(const char *file, const Row *rows, int count) {
  remove(file);
  append(file, rows, count, 4);
}

static void write_text(const char *file, const char *text) {
  assert_int_equal(fov_file_write(file, text, strlen(text)), FOV_OK);
}

static void write_run(const char *name, const Row *rows, int count) {
  char file[600];
  mkdir(name, 0700);
  snprintf(file, sizeof file, "%s/progress.csv", name);
  write_file(file, rows, count);
}

/** Reads sources, which must succeed. */
static FovCurves read_curves(const char *const *sources, int count, const char *x, const char *y,
                             FovCentre centre) {
  FovCurves curves;
  FovCurvesRequest request = {sources, count, x, y, centre};
  if (fov_curves_read(&curves, &request) != FOV_OK) fail_msg("%s", fov_error_message());
  return curves;
}

static void assert_refused(const char *const *sources, int count, const char *x, const char *y,
                           FovStatus expected, const char *mentions) {
  FovCurves curves;
  FovCurvesRequest request = {sources, count, x, y, FOV_CENTRE_MEAN};
  assert_int_equal(fov_curves_read(&curves, &request), expected);
  assert_message(mentions);
  assert_null(strchr(fov_error_message(), '\n'));
  fov_curves_finish(&curves);
}

static void assert_point(const FovBand *band, size_t i, double x, double centre, double half) {
  assert_true(i < band->count);
  assert_close(band->points[i].x, x, 1e-9);
  assert_close(band->points[i].centre, centre, 1e-12);
  assert_close(band->points[i].hi - centre, half, 1e-9);
  assert_close(centre - band->points[i].lo, half, 1e-9);
}

/* ---- points ---- */

static void test_seeds_have_a_mean_and_students_band_where_all_have_a_row(void **state) {
  (void)state;
  write_run("mean-s0", (Row[]){{100, 1, 0.5}, {200, 2, 0.3}, {300, 3, 0.1}}, 3);
  write_run("mean-s1", (Row[]){{100, 1, 0.7}, {300, 3, 0.2}, {400, 4, 0.1}}, 3);
  const char *runs[] = {"mean-s0", "mean-s1"};
  FovCurves curves = read_curves(runs, 2, NULL, "valid_error", FOV_CENTRE_MEAN);
  const FovBand *band = &curves.experiments[0].bands[0];
  assert_int_equal(curves.experiment_count, 1);
  assert_int_equal(band->count, 2);
  assert_point(band, 0, 100, 0.60, STUDENT_1 * 0.10);
  assert_point(band, 1, 300, 0.15, STUDENT_1 * 0.05);
  fov_curves_finish(&curves);
}

static void test_one_seed_is_its_own_centre_without_a_band(void **state) {
  (void)state;
  write_run("one", (Row[]){{100, 1, 0.5}, {200, 2, 0.3}}, 2);
  for (FovCentre centre = FOV_CENTRE_MEAN; centre <= FOV_CENTRE_IQM; centre++) {
    FovCurves curves =
        read_curves((const char *[]){"one"}, 1, "seconds", "valid_error,novel", centre);
    assert_int_equal(curves.columns, 2);
    assert_point(&curves.experiments[0].bands[0], 0, 1, 0.5, 0);
    assert_point(&curves.experiments[0].bands[1], 1, 2, 3.0, 0);
    fov_curves_finish(&curves);
  }
}

static void test_the_iqm_leaves_out_quarters_and_its_band_is_a_bootstrap(void **state) {
  (void)state;
  const double errors[] = {0.1, 0.2, 0.4, 0.9};
  char names[4][32];
  const char *runs[4];
  for (int s = 0; s < 4; s++) {
    snprintf(names[s], sizeof names[s], "iqm-s%d", s);
    write_run(runs[s] = names[s], (Row[]){{100, 1, errors[s]}}, 1);
  }
  FovCurves curves = read_curves(runs, 4, NULL, "valid_error", FOV_CENTRE_IQM);
  FovBandPoint point = curves.experiments[0].bands[0].points[0];
  assert_close(point.centre, 0.3, 1e-12); // the mean of the two in the middle
  // Both in the middle of a resample are 0.1 in 13 of 256, and 0.9 likewise: more than 2.5 %.
  assert_close(point.lo, 0.1, 1e-12);
  assert_close(point.hi, 0.9, 1e-12);
  fov_curves_finish(&curves);
}

static void test_seconds_are_interpolated_over_the_common_range(void **state) {
  (void)state;
  write_run("time-s0", (Row[]){{100, 10, 0.8}, {200, 20, 0.4}, {300, 40, 0.2}}, 3);
  write_run("time-s1", (Row[]){{100, 15, 0.6}, {200, 30, 0.4}, {300, 50, 0.1}}, 3);
  const char *runs[] = {"time-s0", "time-s1"};
  FovCurves curves = read_curves(runs, 2, "seconds", "valid_error", FOV_CENTRE_MEAN);
  const FovBand *band = &curves.experiments[0].bands[0];
  assert_int_equal(band->count, 4); // 15, 20, 30, 40: every row from 15 to 40 seconds
  assert_point(band, 0, 15, 0.6, 0);
  assert_point(band, 1, 20, (0.4 + 0.6 - 0.2 / 3) / 2, STUDENT_1 * (0.2 - 0.2 / 3) / 2);
  assert_point(band, 2, 30, 0.35, STUDENT_1 * 0.05);
  assert_point(band, 3, 40, (0.2 + 0.25) / 2, STUDENT_1 * 0.025);
  fov_curves_finish(&curves);
}

static void test_glimpses_are_those_of_all_episodes_so_far(void **state) {
  (void)state;
  write_run("glimpses", (Row[]){{100, 1, 0.5}, {200, 2, 0.3}}, 2);
  const char *runs[] = {"glimpses"};
  FovCurves curves = read_curves(runs, 1, "glimpses", "valid_error", FOV_CENTRE_MEAN);
  assert_point(&curves.experiments[0].bands[0], 1, 800, 0.3, 0);
  fov_curves_finish(&curves);
  append("glimpses/progress.csv", &(Row){300, 3, 0.2}, 1, 3.5);
  assert_refused(runs, 1, "glimpses", NULL, FOV_ERR_USAGE, "different numbers of glimpses");
  write_run("glimpses", NULL, 0);
  append("glimpses/progress.csv", &(Row){300, 3, 0.2}, 1, 3.5);
  assert_refused(runs, 1, "glimpses", NULL, FOV_ERR_USAGE, "different numbers of glimpses");
}

/** An empty cell, a number that no axis can show, and a second row at the same place. */
static void test_rows_without_a_value_are_left_out(void **state) {
  (void)state;
  write_run("gaps",
            (Row[]){{100, 1, 0.5},
                    {200, NAN, 0.4},
                    {300, 3, NAN},
                    {400, 4, 1e300},
                    {500, 5, 0.3},
                    {600, 5, 0.2}},
            6);
  const char *runs[] = {"gaps"};
  FovCurves curves = read_curves(runs, 1, "seconds", "valid_error", FOV_CENTRE_MEAN);
  const FovBand *band = &curves.experiments[0].bands[0];
  assert_int_equal(band->count, 2);
  assert_point(band, 0, 1, 0.5, 0);
  assert_point(band, 1, 5, 0.2, 0);
  fov_curves_finish(&curves);
}

static void test_a_column_has_its_older_names_too(void **state) {
  (void)state;
  static const char text[] =
      "update,episodes,epoch,seconds,rate,sigma,train_error,train_reward,class_loss,gradient_norm,"
      "valid_error,valid_reward,valid_glimpses,glimpses_per_second\n"
      "7,100,0.25,1.5,0.001,4,0.9,0.1,2.5,1,0.5,0.5,6,1234\n";
  write_text("old.csv", text);
  const char *files[] = {"old.csv"};
  FovCurves curves = read_curves(files, 1, "epoch", "sigma,answer_loss", FOV_CENTRE_MEAN);
  assert_point(&curves.experiments[0].bands[0], 0, 0.25, 4, 0);
  assert_point(&curves.experiments[0].bands[1], 0, 0.25, 2.5, 0);
  fov_curves_finish(&curves);
}

/* ---- sources ---- */

static void test_runs_and_files_that_differ_in_the_seed_are_one_experiment(void **state) {
  (void)state;
  const Row rows[] = {{100, 1, 0.5}};
  write_run("both-s0", rows, 1);
  write_file("both-s1.csv", rows, 1);
  write_run("other", rows, 1);
  const char *sources[] = {"both-s0/progress.csv", "both-s1.csv", "other"};
  FovCurves curves = read_curves(sources, 3, NULL, NULL, FOV_CENTRE_MEAN);
  assert_int_equal(curves.experiment_count, 2);
  assert_string_equal(curves.experiments[0].name, "both");
  assert_int_equal(curves.experiments[0].seeds, 2);
  assert_string_equal(curves.experiments[1].name, "other");
  fov_curves_finish(&curves);
  assert_refused((const char *[]){"other", "./other/progress.csv"}, 2, NULL, NULL, FOV_ERR_USAGE,
                 "named twice");
}

static void test_experiments_of_one_name_have_their_folders_name_too(void **state) {
  (void)state;
  mkdir("old", 0700);
  mkdir("new", 0700);
  write_run("old/rnn-s0", (Row[]){{100, 1, 0.5}}, 1);
  write_run("new/rnn-s0", (Row[]){{100, 1, 0.5}}, 1);
  write_run("new/gru-s0", (Row[]){{100, 1, 0.5}}, 1);
  const char *runs[] = {"old/rnn-s0", "new/rnn-s0", "new/gru-s0"};
  FovCurves curves = read_curves(runs, 3, NULL, NULL, FOV_CENTRE_MEAN);
  assert_string_equal(curves.experiments[0].name, "old/rnn");
  assert_string_equal(curves.experiments[1].name, "new/rnn");
  assert_string_equal(curves.experiments[2].name, "gru");
  fov_curves_finish(&curves);
}

/** Two values, two seeds; one run has not begun and one has no row yet. */
static void test_a_sweep_is_its_configurations(void **state) {
  (void)state;
  const Row rows[] = {{100, 1, 0.5}};
  mkdir("sweep", 0700);
  write_text("sweep/experiment.ini", "env = centred\n");
  write_text("sweep/sweep.ini",
             "core = rnn, gru\n[sweep]\nexperiment = experiment.ini\nseeds = 0:1\n");
  assert_refused((const char *[]){"sweep"}, 1, NULL, NULL, FOV_ERR_FORMAT, "no run of this sweep");
  write_run("sweep/c0-s0", rows, 1);
  write_run("sweep/c0-s1", rows, 1);
  write_run("sweep/c1-s0", rows, 1);
  mkdir("sweep/c1-s1", 0700);
  write_run("sweep/c1-s1", rows, 1);
  assert_int_equal(fov_progress_truncate("sweep/c1-s1/progress.csv", -1), FOV_OK);
  FovCurves curves = read_curves((const char *[]){"sweep"}, 1, NULL, NULL, FOV_CENTRE_MEAN);
  assert_int_equal(curves.experiment_count, 2);
  assert_string_equal(curves.experiments[0].name, "core=rnn");
  assert_string_equal(curves.experiments[1].name, "core=gru");
  assert_int_equal(curves.experiments[0].seeds, 2);
  assert_int_equal(curves.experiments[1].seeds, 1);
  fov_curves_finish(&curves);
}

/** Labels that would be cut off are not told from each other. */
static void test_a_configuration_whose_label_is_long_has_its_runs_name(void **state) {
  (void)state;
  const Row rows[] = {{100, 1, 0.5}};
  mkdir("long", 0700);
  write_text("long/experiment.ini", "env = centred\n");
  write_text("long/sweep.ini", "encoder.width = 16,32\nglimpse.width = 16,32\ncore.width = 32,64\n"
                               "policy.sigma = 2,4\ntrain.rate = 0.001,0.002\n"
                               "[sweep]\nexperiment = experiment.ini\n");
  write_run("long/c00-s0", rows, 1);
  write_run("long/c01-s0", rows, 1);
  FovCurves curves = read_curves((const char *[]){"long"}, 1, NULL, NULL, FOV_CENTRE_MEAN);
  assert_int_equal(curves.experiment_count, 2);
  assert_string_equal(curves.experiments[0].name, "c00");
  assert_string_equal(curves.experiments[1].name, "c01");
  fov_curves_finish(&curves);
}

static void test_a_sweep_of_one_configuration_has_its_folders_name(void **state) {
  (void)state;
  mkdir("seeds", 0700);
  write_text("seeds/experiment.ini", "env = centred\n");
  write_text("seeds/sweep.ini", "[sweep]\nexperiment = experiment.ini\nseeds = 0:1\n");
  write_run("seeds/c0-s1", (Row[]){{100, 1, 0.5}}, 1);
  FovCurves curves = read_curves((const char *[]){"seeds/"}, 1, NULL, NULL, FOV_CENTRE_MEAN);
  assert_string_equal(curves.experiments[0].name, "seeds");
  fov_curves_finish(&curves);
}

static void test_columns_of_any_table_are_read(void **state) {
  (void)state;
  write_text("table-s0.csv", "length,error\n10,0.5\n20,0.75\n");
  write_text("table-s1.csv", "length,error\n10,0.25\n20,0.25\n");
  const char *tables[] = {"table-s0.csv", "table-s1.csv"};
  FovCurves curves = read_curves(tables, 2, "length", "error", FOV_CENTRE_MEAN);
  assert_int_equal(curves.experiments[0].seeds, 2);
  assert_true(curves.experiments[0].bands[0].points[1].centre == 0.5);
  fov_curves_finish(&curves);
  assert_refused(tables, 1, NULL, "error", FOV_ERR_USAGE, "no column 'episodes'");
  assert_refused(tables, 1, "glimpses", "error", FOV_ERR_USAGE, "no column 'glimpses'");
}

/* ---- what is refused ---- */

static void test_an_unknown_column_is_refused_with_the_nearest_and_all(void **state) {
  (void)state;
  write_run("columns", (Row[]){{100, 1, 0.5}}, 1);
  const char *runs[] = {"columns"};
  assert_refused(runs, 1, NULL, "valid_eror", FOV_ERR_USAGE, "did you mean 'valid_error'?");
  assert_refused(runs, 1, "secnds", NULL, FOV_ERR_USAGE, "did you mean 'seconds'?");
  assert_refused(runs, 1, NULL, "novl", FOV_ERR_USAGE, "columns/progress.csv: no column 'novl'");
  assert_refused(runs, 1, NULL, "novl", FOV_ERR_USAGE, "glimpses_per_second, novel, glimpses;");
}

static void test_lists_of_columns_that_cannot_be_drawn_are_refused(void **state) {
  (void)state;
  write_run("lists", (Row[]){{100, 1, 0.5}}, 1);
  const char *runs[] = {"lists"};
  assert_refused(runs, 1, NULL, "rate,,epoch", FOV_ERR_USAGE, "found ''");
  assert_refused(runs, 1, NULL, "rate,", FOV_ERR_USAGE, "found ''");
  assert_refused(runs, 1, NULL, "rate,epoch,rate", FOV_ERR_USAGE, "'rate' is named twice");
  assert_refused(runs, 1, NULL,
                 "update,episodes,epoch,seconds,rate,novel,train_error,train_reward,valid_error",
                 FOV_ERR_USAGE, "at most 8 columns");
  assert_refused(runs, 1, NULL, "a_column_of_more_than_31_characters", FOV_ERR_USAGE, "--y");
  assert_refused(runs, 1, "a_column_of_more_than_31_characters", NULL, FOV_ERR_USAGE, "--x");
}

static void test_an_axis_that_decreases_is_refused_with_its_line(void **state) {
  (void)state;
  write_run("falls", (Row[]){{100, 1, 0.5}, {200, 2, 0.4}}, 2);
  assert_refused((const char *[]){"falls"}, 1, "rate", NULL, FOV_ERR_FORMAT,
                 "falls/progress.csv:3: rate decreases from 1 to 0.5");
}

static void test_seeds_without_a_common_place_are_refused(void **state) {
  (void)state;
  write_run("apart-s0", (Row[]){{100, 1, 0.5}, {200, 2, 0.5}}, 2);
  write_run("apart-s1", (Row[]){{150, 3, 0.5}, {250, 4, 0.5}}, 2);
  const char *runs[] = {"apart-s0", "apart-s1"};
  assert_refused(runs, 2, NULL, NULL, FOV_ERR_FORMAT, "at no common episodes");
  assert_refused(runs, 2, "seconds", NULL, FOV_ERR_FORMAT, "at no common seconds");
}

static void test_a_column_that_is_empty_in_all_runs_is_refused(void **state) {
  (void)state;
  write_run("blank", (Row[]){{100, NAN, 0.5}}, 1);
  const char *runs[] = {"blank"};
  assert_refused(runs, 1, NULL, "valid_error,seconds", FOV_ERR_FORMAT, "--y seconds: no run");
  assert_refused(runs, 1, NULL, "seconds", FOV_ERR_FORMAT, "blank/progress.csv: no row");
}

static void test_more_experiments_than_pens_are_refused(void **state) {
  (void)state;
  char names[15][32];
  const char *runs[15];
  for (int i = 0; i < 15; i++) {
    snprintf(names[i], sizeof names[i], "many%d", i);
    write_run(runs[i] = names[i], (Row[]){{100, 1, 0.5}}, 1);
  }
  FovCurves curves = read_curves(runs, 14, NULL, NULL, FOV_CENTRE_MEAN);
  assert_int_equal(curves.experiment_count, 14);
  fov_curves_finish(&curves);
  assert_refused(runs, 15, NULL, NULL, FOV_ERR_USAGE, "more than 14 experiments");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_seeds_have_a_mean_and_students_band_where_all_have_a_row),
      cmocka_unit_test(test_one_seed_is_its_own_centre_without_a_band),
      cmocka_unit_test(test_the_iqm_leaves_out_quarters_and_its_band_is_a_bootstrap),
      cmocka_unit_test(test_seconds_are_interpolated_over_the_common_range),
      cmocka_unit_test(test_glimpses_are_those_of_all_episodes_so_far),
      cmocka_unit_test(test_rows_without_a_value_are_left_out),
      cmocka_unit_test(test_a_column_has_its_older_names_too),
      cmocka_unit_test(test_runs_and_files_that_differ_in_the_seed_are_one_experiment),
      cmocka_unit_test(test_experiments_of_one_name_have_their_folders_name_too),
      cmocka_unit_test(test_a_sweep_is_its_configurations),
      cmocka_unit_test(test_a_configuration_whose_label_is_long_has_its_runs_name),
      cmocka_unit_test(test_a_sweep_of_one_configuration_has_its_folders_name),
      cmocka_unit_test(test_columns_of_any_table_are_read),
      cmocka_unit_test(test_an_unknown_column_is_refused_with_the_nearest_and_all),
      cmocka_unit_test(test_lists_of_columns_that_cannot_be_drawn_are_refused),
      cmocka_unit_test(test_an_axis_that_decreases_is_refused_with_its_line),
      cmocka_unit_test(test_seeds_without_a_common_place_are_refused),
      cmocka_unit_test(test_a_column_that_is_empty_in_all_runs_is_refused),
      cmocka_unit_test(test_more_experiments_than_pens_are_refused),
  };
  return cmocka_run_group_tests_name("curves", tests, enter_folder, leave_folder);
}
