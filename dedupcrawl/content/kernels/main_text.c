/* Which blocks of a page are its main text: content/main_text.py, which says what each number below is and why. The sums
 * are made in the same order, so that they are equal to the last bit. */

#include "kernels.h"

enum { NEUTRAL, BOILERPLATE, CONTENT }; /* what an element holds */
enum { LONGEST_HINT = 500, LONGEST_TITLE = 1000, TITLE_LENGTH = 10, LONG_LINK = 24, LITTLE = 100, ENOUGH = 500 };
static const double BLOCK_COST = 25, LINKED = 0.5, BOILERPLATE_LIMIT = 0.7, SECOND_SHARE = 0.3, PRUNED = -50,
                    SOME_LINKED = 0.25, ARTICLE_SHARE = 0.3, TRACE = 1e-6,
                    REPLIES_SHARE = 0.8;

typedef struct {
    PyObject *text; /* borrowed */
    Py_ssize_t element, links;
    int64_t size;
    double linked, value;
} Block;

typedef struct {
    PyObject *name, *attributes; /* borrowed */
    Py_ssize_t parent;
    double running, worth, unlinked;
    Py_ssize_t lines, texts, headlines, row, latest_row, row_size, replies; /* a row is named by its first element */
    int role, is_around, is_inside;
    enum { IN_NO_ROW, IN_THREAD, IN_OTHER_ROW } place;
} Element;

typedef struct {
    PyObject *title, *hints, *element_hints; /* borrowed */
    Block *blocks;
    Element *elements;
    Py_ssize_t block_count, element_count;
} Parts;

static int64_t byte_length(PyObject *text) {
    const Py_ssize_t length = PyUnicode_GET_LENGTH(text);
    if (PyUnicode_IS_ASCII(text)) return length;
    const int kind = PyUnicode_KIND(text);
    const void *data = PyUnicode_DATA(text);
    int64_t bytes = length;
    for (Py_ssize_t i = 0; i < length; i++) {
        const Py_UCS4 point = PyUnicode_READ(kind, data, i);
        bytes += (point >= 0x80) + (point >= 0x800) + (point >= 0x10000);
    }
    return bytes;
}

static int read_block(PyObject *given, Py_ssize_t elements, Block *block) {
    if (!PyTuple_Check(given) || PyTuple_GET_SIZE(given) != 4 || !PyUnicode_Check(PyTuple_GET_ITEM(given, 0))) return 0;
    block->text = PyTuple_GET_ITEM(given, 0);
    block->element = PyLong_AsSsize_t(PyTuple_GET_ITEM(given, 1));
    block->links = PyLong_AsSsize_t(PyTuple_GET_ITEM(given, 3));
    block->size = byte_length(block->text);
    const double in_links = PyLong_AsDouble(PyTuple_GET_ITEM(given, 2)), share = in_links / (double)block->size;
    block->linked = in_links == 0 ? 0 : share < 1 ? share : 1;
    block->value = (double)block->size * (1.0 - 2.0 * block->linked) - BLOCK_COST;
    return !PyErr_Occurred() && block->element >= 0 && block->element < elements;
}

static int read_element(PyObject *given, Py_ssize_t number, Element *element) {
    if (!PyTuple_Check(given) || PyTuple_GET_SIZE(given) != 3 || !PyUnicode_Check(PyTuple_GET_ITEM(given, 1)) ||
        !PyBytes_Check(PyTuple_GET_ITEM(given, 2)))
        return 0;
    element->parent = PyLong_AsSsize_t(PyTuple_GET_ITEM(given, 0));
    element->name = PyTuple_GET_ITEM(given, 1);
    element->attributes = PyTuple_GET_ITEM(given, 2);
    return !PyErr_Occurred() && element->parent >= 0 && element->parent < number + !number;
}

/* By the element itself; -1 with an error. */
static int hint_of(const Parts *page, const Element *element) {
    PyObject *hint = PyDict_GetItemWithError(page->element_hints, element->name);
    if (hint) return (int)PyLong_AsLong(hint);
    if (PyErr_Occurred()) return -1;
    PyObject *attributes = element->attributes;
    if (PyBytes_GET_SIZE(attributes) > LONGEST_HINT) {
        attributes = PyBytes_FromStringAndSize(PyBytes_AS_STRING(attributes), LONGEST_HINT);
        if (!attributes) return -1;
    } else {
        Py_INCREF(attributes);
    }
    hint = PyObject_GetItem(page->hints, attributes);
    Py_DECREF(attributes);
    const int found = hint ? (int)PyLong_AsLong(hint) : -1;
    Py_XDECREF(hint);
    return found;
}

static int find_roles(Parts *page) {
    Element *elements = page->elements;
    for (Py_ssize_t i = 0; i < page->block_count; i++) {
        const Block *block = &page->blocks[i];
        elements[block->element].running += block->value > 0 ? block->value : TRACE;
    }
    for (Py_ssize_t i = page->element_count - 1; i > 0; i--) elements[elements[i].parent].running += elements[i].running;
    const double limit = BOILERPLATE_LIMIT * elements[0].running;
    for (Py_ssize_t i = 0; i < page->element_count; i++) {
        Element *element = &elements[i];
        element->role = elements[element->parent].role;
        if (element->running == 0 || element->role == BOILERPLATE) continue;
        const int hint = hint_of(page, element);
        if (hint < 0) return 0;
        if (hint && (hint == CONTENT || element->running <= limit)) element->role = hint;
    }
    return 1;
}

/* Whether two attributes are the same but for their numbers, as far as they are looked at. */
static int are_alike(PyObject *one, PyObject *other) {
    const char *a = PyBytes_AS_STRING(one), *b = PyBytes_AS_STRING(other);
    const Py_ssize_t count = Py_MIN(PyBytes_GET_SIZE(one), LONGEST_HINT), most = Py_MIN(PyBytes_GET_SIZE(other), LONGEST_HINT);
    Py_ssize_t i = 0, j = 0;
    while (i < count && j < most) {
        const int is_digit = Py_ISDIGIT(a[i]), is_other = Py_ISDIGIT(b[j]);
        if (is_digit != is_other || (!is_digit && a[i] != b[j])) return 0;
        i++, j++;
        if (is_digit) {
            while (i < count && Py_ISDIGIT(a[i])) i++;
            while (j < most && Py_ISDIGIT(b[j])) j++;
        }
    }
    return i == count && j == most;
}

/* Whether an element was made by the same template as the best one or one around it. */
static int has_sibling(const Parts *page, const Element *element, Py_ssize_t best) {
    if (!PyBytes_GET_SIZE(element->attributes)) return 0;
    for (Py_ssize_t i = best; i; i = page->elements[i].parent) {
        const Element *other = &page->elements[i];
        if (other->parent == element->parent && PyBytes_GET_SIZE(other->attributes) &&
            !PyUnicode_Compare(other->name, element->name) && are_alike(other->attributes, element->attributes))
            return 1;
    }
    return 0;
}

static int is_headline(const Block *block) {
    return block->linked >= LINKED &&
           (double)block->size * block->linked >= (double)LONG_LINK * (double)Py_MAX(1, block->links);
}

static int has_digit(PyObject *text) {
    for (Py_ssize_t i = 0; i < PyUnicode_GET_LENGTH(text); i++)
        if (PyUnicode_READ_CHAR(text, i) < 0x80 && Py_ISDIGIT(PyUnicode_READ_CHAR(text, i))) return 1;
    return 0;
}

static void find_threads(Parts *page, Py_ssize_t best) {
    Element *elements = page->elements;
    for (Py_ssize_t i = 0; i < page->block_count; i++) {
        const Block *block = &page->blocks[i];
        Element *element = &elements[block->element];
        element->lines++;
        element->texts += block->linked < LINKED;
        element->headlines += is_headline(block) && !has_digit(block->text);
    }
    for (Py_ssize_t i = page->element_count - 1; i > 0; i--) {
        Element *element = &elements[i], *parent = &elements[element->parent];
        parent->lines += element->lines, parent->texts += element->texts, parent->headlines += element->headlines;
    }
    for (Py_ssize_t i = best + 1; i < page->element_count; i++) {
        Element *element = &elements[i], *parent = &elements[element->parent];
        if (!element->lines || element->role == BOILERPLATE) continue;
        if (!parent->latest_row || !PyBytes_GET_SIZE(element->attributes) ||
            PyUnicode_Compare(elements[parent->latest_row].name, element->name))
            parent->latest_row = i;
        Element *row = &elements[element->row = parent->latest_row];
        row->row_size++;
        row->replies += element->lines > 1 && element->texts && !element->headlines;
    }
    for (Py_ssize_t i = 0; i < page->element_count; i++) {
        Element *element = &elements[i];
        const Element *row = &elements[element->row];
        element->place = elements[element->parent].place;
        if (element->place == IN_NO_ROW && row->row_size > 1)
            element->place = (double)row->replies >= REPLIES_SHARE * (double)row->row_size ? IN_THREAD : IN_OTHER_ROW;
    }
}

static void find_article(Parts *page) {
    Element *elements = page->elements;
    for (Py_ssize_t i = 0; i < page->block_count; i++) {
        const Block *block = &page->blocks[i];
        Element *element = &elements[block->element];
        if (element->role == BOILERPLATE)
            element->worth -= block->value < 0 ? -block->value : block->value;
        else if (element->role == NEUTRAL || block->value > 0 || block->linked >= LINKED)
            element->worth += block->value;
        element->unlinked += (double)block->size * (1 - block->linked / SOME_LINKED);
    }
    Py_ssize_t best = 0;
    for (Py_ssize_t i = page->element_count - 1; i > 0; i--) {
        elements[elements[i].parent].worth += elements[i].worth;
        elements[elements[i].parent].unlinked += elements[i].unlinked;
    }
    for (Py_ssize_t i = 1; i < page->element_count; i++)
        if (elements[i].worth >= elements[best].worth) best = i;
    if (elements[best].worth <= 0) return;
    elements[0].is_around = 1;
    for (Py_ssize_t i = best; i; i = elements[i].parent) elements[elements[i].parent].is_around = 1;
    find_threads(page, best);
    for (Py_ssize_t i = 0; i < page->element_count; i++) {
        Element *element = &elements[i];
        if (element->place == IN_THREAD)
            element->is_inside = 1;
        else if (i == best || (i && elements[element->parent].is_inside))
            element->is_inside = element->worth >= PRUNED || element->unlinked > 0;
        else if (!element->is_around && element->role != BOILERPLATE)
            element->is_inside = element->worth > SECOND_SHARE * elements[best].worth || has_sibling(page, element, best);
    }
}

static int is_of_article(const Parts *page, const Block *block) {
    const Element *element = &page->elements[block->element];
    return element->is_inside && element->role != BOILERPLATE && block->linked < LINKED &&
           PyUnicode_CompareWithASCIIString(element->name, "h1") &&
           !(PyUnicode_GET_LENGTH(block->text) > TITLE_LENGTH && PyUnicode_Contains(page->title, block->text) == 1);
}

static int is_no_menu(const Parts *page, const Block *block) {
    return page->elements[block->element].role != BOILERPLATE &&
           (block->linked < LINKED || is_headline(block));
}

static int is_no_boilerplate(const Parts *page, const Block *block) {
    return page->elements[block->element].role != BOILERPLATE;
}

static int is_any(const Parts *page, const Block *block) {
    (void)page;
    (void)block;
    return 1;
}

typedef int (*Choice)(const Parts *, const Block *);

static int64_t bytes_of(const Parts *page, Choice is_chosen) {
    int64_t bytes = 0;
    for (Py_ssize_t i = 0; i < page->block_count; i++)
        if (is_chosen(page, &page->blocks[i])) bytes += page->blocks[i].size;
    return bytes;
}

static Choice chosen(Parts *page) {
    if (bytes_of(page, is_any) >= ENOUGH) {
        const int64_t size = bytes_of(page, is_no_menu);
        const double share = ARTICLE_SHARE * (double)size;
        find_article(page);
        if ((double)bytes_of(page, is_of_article) >= (share > ENOUGH ? share : ENOUGH)) return is_of_article;
        if (size >= ENOUGH) return is_no_menu;
    }
    return bytes_of(page, is_no_boilerplate) >= LITTLE ? is_no_boilerplate : is_any;
}

static PyObject *positions(const Parts *page, Choice is_chosen) {
    PyObject *made = PyList_New(0);
    for (Py_ssize_t i = 0; made && i < page->block_count; i++)
        if (is_chosen(page, &page->blocks[i]) && !append(made, PyLong_FromSsize_t(i))) Py_CLEAR(made);
    return made;
}

static int read_parts(Parts *page, PyObject *blocks, PyObject *elements) {
    for (Py_ssize_t i = 0; i < page->element_count; i++)
        if (!read_element(PyList_GET_ITEM(elements, i), i, &page->elements[i])) return 0;
    for (Py_ssize_t i = 0; i < page->block_count; i++)
        if (!read_block(PyList_GET_ITEM(blocks, i), page->element_count, &page->blocks[i])) return 0;
    return page->element_count > 0;
}

/* main_blocks(title, blocks, elements, hints, element_hints) -> positions */
PyObject *main_blocks(PyObject *Py_UNUSED(self), PyObject *args) {
    PyObject *title, *blocks, *elements, *answer = NULL;
    Parts page = {0};
    if (!PyArg_ParseTuple(args, "UO!O!O!O!", &title, &PyList_Type, &blocks, &PyList_Type, &elements, &PyDict_Type,
                          &page.hints, &PyDict_Type, &page.element_hints))
        return NULL;
    page.block_count = PyList_GET_SIZE(blocks);
    page.element_count = PyList_GET_SIZE(elements);
    page.title = PyUnicode_Substring(title, 0, LONGEST_TITLE);
    page.blocks = PyMem_Calloc((size_t)page.block_count + 1, sizeof *page.blocks);
    page.elements = PyMem_Calloc((size_t)page.element_count + 1, sizeof *page.elements);
    if (!page.title || !page.blocks || !page.elements) {
        if (!PyErr_Occurred()) PyErr_NoMemory();
    } else if (!read_parts(&page, blocks, elements)) {
        if (!PyErr_Occurred()) PyErr_SetString(PyExc_ValueError, "blocks or elements are not those of an outline");
    } else if (find_roles(&page)) {
        answer = positions(&page, chosen(&page));
        if (PyErr_Occurred()) Py_CLEAR(answer);
    }
    Py_XDECREF(page.title);
    PyMem_Free(page.blocks);
    PyMem_Free(page.elements);
    return answer;
}
