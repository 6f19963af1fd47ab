"""`scrapy crawl` as people run it: one line in the settings of a plain project."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

import pytest

from tests import warm
from tests.crawls.project import crawl_command, items, make_project, scrapy_crawl
from tests.crawls.site import page, prose, serve

SITE = {
    "/": page("Start " + prose(0), "/story", "/copy", "/other"),
    "/story": page(prose(1), title="Story"),
    "/copy": page(prose(1), title="Story"),
    "/other": page(prose(2)),
}


def test_one_line_in_the_settings_is_all_it_takes(tmp_path: Path) -> None:
    project = make_project(tmp_path)
    with serve(SITE) as site:
        command = crawl_command(f"{site.base}/", "items.jsonl")
        done = subprocess.run(command, cwd=project, capture_output=True, text=True, timeout=120, check=False)
        assert done.returncode == 0, done.stderr
        assert len(items(project)) == 3
        ours = [line for line in done.stderr.splitlines() if "dedupcrawl: " in line]
        assert len(ours) == 2
        assert all(" INFO: " in line for line in ours)
        assert "1 duplicate of " in ours[1]
        assert "Traceback" not in done.stderr

        copy = next(url for url in ("/story", "/copy") if not any(i["url"].endswith(url) for i in items(project)))
        said = warm.run(["dedupcrawl", "explain", f"{site.base}{copy}", "--json"], cwd=project)
    told = json.loads(said.stdout)
    assert told["verdict"]["verdict"] == "duplicate"
    assert told["keeper"]["url"] == told["verdict"]["duplicate_of"]
    assert (project / ".scrapy" / "dedup" / "crawl-log.jsonl").exists()


@pytest.mark.parametrize(
    ("option", "says"),
    [
        ("DEDUP_ACTION=dorp", "DEDUP_ACTION: got 'dorp'; takes 'drop', 'mark' or 'observe'."),
        ("DEDUP_RULES=/no/such/folder", "there is no file or folder /no/such/folder"),
        ("DEDUP_NONSENSE=1", "DEDUP_NONSENSE is not a setting"),
        ("DEDUP_INDEX=lmdb:/proc/x", "does not start: DEDUP_INDEX: the index at /proc/x cannot be used: "),
        ("DEDUP_INDEX=/dev/null", "DEDUP_INDEX: the index at /dev/null cannot be used: it must be a folder"),
        (
            "DEDUP_CRAWL_LOG=/proc/x/y",
            "DEDUP_CRAWL_LOG: got '/proc/x/y' (/proc/x: No such file or directory; check",
        ),
        (
            "DEDUP_CRAWL_LOG=/proc",
            "DEDUP_CRAWL_LOG: got '/proc' (/proc: Is a directory; name a file); takes the path",
        ),
        ("DEDUP_RULES=scrapy.cfg", "DEDUP_RULES: scrapy.cfg: "),
        ("DEDUPE_SCOPE=site", "DEDUPE_SCOPE is not a setting; did you mean DEDUP_SCOPE?"),
        ("DEDUP_INDEX=foo://host", "DEDUP_INDEX: 'foo://host' names no index"),
    ],
)
def test_a_wrong_setting_stops_the_crawl_at_its_start(tmp_path: Path, option: str, says: str) -> None:
    project = make_project(tmp_path)
    with serve(SITE) as site:
        done = scrapy_crawl(project, f"{site.base}/", "items.jsonl", "-s", option)
    assert done.returncode != 0
    (told,) = [line for line in done.stderr.splitlines() if " CRITICAL: dedupcrawl: the crawl does not start: " in line]
    assert says in told
    assert "Traceback" not in done.stderr
    assert " ERROR: " not in done.stderr
    assert not site.requests


def test_the_same_command_line_inside_scrapy(tmp_path: Path) -> None:
    rows = tmp_path / "rows.jsonl"
    rows.write_text("".join(json.dumps({"url": f"http://a/{n}", "text": prose(1)}) + "\n" for n in range(2)))
    arguments = ["check", str(rows), "--checks", "exact"]
    ours = warm.run(["dedupcrawl", *arguments], cwd=tmp_path)
    scrapys = warm.run(["scrapy", "dedup", *arguments], cwd=tmp_path)
    assert (ours.returncode, scrapys.returncode) == (0, 0)
    assert [json.loads(line)["verdict"] for line in ours.stdout.splitlines()] == ["unique", "duplicate"]
    assert scrapys.stdout == ours.stdout
    asked = warm.run(["scrapy", "dedup", "-h"], cwd=tmp_path)
    alone = warm.run(["scrapy", "dedup"], cwd=tmp_path)
    assert (alone.returncode, alone.stderr) == (2, asked.stdout)
    assert asked.stdout.startswith("Usage: scrapy dedup [OPTIONS] COMMAND [ARGS]...\n\n")
    assert re.search(r"^  explain +Explain why a URL", asked.stdout, re.M)
    bad = warm.run(["scrapy", "dedup", "check", "no-such-file"], cwd=tmp_path)
    assert bad.returncode == 2
