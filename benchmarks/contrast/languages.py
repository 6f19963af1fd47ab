"""What the edits know of a language: `languages.toml`, and which language a text is in."""

from __future__ import annotations

import random
import re
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

import opencc
import rjieba

Groups = tuple[tuple[str, ...], ...]

_DATA = Path(__file__).with_name("languages.toml")
_OUTSIDE_TAGS = r"(?![^<>]*>)"
_SCRIPTS = {
    "th": "[\u0e01-\u0e3a]",
    "ja": "[\u3041-\u30ff]",
    "ko": "[\uac00-\ud7a3]",
    "ru": "[а-яё]",
    "ar": "[\u0621-\u064a]",
    "zh": "[\u4e00-\u9fff]",
}
_SCRIPT_SHARE = 0.25  # of the letters; Japanese news has .4 of kana, technical pages are full of Latin names
_TRADITIONAL = set("這國們說時會個來對發後過還為")
_SIMPLIFIED = set("这国们说时会个来对发后过还为")
_LEAST_STOP_WORDS = 0.08  # of the words: 12 to 30 % of running text, 3 % of a menu


@dataclass(frozen=True)
class Language:
    """One language; groups are words of which each fits the place of the others."""

    name: str
    spaced: bool
    stop: tuple[str, ...]
    months: tuple[str, ...]
    date: str
    lines: dict[str, str]
    persons: tuple[str, ...]
    places: tuple[str, ...]
    adverts: tuple[str, ...]
    cookies: str
    related: str
    printed: str
    part: str
    units: Groups
    ordinals: Groups
    negations: Groups
    opposites: Groups
    synonyms: Groups
    spellings: Groups
    reversed: str
    facts: dict[str, tuple[str, tuple[str, ...]]]
    common: tuple[str, ...] = ()

    def pattern(self, words: Iterable[str]) -> re.Pattern[str]:
        """Any of these words, whole where the language has spaces, outside of tags; the longest first."""
        either = "|".join(re.escape(word) for word in sorted(words, key=len, reverse=True))
        edge = (r"(?<![\w'-])", r"(?![\w'-])") if self.spaced else ("", "")
        return re.compile(f"{edge[0]}(?:{either}){edge[1]}{_OUTSIDE_TAGS}", re.IGNORECASE)

    @cached_property
    def fixed(self) -> frozenset[str]:
        """Words that a change of common words leaves alone: they negate, decide, count or name."""
        groups = (*self.negations, *self.opposites, *self.units, *self.ordinals)
        listed = [word for group in groups for phrase in group for word in (phrase, *phrase.split())]
        return frozenset(map(str.lower, [*listed, *self.months, *self.persons, *self.places]))

    def words(self, text: str) -> list[tuple[int, int]]:
        """Where the words of a text stand; of Thai those that are known."""
        if self.spaced:
            return [found.span() for found in re.finditer(r"[^\W\d_]+(?:['-][^\W\d_]+)*", text)]
        if self.name.startswith("zh"):
            spans, at = [], 0
            for word in rjieba.cut(text):
                if len(word) > 1 and all("\u4e00" <= letter <= "\u9fff" for letter in word):
                    spans.append((at, at + len(word)))
                at += len(word)
            return spans
        known = re.compile(r"[\u4e00-\u9fff]{2,4}|[\u30a1-\u30ff]{3,}") if self.name == "ja" else self._known
        return [found.span() for found in known.finditer(text)]

    @cached_property
    def _known(self) -> re.Pattern[str]:
        listed = [word for group in self.synonyms for word in group]
        return re.compile("|".join(map(re.escape, sorted({*self.common, *listed}, key=len, reverse=True))))

    def day(self, chance: random.Random) -> str:
        """A date as a dateline has it."""
        year = chance.randint(2015, 2025) + (543 if self.name == "th" else 0)
        return self.date.format(day=chance.randint(1, 28), month=chance.choice(self.months), year=year)


@cache
def languages() -> dict[str, Language]:
    """Name → language."""
    text = _DATA.read_text("utf-8")
    read = tomllib.loads(text)
    read["zh-Hant"] = tomllib.loads(opencc.OpenCC("s2twp").convert(text))["zh-Hans"]
    return {name: _language(name, row) for name, row in read.items()}


def _language(name: str, row: dict[str, object]) -> Language:
    def entries(key: str) -> tuple[str, ...]:
        return tuple(str(row.get(key, "")).split("|"))

    def groups(key: str) -> Groups:
        return tuple(tuple(group.split("/")) for group in entries(key))

    facts: dict[str, list[str]] = row["facts"]  # type: ignore[assignment]
    lines: dict[str, str] = row["lines"]  # type: ignore[assignment]
    texts = {key: str(row[key]) for key in ("date", "cookies", "related", "printed", "part", "reversed")}
    grouped = {
        key: groups(key) for key in ("units", "ordinals", "negations", "opposites", "synonyms", "spellings")
    }
    listed = {key: entries(key) for key in ("stop", "months", "persons", "places", "adverts")}
    return Language(
        name=name,
        spaced=bool(row["spaced"]),
        lines=lines,
        facts={
            kind: (said, tuple(values.split("|")) if values else listed["persons" if kind == "name" else "places"])
            for kind, (said, values) in facts.items()
        },
        common=entries("words") if "words" in row else (),
        **texts,  # type: ignore[arg-type]
        **grouped,  # type: ignore[arg-type]
        **listed,  # type: ignore[arg-type]
    )


def language_of(text: str) -> str | None:
    """The name of the language of a running text; None: of none that is known, or of several."""
    letters = max(1, sum(map(str.isalpha, text)))
    for name, letter in _SCRIPTS.items():
        if len(re.findall(letter, text.lower())) > _SCRIPT_SHARE * letters:
            if name != "zh":
                return name
            traditional, simplified = (sum(map(text.count, one)) for one in (_TRADITIONAL, _SIMPLIFIED))
            return "zh-Hant" if traditional > simplified else "zh-Hans"
    words = re.findall(r"[^\W\d_]+", text.lower())
    shares = {
        name: sum(map(words.count, one.stop)) / max(1, len(words))
        for name, one in languages().items()
        if name in ("en", "de", "fr", "es")
    }
    best = max(shares, key=shares.__getitem__)
    return best if shares[best] > _LEAST_STOP_WORDS else None
