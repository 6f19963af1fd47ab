"""Who lacks a library of an extra is told the line that brings it. (A crawl that needs none: test_packaging.)"""

from __future__ import annotations

import doctest
import subprocess
import sys
from importlib.metadata import requires
from pathlib import Path

import pytest

from dedupcrawl import extras
from tests.crawls.site import prose

LIBRARIES = sorted({library for libraries in extras._LIBRARIES.values() for library in libraries})
WITHOUT = f"""
import sys

class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {LIBRARIES!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)

sys.meta_path.insert(0, Missing())
import importlib.metadata, importlib.util
known = importlib.util.find_spec
importlib.util.find_spec = lambda name, package=None: None if name in {LIBRARIES!r} else known(name, package)
"""
SPIDER = """
import scrapy

class Pages(scrapy.Spider):
    name = "pages"
    custom_settings = {"ADDONS": {"dedupcrawl.Addon": 500}}

    async def start(self):
        yield scrapy.Request(self.origin)

    def parse(self, response):
        yield {"url": response.url}
        yield from response.follow_all(css="a")
"""


def python(code: str, there: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", WITHOUT + code], cwd=there, capture_output=True, text=True, timeout=120, check=False
    )


def crawl(there: Path, origin: str, *settings: str) -> subprocess.CompletedProcess[str]:
    (there / "spider.py").write_text(SPIDER, encoding="utf-8")
    options = [part for one in settings for part in ("-s", one)]
    command = ["scrapy", "runspider", "spider.py", "-a", f"origin={origin}", "-o", "items.jsonl", *options]
    return python(f"from scrapy.cmdline import execute; execute({command!r})", there)


def test_the_examples() -> None:
    assert doctest.testmod(extras).failed == 0


def test_every_extra_is_one_of_the_package() -> None:
    declared = [line.partition("extra == ")[2].strip("\"'") for line in requires("dedupcrawl") or ()]
    assert set(extras._LIBRARIES) <= set(declared)


@pytest.mark.parametrize(
    ("setting", "said"),
    [
        ("DEDUP_LEARN=True", "DEDUP_LEARN needs the extra 'train': pip install 'dedupcrawl[train]'"),
        ("DEDUP_CHECKS=exact,mwo", "(mwo needs the extra 'terms': pip install 'dedupcrawl[terms]')"),
        ("DEDUP_REPORT=report.html", "DEDUP_REPORT needs the extra 'report': pip install 'dedupcrawl[report]'"),
        ("DEDUP_INDEX=redis://127.0.0.1/0", "pip install 'dedupcrawl[redis]'"),
    ],
)
def test_a_setting_that_needs_one_says_so_at_the_start(tmp_path: Path, setting: str, said: str) -> None:
    done = crawl(tmp_path, "http://127.0.0.1:9/", setting)
    assert said in done.stderr


@pytest.mark.parametrize(
    ("command", "extra"),
    [
        (["train", "pages.jsonl"], "train"),
        (["evaluate", "pages.jsonl"], "train"),
        (["rules", "why", "http://a/1", "http://a/2", "pages.jsonl"], "train"),
        (["check", "pages.warc"], "train"),
        (["check", "--checks", "concepts", "pages.jsonl"], "terms"),
        (["report", "--index", "index", "--output", "report.html"], "report"),
        (["check", "--engine", "spark", "--order", "batch", "pages.jsonl"], "spark"),
    ],
)
def test_a_command_that_needs_one_says_so_in_one_line(tmp_path: Path, command: list[str], extra: str) -> None:
    (tmp_path / "pages.jsonl").write_text('{"url": "http://a/1", "text": "one"}\n', encoding="utf-8")
    (tmp_path / "pages.warc").write_bytes(b"WARC/1.0\r\nWARC-Type: response\r\nContent-Length: 0\r\n\r\n\r\n\r\n")
    done = python(f"from dedupcrawl.cli import run; sys.exit(run({command!r}))", tmp_path)
    assert done.returncode in {1, 2}
    assert f"pip install 'dedupcrawl[{extra}]'" in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_what_needs_none_works_without(tmp_path: Path) -> None:
    rows = [f'{{"url": "http://a.example/{n}", "text": "{prose(1)}"}}' for n in range(2)]
    (tmp_path / "pages.jsonl").write_text("\n".join(rows), encoding="utf-8")
    done = python("from dedupcrawl.cli import run; sys.exit(run(['check', 'pages.jsonl']))", tmp_path)
    assert '"duplicate_of":"http://a.example/0"' in done.stdout
    for command in (["rules", "software"], ["normalize", "--rules", ".", "http://a.example/?b=1"]):
        done = python(f"from dedupcrawl.cli import run; sys.exit(run({command!r}))", tmp_path)
        assert done.returncode == 0, done.stderr
