/** Allocations of a training, counted. Its program is linked with wrapped malloc, calloc, realloc
 * and aligned_alloc. */
#ifndef FOV_TESTS_ALLOCATIONS_H
#define FOV_TESTS_ALLOCATIONS_H

#include "toy.h"

/** Calls of these functions since the program started. */
int count_allocations(void);

/** Memory blocks of a trainer's arenas. */
size_t trainer_blocks(FovTrainer *trainer);

/** Fails the test if a training with two threads on a toy environment allocates memory after the
 * first update. */
void assert_allocates_once(const char *settings);

#endif
