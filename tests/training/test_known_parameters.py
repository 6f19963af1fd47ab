from __future__ import annotations

import json
import re
from pathlib import Path
from typing import cast

import pytest

from dedupcrawl.crawl_logs.tally import LogError
from dedupcrawl.training.known_parameters import Provider, known_parameters, read_clearurls
from dedupcrawl.training.options import LearningOptions
from dedupcrawl.training.train import train
from dedupcrawl.urls.rule_files import read_rules

PROVIDERS = {
    "global": {"urlPattern": ".*", "rules": ["(?:%3F)?utm(?:_[a-z_]*)?", "spm"], "exceptions": ["^https?://api\\."]},
    "shop": {"urlPattern": "^https?://(?:www\\.)?shop\\.com", "rules": ["ref_?"], "referralMarketing": ["tag"]},
    "blocked": {"urlPattern": "ads", "completeProvider": True},
}


@pytest.fixture
def knowledge(tmp_path: Path) -> Path:
    path = tmp_path / "data.min.json"
    path.write_text(json.dumps({"providers": PROVIDERS}))
    return path


@pytest.mark.parametrize(
    ("url", "names"),
    [
        ("http://www.shop.com/x?ref_=1&tag=2&utm_source=3&q=4", ["ref_", "utm_source"]),
        ("http://other.com/x?ref_=1&SPM=2", ["SPM"]),
        ("http://api.com/x?spm=2", []),
        ("http://other.com/x#?spm=2", []),
        ("http://other.com/x?utm_*=2&utm*=1", []),
        (f"http://other.com/x?{'utm_' + 'a' * 100}=2", []),
    ],
)
def test_parameters_are_known_by_the_rules_of_their_site(knowledge: Path, url: str, names: list[str]) -> None:
    assert known_parameters([url, url], read_clearurls(knowledge)) == names


def test_the_published_list_can_be_read(shared_data: Path) -> None:
    providers = read_clearurls(shared_data / "lists" / "clearurls" / "data.min.json")
    assert len(providers) > 100
    urls = [f"http://a.com/{page}?utm_source=1&fbclid=2&id=3&page=4&title=5" for page in "xy"]
    assert known_parameters(urls, providers) == ["fbclid", "utm_source"]


def provider(pattern: str) -> str:
    return json.dumps({"providers": {"a": {"urlPattern": pattern, "rules": ["x"]}}})


@pytest.mark.parametrize(
    "content",
    [
        "",
        "{}",
        "[1]",
        provider("("),
        provider("a{99999999999}"),
        provider("(" * 5000 + ")" * 5000),
        '{"providers": {}, "more": ' + "[" * 100_000,
    ],
    ids=["empty", "no-providers", "array", "open", "overflow", "deep-pattern", "deep-value"],
)
def test_what_is_no_list_is_an_error(tmp_path: Path, content: str) -> None:
    path = tmp_path / "list.json"
    path.write_text(content)
    with pytest.raises(LogError, match="not a ClearURLs"):
        read_clearurls(path)


@pytest.mark.parametrize(("same", "rules"), [(True, ["known-spm"]), (False, [])])
def test_a_site_overrules_the_list(tmp_path: Path, knowledge: Path, same: bool, rules: list[str]) -> None:
    rows = [
        {"url": f"http://a.com/{page}?spm={value}", "text_digest": f"{page} {0 if same else value}"}
        for page in range(10)
        for value in range(2)
    ]
    rows += [{"url": f"http://a.com/{page}{end}", "text_digest": f"{page} 0"} for page in "xy" for end in ("", "?b=")]
    log = tmp_path / "log.jsonl"
    log.write_text("".join(json.dumps(row) + "\n" for row in rows))
    train([log], tmp_path / "rules", LearningOptions(knowledge=read_clearurls(knowledge)), workers=1)
    file = tmp_path / "rules" / "a.com.toml"
    learned = read_rules(file).rules if file.exists() else ()
    assert [rule.id for rule in learned if rule.id.startswith("known-")] == rules


def test_names_that_came_once_are_not_asked_for_and_of_many_the_frequent_ones_are() -> None:
    asked: list[str] = []

    class Asking:
        def fullmatch(self, name: str) -> bool:
            asked.append(name)
            return True

    providers = [Provider(re.compile(""), (cast("re.Pattern[str]", Asking()),), ())]
    urls = [f"http://a.com/?x{i}=1" for i in range(5000)] + ["http://a.com/?sid=1&y=2"] * 2
    assert known_parameters(urls, providers) == ["sid", "y"]
    assert asked == ["sid", "y"]
    assert len(known_parameters([url for url in urls for _ in "ab"], providers)) == 50
    assert len(asked) == 52
