/** Ranks of a build without MPI: one. */
#include <unistd.h>

#include "base/ranks.h"

const bool fov_ranks_supported = false;

FovStatus fov_ranks_start(FovRanks *ranks) {
  *ranks = (FovRanks){.count = 1};
  int launched = fov_ranks_launched(&ranks->rank);
  if (launched <= 1) return FOV_OK;
  // The launcher ends all of them when the first one fails: that is to be rank 0, which prints.
  if (ranks->rank > 0) sleep(1);
  return fov_fail(FOV_ERR_USAGE,
                  "started as %d processes, but this fovea was built without MPI: build it with "
                  "meson setup -Dmpi=enabled, or start one",
                  launched);
}

void fov_ranks_finish(FovRanks *ranks, FovStatus status) {
  (void)ranks, (void)status;
}
