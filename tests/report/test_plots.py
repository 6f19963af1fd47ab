"""Pictures that take their colours from the page and carry no style of their own."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import numpy as np
import pytest

from dedupcrawl.report.page import Plot, environment, histogram, learning_curve

DUPLICATE = np.arange(500) % 3 == 0


def checked(plot: Plot) -> ElementTree.Element:
    """The picture, once it is sure that the page's policy and its dark colours hold for it."""
    svg = environment().get_template("plot.svg").render(plot=plot)
    assert "style" not in svg
    assert not re.search(r"#[0-9a-f]{6}\b", svg)
    assert "var(--ink)" in svg
    return ElementTree.fromstring(svg)


def texts(picture: ElementTree.Element) -> set[str]:
    return {element.text or "" for element in picture.iter("text")}


def test_the_learning_curve_tells_what_its_axes_are() -> None:
    cumulative, share = learning_curve(DUPLICATE, np.arange(500))
    assert {"duplicates fetched", "fetches saved", "pages fetched"} <= texts(checked(cumulative))
    assert {"0%", "100%", "pages fetched", "duplicates among them"} <= texts(checked(share))
    assert "pages so far" in texts(checked(cumulative))
    alone = texts(checked(learning_curve(DUPLICATE)[0]))
    assert "duplicates so far" in alone
    assert "fetches saved" not in alone


@pytest.mark.parametrize("pages", [9_000, 10_500, 12_500, 17_000, 60_000, 1_300_000])
def test_large_counts_are_short_and_exact(pages: int) -> None:
    cumulative, _ = learning_curve(np.ones(pages, dtype=np.bool_))  # both axes go to the same count
    ticks = [re.fullmatch(r"([\d.,]+)(k|M|)", text) for text in texts(checked(cumulative))]
    factors = {"": 1, "k": 1e3, "M": 1e6}
    counts = sorted(float(tick[1].replace(",", "")) * factors[tick[2]] for tick in ticks if tick)
    assert len(counts) > 2
    assert np.allclose(np.diff(counts), counts[1] - counts[0]), counts


def test_a_histogram_leaves_out_what_was_not_counted() -> None:
    (plot,) = histogram("Title", "Caption", "share", {"one": [0] * 19 + [4], "none": [0] * 20, "two": [1] * 20})
    assert {"one", "two", "share", "pages"} <= texts(checked(plot))
    assert "none" not in texts(checked(plot))
    assert histogram("Title", "Caption", "share", {"none": [0] * 20}) == []
