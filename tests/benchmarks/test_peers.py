from __future__ import annotations

import random

import pytest

from benchmarks.peers.methods import Peer, all_peers
from benchmarks.peers.run import run_ours, run_peer, run_published
from benchmarks.peers.stream import Quality, quality
from benchmarks.planted_cases import Row
from dedupcrawl.content.checks.feature_code import FeatureCodeCheck

WORDS = {
    "en": [f"{start}{end}" for start in ("ba", "co", "di", "fu", "ge", "hi", "ka") for end in ("lton", "mer", "rix")],
    "zh": ["数据库", "后台", "程序", "定期", "整理", "索引", "日志", "检查", "节点", "状态", "通知", "管理员", "处理"],
}


def text(language: str, seed: int) -> tuple[str, ...]:
    chance = random.Random(seed)
    first = chance.randrange(1000, 9000)  # so that two texts share few words
    some = [*WORDS[language], *(f"w{number}" for number in range(first, first + 40))]
    space = " " if language == "en" else ","
    return tuple(space.join(chance.choices(some, k=60)) + "." for _ in range(4))


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("number", range(5))
def test_every_peer_drops_a_copy_and_keeps_another_page(language: str, number: int) -> None:
    peer: Peer = all_peers(language)[number]
    pages = [text(language, 1), text(language, 2), text(language, 1)]
    for setting in (peer.documented, peer.tried[-1]):
        matches = run_peer(setting, pages).matches
        assert not matches[0]
        assert 0 in matches[2]
    assert not run_peer(peer.documented, pages).matches[1]


def test_ours_on_the_same_pages() -> None:
    pages = [text("en", 1), text("en", 2), text("en", 1)]
    run = run_ours(["exact"], pages)
    assert list(map(list, run.matches)) == [[], [], [0]]
    assert run.bytes_a_page is not None
    assert list(map(list, run_published(FeatureCodeCheck(), pages).matches)) == [[], [], [0]]


ROWS = [
    Row("original", "a", ("one two three four",), False),
    Row("original", "b", ("five six seven eight",), False),
    Row("en: exact copy", "a", ("one two three four",), True),
    Row("en: 2% of the words replaced", "a", ("one two three nine",), True),
    Row("en: 2% replaced, deleted, added", "b", ("five six seven",), True),
    Row("en: 5% of the words replaced", "a", ("one two three nine",), True),
    Row("en: 10% of the words replaced", "a", ("one two three nine",), True),
    Row("en: wrapped in a template of 15%", "a", ("one two three nine",), True),
    Row("en: blocks shuffled", "a", ("one two three nine",), True),
    Row("en: cut to 70%", "a", ("one two three nine",), True),
    Row("en: excerpt of 40%", "a", ("one two three nine",), True),
    Row("own text in a template of 85%", "look-alike 0 other 0", ("ten eleven",), False),
    Row("bulletin, 8 other figures", "a other 1", ("one two three 4",), False),
]


def judged(**dropped: int) -> Quality:
    """The quality when these rows ("r3=0": row 3, for row 0) are dropped."""
    return quality(ROWS, [[dropped[f"r{number}"]] if f"r{number}" in dropped else [] for number in range(len(ROWS))])


def test_recall_by_kind_and_their_mean() -> None:
    found = judged(r2=0, r3=0, r10=0)
    assert found.recall["exact"] == 1
    assert found.recall["2 %"] == 0.5
    assert found.recall["5 %"] == 0
    assert found.mean_recall == pytest.approx(1.5 / 7)  # without the excerpt
    assert found.precision == 1
    assert found.f1 == pytest.approx(2 * (2.5 / 8) / (1 + 2.5 / 8))


def test_a_drop_for_another_page_is_wrong() -> None:
    assert judged(r2=1).precision == 0
    assert judged(r2=1).recall["exact"] == 0
    assert judged(r1=0).precision == 0  # an original that says something else
