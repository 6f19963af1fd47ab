from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from dedupcrawl.training.evaluate import evaluate
from dedupcrawl.urls.rule import Rule
from dedupcrawl.urls.rule_files import SiteRules, write_rules

Pages = list[tuple[str, str]]


def told(folder: Path, pages: Pages, *rules: Rule, workers: int = 1) -> dict[str, Any]:
    log = folder / "log.jsonl"
    log.write_text("".join(json.dumps({"url": f"http://{url}", "text_digest": text}) + "\n" for url, text in pages))
    write_rules(folder / "rules", SiteRules("a.com", rules))
    return evaluate([log], folder / "rules", workers=workers).to_dict()


SID = Rule("sid", "rewrite", drop=("sid",))
PRINT = Rule("print", "rewrite", match="/print/{page*}", to="/{page}")


def test_all_figures_are_told(tmp_path: Path) -> None:
    pages = [
        ("a.com/1", "x"), ("a.com/1?sid=1", "x"), ("a.com/1?sid=2", "x"),  # merged, rightly
        ("a.com/2?sid=1", "y"), ("a.com/2?sid=2", "y"),  # merged, the target was never seen
        ("a.com/print/3", "z"), ("a.com/3", "other"),  # merged, wrongly
        ("a.com/4", "alone"), ("a.com/5?sid=9", "alone too"),
        ("b.com/1", "x"), ("b.com/2", "x"),  # a site without rules
    ]  # fmt: skip
    found = told(tmp_path, pages, SID, PRINT)
    expected = {
        "rows": 11, "sites": 2, "sites_with_rules": 1, "rules": 2, "urls": 11, "redundant": 4, "coverage": 6,
        "wrong": 1, "merged": 4, "clustered": 7, "normalized": 4, "collisions": 1, "precision": 0.8333,
        "reduction_ratio": 0.4286, "reduction_per_rule": 1.5,
        "worst_rules": [{"site": "a.com", "id": "print", "coverage": 1, "wrong": 1}],
    }  # fmt: skip
    assert {name: found[name] for name in expected} == expected


@pytest.mark.parametrize(
    ("written", "crawled"), [("bücher.example", "xn--bcher-kva.example"), ("xn--bcher-kva.example", "bücher.example")]
)
def test_rules_of_an_international_site_are_found_under_its_other_name(
    tmp_path: Path, written: str, crawled: str
) -> None:
    log = tmp_path / "log.jsonl"
    rows = [{"url": f"http://{crawled}/1?sid={i}", "text_digest": "x"} for i in range(3)]
    log.write_text("".join(json.dumps(row) + "\n" for row in rows))
    write_rules(tmp_path / "rules", SiteRules(written, (SID,)))
    found = evaluate([log], tmp_path / "rules", workers=1).to_dict()
    assert (found["sites_with_rules"], found["coverage"], found["merged"]) == (1, 3, 2)


def test_a_file_by_any_name_is_for_its_site(tmp_path: Path) -> None:
    told(tmp_path, [("a.com/1?sid=1", "x"), ("a.com/1?sid=2", "x")], SID)
    mine = (tmp_path / "rules" / "a.com.toml").rename(tmp_path / "rules" / "mine.toml")
    assert evaluate([tmp_path / "log.jsonl"], mine, workers=1).to_dict()["coverage"] == 2
    found = evaluate([tmp_path / "log.jsonl"], tmp_path / "rules", workers=1).to_dict()
    assert "its name must be a.com.toml" in found["unreadable_rule_files"][0]
