#include "base/ranks.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/team.h"

int fov_ranks_count(const FovRanks *ranks) {
  return ranks ? ranks->count : 1;
}

bool fov_ranks_is_first(const FovRanks *ranks) {
  return !ranks || ranks->rank == 0;
}

bool fov_ranks_agreed(const FovRanks *ranks, FovStatus status) {
  return fov_ranks_count(ranks) == 1 || status == ranks->agreed;
}

size_t fov_ranks_share(size_t count, int rank, int ranks) {
  return count * (size_t)rank / (size_t)ranks;
}

static int number_of(const char *variable) {
  const char *text = getenv(variable);
  return text ? atoi(text) : -1;
}

int fov_ranks_launched(int *rank) {
  static const struct {
    const char *count, *rank;
  } launchers[] = {
      {"OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK"}, // Open MPI
      {"PMI_SIZE", "PMI_RANK"},                         // MPICH's Hydra, srun --mpi=pmi2
      {"SLURM_STEP_NUM_TASKS", "PMIX_RANK"},            // srun --mpi=pmix
  };
  *rank = 0;
  for (size_t i = 0; i < sizeof launchers / sizeof *launchers; i++) {
    int count = number_of(launchers[i].count), mine = number_of(launchers[i].rank);
    if (count < 1 || mine < 0) continue;
    *rank = mine;
    return count;
  }
  return 0;
}

/* ---- collectives, made of exchanges ---- */

void fov_ranks_exchange(FovRanks *ranks, const FovMessage *sent, int sent_count,
                        const FovMessage *received, int received_count) {
  if (fov_ranks_count(ranks) == 1) return;
  for (int i = 0; i < sent_count; i++) ranks->sent += sent[i].bytes;
  ranks->exchange(ranks, sent, sent_count, received, received_count);
}

void fov_ranks_gather(FovRanks *ranks, void *array, const size_t *bounds, size_t size) {
  FovMessage sent[FOV_MAX_RANKS], received[FOV_MAX_RANKS];
  int count = fov_ranks_count(ranks);
  for (int i = 1; i < count; i++) {
    // Each rank starts with its successor, so that not all send to rank 0 first.
    int to = (ranks->rank + i) % count, from = (ranks->rank + count - i) % count;
    const size_t *mine = &bounds[ranks->rank], *theirs = &bounds[from];
    sent[i - 1] =
        (FovMessage){(char *)array + mine[0] * size, (mine[1] - mine[0]) * size, .rank = to};
    received[i - 1] = (FovMessage){(char *)array + theirs[0] * size, (theirs[1] - theirs[0]) * size,
                                   .rank = from};
  }
  fov_ranks_exchange(ranks, sent, count - 1, received, count - 1);
}

void fov_ranks_gather_each(FovRanks *ranks, void *array, size_t size) {
  size_t bounds[FOV_MAX_RANKS + 1];
  for (int r = 0; r <= fov_ranks_count(ranks); r++) bounds[r] = (size_t)r;
  fov_ranks_gather(ranks, array, bounds, size);
}

void fov_ranks_broadcast(FovRanks *ranks, void *at, size_t bytes, int from) {
  FovMessage sent[FOV_MAX_RANKS], received = {at, bytes, .rank = from};
  int to = 0;
  if (fov_ranks_count(ranks) == 1) return;
  bool sends = ranks->rank == from;
  for (int r = 0; r < ranks->count && sends; r++)
    if (r != from) sent[to++] = (FovMessage){at, bytes, .rank = r};
  fov_ranks_exchange(ranks, sent, to, &received, !sends);
}

bool fov_ranks_any(FovRanks *ranks, bool condition) {
  bool all[FOV_MAX_RANKS], any = condition;
  if (fov_ranks_count(ranks) == 1) return condition;
  all[ranks->rank] = condition;
  fov_ranks_gather_each(ranks, all, sizeof *all);
  for (int r = 0; r < ranks->count; r++) any = any || all[r];
  return any;
}

/** The message of the rank that failed, where that is not rank 0 with its number and host. */
static FovStatus fail_as(FovRanks *ranks, FovStatus status, int failed) {
  char message[1024 + FOV_HOST_SIZE + 32];
  if (ranks->rank == failed && failed == 0)
    snprintf(message, sizeof message, "%s", fov_error_message());
  else if (ranks->rank == failed)
    snprintf(message, sizeof message, "%s (rank %d on %s)", fov_error_message(), failed,
             ranks->host);
  fov_ranks_broadcast(ranks, message, sizeof message, failed);
  return fov_fail(status, "%s", message);
}

FovStatus fov_ranks_agree(FovRanks *ranks, FovStatus status) {
  FovStatus all[FOV_MAX_RANKS];
  if (fov_ranks_count(ranks) == 1) return status;
  all[ranks->rank] = status;
  fov_ranks_gather_each(ranks, all, sizeof *all);
  int failed = 0;
  while (failed < ranks->count && all[failed] == FOV_OK) failed++;
  ranks->agreed = failed < ranks->count ? all[failed] : FOV_OK;
  return failed < ranks->count ? fail_as(ranks, all[failed], failed) : FOV_OK;
}

int fov_ranks_default_threads(FovRanks *ranks) {
  struct {
    char host[FOV_HOST_SIZE];
    cpu_set_t allowed;
  } all[FOV_MAX_RANKS];
  int threads = fov_team_default_threads(), same = 0;
  if (fov_ranks_count(ranks) == 1) return threads;
  memset(&all[ranks->rank], 0, sizeof *all);
  memcpy(all[ranks->rank].host, ranks->host, FOV_HOST_SIZE);
  sched_getaffinity(0, sizeof(cpu_set_t), &all[ranks->rank].allowed);
  fov_ranks_gather_each(ranks, all, sizeof *all);
  for (int r = 0; r < ranks->count; r++)
    same += memcmp(&all[r], &all[ranks->rank], sizeof *all) == 0;
  return threads > same ? threads / same : 1;
}
