from __future__ import annotations

import numpy as np
import pytest

from benchmarks.synthetic_pages import BLOCK, blocks
from benchmarks.synthetic_signatures import MORE, makers
from dedupcrawl.content.checks.registry import make_checks


@pytest.mark.parametrize("name", MORE)
def test_what_is_made_up_is_a_signature_and_its_duplicate_is_found_by_it(name: str) -> None:
    (check,), maker = make_checks((name,), {}), makers((name,), 1, 10)[name]
    assert maker.records(40, 20) == maker.records(40, 20)
    assert maker.records(60, 20) != maker.records(40, 20)
    rng = np.random.default_rng(1)
    for record in maker.records(0, 50):
        duplicate = maker.duplicate(rng, record)
        assert check.compare(duplicate, record) is not None
        assert set((check.keys(duplicate) >> np.uint64(check.payload_bits)).tolist()) & set(
            (check.keys(record) >> np.uint64(check.payload_bits)).tolist()
        )


def test_pages_of_all_checks_hold_duplicates_by_all_of_them() -> None:
    (block,) = blocks(BLOCK, 1, MORE)
    assert all(list(page.more) == list(MORE) for page in block.pages)
    titles = [page.more["title"] for page in block.pages]
    assert 0.01 < len(block.alike) / BLOCK < 0.03
    assert all(titles.index(titles[number]) < number for number in block.alike)
