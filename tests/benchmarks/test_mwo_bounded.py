from __future__ import annotations

from benchmarks.mwo_bounded import overlaps, view_of
from dedupcrawl.content.checks.mwo import Record, overlap


def test_overlaps_by_postings_are_those_of_the_records() -> None:
    words = [{f"w{(3 * page + i) % 40}": 1 + i for i in range(5 + page % 7)} for page in range(30)]
    kept = [Record.of(weights, dropped=0, most=80).to_bytes() for weights in words]
    one, *_ = kept
    expected = [overlap(Record.from_bytes(one), Record.from_bytes(other)) for other in kept]
    assert overlaps(one, view_of(kept), len(kept)).tolist() == expected
