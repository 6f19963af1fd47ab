from __future__ import annotations

import random

import pytest

from dedupcrawl.urls.learning.affixes import boundaries, marked
from tests.urls.learning.sites import SITE, forms, learned, words


def test_boundaries() -> None:
    assert boundaries("tt0810") == {0, 2, 6}
    assert boundaries("lttU7d6kIuGq") == {0, 12}


def test_long_texts_have_no_boundaries_but_their_ends() -> None:
    assert boundaries("a-b") == {0, 1, 2, 3}
    assert boundaries("a-" * 5000) == {0, 10_000}


@pytest.mark.parametrize("mark", ["~", "@"])
def test_a_folder_that_is_a_mark_in_another_spelling(mark: str) -> None:
    chance = random.Random(4)
    people = [words(chance, 1) for _ in range(40)]
    rules = learned([[f"{SITE}/people/{name}", f"{SITE}/{mark}{name}"] for name in people])
    assert len(set(forms(rules, "/people/unheard", f"/{mark}unheard"))) == 1
    assert len(set(forms(rules, "/people/unheard", f"/{mark}of", "/unheard", "/jobs/unheard"))) == 4


def test_other_words_before_a_name_are_no_mark() -> None:
    assert not list(marked(["people", "joe"], ["x-joe"], "", ""))
    assert not list(marked(["people", "joe"], ["joe"], "", ""))
    assert not list(marked(["people", ""], ["~"], "", ""))
    assert [one.match for one in marked(["~joe"], ["people", "joe"], "/{x0}", "?a={}")] == ["/{p*}/~{name}/{x0}?a={}"]
