/* Markup to blocks of text in one pass: content/outline.py, which says what it does and why. */

#include "tags.h"

enum { LINK, LINK_END, LINE, META, BASE, END, START, PART, TITLE, HIDDEN }; /* content/outline.py */
enum { MAX_TAGS = 100000, MAX_DEPTH = 100 };
enum { MEANT = 256, LONGEST_NAME = 16 }; /* kept of what tags mean; bytes of a tag that means anything */

/* What a tag means; `kind` is negative where it does not change which text stands together. */
typedef struct {
    const char *written;
    Py_ssize_t length;
    long kind;
    PyObject *name, *ends; /* borrowed */
    int is_cell, is_around_cells, is_pre;
} Meaning;

typedef struct {
    PyObject *name; /* borrowed */
    int number, is_cell, is_pre;
} Open;

typedef struct {
    PyObject *meanings, *cells, *around_cells, *text_of; /* borrowed */
    PyObject *title, *blocks, *elements, *anchors, *metas, *base, *link_texts;
    Meaning meant[MEANT];
    Open stack[MAX_DEPTH];
    int depth, link_depth, hidden_depth, in_title, has_text, is_new_link;
    Py_ssize_t link_bytes, links, size;
    char *text; /* of the block at hand: `size` bytes */
} Outline;

static int holds(PyObject *set, PyObject *name) { return PySet_Contains(set, name); }

static int same_name(const char *one, const char *other, Py_ssize_t length) {
    for (Py_ssize_t i = 0; i < length; i++)
        if (lower(one[i]) != lower(other[i])) return 0;
    return 1;
}

/* NULL with an error. */
static const Meaning *meaning_of(Outline *page, const char *name, const char *name_end) {
    const Py_ssize_t length = name_end - name;
    uint32_t hash = 0;
    for (const char *at = name; at < name_end; at++) hash = hash * 31 + (uint8_t)lower(*at);
    Meaning *one = &page->meant[(hash ^ hash >> 8) % MEANT];
    if (one->written && one->length == length && same_name(one->written, name, length)) return one;
    *one = (Meaning){name, length, -1, NULL, NULL, 0, 0, 0};
    char lowered[LONGEST_NAME];
    if (length > LONGEST_NAME) return one;
    for (Py_ssize_t i = 0; i < length; i++) lowered[i] = lower(name[i]);
    PyObject *key = PyBytes_FromStringAndSize(lowered, length), *kind;
    if (!key) return NULL;
    PyObject *meaning = PyDict_GetItemWithError(page->meanings, key);
    Py_DECREF(key);
    if (!meaning && PyErr_Occurred()) return NULL;
    if (meaning && meaning != Py_None) {
        if (!PyArg_ParseTuple(meaning, "OUO!", &kind, &one->name, &PyFrozenSet_Type, &one->ends)) return NULL;
        one->kind = PyLong_AsLong(kind);
        one->is_cell = holds(page->cells, one->name);
        one->is_around_cells = holds(page->around_cells, one->name);
        one->is_pre = !PyUnicode_CompareWithASCIIString(one->name, "pre");
        if (PyErr_Occurred()) return NULL;
    }
    return one;
}

static const struct {
    const char *written, *stands_for;
} REFERENCES[] = {{"&nbsp;", "\xC2\xA0"}, {"&amp;", "&"}, {"&quot;", "\""}, {"&lt;", "<"}, {"&gt;", ">"}, {NULL, NULL}};

/* The commonest character references replaced in place; the new size, or -1 and nothing replaced where there are others. */
static Py_ssize_t replace_references(char *text, Py_ssize_t size) {
    const char *end = text + size;
    for (int is_checked = 0;; is_checked = 1) {
        char *filled = text;
        for (const char *at = text; at < end;) {
            const char *reference = next('&', at, end), *found = NULL;
            if (is_checked) memmove(filled, at, (size_t)(reference - at));
            filled += reference - at;
            if ((at = reference) == end) break;
            int i = 0;
            for (; REFERENCES[i].written; i++) {
                const size_t length = strlen(REFERENCES[i].written);
                if ((size_t)(end - at) >= length && !memcmp(at, REFERENCES[i].written, length)) {
                    found = at + length;
                    break;
                }
            }
            if (!found && at + 1 < end && (is_letter(at[1]) || at[1] == '#')) return -1;
            const char *instead = found ? REFERENCES[i].stands_for : "&";
            const size_t length = strlen(instead);
            if (is_checked) memcpy(filled, instead, length);
            filled += length;
            at = found ? found : at + 1;
        }
        if (is_checked) return filled - text;
    }
}

/* " ".join(text.split()); takes `text` over. */
static PyObject *collapsed(PyObject *text) {
    if (!text) return NULL;
    const int kind = PyUnicode_KIND(text);
    const void *data = PyUnicode_DATA(text);
    const Py_ssize_t length = PyUnicode_GET_LENGTH(text);
    Py_ssize_t count = 0;
    Py_UCS4 highest = 0;
    int is_due = 0; /* a blank, before the next character */
    for (Py_ssize_t i = 0; i < length; i++) {
        const Py_UCS4 point = PyUnicode_READ(kind, data, i);
        if (Py_UNICODE_ISSPACE(point)) {
            is_due = count > 0;
            continue;
        }
        count += 1 + is_due;
        is_due = 0;
        if (point > highest) highest = point;
    }
    PyObject *made = PyUnicode_New(count, highest);
    if (made) {
        const int made_kind = PyUnicode_KIND(made);
        void *made_data = PyUnicode_DATA(made);
        Py_ssize_t filled = 0;
        is_due = 0;
        for (Py_ssize_t i = 0; i < length; i++) {
            const Py_UCS4 point = PyUnicode_READ(kind, data, i);
            if (Py_UNICODE_ISSPACE(point)) {
                is_due = filled > 0;
                continue;
            }
            if (is_due) PyUnicode_WRITE(made_kind, made_data, filled++, ' ');
            PyUnicode_WRITE(made_kind, made_data, filled++, point);
            is_due = 0;
        }
    }
    Py_DECREF(text);
    return made;
}

static int is_blank(PyObject *block) {
    for (Py_ssize_t i = 0; i < PyUnicode_GET_LENGTH(block); i++) {
        const Py_UCS4 point = PyUnicode_READ_CHAR(block, i);
        if (point && point != ' ') return 0;
    }
    return 1;
}

static int end_block(Outline *page) {
    const Open *innermost = &page->stack[page->depth - 1];
    if (page->has_text) {
        const Py_ssize_t size = innermost->is_pre ? -1 : replace_references(page->text, page->size);
        PyObject *block = size < 0
            ? PyObject_CallFunction(page->text_of, "y#i", page->text, page->size, innermost->is_pre)
            : collapsed(PyUnicode_DecodeUTF8(page->text, size, "replace"));
        if (!block) return 0;
        if (page->in_title) {
            Py_SETREF(page->title, block);
        } else {
            if (!page->hidden_depth && !is_blank(block) &&
                !append(page->blocks, Py_BuildValue("Oinn", block, innermost->number, page->link_bytes, page->links))) {
                Py_DECREF(block);
                return 0;
            }
            Py_DECREF(block);
        }
        page->size = page->link_bytes = page->links = page->has_text = 0;
    }
    page->in_title = 0;
    return 1;
}

static void push(Outline *page, const Meaning *meaning, int number) {
    page->stack[page->depth++] = (Open){meaning->name, number, meaning->is_cell, meaning->is_pre};
}

static void end_element(Outline *page, const Meaning *meaning) {
    for (int depth = page->depth - 1; depth > 0; depth--) {
        if (page->stack[depth].name == meaning->name) {
            page->depth = depth;
            break;
        }
        if (page->stack[depth].is_cell && !meaning->is_around_cells) break;
    }
    if (page->depth < page->link_depth) page->link_depth = 0;
    if (page->depth < page->hidden_depth) page->hidden_depth = 0;
}

static int start_element(Outline *page, const Meaning *meaning, const Tag *tag) {
    while (page->depth > 1 && holds(meaning->ends, page->stack[page->depth - 1].name))
        if (--page->depth < page->link_depth) page->link_depth = 0;
    if (page->depth == MAX_DEPTH) return 1;
    int number = page->stack[page->depth - 1].number;
    const Py_ssize_t length = tag->attributes_end - tag->attributes;
    if (length || meaning->kind == START) {
        if (!append(page->elements, Py_BuildValue("iOy#", number, meaning->name, tag->attributes, length))) return 0;
        number = (int)PyList_GET_SIZE(page->elements) - 1;
    }
    push(page, meaning, number);
    return 1;
}

static int has_href(const char *at, const char *end) {
    for (; end - at >= 4; at++)
        if ((*at == 'h' && !memcmp(at, "href", 4)) || (*at == 'H' && !memcmp(at, "HREF", 4))) return 1;
    return 0;
}

static int start_link(Outline *page, const Tag *tag) {
    page->link_depth = 0;
    if (!has_href(tag->attributes, tag->attributes_end)) return 1;
    page->link_depth = page->depth;
    page->is_new_link = 1;
    Py_CLEAR(page->link_texts);
    if (page->hidden_depth) return 1;
    page->link_texts = PyList_New(0);
    return page->link_texts &&
           append(page->anchors, Py_BuildValue("y#On", tag->attributes, tag->attributes_end - tag->attributes,
                                               page->link_texts, PyList_GET_SIZE(page->blocks)));
}

static int add_tag(Outline *page, const Meaning *meaning, const Tag *tag) {
    const Py_ssize_t length = tag->attributes_end - tag->attributes;
    if (meaning->kind >= END && !end_block(page)) return 0;
    switch (meaning->kind) {
        case END: end_element(page, meaning); return 1;
        case START:
        case PART: return start_element(page, meaning, tag);
        case TITLE: page->in_title = !PyUnicode_GET_LENGTH(page->title); return 1;
        case HIDDEN:
            if (page->depth < MAX_DEPTH) {
                push(page, meaning, page->stack[page->depth - 1].number);
                if (!page->hidden_depth) page->hidden_depth = page->depth;
            }
            return 1;
        case LINK: return start_link(page, tag);
        case LINK_END: page->link_depth = 0; return 1;
        case LINE:
            page->text[page->size++] = '\0';
            page->has_text = 1;
            return 1;
        case BASE:
            if (PyBytes_GET_SIZE(page->base) || !length) return 1;
            Py_SETREF(page->base, PyBytes_FromStringAndSize(tag->attributes, length));
            return page->base != NULL;
        case META: return !length || append(page->metas, PyBytes_FromStringAndSize(tag->attributes, length));
        default: return 1;
    }
}

static int add_text(Outline *page, const char *begin, const char *end) {
    const char *first = begin, *last = end;
    while (first < last && is_space(*first)) first++;
    if (begin == end || (first == end && !page->has_text)) return 1;
    memcpy(page->text + page->size, begin, (size_t)(end - begin));
    page->size += end - begin;
    page->has_text = 1;
    if (!page->link_depth) return 1;
    while (last > first && is_space(last[-1])) last--;
    page->link_bytes += last - first;
    if (last > first) { /* an image's link is none of the text that follows it */
        page->links += page->is_new_link;
        page->is_new_link = 0;
    }
    return !page->link_texts || append(page->link_texts, PyBytes_FromStringAndSize(begin, end - begin));
}

/* Whether the page is whole; -1 with an error. */
static int read_page(Outline *page, const char *at, const char *end) {
    static const char LAST[] = "/html"; /* ends the last block */
    const Tag last = {LAST, LAST + 5, LAST, LAST};
    const Meaning *meaning;
    const char *text = at, *tag_end;
    int tags = 0;
    Tag tag;
    for (at = next('<', at, end); at < end; at = next('<', at, end)) {
        if (tags == MAX_TAGS) break; /* what follows is markup that is not looked at */
        if (!(tag_end = read_tag(at, end, &tag))) {
            at++;
            continue;
        }
        if (!tags++ && text == at) page->has_text = 1; /* as the reference has it: the page begins with a text, if empty */
        if (!add_text(page, text, at)) return -1;
        text = at = tag_end;
        if (!tag.name) continue;
        if (!(meaning = meaning_of(page, tag.name, tag.name_end)) || !add_tag(page, meaning, &tag)) return -1;
    }
    if (!add_text(page, text, at) || !(meaning = meaning_of(page, last.name, last.name_end)) ||
        !add_tag(page, meaning, &last))
        return -1;
    return at == end;
}

/* outline(markup, meanings, cells, around_cells, text_of) -> the fields of an Outline */
PyObject *outline(PyObject *Py_UNUSED(self), PyObject *args) {
    Py_buffer markup;
    PyObject *answer = NULL;
    Outline *page = PyMem_Calloc(1, sizeof *page);
    if (!page) return PyErr_NoMemory();
    if (!PyArg_ParseTuple(args, "y*O!O!O!O", &markup, &PyDict_Type, &page->meanings, &PyFrozenSet_Type, &page->cells,
                          &PyFrozenSet_Type, &page->around_cells, &page->text_of)) {
        PyMem_Free(page);
        return NULL;
    }
    page->text = PyMem_Malloc((size_t)markup.len + 1); /* a line's break is shorter than its tag */
    page->title = PyUnicode_New(0, 0);
    page->base = PyBytes_FromStringAndSize(NULL, 0);
    page->blocks = PyList_New(0);
    page->elements = PyList_New(0);
    page->anchors = PyList_New(0);
    page->metas = PyList_New(0);
    page->depth = 1; /* the page itself */
    if (!page->text) {
        PyErr_NoMemory();
    } else if (page->title && page->base && page->blocks && page->elements && page->anchors && page->metas &&
               append(page->elements, Py_BuildValue("iOy#", 0, page->title, "", (Py_ssize_t)0))) {
        const int is_whole = read_page(page, markup.buf, (const char *)markup.buf + markup.len);
        if (is_whole >= 0)
            answer = Py_BuildValue("OOOOOOO", page->title, page->blocks, page->elements, page->anchors, page->metas,
                                   page->base, is_whole ? Py_True : Py_False);
    }
    Py_XDECREF(page->title);
    Py_XDECREF(page->base);
    Py_XDECREF(page->blocks);
    Py_XDECREF(page->elements);
    Py_XDECREF(page->anchors);
    Py_XDECREF(page->metas);
    Py_XDECREF(page->link_texts);
    PyMem_Free(page->text);
    PyBuffer_Release(&markup);
    PyMem_Free(page);
    return answer;
}
