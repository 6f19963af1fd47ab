"""Page text: what each line of a page is taken for."""

from __future__ import annotations

from dedupcrawl.commands.text import Line, lines_of
from dedupcrawl.core.template import Template
from dedupcrawl.detection.analysis import Analysis
from dedupcrawl.page import Page
from tests.crawls.site import prose

WELCOME = "Welcome to the board of the friends of old pumps"


def page(number: int, text: str = "") -> Page:
    return Page(
        f"http://a.example/{number}",
        title=f"Topic {number}",
        paragraphs=(WELCOME, text or prose(number), f"Read {number} times", "…"),
        asides=(f"{number} guests online",),
        link_lines=("Home, members, search", f"My topic {prose(number, 3)}"),
    )


def learned(pages: int) -> Template:
    template = Template()
    for number in range(1, pages + 1):
        Analysis(page(number)).learn(template, f"Topic {number}")
    return template


def test_lines_are_the_pages_own_until_its_site_repeats_them() -> None:
    assert {line.kind for line in lines_of(page(77), Template())[0]} == {"own"}
    assert {line.kind for line in lines_of(page(77), learned(4))[0]} == {"own"}
    assert lines_of(page(77), learned(5))[0] == [
        Line(WELCOME, "furniture", True),
        Line(prose(77), "own", True),
        Line("Read 77 times", "slot", True),
        Line("77 guests online", "slot", False),
        Line("Home, members, search", "furniture", False),
        Line(f"My topic {prose(77, 3)}", "own", False),
    ]


def test_a_page_that_says_next_to_nothing_of_its_own() -> None:
    assert lines_of(page(77, "Thanks!"), learned(5))[1]
    assert not lines_of(page(77), learned(5))[1]
    assert not lines_of(Page("http://a.example/", title="", paragraphs=("Thanks!",)), learned(5))[1]


def test_what_stands_behind_the_beginning_of_a_long_text_is_its_own() -> None:
    long = Page("http://a.example/", title="", paragraphs=(prose(1, 20_000), WELCOME))
    assert [line.kind for line in lines_of(long, learned(5))[0]] == ["own", "own"]
