/**
 * Ranks: the processes of an MPI job that train one agent together.
 *
 * They exchange bytes, and nothing else: which numbers are added, and in which order, is up to the
 * callers, so that a sum has the same bits for any number of ranks. A call that is *collective* is
 * made by all ranks, in the same order. A rank that dies ends the job.
 */
#ifndef FOV_BASE_RANKS_H
#define FOV_BASE_RANKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

enum { FOV_MAX_RANKS = 1024, FOV_HOST_SIZE = 64 };

/** Bytes that are sent to a rank or received from it. */
typedef struct FovMessage {
  void *at;
  size_t bytes;
  int rank;
} FovMessage;

/** This rank among the others. Everywhere a pointer to it may be NULL: one rank. */
typedef struct FovRanks {
  int rank, count;
  uint64_t sent;    /**< bytes that this rank has sent so far */
  FovStatus agreed; /**< what fov_ranks_agree returned last */
  char host[FOV_HOST_SIZE];
  void *context; /**< of the two functions */
  /** Collective: sends and receives all messages. Those from one rank to another arrive in the
   * order of their lists. */
  void (*exchange)(struct FovRanks *ranks, const FovMessage *sent, int sent_count,
                   const FovMessage *received, int received_count);
  /** Ends the processes of all ranks. */
  void (*abort)(struct FovRanks *ranks, int exit_code);
} FovRanks;

/**
 * Joins the other processes of a job that mpirun or srun has started; alone, there is one rank.
 * Fails with more than FOV_MAX_RANKS ranks, if MPI finds fewer processes than the launcher has
 * started, and in a program without MPI (ranks_one.c) that is one of several such processes.
 * fov_ranks_finish is called also after a failure.
 */
FovStatus fov_ranks_start(FovRanks *ranks);

/** Leaves the job. On a failure that the ranks have not agreed on, ends all of them, since they
 * wait for this one. */
void fov_ranks_finish(FovRanks *ranks, FovStatus status);

/** Whether all ranks have this status, as the last fov_ranks_agree found. */
bool fov_ranks_agreed(const FovRanks *ranks, FovStatus status);

/** Whether this build can join several processes. */
extern const bool fov_ranks_supported;

/** Processes of the launcher's job, from its variables of the environment, and which of them this
 * is; 0 if no launcher has started it. */
int fov_ranks_launched(int *rank);

/** Number of ranks; 1 without any. */
int fov_ranks_count(const FovRanks *ranks);

/** Whether this is rank 0, which alone writes files and prints. */
bool fov_ranks_is_first(const FovRanks *ranks);

/** The first of `count` items that rank `rank` of `ranks` has: contiguous, equal shares. That of
 * rank `ranks` is `count`. */
size_t fov_ranks_share(size_t count, int rank, int ranks);

/* Collective; with one rank they do nothing. */

/** Sends and receives messages; the lists of two ranks must match. */
void fov_ranks_exchange(FovRanks *ranks, const FovMessage *sent, int sent_count,
                        const FovMessage *received, int received_count);

/** Completes an array of items of `size` bytes, of which rank r has bounds[r] … bounds[r + 1] − 1.
 * bounds: [count + 1], the same on all ranks. */
void fov_ranks_gather(FovRanks *ranks, void *array, const size_t *bounds, size_t size);

/** The same for an array with one item for each rank. */
void fov_ranks_gather_each(FovRanks *ranks, void *array, size_t size);

/** Copies bytes of one rank to all others. */
void fov_ranks_broadcast(FovRanks *ranks, void *at, size_t bytes, int from);

/** Whether a condition holds on any rank. */
bool fov_ranks_any(FovRanks *ranks, bool condition);

/** The status of all ranks: that of the first one that failed, and its message. */
FovStatus fov_ranks_agree(FovRanks *ranks, FovStatus status);

/** Threads of this rank if the user asks for none: all processors that it may use, divided by the
 * ranks of this host that may use the same ones. */
int fov_ranks_default_threads(FovRanks *ranks);

#endif
