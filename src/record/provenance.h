/** Which weights a checkpoint or a trace is of, and whether damage to the file would be noticed. */
#ifndef FOV_RECORD_PROVENANCE_H
#define FOV_RECORD_PROVENANCE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/digest.h"
#include "base/error.h"

typedef struct FovProvenance {
  char weights[FOV_DIGEST_SIZE + 1]; /**< digest of the weights; "": from an older version */
  int64_t update;                    /**< training updates of the agent; −1: not known */
  bool checked;                      /**< the file has a digest, which was right */
} FovProvenance;

/** Reads it from a checkpoint or a trace; fails as fov_safetensors_open does. */
FovStatus fov_provenance_read(FovProvenance *provenance, const char *path);

/** Whether both are of the same weights. Without a digest of one of them, of the same update. */
bool fov_provenance_same(const FovProvenance *a, const FovProvenance *b);

/** The note on a file without a digest, one line after the file's path. */
extern const char fov_provenance_note[];

#endif
