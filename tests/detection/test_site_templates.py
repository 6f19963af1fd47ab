"""Templates of many hosts: bounded in memory, kept in the index, apart from one another."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dedupcrawl.content.checks.registry import make_checks
from dedupcrawl.core.template import RECURRING
from dedupcrawl.detection import site_templates
from dedupcrawl.detection.analysis import Analysis
from dedupcrawl.detection.detector import Detector
from dedupcrawl.detection.site_templates import SiteTemplates
from dedupcrawl.index.lmdb import LmdbIndex
from dedupcrawl.index.open import TemporaryIndex
from dedupcrawl.page import Page
from tests.detection.judged import text

CHECKS = make_checks(["exact"], {})


def learn(templates: SiteTemplates, host: str, blocks: Collection[int], title: str) -> None:
    """Count a page that has these blocks: its links."""
    templates.learn(host, Analysis(Page(f"http://{host}/", links=blocks)), title)


def learned(templates: SiteTemplates, host: str, pages: int, *blocks: int, first: int = 1000) -> None:
    for page in range(pages):
        learn(templates, host, {*blocks, first + page}, f"{first + page}")


def test_a_later_process_knows_what_was_learned(tmp_path: Path) -> None:
    index = LmdbIndex(tmp_path, CHECKS)
    templates = SiteTemplates(index)
    learned(templates, "a.example", 7, 1, 2)
    templates.store()
    index.close()
    again = SiteTemplates(LmdbIndex(tmp_path, CHECKS))
    assert again.of("a.example").recurring([1, 2, 3]) == [True, True, False]
    assert again.of("a.example").pages == 7


def test_a_site_that_is_crawled_again_and_again_is_no_template(tmp_path: Path) -> None:
    blocks = set[int]()
    for run in range(2 * RECURRING):
        index = LmdbIndex(tmp_path, CHECKS)
        detector = Detector(index, run=f"{run}")
        for number in range(3):
            page = Page(f"http://a.example/{number}", title=f"Post {number}", paragraphs=(text(60, number),))
            analysis = Analysis(page, index.secret)
            blocks.update(analysis.text.block_hashes)
            detector.judge(analysis, CHECKS)
        detector.close()
        index.close()
    template = SiteTemplates(LmdbIndex(tmp_path, CHECKS)).of("a.example")
    assert template.pages == 3
    assert not any(template.recurring(blocks))


LEARNED = st.lists(st.tuples(st.booleans(), st.sets(st.integers(0, 12), max_size=6), st.booleans()), max_size=40)


@given(LEARNED)
def test_no_count_is_too_high_and_one_process_alone_counts_all_that_is_on_several(
    pages: list[tuple[bool, set[int], bool]],
) -> None:
    """Whose page it is, what stands on it, and whether it is stored then."""
    index = TemporaryIndex(CHECKS)
    both = SiteTemplates(index), SiteTemplates(index)
    truth, by = Counter[int](), {is_other: Counter[int]() for is_other in (False, True)}
    for number, (is_other, blocks, stores) in enumerate(pages):
        learn(both[is_other], "a.example", blocks, f"{number}")
        truth.update(blocks)
        by[is_other].update(blocks)
        if stores:
            both[is_other].store()
    for one in both:
        one.store()
    stored = SiteTemplates(index).of("a.example")
    index.close()
    assert stored.pages == len(pages)
    for block, count in truth.items():
        assert sum(seen for one in by.values() if (seen := one[block]) > 1) <= stored.count(block) <= count


@pytest.mark.parametrize("limit", ["_HOSTS_IN_MEMORY", "_BLOCKS_IN_MEMORY"])
def test_hosts_make_room_for_others_and_are_found_again(monkeypatch: pytest.MonkeyPatch, limit: str) -> None:
    monkeypatch.setattr(site_templates, limit, 3)
    templates = SiteTemplates(TemporaryIndex(CHECKS))
    for turn in range(6):
        for host in range(8):
            learn(templates, f"{host}.example", {host, 100 + turn}, f"{turn}")
            assert len(templates._known) <= 3
    for host in range(8):  # of their blocks none was met twice between two visits
        assert templates.of(f"{host}.example").pages == 6
