/* What two sequences of symbols have in common and where they differ: `align` of content/alignment.py. */

#include "kernels.h"

enum { GRAM = 4 };

static uint64_t gram(const uint16_t *symbols) {
    return (uint64_t)symbols[0] << 48 | (uint64_t)symbols[1] << 32 | (uint64_t)symbols[2] << 16 | symbols[3];
}

/* Two grams are alike when these 49 bits are. */
static uint64_t key_of(uint64_t gram) { return gram * 0x9E3779B97F4A7C15ull >> 15; }

/* A key, and its grams on either side. Those of `kept` are a list: `first`, and what `next` of each says. */
typedef struct {
    uint64_t key;
    int32_t here, there, first, last; /* here: 0 in a free place */
} Slot;

static Slot *slot_of(Slot *slots, size_t mask, uint64_t key) {
    size_t place = (size_t)fmix64(key ^ table_seed) & mask;
    while (slots[place].here && slots[place].key != key) place = (place + 1) & mask;
    return &slots[place];
}

/* For each gram of `new` the place of its anchor in `kept`, -1 where it has none; 0 when there is no memory. */
static int find_anchors(const uint16_t *new, Py_ssize_t count, const uint16_t *kept, Py_ssize_t kept_count,
                        int32_t *places) {
    const size_t size = table_size((size_t)count);
    Slot *slots = PyMem_Calloc(size, sizeof(Slot));
    int32_t *next = PyMem_Malloc(4 * (size_t)kept_count), *home = PyMem_Malloc(4 * (size_t)count);
    const int enough = slots && next && home;
    for (Py_ssize_t i = 0; enough && i < count; i++) {
        const uint64_t key = key_of(gram(new + i));
        Slot *slot = slot_of(slots, size - 1, key);
        slot->key = key;
        slot->here++;
        home[i] = (int32_t)(slot - slots);
    }
    for (Py_ssize_t i = 0; enough && i < kept_count; i++) {
        Slot *slot = slot_of(slots, size - 1, key_of(gram(kept + i)));
        if (!slot->here) continue;
        if (slot->there++)
            next[slot->last] = (int32_t)i;
        else
            slot->first = (int32_t)i;
        slot->last = (int32_t)i;
    }
    for (Py_ssize_t i = 0; enough && i < count; i++) {
        Slot *slot = &slots[home[i]];
        places[i] = -1;
        if (slot->here != slot->there) continue; /* the i-th here with the i-th there, where there are as many */
        const int32_t place = slot->first;
        if (place != slot->last) slot->first = next[place];
        if (gram(new + i) == gram(kept + place)) places[i] = place; /* not so where keys collide */
    }
    PyMem_Free(slots);
    PyMem_Free(next);
    PyMem_Free(home);
    return enough;
}

/* Equal pieces of two sequences of symbols. */
typedef struct {
    Py_ssize_t begin, kept_begin, length;
} Tile;

/* Maximal runs of anchors, in the order of `new`, into a new array; how many, or -1 when there is no memory. */
static Py_ssize_t find_tiles(const uint16_t *new, Py_ssize_t count, const uint16_t *kept, Py_ssize_t kept_count,
                             Tile **found) {
    *found = NULL;
    if (count < GRAM || kept_count < GRAM) return 0;
    count -= GRAM - 1;
    int32_t *places = PyMem_Malloc(4 * (size_t)count);
    if (!places || !find_anchors(new, count, kept, kept_count - (GRAM - 1), places)) {
        PyMem_Free(places);
        return -1;
    }
    Py_ssize_t runs = 0;
    for (Py_ssize_t i = 0; i < count; i++)
        runs += places[i] >= 0 && !(i && places[i - 1] >= 0 && places[i] == places[i - 1] + 1);
    *found = PyMem_Malloc(sizeof(Tile) * (size_t)(runs + 1));
    if (!*found) {
        PyMem_Free(places);
        return -1;
    }
    Py_ssize_t made = 0, end = 0;
    for (Py_ssize_t i = 0; i < count;) {
        if (places[i] < 0) {
            i++;
            continue;
        }
        const Py_ssize_t first = i;
        while (i + 1 < count && places[i + 1] == places[i] + 1) i++;
        i++;
        const Py_ssize_t overlap = end > first ? end - first : 0; /* where two meet, the later one gives way */
        end = i - 1 + GRAM;
        (*found)[made++] = (Tile){first + overlap, places[first] + overlap, end - first - overlap};
    }
    PyMem_Free(places);
    return made;
}

enum { GAP_LIMIT = 512, EFFORT = 4, WORDS = GAP_LIMIT / 64 };

typedef struct {
    int32_t *pieces; /* four numbers each */
    size_t count, room;
    uint64_t *rows;  /* of the table of a gap, (GAP_LIMIT + 1) × WORDS */
    uint64_t *masks; /* of the symbols opposite, GAP_LIMIT × WORDS */
    uint16_t *which; /* of each value, 1 + where its mask is; kept all zeros */
} Work;

static int add(Work *work, Py_ssize_t begin, Py_ssize_t end, Py_ssize_t kept_begin, Py_ssize_t kept_end) {
    if (work->count == work->room) {
        const size_t room = 2 * work->room + 64;
        int32_t *more = PyMem_Realloc(work->pieces, 16 * room);
        if (!more) return 0;
        work->pieces = more;
        work->room = room;
    }
    int32_t *piece = work->pieces + 4 * work->count++;
    piece[0] = (int32_t)begin, piece[1] = (int32_t)end;
    piece[2] = (int32_t)kept_begin, piece[3] = (int32_t)kept_end;
    return 1;
}

/* The rows of the table of longest common subsequences, as bits (Hyyrö 2004). */
static size_t fill_rows(const uint16_t *here, Py_ssize_t n, const uint16_t *kept, const int32_t *places, Py_ssize_t m,
                        Work *work) {
    const size_t words = ((size_t)m + 63) / 64;
    size_t different = 0;
    for (Py_ssize_t j = 0; j < m; j++) {
        uint16_t *which = &work->which[kept[places[j]]];
        if (!*which) {
            memset(work->masks + different * words, 0, 8 * words);
            *which = (uint16_t)++different;
        }
        work->masks[(*which - 1u) * words + (size_t)j / 64] |= 1ull << j % 64;
    }
    memset(work->rows, 255, 8 * words);
    for (Py_ssize_t i = 0; i < n; i++) {
        const uint64_t *row = work->rows + (size_t)i * words;
        uint64_t *next = work->rows + (size_t)(i + 1) * words, carry = 0;
        const uint16_t which = work->which[here[i]];
        for (size_t word = 0; word < words; word++) {
            const uint64_t hits = which ? row[word] & work->masks[(which - 1u) * words + word] : 0;
            const uint64_t sum = row[word] + hits, all = sum + carry;
            carry = (sum < hits) | (all < carry);
            next[word] = all | (row[word] & ~hits);
        }
    }
    for (Py_ssize_t j = 0; j < m; j++) work->which[kept[places[j]]] = 0;
    return words;
}

static int is_set(const uint64_t *row, Py_ssize_t bit) { return row[bit / 64] >> bit % 64 & 1; }

/* The pieces of a gap, last first, and what is common. `after`: where the kept side ends. */
static int align_gap(const uint16_t *here, Py_ssize_t n, Py_ssize_t begin, const uint16_t *kept, const int32_t *places,
                     Py_ssize_t m, Py_ssize_t after, uint8_t *in_kept, uint8_t *in_new, Work *work) {
    const size_t words = fill_rows(here, n, kept, places, m, work), first = work->count;
    Py_ssize_t i = n, j = m, end = n, other_end = m;
    for (;;) {
        int common = 0;
        if (i && j) {
            if (is_set(work->rows + (size_t)i * words, j - 1)) {
                j--;
                continue;
            }
            if (!is_set(work->rows + (size_t)(i - 1) * words, j - 1)) {
                i--;
                continue;
            }
            common = 1;
        } else {
            i = j = 0;
        }
        if (i < end || j < other_end) {
            const Py_ssize_t from = j < m ? places[j] : after;
            if (!add(work, begin + i, begin + end, from, j < other_end ? places[other_end - 1] + 1 : from)) return 0;
        }
        if (!common) break;
        end = --i;
        other_end = --j;
        in_kept[begin + i] = 1;
        in_new[places[j]] = 1;
    }
    for (size_t one = first, other = work->count; one + 1 < other; one++) { /* into the order of the new sequence */
        int32_t swapped[4];
        other--;
        memcpy(swapped, work->pieces + 4 * one, 16);
        memcpy(work->pieces + 4 * one, work->pieces + 4 * other, 16);
        memcpy(work->pieces + 4 * other, swapped, 16);
    }
    return 1;
}

static Py_ssize_t compare(const uint16_t *new, Py_ssize_t count, const uint16_t *kept, Py_ssize_t kept_count,
                          const Tile *tiles, Py_ssize_t tile_count, uint8_t *in_kept, uint8_t *in_new,
                          uint8_t *covered, int32_t *places, Work *work) {
    Py_ssize_t moves = 0, at = 0, kept_at = 0, effort = EFFORT * kept_count;
    for (Py_ssize_t i = 0; i < tile_count; i++) {
        memset(in_kept + tiles[i].begin, 1, (size_t)tiles[i].length);
        memset(in_new + tiles[i].kept_begin, 1, (size_t)tiles[i].length);
    }
    memcpy(covered, in_new, (size_t)kept_count);
    for (Py_ssize_t i = 0; i <= tile_count; i++) {
        const Tile tile = i < tile_count ? tiles[i] : (Tile){count, kept_count, 0};
        const Py_ssize_t n = tile.begin - at;
        Py_ssize_t m = 0;
        if (tile.kept_begin >= kept_at) {
            for (Py_ssize_t place = kept_at; place < tile.kept_begin; place++)
                if (!covered[place]) places[m++] = (int32_t)place;
            effort -= tile.kept_begin - kept_at;
        } else {
            moves++;
        }
        const Py_ssize_t after = tile.kept_begin > kept_at ? tile.kept_begin : kept_at;
        if (n && m && n <= GAP_LIMIT && m <= GAP_LIMIT && effort >= 0) {
            if (!align_gap(new + at, n, at, kept, places, m, after, in_kept, in_new, work)) return -1;
        } else if (n || m) {
            const Py_ssize_t from = m ? places[0] : after;
            if (!add(work, at, tile.begin, from, m ? places[m - 1] + 1 : from)) return -1;
        }
        at = tile.begin + tile.length;
        kept_at = tile.kept_begin + tile.length;
    }
    return moves;
}

/* align(new, kept) -> (which of `new` are in `kept`, which of `kept` are in `new`, pieces as int32, moves) */
PyObject *align(PyObject *Py_UNUSED(self), PyObject *args) {
    static uint16_t which[VALUES];
    Py_buffer new, kept;
    if (!PyArg_ParseTuple(args, "y*y*", &new, &kept)) return NULL;
    const Py_ssize_t count = new.len / 2, kept_count = kept.len / 2;
    PyObject *answer = NULL;
    Tile *found = NULL;
    Work work = {0};
    uint8_t *flags = PyMem_Calloc((size_t)(count + 2 * kept_count) + 1, 1);
    int32_t *places = PyMem_Malloc(4 * (size_t)kept_count + 1);
    work.rows = PyMem_Malloc(8 * (GAP_LIMIT + 1) * WORDS);
    work.masks = PyMem_Malloc(8 * GAP_LIMIT * WORDS);
    work.which = which;
    if (count > LONGEST || kept_count > LONGEST) {
        PyErr_SetString(PyExc_ValueError, "a sequence is too long");
    } else if (!flags || !places || !work.rows || !work.masks) {
        PyErr_NoMemory();
    } else {
        uint8_t *in_kept = flags, *in_new = flags + count, *covered = in_new + kept_count;
        const Py_ssize_t tile_count = find_tiles(new.buf, count, kept.buf, kept_count, &found);
        const Py_ssize_t moves = tile_count < 0 ? -1
                                                : compare(new.buf, count, kept.buf, kept_count, found, tile_count,
                                                          in_kept, in_new, covered, places, &work);
        if (moves < 0)
            PyErr_NoMemory();
        else
            answer = Py_BuildValue("y#y#y#n", (const char *)in_kept, count, (const char *)in_new, kept_count,
                                   work.pieces ? (const char *)work.pieces : "", (Py_ssize_t)(16 * work.count), moves);
    }
    PyMem_Free(found);
    PyMem_Free(flags);
    PyMem_Free(places);
    PyMem_Free(work.rows);
    PyMem_Free(work.masks);
    PyMem_Free(work.pieces);
    PyBuffer_Release(&new);
    PyBuffer_Release(&kept);
    return answer;
}
