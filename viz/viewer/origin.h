/** Where the episodes of a trace come from, so that its agent can play them again. */
#ifndef FOV_VIZ_VIEWER_ORIGIN_H
#define FOV_VIZ_VIEWER_ORIGIN_H

#include "experiment/trained.h"
#include "record/provenance.h"
#include "record/trace.h"

/** The split of a trace; the one that a training records if the trace does not have it. */
FovSplit fov_origin_split(const FovTrace *trace);

/** The weights of a trace's agent. */
FovProvenance fov_origin_weights(const FovTrace *trace);

/** Finds the checkpoint of a run with these weights: after a training it is often the last one. If
 * none has them and one is damaged, the error is that of reading it.
 * path: [FOV_PATH_SIZE] */
FovStatus fov_origin_checkpoint(char *path, const char *run, const FovProvenance *weights);

/** The seed of a recording; of one that does not have it, that of the agent's evaluations. */
uint64_t fov_origin_seed(const char *seed, const FovTrained *trained);

#endif
