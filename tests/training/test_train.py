"""Training and evaluating."""

from __future__ import annotations

import json
import random
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from dedupcrawl.training import learning_part
from dedupcrawl.training.evaluate import evaluate
from dedupcrawl.training.merging import merged
from dedupcrawl.training.options import LearningOptions
from dedupcrawl.training.train import train
from dedupcrawl.urls.learning.learn import learn_site
from dedupcrawl.urls.normalizer import Normalizer
from dedupcrawl.urls.rule import Evidence, Rule, RuleError
from dedupcrawl.urls.rule_files import FILES_CHECKED, SiteRules, read_rules, write_rules

Row = dict[str, Any]
OPTIONS = LearningOptions()
REFUTED = Evidence(coverage=110, correct=50, wrong=60, collisions=9)


def session_site(host: str, pages: int = 60, variants: int = 3) -> list[Row]:
    """A site whose pages are each there under several session ids."""
    return [
        {"url": f"http://{host}/page/{page}?sid={page * 97 + variant * 13:06x}", "text_digest": f"{host} {page}"}
        for page in range(pages)
        for variant in range(variants)
    ]


def write(path: Path, rows: list[Row]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def contents(folder: Path) -> dict[str, str]:
    return {path.name: path.read_text() for path in folder.iterdir()}


def test_one_file_a_site(tmp_path: Path) -> None:
    rows = session_site("www.a.com") + session_site("b.org") + [{"url": "http://c.net/", "text_digest": "alone"}]
    summary = train([write(tmp_path / "log", rows)], tmp_path / "rules", OPTIONS).to_dict()
    assert sorted(contents(tmp_path / "rules")) == ["a.com.toml", "b.org.toml"]
    expected = {"rows": 361, "sites": 3, "urls": 361, "clusters": 120, "redundant_urls": 240, "sites_with_rules": 2}
    assert {name: summary[name] for name in expected} == expected
    assert summary["holdout"]["precision"] == 1.0
    assert summary["holdout"]["coverage"] > 0
    normalizer = Normalizer.from_paths([tmp_path / "rules"])
    forms = {normalizer.normalize(row["url"]).canonical for row in rows}
    assert len(forms) == 121


def test_the_order_of_the_log_and_the_workers_do_not_matter(tmp_path: Path) -> None:
    rows = [row for site in range(4) for row in session_site(f"s{site}.com", pages=20)]
    first = train([write(tmp_path / "log", rows)], tmp_path / "rules", OPTIONS, workers=1)
    random.Random(1).shuffle(rows)
    half = [write(tmp_path / "log1", rows[:100]), write(tmp_path / "log2", rows[100:])]
    second = train(half, tmp_path / "again", OPTIONS, workers=2)
    assert contents(tmp_path / "rules") == contents(tmp_path / "again") != {}
    both = (first.to_dict(), second.to_dict())
    assert len({json.dumps({**told, "seconds": 0, "urls_per_second": 0}) for told in both}) == 1


@pytest.mark.parametrize(("compared", "count"), [(False, 0), (True, 1)])
def test_pages_of_other_digests_are_different_until_they_are_compared(
    tmp_path: Path, compared: bool, count: int
) -> None:
    """Of 52 pairs 12 have two digests, of one SimHash, as a manual and its next version have."""
    rows: list[Row] = []
    for n in range(52):
        old, new = f"http://a.com/old/{n}", f"http://a.com/new/{n}"
        rows += [
            {"url": url, "text_digest": f"{n}{url * (n % 4 == 0 and n < 48)}", "simhash": f"{n:016x}"}
            for url in (old, new)
        ]
        rows += [{"url": old, "duplicate_of": new}] * compared
    log, folder = write(tmp_path / "log", rows), tmp_path / "rules"
    assert train([log], folder, OPTIONS).to_dict()["rules"] == count
    rule = Rule("new", "rewrite", match="/old/{x}", to="/new/{x}")
    told = evaluate([log], write_rules(tmp_path, SiteRules("a.com", (rule,)))).to_dict()
    assert (told["coverage"], told["wrong"]) == (52, 0 if compared else 12)


def test_training_tells_of_its_log_what_evaluate_tells(tmp_path: Path) -> None:
    """With rules by hand, of software, learned before and now; and with pages that changed between two visits."""
    chance, merged_by_any = random.Random(7), 0
    for number in range(12):
        folder, rows = tmp_path / f"rules{number}", list[Row]()
        for page in range(chance.choice([9, 60])):
            for query in ("", "?sid=1", f"?sid={page}", "?v=1", f"?sid={page}&v=2", "?print=1"):
                digest = f"{page} {chance.random() if chance.random() < 0.02 or query[-3:] == 'v=2' else ''}"
                rows.append({"url": f"http://a{number % 5}.com/x/{page}{query}", "text_digest": digest})
        write_rules(folder, SiteRules("a1.com", (Rule("mine", "rewrite", match="/x/{}?v=1", drop=("v",)),)))
        log = write(tmp_path / "log", rows)
        for _ in range(2):
            summary = train([log], folder, OPTIONS).to_dict()
            told = evaluate([log], folder).to_dict()
            assert summary["log"] == {name: told[name] for name in summary["log"]}
            merged_by_any += told["merged"]
    assert merged_by_any > 1000


def test_false_clusters_are_counted_and_not_learned_from(tmp_path: Path) -> None:
    rows = session_site("a.com")
    rows += [{"url": f"http://a.com/wiki/{i}", "text_digest": f"article {i}"} for i in range(50)]
    rows += [{"url": f"http://a.com/wiki/gone{i}", "text_digest": "no such page"} for i in range(70)]
    rows += [{"url": f"http://a.com/e{i}", "text_digest": "oops", "status": 500} for i in range(9)]
    summary = train([write(tmp_path / "log", rows)], tmp_path / "rules", OPTIONS).to_dict()
    assert summary["false_clusters"] == {"error status": 1, "unlike URLs": 1}
    assert summary["left_out_urls"] == {"error status": 9, "unlike URLs": 70}
    normalizer = Normalizer.from_paths([tmp_path / "rules"])
    gone = [f"http://a.com/wiki/gone{i}" for i in range(70)]
    assert [normalizer.normalize(url).canonical for url in gone] == gone


def views(same: bool, pages: int = 100) -> list[Row]:
    """Pages with a view= that does not matter, or does."""
    return [
        {"url": f"http://a.com/w{page}?view={view}", "text_digest": f"x{page}" if same else f"x{page}-{view}"}
        for page in range(pages)
        for view in range(3)
    ]


@pytest.mark.parametrize("more", [[], [{"url": f"http://a.com/{name}", "text_digest": "z"} for name in "yz"]])
def test_rules_that_a_new_log_refutes_go(tmp_path: Path, more: list[Row]) -> None:
    folder = tmp_path / "rules"
    train([write(tmp_path / "one", views(same=True))], folder, OPTIONS)
    assert [rule.drop for rule in read_rules(folder / "a.com.toml").rules] == [("view",)]
    summary = train([write(tmp_path / "two", views(same=False) + more)], folder, OPTIONS).to_dict()
    assert (summary["rules"], summary["carried_over_rules"]) == (0, {"kept": 0, "refuted": 1})
    assert read_rules(folder / "a.com.toml").rules == ()


def test_rules_that_a_crawl_has_used_are_not_forgotten(tmp_path: Path) -> None:
    """Its log has hardly a duplicate that they are for, whatever else is learned from it."""
    folder = tmp_path / "rules"
    train([write(tmp_path / "one", views(same=True))], folder, OPTIONS)
    before = contents(folder)
    used = [row for row in views(same=True) if row["url"].endswith("=0")]
    summary = train([write(tmp_path / "two", used)], folder, OPTIONS).to_dict()
    assert summary["carried_over_rules"] == {"kept": 1, "refuted": 0}
    assert contents(folder) == before
    summaries = [
        train([write(tmp_path / "three", used + session_site("a.com"))], folder, OPTIONS, workers=workers).to_dict()
        for workers in (1, 2)
    ]
    assert [(summary["rules"], summary["carried_over_rules"]["kept"]) for summary in summaries] == [(1, 1), (1, 1)]
    assert [rule.drop for rule in read_rules(folder / "a.com.toml").rules] == [("sid",), ("view",)]


def test_what_is_switched_off_stays_off_where_it_was_when_it_is_learned_for_more() -> None:
    off = Rule("r1-1", "rewrite", drop=("v",), within=("/list/{*}",), state="disabled", source="learned")
    wider = replace(off, state="active", within=("/list/{*}", "/news/{*}"))
    assert [rule.within for rule in merged([off], [wider])] == [off.within, ("/news/{*}", "!/list/{*}")]
    assert [rule.within for rule in merged([off], [replace(wider, within=())])] == [off.within, ("!/list/{*}",)]
    everywhere = replace(off, within=())
    assert merged([everywhere], [wider]) == (everywhere,)
    other = replace(wider, drop=("w",))
    assert [rule.within for rule in merged([off], [other])] == [off.within, other.within]
    of_software = Rule("p.v@a.com", "rewrite", drop=("v",), state="disabled", source="software", evidence=REFUTED)
    assert [rule.within for rule in merged([of_software], [wider])] == [(), wider.within]  # by the log: it knows where


def test_what_crawls_found_out_of_a_rule_stays_while_a_log_doubts_it() -> None:
    rule = Rule("p.v@a.com", "rewrite", drop=("v",), source="software")
    (used,) = merged([], [rule])
    wrong = (("http://a.com/view?v=1", "http://a.com/view"),)
    used = replace(used, learned=date(2026, 1, 1), tried=30, failed=1, counterexamples=wrong)
    (doubted,) = merged([used], [replace(rule, state="doubted")])
    (back,) = merged([doubted], [rule])
    assert doubted.state == "doubted"
    for one in (doubted, back):
        assert (one.learned, one.tried, one.failed, one.counterexamples) == (date(2026, 1, 1), 30, 1, wrong)


@pytest.mark.parametrize("others", [0, FILES_CHECKED])
def test_nothing_is_written_beside_a_file_that_was_edited_into_nonsense(tmp_path: Path, others: int) -> None:
    """Also where there are too many files to look into all of them before the log is read."""
    folder = tmp_path / "rules"
    for number in range(others):
        write_rules(folder, SiteRules(f"{number}.example", ()))
    folder.mkdir(exist_ok=True)
    (folder / "b.com.toml").write_text("nonsense")
    before = contents(folder)
    log = write(tmp_path / "log", session_site("a.com") + session_site("b.com"))
    with pytest.raises(RuleError, match=r"b\.com\.toml"):
        train([log], folder, OPTIONS)
    assert contents(folder) == before


def test_a_site_that_breaks_the_learner_costs_only_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(site: str, *args: Any, **options: Any) -> SiteRules:
        if site == "a.com":
            raise ZeroDivisionError("oops")
        return learn_site(site, *args, **options)

    monkeypatch.setattr(learning_part, "learn_site", broken)
    log = write(tmp_path / "log", session_site("a.com") + session_site("b.com"))
    summary = train([log], tmp_path / "rules", OPTIONS, workers=1)
    assert summary.to_dict()["failed_sites"] == ["a.com: ZeroDivisionError: oops"]
    assert list(contents(tmp_path / "rules")) == ["b.com.toml"]


def test_nothing_but_hostile_rows(tmp_path: Path) -> None:
    rows: list[Row] = [
        {"url": url, "text_digest": "x"}
        for url in (
            "javascript:x",
            "data:,x",
            "",
            "http://",
            "http://a.com/" + "x" * 20_000,
            "http://a.com/\x00",
            "http://例え.jp/ä",
        )
    ]
    rows += [{"url": f"http://a.com/?{'&'.join(['x=1'] * n)}", "text_digest": "x"} for n in range(1, 500, 50)]
    summary = train([write(tmp_path / "log", rows)], tmp_path / "rules", OPTIONS).to_dict()
    assert summary["skipped"]["not an http URL"] == 3
    assert summary["sites"] == 2


def test_both_spellings_of_an_international_name_are_one_site(tmp_path: Path) -> None:
    """Evidence against a rule that was spelled the other way counts, and so does evidence for it."""
    log = tmp_path / "log.jsonl"
    with log.open("w", encoding="utf-8") as file:
        for page in range(40):
            host = ("bücher.example", "xn--bcher-kva.example")[page % 2]
            for visit in ("", "?visit=7a", "?visit=7b"):
                file.write(json.dumps({"url": f"http://{host}/p{page}{visit}", "digest": f"p{page}"}) + "\n")
            for part in ("?part=a", "?part=b"):
                of = part if page % 2 else ""
                file.write(json.dumps({"url": f"http://{host}/s{page}{part}", "digest": f"s{page}{of}"}) + "\n")
    summary = train([log], tmp_path / "rules", OPTIONS, workers=1)
    assert (summary.learned.sites, summary.learned.clusters) == (1, 60)
    assert [path.name for path in (tmp_path / "rules").iterdir()] == ["xn--bcher-kva.example.toml"]
    normalizer = Normalizer.from_paths([tmp_path / "rules"])
    for host in ("bücher.example", "xn--bcher-kva.example"):
        assert normalizer.normalize(f"http://{host}/p77?visit=7a").canonical == "http://xn--bcher-kva.example/p77"
        for part in ("?part=a", "?part=b"):  # without another page at one spelling only
            assert not normalizer.normalize(f"http://{host}/s77{part}").rules


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


def test_a_file_by_any_name_is_for_its_site(tmp_path: Path) -> None:
    told(tmp_path, [("a.com/1?sid=1", "x"), ("a.com/1?sid=2", "x")], SID)
    mine = (tmp_path / "rules" / "a.com.toml").rename(tmp_path / "rules" / "mine.toml")
    assert evaluate([tmp_path / "log.jsonl"], mine, workers=1).to_dict()["coverage"] == 2
    found = evaluate([tmp_path / "log.jsonl"], tmp_path / "rules", workers=1).to_dict()
    assert "its name must be a.com.toml" in found["unreadable_rule_files"][0]
