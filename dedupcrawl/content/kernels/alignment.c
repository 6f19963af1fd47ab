/* What two sequences of symbols have in common and where they differ: `differences` of content/alignment.py, once it is
 * known that neither stands in the other in one piece. The functions here are named and work as theirs do. */

#include "tiles.h"

enum { GAP_LIMIT = 512, EFFORT = 4, SLOT = 3, CLEAR = 4 };

typedef struct {
    Py_ssize_t common, kept_common, replaced, rewritten, inserted, added, added_at_ends, numbers_same, skips, moves;
    PyObject *numbers_changed, *pieces; /* lists */
} Differences;

typedef struct {
    Py_ssize_t begin, size, kept_begin, span, room;
} Gap;

static Py_ssize_t larger(Py_ssize_t one, Py_ssize_t other) { return one > other ? one : other; }
static Py_ssize_t smaller(Py_ssize_t one, Py_ssize_t other) { return one < other ? one : other; }

static int append(PyObject *list, PyObject *value) {
    const int done = value && !PyList_Append(list, value);
    Py_XDECREF(value);
    return done;
}

static int add_piece(Differences *result, Py_ssize_t begin, Py_ssize_t end, Py_ssize_t kept_begin,
                     Py_ssize_t kept_end) {
    return append(result->pieces, Py_BuildValue("nnnn", begin, end, kept_begin, kept_end));
}

static int add_number(Differences *result, Py_ssize_t place) {
    return append(result->numbers_changed, PyLong_FromSsize_t(place));
}

/* -1 when there is no memory, with the exception set */
static Py_ssize_t common_of(const uint16_t *here, Py_ssize_t n, const uint16_t *there, Py_ssize_t m) {
    const Py_ssize_t length = common_subsequence(here, n, there, m);
    if (length < 0) PyErr_NoMemory();
    return length;
}

static Py_ssize_t common_of_gap(const uint16_t *here, Py_ssize_t n, const uint16_t *there, Py_ssize_t m) {
    return larger(n, m) <= GAP_LIMIT ? common_of(here, n, there, m) : 0;
}

static Py_ssize_t numbers_of(const uint16_t *symbols, Py_ssize_t count) {
    Py_ssize_t numbers = 0;
    for (Py_ssize_t i = 0; i < count; i++) numbers += symbols[i] & 1;
    return numbers;
}

/* Numbers that another number replaced, in a gap; first those that the other side has nowhere. */
static int compare_numbers(const uint16_t *here, Py_ssize_t n, const uint16_t *there, Py_ssize_t m, Py_ssize_t begin,
                           Differences *result) {
    static uint8_t known[1 << 16]; /* kept all zeros */
    uint16_t *numbers = PyMem_Malloc(2 * (size_t)(n + m) + 1), *others = numbers + n;
    if (!numbers) return PyErr_NoMemory(), 0;
    Py_ssize_t count = 0, other_count = 0;
    for (Py_ssize_t i = 0; i < n; i++)
        if (here[i] & 1) numbers[count++] = here[i];
    for (Py_ssize_t i = 0; i < m; i++)
        if (there[i] & 1) others[other_count++] = there[i];
    int done = 1;
    if (count) {
        const Py_ssize_t common = other_count ? common_of(numbers, count, others, other_count) : 0;
        const Py_ssize_t changed = smaller(count, other_count) - common;
        done = common >= 0;
        for (Py_ssize_t i = 0; i < other_count; i++) known[others[i]] = 1;
        Py_ssize_t named = 0;
        for (uint8_t is_known = 0; is_known < 2; is_known++)
            for (Py_ssize_t i = 0; done && i < n && named < changed; i++)
                if (here[i] & 1 && known[here[i]] == is_known) {
                    done = add_number(result, begin + i);
                    named++;
                }
        for (Py_ssize_t i = 0; i < other_count; i++) known[others[i]] = 0;
        result->numbers_same -= count - common;
    }
    PyMem_Free(numbers);
    return done;
}

/* A piece of a gap; of its other side, what stands there without a break. */
static int add_piece_of_gap(Differences *result, Py_ssize_t begin, const Piece *piece, const int32_t *places,
                            Py_ssize_t count) {
    Py_ssize_t last = piece->kept_begin;
    const Py_ssize_t there = last < count ? places[last] : places[count - 1] + 1;
    if (last == piece->kept_end) return add_piece(result, begin + piece->begin, begin + piece->end, there, there);
    while (last + 1 < piece->kept_end && places[last + 1] == places[last] + 1) last++;
    return add_piece(result, begin + piece->begin, begin + piece->end, there, places[last] + 1);
}

/* `places` of what is `there`: not in one piece where a block has moved; what only one side has may belong to that. */
static int compare_uneven(const uint16_t *here, Py_ssize_t n, const uint16_t *there, Py_ssize_t m, Py_ssize_t begin,
                          const int32_t *places, int at_end, Differences *result) {
    Py_ssize_t common;
    if (m && larger(n, m) <= SMALL) {
        Piece pieces[SMALL + 1];
        const int count = differing(here, (int)n, there, (int)m, pieces);
        const int moved = places[m - 1] - places[0] >= m;
        common = n;
        for (int i = 0; i < count; i++) {
            const Piece *piece = &pieces[i];
            common -= piece->end - piece->begin;
            if (moved && (piece->begin == piece->end || piece->kept_begin == piece->kept_end)) continue;
            if (!add_piece_of_gap(result, begin, piece, places, m)) return 0;
        }
    } else {
        common = common_of_gap(here, n, there, m);
        if (common < 0) return 0;
    }
    result->common += common;
    result->kept_common += common;
    const Py_ssize_t replaced = smaller(n, m) - common, added = n - m;
    result->replaced = larger(result->replaced, replaced);
    Py_ssize_t inserted = 0;
    if (at_end) {
        result->added_at_ends = larger(result->added_at_ends, added);
    } else {
        result->added = larger(result->added, added);
        inserted = larger(0, added);
    }
    if (replaced + inserted >= BLOCK) {
        result->rewritten += replaced;
        result->inserted += inserted;
    }
    return compare_numbers(here, n, there, m, begin, result);
}

/* A gap inside of which one side is empty. */
static int compare_one_sided(const Gap *gap, Differences *result) {
    if (!gap->room) {
        result->added = larger(result->added, gap->size);
        if (gap->size >= BLOCK) result->inserted += gap->size;
    }
    result->moves += gap->span < 0;
    result->skips += gap->room - gap->size >= BLOCK;
    const Py_ssize_t longer = larger(gap->size, gap->span);
    if (smaller(gap->size, gap->span) == 0 && longer > 0 && longer <= SMALL && gap->room == gap->span)
        return add_piece(result, gap->begin, gap->begin + gap->size, gap->kept_begin, gap->kept_begin + gap->span);
    return 1;
}

static int is_level(const Gap *gap) { return gap->room > 0 && gap->size == gap->span && gap->room == gap->span; }

/* A level gap of which the sides are shifted: 1 when it was compared, 0 when it is none, -1 on failure. */
static int compare_shifted(const uint16_t *new, const uint16_t *kept, const Gap *gap, int32_t *places,
                           Differences *result) {
    const uint16_t *here = new + gap->begin, *there = kept + gap->kept_begin;
    Py_ssize_t differ = 0;
    for (Py_ssize_t i = 0; i < gap->size; i++) differ += here[i] != there[i];
    if (gap->size < CLEAR || 2 * differ <= gap->size) return 0;
    const Py_ssize_t common = common_of_gap(here, gap->size, there, gap->size);
    if (common < 0) return -1;
    if (common <= gap->size - differ) return 0;
    for (Py_ssize_t i = 0; i < gap->size; i++) places[i] = (int32_t)(gap->kept_begin + i);
    return compare_uneven(here, gap->size, there, gap->size, gap->begin, places, 0, result) ? 1 : -1;
}

/* The i-th symbol here stands opposite the i-th there. */
static int compare_level(const uint16_t *new, const uint16_t *kept, const Gap *gap, Differences *result) {
    const uint16_t *here = new + gap->begin, *there = kept + gap->kept_begin;
    for (Py_ssize_t i = 0; i < gap->size;) {
        const Py_ssize_t first = i;
        if (here[i] == there[i]) {
            result->common++;
            result->kept_common++;
            i++;
            continue;
        }
        for (; i < gap->size && here[i] != there[i]; i++) {
            result->numbers_same -= here[i] & 1;
            if (here[i] & there[i] & 1 && !add_number(result, gap->begin + i)) return 0;
        }
        result->replaced = larger(result->replaced, i - first);
        if (i - first >= BLOCK) result->rewritten += i - first;
        if (i - first <= SMALL &&
            !add_piece(result, gap->begin + first, gap->begin + i, gap->kept_begin + first, gap->kept_begin + i))
            return 0;
    }
    return 1;
}

static int is_free(const int32_t *covered, Py_ssize_t place) { return covered[place] <= 0; }

/* Compare all gaps; `covered` says how many tiles cover a place of `kept`, and is NULL where no blocks have moved. */
static int compare_gaps(const uint16_t *new, const uint16_t *kept, Py_ssize_t kept_count, const Gap *gaps,
                        Py_ssize_t count, const int32_t *covered, Differences *result) {
    for (Py_ssize_t i = 0; i < count; i += larger(1, count - 1))
        if (!gaps[i].room) result->added_at_ends = larger(result->added_at_ends, gaps[i].size);
    for (Py_ssize_t i = 1; i + 1 < count; i++)
        if (!compare_one_sided(&gaps[i], result)) return 0;
    uint8_t *shifted = PyMem_Calloc((size_t)count, 1);
    uint16_t *others = PyMem_Malloc(2 * (size_t)kept_count + 1); /* what is opposite a gap, … */
    int32_t *places = PyMem_Malloc(4 * (size_t)kept_count + 1);  /* … and where */
    int done = shifted && others && places;
    if (!done) PyErr_NoMemory();
    for (Py_ssize_t i = 0; done && i < count; i++)
        if (is_level(&gaps[i])) {
            const int compared = compare_shifted(new, kept, &gaps[i], places, result);
            done = compared >= 0;
            shifted[i] = compared > 0;
        }
    for (Py_ssize_t i = 0; done && i < count; i++)
        if (is_level(&gaps[i]) && !shifted[i]) done = compare_level(new, kept, &gaps[i], result);
    Py_ssize_t effort = EFFORT * kept_count;
    for (Py_ssize_t i = 0; done && i < count; i++) {
        const Gap *gap = &gaps[i];
        if (gap->size > 0 && gap->room <= 0) result->numbers_same -= numbers_of(new + gap->begin, gap->size);
        if (gap->size <= 0 || gap->room <= 0 || is_level(gap)) continue;
        effort -= gap->span;
        Py_ssize_t there = 0;
        for (Py_ssize_t place = gap->kept_begin; effort >= 0 && place < gap->kept_begin + gap->span; place++)
            if (!covered || is_free(covered, place)) {
                places[there] = (int32_t)place;
                others[there++] = kept[place];
            }
        done = compare_uneven(new + gap->begin, gap->size, others, there, gap->begin, places, i == 0 || i == count - 1,
                              result);
    }
    PyMem_Free(shifted);
    PyMem_Free(others);
    PyMem_Free(places);
    return done;
}

static int is_slot(const Tile *tile) { return tile->length >= SLOT && tile->length < BLOCK; }

/* Whether two tiles shorter than a block hold numbers, and none in common. */
static int have_other_numbers(const Tile *one, const Tile *other, const uint16_t *new) {
    const uint16_t *here = new + one->begin, *there = new + other->begin;
    if (!is_slot(one) || !is_slot(other) || !numbers_of(here, one->length) || !numbers_of(there, other->length))
        return 0;
    for (Py_ssize_t i = 0; i < one->length; i++)
        for (Py_ssize_t j = 0; j < other->length; j++)
            if (here[i] & 1 && here[i] == there[j]) return 0;
    return 1;
}

/* Tiles but for two close by that have changed places, both shorter than a block, with different numbers in them; how
 * many. */
static Py_ssize_t without_exchanged_numbers(Tile *tiles, Py_ssize_t count, const uint16_t *new) {
    Py_ssize_t stay = 0;
    int exchanged = 0; /* with the tile before */
    for (Py_ssize_t i = 0; i < count; i++) {
        const Tile tile = tiles[i];
        const Py_ssize_t step = i + 1 < count ? tiles[i + 1].kept_begin - tile.kept_begin - tile.length : 0;
        const int next_exchanged = step < 0 && step >= -SMALL && have_other_numbers(&tile, &tiles[i + 1], new);
        if (!exchanged && !next_exchanged) tiles[stay++] = tile;
        exchanged = next_exchanged;
    }
    return stay;
}

/* The gaps before, between and after the tiles; 0 on failure. `covered` and `free_before` are zeros, kept_count + 1. */
static int compare(const uint16_t *new, Py_ssize_t new_count, const uint16_t *kept, Py_ssize_t kept_count,
                   const Tile *tiles, Py_ssize_t tile_count, Gap *gaps, int32_t *covered,
                   int32_t *free_before, Differences *result) {
    int moved = 0;
    for (Py_ssize_t i = 0; i <= tile_count; i++) {
        const Tile before = i ? tiles[i - 1] : (Tile){0, 0, 0};
        const Tile after = i < tile_count ? tiles[i] : (Tile){new_count, kept_count, 0};
        Gap *gap = &gaps[i];
        gap->begin = before.begin + before.length;
        gap->size = after.begin - gap->begin;
        gap->kept_begin = before.kept_begin + before.length;
        gap->room = gap->span = after.kept_begin - gap->kept_begin;
        moved |= gap->span < 0;
        result->common += before.length;
    }
    result->kept_common = result->common;
    if (moved) { /* what is opposite a gap may be covered by a tile from elsewhere */
        for (Py_ssize_t i = 0; i < tile_count; i++) {
            covered[tiles[i].kept_begin]++;
            covered[tiles[i].kept_begin + tiles[i].length]--;
        }
        for (Py_ssize_t place = 1; place < kept_count; place++) covered[place] += covered[place - 1];
        for (Py_ssize_t place = 0; place < kept_count; place++)
            free_before[place + 1] = free_before[place] + is_free(covered, place);
        result->kept_common = kept_count - free_before[kept_count];
        for (Py_ssize_t i = 0; i <= tile_count; i++) {
            Gap *gap = &gaps[i];
            gap->room =
                gap->span > 0 ? free_before[gap->kept_begin + gap->span] - free_before[gap->kept_begin] : 0;
        }
    }
    return compare_gaps(new, kept, kept_count, gaps, tile_count + 1, moved ? covered : NULL, result);
}

/* differences(new, kept) -> what a Differences is made of, in its order */
PyObject *differences(PyObject *self, PyObject *args) {
    Py_buffer new, kept;
    (void)self;
    if (!PyArg_ParseTuple(args, "y*y*", &new, &kept)) return NULL;
    const Py_ssize_t count = new.len / 2, kept_count = kept.len / 2;
    PyObject *answer = NULL;
    Tile *found = NULL;
    Gap *gaps = NULL;
    int32_t *covered = NULL;
    Differences result = {0};
    result.numbers_changed = PyList_New(0);
    result.pieces = PyList_New(0);
    if (!result.numbers_changed || !result.pieces) goto done;
    if (count > LONGEST || kept_count > LONGEST) {
        PyErr_SetString(PyExc_ValueError, "a sequence is too long");
        goto done;
    }
    result.numbers_same = numbers_of(new.buf, count);
    Py_ssize_t tile_count = tiles(new.buf, count, kept.buf, kept_count, &found);
    if (tile_count >= 0) {
        tile_count = without_exchanged_numbers(found, tile_count, new.buf);
        gaps = PyMem_Malloc(sizeof(Gap) * (size_t)(tile_count + 1));
        covered = PyMem_Calloc(2 * ((size_t)kept_count + 1), sizeof(int32_t));
    }
    if (!gaps || !covered) {
        PyErr_NoMemory();
        goto done;
    }
    if (compare(new.buf, count, kept.buf, kept_count, found, tile_count, gaps, covered,
                covered + kept_count + 1, &result))
        answer = Py_BuildValue("nnnnnnnnOnnO", result.common, result.kept_common, result.replaced, result.rewritten,
                               result.inserted, result.added, result.added_at_ends, result.numbers_same,
                               result.numbers_changed, result.skips, result.moves, result.pieces);
done:
    Py_XDECREF(result.numbers_changed);
    Py_XDECREF(result.pieces);
    PyMem_Free(found);
    PyMem_Free(gaps);
    PyMem_Free(covered);
    PyBuffer_Release(&new);
    PyBuffer_Release(&kept);
    return answer;
}
