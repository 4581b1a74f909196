/** A temporary folder in which a test program works. */
#ifndef FOV_TESTS_WORKING_FOLDER_H
#define FOV_TESTS_WORKING_FOLDER_H

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static char folder[256]; /**< of the running test */

/** Makes `folder`; 0, or −1 for cmocka. */
static inline int create_folder(void) {
  const char *base = getenv("TMPDIR");
  snprintf(folder, sizeof folder, "%.200s/fovea-test-XXXXXX", base && *base ? base : "/tmp");
  return mkdtemp(folder) ? 0 : -1;
}

static inline int remove_one(const char *name, const struct stat *status, int type,
                             struct FTW *place) {
  (void)status, (void)type, (void)place;
  return remove(name);
}

/** Removes `folder` with all that is in it. */
static inline int remove_tree(void **state) {
  (void)state;
  return nftw(folder, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

/** Makes `folder` and works in it. */
static inline int enter_folder(void **state) {
  (void)state;
  return create_folder() == 0 ? chdir(folder) : -1;
}

/** Leaves `folder` and removes it. */
static inline int leave_folder(void **state) {
  return chdir("/") == 0 ? remove_tree(state) : -1;
}

#endif
