#include "kernels.h"

enum { GRAM = 4 };

static uint64_t gram(const uint16_t *symbols) {
    return (uint64_t)symbols[0] << 48 | (uint64_t)symbols[1] << 32 | (uint64_t)symbols[2] << 16 | symbols[3];
}

/* As in content/alignment.py: two grams are alike when these 49 bits are. */
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

Py_ssize_t tiles(const uint16_t *new, Py_ssize_t count, const uint16_t *kept, Py_ssize_t kept_count, Tile **found) {
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
