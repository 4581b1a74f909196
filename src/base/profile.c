#include "base/profile.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/team.h"

static FovProfile *all;

/** This thread's; `mine` is NULL unless its work is counted. */
static _Thread_local struct {
  FovProfile *mine;
  FovPhase phase;
  double since, processor; /**< the clock, and that of its processor time, at the beginning */
} worker_profile;

static double read_clock(clockid_t clock) {
  struct timespec time;
  clock_gettime(clock, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

double fov_now(void) {
  return read_clock(CLOCK_MONOTONIC);
}

FovProfile *fov_profiles_create(void) {
  size_t size = FOV_MAX_THREADS * sizeof(FovProfile);
  FovProfile *profiles = aligned_alloc(_Alignof(FovProfile), size);
  return profiles ? memset(profiles, 0, size) : NULL;
}

FovProfile *fov_profile_into(FovProfile *profiles) {
  FovProfile *before = all;
  all = profiles;
  return before;
}

void fov_profile_attach(int worker) {
  if (!all) return;
  worker_profile.mine = &all[worker];
  worker_profile.phase = FOV_PHASE_MODEL;
  worker_profile.since = fov_now();
  worker_profile.processor = read_clock(CLOCK_THREAD_CPUTIME_ID);
}

FovPhase fov_profile_enter(FovPhase phase) {
  if (!worker_profile.mine) return phase;
  FovPhase before = worker_profile.phase;
  double clock = fov_now();
  worker_profile.mine->seconds[before] += clock - worker_profile.since;
  worker_profile.since = clock;
  worker_profile.phase = phase;
  return before;
}

void fov_profile_detach(void) {
  FovProfile *mine = worker_profile.mine;
  if (!mine) return;
  fov_profile_enter(FOV_PHASE_MODEL);
  mine->processor += read_clock(CLOCK_THREAD_CPUTIME_ID) - worker_profile.processor;
  worker_profile.mine = NULL;
}

void fov_profile_flops(double flops) {
  if (worker_profile.mine) worker_profile.mine->flops += flops;
}

void fov_profile_input(double numbers, double pixels) {
  FovProfile *mine = worker_profile.mine;
  if (!mine) return;
  mine->numbers += numbers;
  mine->pixels += pixels;
}

void fov_profile_product(const FovProduct *product) {
  FovProfile *mine = worker_profile.mine;
  if (!mine) return;
  fov_profile_flops(2.0 * product->m * product->n * product->k);
  int i = 0;
  while (i < mine->shapes && memcmp(&mine->products[i], product, sizeof *product) != 0) i++;
  if (i == FOV_MAX_PRODUCTS) return;
  if (i == mine->shapes) mine->products[mine->shapes++] = *product;
  mine->calls[i]++;
}
