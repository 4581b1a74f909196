#include "base/memory.h"

#include <unistd.h>

FovStatus fov_memory_check(double bytes, const char *what) {
  double all = (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
  if (bytes <= all) return FOV_OK;
  return fov_fail(FOV_ERR_MEMORY,
                  "%s would take %.1f GiB of memory, and this machine has %.1f; make train.batch, "
                  "env.size or the network smaller",
                  what, bytes / 0x1p30, all / 0x1p30);
}
