/** A temporary folder for the files of one test. Included after <cmocka.h>. */
#ifndef FOV_TESTS_FOLDER_H
#define FOV_TESTS_FOLDER_H

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "tests/check.h"
#include "tests/working_folder.h"

static char path[600]; /**< a file inside it */

/** Makes `folder` and sets `path` to the file `name` inside it; 0, or −1 for cmocka. */
static inline int make_folder(const char *name) {
  if (create_folder() != 0) return -1;
  snprintf(path, sizeof path, "%s/%s", folder, name);
  return 0;
}

/** Removes `path` and `folder`; fails if the test left another file there. */
static inline int remove_folder(void **state) {
  (void)state;
  unlink(path);
  return rmdir(folder);
}

/** Renames the digest of a safetensors file in memory, so that the file has none and a test can
 * change its other bytes. */
static inline void drop_digest(char *bytes) {
  char *digest = bytes + 8 + strlen("{\"__metadata__\":{");
  assert_memory_equal(digest, "\"digest\":\"xxh64:", 16);
  memcpy(digest, "\"absent\":\"------", 16);
}

#endif
