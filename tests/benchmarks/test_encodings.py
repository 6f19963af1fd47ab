"""The measure of how pages without a label are read, on pages made of sentences, and what it says of ours."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from benchmarks import encodings
from benchmarks.encoding_texts import SENTENCES
from dedupcrawl.content.encoding import decode


def test_nearly_all_pages_are_read_right_whatever_their_charset_and_damage(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = {name: kept for name, all_ in encodings.CHARSETS.items() if (kept := _made(all_))}
    monkeypatch.setattr(encodings, "CHARSETS", made)
    right, count = Counter[tuple[str, int]](), Counter[tuple[str, int]]()
    for case in encodings.cases(tmp_path, None, 6):
        for charset in (case.charset, "all"):
            count[charset, case.damage] += 1
            right[charset, case.damage] += case.is_right(decode(case.body))
    assert len(made) >= 15
    assert all(right[name, 0] == count[name, 0] for name in made)
    assert right["all", 1] >= 0.97 * count["all", 1]
    assert right["all", 10] >= 0.92 * count["all", 10]


def _made(languages: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(language for language in languages if language in SENTENCES)


def test_a_page_is_right_but_for_characters_at_damaged_bytes() -> None:
    case = encodings.Case("cp1251", 1, "один".encode("cp1251"), frozenset((2,)))
    assert case.is_right("один")
    assert case.is_right("од?н")
    assert not case.is_right("о?ин")
    assert not case.is_right("од")
