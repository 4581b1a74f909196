/** An arena: memory that is allocated in sequence and released all at once. */
#ifndef FOV_BASE_ARENA_H
#define FOV_BASE_ARENA_H

#include <stdbool.h>
#include <stddef.h>

typedef struct FovArenaBlock FovArenaBlock;

/** Zero-initialise. It grows by blocks and keeps them, so repeated work allocates nothing. */
typedef struct FovArena {
  FovArenaBlock *first, *current;
  size_t used;   /**< bytes of the current block */
  size_t blocks; /**< allocated so far: constant once the work repeats itself */
  size_t total;  /**< at least the bytes in use since it was rewound: the sizes requested, and 64
                      for each request */
  double most;   /**< of `total`: a request beyond it ends in fov_no_memory; 0: no limit */
} FovArena;

/** `size` bytes aligned to 64, uninitialised, valid until the arena is rewound; never NULL:
 * without memory it ends in fov_no_memory. */
void *fov_arena_alloc(FovArena *arena, size_t size);

/** The same, filled with zeros. */
void *fov_arena_zeros(FovArena *arena, size_t size);

/** Gives an empty arena one block of at least `size` bytes; false, and it stays empty, if the
 * system does not have that much. */
bool fov_arena_reserve(FovArena *arena, size_t size);

/** Releases all pieces, keeps the blocks. */
void fov_arena_rewind(FovArena *arena);

/** Frees the blocks. */
void fov_arena_finish(FovArena *arena);

/** `count` objects of `type` from an arena. */
#define FOV_NEW(arena, type, count) ((type *)fov_arena_alloc(arena, (size_t)(count) * sizeof(type)))

/** The same, filled with zeros. */
#define FOV_NEW_ZEROS(arena, type, count)                                                          \
  ((type *)fov_arena_zeros(arena, (size_t)(count) * sizeof(type)))

#endif
