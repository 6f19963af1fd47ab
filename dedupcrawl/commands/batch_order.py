"""Batch order: pages are judged longest first (Guo et al., Algorithm 3; spec 1, "Batch"), and answered in their order.

What is contained in a page is never longer than it, so of two pages one of which contains the other the longer is
judged first and kept. Length is that of the main text in symbols; of equally long pages the first one comes first.

The paper sorts by length of the feature code. Here other checks judge too, and a code is made of the first thousand
symbols: of two long pages it does not tell which is longer.

Pages, then verdicts, wait in temporary files, so memory does not grow with their number.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from tempfile import TemporaryFile

import msgspec

from dedupcrawl.commands.external_sort import ExternalSort
from dedupcrawl.commands.progress import rows_progress
from dedupcrawl.detection.analysis import Analysis
from dedupcrawl.page import Page
from dedupcrawl.verdict import Verdict

_decode_page = msgspec.msgpack.Decoder(tuple[int, Page]).decode
_decode_verdict = msgspec.msgpack.Decoder(Verdict).decode


def in_batch_order(pages: Iterable[Page], judge: Callable[[Analysis], Verdict]) -> Iterator[Verdict]:
    """A verdict for each page, in the order of the pages, after all of them were judged longest first.

    Raises:
        OSError: There is no room for temporary files.
    """
    encode = msgspec.msgpack.Encoder().encode
    with TemporaryFile() as file:
        verdicts = ExternalSort(file)
        for number, verdict in _longest_first(pages, judge):
            verdicts.add(number, encode(verdict))
        for _, row in verdicts:
            yield _decode_verdict(row)


def _longest_first(pages: Iterable[Page], judge: Callable[[Analysis], Verdict]) -> Iterator[tuple[int, Verdict]]:
    """The number of each page and its verdict."""
    encode = msgspec.msgpack.Encoder().encode
    with TemporaryFile() as file:
        waiting = ExternalSort(file)
        for arrived, page in enumerate(pages):
            waiting.add(-len(Analysis(page).text.starts), encode((arrived, page)))
        with rows_progress("judging", waiting.rows) as update:
            for done, (_, row) in enumerate(waiting, 1):
                number, page = _decode_page(row)
                yield number, judge(Analysis(page))
                update(done)
