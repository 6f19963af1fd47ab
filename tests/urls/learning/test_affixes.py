from __future__ import annotations

import random

import pytest

from tests.urls.learning.sites import SITE, forms, learned, words


@pytest.mark.parametrize("mark", ["~", "@"])
def test_a_folder_that_is_a_mark_in_another_spelling(mark: str) -> None:
    chance = random.Random(4)
    people = [words(chance, 1) for _ in range(40)]
    rules = learned([[f"{SITE}/people/{name}", f"{SITE}/{mark}{name}"] for name in people])
    assert len(set(forms(rules, "/people/unheard", f"/{mark}unheard"))) == 1
    assert len(set(forms(rules, "/people/unheard", f"/{mark}of", "/unheard", "/jobs/unheard"))) == 4
