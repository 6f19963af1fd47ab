from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from dedupcrawl.training.learning_part import LearningOptions
from dedupcrawl.training.software import assumed
from dedupcrawl.training.train import train
from dedupcrawl.urls.rule_files import read_rules

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


def test_what_the_log_bears_out_leaves_little_to_learn() -> None:
    urls, labels = sessions(30, 3)
    found = assumed("a.com", urls, labels, 0.95)
    (rule,) = found.rules
    assert (rule.drop, rule.source, rule.state) == (("sid",), "software", "probation")
    assert (rule.evidence.coverage, rule.evidence.correct, rule.evidence.wrong) == (90, 60, 0)
    assert rule.examples[0] == (urls[3], "http://a.com/viewtopic.php?t=0")
    assert found.urls == [*urls[:3], *(f"http://a.com/viewtopic.php?t={topic}" for topic in range(30))]
    assert [urls[row].partition("&sid")[0] for row in found.rows] == found.urls
    assert found.labels == [labels[row] for row in found.rows]


def test_what_the_log_refutes_is_off_with_the_counts_and_nothing_is_merged() -> None:
    urls, labels = sessions(30, 3, matter=True)
    found = assumed("a.com", urls, labels, 0.95)
    (rule,) = [rule for rule in found.rules if rule.state == "disabled"]
    assert (rule.drop, rule.evidence.wrong) == (("sid",), 60)
    assert "60 of 60 merges" in rule.note
    assert len(found.urls) == len(urls)
    assert found.labels == labels


def test_a_single_wrong_merge_is_outweighed_by_what_is_known_elsewhere() -> None:
    for each, state in ((2, "probation"), (3, "disabled")):
        rules = {rule.id: rule.state for rule in assumed("a.com", *sessions(1, each, matter=True), 0.95).rules}
        assert rules["phpbb2.sid@a.com"] == state


def test_a_site_of_no_known_software_stays_as_it_is() -> None:
    urls = [f"http://a.com/{n}?sid={s}" for n in range(10) for s in range(3)]
    found = assumed("a.com", urls, [0] * len(urls), 0.95)
    assert found.rules == ()
    assert found.urls == urls
    assert found.rows == list(range(len(urls)))


def test_an_identity_is_learned_from_by_one_of_its_urls() -> None:
    thread = "http://a.com/threads/{}.{}/"
    urls = [thread.format(title, n) for n in range(5) for title in ("a-title", "b-title")]
    urls += ["http://a.com/members/x.1/", "http://a.com/whats-new/posts/"]
    found = assumed("a.com", urls, [n // 2 for n in range(10)] + [8, 9], 0.95)
    assert [rule.kind for rule in found.rules] == ["equivalence"]
    assert found.urls == [*urls[0:10:2], *urls[10:]]


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
