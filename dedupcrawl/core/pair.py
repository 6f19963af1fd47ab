# cython: language_level=3
"""Pair: a new page and a kept one, compared once; all features are computed from this comparison.

The main texts are aligned, and each piece in which they differ has a kind (`diff`). Own text that only one main text
has may be a difference in extraction, and not in the pages (`taken`).
"""

import cython
from cython.cimports.cpython import array
from cython.cimports.dedupcrawl.core.alignment import Work, aligned, work_at_hand
from cython.cimports.dedupcrawl.core.arrays import int32s, sort, uint8s, uint16s, uint64s, unset, zeros
from cython.cimports.dedupcrawl.core.diff import ADDED, CREDITED, DIFFERENCES, RENAMED, REWORDED, sum_up, tell
from cython.cimports.dedupcrawl.core.items import SIZE, item_of
from cython.cimports.dedupcrawl.core.main_outline import MainOutline
from cython.cimports.dedupcrawl.core.page_context import PageContext, hashes_of
from cython.cimports.dedupcrawl.core.paragraphs import Side
from cython.cimports.dedupcrawl.core.symbols import VALUES, Symbol, SymbolText, Vocabulary
from cython.cimports.dedupcrawl.core.theme import is_one_theme
from cython.cimports.dedupcrawl.core.view import Line, View, common_words, occurring
from cython.cimports.dedupcrawl.core.words import WordLists
from cython.cimports.libc.string import memcmp, memset

from dedupcrawl.core.symbols import vocabulary_of
from dedupcrawl.core.template import RECURRING
from dedupcrawl.core.versions import symbols_of_versions
from dedupcrawl.core.view import LITTLE
from dedupcrawl.core.words import word_lists

_recurring = cython.declare(uint32_t, RECURRING)
_LITTLE = cython.declare(cython.Py_ssize_t, LITTLE)
# Share of a page's own text that must be left, set by hand: a post that also stands in the other page's side bar must
# not be compared by its byline alone.
_LEAST = cython.declare(cython.double, 0.5)

_marks = cython.declare(uint8_t[VALUES])  # of symbols; all zeros except while a method uses them


class Pair:
    """A new page compared with a kept one.

    Args:
        new: The new page.
        kept: The kept one.

    Attributes:
        in_kept: A byte for each symbol of the new main text, 1 if it is aligned with the kept one.
        in_new: The same for the kept main text.
        moves: The number of moves, as `alignment.align` counts them.
        is_of_one_host: Whether both are pages of one host.
        is_of_one_theme: Whether they also are in one template, as far as their markup tells.
        template: Share of the new page that is site template, which it may share with the kept one; 0 in another theme.
        uncovered: Share of the new page's own text that is not aligned with the kept page.
        kept_uncovered: Share of the kept page's own text that is not aligned with the new page.
        beside: Symbols of text lines around the new main text that the kept page has nowhere.
        secondary: Symbols of secondary text of either page that the other has nowhere, the greater of the two counts.
        resources: The same for own pictures, media and files; 0 if a page has none, because print views omit them.
        is_equal: Whether nothing differs, in the main texts or around them, but numbers in lines beside the main text.
    """

    def __cinit__(self, new: View, kept: View):
        self.new, self.kept = new, kept
        mine: MainOutline = new.read_main()
        its: MainOutline = kept.read_main()
        is_same_tail: cython.bint = mine.tail_hash == its.tail_hash
        self.count = mine.tail_begins if is_same_tail else mine.count
        self.kept_count = its.tail_begins if is_same_tail else its.count
        self.own, self.kept_own = new.read_own(), kept.read_own()
        self.is_of_one_host = new.host == kept.host
        self.is_of_one_theme = self.is_of_one_host and is_one_theme(
            new.read_said_around().theme, kept.read_said_around().theme
        )
        self.align()
        self.tell_pieces()
        self.tell_names()
        beyond: cython.Py_ssize_t = 0 if is_same_tail else mine.tail
        kept_beyond: cython.Py_ssize_t = 0 if is_same_tail else its.tail
        self.uncovered = cython.cast(cython.double, self.tally.uncovered + beyond) / max(1, new.count_own())
        self.kept_uncovered = cython.cast(cython.double, self.tally.kept_uncovered + kept_beyond) / max(
            1, kept.count_own()
        )
        self.look_around()
        self.is_equal = (
            is_same_tail
            and not self.piece_count
            and not self.moves
            and not self.secondary
            and not self.resources
            and (not self.title.count or not self.kept_title.count or self.title.symbols == self.kept_title.symbols)
            and self.says_same_around()
        )

    def align(self):
        """Align the main texts without what extraction included on one side only: that counts as common."""
        mine: bytes = taken(self.new, self.kept)
        its: bytes = taken(self.kept, self.new)
        symbols: cython.pointer(uint16_t) = uint16s(self.new.main_text.raw)
        kept_symbols: cython.pointer(uint16_t) = uint16s(self.kept.main_text.raw)
        work: cython.pointer(Work) = work_at_hand()
        self.in_kept, self.in_new = zeros(self.count), zeros(self.kept_count)
        if mine is None and its is None and self.are_equal():
            memset(uint8s(self.in_kept), 1, self.count)
            memset(uint8s(self.in_new), 1, self.count)
            self.moves = 0
        elif mine is None and its is None:
            self.moves = aligned(
                symbols, self.count, kept_symbols, self.kept_count, uint8s(self.in_kept), uint8s(self.in_new), work
            )
        else:
            here: Rest
            there: Rest
            room: list = []
            _take_out(cython.address(here), symbols, self.count, mine, room)
            _take_out(cython.address(there), kept_symbols, self.kept_count, its, room)
            self.moves = aligned(here.symbols, here.count, there.symbols, there.count, here.flags, there.flags, work)
            _put_back(cython.address(here), self.count, uint8s(self.in_kept), work.pieces, work.count)
            _put_back(cython.address(there), self.kept_count, uint8s(self.in_new), work.pieces + 2, work.count)
        self.piece_count = work.count
        self.raw_pieces = cython.cast(cython.p_char, work.pieces)[: 16 * work.count] if work.count else b""
        return 0

    def are_equal(self):
        """Whether the main texts are equal, so that they need no alignment."""
        return self.count == self.kept_count and not memcmp(
            uint16s(self.new.main_text.raw), uint16s(self.kept.main_text.raw), 2 * self.count
        )

    def tell_pieces(self):
        one: Side
        other: Side
        one.symbols, one.kinds = uint16s(self.new.main_text.raw), uint8s(self.new.main_text.kinds)
        one.own, one.aligned, one.count = uint8s(self.own), uint8s(self.in_kept), self.count
        other.symbols, other.kinds = uint16s(self.kept.main_text.raw), uint8s(self.kept.main_text.kinds)
        other.own, other.aligned, other.count = uint8s(self.kept_own), uint8s(self.in_new), self.kept_count
        pieces: cython.pointer(int32_t) = int32s(self.raw_pieces)
        lists: WordLists = word_lists(self.new.secret)
        self.raw_rows = zeros(3 * self.piece_count)
        self.is_new, self.kept_is_new = zeros(self.count), zeros(self.kept_count)
        rows: cython.pointer(uint8_t) = uint8s(self.raw_rows)
        tell(
            cython.address(one),
            self.new.main_text.ends,
            self.new.read_headline().symbols,
            cython.address(other),
            self.kept.main_text.ends,
            pieces,
            self.piece_count,
            self.is_of_one_host,
            lists,
            rows,
        )
        sum_up(
            cython.address(one),
            cython.address(other),
            pieces,
            self.piece_count,
            rows,
            uint8s(self.is_new),
            uint8s(self.kept_is_new),
            cython.address(self.tally),
        )
        _count(rows, self.piece_count, cython.address(self.counts))
        return 0

    def tell_names(self):
        """Count the differences of titles and headlines; of titles not if two pages of a host share their headline."""
        new: View = self.new
        kept: View = self.kept
        self.title, self.kept_title = new.read_title(), kept.read_title()
        self.headline, self.kept_headline = new.read_headline(), kept.read_headline()
        is_one_name: cython.bint = (
            self.is_of_one_host
            and self.headline.symbols == self.kept_headline.symbols
            and _is_named_by_headline(self.title, self.headline)
            and _is_named_by_headline(self.kept_title, self.kept_headline)
        )
        memset(cython.address(self.title_counts), 0, cython.sizeof(Counts))
        memset(cython.address(self.headline_counts), 0, cython.sizeof(Counts))
        if not is_one_name:
            _count_of_lines(self.title, self.kept_title, new.secret, cython.address(self.title_counts))
        if self.is_of_one_host:
            _count_of_lines(self.headline, self.kept_headline, new.secret, cython.address(self.headline_counts))
        return 0

    def look_around(self):
        new: View = self.new
        kept: View = self.kept
        page_context: PageContext = new.read_around()
        kept_around: PageContext = kept.read_around()
        self.template = new.repeated() if self.is_of_one_theme else 0.0
        self.beside = unknown_lines(page_context.asides, kept, False)
        self.secondary = max(
            unknown_lines(page_context.secondary, kept, True), unknown_lines(kept_around.secondary, new, True)
        )
        self.resources = unknown_resources(new, kept)
        self.links_beside = unknown_lines(page_context.link_lines, kept, False) if self.template else 0
        self.links, self.kept_links = len(page_context.links) // 8, len(kept_around.links) // 8
        self.is_listed, self.lists = kept.links_to(new), new.links_to(kept)
        self.is_bare = new.read_said_around().is_bare and kept.read_said_around().is_bare
        self.is_only_version = self.is_of_one_host and self.has_only_versions()
        return 0

    def says_same_around(self):
        """Whether both have the same lines around their main texts, as far as those of the kept page are stored."""
        here: PageContext = self.new.read_around()
        there: PageContext = self.kept.read_around()
        last: uint32_t = there.last
        return _have_same_lines(here.asides, there.asides, last) and _have_same_lines(
            here.link_lines, there.link_lines, last
        )

    def has_only_versions(self):
        """Whether texts, titles and headlines differ in nothing but the version that the URLs contain."""
        raw: bytes = symbols_of_versions(self.new.url, self.kept.url, self.new.secret)
        if raw is None:
            return False
        names: bytes = _in_one_only(self.title.symbols, self.kept_title.symbols)
        names += _in_one_only(self.headline.symbols, self.kept_headline.symbols)
        i: cython.Py_ssize_t
        j: cython.Py_ssize_t
        symbols: cython.pointer(uint16_t) = uint16s(self.new.main_text.raw)
        kept_symbols: cython.pointer(uint16_t) = uint16s(self.kept.main_text.raw)
        in_kept: cython.pointer(uint8_t) = uint8s(self.in_kept)
        in_new: cython.pointer(uint8_t) = uint8s(self.in_new)
        pieces: cython.pointer(int32_t) = int32s(self.raw_pieces)
        rows: cython.pointer(uint8_t) = uint8s(self.raw_rows)
        for i in range(len(raw) // 2):
            _marks[uint16s(raw)[i]] = 1
        is_only: cython.bint = True
        for i in range(self.piece_count):
            if rows[3 * i] < ADDED:
                continue
            for j in range(pieces[4 * i], pieces[4 * i + 1]):
                is_only &= in_kept[j] or _marks[symbols[j]]
            for j in range(pieces[4 * i + 2], pieces[4 * i + 3]):
                is_only &= in_new[j] or _marks[kept_symbols[j]]
        for i in range(len(names) // 2):
            is_only &= _marks[uint16s(names)[i]]
        for i in range(len(raw) // 2):
            _marks[uint16s(raw)[i]] = 0
        return is_only

    def untold(self, words, others):
        """How many content words of a line neither the common text nor the other line, unless it is None, has."""
        here: cython.pointer(uint16_t) = uint16s(words.content)
        lacks: uint8_t[1 << 12]  # more than a title of `TITLE` characters has
        i: cython.Py_ssize_t
        j: cython.Py_ssize_t = 0
        total: cython.Py_ssize_t = 0
        count: cython.Py_ssize_t = min(words.content_count, 1 << 12)
        there: cython.pointer(uint16_t) = uint16s((words if others is None else others).words)
        other_count: cython.Py_ssize_t = 0 if others is None else others.count
        for i in range(count):
            while j < other_count and there[j] < here[i]:
                j += 1
            lacks[i] = not (j < other_count and there[j] == here[i])
            total += lacks[i]
        return total - occurring(here, count, lacks, uint16s(self.new.main_text.raw), self.count, uint8s(self.in_kept))

    def replaced_of_titles(self):
        """How many short pieces replace a word that only the new title has by one that only the kept title has."""
        here: cython.pointer(uint16_t) = uint16s(self.title.words)
        there: cython.pointer(uint16_t) = uint16s(self.kept_title.words)
        symbols: cython.pointer(uint16_t) = uint16s(self.new.main_text.raw)
        kept_symbols: cython.pointer(uint16_t) = uint16s(self.kept.main_text.raw)
        in_kept: cython.pointer(uint8_t) = uint8s(self.in_kept)
        in_new: cython.pointer(uint8_t) = uint8s(self.in_new)
        pieces: cython.pointer(int32_t) = int32s(self.raw_pieces)
        rows: cython.pointer(uint8_t) = uint8s(self.raw_rows)
        i: cython.Py_ssize_t
        j: cython.Py_ssize_t
        total: cython.Py_ssize_t = 0
        for i in range(self.kept_title.count):
            _marks[there[i]] = 2
        for i in range(self.title.count):
            _marks[here[i]] = 0 if _marks[here[i]] else 1
        for i in range(self.piece_count):
            kind: cython.int = rows[3 * i]
            if kind != CREDITED and kind != RENAMED and kind < REWORDED:
                continue
            is_of_new: cython.bint = False
            is_of_kept: cython.bint = False
            for j in range(pieces[4 * i], pieces[4 * i + 1]):
                is_of_new |= not in_kept[j] and _marks[symbols[j]] == 1
            for j in range(pieces[4 * i + 2], pieces[4 * i + 3]):
                is_of_kept |= not in_new[j] and _marks[kept_symbols[j]] == 2
            total += is_of_new and is_of_kept
        for i in range(self.kept_title.count):
            _marks[there[i]] = 0
        for i in range(self.title.count):
            _marks[here[i]] = 0
        return total

    def told_of_others(self, words, others, of_kept):
        """How many words of a line that the other line lacks are among the words that only one page has."""
        page: View = self.kept if of_kept else self.new
        here: cython.pointer(uint16_t) = uint16s(words.words)
        there: cython.pointer(uint16_t) = uint16s(others.words)
        lacks: uint8_t[1 << 12]
        i: cython.Py_ssize_t
        j: cython.Py_ssize_t = 0
        count: cython.Py_ssize_t = min(words.count, 1 << 12)  # more than a title of `TITLE` characters has
        for i in range(count):
            while j < others.count and there[j] < here[i]:
                j += 1
            lacks[i] = not (j < others.count and there[j] == here[i])
        return occurring(
            here,
            count,
            lacks,
            uint16s(page.main_text.raw),
            self.kept_count if of_kept else self.count,
            uint8s(self.kept_is_new if of_kept else self.is_new),
        )

    @property
    def pieces(self):
        """For each piece, its begin and end in the new text and its begin and end in the kept one."""
        numbers = memoryview(self.raw_pieces).cast("i").tolist()
        return [tuple(numbers[i : i + 4]) for i in range(0, len(numbers), 4)]

    @property
    def uncovered_symbols(self):
        """How many symbols of the new page's own text are not aligned with the kept one."""
        return self.tally.uncovered

    @property
    def kept_uncovered_symbols(self):
        """The same for the kept page."""
        return self.tally.kept_uncovered

    @property
    def words_beside(self):
        """Symbols of text around either main text that the other page lacks."""
        return self.beside + unknown_lines(self.kept.read_around().asides, self.new, False)

    @property
    def are_titles_told(self):
        """Whether a difference of the titles was counted."""
        return self.title_counts.all > 0

    @property
    def are_headlines_told(self):
        """Whether a difference of the headlines was counted."""
        return self.headline_counts.all > 0

    def shown(
        self, most: int, characters: int, new: SymbolText, kept: object, kinds: tuple, places: tuple, counting: object
    ) -> list:
        """The most telling differences, for people, in the order of the new text.

        A number or a date is shown with the word after it that both pages have: 30 euros.

        Args:
            most: The most differences to return.
            characters: The most characters to return of what either page says.
            new: The new main text.
            kept: The kept one; None if it is not stored.
            kinds: The names of the kinds of differences.
            places: The names of their places.
            counting: The names of the kinds that are numbers and dates.

        Returns:
            JSON values for each difference: its position in the new text, what either page says there, the number of
            symbols of the kept page, its kind, its place, and whether it has own text.
        """
        i: cython.Py_ssize_t
        j: cython.Py_ssize_t
        rows: cython.pointer(uint8_t) = uint8s(self.raw_rows)
        pieces: cython.pointer(int32_t) = int32s(self.raw_pieces)
        in_new: cython.pointer(uint8_t) = uint8s(self.in_new)
        count: cython.Py_ssize_t = self.piece_count
        room: bytes = unset(8 * count)
        k: cython.Py_ssize_t
        hits: cython.pointer(uint64_t) = uint64s(room)
        for i in range(count):  # its rank (own text first, then the more telling kinds) above its number
            hits[i] = cython.cast(uint64_t, 2 * DIFFERENCES - rows[3 * i] - DIFFERENCES * rows[3 * i + 2]) << 32 | i
        if count > most:
            sort(hits, count)
            count = most
        for i in range(count):
            hits[i] &= cython.cast(uint32_t, -1)
        sort(hits, count)
        passages: list = []
        for k in range(count):
            i = hits[k]
            begin: cython.int = pieces[4 * i]
            end: cython.int = pieces[4 * i + 1]
            others: list = []
            alone: cython.int = 0  # symbols of the kept page
            for j in range(pieces[4 * i + 2], pieces[4 * i + 3]):
                alone += not in_new[j]
                if kept is not None and not in_new[j]:
                    others.append(j)
            kind: str = kinds[rows[3 * i]]
            after: str = _word_after(new, end - 1) if kind in counting and end > begin else ""
            says: str = new.between(begin, end - 1) if end > begin else ""
            shown: dict = {"at": begin, "says": says[:characters] + after, "kept_symbols": alone}
            if kept is not None:
                is_same: cython.bint = after != "" and others and _word_after(kept, others[-1]) == after
                shown["kept_says"] = kept.words_at(others)[:characters] + (after if is_same else "")
            shown["kind"], shown["place"], shown["own"] = kind, places[rows[3 * i + 1]], rows[3 * i + 2] != 0
            passages.append(shown)
        return passages


@cython.cfunc
def _word_after(text: SymbolText, place: cython.int) -> str:
    """The word after a symbol, with the space before it; empty if anything but spaces stands between."""
    if place + 1 >= text.count:
        return ""
    here: cython.pointer(Symbol) = text.items + place
    there: cython.pointer(Symbol) = here + 1
    i: cython.Py_ssize_t
    for i in range(here.start + here.length, there.start):
        if text.folded[i] != 0x20:
            return ""
    return text.between(place, place + 1)[here.length :]


@cython.cfunc
def _take_out(
    rest: cython.pointer(Rest),
    symbols: cython.pointer(cython.const[uint16_t]),
    count: cython.Py_ssize_t,
    taken: object,
    room: list,
) -> cython.int:
    """Copy the symbols that are not taken out into `rest`; `room` keeps its memory."""
    flags: cython.pointer(uint8_t) = cython.NULL if taken is None else uint8s(taken)
    i: cython.Py_ssize_t
    made: tuple = unset(2 * count), unset(4 * count + 4), zeros(count)
    room.append(made)
    rest.symbols, rest.places, rest.flags = uint16s(made[0]), int32s(made[1]), uint8s(made[2])
    rest.count = 0
    for i in range(count):
        if flags is cython.NULL or not flags[i]:
            rest.symbols[rest.count], rest.places[rest.count] = symbols[i], i
            rest.count += 1
    rest.places[rest.count] = count
    return 0


@cython.cfunc
@cython.exceptval(check=False)
def _put_back(
    rest: cython.pointer(Rest),
    count: cython.Py_ssize_t,
    flags: cython.pointer(uint8_t),
    edges: cython.pointer(int32_t),
    pieces: cython.Py_ssize_t,
) -> cython.void:
    """Set the flags of the whole text, 1 for what was taken out, and convert the edges of pieces to its positions."""
    i: cython.Py_ssize_t
    memset(flags, 1, count)
    for i in range(rest.count):
        flags[rest.places[i]] = rest.flags[i]
    for i in range(pieces):
        begin: int32_t = edges[4 * i]
        end: int32_t = edges[4 * i + 1]
        edges[4 * i] = rest.places[begin]
        edges[4 * i + 1] = rest.places[end - 1] + 1 if end > begin else rest.places[begin]


@cython.cfunc
def _in_one_only(one: bytes, other: bytes) -> bytes:
    """The symbols that only one of two lines has."""
    return array.array("H", sorted(set(memoryview(one).cast("H")) ^ set(memoryview(other).cast("H")))).tobytes()


@cython.cfunc
@cython.exceptval(check=False)
def _have_same_lines(here: bytes, there: bytes, last: uint32_t) -> cython.bint:
    """Whether the items of two pages up to the hash `last` have the same hashes."""
    i: cython.Py_ssize_t = 0
    count: cython.Py_ssize_t = len(here) // 8
    other: cython.Py_ssize_t = len(there) // 8
    while i < count and i < other and uint64s(here)[i] >> 32 == uint64s(there)[i] >> 32 <= last:
        i += 1
    return not (i < count and uint64s(here)[i] >> 32 <= last) and not (i < other and uint64s(there)[i] >> 32 <= last)


@cython.cfunc
@cython.exceptval(check=False)
def _count(rows: cython.pointer(uint8_t), count: cython.Py_ssize_t, counts: cython.pointer(Counts)) -> cython.void:
    """Count differences by their kinds and places."""
    i: cython.Py_ssize_t
    memset(counts, 0, cython.sizeof(Counts))
    for i in range(count):
        kind: cython.int = rows[3 * i]
        counts.of[kind][rows[3 * i + 1]] += 1
        counts.kind[kind] += 1
        counts.own += kind >= ADDED
    counts.all = count


@cython.cfunc
@cython.exceptval(check=False)
def _is_named_by_headline(title: Line, headline: Line) -> cython.bint:
    """Whether a title contains a headline of two words or more; the rest of the title need not name the page."""
    return headline.count > 1 and common_words(title, headline) == headline.count


@cython.cfunc
def _count_of_lines(new: Line, kept: Line, secret: object, counts: cython.pointer(Counts)) -> cython.int:
    """Count the differences of two lines like those of two texts; none if either line is empty."""
    if not new.symbols or not kept.symbols or new.symbols == kept.symbols:
        return 0
    one: Side
    other: Side
    one.count, other.count = len(new.symbols) // 2, len(kept.symbols) // 2
    work: cython.pointer(Work) = work_at_hand()
    in_kept: bytes = zeros(one.count)
    in_new: bytes = zeros(other.count)
    own: bytes = b"\1" * max(one.count, other.count)
    one.symbols, one.kinds = uint16s(new.symbols), uint8s(new.kinds)
    one.own, one.aligned = uint8s(own), uint8s(in_kept)
    other.symbols, other.kinds = uint16s(kept.symbols), uint8s(kept.kinds)
    other.own, other.aligned = uint8s(own), uint8s(in_new)
    aligned(one.symbols, one.count, other.symbols, other.count, uint8s(in_kept), uint8s(in_new), work)
    count: cython.Py_ssize_t = work.count
    raw: bytes = cython.cast(cython.p_char, work.pieces)[: 16 * count] if count else b""
    rows: bytes = zeros(3 * count)
    tell(
        cython.address(one),
        [one.count],
        b"",
        cython.address(other),
        [other.count],
        int32s(raw),
        count,
        True,
        word_lists(secret),
        uint8s(rows),
    )
    _count(uint8s(rows), count, counts)
    return 0


def unknown_lines(lines, other, are_valued):
    """The symbols in lines beside a main text that the other page has neither beside its main text nor as a block.

    `are_valued`: Secondary text is given; a line of it with other values in the other page's secondary text is unknown.
    A line that the other page's site repeats is not, because contexts have no such lines.
    """
    page_context: PageContext = other.read_around()
    of_main: object = None
    total: cython.Py_ssize_t = 0
    i: cython.Py_ssize_t
    for i in range(len(lines) // 8):
        item: uint64_t = uint64s(lines)[i]
        line: uint32_t = item >> 32
        if are_valued and other.site.pages_of(line) >= _recurring:
            continue
        its: int64_t = item_of(page_context.secondary, line)
        if line > page_context.last or (its >= 0 and not (are_valued and its != cython.cast(uint32_t, item))):
            continue
        if max(item_of(page_context.asides, line), item_of(page_context.link_lines, line)) >= 0:
            continue
        of_main = other.read_main().read_blocks() if of_main is None else of_main
        if line not in of_main:
            total += item & SIZE
    return total


def unknown_resources(new, kept):
    """How many resources of either page the other lacks, the greater of the two counts; 0 if a page has none.

    1 if only their order differs. Also 0 if pages of two hosts share none: a reprint has other pictures, or the same
    ones under other names.
    """
    here: PageContext = new.read_around()
    there: PageContext = kept.read_around()
    mine, its = hashes_of(here.resources), hashes_of(there.resources)
    if not mine or not its:
        return 0
    if new.host != kept.host and set(mine).isdisjoint(its):
        return 0
    last = min(here.last_resource, there.last_resource)
    mine, its = [one for one in mine if one <= last], [one for one in its if one <= last]
    common = len(set(mine).intersection(its))
    return max(len(mine) - common, len(its) - common) or mine != its


def taken(page, other):
    """Flag the symbols that extraction included in this page's main text only; None if there are none, or most are.

    Extraction may value a box of the template, or a list of links, as highly as the content; then one line more or less
    decides whether it is main text. A block that only this main text has is a difference in extraction if nearly all
    pages of the site have it, or if the other page has it beside its main text. Any other is a difference of the pages.
    (At 98 % precision .871 of the duplicates of a shop not fitted on were found, .814 without this; in both cases "half
    of the pages" stood for "nearly all".)
    """
    page_context: PageContext = other.read_said_around()
    if not (page.site.has_recurring() or page_context.asides or page_context.link_lines):
        return None
    main: MainOutline = page.read_main()
    flags: bytes = None
    begin: cython.Py_ssize_t = 0
    i: cython.Py_ssize_t
    for i in range(len(main.ends)):
        end: cython.Py_ssize_t = main.ends[i]
        block: uint32_t = main.hashes[i]
        is_beside: cython.bint = max(item_of(page_context.asides, block), item_of(page_context.link_lines, block)) >= 0
        if (
            page.site.is_everywhere(block) or (is_beside and _is_constant(page, begin, end))
        ) and block not in other.read_main().read_blocks():
            flags = zeros(main.count) if flags is None else flags
            memset(uint8s(flags) + begin, 1, end - begin)
        begin = end
    if flags is None:
        return None
    own: bytes = page.read_own()
    rest: cython.Py_ssize_t = main.tail
    for i in range(main.count):
        rest += uint8s(own)[i] and not uint8s(flags)[i]
    return flags if rest >= max(_LITTLE, _LEAST * page.count_own()) else None


@cython.cfunc
def _is_constant(page: View, begin: cython.Py_ssize_t, end: cython.Py_ssize_t) -> cython.bint:
    """Whether a block holds no values: lines beside a main text are known by their skeletons, which mask values."""
    vocabulary: Vocabulary = vocabulary_of(page.secret)
    symbols: cython.pointer(uint16_t) = uint16s(page.main_text.raw)
    i: cython.Py_ssize_t
    for i in range(begin, end):
        if vocabulary.skeletons[symbols[i]] != symbols[i]:
            return False
    return True
