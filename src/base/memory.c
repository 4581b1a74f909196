#include "base/memory.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

/* ---- limits of control groups ---- */

/** Lowers `limit` to the number in a file, if there is one: "max" and huge numbers are no limit. */
static void lower(double *limit, const char *folder, const char *name) {
  char path[2048];
  double number;
  snprintf(path, sizeof path, "%s/%s", folder, name);
  FILE *file = fopen(path, "re");
  if (!file) return;
  if (fscanf(file, "%lf", &number) == 1 && number < 0x1p62) *limit = fmin(*limit, number);
  fclose(file);
}

/** The least limit of a group and those above it; cut: root and group, [1024]. */
static void lower_upwards(double *limit, char *cut, size_t root, const char *name) {
  for (;;) {
    lower(limit, cut, name);
    char *slash = strrchr(cut, '/');
    if (!slash || (size_t)(slash - cut) < root) return;
    *slash = '\0';
  }
}

double fov_cgroup_limit(const char *membership, const char *root) {
  char line[512], folder[1024];
  double limit = INFINITY;
  FILE *file = fopen(membership, "re");
  // Lines such as "0::/user.slice" (version 2) and "4:memory:/docker/1f" (version 1).
  while (file && fgets(line, sizeof line, file)) {
    line[strcspn(line, "\n")] = '\0';
    const char *controllers = strchr(line, ':'), *group = controllers;
    if (controllers) group = strchr(controllers + 1, ':');
    if (!group) continue;
    bool second = strncmp(controllers, "::", 2) == 0;
    if (!second && strncmp(controllers, ":memory:", 8) != 0) continue;
    snprintf(folder, sizeof folder, "%s%s%s", root, second ? "" : "/memory", group + 1);
    lower_upwards(&limit, folder, strlen(root), second ? "memory.max" : "memory.limit_in_bytes");
  }
  if (file) fclose(file);
  return limit;
}

/* ---- this process ---- */

static double limit_of_group(void) {
  return fov_cgroup_limit("/proc/self/cgroup", "/sys/fs/cgroup");
}

/** Bytes of address space that the process may still map (ulimit -v). */
static double limit_of_process(void) {
  struct rlimit limit;
  double pages = 0;
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return INFINITY;
  FILE *file = fopen("/proc/self/statm", "re");
  if (file && fscanf(file, "%lf", &pages) != 1) pages = 0;
  if (file) fclose(file);
  return fmax((double)limit.rlim_cur - pages * (double)sysconf(_SC_PAGESIZE), 0);
}

typedef struct Limit {
  double bytes;
  const char *whose;
} Limit;

static Limit least_limit(void) {
  const Limit limits[] = {
      {(double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE), "this machine has"},
      {limit_of_group(), "its control group may use"},
      {limit_of_process(), "ulimit -v leaves"},
  };
  Limit least = limits[0];
  for (size_t i = 1; i < sizeof limits / sizeof *limits; i++)
    if (limits[i].bytes < least.bytes) least = limits[i];
  return least;
}

double fov_memory_limit(void) {
  return least_limit().bytes;
}

FovStatus fov_memory_check(double bytes, const char *what, const char *smaller) {
  Limit limit = least_limit();
  double unit = bytes < 0x1p30 ? 0x1p20 : 0x1p30;
  if (bytes <= limit.bytes) return FOV_OK;
  return fov_fail(FOV_ERR_MEMORY,
                  "%s would take %.1f %s of memory, and %s %.1f; make %s%senv.size, env.longest, "
                  "tiles.side or the network smaller",
                  what, bytes / unit, unit == 0x1p20 ? "MiB" : "GiB", limit.whose,
                  limit.bytes / unit, smaller, *smaller ? ", " : "");
}

bool fov_memory_has_room(size_t bytes) {
  void *room = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return room != MAP_FAILED && munmap(room, bytes) == 0;
}

double fov_memory_available(void) {
  double kilobytes = (double)sysconf(_SC_AVPHYS_PAGES) * (double)sysconf(_SC_PAGESIZE) / 1024;
  char line[256];
  FILE *file = fopen("/proc/meminfo", "re");
  // Unlike free pages, this counts what the page cache would give back.
  while (file && fgets(line, sizeof line, file)) sscanf(line, "MemAvailable: %lf kB", &kilobytes);
  if (file) fclose(file);
  return fmin(1024 * kilobytes, limit_of_group());
}
