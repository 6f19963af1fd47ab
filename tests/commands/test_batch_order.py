from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dedupcrawl.commands import external_sort
from dedupcrawl.commands.batch_order import in_batch_order
from dedupcrawl.content.symbols import SymbolText
from dedupcrawl.detection.analysis import Analysis
from dedupcrawl.page import Page
from dedupcrawl.verdict import Verdict

TEXTS = st.lists(st.lists(st.sampled_from(["a", "bb", "中文", "1,5", "\udfff?"]), max_size=5), max_size=12)


class Judge:
    """Calls a page a duplicate of any that it saw before and that contains its text."""

    def __init__(self) -> None:
        self.seen: list[Page] = []

    def __call__(self, analysis: Analysis) -> Verdict:
        page = analysis.page
        text = " ".join(page.paragraphs)
        holder = next((other.url for other in self.seen if text in " ".join(other.paragraphs)), None)
        self.seen.append(page)
        return Verdict(page.url, "duplicate" if holder else "unique", holder, evidence={"seen": len(self.seen)})


@given(TEXTS)
@settings(deadline=None)
def test_longest_first_and_answered_in_their_order(texts: list[list[str]]) -> None:
    sound = [[re.sub("[\ud800-\udfff]", "", word) for word in words] for words in texts]
    pages = [Page(str(number), paragraphs=tuple(words)) for number, words in enumerate(sound)]
    judge = Judge()
    verdicts = list(in_batch_order(pages, judge))
    assert [verdict.url for verdict in verdicts] == [page.url for page in pages]
    by_definition = sorted(pages, key=lambda page: -len(SymbolText.of(page.paragraphs).symbols))
    assert judge.seen == by_definition
    again = Judge()
    expected = {page.url: again(Analysis(page)) for page in by_definition}
    assert verdicts == [expected[page.url] for page in pages]


def test_what_waits_on_disk_comes_back_as_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    pages = [Page(f"http://a/{n}", f"Title {n}", ("word " * (n * 7 % 50),), body_digest=bytes(16)) for n in range(50)]
    in_memory, on_disk = Judge(), Judge()
    expected = list(in_batch_order(pages, in_memory))
    monkeypatch.setattr(external_sort.ExternalSort.__init__, "__defaults__", (100,))
    assert list(in_batch_order(pages, on_disk)) == expected
    assert on_disk.seen == in_memory.seen
