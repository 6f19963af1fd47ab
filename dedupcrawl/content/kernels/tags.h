/* Tags in markup, and the characters that they are made of. */

#ifndef DEDUPCRAWL_TAGS_H
#define DEDUPCRAWL_TAGS_H

#include "kernels.h"

typedef struct {
    const char *name, *name_end; /* with its slash; NULL for what is left out */
    const char *attributes, *attributes_end;
} Tag;

/* The end of the tag that begins at `at`, a "<"; NULL where none does. */
const char *read_tag(const char *at, const char *end, Tag *tag);

static inline int is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

static inline char lower(char c) { return c >= 'A' && c <= 'Z' ? (char)(c | 0x20) : c; }

static inline int is_letter(char c) { return lower(c) >= 'a' && lower(c) <= 'z'; }

static inline const char *next(char c, const char *at, const char *end) {
    const char *found = at < end ? memchr(at, c, (size_t)(end - at)) : NULL;
    return found ? found : end;
}

#endif
