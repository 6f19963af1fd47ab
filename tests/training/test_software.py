from __future__ import annotations

import base64
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

from dedupcrawl.training.learning_part import recognized_rules
from dedupcrawl.training.options import LearningOptions
from dedupcrawl.training.train import train
from dedupcrawl.urls.learning.learn import ASSUMED, learn_site
from dedupcrawl.urls.normalizer import SiteNormalizer
from dedupcrawl.urls.rule import Rule
from dedupcrawl.urls.rule_files import SiteRules, read_rules, write_rules

FORUM = ["viewtopic.php?p=1", "viewforum.php?f=2", "profile.php?mode=viewprofile&u=3"]


def sessions(topics: int, each: int, *, matter: bool = False) -> tuple[list[str], list[int]]:
    """URLs of a phpBB 2 and which page each leads to."""
    urls = [f"http://a.com/{url}" for url in FORUM]
    labels = list(range(len(urls)))
    for topic in range(topics):
        for session in range(each):
            urls.append(f"http://a.com/viewtopic.php?t={topic}&sid={session:032x}")
            labels.append(100 + topic * (1000 if matter else 1) + session * matter)
    return urls, labels


def learned(urls: list[str], labels: list[int]) -> SiteRules:
    return learn_site("a.com", urls, labels, assumed=(*recognized_rules("a.com", urls), *ASSUMED))


def test_what_the_log_bears_out_leaves_little_to_learn() -> None:
    urls, labels = sessions(30, 3)
    (rule,) = learned(urls, labels).rules
    assert (rule.drop, rule.source, rule.state) == (("sid",), "software", "probation")
    assert 0 < rule.evidence.coverage < 90
    assert rule.evidence.wrong == 0
    assert rule.examples[0] == (urls[3], "http://a.com/viewtopic.php?t=0")


def test_what_the_log_refutes_is_off_with_the_counts_and_nothing_is_merged() -> None:
    urls, labels = sessions(30, 3, matter=True)
    rules = learned(urls, labels)
    (rule,) = [rule for rule in rules.rules if rule.state == "disabled"]
    assert rule.drop == ("sid",)
    assert rule.evidence.wrong > rule.evidence.correct
    assert "merges in the log of" in rule.note
    normalize = SiteNormalizer(rules).normalize
    assert len({normalize(url).canonical for url in urls}) == len(urls)


def test_what_wrong_merges_need_is_not_refuted_with_the_rule_that_is_wrong() -> None:
    """A shop's links carry URLs, which one rule reads for several others: its part in wrong merges is the largest."""
    urls = ["http://a.com/checkout/cart/", "http://a.com/catalog/product_compare/index/"]
    labels = [-1, -2]
    shown = "?dir=asc&mode=grid&order=price&p="
    for page in range(40):
        carried = (f"/review/product/list/id/{page}/", f"/catalogsearch/result/?q={page}", f"/knives.html{shown}{page}")
        for kind, url in enumerate(carried):
            text = base64.b64encode(f"http://a.com{url}".encode()).decode().translate(str.maketrans("+/=", "-_,"))
            for product in range(6 if kind < 2 else 1):  # of the last two kinds some are shown in another order
                urls.append(f"http://a.com/catalog/product_compare/add/product/{product}/uenc/{text}/")
                labels.append(1_000 * kind + page + (10_000 if kind == 1 and page < 8 and product > 2 else 0))
        urls.append(f"http://a.com{carried[2]}")
        labels.append(2_000 + page + (10_000 if page < 20 else 0))
    rules = learned(urls, labels)
    states = {rule.id.partition("@")[0].removeprefix("magento1."): rule.state for rule in rules.rules}
    assert states["carried-url"] == states["back-to-review"] == "probation"
    assert {states["compare-from-search"], states["back-to-list"]} <= {"doubted", "disabled"}


def write(folder: Path, urls: list[str], labels: list[int]) -> Path:
    rows: list[dict[str, Any]] = [
        {"url": url, "text_digest": f"{label:040x}", "status": 200, "mime": "text/html"}
        for url, label in zip(urls, labels, strict=True)
    ]
    log = folder / "log.jsonl"
    log.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return log


def test_training_writes_them_into_the_rule_file_before_what_it_learns(tmp_path: Path) -> None:
    urls, labels = sessions(30, 3)
    urls += [f"http://a.com/{n}/print" for n in range(40)] + [f"http://a.com/{n}" for n in range(40)]
    labels += [10_000 + n % 40 for n in range(80)]
    summary = train([write(tmp_path, urls, labels)], tmp_path / "rules", LearningOptions())
    first, *others = read_rules(tmp_path / "rules" / "a.com.toml").rules
    assert (first.id, first.source, first.state) == ("phpbb2.sid@a.com", "software", "probation")
    assert [rule for rule in others if rule.source == "learned"]
    assert not [rule for rule in others if "sid" in rule.drop]
    assert summary.to_dict()["rules"] == 1 + len(others)


def test_what_was_refuted_stays_off_when_it_is_trained_again(tmp_path: Path) -> None:
    urls, labels = sessions(30, 3, matter=True)
    log = write(tmp_path, [*urls, "http://a.com/copy"], [*labels, 0])
    for _ in range(2):
        summary = train([log], tmp_path / "rules", LearningOptions())
    rules = {rule.id: rule.state for rule in read_rules(tmp_path / "rules" / "a.com.toml").rules}
    assert rules["phpbb2.sid@a.com"] == "disabled"
    assert summary.to_dict()["rules"] == list(rules.values()).count("probation")


def test_what_crawls_have_tried_of_a_program_that_urls_do_not_tell_comes_before_what_is_learned(tmp_path: Path) -> None:
    """A crawl recognizes it by its pages. The narrower rule that such a log teaches takes nothing from it."""
    posts = [(name, n) for n, name in enumerate(("one", "two", "three", "four", "five", "six", "seven", "eight"))]
    urls = [
        url for name, _ in posts for url in (f"http://a.com/magic/{name}/", f"http://a.com/magic/{name}/trackback/")
    ]
    log = write(tmp_path, urls, [n for _, n in posts for _ in range(2)])
    rule = Rule(
        "wordpress.trackback@a.com", "rewrite", match="/{p*}/{name}/trackback/", to="/{p}/{name}/", source="software"
    )
    for tried, names in ((0, 1), (2, 1)):
        write_rules(tmp_path / "rules", SiteRules("a.com", (replace(rule, state="probation", tried=tried),)))
        for _ in range(2):
            train([log], tmp_path / "rules", LearningOptions())
        rules = read_rules(tmp_path / "rules" / "a.com.toml")
        assert len(rules.rules) == names
        used = SiteNormalizer(rules).normalize("http://a.com/p/other/trackback/")
        assert used.rules == ((rule.id,) if tried else ())


def test_what_was_doubted_is_on_probation_once_a_log_bears_it_out(tmp_path: Path) -> None:
    urls, labels = sessions(30, 3)
    changed = [place if place % 20 == 2 else label for place, label in enumerate(labels)]
    for given, state in ((changed, "doubted"), (labels, "probation")):
        train([write(tmp_path, urls, given)], tmp_path / "rules", LearningOptions())
        (rule,) = [one for one in read_rules(tmp_path / "rules" / "a.com.toml").rules if one.source == "software"]
        assert rule.state == state
