/** The batch script of a sweep that runs as a job array of Slurm. */
#ifndef FOV_CLI_SLURM_SCRIPT_H
#define FOV_CLI_SLURM_SCRIPT_H

#include "base/error.h"
#include "record/run.h"

/** A job array; each of its tasks takes runs from the folder of a sweep. */
typedef struct FovSlurmArray {
  const char *dir;            /**< of the sweep */
  int tasks;                  /**< of the array; for fov_slurm_submit, 0: as many as useful */
  int jobs, threads;          /**< of a task: runs at a time; threads of each */
  const char *rows;           /**< as FovSweepRequest's */
  bool test;                  /**< test what validation has chosen, too */
  double bytes;               /**< memory that these runs are expected to need */
  const char *const *options; /**< [option_count] more words for sbatch; they override the script */
  int option_count;
} FovSlurmArray;

typedef struct FovSlurmScript {
  char path[FOV_PATH_SIZE];   /**< where it belongs: DIR/slurm.sh */
  char folder[FOV_PATH_SIZE]; /**< where the tasks' output goes: DIR/slurm */
  const char **command;       /**< sbatch, options and path, NULL-terminated; its texts are those of
                                   the array and of this struct */
  char *text;
} FovSlurmScript;

/** Writes nothing to the disk. Fails if something in the array cannot be written into a script.
 * Finished by fov_slurm_script_finish, also after a failure. */
FovStatus fov_slurm_script_make(FovSlurmScript *script, const FovSlurmArray *array);
void fov_slurm_script_finish(FovSlurmScript *script);

#endif
