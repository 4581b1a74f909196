/** The machine's memory. */
#ifndef FOV_BASE_MEMORY_H
#define FOV_BASE_MEMORY_H

#include "base/error.h"

/** Fails if `bytes` for `what` are more than the machine has. */
FovStatus fov_memory_check(double bytes, const char *what);

#endif
