"""Rows and their evidence, packed for a browser."""

from __future__ import annotations

import base64
import json
import re
import zlib
from importlib.resources import files
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dedupcrawl.report import listing
from dedupcrawl.report.listing import CHUNK, Listing, packed, row_of
from dedupcrawl.verdict import Outcome, Verdict
from tests.report.made import EVIDENCE, doubted, duplicate

SCRIPT = (files("dedupcrawl.report") / "assets" / "report.js").read_text(encoding="utf-8")
JSON = st.recursive(
    st.none() | st.booleans() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


def unpacked(text: str) -> Any:
    return json.loads(zlib.decompress(base64.b64decode(text)))


@pytest.mark.parametrize(
    ("verdict", "row"),
    [
        (
            duplicate("http://a/2", "http://a/1"),
            (("http://a/2", "http://a/1", "simhash", 0.9, 0.97, 0.78, False), EVIDENCE),
        ),
        (
            doubted("http://a/3", "http://a/1"),
            (("http://a/3", "http://a/1", "shingles", 0.8, 0.5, 0.78, True), {**EVIDENCE, "probability": 0.5}),
        ),
        (
            duplicate("http://a/2", "http://a/1", "exact"),
            (("http://a/2", "http://a/1", "exact", 1.0, None, None, False), {}),
        ),
        *((Verdict("http://a/2", "unique", evidence=other), None) for other in ({}, {"in_doubt": "no dict"})),
    ],
    ids=["a duplicate", "a page in doubt", "an exact one has no probability", "no other", "nor a broken one"],
)
def test_a_duplicate_and_a_page_in_doubt_are_rows(verdict: Verdict, row: object) -> None:
    assert row_of(verdict) == row


def test_evidence_lies_in_the_chunk_of_its_row() -> None:
    made = Listing()
    for number in range(CHUNK + 3):
        pair = row_of(duplicate(f"http://a/{number}", f"http://a/kept-{number % 2}", edits=number))
        assert pair is not None
        made.add(*pair)
    chunks = [unpacked(chunk) for chunk in made.evidence()]
    assert [len(chunk) for chunk in chunks] == [CHUNK, 3]
    assert chunks[1][2]["edits"] == CHUNK + 2
    columns = made.columns({"http://a/1": "One", "http://a/kept-1": "Kept"}, {"http://a/kept-0": "http://a/larger"})
    assert columns["url"][CHUNK + 2] == f"http://a/{CHUNK + 2}"
    assert columns["kept"] == ["http://a/kept-0", "http://a/kept-1"]
    assert columns["of"][:3] == [0, 1, 0]
    assert columns["title"][:2] == ["", "One"]
    assert columns["kept_title"] == ["", "Kept"]
    assert columns["kept_in"] == ["http://a/larger", ""]


def test_the_oldest_rows_go_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(listing, "LISTED", 2 * CHUNK)
    made = Listing()
    for number in range(3 * CHUNK + 1):
        pair = row_of(duplicate(f"http://a/{number}", "http://a/kept"))
        assert pair is not None
        made.add(*pair)
    urls = made.columns({}, {})["url"]
    assert (urls[0], urls[-1], len(urls)) == (f"http://a/{CHUNK}", f"http://a/{3 * CHUNK}", 2 * CHUNK + 1)
    assert len(made.evidence()) == 3


@given(JSON)
def test_anything_can_be_packed_and_nothing_in_it_is_markup(value: Any) -> None:
    text = packed(value)
    assert re.fullmatch(r"[A-Za-z0-9+/=]*", text)
    assert unpacked(text) == value


@given(
    st.text(),
    st.sampled_from(["duplicate", "unique", "abstained"]),
    st.none() | st.text(),
    st.none() | st.floats(),
    st.dictionaries(st.sampled_from(["in_doubt", "probability", "differs", "url"]), JSON | st.integers()),
)
def test_any_verdict_can_be_listed(
    url: str, outcome: Outcome, of: str | None, similarity: float | None, evidence: dict[str, Any]
) -> None:
    pair = row_of(Verdict(url, outcome, of, of, similarity, evidence))
    assert outcome != "duplicate" or pair is not None
    if pair is not None:
        made = Listing()
        made.add(*pair)
        assert unpacked(made.evidence()[0]) == [pair[1]]
        for share in (pair[0].similarity, pair[0].probability):
            assert share is None or 0 <= share <= 1


def test_a_lone_surrogate_can_be_packed() -> None:
    assert unpacked(packed(["http://a/\udce9"])) == ["http://a/\udce9"]


def test_the_script_knows_the_size_of_a_chunk() -> None:
    assert f"const CHUNK = {CHUNK};" in SCRIPT
