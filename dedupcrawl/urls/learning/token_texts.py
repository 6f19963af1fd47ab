"""Texts by number: what the columns of `url_columns` hold, and what is known of each text."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence

import numpy as np
import numpy.typing as npt

from dedupcrawl.urls.learning import kernels
from dedupcrawl.urls.template import Piece

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]

ABSENT = -1  # in place of a number: there is no such token
_UNKNOWN = -2
_NO, _YES = 1, 2  # answers that are kept; 0 is not asked yet


class Numbers:
    """A column of numbers that grows."""

    __slots__ = ("_data", "_used")

    def __init__(self, first: Sequence[int] | Ints = ()) -> None:
        self._data = np.array(first, dtype=np.int64)
        self._used = len(first)

    def __len__(self) -> int:
        return self._used

    @property
    def all(self) -> Ints:
        """Shape (len,): a view, to be looked at until the column grows."""
        return self._data[: self._used]

    def extend(self, more: Sequence[int] | Ints) -> None:
        """Add numbers at the end, in time linear in them."""
        end = self._used + len(more)
        if end > len(self._data):
            grown = np.empty(max(end, 2 * len(self._data), 16), dtype=np.int64)
            grown[: self._used] = self._data[: self._used]
            self._data = grown
        self._data[self._used : end] = more
        self._used = end


class Texts:
    """Texts by number, and what is known of each. Number 0 is the empty text."""

    def __init__(self) -> None:
        self._numbers = {"": 0}
        self._texts = [""]
        self._answers: dict[Hashable, Numbers] = {}
        self._built: dict[Piece, Numbers] = {}

    def __getitem__(self, number: int) -> str:
        return self._texts[number]

    def some(self, numbers: Ints) -> list[str]:
        """The texts of these numbers."""
        return list(map(self._texts.__getitem__, numbers.tolist()))

    def number(self, text: str) -> int:
        """The number of a text, a new one if it has none."""
        found = self._numbers.get(text)
        if found is None:
            found = self._numbers[text] = len(self._texts)
            self._texts.append(text)
        return found

    def numbers(self, texts: Sequence[str]) -> Ints:
        """The numbers of many texts. Shape (len(texts),)."""
        if kernels.compiled is not None:
            return np.frombuffer(kernels.compiled.numbered(self._numbers, self._texts, list(texts)), dtype=np.int64)
        for text in dict.fromkeys(texts):
            Texts.number(self, text)
        return np.fromiter(map(self._numbers.__getitem__, texts), np.int64, len(texts))

    def known(self, text: str) -> int:
        """The number of a text, or ABSENT."""
        return self._numbers.get(text, ABSENT)

    def fits(self, piece: Piece, numbers: Ints) -> Bools:
        """Which of these texts are of this form. Shape (n,)."""
        if piece.is_literal:
            found: Bools = numbers == self.known(piece.literals[0])
            return found
        capture = piece.captures[0]
        if piece.literals == ("", "") and not capture.words and not capture.characters:
            filled: Bools = numbers != 0
            return filled
        return self.which(lambda text: piece.match(text, {}), numbers, piece)

    def which(self, test: Callable[[str], bool], numbers: Ints, key: Hashable = None) -> Bools:
        """Which of these texts pass a test, which is asked once for each text. Shape (n,).

        Args:
            test: Says the same of a text every time.
            numbers: Of the texts.
            key: What the answers are kept under; the test itself if None.
        """
        known = self._answers.setdefault(key or test, Numbers())
        if len(known) < len(self._texts):
            known.extend(np.zeros(len(self._texts) - len(known), dtype=np.int64))
        answers = known.all
        if kernels.compiled is not None:
            kernels.compiled.answered(test, self._texts, answers, np.ascontiguousarray(numbers))
        else:
            for number in np.unique(numbers[answers[numbers] == 0]).tolist():
                answers[number] = _YES if test(self._texts[number]) else _NO
        found: Bools = answers[numbers] == _YES
        return found

    def captured(self, piece: Piece, numbers: Ints) -> dict[str, Ints]:
        """What the named captures of a form take of texts that fit it: name → shape (n,)."""
        names = [capture.name for capture in piece.captures if capture.name]
        if not names:
            return {}
        if piece.literals == ("", ""):
            return {names[0]: numbers}
        unique, where = np.unique(numbers, return_inverse=True)
        rows = []
        for number in unique.tolist():
            values: dict[str, str] = {}
            piece.match(self._texts[number], values)
            rows.append([self.number(values[name]) for name in names])
        table = np.array(rows, dtype=np.int64).reshape(-1, len(names))
        return {name: table[where, i] for i, name in enumerate(names)}

    def built(self, piece: Piece, values: dict[str, Ints], count: int) -> Ints:
        """The text of a form with these values, for each of `count` rows. Shape (count,)."""
        names = sorted({capture.name for capture in piece.captures if capture.name})
        if not names:
            return np.full(count, self.number(piece.build({})), dtype=np.int64)
        if piece.literals == ("", "") and not piece.captures[0].conversions:
            return values[names[0]]
        if len(names) == 1 and any(capture.conversions for capture in piece.captures):
            return self._built_of_one(piece, names[0], values[names[0]])
        key = values[names[0]]
        for name in names[1:]:
            key = np.unique(key, return_inverse=True)[1] << 32 | values[name]
        _, first, where = np.unique(key, return_index=True, return_inverse=True)
        made = [
            self.number(piece.build({name: self._texts[values[name][row]] for name in names})) for row in first.tolist()
        ]
        return np.array(made, dtype=np.int64)[where]

    def _built_of_one(self, piece: Piece, name: str, values: Ints) -> Ints:
        """The text of a form that converts a capture, converted once for each value. Shape (len(values),)."""
        known = self._built.setdefault(piece, Numbers())
        if len(known) < len(self._texts):
            known.extend(np.full(len(self._texts) - len(known), _UNKNOWN, dtype=np.int64))
        built = known.all
        new = values[built[values] == _UNKNOWN]
        for number in sorted(set(new.tolist())):
            built[number] = self.number(piece.build({name: self._texts[number]}))
        return built[values]


class ArgTexts(Texts):
    """Arguments by number, and the numbers of their names and values among other texts."""

    def __init__(self, texts: Texts) -> None:
        super().__init__()
        self._others = texts
        self._names = Numbers([0])
        self._new_names: list[int] = []
        self._values = Numbers()

    def number(self, text: str) -> int:
        """The number of an argument; its name has one at once, too, so that `known` tells which there are."""
        found = self._numbers.get(text)
        if found is None:
            found = super().number(text)
            self._new_names.append(self._others.number(text.partition("=")[0]))
        return found

    def numbers(self, texts: Sequence[str]) -> Ints:
        """The numbers of many arguments. Shape (len(texts),)."""
        before = len(self._texts)
        found = super().numbers(texts)
        self._new_names += [self._others.number(text.partition("=")[0]) for text in self._texts[before:]]
        return found

    def names(self, numbers: Ints) -> Ints:
        """The names of these arguments. Shape (n,)."""
        if self._new_names:
            self._names.extend(self._new_names)
            self._new_names = []
        return self._names.all[numbers]

    def values(self, numbers: Ints) -> Ints:
        """The values of these arguments; ABSENT for one without "=". Shape (n,)."""
        if len(self._values) < len(self._texts):
            self._values.extend(np.full(len(self._texts) - len(self._values), _UNKNOWN, dtype=np.int64))
        known = self._values.all
        new = numbers[known[numbers] == _UNKNOWN]
        for number in sorted(set(new.tolist())):
            _, equals, value = self._texts[number].partition("=")
            known[number] = self._others.number(value) if equals else ABSENT
        return known[numbers]
