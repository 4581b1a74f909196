/** The environments of a sweep's rows, as tasks of a comparison. */
#ifndef FOV_EXPERIMENT_SWEEP_ROW_TASKS_H
#define FOV_EXPERIMENT_SWEEP_ROW_TASKS_H

#include "experiment/sweep/plan.h"

/**
 * Names the environment of each row by the settings that not all rows share: "cluttered size=100".
 * Settings that vary outside of the rows do not count; they have their own columns.
 *
 * tasks: [plan->rows.count] texts, all malloc'd, as is the array; NULL if the rows do not differ.
 */
FovStatus fov_sweep_row_tasks(char ***tasks, const FovSweepPlan *plan);

#endif
