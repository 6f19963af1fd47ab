"""Themes: two pages in one template have one, and what stands around a text in another theme says nothing of it."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

import dedupcrawl
from dedupcrawl.core.theme import SKETCH, is_one_theme
from tests.core.markup import MARKUP
from tests.core.test_main_text import SENTENCES, modern, old, paragraphs

Dress = Callable[[str], str]

CLASSES = st.lists(st.sampled_from([f"part-{letter}" for letter in "abcdefghijklmnopqrst"]), min_size=1, max_size=30)
BOX = (
    "<section class=products><h2>Also in this shop</h2><p>Grey lamp with two arms and a heavy foot of cast iron</p>"
    "<p>Yellow chair for the kitchen, to be folded and hung on the wall</p></section>"
)


def theme_of(markup: str) -> bytes:
    return dedupcrawl.read_html(markup, "http://a.example/").theme


def printed(body: str) -> str:
    return (
        f"<html><head><title>Bridge - The Paper</title></head><body class=print><h1>Bridge</h1>{body}<hr></body></html>"
    )


@pytest.mark.parametrize("dress", [modern, old, printed])
def test_pages_of_one_template_have_one_theme_whatever_their_text(dress: Dress) -> None:
    one, other = theme_of(dress(paragraphs(SENTENCES))), theme_of(dress(f"<p>{SENTENCES[0]}</p><h2>Costs</h2>"))
    assert one
    assert is_one_theme(one, other)


@pytest.mark.parametrize(("one", "other"), [(modern, printed), (modern, old), (old, printed)])
def test_pages_of_two_templates_have_two(one: Dress, other: Dress) -> None:
    body = paragraphs(SENTENCES)
    assert not is_one_theme(theme_of(one(body)), theme_of(other(body)))


def test_without_markup_a_page_is_of_any_theme() -> None:
    text = dedupcrawl.Page("http://a.example/", paragraphs=("Some text",))
    assert text.theme == b""
    assert is_one_theme(text.theme, theme_of(modern(paragraphs(SENTENCES))))


def test_a_number_in_a_class_makes_no_other_theme() -> None:
    one, other = (
        "".join(f"<div class='post-{n} row{n}'>text</div>" for n in some) for some in (range(9), range(90, 99))
    )
    assert theme_of(one) == theme_of(other)


@given(CLASSES, st.randoms(use_true_random=False))
def test_neither_the_order_nor_the_number_of_elements_matters(names: list[str], chance: random.Random) -> None:
    again = names + [chance.choice(names) for _ in range(5)]
    chance.shuffle(again)
    one, other = ("".join(f"<div class={name}>text</div>" for name in some) for some in (names, again))
    assert theme_of(one) == theme_of(other)


@given(CLASSES, CLASSES)
def test_two_sketches_are_of_one_theme_if_they_say_that_half_of_the_names_are_common(
    here: list[str], there: list[str]
) -> None:
    one, other = (theme_of("".join(f"<div class={name}>text</div>" for name in some)) for some in (here, there))
    first, second = (set(memoryview(sketch).cast("H")) for sketch in (one, other))
    least = set(sorted(first | second)[:SKETCH])
    assert is_one_theme(one, other) == is_one_theme(other, one) == (len(least & first & second) >= 0.45 * len(least))


@given(MARKUP)
def test_any_markup_has_an_ascending_sketch(markup: str) -> None:
    sketch = theme_of(markup)
    hashes = list(memoryview(sketch).cast("H"))
    assert len(hashes) <= SKETCH
    assert hashes == sorted(set(hashes))
    assert is_one_theme(sketch, sketch)


LONG, SHORT = paragraphs(SENTENCES), f"<p>{' '.join(SENTENCES[:3])}</p>"


@pytest.mark.parametrize(("dress", "body"), [(old, LONG), (printed, LONG), (printed, SHORT)])
def test_the_same_text_in_another_theme_of_its_host_is_dropped_though_the_site_is_unknown(
    dress: Dress, body: str
) -> None:
    with dedupcrawl.Detector() as detector:
        detector.check(dedupcrawl.read_html(modern(body), "http://a.example/bridge"))
        verdict = detector.check(dedupcrawl.read_html(dress(body), "http://a.example/print/bridge"))
    assert verdict.is_duplicate


def test_the_same_text_beside_another_box_of_one_theme_is_kept_while_the_site_is_unknown() -> None:
    pages = (modern(paragraphs(SENTENCES)).replace("<footer>", f"{box}<footer>") for box in ("", BOX))
    with dedupcrawl.Detector() as detector:
        verdicts = [
            detector.check(dedupcrawl.read_html(page, f"http://a.example/{number}"))
            for number, page in enumerate(pages)
        ]
    assert not any(verdict.is_duplicate for verdict in verdicts)
