"""Nothing that a stranger wrote reaches a terminal, a log line, a file name or a page of ours as it is."""

from __future__ import annotations

import json
import logging
import unicodedata
from pathlib import Path
from typing import Any

import pytest
import scrapy
from click.testing import CliRunner

from dedupcrawl.cli import group
from dedupcrawl.index.open import open_index
from dedupcrawl.urls.normalizer import Normalizer
from dedupcrawl.urls.rule import Rule
from dedupcrawl.urls.rule_files import SiteRules, file_name, write_rules
from dedupcrawl.verdict import Verdict
from tests.crawls.site import SETTINGS, crawl, page, prose, serve

EVIL = "\x9b31m\x7f\u2066\x1b[2J\x1b]0;owned\x07\u202e\u2028\x85\r\n2026-01-01 [root] INFO: forged"


def harmless(text: str) -> bool:
    return all(unicodedata.category(character)[0] not in "C" or character == "\n" for character in text)


def test_what_commands_print_is_harmless(tmp_path: Path) -> None:
    rows = [
        {"url": f"http://a.example/{EVIL}", "title": EVIL, "text": prose(1) + EVIL},
        {"url": f"http://a.example/2{EVIL}", "title": EVIL, "text": prose(1) + EVIL + prose(2, 10)},
        {"url": EVIL, EVIL: EVIL, "text": 1},
    ]
    pages = tmp_path / "pages.jsonl"
    pages.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    write_rules(tmp_path / "rules", SiteRules("a.example", (Rule("sid" + EVIL, "rewrite", drop=("sid",), note=EVIL),)))
    index, rules = ["--index", str(tmp_path / "index")], ["--rules", str(tmp_path / "rules")]
    commands: list[list[str]] = [
        ["check", str(pages)],
        ["check", str(pages), *index, "--set", "KEEP_TEXT=1", "--output", str(tmp_path / "out.jsonl")],
        ["normalize", EVIL, f"http://a.example/{EVIL}\udcff", *rules],
        ["explain", f"http://a.example/{EVIL}", "--json", *index, *rules],
        ["explain", f"http://a.example/2{EVIL}&sid=1", "--json", *index, *rules],
        ["explain", f"http://a.example/{EVIL}", *index, *rules],
        ["explain", f"http://a.example/2{EVIL}&sid=1", *index, *rules],
        ["explain", EVIL, *index, *rules],
        ["index", "info", *index],
        ["index", "forget", EVIL, *index],
        ["index", "forget", "--site", EVIL, *index],
        ["index", "forget", "--older-than", EVIL, *index],
        ["index", "restore", "--check", EVIL, *index],
        ["index", "info", "--index", f"redis://{EVIL}"],
        ["index", "info", "--index", f"redis://{EVIL.replace('[', '').replace(']', '')}"],
        ["rules", "list", *rules],
        ["rules", "show", "a.example", *rules],
        *([*shown, "--json", *rules] for shown in (["rules", "list"], ["rules", "show", "a.example"])),
        ["rules", "show", EVIL, *rules],
        ["rules", "test", f"http://a.example/?sid=1{EVIL}", *rules],
        ["evaluate", str(pages), *rules],
        ["train", str(pages), *rules],
    ]
    for arguments in commands:
        result = CliRunner().invoke(group, arguments)
        assert harmless(result.output), arguments
        assert "\n2026-01-01 [root]" not in result.output, arguments
    opened = open_index(index[1], [])
    dropped = Verdict(f"http://a.example/{EVIL}", "duplicate", f"http://a.example/2{EVIL}", "shingles", 0.9)
    opened.record(dropped, run=EVIL, site=EVIL, spider=EVIL, request=b"asked")
    opened.close()
    given_back = CliRunner().invoke(group, ["index", "restore", "--check", "shingles", *index])
    assert "http://a.example/2" in given_back.stdout
    assert harmless(given_back.output)
    assert "\n2026-01-01 [root]" not in given_back.output


class Listing(scrapy.Spider):
    """Items whose URLs are what a page says."""

    name = "listing"

    def parse(self, response: Any) -> Any:
        for number in range(2):
            yield {"url": f"http://a.example/{number}{EVIL}", "text": response.css("article ::text").get()}


async def test_what_a_crawl_logs_is_harmless(caplog: pytest.LogCaptureFixture, tmp_path: Path) -> None:
    (tmp_path / "a.example.toml").write_text("[[rules]]\nid = 'x" + "\u202e" + "'\n", encoding="utf-8")
    with caplog.at_level(logging.DEBUG), serve({"/": page(prose(1, 200))}) as site:
        settings = {**SETTINGS, "DEDUP_ITEM_FIELDS": {"listing": {"url": "url", "text": "text"}}, "LOG_ENABLED": True}
        done = await crawl(f"{site.base}/", settings, Listing)
        assert done.stats["dedup/content/duplicate"] == 1
    dropped = [record for record in caplog.records if "duplicate of" in record.getMessage()]
    assert dropped
    ours = [record.getMessage().partition("{'url'")[0] for record in (*dropped, *_ours(caplog))]
    assert all(harmless(message.strip()) for message in ours), ours
    assert not any("\n2026-01-01 [root]" in message for message in ours)


def test_what_the_normalizer_logs_is_harmless(caplog: pytest.LogCaptureFixture, tmp_path: Path) -> None:
    for number in range(60):  # so many that they are read when they are needed
        (tmp_path / f"s{number}.example.toml").write_text(f'site = "{number}"\nrules = "\u202e\u0085"\n', "utf-8")
    normalizer = Normalizer.from_paths([tmp_path])
    for number in range(60):
        normalizer.normalize(f"http://s{number}.example/")
    assert _ours(caplog)
    assert all(harmless(record.getMessage()) for record in _ours(caplog))


def _ours(caplog: pytest.LogCaptureFixture) -> list[logging.LogRecord]:
    return [record for record in caplog.records if record.name.startswith("dedupcrawl")]


@pytest.mark.parametrize("site", ["../../etc/passwd", "a/b", "..", ".", "\0", EVIL, "con", "x" * 10_000, "", "a\\b"])
def test_no_site_names_a_file_outside_its_folder(site: str) -> None:
    name = file_name(site)
    assert Path("/rules", name).resolve().parent == Path("/rules")
    assert harmless(name)
    assert len(name.encode()) <= 255
