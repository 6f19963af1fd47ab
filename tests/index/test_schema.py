"""Headers: an index of other checks is refused, and the refusal says what differs."""

from __future__ import annotations

import msgspec
import pytest

from dedupcrawl.content.checks.base import Check
from dedupcrawl.index.errors import IndexDamagedError, IndexMismatchError
from dedupcrawl.index.schema import FORMAT, check_header, header_of, read_schema, url_key
from tests.index.toys import CHECKS, EqualCheck, EqualOff, LettersCheck

HEADER = header_of(CHECKS, 64)


@pytest.mark.parametrize(
    ("checks", "told"),
    [
        ([EqualCheck()], "it holds the checks equal, letters, but equal are switched on"),
        ([*CHECKS, EqualCheck(name="third")], "but equal, letters, third are"),
        ([EqualCheck(version=2), LettersCheck()], "equal was made with version = 1 and now has version = 2"),
        ([EqualCheck(), LettersCheck(payload_bits=5)], "payload_bits = 4 and now has payload_bits = 5"),
        ([EqualCheck(), LettersCheck(share=0.5)], "share = 0.75 and now has share = 0.5"),
    ],
)
def test_what_differs_is_told(checks: list[Check], told: str) -> None:
    with pytest.raises(IndexMismatchError, match="index at /some/where cannot be used") as caught:
        check_header(HEADER, checks, "/some/where")
    assert told in str(caught.value)
    assert "another path" in str(caught.value)


def test_the_settings_of_a_check_count_from_the_crawl_that_has_it_on() -> None:
    raw = msgspec.msgpack.encode(header_of((EqualOff(), LettersCheck()), 64))
    for version in (2, 3):
        assert not read_schema(raw, (EqualOff(version=version), LettersCheck()), "here").header.checks[0].settings
    bound = msgspec.msgpack.encode(read_schema(raw, (EqualCheck(version=2), LettersCheck()), "here").header)
    with pytest.raises(IndexMismatchError, match="equal was made with version = 2 and now has version = 3"):
        read_schema(bound, (EqualCheck(version=3), LettersCheck()), "here")
    assert read_schema(bound, (EqualOff(version=3), LettersCheck()), "here").header.checks[0].settings["version"] == 2
    with pytest.raises(IndexMismatchError, match="edges = 4 and now has edges = 2"):  # it folds others' pages
        read_schema(bound, (EqualOff(edges=2), LettersCheck()), "here")


def test_another_format_is_a_mismatch_and_noise_is_damage() -> None:
    newer = msgspec.msgpack.encode({"format": FORMAT + 1, "anything": 1})
    with pytest.raises(IndexMismatchError, match=f"has format {FORMAT + 1}, this version reads {FORMAT}"):
        read_schema(newer, (), "here")
    for raw in (b"", b"\xc1", b"\x93\x01\x02\x03", msgspec.msgpack.encode({"format": FORMAT}), b"\x81\xa3f\xe9r\x01"):
        with pytest.raises(IndexDamagedError, match="here"):
            read_schema(raw, (), "here")


def test_url_keys_are_part_of_the_format() -> None:
    assert url_key("http://example.com/") == 481213410437047035
