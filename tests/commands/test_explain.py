"""`dedupcrawl explain`: finds a page however its URL is typed, or says clearly why not."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from dedupcrawl.aliases.alias import NAME as ALIAS
from dedupcrawl.aliases.alias import SAID, Alias, SiteAliases
from dedupcrawl.crawl.log_file import LogFile, LogRow
from dedupcrawl.index.lmdb import LmdbIndex
from dedupcrawl.index.record import Rewrite, Skip
from dedupcrawl.software.installation import NAME, Installation, SiteSoftware
from dedupcrawl.urls.rule import Evidence, Rule
from dedupcrawl.urls.rule_files import SiteRules, write_rules
from dedupcrawl.urls.watched_rule import TrialRecord
from dedupcrawl.verdict import Verdict
from tests.commands.invoked import check_refused, checked, run, told
from tests.crawls.site import page, prose
from tests.detection.judged import REPORT
from tests.fixtures import table_of
from tests.index.toys import CHECKS, drop, lose, offer
from tests.index.toys import page as entry

URL = "http://a.example/one?x=1"
COPY = "http://a.example/caf%C3%A9"
SHOWN = "http://a.example/café"
TRIALS = {"sid": (9, 0), "never": (0, 0), "off": (9, 5)}  # of rules: how many there were, and how many failed


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """An index with a page and its copy, and a crawl log beside it."""
    rows = [{"url": URL, "title": "One", "text": prose(1)}, {"url": COPY, "text": prose(1)}]
    checked(tmp_path, rows)
    write_log(
        tmp_path,
        LogRow("http://a.example/old", 301, redirect_to=COPY),
        LogRow("http://a.example/away", 301, redirect_to="http://b.example/"),
        LogRow("http://a.example/gone", 200),
        LogRow("http://a.example/gone", 404),
        LogRow("http://a.example/stock", 200, mime="application/json", bytes=18),
        LogRow("http://a.example/stock", 200, mime="application/json", bytes=18, abstained="data"),
    )
    with (tmp_path / "crawl-log.jsonl").open("ab") as torn:
        torn.write(b'{"url":"http://a.example/gone","stat')
    write_rules(tmp_path / "rules", SiteRules("a.example", (Rule("sid", "rewrite", drop=("sid",)),)))
    return tmp_path


def write_log(folder: Path, *answers: LogRow) -> None:
    log = LogFile(folder / "crawl-log.jsonl")
    for answer in answers:
        log.write(answer)
    log.close()


@contextmanager
def opened(folder: Path) -> Iterator[LmdbIndex]:
    """The index there, or a new one."""
    index = LmdbIndex(folder / "index", () if (folder / "index").exists() else CHECKS)
    yield index
    index.close()


def duplicate(url: str, keeper: str, check: str = "exact", **more: Any) -> Verdict:
    return Verdict(f"http://a.example/{url}", "duplicate", f"http://a.example/{keeper}", check, 1.0, **more)


def keep(index: LmdbIndex, url: str) -> None:
    offer(index, entry(url, 1), lambda check, kept: None)


def options(folder: Path) -> list[object]:
    rules = folder / "rules"
    return ["--index", folder / "index", *(["--rules", rules] if rules.exists() else [])]


def explain(folder: Path, url: str) -> str:
    result = run("explain", url, *options(folder))
    assert result.exit_code == 0, result.output
    return result.stdout


def facts(folder: Path, url: str) -> dict[str, Any]:
    found: dict[str, Any] = told(run("explain", url, "--json", *options(folder)))
    assert found["url"] == url
    return found


@pytest.mark.parametrize("typed", [URL, "a.example/one?x=1", f"{URL}&sid=7"])
def test_a_kept_page_however_its_url_is_typed(folder: Path, typed: str) -> None:
    found = facts(folder, typed)
    assert found["kept"]["url"] == URL
    assert found["verdict"] is None


@pytest.mark.parametrize("typed", [COPY, SHOWN, "http://A.example/old#x"])
def test_a_dropped_page_and_what_leads_there(folder: Path, typed: str) -> None:
    found = facts(folder, typed)
    assert (found["verdict"]["url"], found["keeper"]["url"]) == (COPY, URL)
    assert (found["redirect_to"] is None) == ("old" not in typed)


@pytest.mark.parametrize("is_first", [True, False])
def test_a_list_and_its_originals_tell_of_each_other(tmp_path: Path, is_first: bool) -> None:
    posts = {f"http://a.example/{number}": page(prose(number), title=f"Post {number}") for number in range(12)}
    texts = "\n".join(prose(number) for number in (*range(12), 99))
    front = {"http://a.example/": page(texts, *posts, title="A blog")}
    rows = front | posts if is_first else posts | front
    checked(tmp_path, [{"url": url, "html": html} for url, html in rows.items()])
    assert sorted(facts(tmp_path, "http://a.example/")["lists"]) == sorted(posts)
    of_list = explain(tmp_path, "http://a.example/")
    assert "holds the text of kept pages and links to them, as lists do: http://a" in of_list
    assert ", … and 2 more pages\n" in of_list
    for url in posts:
        found = facts(tmp_path, url)
        assert (found["lists"], found["listed_by"]) == ([], ["http://a.example/"])
    assert "http://a.example/ holds its text and links to it, as lists do" in explain(tmp_path, url)


def test_rules_are_named(folder: Path) -> None:
    lines = explain(folder, f"{URL}&sid=7").splitlines()
    assert lines[1] == f"  is asked for as {URL}, by rule sid"


def test_a_rule_that_was_learned_after_the_fetch_is_no_reason_for_it(folder: Path) -> None:
    write_rules(folder / "rules", SiteRules("a.example", (Rule("x", "rewrite", drop=("x",)),)))
    lines = explain(folder, URL).splitlines()
    assert lines[1].startswith("  was fetched as it is; by today's rules it is asked for as http://a.example/one,")


@table_of("commands", "what_is_said")
def test_what_is_said(folder: Path, typed: str, says: str) -> None:
    assert says in explain(folder, typed)


def test_what_is_no_url_is_refused(folder: Path) -> None:
    check_refused(run("explain", "one", *options(folder)), "'one' is not a URL: give one such as")


def test_a_page_kept_in_doubt_is_explained_by_what_it_resembles(tmp_path: Path) -> None:
    rows = [{"url": URL, "text": REPORT}, {"url": COPY, "text": REPORT.replace("bakery", "brewery")}]
    checked(tmp_path, rows, "--set", "TARGET_PRECISION=1")
    said = explain(tmp_path, COPY)
    assert f"kept in doubt: it resembles {URL}, by " in said
    assert "% probability that this page duplicates the kept one, 100.0% needed to drop it\n" in said
    assert "other words: “brewery” against 1 word of the kept page, not stored\n" in said
    assert "DEDUP_KEEP_TEXT = True keeps those of later crawls" in said
    assert "  this page: “" in said
    assert said.count("was kept") == 1


@pytest.mark.parametrize("kept", [True, False])
def test_what_decided_is_told_as_both_pages_have_it_where_texts_are_kept(tmp_path: Path, kept: bool) -> None:
    fare = "A ticket to the island costs %s euros. " + prose(5, 150)
    rows = [{"url": url, "text": fare % euros} for url, euros in ((URL, 50), (COPY, 30))]
    checked(tmp_path, rows, "--set", "TARGET_PRECISION=0", "--set", f"KEEP_TEXT={kept}")
    there = "“50 euros”" if kept else "1 word of the kept page, not stored"
    line = f"at word 7, in a sentence of its own text, another number: “30 euros” against {there}\n"
    assert line in explain(tmp_path, COPY)


def test_two_urls_that_are_shown_alike_are_two(tmp_path: Path) -> None:
    url, kept = "http://a.example/%e6%96%b0", "http://a.example/%E6%96%B0"
    with opened(tmp_path) as index:
        keep(index, kept)
        index.record(Verdict(url, "duplicate", kept, "simhash", 0.97), run="r", site="a.example")
    said = explain(tmp_path, url)
    assert "is a duplicate of http://a.example/新, by simhash" in said
    assert "fetched twice" not in said


def test_a_page_that_was_dropped_once_and_fetched_again_is_in_no_doubt(tmp_path: Path) -> None:
    with opened(tmp_path) as index:
        keep(index, COPY)
        index.record(Verdict(COPY, "unique"), run="", site="")
    said = explain(tmp_path, COPY)
    assert "its page was kept: " in said
    assert "doubt" not in said
    assert "DEDUP_KEEP_TEXT" not in said


def test_the_chain_from_url_to_verdict_is_told(tmp_path: Path) -> None:
    """A rewritten URL, what speaks for its rule, the page it led to, and both texts side by side."""
    others = [{"url": f"http://a.example/{n}", "title": f"Other {n}", "text": prose(n)} for n in range(10, 16)]
    rows = [
        *others,
        {"url": URL, "title": "One", "text": f"{prose(1)}\n{prose(2, 40)}"},
        {"url": COPY, "text": f"{prose(1)}\n{prose(2, 40)}\nadded \x1b[2Jhere"},
    ]
    checked(tmp_path, rows, "--set", "KEEP_TEXT=1", "--set", "TARGET_PRECISION=0.8")
    asked = COPY + "?sid=\x1b]0;7"
    with opened(tmp_path) as index:
        index.record_rewrites([Rewrite(COPY + "?sid=7", COPY, ("sid", "gone"), "toy", "one", 1e9)])
    evidence = Evidence(support=7, coverage=1200, correct=1100, wrong=3)
    rule = Rule("sid", "rewrite", drop=("sid",), evidence=evidence, tried=50, failed=1, state="probation")
    write_rules(tmp_path / "rules", SiteRules("a.example", (rule,)))
    found = facts(tmp_path, COPY + "?sid=7")
    assert found["rewrite"]["rules"] == ["sid", "gone"]
    assert [one["id"] for one in found["rule_evidence"]] == ["sid", "gone"]
    assert (found["verdict"]["url"], found["keeper"]["url"], found["chain"]) == (COPY, URL, [])
    assert found["side_by_side"][-1]["kept"] == ""
    assert found["side_by_side"][-1]["new"].startswith("added")
    lines = explain(tmp_path, COPY + "?sid=7")
    assert f"was asked for as {SHOWN} on 2001-09-09 01:46 UTC, by rule sid, gone\n" in lines
    assert (
        "rule sid: on probation, hand, from 7 clusters; of 1,200 URLs in others 1,100 led to the same page and 3 to "
        "another one, tried 50 times in crawls, 1 failed\n" in lines
    )
    assert "rule gone: no rule file has it\n" in lines
    assert "DEDUP_KEEP_TEXT" not in lines
    assert "side by side, the page (-) and the kept one (+):\n" in lines
    assert "  - " in lines
    assert "\x1b" not in lines + explain(tmp_path, asked)


@table_of("commands", "what_was_sent_elsewhere_and_fetched_itself_in_the_end_is_told_so")
def test_what_was_sent_elsewhere_and_fetched_itself_in_the_end_is_told_so(folder: Path, status: int, said: str) -> None:
    with opened(folder) as index:
        index.record_rewrites([Rewrite(URL, "http://a.example/one", ("x",), "toy", "one", 1e9)])
    (folder / "crawl-log.jsonl").unlink()  # it ends in a torn line
    write_log(folder, LogRow("http://a.example/one", status))
    lines = explain(folder, URL)
    assert "was asked for as http://a.example/one on " in lines
    assert said in lines
    assert "fell back" not in explain(folder, COPY)


def test_keepers_that_are_kept_no_more_are_followed(tmp_path: Path) -> None:
    with opened(tmp_path) as index:
        for url, keeper in (("1", "2"), ("2", "3"), ("3", "4"), ("8", "9"), ("9", "8")):
            index.record(duplicate(url, keeper), run="", site="")
        keep(index, "http://a.example/4")
    found = facts(tmp_path, "http://a.example/1")
    assert found["chain"] == ["http://a.example/2", "http://a.example/3"]
    assert found["keeper"]["url"] == "http://a.example/4"
    circle = facts(tmp_path, "http://a.example/8")
    assert (circle["keeper"], circle["chain"]) == (None, ["http://a.example/9", "http://a.example/8"])
    assert "which is no longer kept: http://a.example/9\n" in explain(tmp_path, "http://a.example/8")


def test_a_page_that_lies_inside_others_is_led_to_the_last_of_them(tmp_path: Path) -> None:
    text = prose(3, 600).split()
    parts = {"small": 160, "larger": 350, "largest": 600, "copy": 160}
    rows = [{"url": f"http://a.example/{name}", "text": " ".join(text[:end])} for name, end in parts.items()]
    checked(tmp_path, rows)
    largest = "http://a.example/largest\n"
    assert f"    a later page has replaced it: {largest}" in explain(tmp_path, "http://a.example/small")
    assert f"    which a later page has replaced: {largest}" in explain(tmp_path, "http://a.example/copy")
    assert "a later page has replaced" not in explain(tmp_path, "http://a.example/largest")


def test_a_restored_page_is_said_to_be_one_and_to_wait_to_be_fetched(tmp_path: Path) -> None:
    url = "http://a.example/1"
    with opened(tmp_path) as index:
        index.record(duplicate("1", "2"), run="r", site="", spider="toy", request=b"r")
        index.make_due([Skip("toy", url, b"r")])
        index.withdraw([url])
    said = explain(tmp_path, url)
    assert "was withdrawn by 'index restore'" in said
    assert "  is to be fetched again at the next start of its spider" in said


def test_what_a_site_repeats_is_told_of_a_kept_page(tmp_path: Path) -> None:
    rows = [{"url": f"http://a.example/{n}", "text": f"{prose(40, 30)}\n{prose(n, 60)}"} for n in range(8)]
    verdicts = checked(tmp_path, rows)
    assert [verdict["evidence"].get("template_blocks", 0) for verdict in verdicts] == [0] * 5 + [1] * 3
    kept = facts(tmp_path, "http://a.example/0")["kept"]  # before the template was known
    assert (kept["blocks"], kept["template_blocks"]) == (2, 1)
    assert "1 of its 2 paragraphs recurs on its site" in explain(tmp_path, "http://a.example/0")


def test_a_rewritten_url_is_followed_into_the_log(tmp_path: Path) -> None:
    """What it was asked for as may have led to a page of another URL."""
    with opened(tmp_path) as index:
        index.record_rewrites([Rewrite("http://a.example/e/1", "http://a.example/ee/1", ("ee",), "s", "r", 1.0)])
    row = {"url": "http://a.example/ee/1", "status": 302, "redirect_to": "http://a.example/login"}
    (tmp_path / "crawl-log.jsonl").write_text(json.dumps(row, separators=(",", ":")) + "\n", encoding="utf-8")
    said = explain(tmp_path, "http://a.example/e/1")
    assert "was asked for as http://a.example/ee/1" in said
    assert "redirects to http://a.example/login" in said
    assert "has no answer" not in said


def test_what_a_crawl_does_with_a_doubted_rule(folder: Path) -> None:
    rule = Rule("sid", "rewrite", drop=("sid",), source="software", state="doubted", note="some were wrong", tried=2)
    write_rules(folder / "rules", SiteRules("a.example", (rule,)))
    lines = explain(folder, f"{URL}&sid=7").splitlines()
    assert lines[1:3] == [
        f"  is asked for as {URL}, by rule sid (in crawls, which try doubted rules)",
        "    rule sid: doubted: crawls try it, `normalize` does not use it, software, "
        "tried 2 times in crawls, 0 failed, some were wrong",
    ]
    found = facts(folder, f"{URL}&sid=7")
    assert (found["kind"], found["in_crawls"]["canonical"]) == ("unchanged", URL)
    assert facts(folder, URL)["in_crawls"] is None


def test_what_runs_on_a_site_is_told_with_its_signs_and_the_trials_that_there_were(tmp_path: Path) -> None:
    signs = {"sign 1": 1, "sign 2": 2, "sign 3": 1}
    seen = Installation("forum", "a.example", signs, {"base": ""}, ("a.example",))
    against = Installation("phpbb3", "a.example", {**signs, "sign 4": -3}, {"base": ""}, ("a.example",))
    elsewhere = Installation("forum", "b.a.example", signs, {"base": ""}, ("b.a.example",))
    tried = {f"forum.{name}@a.example": TrialRecord(*counts) for name, counts in TRIALS.items()}
    known = SiteSoftware(tried, {"forum.off@a.example": "it was wrong"}, (seen, against, elsewhere))
    alias = Alias("http://a.example/1", "permalink", "s", "", 0.0)
    with opened(tmp_path) as index:
        index.update_site_state("a.example", NAME, lambda _: known.to_bytes())
        index.attach("http://a.example/2", ALIAS, alias.to_bytes())
    lines = explain(tmp_path, "http://a.example/2").splitlines()
    assert lines[2:7] == [
        "  is an alias of http://a.example/1: named by pages (permalink), 1970-01-01 00:00 UTC",
        "  a.example runs forum: sign 2 (+2), sign 1 (+1), sign 3 (+1); total weight 4 (needed: 3, of 2 signs or more)",
        "    rule forum.sid@a.example: tried 9 times in crawls, 0 failed",
        "    rule forum.off@a.example is not used: it was wrong",
        "  a.example does not run phpBB 3: sign 4 (-3), sign 2 (+2), sign 1 (+1), sign 3 (+1); "
        "total weight 1 (needed: 3, of 2 signs or more)",
    ]


def test_an_alias_that_is_not_used_is_told_with_what_speaks_against_it(tmp_path: Path) -> None:
    why = "1 of 1 trial led to another page, such as http://a.example/x → http://a.example/1"
    known = SiteAliases({"alias.og": TrialRecord(1, 1)}, {"alias.og": why})
    with opened(tmp_path) as index:
        keep(index, "http://a.example/own")
        index.update_site_state("a.example", ALIAS, lambda _: known.to_bytes())
        for name, source in {"own": "canonical", "x": "og", "gone": "duplicate", "back": "redirect"}.items():
            alias = Alias("http://a.example/1", source, "s", "", 0.0)
            index.attach(f"http://a.example/{name}", ALIAS, alias.to_bytes())
        index.record(duplicate("back", "own"), run="r", site="a.example")
        index.withdraw(["http://a.example/back"])
        index.record_rewrites([Rewrite("http://a.example/own", "http://a.example/1", ("alias.og",), "s", "r", 0.0)])
        index.make_due([Skip("s", "http://a.example/own", b"")])

    def said(name: str) -> str:
        return explain(tmp_path, f"http://a.example/{name}")

    for name, why_not in {
        "own": "    for the page of this URL was kept\n",
        "gone": "    for that page is no longer kept\n",
        "back": "    for 'index restore' gave it back\n",
        "x": f"    og is no longer used on this site: {why}\n",
    }.items():
        assert "  is not used as an alias of http://a.example/1: " in said(name)
        assert why_not in said(name)
    assert f"  was fetched itself, too: alias.og was refuted on this site ({why})\n" in said("own")
    assert "  is to be fetched again at the next start of its spider" in said("own")


def test_what_is_not_stored_yet_is_told_of_a_page_and_of_what_was_dropped_for_it(tmp_path: Path) -> None:
    kept, copy = "http://a.example/1", "http://a.example/copy"
    with opened(tmp_path) as index:
        index.start_leasing()
        offer(index, entry(kept, 7), request=b"r")
        drop(index, kept, Skip("toy", copy, b"r"))
        index.record(duplicate("copy", "1"), run="r", site="", spider="toy", request=b"r")
    assert "  its item is not stored yet" in explain(tmp_path, kept)
    assert "  whose item is not stored yet" in explain(tmp_path, copy)
    with opened(tmp_path) as index:
        lose(index, kept)
    assert "is to be fetched again at the next start of its spider" in explain(tmp_path, copy)


def test_a_page_that_is_not_fetched_for_another_dropped_one_is_told_of_both(tmp_path: Path) -> None:
    url, other, keeper = (f"http://a.example/{name}" for name in ("this", "other", "keeper"))
    with opened(tmp_path) as index:
        for dropped in ("other", "this"):
            index.record(duplicate(dropped, "keeper", "shingles"), run="r", site="a.example", request=b"r")
        index.attach(other, SAID, b"digest")
        index.attach(url, ALIAS, Alias(other, "duplicate", "s", "", 0.0, (b"link",)).to_bytes())
    said = explain(tmp_path, url)
    assert f"is an alias of {other}: its page had the same text, to the letter, as that one, which was dropped" in said
    assert "; 1 link that only its page had is still followed" in said
    assert f"its page is a duplicate of {keeper}, by shingles, similarity 1.0 of their signatures" in said


def test_a_host_alone_is_not_told_to_be_an_alias_of_its_own_slash(tmp_path: Path) -> None:
    with opened(tmp_path) as index:
        index.attach("http://a.example", ALIAS, Alias("http://a.example/", "canonical", "s", "", 0.0).to_bytes())
    said = explain(tmp_path, "http://a.example")
    assert "looked up as http://a.example/\n" in said
    assert "alias" not in said


def test_a_page_whose_keeper_lies_inside_it_is_not_told_to_be_a_later_one(tmp_path: Path) -> None:
    """As one that was stored before it was known what its site repeats: then it seemed to hold more."""
    small, large = (f"http://a.example/{name}" for name in ("small", "large"))
    rows = [{"url": small, "text": prose(1)}, {"url": large, "text": f"{prose(1)}\n{prose(2, 300)}"}]
    checked(tmp_path, rows)
    assert f"a later page has replaced it: {large}" in explain(tmp_path, small)
    verdict = duplicate("large", "small", "shingles", evidence={"judged_again": True})
    with opened(tmp_path) as index:
        index.record(verdict, run="check", site="a.example")
    said = explain(tmp_path, large)
    assert f"its page is a duplicate of {small}" in said
    assert "which this page has replaced" in said
    assert "a later page" not in said


def test_a_page_that_was_fetched_twice_is_not_told_to_be_its_own_duplicate(folder: Path) -> None:
    with opened(folder) as index:
        index.record(Verdict(URL, "duplicate", URL, "exact", 1.0), run="r", site="a.example")
    said = explain(folder, URL)
    assert "its page was fetched twice in one crawl: kept the first time, dropped the second" in said
    assert "its page was kept: " in said
    assert "duplicate of" not in said
