"""Strangers' pages that are made to pass for other pages: none of these is lost."""

from __future__ import annotations

import base64
import json
import logging
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import mmh3
import pytest
import scrapy
from click.testing import CliRunner
from scrapy.http import HtmlResponse

from dedupcrawl import Detector, read_text
from dedupcrawl.cli import group
from dedupcrawl.content.checks.exact import ExactCheck
from dedupcrawl.core.symbols import SymbolText
from dedupcrawl.detection.trust import EVERYBODY, Trust
from dedupcrawl.index.lmdb import LmdbIndex
from dedupcrawl.page import Page
from tests.crawls.site import Answer, crawl, page, prose, serve
from tests.detection.judged import Shared

WARNING = "The water of the village well is not safe to drink: council found arsenic in it at ninety times the limit"
FORGED = {
    "the": "hmomomprlkslollnmrpkjnpm",
    "water": "lpgkkljnjmmiqjllvtmkpnrl",
    "of": "ojnopqppjkqnkoorlnjommog",
    "village": "jrqnliqrnntkospjgoninqrl",
    "well": "oonnkqmhrpljpnnljhlmonno",
    "is": "ksigleoljommikjinnmohmij",
    "not": "iomhnqjijmkplmirqmhtomko",
    "safe": "ilrphnnqqqlmukstmjsqrkkn",
    "to": "gpnklolmpprjjjpnkhrnpopo",
    "drink": "msmqjirjoqngohsmssmkikkn",
    "council": "mpmnnkmkkmtkumjoriqilmik",
    "found": "snjmgnjnktqhmlknflojpkkh",
    "arsenic": "nsshllqlrnjlnnentmonujkk",
    "in": "krmllooopkjiljfomtqrmmng",
    "it": "skoqqmknpnqmngjmprtqlkmi",
    "at": "kqhktqposlokkhnjmjikkjrl",
    "ninety": "klnioqnqpqnomkkotokohhkr",
    "times": "krnmpplonnnprkjoloojnnol",
    "limit": "gtgtrniosjnqrprtqkpmmkkq",
}
"""Words, and others of the same 64-bit hash of symbols of version 0.2, found by lattice reduction:
before it is mixed, that hash is linear in the letters."""
JUNK = re.sub("[a-z]+", lambda word: FORGED[word[0]], WARNING.lower())

REPORT = "%PDF-1.7 the annual report of a village that has one well......."
ADVERT = "an advert, no. 00078084, as a picture of pills..\x15\n|fa.zw\x06\x19A]/\x07\n@"
"""Two bodies of one MurmurHash3 x64 128: the last 16 bytes of the second were solved for."""


class Visitor(scrapy.Spider):
    """Follows links in their order, and yields what every URL shows."""

    name = "visitor"
    custom_settings = {"CONCURRENT_REQUESTS": 1}  # noqa: RUF012 - as Scrapy has it

    def parse(self, response: Any) -> Any:
        yield {"url": response.url, "body": response.body.decode()}
        if isinstance(response, HtmlResponse):
            for number, link in enumerate(response.css("a::attr(href)").getall()):
                yield response.follow(link, priority=-number)


def linear_hash(word: str) -> int:
    """The hash of a symbol before its mix, as version 0.2 had it."""
    return sum(ord(letter) * pow(0x9E3779B97F4A7C15, place, 1 << 64) for place, letter in enumerate(word)) % (1 << 64)


def test_the_forgeries_collide() -> None:
    assert all(linear_hash(word) == linear_hash(forged) for word, forged in FORGED.items())
    assert mmh3.hash_bytes(REPORT) == mmh3.hash_bytes(ADVERT)


async def test_forged_words_and_bodies_of_a_stranger_take_no_place() -> None:
    pages: dict[str, Any] = {
        "/words": page(JUNK, title="Pills"),
        "/well": page(WARNING, title="Warning"),
        "/advert": Answer(ADVERT, headers={"Content-Type": "image/png"}),
        "/report": Answer(REPORT, headers={"Content-Type": "application/pdf"}),
    }
    with serve(pages) as site:
        there = site.base.replace("127.0.0.1", "localhost")
        pages["/"] = page("Start " + prose(0), f"{there}/words", "/well", f"{there}/advert", "/report")
        done = await crawl(f"{site.base}/", spider=Visitor)
    assert {item["body"] for item in done.items} >= {REPORT, ADVERT, pages["/well"], pages["/words"]}


@pytest.mark.parametrize("trust", [Trust(["good.example"]), EVERYBODY])
def test_forged_words_are_no_identical_text(trust: Trust) -> None:
    shared = Shared()
    shared.judge("http://evil.example/", JUNK.split(), trust=trust)
    assert shared.judge("http://good.example/well", WARNING.split(), trust=trust).verdict == "unique"


async def test_a_strangers_identical_copy_keeps_no_later_crawl_from_the_page(tmp_path: Path) -> None:
    """Whether the two still say the same is known only once both are fetched."""
    settings = {"DEDUP_INDEX": f"lmdb:{tmp_path}/index"}
    pages: dict[str, Any] = {"/copy": page(prose(1)), "/story": page(prose(1))}
    with serve(pages) as site:
        there = site.base.replace("127.0.0.1", "localhost")
        pages["/"] = page("Start " + prose(0), f"{there}/copy", "/story")
        first = await crawl(f"{site.base}/", settings, Visitor)
        pages["/story"] = page(prose(2))
        later = await crawl(f"{site.base}/", settings, Visitor)
    assert f"{site.base}/story" not in first.urls
    assert f"{site.base}/story" in later.urls


def rows_of(folder: Path, text: str) -> str:
    """A file with one page, twice."""
    rows = folder / "rows.jsonl"
    rows.write_text("".join(f"{json.dumps({'url': f'http://a.example/{n}', 'text': text})}\n" for n in "12"), "utf-8")
    return str(rows)


def run(*arguments: str) -> str:
    done = CliRunner().invoke(group, arguments)
    return f"{done.stdout}{done.stderr}"


async def by_crawl(folder: Path, text: str, **settings: Any) -> None:
    with serve({"/": page(text)}) as site:
        await crawl(f"{site.base}/", {"DEDUP_INDEX": f"lmdb:{folder}/index", **settings})


async def by_crawl_of_items(folder: Path, text: str) -> None:
    await by_crawl(folder, text, DEDUP_ITEM_FIELDS={"follower": {"text": "text"}})


async def by_api(folder: Path, text: str) -> None:
    with Detector(folder / "index") as detector:
        detector.check(read_text(text, "http://a.example/1"))


async def by_api_of_many(folder: Path, text: str) -> None:
    with Detector(folder / "index") as detector:
        list(detector.check_many([read_text(text, "http://a.example/1")]))


async def by_check(folder: Path, text: str) -> None:
    run("check", rows_of(folder, text), "--index", str(folder / "index"))


async def by_check_in_batch_order(folder: Path, text: str) -> None:
    run("check", rows_of(folder, text), "--index", str(folder / "index"), "--order", "batch")


@pytest.mark.parametrize(
    "keep", [by_crawl, by_crawl_of_items, by_api, by_api_of_many, by_check, by_check_in_batch_order]
)
async def test_whoever_keeps_a_page_signs_it_by_the_secret_of_its_index(
    tmp_path: Path, keep: Callable[..., Any]
) -> None:
    text = prose(3)
    await keep(tmp_path, text)
    index = LmdbIndex(tmp_path / "index", ())
    (entry,), secret = index.entries(), index.secret
    index.close()
    assert entry.signatures["exact"] == ExactCheck().signature(Page(""), SymbolText.of((text,), secret))


async def test_logs_of_two_crawls_have_the_same_digests(tmp_path: Path) -> None:
    rows = []
    for name in ("one", "two"):
        log = tmp_path / f"{name}.jsonl"
        await by_crawl(tmp_path / name, prose(3), DEDUP_CRAWL_LOG=str(log))
        rows.append(json.loads(log.read_text("utf-8").splitlines()[0]))
    assert rows[0]["digest"] == rows[1]["digest"]
    assert rows[0]["simhash"] == rows[1]["simhash"]
    assert rows[0]["text_digest"] == rows[1]["text_digest"]
    made = ExactCheck().signature(Page(""), SymbolText.of((prose(3),)))
    assert made is not None
    assert rows[0]["text_digest"] == made.hex()


async def test_nothing_shows_the_secret(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    folder, report = str(tmp_path / "index"), tmp_path / "report.html"
    run("check", rows_of(tmp_path, prose(3)), "--index", folder)
    await by_crawl(tmp_path, prose(3), DEDUP_REPORT=str(tmp_path / "of-crawl.html"), LOG_ENABLED=True)
    index = LmdbIndex(tmp_path / "index", ())
    secret = bytes(index.secret)
    index.close()
    url = "http://a.example/1"
    commands = (
        *(("index", "info"), ("index", "verify"), ("index", "list"), ("index", "list", "--drops")),
        *(("explain", url), ("explain", "http://a.example/2"), ("report", "--output", str(report))),
        ("compare", url, "http://a.example/2"),
    )
    said = [caplog.text, (tmp_path / "of-crawl.html").read_text("utf-8")]
    for command in commands:
        for more in ((), ("--json",)):
            said.append(run(*command, "--index", folder, *more))
    shown = "".join([*said, report.read_text("utf-8")])
    assert all(one in shown for one in ('"pages":', url, "all sound", "<html"))
    ways = (
        secret.hex(),
        base64.b64encode(secret).decode(),
        repr(secret)[2:-1],
        secret.decode("latin-1"),
        str([*secret])[1:-1],
    )
    for way in ways:
        assert way[: len(way) // 2] not in shown
