/** A JSON value as text. */
#ifndef FOV_RECORD_JSON_TEXT_H
#define FOV_RECORD_JSON_TEXT_H

#include <jansson.h>

/** Prints with the flags of json_dumps into malloc'd memory. NULL if the value is NULL or there is
 * no memory; json_dumps can then lose a part of the text and succeed (Jansson 2.14). */
char *fov_json_text(const json_t *value, size_t flags);

/** A string of a text that may not be UTF-8, like a path: then '?' replaces what is not ASCII.
 * NULL: no memory. */
json_t *fov_json_string(const char *text);

/** A number, or null if it is not finite. */
json_t *fov_json_number(double value);

#endif
