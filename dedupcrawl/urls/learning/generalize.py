"""The narrowest form that holds all values that were seen, and may hold others: literal < words < kind < any.

How much may be concluded about values that no log had is one question wherever it is asked: about arguments that are
removed, segments that are forgotten, and the sections, scripts and depths to which a rule applies. If n values all
behaved alike, at least .2 ** (1 / n) of all values do, 80 % sure (Clopper-Pearson, no failure): .58 for three, .76 for
six, .87 for twelve. A kind of values (numbers, random tokens) is believed at a lower share than any value at all,
because its values are alike.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence

from dedupcrawl.urls.learning.written import capture, is_expressible, is_value, literal
from dedupcrawl.urls.template import SHORTEST_TOKEN, Piece

# Values that speak for others, on fifteen mirrors, seeds 3 and 4 (recall .4811):
_KIND = 3  # of their kind. 2: as much; 6: .4809
_ANY = 6  # of any. 3: .4822, freetz.org .993 safe, not .996; 12: .4802
_OPEN = 12  # of any segment: more often than values of arguments they are pages of their own. 6 and 24: the same rules
MOST_WORDS = 40  # that a rule names. 20: .4809; 80: .4765

_TOKEN = re.compile(rf"(?=.*[0-9])[0-9A-Fa-f]{{{SHORTEST_TOKEN},}}")
_NUMBER = re.compile(r"[0-9]+")
_DELIMITERS = "-_+~"


def is_open(seen: int) -> bool:
    """True when so many values that behaved alike speak for any other one."""
    return seen >= _ANY


def is_kind_known(seen: int) -> bool:
    """True when so many speak for others of their kind."""
    return seen >= _KIND


def kind_of(values: Iterable[str]) -> str:
    """Which of "digits" and "token" all values are; empty for none.

    >>> kind_of(["7", "12"]), kind_of(["0af31c88", "99c1d2e3"]), kind_of(["7", "x"])
    ('digits', 'token', '')
    """
    values = list(values)
    if values and all(map(_NUMBER.fullmatch, values)):
        return "digits"
    return "token" if values and all(map(_TOKEN.fullmatch, values)) else ""


def of_arguments(values: Collection[str | None]) -> list[Piece | None] | None:
    """Forms of the values of an argument that make no difference; None for any value.

    None among the values is the argument without "=".
    """
    texts = sorted({value for value in values if value})
    distinct = len({value.lstrip("0") if kind_of([value]) == "digits" else value for value in texts})
    kind = kind_of(texts)
    if is_open(distinct) and kind != "token":
        return None
    if kind and is_kind_known(distinct):
        return [Piece(("", ""), (capture("", kind),))]
    forms: list[Piece | None] = []
    good = [text for text in texts if is_value(text) and "|" not in text][:MOST_WORDS]
    if good:
        forms.append(literal(good[0]) if len(good) == 1 else Piece(("", ""), (capture("", words=good),)))
    if "" in values:
        forms.append(literal(""))
    if None in values:
        forms.append(None)
    return forms


def of_segments(values: Collection[str], name: str = "") -> Piece | None:  # noqa: PLR0911 - narrowest first
    """The form of segments, or parts of them, that make no difference; None when there is none that can be said."""
    texts = sorted(values)
    if not texts or not all(map(is_expressible, texts)):
        return None
    if len(texts) == 1:
        return literal(texts[0])
    front, end = common_ends(texts)
    cores = [text[len(front) : len(text) - len(end)] for text in texts]
    distinct = len({core.lstrip("0") for core in cores})
    words = len(texts) <= MOST_WORDS and not any("|" in text for text in texts)
    if (form := of_kind(texts, name)) is not None:
        return form
    if is_open(distinct) and (front or end) and all(cores):
        return Piece((front, end), (capture(name),))
    if is_open(distinct):
        for mark in _DELIMITERS:
            if all(mark in text[1:-1] for text in texts):
                return Piece(("", mark, ""), (capture(), capture()))
    if distinct >= _OPEN:
        return Piece(("", ""), (capture(name),))
    return Piece(("", ""), (capture(name, words=texts),)) if words else None


def of_kind(texts: Sequence[str], name: str = "") -> Piece | None:
    """The form of numbers or tokens, with what all have before and behind them; None when they are none, or too few."""
    front, end = common_ends(texts)
    for start in (i for i in range(len(front) + 1) if all(_is_edge(text, i) for text in texts)):
        for stop in (i for i in range(len(end) + 1) if all(_is_edge(text, len(text) - i) or not i for text in texts)):
            cores = [text[start : len(text) - stop] for text in texts]
            kind = kind_of(cores)
            if kind and is_kind_known(len({core.lstrip("0") for core in cores})):
                return Piece((texts[0][:start], texts[0][len(texts[0]) - stop :]), (capture(name, kind),))
    return None


def common_ends(texts: Collection[str]) -> tuple[str, str]:
    """What all texts begin and end with, cut where a word or a number ends; the rest of each is not empty.

    >>> common_ends(["a-1.html", "a-22.html"])
    ('a-', '.html')
    """
    front = _start(texts)
    while front and not all(_is_edge(text, len(front)) for text in texts):
        front = front[:-1]
    back = _start([text[len(front) :][::-1] for text in texts])[::-1]
    while back and not all(
        _is_edge(text, len(text) - len(back)) and len(text) > len(front) + len(back) for text in texts
    ):
        back = back[1:]
    if any(len(text) == len(front) for text in texts):
        front = ""
    return front, back


def common_start(one: Sequence[str], other: Sequence[str]) -> int:
    """How much two sequences, or texts, have in common at the front."""
    size = 0
    while size < min(len(one), len(other)) and one[size] == other[size]:
        size += 1
    return size


def _start(texts: Collection[str]) -> str:
    first, last = min(texts), max(texts)  # all others lie between
    return first[: common_start(first, last)]


def _is_edge(text: str, at: int) -> bool:
    if not 0 < at < len(text):
        return at == 0
    before, after = text[at - 1], text[at]
    return not (before.isalnum() and after.isalnum()) or before.isdigit() != after.isdigit()
