#include "envs/datasets/shared_pictures.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

typedef struct Shared {
  FovPictures pictures; // first: a pointer to it is one to all of this
  FovPicturesOptions options;
  FovSplit split;
  int users;
  struct Shared *next;
} Shared;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static Shared *list; // guarded by the lock

static bool is_same(const Shared *shared, const FovPicturesOptions *b, FovSplit split) {
  const FovPicturesOptions *a = &shared->options;
  return shared->split == split && strcmp(a->data, b->data) == 0 &&
         strcmp(a->images, b->images) == 0 && strcmp(a->labels, b->labels) == 0 &&
         a->divide == b->divide && a->classes == b->classes && a->colour == b->colour &&
         a->fit == b->fit && a->picture == b->picture;
}

/** Adds what the options describe to the list. */
static FovStatus load(Shared **loaded, const FovPicturesOptions *options, FovSplit split) {
  Shared *shared = calloc(1, sizeof *shared);
  if (!shared) return fov_fail(FOV_ERR_MEMORY, "no memory for pictures");
  FovStatus status = fov_pictures_load(&shared->pictures, options, split);
  if (status != FOV_OK) {
    free(shared);
    return status;
  }
  shared->options = *options;
  shared->split = split;
  shared->next = list;
  *loaded = list = shared;
  return FOV_OK;
}

FovStatus fov_shared_pictures_take(const FovPictures **pictures, const FovPicturesOptions *options,
                                   FovSplit split) {
  pthread_mutex_lock(&lock);
  Shared *shared = list;
  while (shared && !is_same(shared, options, split)) shared = shared->next;
  FovStatus status = shared ? FOV_OK : load(&shared, options, split);
  if (status == FOV_OK) shared->users++;
  *pictures = status == FOV_OK ? &shared->pictures : NULL;
  pthread_mutex_unlock(&lock);
  return status;
}

void fov_shared_pictures_release(const FovPictures *pictures) {
  if (!pictures) return;
  pthread_mutex_lock(&lock);
  Shared **at = &list;
  while (&(*at)->pictures != pictures) at = &(*at)->next;
  Shared *shared = *at;
  if (--shared->users == 0) {
    *at = shared->next;
    fov_pictures_finish(&shared->pictures);
    free(shared);
  }
  pthread_mutex_unlock(&lock);
}
