/* The expression TAG of content/outline.py: where a tag ends, and what it is made of. */

#include "tags.h"

enum { MAX_VALUES = 2000, MAX_PIECES = 300000 }; /* of a tag, and of what is left out: the bounds of TAG's repeats */

static int is_in_name(char c) { return is_letter(c) || (c >= '0' && c <= ':') || c == '-'; }

static int is_in_word(char c) { return is_letter(c) || (c >= '0' && c <= '9') || c == '_'; }

/* The end of `name`, in lower case, where it stands at `at`; else NULL. */
static const char *after(const char *name, const char *at, const char *end) {
    for (; *name; name++, at++)
        if (at >= end || lower(*at) != *name) return NULL;
    return at;
}

/* Elements that are left out, those that a block ends too first; and these blocks. */
static const char *const UNREAD[] = {"svg", "select", "script", "style", "noscript", "textarea", "iframe", NULL};
enum { UNREAD_TO_BLOCK = 2 };
static const char *const BLOCKS[] = {"div", "p", "table", "td", "tr", "ul", "li", "h1", "h2", "h3", "h4", "h5", "h6", NULL};

static int ends_unread(int element, const char *at, const char *end) {
    if (element >= UNREAD_TO_BLOCK) return at < end && *at == '/' && after(UNREAD[element], at + 1, end);
    if (at < end && *at == '/') at++;
    if (after(UNREAD[element], at, end)) return 1;
    for (int i = 0; BLOCKS[i]; i++) {
        const char *stop = after(BLOCKS[i], at, end);
        if (stop && (stop == end || !is_in_word(*stop))) return 1;
    }
    return 0;
}

/* The end of an element that is left out, whose name stands at `at`; NULL where none does. */
static const char *after_unread(const char *at, const char *end) {
    const char *found = NULL;
    int element = 0;
    for (; UNREAD[element] && !(found = after(UNREAD[element], at, end)); element++);
    if (!found || found == end || !(is_space(*found) || *found == '/' || *found == '>')) return NULL;
    const char *tag_end = next('>', found, end);
    if (tag_end == end) return NULL;
    at = next('<', tag_end + 1, end);
    for (int pieces = 0; at < end && pieces < MAX_PIECES && !ends_unread(element, at + 1, end); pieces++)
        at = next('<', at + 1, end);
    if (at < end && at + 1 < end && at[1] == '/' && (found = after(UNREAD[element], at + 2, end)) &&
        (tag_end = next('>', found, end)) < end)
        return tag_end + 1;
    return at;
}

static const char *after_comment(const char *at, const char *end) {
    if (at < end && *at == '>') return at + 1;
    if (end - at > 1 && at[0] == '-' && at[1] == '>') return at + 2;
    at = next('-', at, end);
    for (int pieces = 0; at < end; pieces++) {
        if (end - at > 2 && at[1] == '-' && at[2] == '>') return at + 3;
        if (end - at > 3 && at[1] == '-' && at[2] == '!' && at[3] == '>') return at + 4;
        if (pieces == MAX_PIECES) break;
        at = next('-', at + 1, end);
    }
    return at;
}

/* The end of a value that stands in quotes at `at` or behind white space; `at` where none does. */
static const char *after_quoted(const char *at, const char *end) {
    const char *quote = at;
    while (quote < end && is_space(*quote)) quote++;
    if (quote == end || (*quote != '"' && *quote != '\'')) return at;
    const char *other = next(*quote, quote + 1, end);
    return other < end ? other + 1 : at;
}

const char *read_tag(const char *at, const char *end, Tag *tag) {
    const char *found;
    tag->name = tag->name_end = tag->attributes = tag->attributes_end = NULL;
    if (++at == end) return NULL;
    if (is_letter(*at) && (found = after_unread(at, end))) return found;
    const char *letter = at + (*at == '/');
    if (letter == end || !is_letter(*letter)) {
        if (*at != '!' && *at != '?' && *at != '/') return NULL;
        if (end - at > 2 && !memcmp(at, "!--", 3)) return after_comment(at + 3, end);
        at = next('>', at, end);
        return at + (at < end);
    }
    tag->name = at;
    for (at = letter; at < end && is_in_name(*at); at++);
    tag->name_end = tag->attributes = at;
    for (int values = 0;; values++) {
        while (at < end && *at != '>' && *at != '=') at++;
        if (at == end || *at == '>' || values == MAX_VALUES) break;
        at = after_quoted(at + 1, end);
    }
    at = next('>', at, end);
    tag->attributes_end = at;
    return at + (at < end);
}
