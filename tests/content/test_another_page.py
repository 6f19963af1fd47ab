from __future__ import annotations

import random

import pytest

from dedupcrawl.content.evidence import confirm, outline
from dedupcrawl.content.probability import TARGET_PRECISION, threshold
from dedupcrawl.content.symbols import SymbolText

_SYLLABLES = "ba ce di fo gu ha je ki lo mu na pe ri so tu va we xi yo zu"
SYLLABLES = _SYLLABLES.split()
_FILLER = "the of and in to a that it is was for on with as at by from"
FILLER = _FILLER.split()


def word(chance: random.Random) -> str:
    return "".join(chance.choices(SYLLABLES, k=3))


def text(count: int, seed: int) -> list[str]:
    """Paragraphs of sentences of some 12 words, half of them filler."""
    chance = random.Random(seed)
    vocabulary = [word(chance) for _ in range(max(60, count // 3))]
    sentences = [
        " ".join(chance.choice(chance.choice((FILLER, vocabulary))) for _ in range(12)) for _ in range(count // 12)
    ]
    return [". ".join(sentences[at : at + 4]) for at in range(0, len(sentences), 4)]


def is_dropped(new: list[str], kept: list[str]) -> bool:
    found = confirm(outline(SymbolText.of(tuple(new))), outline(SymbolText.of(tuple(kept))))
    return found.probability >= threshold(TARGET_PRECISION)


@pytest.mark.parametrize(("length", "more"), [(600, 100), (1500, 300), (6000, 1000), (14000, 1000)])
@pytest.mark.parametrize("share", [0, 0.5, 1])
def test_a_long_paragraph_more_is_another_page(length: int, more: int, share: float) -> None:
    kept = text(length, 1)
    place = round(share * len(kept))
    own = " ".join(text(more, 2))
    grown = [*kept[:place], own, *kept[place:]]
    assert not is_dropped(grown, kept)
    assert is_dropped(kept, grown)


@pytest.mark.parametrize("length", [250, 600, 1500])
def test_a_frame_around_a_copy_is_none(length: int) -> None:
    kept = text(length, 3)
    stranger = " ".join(text(length, 4)).split()
    front, foot = " ".join(stranger[: length // 12]), " ".join(stranger[-length // 15 :])
    assert is_dropped([front, *kept, foot], kept)


def test_a_long_frame_is_more_than_that() -> None:
    kept = text(3000, 3)
    assert not is_dropped([*text(360, 5), *kept, *text(360, 6)], kept)


def test_a_block_in_place_of_another_is_another_page_however_long_the_rest() -> None:
    kept = text(9000, 7)
    new = [*kept[:50], " ".join(text(72, 8)), *kept[52:]]
    assert not is_dropped(new, kept)


@pytest.mark.parametrize("length", [300, 1500, 6000])
@pytest.mark.parametrize("changed", [2, 8])
def test_other_figures_are_other_figures_in_any_length(length: int, changed: int) -> None:
    chance = random.Random(length)
    kept = [
        f"In {chance.randint(1900, 2020)} there were {chance.randint(10, 999)} houses. {it}" for it in text(length, 9)
    ]
    places = chance.sample(range(len(kept)), min(changed, len(kept)))
    new = [it.replace("there were", "there were 1") if at in places else it for at, it in enumerate(kept)]
    new = [it.replace("there were 1 ", "there were 1") for it in new]
    assert not is_dropped(new, kept)


SENTENCES = [
    ("The medicine is safe for children.", "The medicine is not safe for children."),
    ("The jury found the defendant guilty after two days.", "The jury found the defendant innocent after two days."),
    ("Prices of grain rose in the last week.", "Prices of grain fell in the last week."),
    ("Anna Berg sues Omar Haddad for the lake house.", "Omar Haddad sues Anna Berg for the lake house."),
    ("The valve is on when the lamp is lit.", "The valve is off when the lamp is lit."),
]


@pytest.mark.parametrize("length", [160, 900, 3000])
@pytest.mark.parametrize(("one", "other"), SENTENCES)
def test_what_turns_a_sentence_around_tells_pages_apart(length: int, one: str, other: str) -> None:
    around = text(length, 10)
    assert not is_dropped([*around, one], [*around, other])
    assert not is_dropped([*around, other], [*around, one])


def test_answers_to_the_same_questions() -> None:
    chance = random.Random(11)
    questions = [" ".join(text(12, seed)) for seed in range(30)]
    one, other = (
        [f"{question}: {chance.choice(('agree', 'disagree', 'undecided'))}" for question in questions] for _ in range(2)
    )
    assert not is_dropped(one, other)


def test_somebody_who_edits_a_text_may_hit_any_word() -> None:
    kept = text(1200, 12)
    chance = random.Random(13)
    words = " \n ".join(kept).split(" ")
    vocabulary = [it for it in words if it != "\n"]
    for share in (0.02, 0.05, 0.1):
        places = chance.sample([at for at, it in enumerate(words) if it != "\n"], round(share * len(words)))
        new = list(words)
        for place in places:
            new[place] = chance.choice(vocabulary)
        assert is_dropped(" ".join(new).split("\n"), kept)
