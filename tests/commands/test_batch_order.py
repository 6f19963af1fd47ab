from __future__ import annotations

import re
import resource

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dedupcrawl.commands.check import in_batch_order
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


def test_more_than_memory_holds_comes_back_as_it_was() -> None:
    pages = [
        Page(f"http://a/{n}", f"Title {n}", ("word " * (n * 777 % 5_000),), body_digest=bytes(16)) for n in range(999)
    ]
    judge = Judge()
    assert [verdict.url for verdict in in_batch_order(pages, judge)] == [page.url for page in pages]
    assert judge.seen == sorted(pages, key=lambda page: -len(page.paragraphs[0]))


def test_no_room_is_said_in_a_sentence() -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 16, hard))
    try:
        with pytest.raises(OSError, match="disk") as raised:
            list(in_batch_order((Page(f"http://a/{n}", paragraphs=("word " * 50_000,)) for n in range(50)), Judge()))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert "temporary files" in str(raised.value.filename)
