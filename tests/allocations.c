#include "allocations.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdatomic.h>

static atomic_int allocations;

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *memory, size_t size);
void *__real_aligned_alloc(size_t alignment, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *memory, size_t size);
void *__wrap_aligned_alloc(size_t alignment, size_t size);

void *__wrap_malloc(size_t size) {
  allocations++;
  return __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size) {
  allocations++;
  return __real_calloc(count, size);
}

void *__wrap_realloc(void *memory, size_t size) {
  allocations++;
  return __real_realloc(memory, size);
}

void *__wrap_aligned_alloc(size_t alignment, size_t size) {
  allocations++;
  return __real_aligned_alloc(alignment, size);
}

int count_allocations(void) {
  return allocations;
}

size_t trainer_blocks(FovTrainer *trainer) {
  const FovWorkspace *workspace = fov_trainer_workspace(trainer);
  size_t blocks = 0;
  for (int i = 0; i < workspace->count; i++) blocks += workspace->arenas[i].blocks;
  return blocks;
}

void assert_allocates_once(const char *settings) {
  Toy toy;
  toy_create(&toy, settings);
  int before = allocations;
  FovTrainer *trainer = toy_trainer(&toy, 2);
  toy_train(trainer, 1);
  assert_true(allocations > before);
  before = allocations;
  size_t blocks = trainer_blocks(trainer);
  assert_true(blocks > 0);
  toy_train(trainer, 5);
  assert_int_equal(allocations, before);
  assert_int_equal(trainer_blocks(trainer), blocks);
  fov_trainer_destroy(trainer);
  toy_finish(&toy);
}
