"""The hand-written rules of the demo site, against its truth."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

import pytest

from dedupcrawl.demo.site import Site
from dedupcrawl.urls.normalizer import Normalizer
from tests.demo.truth import truths
from tests.demo.walk import FRONT, PORT, walk

RULES = Path(__file__).parent / "rules"


@pytest.fixture(scope="module")
def normalizer() -> Normalizer:
    return Normalizer.from_paths([RULES])


@pytest.mark.parametrize(
    ("target", "canonical"),
    [
        ("forum/thread/1?sid=3e753aba", "forum/thread/1"),
        ("en/puncture?utm_source=related&utm_medium=web", "en/puncture"),
        ("index.html", ""),
        ("guide/cycling/index.html", "guide/cycling/"),
        ("print/zh/teahouse", "zh/teahouse"),
        ("zh/teahouse?view=print", "zh/teahouse"),
        ("About/Team", "about/team"),
        ("contact/contact/contact/", "contact/"),
        ("en/puncture", "en/puncture"),
    ],
)
def test_each_kind_of_variant(normalizer: Normalizer, target: str, canonical: str) -> None:
    assert normalizer.normalize(FRONT + target).canonical == FRONT + canonical


def test_no_two_contents_get_one_canonical_url(normalizer: Normalizer) -> None:
    contents = defaultdict(set)
    for url, found in truths(walk(Site(PORT))).items():
        contents[normalizer.normalize(url).canonical].add(found.content)
    assert all(len(one) == 1 for one in contents.values())


def test_every_variant_of_a_kind_that_has_a_rule_gets_the_canonical_url(normalizer: Normalizer) -> None:
    kinds = {"session", "tracking", "index file", "print view", "letter case", "trap"}
    canonical = defaultdict(set)
    for url, found in truths(walk(Site(PORT))).items():
        if found.kind in kinds | {"original", "listing"}:
            canonical[found.content].add(normalizer.normalize(url).canonical)
    several = {content for content, forms in canonical.items() if len(forms) > 1}
    assert several == set()
