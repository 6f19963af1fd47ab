"""How a page is read where it is known what its site repeats."""

from __future__ import annotations

from collections.abc import Sequence

from dedupcrawl.core.template import RECURRING, Template
from dedupcrawl.detection.analysis import Analysis, Reading
from dedupcrawl.page import Page
from tests.detection.judged import CHECKS, text

NOTICE = text(40)
ARTICLE = (text(30, 1), text(30, 2))
FOOTER = "All rights reserved"


def analysis(main: Sequence[str], asides: Sequence[str]) -> Analysis:
    return Analysis(Page("http://a.example/1", paragraphs=tuple(main), asides=tuple(asides)))


def site(*pages: Analysis) -> Template:
    template = Template()
    for page in pages:
        for _ in range(RECURRING):
            page.learn(template, "")
    return template


def test_without_a_template_a_page_is_its_main_text() -> None:
    page = analysis([NOTICE], [*ARTICLE, FOOTER])
    reading = Reading.of(page, Template())
    assert reading.analysis is page
    assert reading.own.text == page.text.text
    assert len(reading.view.page_context.asides) == 3
    assert reading.template_blocks == 0


def test_where_the_main_text_is_the_sites_its_own_asides_are_read() -> None:
    known = site(analysis([NOTICE], [FOOTER]))
    reading = Reading.of(analysis([NOTICE], [*ARTICLE, FOOTER]), known)
    assert reading.analysis.page.paragraphs == (NOTICE, *ARTICLE)
    assert reading.own.text == "\n".join(ARTICLE)
    assert reading.template_blocks == 1
    article = Reading.of(analysis(ARTICLE, []), Template()).signatures(CHECKS)
    found = reading.signatures(CHECKS)
    assert found.keys() == article.keys()
    assert {name for name in found if found[name] == article[name]} == found.keys() - {"exact"}


def test_a_page_with_a_text_of_its_own_is_read_without_its_asides() -> None:
    known = site(analysis([NOTICE], []))
    page = analysis([NOTICE, *ARTICLE], [FOOTER])
    reading = Reading.of(page, known)
    assert reading.analysis is page
    assert reading.own.text == "\n".join(ARTICLE)


def test_asides_that_say_little_tell_pages_apart_by_their_whole_text() -> None:
    known = site(analysis([NOTICE], [FOOTER]))
    readings = [Reading.of(analysis([NOTICE], [title, FOOTER]), known) for title in ("Ann's garden", "Bob's garden")]
    assert [reading.own.text for reading in readings] == ["ann's garden", "bob's garden"]
    one, other = (reading.signatures(CHECKS) for reading in readings)
    assert one.keys() == other.keys() == {"exact"}
    assert one != other
