/** The folder of a sweep: names, plan, claims, and the state of its runs. */
#ifndef FOV_EXPERIMENT_SWEEP_FOLDER_H
#define FOV_EXPERIMENT_SWEEP_FOLDER_H

#include "experiment/sweep/sweep.h"

#define FOV_SWEEP_RESULTS "results.csv"
#define FOV_SWEEP_JOURNAL "halving.csv"
#define FOV_SWEEP_CLAIMS "claims"
#define FOV_SWEEP_LOG "log.txt"

/** Writes "DIR/NAME", or "DIR/NAME/FILE" if file is not NULL, into path [FOV_PATH_SIZE]. */
const char *fov_sweep_path(char *path, const char *dir, const char *name, const char *file);

/** Fails if the folder has another plan, or files but no sweep. A plan with more seeds is the same,
 * and one with rollouts if the folder's has none. */
FovStatus fov_sweep_folder_check(const char *dir, const FovSweepPlan *plan);

/** Creates the folder where it does not exist, checks it, and writes the plan. */
FovStatus fov_sweep_folder_open(const char *dir, const FovSweepPlan *plan);

/** Claims a name, such as that of a run. claim: a descriptor, and the claim ends when all of its
 * copies are closed; −1: another process has it. */
FovStatus fov_sweep_claim(int *claim, const char *dir, const char *name);

/** Waits for the other processes that write the sweep's own files, and keeps them from doing so
 * until the descriptor is closed. */
FovStatus fov_sweep_lock(int *lock, const char *dir);

/** Reads state, progress and errors from the files of a run, which has ended if run.json has that
 * outcome. FAILED, and the reason why a test failed, stay until something else is found. episodes:
 * of its whole training; rollouts: of the plan. */
void fov_sweep_scan(FovSweepRun *run, const char *dir, int64_t episodes, int rollouts);

/** Notes in the run's directory why it diverged, for fov_sweep_scan. */
FovStatus fov_sweep_note_divergence(const FovSweepRun *run, const char *dir);

/** The names of FovSweepState in results.csv. */
extern const char *const fov_sweep_states[];

/** Replaces results.csv: a line for every run. */
FovStatus fov_sweep_write_results(const char *dir, const FovSweepPlan *plan,
                                  const FovSweepRun *runs, int count);

#endif
