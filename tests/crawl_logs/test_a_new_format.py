"""A log format that the package does not have, in this one file: Squid's access.log with an ETag at the end."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from dedupcrawl.crawl_logs import registry
from dedupcrawl.crawl_logs.blocks import line_blocks
from dedupcrawl.crawl_logs.registry import LogFormat, read_log
from dedupcrawl.crawl_logs.rows import LogRow, rows_of_values
from dedupcrawl.crawl_logs.tally import Tally
from dedupcrawl.training.options import LearningOptions
from dedupcrawl.training.train import train

_ROW = re.compile(rb"\d{10}\.\d{3} +\d+ \S+ TCP_\w+/\d{3} \d+ GET ")
_FIELDS = re.compile(
    r"^\d+\.\d+ +\d+ \S+ TCP_\w+/(?P<status>\d{3}) (?P<bytes>\d+) GET (?P<url>\S+) \S+ \S+ (?P<mime>\S+)"
    r" (?P<digest>\S+)$"
)


def matches(head: bytes) -> bool:
    return _ROW.match(head) is not None


def read(path: Path, tally: Tally) -> Iterator[list[LogRow]]:
    for block in line_blocks(path, tally):
        found = ((number, _FIELDS.match(line.decode())) for number, line in block.texts())
        values = ((number, row and row.groupdict()) for number, row in found)
        yield rows_of_values(values, "not a line of Squid", str(path), tally)


def line(url: str, digest: str) -> str:
    return f"1763791200.123    45 10.0.0.1 TCP_MISS/200 5120 GET {url} - HIER_DIRECT/10.0.0.2 text/html {digest}\n"


@pytest.fixture
def squid(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "FORMATS", (LogFormat("Squid", matches, read), *registry.FORMATS))


@pytest.fixture
def log(tmp_path: Path) -> Path:
    rows = [line(f"http://a.example/p/{n}?sid={s}{n}", f"d{n}") for n in range(60) for s in range(3)]
    path = tmp_path / "access.log"
    path.write_text("".join([*rows, "nonsense\n"]), encoding="utf-8")
    return path


@pytest.mark.usefixtures("squid")
def test_it_is_found_and_read(log: Path) -> None:
    tally = Tally()
    urls = [row.url for batch in read_log(log, tally) for row in batch]
    assert len(urls) == 180
    assert urls[0] == "http://a.example/p/0?sid=00"
    assert dict(tally.skipped) == {"not a line of Squid": 1}


@pytest.mark.usefixtures("squid")
def test_rules_are_learned_from_it(log: Path, tmp_path: Path) -> None:
    learned = train([log], tmp_path / "rules", LearningOptions(), workers=1)
    assert [rule.drop for site in learned.learned.rules for rule in site.rules] == [("sid",)]
