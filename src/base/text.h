/** Text that may come from a file: printable UTF-8. */
#ifndef FOV_BASE_TEXT_H
#define FOV_BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/** Bytes of the printable UTF-8 character at `text`; 0 for a control character (C0, DEL, C1), for
 * a line or paragraph separator, for a bidirectional control, which reorders the text after it, and
 * for bytes that are not UTF-8 (RFC 3629). */
size_t fov_text_printable(const char *text);

/** Whether a text has printable characters only. */
bool fov_text_is_printable(const char *text);

/** Bytes of `text` that are printed as one column: a printable character, or a byte of another one,
 * which is printed as '?'. */
size_t fov_text_character(const char *text);

/** Characters in the first `length` bytes of a text, each printed as one column; SIZE_MAX: in the
 * whole text. */
int fov_text_columns(const char *text, size_t length);

/** Bytes of the byte order mark that a UTF-8 text begins with; 0: none. */
size_t fov_text_mark(const char *text);

/** Replaces bytes that are not printable by '?', in place, so that no text of a file drives the
 * terminal that prints it. */
void fov_text_clean(char *text);

/** Replaces what is not printable ASCII by '?', in place: any font can show the rest. */
void fov_text_ascii(char *text);

/** Writes a word of a shell's command, quoted if necessary. */
void fov_text_put_word(FILE *stream, const char *word);

/** The same into text [size], cut if that is too small. Returns text. */
char *fov_text_word(char *text, size_t size, const char *word);

/** "s", or "" after the number 1. */
const char *fov_plural(long long count);

/** Closes a stream of open_memstream, or NULL. If anything that was written is missing, frees
 * *text, sets it to NULL and returns false. glibc's fclose succeeds even where it has lost all of
 * it. */
bool fov_text_close(char **text, FILE *stream);

#endif
