/** The memory that this process may use. */
#ifndef FOV_BASE_MEMORY_H
#define FOV_BASE_MEMORY_H

#include <stdbool.h>
#include <stdlib.h>

#include "base/error.h"

/** Bytes that this process can use at most: the least of the machine's memory, the limit of its
 * control group, and what its limit of address space (RLIMIT_AS) leaves. */
double fov_memory_limit(void);

/** Fails if `bytes` for `what` are more than that. smaller: what its user can make smaller, besides
 * images, tiles and network; "": nothing. */
FovStatus fov_memory_check(double bytes, const char *what, const char *smaller);

/** Like calloc, but NULL for more than fov_memory_limit(): calloc may promise what the process may
 * not use, and a control group would end it where it writes there. */
static inline void *fov_memory_calloc(size_t count, size_t size) {
  return (double)count * (double)size <= fov_memory_limit() ? calloc(count, size) : NULL;
}

/** Whether the system would give this process so many bytes in new pages (malloc may have old
 * ones). Call it before code that ends the process if it gets no memory. */
bool fov_memory_has_room(size_t bytes);

/** The least limit in bytes of the control groups of a process, of version 1 or 2; infinite if
 * there is none. membership: its file cgroup in /proc; root: where control groups are mounted. */
double fov_cgroup_limit(const char *membership, const char *root);

/** Bytes that new processes could use without swapping, at most the limit of the control group. */
double fov_memory_available(void);

#endif
