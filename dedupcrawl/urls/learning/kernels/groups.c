/* Equal numbers found: by a table of open places, in time linear in the numbers. */

#include "kernels.h"

/* Places of different numbers. `mask` is its size less one, a power of two that is at least twice as many. */
typedef struct {
    const uint64_t *numbers;
    int64_t *places;
    uint64_t mask;
    int shift;
} Table;

static int made(Table *table, const uint64_t *numbers, Py_ssize_t count) {
    int bits = 3;
    while ((Py_ssize_t)1 << bits < 2 * count) bits++;
    table->numbers = numbers;
    table->mask = ((uint64_t)1 << bits) - 1;
    table->shift = 64 - bits;
    table->places = PyMem_Malloc(8 * (size_t)(table->mask + 1));
    if (table->places) memset(table->places, 0xFF, 8 * (size_t)(table->mask + 1)); /* -1: free */
    else PyErr_NoMemory();
    return table->places != NULL;
}

/* Where the place of a number is, or would be. */
static int64_t *place_of(const Table *table, uint64_t number) {
    uint64_t at = number * 0x9E3779B97F4A7C15ull >> table->shift;
    while (table->places[at] >= 0 && table->numbers[table->places[at]] != number) at = (at + 1) & table->mask;
    return table->places + at;
}

/* grouped(numbers) -> (group of each, first of each group): int64 */
PyObject *grouped(PyObject *self, PyObject *args) {
    Py_buffer numbers;
    (void)self;
    if (!PyArg_ParseTuple(args, "y*", &numbers)) return NULL;
    const Py_ssize_t count = numbers.len / 8;
    Table table = {0};
    int64_t *first = PyMem_Malloc(8 * (size_t)count + 8), groups = 0;
    PyObject *result = NULL, *found = PyBytes_FromStringAndSize(NULL, 8 * count);
    if (!first) {
        PyErr_NoMemory();
    } else if (found && made(&table, numbers.buf, count)) {
        int64_t *group = (int64_t *)(void *)PyBytes_AS_STRING(found);
        for (Py_ssize_t i = 0; i < count; i++) {
            int64_t *place = place_of(&table, table.numbers[i]);
            if (*place < 0) {
                *place = i;
                group[i] = groups;
                first[groups++] = i;
            } else {
                group[i] = group[*place];
            }
        }
        result = Py_BuildValue("Oy#", found, (const char *)first, (Py_ssize_t)(8 * groups));
    }
    Py_XDECREF(found);
    PyMem_Free(first);
    PyMem_Free(table.places);
    PyBuffer_Release(&numbers);
    return result;
}

/* places(numbers, wanted) -> the first place of each wanted number among the numbers, -1 if it is not there: int64 */
PyObject *places(PyObject *self, PyObject *args) {
    Py_buffer numbers, wanted;
    (void)self;
    if (!PyArg_ParseTuple(args, "y*y*", &numbers, &wanted)) return NULL;
    const Py_ssize_t count = numbers.len / 8, asked = wanted.len / 8;
    Table table = {0};
    PyObject *result = PyBytes_FromStringAndSize(NULL, 8 * asked);
    if (result && made(&table, numbers.buf, count)) {
        for (Py_ssize_t i = 0; i < count; i++) {
            int64_t *place = place_of(&table, table.numbers[i]);
            if (*place < 0) *place = i;
        }
        int64_t *found = (int64_t *)(void *)PyBytes_AS_STRING(result);
        const uint64_t *number = wanted.buf;
        for (Py_ssize_t i = 0; i < asked; i++) found[i] = *place_of(&table, number[i]);
    } else {
        Py_CLEAR(result);
    }
    PyMem_Free(table.places);
    PyBuffer_Release(&numbers);
    PyBuffer_Release(&wanted);
    return result;
}
