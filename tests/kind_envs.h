/** Environments of tests/kind_envs.c and tests/broken_envs.c, which the contract's tests use. */
#ifndef FOV_TESTS_KIND_ENVS_H
#define FOV_TESTS_KIND_ENVS_H

#include "env.h"

/** Correct environments of the kinds of observation and answer that envs/ lacks, NULL-terminated.
 */
extern const FovEnvType *const kind_envs[];

/** An environment with one planted bug. */
typedef struct BrokenEnv {
  FovEnvType type;    /**< its name is the bug */
  const char *clause; /**< the clause of the contract that catches it */
  const char *words;  /**< which that clause's message has */
} BrokenEnv;

/** Ends with a clause that is NULL. */
extern const BrokenEnv broken_envs[];

#endif
