/**
 * The runs that are compared, each with its recipe, its task and its score.
 *
 * A *recipe* is a run's configuration without its seed and its environment; the settings of the
 * environment are its *task*. Of a CSV file, a column that names no measurement is a setting. The
 * row of a sweep file is a part of the recipe.
 */
#ifndef FOV_EXPERIMENT_COMPARE_RUNS_H
#define FOV_EXPERIMENT_COMPARE_RUNS_H

#include "experiment/sweep/rows.h"
#include "record/outcomes.h"

enum {
  FOV_COMPARE_RUNS = 20000,
  FOV_COMPARE_VARIANTS = 200, /**< recipes, and tasks, at most */
  FOV_COMPARE_NOTES = 12,
  FOV_COMPARE_NOTE = 512,
};

/** What a run costs. */
typedef enum FovCost {
  FOV_COST_SECONDS,    /**< of training */
  FOV_COST_PARAMETERS, /**< that are learned */
  FOV_COST_MFLOP,      /**< of a rollout's matrix products */
  FOV_COST_PIXELS,     /**< of the image, that a rollout's input is computed from */
  FOV_COSTS,
} FovCost;

/** Their columns in results.csv: [FOV_COSTS]. */
extern const char *const fov_cost_columns[];

/** A recipe or a task. */
typedef struct FovVariant {
  char *settings; /**< lines "key = value" */
  char *label;    /**< of the folder or file of its first run, used where there are no settings */
  char *name;     /**< after fov_runs_name: what distinguishes it, "core=gru policy.sigma=2" */
} FovVariant;

typedef struct FovVariants {
  FovVariant list[FOV_COMPARE_VARIANTS];
  int count;
} FovVariants;

typedef struct FovComparedRun {
  char *source;            /**< for messages: a run's directory, or "FILE:LINE" */
  bool folder;             /**< a directory, which may have outcomes */
  int recipe, task;        /**< index */
  int64_t seed;            /**< −1: none is given */
  double valid, test;      /**< errors in a CSV file; NaN: none */
  double plain;            /**< error or score in a CSV file, of no split; NaN: none */
  double score;            /**< after fov_runs_select: higher is better; 1 − error */
  double costs[FOV_COSTS]; /**< NaN: not known */
  FovOutcomes outcomes;    /**< after fov_runs_select; `wrong` is NULL without any */
} FovComparedRun;

/** Runs of a row of a sweep that have no directory yet. */
typedef struct FovWaiting {
  char row[FOV_SWEEP_ROW_NAME]; /**< "": the sweep has no rows */
  int64_t runs;
} FovWaiting;

/** All zero at first, except for the rollouts. */
typedef struct FovRuns {
  int rollouts;         /**< of the results to compare */
  FovComparedRun *list; /**< [count] */
  int count, room;
  FovVariants recipes, tasks;
  char **varying; /**< [varying_count] of fov_runs_vary, some twice */
  int varying_count;
  int errors, scores;  /**< runs of either measure */
  FovWaiting *waiting; /**< [waiting_count] of each row of a sweep */
  int waiting_count;
  char notes[FOV_COMPARE_NOTES][FOV_COMPARE_NOTE]; /**< [note_count] a line for the user each */
  int note_count;
} FovRuns;

void fov_runs_finish(FovRuns *runs);

/** Adds a line to the notes; beyond FOV_COMPARE_NOTES it is dropped. */
void fov_runs_note(FovRuns *runs, const char *format, ...) __attribute__((format(printf, 2, 3)));

/** Adds a run and its recipe and task. Everything is copied. Fails if there are too many. */
FovStatus fov_runs_add(FovComparedRun **run, FovRuns *runs, const char *source, const char *recipe,
                       const char *task, const char *label);

/** Notes that the user has chosen to vary a setting, so that it belongs into names. */
FovStatus fov_runs_vary(FovRuns *runs, const char *key);

/** Adds all runs of a source: a run directory, a sweep, a folder of run directories, or a CSV file
 * with a row per run. Scores are read later. */
FovStatus fov_runs_read(FovRuns *runs, const char *source);

/** The rows of a CSV file. */
FovStatus fov_runs_read_csv(FovRuns *runs, const char *path);

typedef enum FovCompareSplit {
  FOV_COMPARE_AUTO, /**< test if all runs that have a result have it of test, else validation */
  FOV_COMPARE_VALID,
  FOV_COMPARE_TEST,
} FovCompareSplit;

/** Drops the runs of other rows of sweeps than those that a list names, "soft,gaze"; NULL: none are
 * dropped. Keeps runs that belong to no row. Fails on a name that no row has. */
FovStatus fov_runs_choose_rows(FovRuns *runs, const char *list);

/** Reads the score of every run: `split` becomes the split that they are of. Drops runs without a
 * result, and notes it. Sorts recipes and tasks by their settings, and runs by recipe, task, seed
 * and score, so that the order of the sources has no effect. Fails if no run has a result, and if
 * two are the same. */
FovStatus fov_runs_select(FovRuns *runs, FovCompareSplit *split);

/** Names recipes and tasks by what the user has varied (fov_runs_vary), and by as few other
 * settings as distinguish them. */
FovStatus fov_runs_name(FovRuns *runs);

/** Reads the costs of a run from its directory; needs the outcomes. */
void fov_runs_read_costs(FovComparedRun *run);

/** Drops the tasks that a recipe lacks, and notes it; fails if none is left. After fov_runs_name.
 */
FovStatus fov_runs_complete(FovRuns *runs);

#endif
