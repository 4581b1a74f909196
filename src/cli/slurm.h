/** A sweep as a job array of Slurm: submitting it, and requeueing a task. */
#ifndef FOV_CLI_SLURM_H
#define FOV_CLI_SLURM_H

#include "cli/slurm_script.h"
#include "experiment/sweep/sweep.h"

/**
 * Writes the folder of a sweep and a script, submits it, and prints the job's number; with nothing
 * left to do it prints that. dry_run: prints the script instead. Chooses array->tasks if it is 0.
 */
FovStatus fov_slurm_submit(FovSlurmArray *array, FovSweep *sweep, bool dry_run);

enum { FOV_SLURM_NAME = 128 };

/** The name of the job, or of the array's task, that this process runs in: "12", "12_3". Fails
 * outside of a job. */
FovStatus fov_slurm_name(char name[FOV_SLURM_NAME]);

/** Puts the job back into the queue after its sweep was saved; then Slurm ends the process. Logs
 * whether that succeeded. Returns FOV_ERR_INTERRUPT or, if not requeued, another error. */
FovStatus fov_slurm_requeue(const FovSweep *sweep, const char *job);

#endif
