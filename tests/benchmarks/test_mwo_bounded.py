from __future__ import annotations

from benchmarks.mwo_bounded import overlaps, view_of
from benchmarks.mwo_records import record_of
from dedupcrawl.core.overlap import overlap


def test_overlaps_by_postings_are_those_of_the_records() -> None:
    words = [{f"w{(3 * page + i) % 40}": 1 + i for i in range(5 + page % 7)} for page in range(30)]
    kept = [record_of(weights) for weights in words]
    one, *_ = kept
    expected = [overlap(one, other) for other in kept]
    assert overlaps(one, view_of(kept), len(kept)).tolist() == expected
