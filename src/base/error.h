/** Errors: a fault of the outside world is a status with a message, a caller's bug aborts. */
#ifndef FOV_BASE_ERROR_H
#define FOV_BASE_ERROR_H

#include <stddef.h>

typedef enum FovStatus {
  FOV_OK = 0,
  FOV_ERR_USAGE,     /**< an option, key or argument is wrong */
  FOV_ERR_IO,        /**< a file cannot be opened, read or written */
  FOV_ERR_FORMAT,    /**< a file's contents are not as expected */
  FOV_ERR_MEMORY,    /**< memory ran out */
  FOV_ERR_NUMBER,    /**< a number is not finite or out of range: a loss, a gradient, a map, or what
                          an environment wrote; of a sweep's run: it diverged */
  FOV_ERR_INTERRUPT, /**< the user asked to stop */
} FovStatus;

/**
 * Records a message for this thread and returns `status`, so that a failure is one statement.
 *
 * The message is one line that names the object, what was expected, what was found and, where
 * there is one, the remedy. A message of more than 1023 bytes loses its middle; a control character
 * becomes '?', so that no text of a file reaches the terminal as a command.
 */
FovStatus fov_fail(FovStatus status, const char *format, ...)
    __attribute__((format(printf, 2, 3), cold));

/** The message of this thread's last fov_fail; "" before the first. Valid until the next one. */
const char *fov_error_message(void);

/** Sets what fov_no_memory calls, with the message already recorded: it must end the process. */
void fov_on_no_memory(void (*handler)(void));

/** Ends the process where memory has run out and no status can be returned; aborts if no handler is
 * set. `bytes` were asked for. */
_Noreturn void fov_no_memory(size_t bytes);

/** Prints file, line, the failed condition and a formatted message to stderr and aborts. */
_Noreturn void fov_abort(const char *file, int line, const char *condition, const char *format, ...)
    __attribute__((format(printf, 4, 5), cold));

/** Aborts with the message if `condition` is false: only for bugs of the caller. */
#define FOV_CHECK(condition, ...)                                                                  \
  do {                                                                                             \
    if (!(condition)) fov_abort(__FILE__, __LINE__, #condition, __VA_ARGS__);                      \
  } while (0)

/** Returns from the calling function if `expression` is not FOV_OK. */
#define FOV_TRY(expression)                                                                        \
  do {                                                                                             \
    FovStatus fov_try_status = (expression);                                                       \
    if (fov_try_status != FOV_OK) return fov_try_status;                                           \
  } while (0)

#endif
