from __future__ import annotations

import json
from pathlib import Path

from click.testing import CliRunner

from dedupcrawl.commands.rules import command
from dedupcrawl.urls.rule import Rule
from dedupcrawl.urls.rule_files import SiteRules, write_rules


def told(*args: str) -> dict[str, object]:
    done = CliRunner().invoke(command, ["why", *args, "--json"])
    assert done.exit_code == 0, done.output
    found: dict[str, object] = json.loads(done.stdout)
    return found


def log_of(folder: Path, pages: dict[str, str], simhashes: dict[str, int] | None = None) -> str:
    log = folder / "log.jsonl"
    rows = [
        {"url": f"http://a.com{path}", "text_digest": page, "status": 200}
        | ({"simhash": f"{simhashes[path]:016x}"} if simhashes else {})
        for path, page in pages.items()
    ]
    log.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return str(log)


def test_what_speaks_against_it_is_named(tmp_path: Path) -> None:
    pages = {f"/list/{i}?sort={sort}": f"{i}{sort}" for i in range(5) for sort in "ab"}
    log = log_of(tmp_path, pages)
    found = told("http://a.com/list/7?sort=a", "http://a.com/list/7?sort=b", log, "--rules", str(tmp_path / "none"))
    assert not found["is_met"]
    assert found["log"] == "not both in the log"
    reasons = {reason["rule"]: reason for reason in found["reasons"]}  # type: ignore[attr-defined]
    assert "5 of 5 merges would be wrong" in reasons["drop sort"]["why"]
    assert reasons["drop sort"]["pairs"][0] == ["http://a.com/list/0?sort=a", "http://a.com/list/0?sort=b"]


def test_a_rule_for_other_urls_and_one_that_does_it(tmp_path: Path) -> None:
    rule = Rule("sid", "rewrite", drop=("sid",), within=("/view/{}",), source="learned")
    write_rules(tmp_path, SiteRules("a.com", (rule,)))
    found = told("http://a.com/map/7?sid=1", "http://a.com/map/7", "--rules", str(tmp_path))
    (reason,) = [one for one in found["reasons"] if one["rule"] == "drop sid"]  # type: ignore[attr-defined]
    assert reason["why"] == "rule sid is for other URLs: drop sid within /view/{}"
    assert told("http://a.com/view/7?sid=1", "http://a.com/view/7", "--rules", str(tmp_path))["is_met"]


def test_near_pages_count_neither_way(tmp_path: Path) -> None:
    pages = {f"/list/{i}?sid={sid}": f"{i}{sid}" for i in range(5) for sid in "ab"}
    bits = {
        path: ((int(path[6]) + 1) * 0x0F0F_1234_5678_9ABC) % 2**64 ^ (0b111 if path[-1] == "b" else 0) for path in pages
    }
    urls = ("http://a.com/list/3?sid=a", "http://a.com/list/3?sid=b")
    near = told(*urls, log_of(tmp_path, pages, bits), "--rules", str(tmp_path / "none"))
    assert near["log"] == "near pages, which count neither way"
    (reason,) = [one for one in near["reasons"] if one["rule"] == "drop sid"]  # type: ignore[attr-defined]
    assert reason == {
        "rule": "drop sid",
        "why": "only similar pages support it (5 pairs), which count neither way",
        "pairs": [],
    }
    far = told(*urls, log_of(tmp_path, pages), "--rules", str(tmp_path / "none"))
    assert far["log"] == "different pages"


def test_bad_input_is_one_sentence(tmp_path: Path) -> None:
    for urls in (("x", "http://a.com/"), ("http://a.com/", "http://b.com/")):
        done = CliRunner().invoke(command, ["why", *urls, "--rules", str(tmp_path)])
        assert done.exit_code == 2
        assert "Error: " in done.output


def test_it_says_so_in_words(tmp_path: Path) -> None:
    log = log_of(tmp_path, {"/a": "1", "/a?x=1": "1"})
    done = CliRunner().invoke(command, ["why", "http://a.com/a", "http://a.com/a?x=1", log, "--rules", str(tmp_path)])
    assert "In the log: one page." in done.stdout
    assert "drop x: 1 clusters of the log support it, and it takes 2" in done.stdout


def test_what_a_crawl_tries_is_told(tmp_path: Path) -> None:
    rule = Rule("sid", "rewrite", drop=("sid",), source="software", state="doubted", note="some were wrong")
    write_rules(tmp_path, SiteRules("a.com", (rule,)))
    for other, does in (("http://a.com/?t=1", "So a crawl merges them."), ("http://a.com/?t=2", "A crawl does not")):
        urls = ("http://a.com/?sid=1&t=1", other)
        done = CliRunner().invoke(command, ["why", *urls, "--rules", str(tmp_path)])
        lines = done.stdout.splitlines()
        assert lines[-3].startswith(f"{urls[0]} is asked for as http://a.com/?t=1, by rule sid (in crawls, which try")
        assert lines[-2].startswith(does)
        assert lines[-1] == (
            "  rule sid: doubted: crawls try it, `normalize` does not use it, software, some were wrong"
        )
        found = told(*urls, "--rules", str(tmp_path))
        assert not found["is_met"]
        assert list(found["in_crawls"]) == [urls[0]]  # type: ignore[call-overload]
