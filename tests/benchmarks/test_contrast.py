"""Contrast pairs of small texts in eleven languages: articles of the Universal Declaration of Human Rights."""

from __future__ import annotations

import json
import random
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.contrast.languages import language_of, languages
from benchmarks.contrast.making import KINDS, Row, made
from benchmarks.contrast.others import OTHERS, Change
from benchmarks.contrast.pages import Document, dressed, parse, shown, visible
from benchmarks.contrast.same import CUT, SAME, WORD_SHARES
from benchmarks.contrast.score import judged, table
from benchmarks.contrast.sources import Site, sites, without_repeated
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


@pytest.mark.parametrize("language", NAMES)
def test_the_language_of_a_text(language: str) -> None:
    assert language_of(" ".join(TEXTS[language])) == language


def test_each_kind_in_each_language(rows: list[Row]) -> None:
    pairs = [row for row in rows if row["kind"] != "site"]
    labels = {(row["kind"], row["label"]) for row in pairs}
    wanted = {(kind, "other") for kind in OTHERS} | {(kind, "same") for kind in SAME} | {(CUT, "other")}
    assert wanted - labels <= {
        ("title word", "other"),
        ("headline word", "other"),
    }  # where titles have no words in common
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


def test_counters_and_entities_leave_its_own_text_alone(rows: list[Row]) -> None:
    for row in rows:
        if row["kind"] in ("views", "byline", "advert"):
            kept, new = (re.findall(r"<p>(.*?)</p>", row[side]["html"]) for side in ("kept", "new"))
            assert kept
            assert kept == new
        if row["kind"] in ("entities", "markup", "picture") and not row["slots"]:
            assert words(row["kept"]["html"]) == words(row["new"]["html"])


@pytest.mark.parametrize("language", NAMES)
@pytest.mark.parametrize("share", WORD_SHARES)
def test_random_words_leave_numbers_and_negations_alone(language: str, share: int) -> None:
    here, speech = site(language), languages()[language]
    first = here.originals[0].saying(speech.facts["amount"][0].format("30"), 2)
    change = KINDS[f"{share} % of the words"](first, here.site_context, random.Random(share))
    assert change
    assert re.findall(r"\d+", change.kept.text) == re.findall(r"\d+", change.new.text)
    fixed = speech.pattern(word for group in speech.groups["negation"] for word in group)
    assert fixed.findall(change.new.text)[: len(fixed.findall(change.kept.text))] == fixed.findall(change.kept.text)
    assert len(change.kept.own) == len(change.new.own)


def test_only_the_cut_page_duplicates_the_whole(rows: list[Row]) -> None:
    both = {
        row["label"]: row
        for row in rows
        if row["kind"] == CUT and row["id"].split()[-2:] in (["%", "0"], ["0", "back"])
    }
    assert len(both["same"]["new"]["html"]) < len(both["same"]["kept"]["html"])
    assert both["other"]["kept"] == both["same"]["new"]


def test_the_same_seed_makes_the_same_pairs() -> None:
    assert list(made(site("ja"), 1, random.Random(5))) == list(made(site("ja"), 1, random.Random(5)))


@given(st.text(alphabet="<>/!-abp \n&;\"'h1titlescrp" + "漢ก"))
def test_pieces_are_the_page(page: str) -> None:
    document = parse(page, "http://a.example/", languages()["en"])
    assert document.html == page
    assert all(index % 2 for index in document.own)


def test_what_the_site_repeats_and_menus_are_not_its_own() -> None:
    repeated = "This sentence stands on each of the pages of the whole site, and is in English."
    pages = []
    for number in range(3):
        own = "".join(f"<p>This is sentence {n} of the page {number} itself, and of no other." for n in range(5))
        menu = "<p><a href=/>A list of many links to <b>all the pages</b> elsewhere</a></p>"
        script = "<script>var text = 'not a sentence of a page at all, no'</script>"
        pages.append(parse(f"{menu}{script}<p>{repeated}</p>{own}", "u", languages()["en"]))
    assert [len(page.own) for page in pages] == [6, 6, 6]
    assert [page.paragraphs[0] for page in without_repeated(pages)] == [
        f"This is sentence 0 of the page {number} itself, and of no other." for number in range(3)
    ]


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


def test_pairs_are_judged_and_counted_by_kind(tmp_path: Path) -> None:
    path = tmp_path / "pairs.jsonl"
    kinds = ("markup", "picture", "views")
    rows = [row for row in made(site("en"), 2, random.Random(1)) if row["kind"] in ("site", *kinds)]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    pairs = list(judged(path))
    assert sorted(one.pair["kind"] for one in pairs) == sorted(kinds * 2)
    assert all(one.probability > 0.9 for one in pairs if one.pair["kind"] == "markup" and not one.pair["slots"])
    assert re.search(r"same  markup .* 2$", table(pairs, 0.5), re.MULTILINE)


def test_a_source_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"nowhere: no file"):
        list(sites("nowhere", tmp_path, tmp_path, random.Random(1)))


def test_a_file_of_rows(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    title, *lines = TEXTS["fr"]
    pages = [
        {"url": f"http://fr.example/{n}", "title": title, "text": "\n".join(f"{line} ({n})" for line in lines)}
        for n in range(30)
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in pages), encoding="utf-8")
    (found,) = sites(str(path), tmp_path, tmp_path, random.Random(1))
    assert (found.language, len(found.context), len(found.originals)) == ("fr", 10, 20)
    assert shown(found.originals[0].paragraphs[0]) in {f"{lines[0]} ({n})" for n in range(30)}
