"""Who lacks a library of an extra is told the line that brings it. (A crawl that needs none: test_packaging.)"""

from __future__ import annotations

import doctest
import json
import subprocess
import sys
from pathlib import Path

import msgspec

from dedupcrawl import cli, extras
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
CRAWLS = """
import json, os
from scrapy.cmdline import execute
import dedupcrawl.addon, dedupcrawl.crawl.extension, scrapy.core.downloader.handlers.http11, scrapy.core.engine

for command in importlib.metadata.entry_points(group="scrapy.commands"):  # of all packages: once for all crawls
    command.load()

for setting in json.loads(sys.argv[1]):
    if not os.fork():
        execute(["scrapy", "runspider", "spider.py", "-a", "origin=http://127.0.0.1:9/", "-s", setting])
    os.wait()
"""
COMMANDS = """
import contextlib, io, json
from dedupcrawl.cli import run

for command in json.loads(sys.argv[1]):
    said = [io.TextIOWrapper(io.BytesIO(), "utf-8", write_through=True) for _ in range(2)]
    with contextlib.redirect_stdout(said[0]), contextlib.redirect_stderr(said[1]):
        status = run(command)
    print(json.dumps([status, *(one.buffer.getvalue().decode() for one in said)]))
"""


def without(code: str, given: object, there: Path) -> subprocess.CompletedProcess[str]:
    """Run code in a process that has none of the libraries."""
    command = [sys.executable, "-c", WITHOUT + code, json.dumps(given)]
    return subprocess.run(command, cwd=there, capture_output=True, text=True, timeout=300, check=False)


def test_the_examples_in_docstrings_hold() -> None:
    assert doctest.testmod(extras).failed == 0


def test_every_extra_is_one_of_the_package() -> None:
    project = msgspec.toml.decode((Path(__file__).parents[1] / "pyproject.toml").read_bytes())["project"]
    assert set(extras._LIBRARIES) <= project["optional-dependencies"].keys()


def test_a_setting_that_needs_one_says_so_at_the_start(tmp_path: Path) -> None:
    (tmp_path / "spider.py").write_text(SPIDER, encoding="utf-8")
    says = {
        "DEDUP_REPORT=report.html": "DEDUP_REPORT needs the extra 'report': pip install 'dedupcrawl[report]'",
        "DEDUP_CHECKS=exact,concepts": "the check 'concepts' needs the extra 'concepts': pip install",
        "DEDUP_INDEX=redis://127.0.0.1/0": "pip install 'dedupcrawl[redis]'",
        "SCHEDULER=dedupcrawl.shared_queue.scheduler.Scheduler": "pip install 'dedupcrawl[scrapy-redis]'",
    }
    done = without(CRAWLS, [*says], tmp_path)
    assert [said for said in says.values() if said not in done.stderr] == []
    assert "Traceback" not in done.stderr


NEED_ONE = [
    (["train", "pages.warc", "--rules", "rules"], "archives"),
    (["evaluate", "pages.parquet", "--rules", "."], "archives"),
    (["check", "pages.warc"], "archives"),
    (["report", "--index", "index", "--output", "report.html"], "report"),
    (["train", "--engine", "spark", "pages.jsonl", "--rules", "rules"], "spark"),
]
NEED_NONE = [["check", "pages.jsonl"], ["rules", "software"], ["normalize", "--rules", ".", "http://a.example/?b=1"]]
NEED_NONE += [["train", "pages.jsonl", "--rules", "rules"], ["evaluate", "pages.jsonl", "--rules", "."]]
NEED_NONE += [[name, "--help"] for name in cli.COMMANDS]


def test_commands_that_need_one_say_so_in_one_line_and_the_others_work_without(tmp_path: Path) -> None:
    rows = [f'{{"url": "http://a.example/{n}", "text": "{prose(1)}"}}' for n in range(2)]
    (tmp_path / "pages.jsonl").write_text("\n".join(rows), encoding="utf-8")
    (tmp_path / "pages.warc").write_bytes(b"WARC/1.0\r\nWARC-Type: response\r\nContent-Length: 0\r\n\r\n\r\n\r\n")
    (tmp_path / "pages.parquet").write_bytes(b"PAR1")
    done = without(COMMANDS, [*(command for command, _ in NEED_ONE), *NEED_NONE], tmp_path)
    told = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(told) == len(NEED_ONE) + len(NEED_NONE), done.stderr
    for (command, extra), (status, _, said) in zip(NEED_ONE, told, strict=False):
        assert status in {1, 2}, command
        assert f"pip install 'dedupcrawl[{extra}]'" in said, command
        assert said.startswith(f"dedupcrawl {command[0]}"), command
        assert said.count("\n") == 1, command
    works = told[len(NEED_ONE) :]
    assert [status for status, *_ in works] == [0] * len(NEED_NONE), works
    assert '"duplicate_of":"http://a.example/0"' in works[0][1]
