/** Lets calls of the C library fail, one after another. Its program is linked with these functions
 * wrapped (failing.c). */
#ifndef FOV_TESTS_FAILING_H
#define FOV_TESTS_FAILING_H

#include "base/error.h"

/**
 * Calls `work` with its first call of a wrapped function failing, then with its second one, and so
 * on until no call fails. Each time it must return a failure with a message that ends with a
 * reason, or FOV_OK if it can do without the call; it checks itself what it has then made. The last
 * time it must return FOV_OK. Fails the test otherwise, and if `work` leaves a file that it was
 * writing in `folder`. Returns how many calls have failed.
 */
int fail_each(FovStatus (*work)(void), const char *folder);

#endif
