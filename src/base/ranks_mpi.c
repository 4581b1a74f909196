/** Ranks of an MPI job. Only messages from one rank to another are used, and no reduction, whose
 * order MPI leaves open. */
#include <limits.h>
#include <mpi.h>
#include <sched.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/profile.h"
#include "base/ranks.h"

const bool fov_ranks_supported = true;

/** Requests that are under way; kept, and enlarged when an exchange has more messages. */
typedef struct Requests {
  MPI_Request *list;
  MPI_Status *statuses; // GCC takes MPICH's MPI_STATUSES_IGNORE for an array without room
  int count, room;
} Requests;

static Requests requests;

static MPI_Request *next_request(void) {
  if (requests.count == requests.room) {
    requests.room = 2 * requests.room + 16;
    requests.list = realloc(requests.list, (size_t)requests.room * sizeof *requests.list);
    requests.statuses =
        realloc(requests.statuses, (size_t)requests.room * sizeof *requests.statuses);
    if (!requests.list || !requests.statuses)
      fov_no_memory((size_t)requests.room * sizeof *requests.statuses);
  }
  return &requests.list[requests.count++];
}

/** Starts to move a message, in pieces, since MPI counts bytes in an int. */
static void move(const FovMessage *message, bool sends) {
  const size_t most = INT_MAX / 2 + 1;
  char *at = message->at;
  for (size_t left = message->bytes; left > 0;) {
    size_t bytes = left < most ? left : most;
    if (sends)
      MPI_Isend(at, (int)bytes, MPI_BYTE, message->rank, 0, MPI_COMM_WORLD, next_request());
    else
      MPI_Irecv(at, (int)bytes, MPI_BYTE, message->rank, 0, MPI_COMM_WORLD, next_request());
    at += bytes;
    left -= bytes;
  }
}

/** Seconds of polling after which a rank lets other processes run between two polls: MPI_Waitall
 * would keep the processor from a rank that it waits for. */
static const double SPIN = 50e-6;

static void wait_for_requests(void) {
  double start = fov_now();
  int done = 0;
  while (MPI_Testall(requests.count, requests.list, &done, requests.statuses), !done)
    if (fov_now() - start > SPIN) sched_yield();
}

static void exchange(FovRanks *ranks, const FovMessage *sent, int sent_count,
                     const FovMessage *received, int received_count) {
  (void)ranks;
  requests.count = 0;
  for (int i = 0; i < received_count; i++) move(&received[i], false);
  for (int i = 0; i < sent_count; i++) move(&sent[i], true);
  wait_for_requests();
}

static void abort_all(FovRanks *ranks, int exit_code) {
  (void)ranks;
  MPI_Abort(MPI_COMM_WORLD, exit_code);
}

/** Another MPI library than the launcher's finds each process alone. */
static FovStatus check_count(FovRanks *ranks, int launched) {
  if (ranks->count > FOV_MAX_RANKS)
    return fov_fail(FOV_ERR_USAGE, "%d ranks: expected at most %d", ranks->count, FOV_MAX_RANKS);
  if (ranks->count >= launched) return FOV_OK;
  fov_ranks_launched(&ranks->rank);
  return fov_fail(FOV_ERR_USAGE,
                  "started as %d processes, and MPI finds %d: expected the mpirun of the MPI "
                  "library that this fovea was built with",
                  launched, ranks->count);
}

FovStatus fov_ranks_start(FovRanks *ranks) {
  int rank, level, launched = fov_ranks_launched(&rank);
  *ranks = (FovRanks){.count = 1, .exchange = exchange, .abort = abort_all};
  // Without a launcher, MPI_Init would start helpers and look for networks in vain.
  if (launched == 0) return FOV_OK;
  MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &level);
  MPI_Comm_rank(MPI_COMM_WORLD, &ranks->rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks->count);
  gethostname(ranks->host, FOV_HOST_SIZE - 1);
  return check_count(ranks, launched);
}

void fov_ranks_finish(FovRanks *ranks, FovStatus status) {
  int started, finished;
  MPI_Initialized(&started);
  MPI_Finalized(&finished);
  if (!started || finished) return;
  if (status != FOV_OK && !fov_ranks_agreed(ranks, status)) ranks->abort(ranks, 1);
  free(requests.list);
  free(requests.statuses);
  requests = (Requests){.room = 0};
  MPI_Finalize();
}
