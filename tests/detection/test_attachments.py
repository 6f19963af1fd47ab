"""What is kept beside a page comes back."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dedupcrawl.detection.attachments import items_of, packed_item, packed_text, text_of


@given(st.lists(st.text(st.characters(exclude_characters="\n")), min_size=1, max_size=5))
def test_texts_and_items_come_back(paragraphs: list[str]) -> None:
    plain = [paragraph.encode("utf-8", "replace").decode() for paragraph in paragraphs]
    numbers = (11, 2, 9)
    attached = dict([packed_text(paragraphs), *(packed_item(number, f'{{"n": {number}}}') for number in numbers)])
    assert text_of(attached) == plain
    assert items_of(attached) == [b'{"n": 2}', b'{"n": 9}', b'{"n": 11}'], "in their order"


def test_long_texts_are_cut_and_large_items_refused() -> None:
    name, raw = packed_text(["x" * 3_000_000])
    assert len((text_of({name: raw}) or [""])[0]) == 1_000_000
    with pytest.raises(ValueError, match="not kept"):
        packed_item(0, '"' + "x" * (1 << 24) + '"')
