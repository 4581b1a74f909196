#include "forked.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { BOX = 4 << 20, SECONDS = 120 };

/** What one rank has for another: its messages, one after the other. */
typedef struct Box {
  size_t bytes;
  char data[BOX - sizeof(size_t)];
} Box;

/** All processes' memory: a box for each sender and receiver. */
typedef struct Group {
  pthread_barrier_t barrier;
  int count;
  Box *boxes; /**< [count, count] */
} Group;

void *forked_memory(size_t bytes) {
  void *memory =
      mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  assert_true(memory != MAP_FAILED);
  return memory;
}

void forked_fail(const char *file, int line, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  fprintf(stderr, "%s:%d: ", file, line);
  vfprintf(stderr, format, arguments);
  fputc('\n', stderr);
  va_end(arguments);
  _exit(1);
}

static void put(Box *box, const FovMessage *message) {
  forked_check(box->bytes + message->bytes <= sizeof box->data, "%zu bytes", message->bytes);
  memcpy(box->data + box->bytes, message->at, message->bytes);
  box->bytes += message->bytes;
}

static void exchange(FovRanks *ranks, const FovMessage *sent, int sent_count,
                     const FovMessage *received, int received_count) {
  Group *group = ranks->context;
  Box *out = group->boxes + (size_t)ranks->rank * (size_t)group->count;
  size_t taken[FOV_MAX_RANKS] = {0};
  for (int r = 0; r < group->count; r++) out[r].bytes = 0;
  for (int i = 0; i < sent_count; i++) put(&out[sent[i].rank], &sent[i]);
  pthread_barrier_wait(&group->barrier);
  for (int i = 0; i < received_count; i++) {
    int from = received[i].rank;
    const Box *in = &group->boxes[from * group->count + ranks->rank];
    forked_check(taken[from] + received[i].bytes <= in->bytes, "rank %d expects %zu bytes of %d",
                 ranks->rank, received[i].bytes, from);
    memcpy(received[i].at, in->data + taken[from], received[i].bytes);
    taken[from] += received[i].bytes;
  }
  for (int r = 0; r < group->count; r++)
    forked_check(taken[r] == group->boxes[r * group->count + ranks->rank].bytes,
                 "rank %d takes %zu bytes of %d", ranks->rank, taken[r], r);
  pthread_barrier_wait(&group->barrier);
}

static Group *create_group(int count) {
  Group *group = forked_memory(sizeof *group);
  pthread_barrierattr_t shared;
  pthread_barrierattr_init(&shared);
  pthread_barrierattr_setpshared(&shared, PTHREAD_PROCESS_SHARED);
  pthread_barrier_init(&group->barrier, &shared, (unsigned)count);
  group->count = count;
  group->boxes = forked_memory((size_t)count * (size_t)count * sizeof *group->boxes);
  return group;
}

static pid_t start(Group *group, int rank, bool quiet, void (*body)(FovRanks *ranks, void *context),
                   void *context) {
  pid_t process = fork();
  assert_true(process >= 0);
  if (process > 0) return process;
  FovRanks ranks = {.rank = rank, .count = group->count, .context = group, .exchange = exchange};
  snprintf(ranks.host, sizeof ranks.host, "host%d", rank);
  if (quiet && !freopen("/dev/null", "w", stderr)) _exit(1);
  alarm(SECONDS);
  body(&ranks, context);
  _exit(0);
}

/** Waits for all; those that wait for a failed one in vain are killed. */
static int wait_for(const pid_t *processes, int count) {
  int failures = 0;
  for (int ended = 0, status; ended < count; ended++) {
    assert_true(wait(&status) > 0);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) continue;
    for (int r = 0; r < count && failures == 0; r++) kill(processes[r], SIGKILL);
    failures++;
  }
  return failures;
}

static int run(int count, bool quiet, void (*body)(FovRanks *ranks, void *context), void *context) {
  pid_t processes[FOV_MAX_RANKS];
  Group *group = create_group(count);
  fflush(NULL);
  for (int r = 0; r < count; r++) processes[r] = start(group, r, quiet, body, context);
  int failures = wait_for(processes, count);
  munmap(group->boxes, (size_t)count * (size_t)count * sizeof *group->boxes);
  munmap(group, sizeof *group);
  return failures;
}

void forked_run(int count, void (*body)(FovRanks *ranks, void *context), void *context) {
  assert_int_equal(run(count, false, body, context), 0);
}

int forked_failures(int count, void (*body)(FovRanks *ranks, void *context), void *context) {
  return run(count, true, body, context);
}
