/* What a new sequence says in blocks of its own: content/own_blocks.py. */

#include "tiles.h"

enum { REPEATED = 3 };

/* Places of `kept` by how many tiles cover them; NULL when there is no memory. */
static int32_t *covered_by(const Tile *tiles, Py_ssize_t count, Py_ssize_t kept_count) {
    int32_t *covered = PyMem_Calloc((size_t)kept_count + 1, sizeof(int32_t));
    if (!covered) return NULL;
    for (Py_ssize_t i = 0; i < count; i++) {
        covered[tiles[i].kept_begin]++;
        covered[tiles[i].kept_begin + tiles[i].length]--;
    }
    for (Py_ssize_t place = 1; place < kept_count; place++) covered[place] += covered[place - 1];
    return covered;
}

/* What a block says that does not stand opposite it, where no tile covers that. */
static Py_ssize_t says(Sequence here, Sequence there, const int32_t *covered) {
    static uint8_t known[VALUES]; /* kept all zeros */
    Py_ssize_t different = 0, more = here.count;
    for (Py_ssize_t i = 0; i < there.count; i++)
        if (covered[i] <= 0) {
            known[there.symbols[i]] = 1;
            more--;
        }
    for (Py_ssize_t i = 0; i < here.count; i++) {
        different += !known[here.symbols[i]];
        known[here.symbols[i]] = 1;
    }
    for (Py_ssize_t i = 0; i < there.count; i++) known[there.symbols[i]] = 0;
    for (Py_ssize_t i = 0; i < here.count; i++) known[here.symbols[i]] = 0;
    return different > more / REPEATED ? different : more / REPEATED;
}

/* own_blocks(new, kept) -> what an OwnBlocks is made of, in its order */
PyObject *own_blocks(PyObject *self, PyObject *args) {
    Py_buffer buffer, kept_buffer;
    (void)self;
    if (!PyArg_ParseTuple(args, "y*y*", &buffer, &kept_buffer)) return NULL;
    const Sequence new = {buffer.buf, buffer.len / 2}, kept = {kept_buffer.buf, kept_buffer.len / 2};
    Py_ssize_t largest = 0, inside = 0, before = 0, after = 0;
    PyObject *answer = NULL;
    Tile *found = NULL;
    int32_t *covered = NULL;
    if (new.count > LONGEST || kept.count > LONGEST) {
        PyErr_SetString(PyExc_ValueError, "a sequence is too long");
        goto done;
    }
    const Py_ssize_t count = tiles(new.symbols, new.count, kept.symbols, kept.count, &found);
    if (count >= 0) covered = covered_by(found, count, kept.count);
    if (!covered) {
        PyErr_NoMemory();
        goto done;
    }
    for (Py_ssize_t i = 0; i <= count; i++) {
        const Tile last = i ? found[i - 1] : (Tile){0, 0, 0};
        const Tile next = i < count ? found[i] : (Tile){new.count, kept.count, 0};
        const Py_ssize_t begin = last.begin + last.length, kept_begin = last.kept_begin + last.length;
        if (next.begin - begin < BLOCK) continue;
        const Py_ssize_t span = next.kept_begin > kept_begin ? next.kept_begin - kept_begin : 0;
        const Py_ssize_t own = says((Sequence){new.symbols + begin, next.begin - begin},
                                    (Sequence){kept.symbols + kept_begin, span}, covered + kept_begin);
        if (!i) {
            before = own;
        } else if (i == count) {
            after = own;
        } else {
            inside += own;
            if (own > largest) largest = own;
        }
    }
    answer = Py_BuildValue("nnnn", largest, inside, before, after);
done:
    PyMem_Free(found);
    PyMem_Free(covered);
    PyBuffer_Release(&buffer);
    PyBuffer_Release(&kept_buffer);
    return answer;
}
