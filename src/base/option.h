/** What can be set by name: option tables and plug-ins. src/config parses them. */
#ifndef FOV_BASE_OPTION_H
#define FOV_BASE_OPTION_H

#include <stdbool.h>
#include <stddef.h>

enum { FOV_STRING_SIZE = 512 }; /**< bytes of a string option, with its terminator */

typedef enum FovOptionType {
  FOV_OPTION_INT,    /**< int */
  FOV_OPTION_LONG,   /**< int64_t */
  FOV_OPTION_REAL,   /**< double */
  FOV_OPTION_BOOL,   /**< bool: true/false, yes/no, on/off, 1/0 */
  FOV_OPTION_CHOICE, /**< int: index into `choices` */
  FOV_OPTION_STRING, /**< char[FOV_STRING_SIZE] */
  FOV_OPTION_TEXT,   /**< const char *: the text itself, not a copy; for command lines */
} FovOptionType;

/** One field of a struct that can be set by name; a table of them ends with a NULL name. */
typedef struct FovOption {
  const char *name;
  FovOptionType type;
  size_t offset;              /**< of the field in its struct */
  double min, max;            /**< numbers: the allowed range, both ends included */
  const char *const *choices; /**< CHOICE: NULL-terminated names */
  const char *fallback;       /**< the default, as text a user could have typed; NULL: the field
                                   stays 0 where nothing is set */
  const char *help;           /**< one line, with the unit */
} FovOption;

#define FOV_INT(S, field, fallback, min, max, help)                                                \
  { #field, FOV_OPTION_INT, offsetof(S, field), min, max, NULL, fallback, help }
#define FOV_LONG(S, field, fallback, min, max, help)                                               \
  { #field, FOV_OPTION_LONG, offsetof(S, field), min, max, NULL, fallback, help }
#define FOV_REAL(S, field, fallback, min, max, help)                                               \
  { #field, FOV_OPTION_REAL, offsetof(S, field), min, max, NULL, fallback, help }
#define FOV_BOOL(S, field, fallback, help)                                                         \
  { #field, FOV_OPTION_BOOL, offsetof(S, field), 0, 0, NULL, fallback, help }
#define FOV_CHOICE(S, field, fallback, choices, help)                                              \
  { #field, FOV_OPTION_CHOICE, offsetof(S, field), 0, 0, choices, fallback, help }
#define FOV_STRING(S, field, fallback, help)                                                       \
  { #field, FOV_OPTION_STRING, offsetof(S, field), 0, 0, NULL, fallback, help }
#define FOV_TEXT(S, field, help)                                                                   \
  { #field, FOV_OPTION_TEXT, offsetof(S, field), 0, 0, NULL, NULL, help }
#define FOV_OPTIONS_END                                                                            \
  { NULL, 0, 0, 0, 0, NULL, NULL, NULL }

/** What every plug-in starts with; its struct's first member, so a table can be read without
 * knowing the kind. */
typedef struct FovPlugin {
  const char *name;
  const char *help;         /**< one line */
  const FovOption *options; /**< NULL: none */
  size_t options_size;      /**< bytes of the struct that `options` describes */
} FovPlugin;

#endif
