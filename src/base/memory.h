/** The machine's memory. */
#ifndef FOV_BASE_MEMORY_H
#define FOV_BASE_MEMORY_H

#include "base/error.h"

/** Fails if `bytes` for `what` are more than the machine has. */
FovStatus fov_memory_check(double bytes, const char *what);

/** Bytes that new processes could use without swapping. */
double fov_memory_available(void);

#endif
