"""What is kept beside a page comes back; what is not ours is an error."""

from __future__ import annotations

import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dedupcrawl.detection import attachments
from dedupcrawl.detection.attachments import AttachmentError, items_of, packed_item, packed_text, text_of


@given(st.lists(st.text(st.characters(exclude_characters="\n")), min_size=1, max_size=5))
def test_texts_and_items_come_back(paragraphs: list[str]) -> None:
    plain = [paragraph.encode("utf-8", "replace").decode() for paragraph in paragraphs]
    numbers = (11, 2, 9)
    attached = dict([packed_text(paragraphs), *(packed_item(number, f'{{"n": {number}}}') for number in numbers)])
    assert text_of(attached) == plain
    assert items_of(attached) == [b'{"n": 2}', b'{"n": 9}', b'{"n": 11}'], "in their order"


def test_what_is_not_there() -> None:
    assert text_of({}) is None
    assert items_of({"text": b""}) == []


def test_long_texts_are_cut_and_large_items_refused() -> None:
    name, raw = packed_text(["x" * 3_000_000])
    assert len((text_of({name: raw}) or [""])[0]) == 1_000_000
    with pytest.raises(AttachmentError, match="not kept"):
        packed_item(0, '"' + "x" * (1 << 24) + '"')


@pytest.mark.parametrize("raw", [b"", b"no zlib", zlib.compress(b"x" * 100)[:-3]])
def test_broken_bytes_are_an_error(raw: bytes) -> None:
    with pytest.raises(AttachmentError):
        text_of({"text": raw})


def test_a_bomb_is_unpacked_no_further_than_its_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(attachments, "_LIMIT", 1_000)
    with pytest.raises(AttachmentError, match="too large"):
        text_of({"text": zlib.compress(b"x" * 100_000)})
