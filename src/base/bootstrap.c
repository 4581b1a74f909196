#include "base/bootstrap.h"

#include <math.h>
#include <stdlib.h>

#include "base/stats.h"
#include "base/team.h"

enum { CHUNK = 64 }; // draws of one task of the team

/** Computes the statistic of one resample. */
typedef double Draw(const void *source, int worker, FovRng *rng);

typedef struct Job {
  const FovDraws *draws;
  Draw *draw;
  const void *source;
} Job;

static void do_chunk(void *context, int chunk, int worker) {
  const Job *job = context;
  const FovDraws *draws = job->draws;
  int first = chunk * CHUNK, left = draws->count - first;
  for (int d = first; d < first + (left < CHUNK ? left : CHUNK); d++) {
    FovRng rng = fov_rng_stream(draws->seed, FOV_STREAM_BOOTSTRAP, (uint64_t)d);
    draws->values[d] = job->draw(job->source, worker, &rng);
  }
}

static void check_draws(const FovDraws *draws) {
  FOV_CHECK(draws->count > 0 && draws->threads > 0, "%d draws on %d threads", draws->count,
            draws->threads);
}

static void make_draws(const FovDraws *draws, Draw *draw, const void *source) {
  Job job = {.draws = draws, .draw = draw, .source = source};
  fov_team_run(draws->threads, (draws->count - 1) / CHUNK + 1, do_chunk, &job);
  fov_stats_sort(draws->values, draws->count);
}

/* ---- runs and tasks ---- */

/** The resamples of one worker. */
typedef struct Worker {
  FovScores x, y;
  int *counts;
} Worker;

/** One matrix and an aggregate, or two and a comparison. */
typedef struct Matrices {
  const FovScores *x, *y;
  FovAggregate *aggregate;
  FovComparison *comparison;
  Worker *workers;
} Matrices;

static double draw_runs(const void *source, int worker, FovRng *rng) {
  const Matrices *m = source;
  Worker *w = &m->workers[worker];
  fov_scores_resample(&w->x, w->counts, m->x, rng);
  if (!m->y) return m->aggregate(&w->x);
  fov_scores_resample(&w->y, w->counts, m->y, rng);
  return m->comparison(&w->x, &w->y);
}

static FovStatus init_worker(Worker *w, const FovScores *x, const FovScores *y) {
  int count = y && y->count > x->count ? y->count : x->count;
  FOV_TRY(fov_scores_init(&w->x, x->values, x->runs, x->tasks));
  if (y) FOV_TRY(fov_scores_init(&w->y, y->values, y->runs, y->tasks));
  w->counts = malloc((size_t)count * sizeof *w->counts);
  return w->counts ? FOV_OK : fov_fail(FOV_ERR_MEMORY, "no memory to resample %d scores", count);
}

static void finish_worker(Worker *w) {
  fov_scores_finish(&w->x);
  fov_scores_finish(&w->y);
  free(w->counts);
}

static FovStatus bootstrap(const FovDraws *draws, Matrices *m) {
  check_draws(draws);
  m->workers = calloc((size_t)draws->threads, sizeof *m->workers);
  FovStatus status = m->workers ? FOV_OK : fov_fail(FOV_ERR_MEMORY, "no memory to resample scores");
  for (int i = 0; i < draws->threads && status == FOV_OK; i++)
    status = init_worker(&m->workers[i], m->x, m->y);
  if (status == FOV_OK) make_draws(draws, draw_runs, m);
  for (int i = 0; i < draws->threads && m->workers; i++) finish_worker(&m->workers[i]);
  free(m->workers);
  return status;
}

FovStatus fov_bootstrap(const FovDraws *draws, const FovScores *x, FovAggregate *aggregate) {
  return bootstrap(draws, &(Matrices){.x = x, .aggregate = aggregate});
}

FovStatus fov_bootstrap_comparison(const FovDraws *draws, const FovScores *x, const FovScores *y,
                                   FovComparison *comparison) {
  return bootstrap(draws, &(Matrices){.x = x, .y = y, .comparison = comparison});
}

/* ---- seeds and cases ---- */

/** Both recipes' outcomes, case by case. */
typedef struct Pairs {
  double *outcomes; // [cases, x_seeds + y_seeds]
  double *sums;     // [threads, x_seeds + y_seeds]: of the drawn cases
  int x_seeds, y_seeds, cases;
} Pairs;

/** The mean of as many values, drawn with replacement. */
static double mean_of_drawn(const double *values, int n, FovRng *rng) {
  double sum = 0;
  for (int i = 0; i < n; i++) sum += values[fov_rng_below(rng, (uint32_t)n)];
  return sum / n;
}

static double draw_pairs(const void *source, int worker, FovRng *rng) {
  const Pairs *p = source;
  int seeds = p->x_seeds + p->y_seeds;
  double *sums = p->sums + (size_t)worker * (size_t)seeds;
  for (int s = 0; s < seeds; s++) sums[s] = 0;
  for (int i = 0; i < p->cases; i++) {
    size_t c = fov_rng_below(rng, (uint32_t)p->cases);
    for (int s = 0; s < seeds; s++) sums[s] += p->outcomes[c * (size_t)seeds + (size_t)s];
  }
  double x = mean_of_drawn(sums, p->x_seeds, rng);
  double y = mean_of_drawn(sums + p->x_seeds, p->y_seeds, rng);
  return (x - y) / p->cases;
}

/** Writes a recipe's seeds to columns `first` and on of the pairs. */
static void transpose(const Pairs *p, const FovCaseScores *recipe, int first) {
  size_t seeds = (size_t)(p->x_seeds + p->y_seeds), cases = (size_t)p->cases;
  for (int s = 0; s < recipe->seeds; s++)
    for (size_t c = 0; c < cases; c++) {
      double outcome = recipe->values[(size_t)s * cases + c];
      FOV_CHECK(isfinite(outcome), "an outcome of %g", outcome);
      p->outcomes[c * seeds + (size_t)(first + s)] = outcome;
    }
}

FovStatus fov_bootstrap_paired(const FovDraws *draws, const FovCaseScores *x,
                               const FovCaseScores *y) {
  check_draws(draws);
  FOV_CHECK(x->seeds > 0 && y->seeds > 0 && x->cases > 0 && x->cases == y->cases,
            "%d × %d outcomes against %d × %d", x->seeds, x->cases, y->seeds, y->cases);
  Pairs p = {.x_seeds = x->seeds, .y_seeds = y->seeds, .cases = x->cases};
  size_t row = (size_t)(x->seeds + y->seeds) * sizeof(double);
  p.outcomes = malloc((size_t)p.cases * row);
  p.sums = malloc((size_t)draws->threads * row);
  FovStatus status = FOV_OK;
  if (!p.outcomes || !p.sums)
    status = fov_fail(FOV_ERR_MEMORY, "no memory to resample %d cases", p.cases);
  else {
    transpose(&p, x, 0);
    transpose(&p, y, x->seeds);
    make_draws(draws, draw_pairs, &p);
  }
  free(p.outcomes);
  free(p.sums);
  return status;
}

/* ---- intervals ---- */

void fov_bootstrap_interval(double *low, double *high, const FovDraws *draws, double level) {
  FOV_CHECK(level > 0 && level < 1, "a level of %g", level);
  *low = fov_stats_quantile(draws->values, draws->count, (1 - level) / 2);
  *high = fov_stats_quantile(draws->values, draws->count, (1 + level) / 2);
}

double fov_bootstrap_p(const FovDraws *draws) {
  int below = 0, above = 0;
  for (int d = 0; d < draws->count; d++) {
    below += draws->values[d] <= 0;
    above += draws->values[d] >= 0;
  }
  return fmin(1, 2.0 * (1 + (below < above ? below : above)) / (1.0 + draws->count));
}
