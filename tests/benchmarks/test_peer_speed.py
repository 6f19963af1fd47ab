from __future__ import annotations

from benchmarks.peer_speed import TURN, all_ways, in_turns, shingles
from tests.crawls.site import prose


def test_every_way_judges_all_pages() -> None:
    pages = [(prose(number, 60),) for number in range(TURN)] * 2
    ways = all_ways()
    assert [len(list(way(pages))) for way in ways.values()] == [2] * len(ways)
    assert min(in_turns(ways, pages[:10]).values()) > 0


def test_shingles_are_of_three_symbols() -> None:
    assert shingles(("The end,", "再见 Now")) == {"the end 再", "end 再 见", "再 见 now"}
    assert shingles(("Short one",)) == set()
