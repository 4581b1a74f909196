/** Processes that compute without end, to measure what runs beside them. */
#ifndef FOV_BASE_BUSY_H
#define FOV_BASE_BUSY_H

#include <sys/types.h>

#include "base/error.h"
#include "base/team.h"

typedef struct FovBusy {
  pid_t processes[FOV_MAX_THREADS];
  int count;
} FovBusy;

/** Starts `count` of them, at most FOV_MAX_THREADS, each of which wants a processor of its own.
 * They end with this process, at the latest. Fails, and leaves none, if the system refuses one. */
FovStatus fov_busy_start(FovBusy *busy, int count);

/** Ends all of them and waits until they are gone. */
void fov_busy_stop(FovBusy *busy);

#endif
