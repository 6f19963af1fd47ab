"""Features: what each counts of two pages, one small pair at a time."""

from __future__ import annotations

from typing import Any

import pytest

from dedupcrawl.core.features import FEATURES
from dedupcrawl.core.pair import Pair
from dedupcrawl.core.template import RECURRING, Template
from dedupcrawl.page import Page
from tests.content.test_evidence import TEXT, view
from tests.fixtures import table_of
from tests.linked import linked

OF = {feature.name: feature.value for feature in FEATURES}
MORE = (
    "Nobody in the village had seen the river rise so high before, and all who could carry sand went down to the bank."
)
LINES = tuple(TEXT.split("\n"))
PAGE = Page("http://a.example/1", title="A clock from the town hall", paragraphs=LINES)
KNOWN = Template()
for number in range(RECURRING):
    KNOWN.add({number}, f"{number}")  # of a host whose pages repeat nothing that these say


def pair(new: Page, kept: Page, template: Template = KNOWN) -> Pair:
    return Pair(view(new, template), view(kept, template))


def test_a_list_is_one_by_how_much_more_it_says_under_another_title() -> None:
    longer = PAGE.replace(url="http://a.example/", title="All our news", paragraphs=(*LINES, MORE), links=linked("/1"))
    share = OF["listed"](pair(PAGE, longer))
    assert 0 < share < 0.5
    assert OF["listed"](pair(PAGE, longer.replace(title=PAGE.title))) == 0, "its own second part or print view"
    assert 0 < OF["listed"](pair(PAGE, longer.replace(title="All our news from the town hall"))) < share
    assert OF["listed"](pair(PAGE, longer.replace(title=""))) == share, "no title speaks against it"
    assert OF["listed"](pair(PAGE, longer.replace(links=()))) == 0


def test_a_page_that_links_to_the_kept_one_lists_it_by_how_much_the_titles_differ() -> None:
    month = PAGE.replace(url="http://a.example/month", title="September", paragraphs=(*LINES, MORE), links=linked("/1"))
    assert OF["lists"](pair(month, PAGE)) == 1
    assert OF["lists"](pair(month.replace(title="A clock from the old hall"), PAGE)) == pytest.approx(1 / 6)
    assert OF["lists"](pair(month.replace(links=()), PAGE)) == 0


def edited(old: str, new: str, **more: Any) -> Pair:
    """The page of which one thing was changed, beside itself as it was."""
    assert old in TEXT
    return pair(
        PAGE.replace(url="http://a.example/2", paragraphs=tuple(TEXT.replace(old, new).split("\n")), **more), PAGE
    )


@pytest.mark.parametrize(
    ("old", "new", "names"),
    [
        ("9000", "8000", {"contradicted", "decisive_only", "decisive_share"}),
        ("of 9000 people", "of people", {"left_out"}),
        ("would not stop", "would stop", {"opposed", "decisive_only"}),
        ("a clock", "a bicycle", {"reworded_few"}),
        ("9000", "9000 very good and old", {"added_alone"}),
    ],
)
def test_one_difference_is_told_by_what_it_is(old: str, new: str, names: set[str]) -> None:
    found, nothing = edited(old, new), pair(PAGE, PAGE)
    assert {name for name in names if OF[name](found) > 0} == names
    assert not any(OF[name](nothing) for name in names)
    others = {
        "contradicted",
        "opposed",
        "added_alone",
        "reworded_few",
        "left_out",
        "units",
    } - names
    assert not {name for name in others if OF[name](found)}


def test_an_opposite_counts_beside_one_other_difference_and_not_beside_more() -> None:
    def of(*edits: tuple[str, str]) -> Page:
        text = TEXT
        for old, new in edits:
            text = text.replace(old, new)
        return PAGE.replace(url="http://a.example/2", paragraphs=tuple(text.split("\n")))

    turned, *others = ("would not stop", "would stop"), ("9000", "8000"), ("an hour", "a day")
    assert OF["opposed"](pair(of(turned, others[0]), PAGE)) == 1
    assert OF["opposed"](pair(of(turned, *others), PAGE)) == OF["opposed"](pair(of(*others), PAGE)) == 0


def test_a_second_word_that_differs_counts_like_the_first_on_one_host() -> None:
    words = ("a clock", "a bicycle"), ("an hour", "a day"), ("9000", "8000"), ("would not stop", "would stop")
    text = TEXT
    for count, (old, new) in enumerate(words, 1):
        assert old in text
        text = text.replace(old, new)
        page = PAGE.replace(url="http://a.example/2", paragraphs=tuple(text.split("\n")))
        assert OF["reworded_few"](pair(page, PAGE)) == (count <= 3)
        assert OF["reworded_few"](pair(page.replace(url="http://b.example/2"), PAGE)) == (count == 1), "a reprint"


def test_lines_beside_the_text_count_if_both_pages_have_some_of_their_own() -> None:
    lines = ("We use cookies to make this site better for all.", "The mayor answers all letters of readers on Monday.")
    one, two = (PAGE.replace(url=f"http://a.example/{line[:2]}", asides=(line,)) for line in lines)
    assert OF["beside_both"](pair(one, two)) == 1
    assert OF["beside_both"](pair(one, PAGE)) == OF["beside_both"](pair(PAGE, one)) == 0, "a banner"
    assert OF["beside_both"](pair(one, two.replace(url="http://b.example/"))) == 0, "of another host"


def test_titles_with_the_same_words_in_another_order_are_not_equal() -> None:
    one, two = (PAGE.replace(title=f"Alberite {first} - Najera {second}") for first, second in ((2, 1), (1, 2)))
    assert pair(one, one).is_equal
    assert not pair(one, two).is_equal


def test_titles_and_headlines_are_told_by_what_differs() -> None:
    named = PAGE.replace(headline="Anna Smith")
    namesake = named.replace(headline="Peter Smith")
    assert OF["untold_headline"](pair(namesake, named)) == 1
    assert OF["framed_headline"](pair(namesake, named)) == 0.5
    assert OF["headline_alone"](pair(namesake, named)) == 1, "a short page"
    titled = [PAGE.replace(title=title) for title in ("Anna Smith", "Peter Jones", "Anna Smith | Staff")]
    assert OF["headline_alone"](pair(titled[1], titled[0])) == 1, "of texts without a headline the title is it"
    assert OF["headline_alone"](pair(titled[2], titled[0])) == 0, "with the name of the site"
    for feature in ("untold_headline", "framed_headline", "headline_alone"):
        assert OF[feature](pair(named, PAGE)) == 0, "one has none"
        elsewhere = named.replace(url="http://b.example/", headline="Peter Jones")
        assert OF[feature](pair(elsewhere, named)) == 0, "of another host"


def test_what_the_common_text_says_of_a_title_are_its_words_with_content() -> None:
    kept = PAGE.replace(title="The owl of the tower", paragraphs=(*LINES, MORE))
    assert OF["untold_title"](pair(PAGE, kept)) > 0.9, "the text has of and the"
    shared = PAGE.replace(title="Gazette: A clock")
    other = kept.replace(title="Gazette: A clock in the tower")
    here, there = (OF["untold_title"](pair(shared.replace(url=f"http://{host}.example/2"), other)) for host in "ab")
    assert here > there > 0, "on one host, the word that both titles have may be the site's name"
    advertised = PAGE.replace(url="http://a.example/2", title="Owls in the tower")
    assert OF["untold_new_title"](pair(advertised, PAGE)) > 0.5
    assert OF["untold_new_title"](pair(advertised, PAGE.replace(title=advertised.title))) == 0


def test_words_that_differ_in_titles_and_texts_are_counted_where_they_stand_for_each_other() -> None:
    def of(day: str) -> Page:
        text = TEXT.replace("on Monday", f"on {day}").replace("in the evening", f"in the evening, Monday or {day}")
        return PAGE.replace(title=f"The trial on {day}", paragraphs=tuple(f"{text} Tuesday or Friday.".split("\n")))

    assert OF["titles_told"](pair(of("Friday"), of("Tuesday"))) > 0, "though both texts have both words"
    assert OF["titles_told"](pair(of("Friday").replace(title="The trial on Sunday"), of("Tuesday"))) == 0


def test_a_heading_below_another_line_is_one() -> None:
    def of(heading: str) -> Page:
        return Page(f"http://a.example/{heading}", headline=heading, paragraphs=("Home", heading, *LINES))

    assert OF["decisive_only"](pair(of("A mayor"), of("A baker"))) == 1


def test_the_day_in_a_line_that_names_the_source_is_a_day_of_posting() -> None:
    def of(day: int) -> Page:
        line = f"来源：南开大学新闻网 发稿时间：2019-01-{day} 13:47"
        return Page(f"http://a.example/{day}", paragraphs=(line, *LINES))

    assert OF["differences"](pair(of(20), of(21))) > 0
    assert OF["dates_text"](pair(of(20), of(21))) == OF["dates"](pair(of(20), of(21))) == 0


@table_of("content", "two_versions_of_a_page_of_a_manual")
def test_two_versions_of_a_page_of_a_manual(new: str, kept: str, is_only: int) -> None:
    def of(url: str, said: str) -> Page:
        number = url.split("/")[3]
        return PAGE.replace(url=url, title=f"Clocks {number}", paragraphs=(f"Version {number}", *PAGE.paragraphs, said))

    assert OF["only_version"](pair(of(new, "The end."), of(kept, "The end."))) == is_only
    assert OF["only_version"](pair(of(new, "It costs 30 euros."), of(kept, "It costs 50 euros."))) == 0
