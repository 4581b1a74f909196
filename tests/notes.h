/** The notes on settings, for tests. Included after cmocka.h. */
#ifndef FOV_TESTS_NOTES_H
#define FOV_TESTS_NOTES_H

#include <string.h>

#include "config/config.h"

static inline void join_note(void *context, const char *line) {
  strcat(strcat(context, line), "\n");
}

/** Fails unless these are the notes, a line each. */
static inline void assert_notes(const FovSettings *settings, const char *expected) {
  char notes[1024] = "";
  fov_settings_notes(settings, join_note, notes);
  assert_string_equal(notes, expected);
}

#endif
