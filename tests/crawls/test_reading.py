"""What a crawl is told of where a page's text is, and of what does not count."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest
from click.testing import CliRunner

from dedupcrawl.commands.calibrate import command as calibrate
from dedupcrawl.content.model import packaged
from dedupcrawl.settings import SettingError
from tests.commands.invoked import write
from tests.crawls.site import Answer, crawl, crawled, page, prose, serve

STORIES = {f"/{n}": Answer(page(prose(n))) for n in range(1, 4)}
SITE = {"/": Answer(page(prose(0), *STORIES)), **STORIES}


async def test_a_selector_that_finds_nothing_is_counted_and_told_once_for_a_host(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with caplog.at_level(logging.WARNING):
        done = await crawled(SITE, {"DEDUP_SELECTOR": "#nowhere"})
    assert len(done.items) == 4
    assert done.stats["dedup/content/selector_missed"] == 4
    told = [record.getMessage() for record in caplog.records if "finds nothing on" in record.getMessage()]
    assert len(told) == 1
    assert "DEDUP_SELECTOR '#nowhere'" in told[0]
    assert "dedup/content/selector_missed" not in (await crawled(SITE, {"DEDUP_SELECTOR": "article"})).stats


def counted(number: int) -> Answer:
    """One story under three URLs, each time with another notice in it that nobody would take for site template."""
    return Answer(
        page(
            f"{prose(1)} <span class=notice>{prose(100 + number, 60)}</span> <b>seen on {prose(200 + number, 40)}!</b>"
        )
    )


async def test_what_does_not_count_by_site() -> None:
    pages = {f"/{n}": counted(n) for n in range(3)}
    with serve({"/": Answer(page(prose(9), *pages)), **pages}) as site:
        plain = await crawl(f"{site.base}/")
        ignore = ["css:.notice", "re:seen on [^!]*!"]
        told = await crawl(f"{site.base}/", {"DEDUP_SITES": {"127.0.0.1": {"DEDUP_IGNORE": ignore}}})
        elsewhere = await crawl(f"{site.base}/", {"DEDUP_SITES": {"b.example": {"DEDUP_IGNORE": ignore}}})
    assert len(plain.items) == len(elsewhere.items) == 4
    assert len(told.items) == 2


async def test_a_model_of_ones_own(tmp_path: Path) -> None:
    """Taught that such pages are others, a crawl keeps them all."""
    words = prose(1, 200).split()
    others = ("another", "other", "different")
    pages = {f"/{n}": Answer(page(" ".join([*words[:90], other, *words[91:]]))) for n, other in enumerate(others)}
    labels = []
    for number in range(60):
        said = prose(100 + number, 200).split()
        edited = [*said[:90], "other", *said[91:]] if number % 2 else [*said, "appended"]
        kept, new = (
            {"url": f"http://a.example/{number}/{name}", "title": "T", "text": " ".join(text)}
            for name, text in (("kept", said), ("new", edited))
        )
        labels.append({"kept": kept, "new": new, "same": number % 2 == 0})
    model = tmp_path / "model.json"
    made = CliRunner().invoke(calibrate, [str(write(tmp_path / "l.jsonl", *labels)), "--output", str(model), "--json"])
    assert made.exit_code == 0, made.output
    more = {f"/other/{n}": Answer(page(prose(20 + n))) for n in range(6)}  # by which its site is known
    given = {"DEDUP_TARGET_PRECISION": 0.8, "CONCURRENT_REQUESTS": 1}  # the last link is the first that is fetched
    with serve({"/": Answer(page(prose(9), *pages, *more)), **more, **pages}) as site:
        plain = await crawl(f"{site.base}/", given)
        taught = await crawl(f"{site.base}/", {**given, "DEDUP_MODEL": str(model)})
    assert len(plain.items) < len(taught.items) == 10
    assert packaged().weights  # the package's own is as it was


async def test_a_model_that_is_none_stops_the_crawl_at_its_start(tmp_path: Path) -> None:
    path = write(tmp_path / "model.json", {"format": 1})
    with serve(SITE) as site, pytest.raises(SettingError, match=r"DEDUP_MODEL: got .* has format 1"):
        await crawl(f"{site.base}/", {"DEDUP_MODEL": str(path)})
