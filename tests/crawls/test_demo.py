"""`python -m tools.demo`, as a newcomer runs it."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from dedupcrawl.demo.server import serving
from dedupcrawl.demo.site import MIRROR_HOST
from dedupcrawl.urls.rule_files import read_rules
from tests import warm
from tests.demo.truth import DISTINCT, truth
from tools.demo.__main__ import ROOT


def demo(*arguments: str) -> subprocess.CompletedProcess[str]:
    return warm.run(["tools.demo", *arguments], cwd=ROOT, env={**os.environ, "WARM_PYTHON": warm.python()})


def figures(output: str, row: str) -> list[int]:
    """The figures of one row of the table, one a crawl."""
    found = re.search(rf"^\s*{re.escape(row)}((?: +\d+)+) *$", output, re.M)
    assert found, output
    return [int(figure) for figure in found[1].split()]


def items(folder: Path) -> list[dict[str, str]]:
    return [json.loads(line) for line in (folder / "items.jsonl").read_text(encoding="utf-8").splitlines()]


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Path]:
    """What the demo printed, and its folder."""
    folder = tmp_path_factory.mktemp("demo") / "crawl"
    process = demo("--folder", str(folder))
    assert process.returncode == 0, process.stderr
    return process.stdout, folder


def test_both_crawls_stand_side_by_side(done: tuple[str, Path]) -> None:
    output, folder = done
    first, second = figures(output, "pages kept")
    assert (first, second) == (len(items(folder / "first")), len(items(folder / "second")))
    fetched, fetched_again = figures(output, "pages fetched")
    assert fetched > fetched_again > second > 60
    assert figures(output, "requests sent")[0] > figures(output, "requests sent")[1]
    assert all(figures(output, "requests rewritten"))
    assert figures(output, "fetches saved")[0] < figures(output, "fetches saved")[1]
    assert all(figures(output, "pages dropped by exact"))
    assert "A fetch is saved when" in output


def test_the_second_crawl_starts_afresh_with_nothing_but_the_rules(done: tuple[str, Path]) -> None:
    _, folder = done
    log = (folder / "second" / "scrapy.log").read_text(encoding="utf-8")
    assert f"index lmdb:{folder}/second/index" in log
    assert (folder / "rules" / "127.0.0.1.toml").is_file()
    by_hand, *learned = read_rules(folder / "rules" / "127.0.0.1.toml").rules
    assert replace(by_hand, tried=0) == read_rules(ROOT / "rules" / "127.0.0.1.toml").rules[0]
    assert {rule.source for rule in learned} <= {"learned", "prior"}
    assert len(learned) > 1
    assert "rules for 1 site" in (folder / "first" / "scrapy.log").read_text(encoding="utf-8")


@pytest.mark.parametrize("part", ["first", "second"])
def test_the_page_to_which_a_rule_leads_by_a_trial_is_in_the_log(done: tuple[str, Path], part: str) -> None:
    """`train` would take a URL for another page if nothing but a trial named it."""
    log = (done[1] / part / "crawl-log.jsonl").read_text(encoding="utf-8").splitlines()
    rows = [json.loads(line) for line in log]
    named = {row["alias_of"] for row in rows if row.get("alias_held")}
    assert named
    assert named <= {row["url"] for row in rows if "digest" in row or "redirect_to" in row}


@pytest.mark.parametrize("part", ["first", "second"])
def test_no_page_of_the_demo_site_is_lost(done: tuple[str, Path], part: str) -> None:
    """Every text of the site is there, whole, and no copy or excerpt of it, except some reprints, kept in doubt.

    A reprint on the same host has a line that names its source, and another title: most of the words of both differ.
    """
    urls = [item["url"] for item in items(done[1] / part)]
    truths = list(map(truth, urls))
    assert {found.content for found in truths if found.kind != "excerpt"} >= DISTINCT
    kept = Counter(found.content for found in truths if found.kind != "reprint")
    reprints = Counter(found.content for found in truths if found.kind == "reprint")
    assert max(kept[content] for content in DISTINCT) == 1
    assert sum(kept[content] and reprints[content] for content in DISTINCT) <= 6  # of 10


def test_where_to_look_next(done: tuple[str, Path]) -> None:
    output, folder = done
    explain = re.search(r"explain '(\S+)' --index (\S+)", output)
    assert explain, output
    command = ["explain", explain[1], "--index", str(folder / "second" / "index"), "--json"]
    told = json.loads(warm.run(["dedupcrawl", *command], cwd=folder).stdout)
    assert told["verdict"]["verdict"] == "duplicate"
    assert told["keeper"]["url"] == told["verdict"]["duplicate_of"]
    for command in re.findall(r"^  \.venv/bin/(dedupcrawl .+)$", output, re.M):
        run = warm.run(["dedupcrawl", *shlex.split(command)[1:]], cwd=folder)
        assert run.returncode == 0, (command, run.stderr)
        assert run.stdout or run.stderr  # the last one gives that page back


def test_any_site_can_be_crawled(tmp_path: Path) -> None:
    """One page: nothing to learn, and so no second crawl."""
    with serving() as server:
        mirror = f"http://{MIRROR_HOST}:{server.server_port}/zh/reading-clouds"  # all of its links leave the host
        process = demo(mirror, "--folder", str(tmp_path / "crawl"))
    assert process.returncode == 0, process.stderr
    assert figures(process.stdout, "pages fetched") == [1]
    assert "No rule was certain enough to be learned" in process.stdout
    assert [item["url"] for item in items(tmp_path / "crawl" / "first")] == [mirror]
    assert not (tmp_path / "crawl" / "second").exists()
    rules = [path.name for path in (tmp_path / "crawl" / "rules").iterdir()]
    assert rules == ["127.0.0.1.toml"]  # the checkout's; no other site's, whatever its address


def test_a_folder_that_is_there_already_is_left_alone(tmp_path: Path) -> None:
    done = demo("--folder", str(tmp_path))
    assert done.returncode == 2
    assert f"{tmp_path} is there already" in done.stderr
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("start", ["example.com", "ftp://example.com/", "https://"])
def test_what_is_no_url_is_refused(start: str) -> None:
    done = demo(start)
    assert done.returncode == 2
    said = f"Error: {start!r} is not a URL: name one such as https://example.com/, or none for the demo site.\n"
    assert done.stderr == said


def test_the_checkout_is_a_project_with_rules_of_its_own() -> None:
    """`scrapy.cfg` names settings that are there, and the examples in `rules/` hold."""
    env = {name: value for name, value in os.environ.items() if name != "SCRAPY_SETTINGS_MODULE"}
    listed = subprocess.run(
        [sys.executable, "-m", "scrapy", "list"], cwd=ROOT, env=env, capture_output=True, text=True, check=False
    )
    assert listed.stdout == "pages\n", listed.stderr
    tested = warm.run(["dedupcrawl", "rules", "test"], cwd=ROOT)
    assert (tested.returncode, tested.stdout) == (0, "1 example holds\n")
