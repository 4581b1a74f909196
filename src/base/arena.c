#include "base/arena.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"

enum { ALIGNMENT = 64, BLOCK_SIZE = 8 << 20 };

struct FovArenaBlock {
  FovArenaBlock *next;
  size_t size;
  _Alignas(ALIGNMENT) char data[];
};

/** A block of at least `size` bytes, or NULL. */
static FovArenaBlock *create_block(size_t size) {
  size = size > BLOCK_SIZE ? (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT : BLOCK_SIZE;
  FovArenaBlock *block = aligned_alloc(ALIGNMENT, sizeof *block + size);
  if (block) *block = (FovArenaBlock){.next = NULL, .size = size};
  return block;
}

void *fov_arena_zeros(FovArena *arena, size_t size) {
  return memset(fov_arena_alloc(arena, size), 0, size);
}

bool fov_arena_reserve(FovArena *arena, size_t size) {
  FOV_CHECK(!arena->first, "an arena of %zu blocks is not empty", arena->blocks);
  arena->first = create_block(size);
  arena->blocks = arena->first != NULL;
  return arena->first;
}

void *fov_arena_alloc(FovArena *arena, size_t size) {
  arena->total += size + ALIGNMENT;
  if (arena->most > 0 && (double)arena->total > arena->most) fov_no_memory(size);
  size = (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
  FovArenaBlock **next = arena->current ? &arena->current->next : &arena->first;
  if (!arena->current || arena->used + size > arena->current->size) {
    // A block too small for this request is skipped, at the same point in each repetition.
    while (*next && (*next)->size < size) next = &(*next)->next;
    if (!*next) {
      *next = create_block(size);
      if (!*next) fov_no_memory(size > BLOCK_SIZE ? size : BLOCK_SIZE);
      arena->blocks++;
    }
    arena->current = *next;
    arena->used = 0;
  }
  void *memory = arena->current->data + arena->used;
  arena->used += size;
  return memory;
}

void fov_arena_rewind(FovArena *arena) {
  arena->current = NULL;
  arena->used = arena->total = 0;
}

void fov_arena_finish(FovArena *arena) {
  for (FovArenaBlock *block = arena->first, *next; block; block = next) {
    next = block->next;
    free(block);
  }
  *arena = (FovArena){0};
}
