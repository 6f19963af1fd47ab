"""Variants of a text whose relation to it is known: edits, cuts, excerpts, wrappers; and pages that only look alike."""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Mapping, Sequence

from dedupcrawl.core.characters import CJK
from dedupcrawl.core.symbols import SymbolText

Paragraphs = tuple[str, ...]

WORD = re.compile(f"[{CJK}]{{1,2}}|[^\\W_{CJK}]+")
"""A word, near enough: two CJK characters, or a run of letters and digits."""


def words(paragraphs: Sequence[str]) -> list[str]:
    """All words in order."""
    return [word for paragraph in paragraphs for word in WORD.findall(paragraph)]


def size(paragraphs: Sequence[str]) -> int:
    """How many words there are."""
    return sum(len(WORD.findall(paragraph)) for paragraph in paragraphs)


def head(paragraphs: Sequence[str], least: int) -> Paragraphs:
    """The first paragraphs that have `least` words together."""
    taken: list[str] = []
    count = 0
    for paragraph in paragraphs:
        taken.append(paragraph)
        count += len(WORD.findall(paragraph))
        if count >= least:
            break
    return tuple(taken)


def replaced(paragraphs: Paragraphs, share: float, vocabulary: Sequence[str], chance: random.Random) -> Paragraphs:
    """Exactly this share of the words, spread at random, replaced by words of `vocabulary`."""
    return _edited(paragraphs, share, lambda word: chance.choice(vocabulary), chance)


def edited(paragraphs: Paragraphs, share: float, vocabulary: Sequence[str], chance: random.Random) -> Paragraphs:
    """This share of the words replaced, deleted or followed by a new one, each as often."""

    def edit(word: str) -> str:
        kind = chance.randrange(3)
        return ("" if kind else word + " ") + (chance.choice(vocabulary) if kind < 2 else "")

    return _edited(paragraphs, share, edit, chance)


def _edited(paragraphs: Paragraphs, share: float, edit: object, chance: random.Random) -> Paragraphs:
    assert callable(edit)
    count = size(paragraphs)
    chosen = set(chance.sample(range(count), round(share * count)))
    numbers = iter(range(count))
    return tuple(
        WORD.sub(lambda word: edit(word[0]) if next(numbers) in chosen else word[0], paragraph)
        for paragraph in paragraphs
    )


def shuffled(paragraphs: Paragraphs, chance: random.Random) -> Paragraphs:
    """The text in about five blocks, in another order."""
    edges = sorted(chance.sample(range(1, len(paragraphs)), min(4, len(paragraphs) - 1)))
    blocks = [paragraphs[a:b] for a, b in zip([0, *edges], [*edges, len(paragraphs)], strict=True)]
    chance.shuffle(blocks)
    return tuple(paragraph for block in blocks for paragraph in block)


def cut(paragraphs: Paragraphs, share: float, begin: float = 0.0) -> Paragraphs:
    """The words from `begin` on that make up this share of the text, paragraphs kept."""
    count = size(paragraphs)
    first, last = round(begin * count), round((begin + share) * count)
    taken: list[str] = []
    number = 0
    for paragraph in paragraphs:
        found = list(WORD.finditer(paragraph))
        inside = found[max(0, first - number) : max(0, last - number)]
        if inside:
            taken.append(paragraph[inside[0].start() : inside[-1].end()])
        number += len(found)
    return tuple(taken)


def excerpt(paragraphs: Paragraphs, share: float, chance: random.Random) -> Paragraphs:
    """A piece of this share from anywhere."""
    return cut(paragraphs, share, chance.uniform(0, 1 - share))


def in_template(own: Paragraphs, template: Paragraphs, places: Sequence[int]) -> Paragraphs:
    """A page of one template: the own text, in as many pieces as there are `places` between template paragraphs."""
    count = len(places)
    pieces = [cut(own, 1 / count, number / count) for number in range(count)]
    page: list[str] = []
    for number in range(len(template) + 1):
        for piece, place in zip(pieces, places, strict=True):
            if place == number:
                page += piece
        page += template[number : number + 1]
    return tuple(page)


def other_figures(paragraphs: Paragraphs, count: int, chance: random.Random) -> Paragraphs:
    """Another day's bulletin: `count` numbers (all, when there are fewer) replaced by others of as many digits."""
    numbers = re.compile(r"[0-9]+")
    found = sum(len(numbers.findall(paragraph)) for paragraph in paragraphs)
    chosen = set(chance.sample(range(found), min(count, found)))
    counter = iter(range(found))

    def change(number: re.Match[str]) -> str:
        if next(counter) not in chosen:
            return number[0]
        while (other := "".join(chance.choice("123456789") for _ in number[0])) == number[0]:
            pass
        return other

    return tuple(numbers.sub(change, paragraph) for paragraph in paragraphs)


_DIGIT_WORDS = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"]
_CHINESE_DIGITS = str.maketrans("0123456789", "〇一二三四五六七八九")


def in_words(paragraphs: Paragraphs, chinese: bool) -> Paragraphs:
    """The text with its numbers written as words, digit by digit."""

    def written(number: re.Match[str]) -> str:
        return number[0].translate(_CHINESE_DIGITS) if chinese else " ".join(_DIGIT_WORDS[int(it)] for it in number[0])

    return tuple(re.sub("(?<![A-Za-z0-9])[0-9]+(?![A-Za-z0-9])", written, paragraph) for paragraph in paragraphs)


def exchanged(paragraphs: Paragraphs, other: Mapping[str, str]) -> Paragraphs:
    """Another thing in the same words: every occurrence of these words or names replaced, in small letters or not."""
    pattern = re.compile(
        "|".join(rf"(?<![A-Za-z0-9]){re.escape(word)}(?![A-Za-z0-9])" for word in other), re.IGNORECASE
    )
    folded = {word.lower(): instead for word, instead in other.items()}

    def change(found: re.Match[str]) -> str:
        instead = folded[found[0].lower()]
        return instead.capitalize() if found[0][0].isupper() and instead.islower() else instead

    return tuple(pattern.sub(change, paragraph) for paragraph in paragraphs)


_AFFIRMED = re.compile(
    r"\b(?:is|are|was|were|can|could|should|will|would|must|does|do|has|have)\b(?! not)"
    r"|(?<!不)(?:能|会|是|支持|可以|需要|允许|包含)"
)
_NEGATED = re.compile(r"(?<=\w) not\b|不(?=能|会|是|支持|可以|需要|允许|包含)")


def negated(paragraphs: Paragraphs, chance: random.Random) -> Paragraphs | None:
    """The contrary: one "not" put in, or left out where there is one; None where there is no place for it."""
    text = "\n".join(paragraphs)
    places = [(found, "") for found in _NEGATED.finditer(text)]
    if not places or chance.random() < 0.5:
        places = [
            (found, f"{found[0]} not" if found[0].isascii() else f"不{found[0]}") for found in _AFFIRMED.finditer(text)
        ]
    if not places:
        return None
    found, instead = chance.choice(places)
    return tuple((text[: found.start()] + instead + text[found.end() :]).split("\n"))


FALSE_SHARE = 0.25  # a drop whose words differ from its keeper's in more is a false one


def differing_share(new: Paragraphs, kept: Paragraphs) -> float:
    """Share of a page's words that its keeper does not have, each as often: a yardstick that knows no alignment."""
    its_words = Counter(words(new))
    return (its_words - Counter(words(kept))).total() / its_words.total()


def shingle_jaccard(a: Paragraphs, b: Paragraphs) -> float:
    """Of five symbols."""
    one, two = (
        {tuple(symbols[place : place + 5]) for place in range(len(symbols) - 4)}
        for symbols in (SymbolText.of(page).symbols for page in (a, b))
    )
    return len(one & two) / max(1, len(one | two))
