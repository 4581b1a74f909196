/** What a training reports to whoever started it. Nothing in src/experiment prints. */
#ifndef FOV_EXPERIMENT_REPORT_H
#define FOV_EXPERIMENT_REPORT_H

#include "experiment/experiment.h"
#include "record/checkpoint.h"
#include "record/progress.h"

typedef enum FovReportKind {
  FOV_REPORT_NOTE,      /**< `note` is for the user; comes before all others */
  FOV_REPORT_STARTED,   /**< the run directory is open, at update 0 */
  FOV_REPORT_RESUMED,   /**< the same, at the update of the checkpoint */
  FOV_REPORT_UPDATED,   /**< an update is done */
  FOV_REPORT_EVALUATED, /**< an evaluation is done: `row` */
  FOV_REPORT_FINISHED,  /**< the training is complete: `best` */
} FovReportKind;

/** Where a training stands. A NOTE has only `kind` and `note`. */
typedef struct FovReport {
  FovReportKind kind;
  const char *note; /**< NOTE: one line */
  const char *dir;  /**< of the run */
  const FovExperiment *experiment;
  const FovEnvSpec *train, *valid; /**< of the environments */
  int glimpses;                    /**< of an episode, at most */
  int threads, ranks;              /**< threads of each rank */
  int64_t update, updates;         /**< done; planned in all */
  int64_t episodes;                /**< trained on, of experiment->train.episodes */
  double epoch;                    /**< images seen / images of the training split */
  double glimpses_per_second;      /**< of training, since the last evaluation; 0: none yet */
  double seconds_left;             /**< an estimate; 0 before the first update */
  const FovSums *sums;             /**< since the last evaluation */
  const FovProgress *row;          /**< EVALUATED */
  const FovBest *best;             /**< FINISHED */
} FovReport;

/** Receives reports, on the thread that trains, in their order; what a report points to is valid
 * until `report` returns. */
typedef struct FovReporter {
  void (*report)(void *context, const FovReport *report); /**< NULL: nothing is reported */
  void *context;
} FovReporter;

#endif
