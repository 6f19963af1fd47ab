from __future__ import annotations

import re
from collections import Counter
from difflib import SequenceMatcher
from typing import get_args

import pytest
from parsel import Selector

from dedupcrawl.demo.site import MIRROR_HOST, Answer, Site
from tests.demo.truth import DISTINCT, TEXTS, Kind, truth, truths
from tests.demo.walk import FRONT, PORT, ask, walk


@pytest.fixture(scope="module")
def answers() -> dict[str, Answer]:
    return walk(Site(PORT))


def words(answer: Answer) -> str:
    return " ".join(Selector(answer.body).xpath("string(//body)").get(default="").split())


def joined(paragraphs: tuple[str, ...]) -> str:
    return " ".join(" ".join(paragraphs).split())


def test_links_lead_to_every_text_and_every_kind_of_url(answers: dict[str, Answer]) -> None:
    found = truths(answers).values()
    assert {one.kind for one in found} == set(get_args(Kind))
    assert {one.content for one in found} >= DISTINCT


def test_only_two_links_are_broken(answers: dict[str, Answer]) -> None:
    broken = {url for url, answer in answers.items() if answer.status == 404 and "/contact/contact/" not in url}
    assert broken == {f"{FRONT}no-such-page", f"{FRONT}private/drafts"}


def test_every_copy_holds_the_whole_text(answers: dict[str, Answer]) -> None:
    seen = Counter[str]()
    for url, found in truths(answers).items():
        if found.content in TEXTS and found.kind != "excerpt":
            seen[found.kind] += 1
            text = TEXTS[found.content]
            shown = words(answers[url]).replace(" ", "")
            assert all(paragraph.replace(" ", "").replace("\n", "") in shown for paragraph in text.paragraphs), url
    assert seen["reprint"] == 10
    assert seen["mirror"] == 6


def test_an_excerpt_is_a_part_of_its_article(answers: dict[str, Answer]) -> None:
    excerpts = {url: found for url, found in truths(answers).items() if found.kind == "excerpt"}
    assert len(excerpts) == 7
    for url, found in excerpts.items():
        text = TEXTS[found.content]
        part = [" ".join(p.split()) for p in Selector(answers[url].body).css("article p::text").getall()]
        assert " ".join(part) in joined(text.paragraphs)
        assert len(" ".join(part)) < 0.8 * len(joined(text.paragraphs))


@pytest.mark.parametrize(("path", "count"), [("/weather/", 10), ("/prices/", 7)])
def test_bulletins_share_most_of_their_words_in_the_same_order(path: str, count: int) -> None:
    bulletins = [re.findall(r"[一-鿿]|\w+", joined(t.paragraphs)) for t in TEXTS.values() if t.path.startswith(path)]
    assert len(bulletins) == count
    for bulletin in bulletins[1:]:
        assert 0.7 < SequenceMatcher(None, bulletins[0], bulletin, autojunk=False).ratio() < 0.95


def test_session_ids_change_from_answer_to_answer() -> None:
    site = Site(PORT)
    ids = [set(re.findall(r"sid=(\w+)", ask(site, f"{FRONT}forum/").body)) for _ in range(4)]
    assert all(found for found in ids)
    assert len(set.union(*ids)) > 1


@pytest.mark.parametrize(
    ("target", "status", "location"),
    [
        ("/item/1", 301, "/item/1/"),
        ("/item/1/", 200, ""),
        ("/shop/lamp", 302, "/shop/lamp?ref=front"),
        ("/shop/lamp?ref=mail", 200, ""),
        ("/archive/flood-2010", 404, ""),
        ("/archive/flood-2010?lang=en", 200, ""),
        ("/gone/anything", 200, ""),
        ("/tags/%E5%A4%A9%E6%B0%94", 200, ""),
        ("/nothing", 404, ""),
        ("", 404, ""),
        ("//%00?%", 404, ""),
    ],
)
def test_single_answers(target: str, status: int, location: str) -> None:
    answer = Site(PORT).answer(f"127.0.0.1:{PORT}", target)
    assert (answer.status, answer.location) == (status, location)


def test_the_mirror_has_its_own_pages_and_no_others() -> None:
    site = Site(PORT)
    mirror = f"http://{MIRROR_HOST}:{PORT}"
    found = Selector(ask(site, f"{mirror}/").body).css("main a::attr(href)").getall()
    assert len(found) == 6
    for href in found:
        assert truth(mirror + href).kind == "mirror"
        assert ask(site, mirror + href).status == 200
    assert ask(site, f"{mirror}/weather/").status == 404
