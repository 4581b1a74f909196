#include "experiment/scanpath/study.h"

#include <math.h>
#include <stdlib.h>

#include "experiment/scanpath/fixations.h"
#include "experiment/trained.h"
#include "record/run.h"

enum { DRAWS = 10, DRAWN = 2 }; // of each drawn gaze for a scanpath; kinds of drawn gazes

static void (*const draw[DRAWN])(FovScanpath *path, double height, FovRng *rng) = {
    fov_scanpath_draw_centre, fov_scanpath_draw_random};
static const char *const drawn_names[DRAWN] = {"centre", "random"};

/** The gaze of a source. */
typedef struct Source {
  FovTrace trace;
  FovScanpath *paths; // [E]
  double *places;     // of all paths
} Source;

typedef struct Work {
  const FovScanpathRequest *request;
  Source *sources; // [request->count]
  FovFixations reference;
  double height;                          // of the images, in image widths
  FovScanpathMap map, prior, total, here; // total: sum of the reference's densities; here: of those
                                          // on one image
  double *room;
  double *drawn; // the places of a drawn gaze
} Work;

/* ---- reading ---- */

static FovStatus no_memory(void) {
  return fov_fail(FOV_ERR_MEMORY, "no memory for scanpaths");
}

static FovStatus check_source(const FovTrace *trace, const char *path) {
  if (trace->vocabulary > 0) return fov_fail(FOV_ERR_USAGE, "%s: a sequence has no scanpath", path);
  if (!fov_has_places(trace))
    return fov_fail(FOV_ERR_USAGE,
                    "%s: its attention has weights over all tiles: there is no scanpath", path);
  if (trace->glimpses > FOV_SCANPATH_LONGEST)
    return fov_fail(FOV_ERR_USAGE, "%s: expected at most %d glimpses, found %d", path,
                    FOV_SCANPATH_LONGEST, trace->glimpses);
  return FOV_OK;
}

static FovStatus read_source(Source *source, const char *name) {
  char path[FOV_PATH_SIZE];
  FOV_TRY(fov_trained_find_trace(path, name));
  FovTrace *trace = &source->trace;
  FOV_TRY(fov_trace_read(trace, path));
  FOV_TRY(check_source(trace, name));
  size_t glimpses = (size_t)trace->episodes * trace->glimpses;
  source->paths = malloc((size_t)trace->episodes * sizeof *source->paths);
  source->places = malloc(2 * glimpses * sizeof *source->places);
  if (!source->paths || !source->places) return no_memory();
  for (int e = 0; e < trace->episodes; e++)
    source->paths[e] =
        fov_scanpath_of(source->places + 2 * fov_glimpse_index(trace, e, 0), trace, e);
  return FOV_OK;
}

static FovStatus read_sources(Work *work, FovScanpathStudy *study) {
  const FovScanpathRequest *request = work->request;
  const FovTrace *first = &work->sources[0].trace;
  for (int i = 0; i < request->count; i++) {
    const FovTrace *trace = &work->sources[i].trace;
    FOV_TRY(read_source(&work->sources[i], request->sources[i]));
    FOV_TRY(fov_trace_check_pair(first, request->sources[0], trace, request->sources[i]));
    if (i == 0 || trace->episodes < study->episodes) study->episodes = trace->episodes;
    if (trace->episodes > study->most) study->most = trace->episodes;
  }
  for (int i = 0; i < request->count; i++)
    if (study->episodes > fov_trace_first(&work->sources[i].trace))
      strcpy(study->subset, work->sources[i].trace.subset);
  work->height = fov_trace_aspect(first);
  return FOV_OK;
}

/** The paths of the first source as a reference. */
static FovStatus refer_to_first(Work *work, int episodes) {
  FovFixations *reference = &work->reference;
  reference->paths = malloc((size_t)episodes * sizeof *reference->paths);
  reference->episodes = malloc((size_t)episodes * sizeof *reference->episodes);
  if (!reference->paths || !reference->episodes) return no_memory();
  for (int e = 0; e < episodes; e++) {
    reference->paths[e] = work->sources[0].paths[e];
    reference->episodes[e] = e;
  }
  reference->count = episodes;
  return FOV_OK;
}

static FovStatus read_reference(Work *work, FovScanpathStudy *study) {
  const FovScanpathRequest *request = work->request;
  FovTrace trace = work->sources[0].trace; // with the episodes that all have
  trace.episodes = study->episodes;
  study->reference = request->fixations ? request->fixations : request->sources[0];
  FOV_TRY(request->fixations ? fov_fixations_read(&work->reference, request->fixations, &trace)
                             : refer_to_first(work, study->episodes));
  study->paths = work->reference.count;
  return FOV_OK;
}

/* ---- statistics ---- */

static FovStatus add_statistics(Work *work, FovScanpathStudy *study) {
  const FovTrace *trace = &work->sources[0].trace;
  uint8_t *mask = malloc((size_t)trace->height * trace->width);
  bool failed = !mask;
  for (int i = 0; i < work->request->count && !failed; i++) {
    FovScanpathRow *row = &study->rows[i];
    const Source *source = &work->sources[i];
    row->name = work->request->sources[i];
    row->statistics = malloc((size_t)study->episodes * sizeof *row->statistics);
    failed = !row->statistics;
    for (int e = 0; e < study->episodes && !failed; e++)
      fov_scanpath_statistics(row->statistics[e], &source->trace, e, &source->paths[e], mask);
  }
  free(mask);
  return failed ? no_memory() : FOV_OK;
}

/* ---- measures ---- */

/** A path without its first place. */
static FovScanpath without_first(FovScanpath path) {
  return (FovScanpath){path.places + 2, path.count > 0 ? path.count - 1 : 0};
}

static void add_map(FovScanpathMap *sum, const FovScanpathMap *map) {
  for (int i = 0; i < map->rows * map->columns; i++) sum->density[i] += map->density[i];
}

static void clear_map(FovScanpathMap *map) {
  for (int i = 0; i < map->rows * map->columns; i++) map->density[i] = 0;
}

/** Adds the densities of the reference's paths from `first` to before `end`. */
static void add_densities(FovScanpathMap *sum, Work *work, int first, int end) {
  clear_map(sum);
  for (int r = first; r < end; r++) {
    FovScanpath path = without_first(work->reference.paths[r]);
    fov_scanpath_map_fill(&work->map, &path, work->height, work->request->blur);
    add_map(sum, &work->map);
  }
}

/** The mean density of the reference on all images but that of the paths `first` to `end`; even if
 * there are none. */
static void make_prior(Work *work, int first, int end) {
  int cells = work->prior.rows * work->prior.columns;
  double sum = 0;
  add_densities(&work->here, work, first, end);
  for (int i = 0; i < cells; i++)
    sum += work->prior.density[i] = fmax(0, work->total.density[i] - work->here.density[i]);
  bool none = work->reference.count == end - first || !(sum > 0);
  for (int i = 0; i < cells; i++)
    work->prior.density[i] = none ? 1.0 / cells : work->prior.density[i] / sum;
}

/** Adds the measures of a gaze against a scanpath of the reference, and counts the finite ones. */
static void measure(double sums[FOV_SCANPATH_MEASURES], int counts[FOV_SCANPATH_MEASURES],
                    Work *work, const FovScanpath *gaze, const FovScanpath *reference) {
  double values[FOV_SCANPATH_MEASURES], height = work->height;
  fov_multimatch(values, gaze, reference, height, work->room);
  values[FOV_SCANPATH_SCANMATCH] = fov_scanmatch(gaze, reference, height, work->room);
  values[FOV_SCANPATH_DTW] = fov_dynamic_warping(gaze, reference, work->room);
  values[FOV_SCANPATH_NSS] = values[FOV_SCANPATH_GAIN] = NAN;
  if (gaze->count > 0) {
    fov_scanpath_map_fill(&work->map, gaze, height, work->request->blur);
    values[FOV_SCANPATH_NSS] = fov_scanpath_nss(&work->map, reference, height);
    values[FOV_SCANPATH_GAIN] = fov_scanpath_gain(&work->map, &work->prior, reference, height);
  }
  for (int i = 0; i < FOV_SCANPATH_MEASURES; i++) {
    if (!isfinite(values[i])) continue;
    sums[i] += values[i];
    counts[i]++;
  }
}

/** The means over the reference's paths `first` to `end`, of an episode; source −1, −2: drawn. */
static void compare(double means[FOV_SCANPATH_MEASURES], Work *work, int source, int first,
                    int end) {
  double sums[FOV_SCANPATH_MEASURES] = {0};
  int counts[FOV_SCANPATH_MEASURES] = {0};
  for (int r = first; r < end; r++) {
    FovScanpath reference = without_first(work->reference.paths[r]);
    if (source >= 0) {
      FovScanpath gaze = without_first(work->sources[source].paths[work->reference.episodes[r]]);
      measure(sums, counts, work, &gaze, &reference);
    }
    for (int d = 0; d < DRAWS && source < 0; d++) {
      FovRng rng = fov_rng_stream((uint64_t)-source, FOV_STREAM_SCANPATH, (uint64_t)r * DRAWS + d);
      FovScanpath gaze = {work->drawn, reference.count};
      draw[-source - 1](&gaze, work->height, &rng);
      measure(sums, counts, work, &gaze, &reference);
    }
  }
  for (int i = 0; i < FOV_SCANPATH_MEASURES; i++)
    means[i] = counts[i] > 0 ? sums[i] / counts[i] : NAN;
}

static FovStatus allocate(Work *work) {
  int longest = 1, reference = 1;
  for (int i = 0; i < work->request->count; i++)
    if (work->sources[i].trace.glimpses > longest) longest = work->sources[i].trace.glimpses;
  for (int r = 0; r < work->reference.count; r++)
    if (work->reference.paths[r].count > reference) reference = work->reference.paths[r].count;
  if (reference > longest) longest = reference; // of the drawn gazes
  work->room = malloc((size_t)longest * reference * sizeof *work->room);
  work->drawn = malloc(2 * (size_t)reference * sizeof *work->drawn);
  if (!work->room || !work->drawn) return no_memory();
  FovScanpathMap *maps[] = {&work->map, &work->prior, &work->total, &work->here};
  for (int i = 0; i < 4; i++) FOV_TRY(fov_scanpath_map_create(maps[i], work->height));
  return FOV_OK;
}

/** Sets up the rows that are compared, all values NaN. */
static FovStatus begin_measures(FovScanpathStudy *study, const FovScanpathRequest *request) {
  study->count = request->count + DRAWN;
  for (int i = 0; i < DRAWN; i++) study->rows[request->count + i].name = drawn_names[i];
  for (int i = request->fixations ? 0 : 1; i < request->count + DRAWN; i++) {
    FovScanpathRow *row = &study->rows[i];
    row->measures = malloc((size_t)study->episodes * sizeof *row->measures);
    if (!row->measures) return no_memory();
    for (int e = 0; e < study->episodes; e++)
      for (int m = 0; m < FOV_SCANPATH_MEASURES; m++) row->measures[e][m] = NAN;
  }
  return FOV_OK;
}

static FovStatus add_measures(Work *work, FovScanpathStudy *study) {
  const FovScanpathRequest *request = work->request;
  const FovFixations *reference = &work->reference;
  FOV_TRY(read_reference(work, study));
  FOV_TRY(begin_measures(study, request));
  FOV_TRY(allocate(work));
  add_densities(&work->total, work, 0, reference->count);
  for (int first = 0, end; first < reference->count; first = end) {
    int episode = reference->episodes[first];
    for (end = first; end < reference->count && reference->episodes[end] == episode; end++) {
    }
    make_prior(work, first, end);
    for (int i = 0; i < study->count; i++)
      if (study->rows[i].measures)
        compare(study->rows[i].measures[episode], work,
                i < request->count ? i : request->count - 1 - i, first, end);
  }
  return FOV_OK;
}

/* ---- all ---- */

static FovStatus run(Work *work, FovScanpathStudy *study) {
  const FovScanpathRequest *request = work->request;
  work->sources = calloc((size_t)request->count, sizeof *work->sources);
  study->rows = calloc((size_t)request->count + DRAWN, sizeof *study->rows);
  if (!work->sources || !study->rows) return no_memory();
  study->count = request->count;
  FOV_TRY(read_sources(work, study));
  FOV_TRY(add_statistics(work, study));
  return request->count > 1 || request->fixations ? add_measures(work, study) : FOV_OK;
}

static void finish(Work *work) {
  for (int i = 0; work->sources && i < work->request->count; i++) {
    fov_trace_finish(&work->sources[i].trace);
    free(work->sources[i].paths);
    free(work->sources[i].places);
  }
  free(work->sources);
  free(work->room);
  free(work->drawn);
  fov_fixations_finish(&work->reference);
  FovScanpathMap *maps[] = {&work->map, &work->prior, &work->total, &work->here};
  for (int i = 0; i < 4; i++) fov_scanpath_map_finish(maps[i]);
}

FovStatus fov_scanpath_study(FovScanpathStudy *study, const FovScanpathRequest *request) {
  FOV_CHECK(request->count > 0, "a study of no sources");
  Work work = {.request = request};
  *study = (FovScanpathStudy){0};
  FovStatus status = run(&work, study);
  finish(&work);
  if (status != FOV_OK) fov_scanpath_study_finish(study);
  return status;
}

void fov_scanpath_study_finish(FovScanpathStudy *study) {
  for (int i = 0; study->rows && i < study->count; i++) {
    free(study->rows[i].statistics);
    free(study->rows[i].measures);
  }
  free(study->rows);
  *study = (FovScanpathStudy){0};
}
