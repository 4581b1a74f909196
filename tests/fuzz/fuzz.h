/** What the fuzz targets share. */
#ifndef FOV_TESTS_FUZZ_H
#define FOV_TESTS_FUZZ_H

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/file.h"

/** Called by libFuzzer with each input; returns 0. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/** Writes a file in the current folder, which tests/fuzz/run chooses. Returns its name. */
static inline const char *fuzz_file(const char *name, const void *data, size_t size) {
  int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  FOV_CHECK(fd >= 0 && fov_write_all(fd, data, size), "%s: cannot write", name);
  close(fd);
  return name;
}

/** Fails the target unless a failure has a message. */
static inline void fuzz_check_message(FovStatus status) {
  FOV_CHECK(status == FOV_OK || *fov_error_message(), "a failure %d without a message",
            (int)status);
}

#endif
