#include "base/memory.h"

#include <stdio.h>
#include <unistd.h>

FovStatus fov_memory_check(double bytes, const char *what) {
  double all = (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
  if (bytes <= all) return FOV_OK;
  return fov_fail(FOV_ERR_MEMORY,
                  "%s would take %.1f GiB of memory, and this machine has %.1f; make train.batch, "
                  "env.size or the network smaller",
                  what, bytes / 0x1p30, all / 0x1p30);
}

double fov_memory_available(void) {
  double kilobytes = (double)sysconf(_SC_AVPHYS_PAGES) * (double)sysconf(_SC_PAGESIZE) / 1024;
  char line[256];
  FILE *file = fopen("/proc/meminfo", "re");
  // Unlike free pages, this counts what the page cache would give back.
  while (file && fgets(line, sizeof line, file)) sscanf(line, "MemAvailable: %lf kB", &kilobytes);
  if (file) fclose(file);
  return 1024 * kilobytes;
}
