#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/bench.h"
#include "cli/cli.h"
#include "cli/print.h"
#include "draw.h"
#include "record/json_text.h"

/* ---- text ---- */

static void print_title(const FovGradientResult *result, const FovGradientRequest *request) {
  fov_print(stdout, "\n%s, update %lld\n", result->path, (long long)result->update);
  printf("gradient of %s on %d images, %lld samples of each estimator, seed %lld\n", result->loss,
         request->cases, (long long)request->samples, (long long)request->seed);
  if (result->sequences > 0 && result->reference_samples == 1)
    printf("reference: exact, over %d sequences of choices\n", result->sequences);
  else if (result->sequences > 0)
    printf("reference: over %d sequences of choices, mean of %lld samples of the first place\n",
           result->sequences, (long long)result->reference_samples);
  else
    printf("reference: the mean of %lld samples of REINFORCE, leave_one_out, K = 8\n",
           (long long)result->reference_samples);
}

/** A figure, or a dash. */
static void print_figure(double value, int width, int digits) {
  if (isnan(value))
    printf(" %*s", width, "-");
  else
    printf(" %*.*g", width, digits, value);
}

static void print_row(const FovEstimator *e, const FovGradientFigures *f, bool whole) {
  printf("  %-28s", e->name);
  for (const char *c = e->name; *c; c++) // printf counts bytes, not characters
    if ((*c & 0xc0) == 0x80) putchar(' ');
  print_figure(f->variance, 10, 3);
  print_figure(f->snr, 9, 3);
  print_figure(f->cosine, 7, 3);
  print_figure(f->bias, 8, 2);
  print_figure(f->p, 8, 2);
  if (whole) print_figure(1e3 * e->seconds, 9, 3);
  putchar('\n');
}

/** group: −1 for all parameters. */
static void print_table(const FovGradientResult *result, int group) {
  printf("\n%-30s %10s %9s %7s %8s %8s", group < 0 ? "all parameters" : result->groups[group],
         "variance", "snr", "cosine", "bias", "p");
  printf(group < 0 ? " %9s\n" : "\n", "ms");
  for (int i = 0; i < result->count; i++) {
    const FovEstimator *e = &result->estimators[i];
    if (!*e->reason) print_row(e, group < 0 ? &e->all : &e->groups[group], group < 0);
  }
}

static void print(const FovGradientResult *result, const FovGradientRequest *request) {
  print_title(result, request);
  for (int group = -1; group < result->group_count; group++) print_table(result, group);
  putchar('\n');
  for (int i = 0; i < result->count; i++)
    if (*result->estimators[i].reason)
      printf("%s: %s\n", result->estimators[i].name, result->estimators[i].reason);
}

/* ---- JSON ---- */

static json_t *figures_json(const FovGradientFigures *f) {
  return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o}", "norm", fov_json_number(f->norm), "variance",
                   fov_json_number(f->variance), "bias", fov_json_number(f->bias), "cosine",
                   fov_json_number(f->cosine), "snr", fov_json_number(f->snr), "p",
                   fov_json_number(f->p));
}

static json_t *estimator_json(const FovEstimator *e, const FovGradientResult *result) {
  if (*e->reason) return json_pack("{s:s, s:s}", "name", e->name, "undefined", e->reason);
  json_t *groups = json_object();
  for (int g = 0; g < result->group_count; g++)
    json_object_set_new(groups, result->groups[g], figures_json(&e->groups[g]));
  return json_pack("{s:s, s:s, s:i, s:I, s:f, s:o, s:o}", "name", e->name, "reference",
                   e->likelihood ? "likelihood" : "expectation", "episodes", e->lanes, "samples",
                   (json_int_t)e->samples, "seconds_per_episode", e->seconds, "all",
                   figures_json(&e->all), "groups", groups);
}

static void add_json(json_t *json, const FovGradientResult *result,
                     const FovGradientRequest *request) {
  json_t *list = json_array();
  for (int i = 0; i < result->count; i++)
    json_array_append_new(list, estimator_json(&result->estimators[i], result));
  json_array_append_new(json, json_pack("{s:o, s:I, s:s, s:i, s:I, s:i, s:I, s:o}", "checkpoint",
                                        fov_json_string(result->path), "update",
                                        (json_int_t)result->update, "loss", result->loss, "images",
                                        request->cases, "seed", (json_int_t)request->seed,
                                        "sequences", result->sequences, "reference_samples",
                                        (json_int_t)result->reference_samples, "estimators", list));
}

/* ---- figure ---- */

enum { POINTS = 7 }; // 1, 10 … 10^6 episodes

/** The group of parameters that choose: the policy's head, or the attention's queries. */
static int choosing_group(const FovGradientResult *result) {
  static const char *const names[] = {"location", "step", "tiles"};
  for (int g = 0; g < result->group_count; g++)
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
      if (strcmp(result->groups[g], names[i]) == 0) return g;
  return -1;
}

/** Estimators whose bias may be chance: at 95 %, corrected for about twelve of them. */
static const double CHANCE = 0.05 / 12;

/** The root of the mean squared error of a mean of n episodes, over |g|: √(bias² + variance/n). A
 * bias that may be chance counts as 0. */
static double error_after(const FovGradientFigures *f, double n) {
  double bias = f->p > CHANCE ? 0 : f->bias;
  return sqrt(bias * bias + f->variance / n / (f->norm * f->norm));
}

static FovStatus draw(const char *path, const FovGradientResult *result) {
  double x[POINTS], (*y)[POINTS] = calloc((size_t)result->count, sizeof *y);
  FovDrawLine *lines = calloc((size_t)result->count, sizeof *lines);
  int count = 0, group = choosing_group(result);
  FovStatus status = FOV_OK;
  for (int i = 0; i < POINTS; i++) x[i] = pow(10, i);
  for (int e = 0; y && lines && e < result->count; e++) {
    const FovEstimator *estimator = &result->estimators[e];
    const FovGradientFigures *f = group < 0 ? &estimator->all : &estimator->groups[group];
    if (*estimator->reason || !(f->variance > 0) || isnan(f->norm)) continue;
    for (int i = 0; i < POINTS; i++) y[count][i] = error_after(f, x[i]);
    lines[count] = (FovDrawLine){estimator->name, x, y[count], POINTS};
    count++;
  }
  if (!y || !lines)
    status = fov_fail(FOV_ERR_MEMORY, "no memory for the figure");
  else if (count == 0)
    status = fov_fail(FOV_ERR_USAGE, "%s: no estimator has a reference to draw", path);
  else
    status = fov_draw_lines(
        path, lines, count, "episodes of an update",
        group < 0 ? "Error of the gradient of all parameters, relative to its length"
                  : "Error of the gradient of the policy's parameters, relative to its length");
  free(y), free(lines);
  return status;
}

FovStatus fov_bench_gradient(json_t *json, const char *plot, const FovGradientRequest *request) {
  FovGradientResult result;
  FovStatus status = fov_gradient_measure(&result, request);
  if (status == FOV_OK) fov_cli_note_file(result.path, result.checked);
  if (status == FOV_OK && json) add_json(json, &result, request);
  if (status == FOV_OK && !json) print(&result, request);
  if (status == FOV_OK && plot) status = draw(plot, &result);
  fov_gradient_finish(&result);
  return status;
}
