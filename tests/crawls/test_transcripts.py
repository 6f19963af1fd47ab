"""Every word that a crawl and the commands print, in one file: whoever changes a message sees it there.

`TRANSCRIPTS=write pytest tests/crawls/test_transcripts.py` writes it anew: read what has changed as a user would.
"""

from __future__ import annotations

import os
import re
import shlex
from pathlib import Path

import pytest

from dedupcrawl import cli
from tests import warm
from tests.crawls.project import make_project, scrapy_crawl
from tests.crawls.site import page, prose, serve

FILE = Path(__file__).parents[1] / "fixtures" / "transcripts.txt"

SETTINGS = {"CONCURRENT_REQUESTS": 1, "LOG_LEVEL": "INFO", "DEDUP_RUN": "nightly", "DEDUP_KEEP_TEXT": True}
LOG = ".scrapy/dedup/crawl-log.jsonl"
COMMANDS = f"""\
evaluate {LOG}
train {LOG} --rules rules
scrapy crawl pages
rules list
rules test SITE/p/3?sid=7
rules test
rules why SITE/p/3?sid=7 SITE/p/3 {LOG}
rules disable HOST r1-1
rules show HOST
evaluate {LOG}
normalize SITE/p/3?sid=7 SITE/about
explain SITE/print
explain SITE/form
explain SITE/p/3?sid=7
explain SITE/never
explain example
index info
index list
index list --drops
index restore SITE/print
index restore SITE/never
index forget --older-than 90d
index forget
index verify
index compact
check items.jsonl
compare one.html other.html
text one.html
report --output report.html
calibrate none.jsonl
train none.jsonl
train items.jsonl --rules items.jsonl
train empty.jsonl --rules rules
rules why SITE/p/3?sid=7 SITE/p/3 empty.jsonl
index info --index one.html
text empty.jsonl
text .
no-such-command
"""


def site_pages() -> dict[str, str]:
    links = [f"/p/{number}?sid={number * 13 + session}" for number in range(20) for session in range(3)]
    pages = {link: page(prose(int(link.split("/")[2].split("?")[0]) + 9), title=link.split("?")[0]) for link in links}
    long = prose(1, 300)
    return {
        "/": page("Start " + prose(0), *links, "/story", "/print", "/form", title="Start"),
        "/story": page(long, title="Story"),
        "/print": page(f"{long}\nprinted on request", title="Story"),
        "/form": page("Go", title="Form"),
        **pages,
        **{link.partition("?")[0]: text for link, text in pages.items()},
    }


_ROW = r"^(?:\{\"url\"| +[\"\[\]]).*\n"  # of rows in JSON, and of examples in a rule file
_CHECK = "(?:exact|simhash|shingles|title|feature_code|mwo|concepts)"
_VARIES = (
    (rf"\b{_CHECK}(?:, {_CHECK})+", "CHECKS"),
    (r"^.*(?=INFO: |WARNING: )", ""),
    (r"\b[0-9a-f]{16,}\b", "HEX"),
    (r"items dropped: [a-z0-9, ]+", "items dropped: …"),
    (r"\d[\d.,:-]*(?:(?<=\d)%|\b)(?: \d\d:\d\d)?(?: (?:kB|MB|s)\b)?", "N"),
    (r" +$", ""),
)


def _first_rows(rows: re.Match[str]) -> str:
    """Three are enough; of pages in an order that does not hang on which one came first."""
    lines = rows[0].splitlines(keepends=True)
    return "".join([*(sorted(lines) if rows[0].startswith("{") else lines)[:3], "…\n"])


def _of_crawl(folder: Path, start: str) -> list[str]:
    done = scrapy_crawl(folder, start)
    return ["$ scrapy crawl pages", *(line for line in done.stderr.splitlines() if "dedupcrawl: " in line)]


@pytest.fixture(scope="module")
def printed(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = make_project(tmp_path_factory.mktemp("transcripts"), SETTINGS)
    for name in ("one", "other"):
        (folder / f"{name}.html").write_text(page(prose(1, 20)), encoding="utf-8")
    (folder / "empty.jsonl").touch()
    with serve(site_pages()) as site:
        port = site.base.rpartition(":")[2]
        lines = [*_of_crawl(folder, f"{site.base}/")]
        for command in COMMANDS.splitlines():
            if command == "scrapy crawl pages":
                lines += ["", *_of_crawl(folder, f"{site.base}/")]
                continue
            arguments = [part.replace("SITE", site.base).replace("HOST", "127.0.0.1") for part in shlex.split(command)]
            ran = warm.run(["dedupcrawl", *arguments], cwd=folder)
            lines += ["", f"$ dedupcrawl {command}", *ran.stdout.splitlines()]
            lines += [f"! {line}" for line in ran.stderr.splitlines()]
            lines += [["[failed]", "[refused]"][ran.returncode - 1]] if ran.returncode else []
    text = "\n".join([*lines, ""]).replace(site.base, "SITE").replace(port, "PORT").replace("127.0.0.1", "HOST")
    text = text.replace(str(folder), "PROJECT")
    for pattern, word in _VARIES:
        text = re.sub(pattern, word, text, flags=re.M)
    return re.sub(rf"(?:{_ROW}){{4,}}", _first_rows, text, flags=re.M)


def test_what_is_printed_is_what_stands_in_the_file(printed: str) -> None:
    if os.environ.get("TRANSCRIPTS") == "write":
        FILE.write_text(printed, encoding="utf-8")
    assert printed == FILE.read_text(encoding="utf-8")


def test_every_command_is_in_it(printed: str) -> None:
    assert {name for name in cli.COMMANDS if f"$ dedupcrawl {name}" not in printed} == set()


def test_a_crawl_ends_with_one_piece_of_advice_at_most(printed: str) -> None:
    """Not "rules cost more than they save" beside "learn rules"."""
    for crawl in printed.split("$ scrapy crawl pages")[1:]:
        closing = [line for line in crawl.partition("\n\n")[0].splitlines() if "dedupcrawl: " in line]
        assert len(closing) <= 3  # what is on, what was saved, and one piece of advice
