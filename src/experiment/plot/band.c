#include "experiment/plot/band.h"

#include <math.h>
#include <stdlib.h>

#include "base/bootstrap.h"
#include "base/stats.h"

enum { DRAWS = 2000 };

/** What a band is computed with. */
typedef struct Scratch {
  double *grid;   // [total] x of all seeds
  double *values; // [count] of the seeds at one x
  double *draws;  // [DRAWS]
  size_t total;
} Scratch;

static FovStatus init_scratch(Scratch *scratch, const FovSeries *const *seeds, int count) {
  *scratch = (Scratch){.total = 0};
  for (int s = 0; s < count; s++) scratch->total += seeds[s]->count;
  scratch->grid = malloc((scratch->total + 1) * sizeof(double));
  scratch->values = malloc((size_t)count * sizeof(double));
  scratch->draws = malloc(DRAWS * sizeof(double));
  if (scratch->grid && scratch->values && scratch->draws) return FOV_OK;
  return fov_fail(FOV_ERR_MEMORY, "no memory to summarise %zu rows", scratch->total);
}

static void finish_scratch(Scratch *scratch) {
  free(scratch->grid);
  free(scratch->values);
  free(scratch->draws);
}

/** Fills the grid with each x of any seed, ascending; returns how many. */
static size_t fill_grid(Scratch *scratch, const FovSeries *const *seeds, int count) {
  double *grid = scratch->grid;
  size_t filled = 0, kept = 0;
  for (int s = 0; s < count; s++)
    for (size_t i = 0; i < seeds[s]->count; i++) grid[filled++] = seeds[s]->x[i];
  fov_stats_sort(grid, filled);
  for (size_t i = 0; i < filled; i++)
    if (i == 0 || grid[i] != grid[i - 1]) grid[kept++] = grid[i];
  return kept;
}

static FovStatus summarise_iqm(FovBandPoint *point, const Scratch *scratch, int count) {
  FovDraws draws = {.values = scratch->draws, .count = DRAWS, .threads = 1};
  FovScores scores;
  FOV_TRY(fov_scores_init(&scores, scratch->values, &count, 1));
  point->centre = fov_scores_iqm(&scores);
  FovStatus status = fov_bootstrap(&draws, &scores, fov_scores_iqm);
  if (status == FOV_OK) fov_bootstrap_interval(&point->lo, &point->hi, &draws, 0.95);
  fov_scores_finish(&scores);
  return status;
}

static FovStatus summarise(FovBandPoint *point, const Scratch *scratch, int count,
                           FovCentre centre) {
  if (count > 1 && centre == FOV_CENTRE_IQM) return summarise_iqm(point, scratch, count);
  double half = count > 1 ? fov_stats_half_width(scratch->values, count) : 0;
  point->centre = fov_stats_mean(scratch->values, count);
  point->lo = point->centre - half;
  point->hi = point->centre + half;
  return FOV_OK;
}

/** False if a seed has no value at x. */
static bool gather(double *values, const FovSeries *const *seeds, int count, double x,
                   bool interpolate) {
  for (int s = 0; s < count; s++) {
    values[s] = fov_series_at(seeds[s], x, interpolate);
    if (isnan(values[s])) return false;
  }
  return true;
}

static FovStatus build(FovBand *band, Scratch *scratch, const FovSeries *const *seeds, int count,
                       FovCentre centre, bool interpolate) {
  size_t grid = fill_grid(scratch, seeds, count);
  band->points = malloc((grid + 1) * sizeof *band->points);
  if (!band->points) return fov_fail(FOV_ERR_MEMORY, "no memory for a curve of %zu points", grid);
  for (size_t i = 0; i < grid; i++) {
    FovBandPoint *point = &band->points[band->count];
    point->x = scratch->grid[i];
    if (!gather(scratch->values, seeds, count, point->x, interpolate)) continue;
    FOV_TRY(summarise(point, scratch, count, centre));
    band->count++;
  }
  return FOV_OK;
}

FovStatus fov_band_init(FovBand *band, const FovSeries *const *seeds, int count, FovCentre centre,
                        bool interpolate) {
  FOV_CHECK(count > 0, "%d seeds", count);
  *band = (FovBand){.count = 0};
  Scratch scratch;
  FovStatus status = init_scratch(&scratch, seeds, count);
  if (status == FOV_OK) status = build(band, &scratch, seeds, count, centre, interpolate);
  finish_scratch(&scratch);
  return status;
}

void fov_band_finish(FovBand *band) {
  free(band->points);
  *band = (FovBand){.count = 0};
}
