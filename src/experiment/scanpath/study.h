/** Gazes of several agents: statistics of each, and measures against a reference. */
#ifndef FOV_EXPERIMENT_SCANPATH_STUDY_H
#define FOV_EXPERIMENT_SCANPATH_STUDY_H

#include "experiment/scanpath/measures.h"
#include "experiment/scanpath/statistics.h"

typedef struct FovScanpathRequest {
  const char *const *sources; /**< [count] runs or traces of the same episodes */
  int count;
  const char *fixations; /**< a CSV file of people's fixations, the reference; NULL: the first
                              source is */
  double blur;           /**< standard deviation of the density around a place, in image widths */
} FovScanpathRequest;

/** A source, or a gaze to compare it with. */
typedef struct FovScanpathRow {
  const char *name;                              /**< the request's */
  double (*statistics)[FOV_SCANPATH_STATISTICS]; /**< [E]; NULL: none of a drawn gaze */
  double (*measures)[FOV_SCANPATH_MEASURES];     /**< [E] means over the reference's scanpaths of an
                                                      episode, NaN without any; NULL: not compared */
} FovScanpathRow;

/** The sources, then the gazes "centre" and "random" if something is compared. */
typedef struct FovScanpathStudy {
  FovScanpathRow *rows;
  int count;
  int episodes;                /**< E: that all sources have */
  int most;                    /**< that a source has */
  char subset[FOV_TRACE_TEXT]; /**< of a trace, if some of the E were selected; else "" */
  const char *reference;       /**< what is compared with; NULL: nothing */
  int paths;                   /**< scanpaths of the reference */
} FovScanpathStudy;

/**
 * Reads the sources and computes everything.
 *
 * Measures leave out the first place of every scanpath, which is where an agent or a person is put.
 * "centre" and "random" are 10 gazes drawn for each of the reference's scanpaths, with as many
 * places: normal around the middle, and uniform. The prior of GAIN is the reference's density on
 * all other images.
 *
 * Fails, naming the file, if a source has no scanpaths because its attention has weights over all
 * tiles, or is not of the same episodes as the first. Finished by the caller on success.
 */
FovStatus fov_scanpath_study(FovScanpathStudy *study, const FovScanpathRequest *request);
void fov_scanpath_study_finish(FovScanpathStudy *study);

#endif
