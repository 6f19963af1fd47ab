"""Features: what each counts of two pages, one small pair at a time."""

from __future__ import annotations

from math import expm1, log

import msgspec
import pytest

from dedupcrawl.content.features import FEATURES, Pair
from dedupcrawl.core.template import RECURRING, Template
from dedupcrawl.page import Page
from tests.content.test_evidence import TEXT, view
from tests.linked import linked

OF = {feature.name: feature.value for feature in FEATURES}
MORE = (
    "Nobody in the village had seen the river rise so high before, and all who could carry sand went down to the bank."
)
LINES = tuple(TEXT.split("\n"))
PAGE = Page("http://a.example/1", title="A clock from the town hall", paragraphs=LINES)
STEELS = ("iron", "bronze", "copper", "silver", "brass", "tin", "nickel", "zinc", "lead")
KNOWN = Template()
for number in range(RECURRING):
    KNOWN.add({number}, f"{number}")  # of a host whose pages repeat nothing that these say


def pair(new: Page, kept: Page, furniture: Template = KNOWN) -> Pair:
    return Pair.of(view(new, furniture), view(kept, furniture))


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


def test_what_a_kept_page_has_more_counts_as_a_listing_by_its_links() -> None:
    few, many = (
        PAGE.replace(
            url="http://a.example/2", paragraphs=(*LINES, MORE), links=linked(*(f"/{n}" for n in range(links)))
        )
        for links in (1, 40)
    )
    assert 0 < OF["kept_links"](pair(PAGE, few)) < OF["kept_links"](pair(PAGE, many)) < 0.5
    assert OF["kept_links"](pair(PAGE, PAGE.replace(url="http://a.example/2", links=many.links))) == 0


def test_words_of_the_titles_count_where_both_pages_tell_them_apart() -> None:
    other = PAGE.replace(
        url="http://a.example/2",
        title="A bicycle from the town hall",
        paragraphs=(TEXT.replace("clock", "bicycle"),),
    )
    assert expm1(OF["titles_told"](pair(other, PAGE))) == pytest.approx(1)
    assert OF["titles_told"](pair(PAGE.replace(title=other.title), PAGE)) == 0, "the texts do not"
    more = PAGE.replace(title="A clock and a bicycle from the town hall", paragraphs=(*LINES, "He had a bicycle."))
    assert OF["titles_told"](pair(more, PAGE)) == 0, "only one of them says a word more"


def test_a_title_that_the_common_text_says_nothing_of_counts_as_far_as_the_pages_differ() -> None:
    elsewhere = PAGE.replace(url="http://a.example/2", title="Seven boats lost")
    assert OF["untold_title"](pair(elsewhere, elsewhere)) == 0
    once = OF["untold_title"](pair(elsewhere.replace(paragraphs=(*LINES, MORE)), elsewhere))
    twice = OF["untold_title"](pair(elsewhere.replace(paragraphs=(MORE, *LINES, MORE.upper()[:40])), elsewhere))
    assert once == pytest.approx(1 - 1 / 2)
    assert once < twice < 1


def test_another_order_counts_of_a_page_in_a_template_and_of_links_not_of_prose() -> None:
    moved = PAGE.replace(url="http://a.example/2", paragraphs=tuple(reversed(LINES)))
    assert OF["moved"](pair(moved, PAGE)) == 0
    in_links = moved.replace(links=linked(*(f"/{number}" for number in range(40))))
    assert OF["moved"](pair(in_links, PAGE)) > 0
    assert OF["moved"](pair(moved, PAGE, Template())) > 0, "it is not known what the host repeats: all may be"


def test_a_template_is_what_two_pages_of_one_host_may_share() -> None:
    other = PAGE.replace(url="http://a.example/2", title="A clock from the old hall")
    assert OF["titles_templated"](pair(other, PAGE, Template())) > 0
    assert OF["titles_templated"](pair(other.replace(url="http://b.example/2"), PAGE, Template())) == 0
    assert OF["titles_templated"](pair(other, PAGE)) == 0


def test_a_text_is_short_by_its_own_words() -> None:
    short = PAGE.replace(paragraphs=("Nine words of text are all that this says.",))
    assert OF["short"](pair(short, PAGE)) == pytest.approx(log(200 / 10))
    assert OF["short"](pair(PAGE.replace(paragraphs=(MORE,) * 12), PAGE)) == 0


def test_items_of_a_list_count_where_the_kept_page_lacks_them_and_not_all_pages_have_them() -> None:
    shop, frame = Template(), "Sorted by price, nine to a page"
    names = [f"Pocket knife of {steel}" for steel in STEELS]
    for number in range(4 * RECURRING):  # each product on a third of the lists, the frame on all
        lines = (frame, *(name for at, name in enumerate(names) if (at + number) % 3 == 0))
        shop.add(set(view(Page("", paragraphs=lines), KNOWN).blocks), f"{number}")
    first, second = (
        Page(f"http://a.example/{n}", title="Knives", paragraphs=(frame, *names[n : n + 3])) for n in (0, 3)
    )
    assert expm1(OF["items"](pair(first, second, shop))) == pytest.approx(3)
    assert OF["items"](pair(first, first.replace(url="http://a.example/9"), shop)) == 0
    assert OF["items"](pair(first, second.replace(link_lines=tuple(names[:3])), shop)) == 0, "it has them beside"
    assert OF["items"](pair(first, second)) == 0, "of a site that repeats nothing they are its own"
    assert OF["items"](pair(Page("", paragraphs=(frame,)), Page("", paragraphs=(names[0],)), shop)) == 0, "all have it"
    lines = tuple(f"A line that leads to the {first} {second}" for first in STEELS for second in STEELS)
    many = view(first.replace(url="http://a.example/9", paragraphs=(frame,), link_lines=(*lines, *names)), shop)
    stored = msgspec.structs.replace(many, all_around=many.said_around.to_bytes())
    whole = view(first.replace(paragraphs=(frame, *names)), shop)
    assert OF["items"](Pair.of(whole, stored)) == 0, "of so many lines not all are stored"
