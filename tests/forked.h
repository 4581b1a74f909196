/** Ranks without MPI: forked processes that exchange messages through shared memory. */
#ifndef FOV_TESTS_FORKED_H
#define FOV_TESTS_FORKED_H

#include "base/ranks.h"

/** `bytes` zeros that forked ranks share with the test; released at its end. */
void *forked_memory(size_t bytes);

/** Runs `body` in `count` processes and waits for them. Fails the test if one of them fails a
 * check, or if they have not ended after two minutes. */
void forked_run(int count, void (*body)(FovRanks *ranks, void *context), void *context);

/** The same; returns how many ranks failed, and leaves their complaints out. */
int forked_failures(int count, void (*body)(FovRanks *ranks, void *context), void *context);

/** In a rank: ends its process with the message unless `condition` is true. cmocka's assertions
 * would continue with the next test there. */
#define forked_check(condition, ...)                                                               \
  do {                                                                                             \
    if (!(condition)) forked_fail(__FILE__, __LINE__, __VA_ARGS__);                                \
  } while (0)

_Noreturn void forked_fail(const char *file, int line, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
