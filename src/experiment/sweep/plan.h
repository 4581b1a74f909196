/**
 * The plan of a sweep: which configurations of an experiment are trained, with which seeds.
 *
 * A setting of a sweep has one value, several, or a range to draw from:
 *
 *   core = rnn, gru              both
 *   train.rate = log:1e-4:1e-2   drawn, the logarithm uniformly
 *   policy.sigma = lin:2.0:8.0   drawn uniformly
 *   core.width = lin:64:256      the same, whole numbers: neither end has a point or an exponent
 *   reward = any:correct:log_probability
 *                                drawn, all with the same probability
 *
 * Lists span a grid, all combinations of their values. If something is drawn, configuration i has
 * combination i modulo the size of the grid and its own draws, the same for every seed.
 *
 * A file may have rows (sweep/rows.h). They are the values of a first list, with the key `row`.
 */
#ifndef FOV_EXPERIMENT_SWEEP_PLAN_H
#define FOV_EXPERIMENT_SWEEP_PLAN_H

#include "base/file.h"
#include "experiment/experiment.h"
#include "experiment/sweep/rows.h"

enum { FOV_SWEEP_RUNS = 100000 }; /**< of a sweep, at most */
enum { FOV_SWEEP_NAME = 64 };     /**< bytes of the name of a run */

#define FOV_SWEEP_ROW "row" /**< the key whose values are the names of the rows */

/** Settings of a sweep itself; in a file they are in the section [sweep]. */
typedef struct FovSweepOptions {
  char experiment[FOV_STRING_SIZE]; /**< the experiment file, relative to the sweep file */
  char seeds[FOV_STRING_SIZE];      /**< "3" or "0:4", both ends included */
  int trials;                       /**< configurations, if something is drawn; else 0 */
  int64_t draws;                    /**< random seed of the draws */
  bool halving;                     /**< stop runs early (ASHA) */
  bool test;                        /**< test what validation has chosen, of each row */
  int rollouts;                     /**< M > 1: the test is also made with M sampled rollouts */
} FovSweepOptions;

/** An experiment file of a sweep. */
typedef struct FovSweepExperiment {
  char path[FOV_PATH_SIZE]; /**< where it was read */
  char file[32];            /**< in the folder of the sweep: "experiment.ini" */
  char *text;               /**< its contents */
} FovSweepExperiment;

/** A setting that varies. */
typedef struct FovSweepKey FovSweepKey;

typedef struct FovSweepPlan {
  FovSweepOptions options;
  FovSettings *settings; /**< all but those of [sweep], the last of a key counting */
  char *text;            /**< the plan as a sweep file, in one spelling */
  FovSweepRows rows;
  FovSweepExperiment *experiments; /**< [experiment_count] the sweep's, then those of rows */
  int experiment_count;
  int row_experiments[FOV_SWEEP_ROWS]; /**< [rows.count] index */
  char **row_tasks;                    /**< [rows.count] what distinguishes the row's
                                            environment; NULL: nothing does */
  FovSweepKey *keys;                   /**< [key_count], in the order of the settings */
  int key_count;
  int configurations;
  int64_t first_seed;
  int seeds; /**< first_seed … first_seed + seeds − 1 */
} FovSweepPlan;

/**
 * Reads a plan. file: a sweep, or an experiment that `changes` vary. Every configuration is
 * resolved, so that whatever is wrong with a setting is found here.
 *
 * Finished by fov_sweep_plan_finish, also after a failure.
 */
FovStatus fov_sweep_plan_read(FovSweepPlan *plan, const char *file, const char *const *changes,
                              int change_count);
void fov_sweep_plan_finish(FovSweepPlan *plan);

/** Reads "3" or "0:4": the first seed and how many there are. */
FovStatus fov_sweep_read_seeds(int64_t *first_seed, int *seeds, const char *text);

/** Writes the name of a run's directory in the folder: "c03-s1". */
void fov_sweep_run_name(char name[FOV_SWEEP_NAME], const FovSweepPlan *plan, int configuration,
                        int64_t seed);

/** The key of varying setting `k`. */
const char *fov_sweep_key(const FovSweepPlan *plan, int k);

/** Writes the value that setting `k` has in a configuration. */
void fov_sweep_value(char value[FOV_STRING_SIZE], const FovSweepPlan *plan, int k,
                     int configuration);

/** Fails if two configurations of a row have the same settings: drawn, or written differently. */
FovStatus fov_sweep_check_different(const FovSweepPlan *plan);

/** The row of a configuration; 0 without rows. */
int fov_sweep_row(const FovSweepPlan *plan, int configuration);

/** The name of the row that a run directory's name belongs to; NULL: the plan has no rows, or not
 * this run. */
const char *fov_sweep_row_of_run(const FovSweepPlan *plan, const char *run_name);

/** The experiment of a configuration. */
const FovSweepExperiment *fov_sweep_experiment(const FovSweepPlan *plan, int configuration);

/** Whether the value of a setting is a list, or to be drawn. */
bool fov_sweep_varies(const char *value);

/** Writes the row of a configuration and what varies besides: "soft core=gru"; "" if nothing
 * varies, cut where it is too long. */
void fov_sweep_describe(char *label, size_t size, const FovSweepPlan *plan, int configuration);

/** Adds the experiment and a configuration's settings to `settings`. */
FovStatus fov_sweep_settings(FovSettings *settings, const FovSweepPlan *plan, int configuration,
                             int64_t seed);

/** Makes the experiment of a configuration, with the first seed. Finished by fov_experiment_finish,
 * also after a failure. */
FovStatus fov_sweep_resolve(FovExperiment *experiment, const FovSweepPlan *plan, int configuration);

#endif
