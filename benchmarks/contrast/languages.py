"""What the edits know of a language (`languages.json`), and which language a text is in.

zh-Hant is zh-Hans by OpenCC. In the data members of a group fit each other's places: units, ordinals, with and without
a negation, opposites. A pair of `synonyms` or `spellings` says the same. `facts` are sentences for pages that have none
of a kind, with what may stand in their places; `reversed` is a pattern of "from A to B". `labelled` lines state a fact,
`volatile` ones differ each time that a page is fetched: type → label and values. A title that says `more` is another.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterable
from functools import cache
from itertools import accumulate, pairwise
from pathlib import Path

import msgspec
import opencc
import rjieba

OUTSIDE = r"(?![^<>]*>)"
"""Pattern: not within a tag."""

_DATA = Path(__file__).with_name("languages.json")
_HAN = "\u4e00-\u9fff"
_SCRIPTS = {
    "th": "\u0e01-\u0e3a",
    "ja": "\u3041-\u30ff",
    "ko": "\uac00-\ud7a3",
    "ru": "а-яё",
    "ar": "\u0621-\u064a",
    "zh": _HAN,
}
_SCRIPT_SHARE = 0.25  # of the letters; technical pages are full of Latin names
_TRADITIONAL, _SIMPLIFIED = "這國們說時會個來對發後過還為", "这国们说时会个来对发后过还为"
_LEAST_STOP_WORDS = 0.08  # of the words: 12 to 30 % of running text, 3 % of a menu

Groups = list[list[str]]


class Language(msgspec.Struct, frozen=True):
    """One language."""

    spaced: bool
    months: list[str]
    lines: dict[str, str]
    persons: list[str]
    places: list[str]
    adverts: list[str]
    labelled: dict[str, tuple[str, list[str]]]
    volatile: dict[str, tuple[str, list[str]]]
    more: list[str]
    groups: dict[str, Groups]
    synonyms: Groups
    spellings: Groups
    reversed: str
    facts: dict[str, tuple[str, list[str]]]
    stop: list[str] = []
    words: list[str] = []
    name: str = ""

    def pattern(self, words: Iterable[str]) -> re.Pattern[str]:
        """Any of these words, whole where the language has spaces, outside of tags; the longest first."""
        either = "|".join(map(re.escape, sorted(words, key=len, reverse=True)))
        before, behind = (r"(?<![\w'-])", r"(?![\w'-])") if self.spaced else ("", "")
        return re.compile(f"{before}(?:{either}){behind}{OUTSIDE}", re.IGNORECASE)

    def fixed(self) -> re.Pattern[str]:
        """What a change of common words leaves alone: it denies, decides, counts or names."""
        grouped = (phrase for groups in self.groups.values() for group in groups for phrase in group)
        return self.pattern((*grouped, *self.months, *self.persons))

    def spans(self, text: str) -> list[tuple[int, int]]:
        """Where the words of a text stand: of Chinese those of two letters and more, of Japanese those in Han and
        Katakana, of Thai those that the data have."""
        if self.spaced:
            pattern = r"[^\W\d_]+(?:['-][^\W\d_]+)*"
        elif self.name == "ja":
            pattern = rf"[{_HAN}]{{2,4}}|[\u30a1-\u30ff]{{3,}}"
        elif self.name == "th":
            listed = {*self.words, *(word for pair in self.synonyms for word in pair)}
            pattern = "|".join(sorted(listed, key=len, reverse=True))
        else:
            ends = [0, *accumulate(map(len, rjieba.cut(text)))]
            return [two for two in pairwise(ends) if re.fullmatch(rf"[{_HAN}]{{2,}}", text[slice(*two)])]
        return [found.span() for found in re.finditer(pattern, text)]

    def day(self, chance: random.Random) -> str:
        """A date as a dateline has it."""
        year = chance.randint(2015, 2025) + (543 if self.name == "th" else 0)
        return self.lines["date"].format(day=chance.randint(1, 28), month=chance.choice(self.months), year=year)


@cache
def languages() -> dict[str, Language]:
    """Name → language."""
    text = _DATA.read_text("utf-8")
    read = msgspec.json.decode(text, type=dict[str, Language])
    read["zh-Hant"] = msgspec.json.decode(opencc.OpenCC("s2twp").convert(text), type=dict[str, Language])["zh-Hans"]
    for one in read.values():
        one.groups["place"] = [one.places]
    return {name: msgspec.structs.replace(one, name=name) for name, one in read.items()}


def language_of(text: str) -> str | None:
    """The name of the language of a running text; None: of none that is known, or of several."""
    letters = sum(map(str.isalpha, text))
    for name, script in _SCRIPTS.items():
        if len(re.findall(f"[{script}]", text.lower())) > _SCRIPT_SHARE * letters:
            if name != "zh":
                return name
            traditional, simplified = (sum(map(text.count, some)) for some in (_TRADITIONAL, _SIMPLIFIED))
            return "zh-Hant" if traditional > simplified else "zh-Hans"
    words = re.findall(r"[^\W\d_]+", text.lower())
    counts = {name: sum(map(words.count, one.stop)) for name, one in languages().items()}
    best = max(counts, key=counts.__getitem__)
    return best if counts[best] > _LEAST_STOP_WORDS * len(words) else None
