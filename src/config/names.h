/** Lists of names in messages. */
#ifndef FOV_CONFIG_NAMES_H
#define FOV_CONFIG_NAMES_H

#include "config/config.h"

/** Fails because `word`, the value that `subject` names, is none of `names`; suggests the nearest.
 */
FovStatus fov_name_refuse(const char *subject, const char *word, const char *const *names,
                          size_t count);

/** Writes `lead` and the names, with commas between them; cuts what does not fit. */
void fov_name_list(char phrase[FOV_PHRASE_SIZE], const char *lead, const char *const *names,
                   size_t count);

#endif
