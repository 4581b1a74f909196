/** How a sweep stands: what validation has chosen, and what is left to do. */
#include <math.h>

#include "base/profile.h"
#include "experiment/sweep/parts.h"

/** Mean validation error of a configuration whose runs are all finished; else infinite. */
static double mean_error(const FovSweep *sweep, int configuration) {
  double sum = 0;
  for (int s = 0; s < sweep->plan.seeds; s++) {
    const FovSweepRun *run = &sweep->runs[configuration * sweep->plan.seeds + s];
    sum += run->state == FOV_SWEEP_FINISHED ? run->valid_error : INFINITY;
  }
  return sum / sweep->plan.seeds;
}

int fov_sweep_choose_of_row(const FovSweep *sweep, int row) {
  int chosen = -1;
  double least = INFINITY;
  for (int i = 0; i < sweep->plan.configurations; i++) {
    double error = fov_sweep_row(&sweep->plan, i) == row ? mean_error(sweep, i) : INFINITY;
    if (error < least) chosen = i, least = error;
  }
  return chosen;
}

int fov_sweep_count_rows(const FovSweep *sweep) {
  return sweep->plan.rows.count > 0 ? sweep->plan.rows.count : 1;
}

/** The best configuration of all rows. */
static int choose(const FovSweep *sweep) {
  int chosen = -1;
  for (int r = 0; r < fov_sweep_count_rows(sweep); r++) {
    int best = fov_sweep_choose_of_row(sweep, r);
    if (best >= 0 && (chosen < 0 || mean_error(sweep, best) < mean_error(sweep, chosen)))
      chosen = best;
  }
  return chosen;
}

void fov_sweep_notify(const FovSweep *sweep, const FovSweepRun *ended) {
  const FovSweepReporter *reporter = &sweep->request->reporter;
  if (!reporter->report) return;
  FovSweepReport report = fov_sweep_report(sweep);
  report.ended = ended;
  reporter->report(reporter->context, &report);
}

FovSweepReport fov_sweep_report(const FovSweep *sweep) {
  int chosen = choose(sweep);
  return (FovSweepReport){.plan = &sweep->plan,
                          .runs = sweep->runs,
                          .count = sweep->count,
                          .jobs = sweep->most,
                          .threads = sweep->threads,
                          .chosen = chosen,
                          .chosen_error = chosen >= 0 ? mean_error(sweep, chosen) : INFINITY,
                          .testing = sweep->testing,
                          .bytes = sweep->bytes,
                          .seconds = fov_now() - sweep->started};
}

/** How many runs wait to be trained, by this process's knowledge of their files. */
static int untrained(const FovSweep *sweep) {
  int count = 0;
  for (int i = 0; i < sweep->count; i++)
    count += !sweep->runs[i].left_out && (sweep->runs[i].state == FOV_SWEEP_WAITING ||
                                          sweep->runs[i].state == FOV_SWEEP_FAILED);
  return count;
}

/** How many runs of the configurations that validation chooses are not tested. */
static int untested(const FovSweep *sweep) {
  int count = 0;
  for (int r = 0; r < fov_sweep_count_rows(sweep); r++) {
    int chosen = fov_sweep_choose_of_row(sweep, r);
    for (int i = 0; i < sweep->count && chosen >= 0; i++)
      count += sweep->runs[i].configuration == chosen && !sweep->runs[i].left_out &&
               !fov_sweep_is_tested(&sweep->runs[i], sweep->plan.options.rollouts);
  }
  return count;
}

FovStatus fov_sweep_left(int *left, FovSweep *sweep) {
  bool over = false;
  if (sweep->halving) FOV_TRY(fov_halving_is_over(&over, sweep->halving));
  *left = over ? 0 : untrained(sweep);
  if (*left == 0 && sweep->plan.options.test) *left = untested(sweep);
  return FOV_OK;
}
