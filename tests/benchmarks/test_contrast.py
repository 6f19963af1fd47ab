"""Contrast pairs of small texts in eleven languages: articles of the Universal Declaration of Human Rights."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.contrast.languages import languages
from benchmarks.contrast.making import Row, made
from benchmarks.contrast.others import OTHERS, Change
from benchmarks.contrast.pages import Document, dressed, parse, visible
from benchmarks.contrast.same import CUT, SAME
from benchmarks.contrast.sources import Site
from benchmarks.contrast.verify import fault

TEXTS: dict[str, list[str]] = json.loads(Path("tests/fixtures/declaration.json").read_text("utf-8"))
NAMES = sorted(TEXTS)


def page(language: str, number: int) -> Document:
    title, *lines = TEXTS[language]
    url = f"http://rights.example/{language}/{number}.html"
    some = [*lines[number:], *lines[:number]][:9]
    body = "".join(f"<p>{line}</p>" for line in some)
    return parse(
        dressed(url, languages()[language], f"{title} {lines[number]}"[:60], body, ["A", "B"], number),
        url,
        languages()[language],
    )


def site(language: str) -> Site:
    pages = [page(language, number) for number in range(6)]
    return Site(f"rights {language}", "rights", language, pages[:2], pages[2:])


@pytest.fixture(scope="module", params=NAMES)
def rows(request: pytest.FixtureRequest) -> list[Row]:
    return list(made(site(request.param), 2, random.Random(3)))


def words(html: str) -> list[str]:
    return visible(html).split()


def test_each_kind_in_each_language(rows: list[Row]) -> None:
    pairs = [row for row in rows if row["kind"] != "site"]
    labels = {(row["kind"], row["label"]) for row in pairs}
    wanted = {(kind, "other") for kind in OTHERS} | {(kind, "same") for kind in SAME} | {(CUT, "other")}
    assert wanted - labels <= {
        *(("title word", "other"), ("headline word", "other")),  # where titles have no words in common
        *(
            ("synonyms", "same"),
            ("spelling", "same"),
            ("2 % of the words", "same"),
        ),  # where texts are too short for four edits
    }
    assert all(row["new"]["html"] != row["kept"]["html"] and row["new"]["url"] != row["kept"]["url"] for row in pairs)
    contexts = {row["id"]: row["pages"] for row in rows if row["kind"] == "site"}
    assert all(row["site"] == "" or contexts[row["site"]] for row in pairs)
    assert {bool(row["site"]) for row in pairs} == {True, False}
    assert {row["direction"] for row in pairs} == {"edited is new", "edited is kept"}


def test_a_fact_differs_in_one_place(rows: list[Row]) -> None:
    for row in rows:
        if row["kind"] in ("amount", "year", "unit", "negation", "verdict") and not row["slots"]:
            kept, new = (visible(row[side]["html"]) for side in ("kept", "new"))
            old, other = row["what"].split(" -> ")
            there, back = (kept, new) if row["direction"] == "edited is new" else (new, kept)
            at = next(n for n, (a, b) in enumerate(zip(there, back, strict=False)) if a != b)
            assert there[:at] == back[:at]
            assert any(there[:m] + other + there[m + len(old) :] == back for m in range(max(0, at - 60), at + 1)), row[
                "what"
            ]


def test_the_same_seed_makes_the_same_pairs() -> None:
    assert list(made(site("ja"), 1, random.Random(5))) == list(made(site("ja"), 1, random.Random(5)))


@given(st.text(alphabet="<>/!-abp \n&;\"'h1titlescrp" + "漢ก"))
def test_pieces_are_the_page(page: str) -> None:
    document = parse(page, "http://a.example/", languages()["en"])
    assert document.html == page
    assert all(index % 2 for index in document.own)


def test_a_change_of_two_things_is_a_fault() -> None:
    first = page("en", 0)
    changed = {
        first.own[0]: "Another paragraph altogether, of which nothing is left as it was.",
        first.own[4]: "And this.",
    }
    assert fault("amount", Change(first, first.having(changed), ""))
    assert fault("2 % of the words", Change(first, first.having(changed), ""))
    assert fault("markup", Change(first, first.having(changed), ""))
    assert fault("views", Change(first, first, "")) == "the two are one"
    assert fault("wrapped", Change(first, first.having(changed), "")) == "a paragraph is missing"
