"""The page of a report: lists, plots and texts, and nothing that strangers wrote is markup."""

from __future__ import annotations

import base64
import json
import re
import shutil
import zlib
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dedupcrawl.crawl.log_file import LogRow
from dedupcrawl.crawl_logs.page_files import read_pairs
from dedupcrawl.detection.attachments import packed_text
from dedupcrawl.index.contract import Index
from dedupcrawl.index.record import Rewrite
from dedupcrawl.index.runs import read_runs
from dedupcrawl.report import listing
from dedupcrawl.report.collect import collect
from dedupcrawl.report.listing import CHUNK, Listing, row_of
from dedupcrawl.report.page import Plot, environment, histogram, learning_curve, render, write
from dedupcrawl.urls.credits import NAME as CREDITS
from dedupcrawl.urls.credits import Credit, Credits
from dedupcrawl.urls.rule import Evidence, Rule
from dedupcrawl.urls.rule_files import SiteRules, write_rules
from dedupcrawl.verdict import Outcome, Verdict
from tests.report.made import doubted, duplicate, index_of, log_of, tell_run
from tests.report.window import Window, contrast

if TYPE_CHECKING:
    from playwright.sync_api import Locator

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
NASTY = [
    "</script><script>document.body.id='hacked'</script>",
    "<img src=x onerror=\"document.body.id='hacked'\">",
    "\"'><svg/onload=document.body.id='hacked'>",
    "{{ 7 * 7 }} {% raw %} ${7*7} <!-- ]]> &lt;b&gt;",
    "\u202egpj.exe \x00\x1b[2J \u2028 \ud800",
]
KEPT = "http://www.a.com/kept"


def hostile() -> Iterator[tuple[str, str]]:
    """URL and title."""
    for number, nasty in enumerate(NASTY):
        yield f"http://www.a.com/{number}/{nasty}", nasty
        yield f"http://{nasty}.com/{number}", nasty
    yield "javascript:document.body.id='hacked'", "a link"
    yield "data:text/html,<script>alert(1)</script>", "another"


def hostile_report(tmp_path: Path) -> Path:
    pairs = list(hostile())
    verdicts = [duplicate(url, pairs[n - 1][0], title, says=title) for n, (url, title) in enumerate(pairs)]
    verdicts += [doubted(url + "/doubt", KEPT) for url, _ in pairs]
    for verdict, (_, title) in zip(verdicts, pairs, strict=False):
        verdict.evidence["differs"] = [{"at": 1, "says": title, "kept_symbols": title}]
    log = log_of(tmp_path / "log.jsonl", [LogRow(url, 200, title=title) for url, title in pairs[:8]])
    rules = (Rule("<b>nasty</b>", "rewrite", drop=tuple(NASTY[:4]), note=NASTY[0], examples=((NASTY[1], NASTY[2]),)),)
    write_rules(tmp_path / "rules", SiteRules("<b>site</b>", rules))
    (tmp_path / "rules" / "<img src=x>.toml").write_text(f"site = '''{NASTY[0]}'''\nx = 1", encoding="utf-8")
    index = index_of(verdicts)
    index.record_rewrites([Rewrite(url, KEPT, ("<b>nasty</b>",), NASTY[0], NASTY[1], 1.0) for url, _ in pairs])
    path = tmp_path / "report.html"
    write(collect(index, log, [tmp_path / "rules"], []), path)
    return path


def plain_report(path: Path, count: int = 40) -> Path:
    verdicts = [
        duplicate(f"http://www.a.com/{n}", f"{KEPT}-{n % 4}", ("simhash", "exact")[n % 3 == 0], edits=n)
        for n in range(count)
    ]
    verdicts.append(doubted("http://www.a.com/doubted", f"{KEPT}-0"))
    log = log_of(
        path.parent / "log.jsonl",
        [
            LogRow(v.url, 200, bytes=1000, title=f"Page of {v.url}", fetched_at=1.7e9 + n)
            for n, v in enumerate(verdicts)
        ],
    )
    rule = Rule(
        "sid", "rewrite", drop=("sid",), state="probation", evidence=Evidence(coverage=40, wrong=1), tried=8, failed=2
    )
    wordy = Rule("lang", "rewrite", drop=("lang",), examples=((f"{KEPT}?lang={'x' * 200}", KEPT),))
    write_rules(path.parent / "rules", SiteRules("a.com", (rule,)))
    write_rules(path.parent / "rules", SiteRules("127.0.0.1", (wordy,)))
    index = index_of(verdicts)
    index.record_rewrites(Rewrite(f"{KEPT}-1?sid={n}", f"{KEPT}-1", ("sid",), "s", "r", 1.7e9 + n) for n in range(30))
    tell_run(index, "r", kept=4, saved=29)
    sent = (Rewrite(f"http://a.com/?p={n}", f"{KEPT}-2", ("alias.shortlink",), "s", "r", 1.7e9) for n in range(1_200))
    index.record_rewrites(sent)
    known = Credits({"alias.og": Credit(1, 1)}, {"alias.og": f"1 of 1 trial led to another page: {NASTY[0]}"})
    index.update_site_state("a.com", CREDITS, lambda _: known.to_bytes())
    write(collect(index, log, [path.parent / "rules"], read_runs(index)), path)
    return path


@pytest.fixture(scope="module")
def window() -> Iterator[Window]:
    if CHROMIUM is None:
        pytest.skip("needs a Chromium on the PATH")
    sync_api = pytest.importorskip("playwright.sync_api", reason="needs playwright")
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield Window(browser.new_page())
        browser.close()


def shown(window: Window, folder: Path, index: Index) -> Window:
    """The report on an index, without a log or rules."""
    write(collect(index, None, [], []), folder / "report.html")
    return window.open(folder / "report.html")


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return plain_report(tmp_path_factory.mktemp("plain") / "report.html")


def test_the_lists_are_there_in_pages_and_can_be_searched(window: Window, plain: Path) -> None:
    opened = window.open(plain)
    assert len(opened.rows("duplicates")) == 15
    assert "http://www.a.com/38" in opened.rows("duplicates")[0]  # the newest of those that are not equal texts
    page = opened.page
    page.locator("[data-table=duplicates]").get_by_role("button", name="next").click()
    assert "http://www.a.com/16" in opened.rows("duplicates")[0]
    page.locator("[data-table=duplicates]").get_by_role("button", name="next").click()
    assert "http://www.a.com/0" in opened.rows("duplicates")[-1]  # the oldest equal one
    page.locator("[data-table=duplicates] input").fill("A.COM/17")
    assert len(opened.rows("duplicates")) == 1
    page.locator("[data-table=duplicates] input").fill("kept-1")
    assert len(opened.rows("duplicates")) == 10
    page.locator("[data-table=duplicates] select").select_option("exact")
    assert len(opened.rows("duplicates")) == 3
    page.locator("[data-table=duplicates] input").fill("no such page")
    assert opened.rows("duplicates") == ["Nothing matches."]
    assert len(opened.rows("doubt")) == 1
    assert opened.complaints == []
    assert opened.requests == [plain.resolve().as_uri()]


def test_a_list_can_be_ordered_by_a_column_both_ways(window: Window, plain: Path) -> None:
    opened = window.open(plain)
    by_page = opened.page.locator("[data-table=duplicates]").get_by_role("button", name="page", exact=True)
    by_page.click()
    assert "http://www.a.com/9\n" in opened.rows("duplicates")[0].replace("\t", "\n")
    by_page.click()
    assert "http://www.a.com/0\n" in opened.rows("duplicates")[0].replace("\t", "\n")


def test_clusters_rules_and_figures(window: Window, plain: Path) -> None:
    opened = window.open(plain)
    assert len(opened.rows("clusters")) == 4
    (ordered,) = opened.page.locator(
        "[data-table=clusters] [aria-sort]"
    ).all()  # the largest cluster first, and an arrow says so
    assert (ordered.inner_text().split()[0], ordered.get_attribute("aria-sort")) == ("duplicates", "descending")
    opened.page.locator("[data-table=clusters] summary").first.click()
    opened.page.wait_for_selector("[data-table=clusters] li")  # a browser tells of the toggle when it comes to it
    assert opened.page.locator("[data-table=clusters] li").count() == 10
    rule = next(row for row in opened.rows("rules") if row.startswith("a.com"))
    assert {"a.com", "probation", "30", "40", "97.5%", "≥", "88.6%"} <= set(rule.split())
    for summary in opened.page.locator("[data-table=rules] summary").all():
        summary.click()
    told = opened.page.locator("[data-table=rules]").inner_text()
    assert "On held-out ones it was wrong for 1 of 40 URLs" in told
    assert "Crawls fetched both URLs 8 times; 2 times the pages differed." in told
    assert opened.lines("[data-table=rules] span.site:text('127.0.0.1')") == 1
    cards = opened.page.locator(".cards").inner_text()
    assert "29" in cards.splitlines()
    assert "rules sent 30 URLs and aliases sent 1,200 URLs to 2 canonical" in cards
    rows = [row.replace("\t", " ") for row in opened.page.locator("#aliases tbody tr").all_inner_texts()]
    assert rows[0] == "a.com shortlink 1,200 0 0 in use"
    assert rows[1].startswith("a.com og 0 1 1 not used any more 1 of 1 trial led to another page: </script><script>doc")


def test_two_pages_side_by_side(window: Window, plain: Path) -> None:
    opened = window.open(plain)
    said = opened.compare(0)
    assert {"http://www.a.com/38", f"{KEPT}-2"} <= set(said.splitlines())
    assert {"this page says", "there, the kept page has", "1 word, not stored"} <= set(said.splitlines())
    assert "brewery at word 41, in a line of its own text: another passage" in said
    assert "probability 97.0% of 78.0% needed" in said
    assert "97.0%\nprobability that this page duplicates the kept one" in said
    assert "10.0%\nagainst a duplicate: share of its own text that the kept page has nowhere in this context" in said
    assert "1\nagainst a duplicate: values that differ in lines of the site template and state no fact" in said
    assert opened.page.locator(".strip").count() == 1
    opened.page.locator("[data-table=duplicates] select").select_option("exact")
    assert "The main texts of the two pages are the same." in opened.compare(0)
    assert opened.compare(0, "doubt").startswith("Let through, in doubt")


def test_what_differs_is_marked_where_it_stands_on_the_whole_page(window: Window, tmp_path: Path) -> None:
    differs = [{"at": 200, "says": "noon", "kept_symbols": 1, "kind": "value", "own": False}]
    index = index_of([duplicate("http://www.a.com/1", KEPT, symbols=100, template=0.75, differs=differs)])
    opened = shown(window, tmp_path, index)
    opened.compare(0)
    assert opened.page.locator(".strip i").evaluate("mark => mark.style.left") == "50%"


def test_the_least_sure_duplicates_come_first_and_the_surest_doubts(window: Window, tmp_path: Path) -> None:
    sure = (0.99, 0.999, 0.97, 0.99)
    verdicts = [duplicate(f"http://www.a.com/{n}", KEPT, probability=share) for n, share in enumerate(sure)]
    index = index_of([duplicate("http://www.a.com/equal", KEPT, "exact"), *verdicts])
    for n, share in enumerate((0.3, 0.7)):
        doubt = {"url": KEPT, "check": "shingles", "similarity": 0.8, "probability": share}
        verdict = Verdict(f"http://www.a.com/doubt-{n}", "unique", evidence={"in_doubt": doubt})
        index.record(verdict, run="one", site="s")
    opened = shown(window, tmp_path, index)
    names = [re.search(r"a.com/(\S+)", row) for row in (*opened.rows("duplicates"), *opened.rows("doubt"))]
    assert [name and name[1] for name in names] == ["2", "3", "0", "1", "equal", "doubt-1", "doubt-0"]
    said = {name: opened.page.locator(f"[data-table={name}] [aria-sort]") for name in ("duplicates", "doubt")}
    assert said["duplicates"].get_attribute("aria-sort") == "ascending"
    assert said["doubt"].get_attribute("aria-sort") == "descending"
    opened.page.locator("[data-table=clusters] summary").click()
    opened.page.wait_for_selector("[data-table=clusters] li")
    assert opened.complaints == []


def test_two_long_texts_are_open_where_they_first_differ(window: Window, tmp_path: Path) -> None:
    words = [f"word{number}" for number in range(2_400)]
    pages = {KEPT: words, "http://www.a.com/more": [*words[:1_500], "here", "is", "more", *words[1_500:]]}
    index = index_of([duplicate("http://www.a.com/more", KEPT)])
    for url, text in pages.items():
        index.attach(url, *packed_text([" ".join(text)]))
    opened = shown(window, tmp_path, index)
    page = opened.page
    for width in (1280, 360):
        opened.resize(width)
        page.locator("[data-table=duplicates] tbody button").first.click()
        page.wait_for_selector("dialog .text")
        places = page.locator("dialog .text [data-first]")
        assert [place.inner_text() for place in places.all()] == ["here is more", ""]
        for place in places.all():
            inside = "(e) => [e, e.parentElement].map((one) => one.getBoundingClientRect().top)"
            top, of_column = place.evaluate(inside)
            height = place.evaluate("(e) => e.parentElement.clientHeight")
            assert of_column < top < of_column + height
        page.get_by_role("button", name="close").click()
    assert opened.complaints == []


def test_whatever_strangers_wrote_is_text(window: Window, tmp_path: Path) -> None:
    opened = window.open(hostile_report(tmp_path))
    for number in range(len(opened.rows("duplicates"))):
        opened.compare(number)
    for summary in opened.page.locator("summary").all():
        summary.click()
    assert opened.page.evaluate("document.body.id") == ""
    assert opened.page.evaluate("document.querySelectorAll('main script, main img, main b, main iframe').length") == 0
    links = opened.page.evaluate("[...document.querySelectorAll('main a')].map((a) => a.protocol)")
    assert set(links) == {"http:", ":"}  # the latter lead nowhere: no host is called like that
    shown = opened.page.locator("main").inner_text()
    assert "<img src=x" in shown
    assert "{{ 7 * 7 }}" in shown
    assert "\\u{202e}gpj.exe" in shown
    assert not set("\u202e\x00\x1b\u2028") & set(shown)
    assert opened.complaints == []
    assert len(opened.requests) == 1
    for width in (1280, 360):
        assert opened.resize(width) <= width


def test_it_fits_a_telephone_and_is_readable_in_the_dark(window: Window, plain: Path) -> None:
    opened = window.open(plain)
    assert opened.resize(360) == 360
    wide = opened.page.evaluate(
        "[...document.querySelectorAll('main *')].filter((e) => e.getBoundingClientRect().right > 361).length"
    )
    assert wide == 0
    pager = "[...document.querySelectorAll('[data-table=duplicates] .pager button')]"
    assert opened.page.evaluate(f"new Set({pager}.map((e) => e.getBoundingClientRect().top)).size") == 1
    for scheme in ("light", "dark"):
        opened.page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
        for selector in ("body", ".quiet", "main a", "figure text", ".tag", "th"):
            assert contrast(opened.page, selector) >= 4.5, (scheme, selector)


@pytest.mark.parametrize(
    "index", [index_of([]), index_of([duplicate("http://a.com/2", "http://a.com/1")])], ids=["0", "1"]
)
def test_an_empty_index_and_one_verdict_without_a_log(window: Window, tmp_path: Path, index: Index) -> None:
    opened = shown(window, tmp_path, index)
    rows = opened.rows("duplicates")
    assert len(rows) == 1
    assert ("No duplicate was found." in rows[0]) == (not list(index.recorded()))
    assert "not known without a crawl log" in opened.page.locator("main").inner_text()
    assert "There are no rules yet" in opened.rows("rules")[0]
    assert opened.complaints == []


def test_the_policy_names_the_scripts_and_styles_and_nothing_else() -> None:
    page = render(collect(index_of([]), None, [], []))
    policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]*)"', page)
    assert policy is not None
    assert "default-src &#39;none&#39;" in policy[1]
    assert "unsafe" not in policy[1]
    assert not re.search(r"<[^>]+ (?:style|on\w+)=", page.partition("<script>")[0])
    assert not re.search(r"(?:src|href)=\"(?!#)", page.partition("<script>")[0])


def test_kept_texts_are_shown_with_what_differs_marked(window: Window, tmp_path: Path) -> None:
    new, old = "http://www.a.com/new", KEPT
    index = index_of([duplicate(new, old), duplicate("http://www.a.com/textless", old)])
    words = [f"word{number}" for number in range(60)]
    edited = [*words[:30], "<b>hacked</b>", *words[31:]]
    for url, text in ((new, edited), (old, words)):
        index.attach(url, *packed_text([" ".join(text[:20]), " ".join(text[20:])]))
    opened = shown(window, tmp_path, index)
    opened.page.locator("[data-table=duplicates] tbody tr").nth(1).get_by_role("button", name="side by side").click()
    opened.page.wait_for_selector("dialog[open]")
    columns = opened.page.locator("dialog .text")
    assert columns.count() == 2
    assert [columns.nth(side).locator("mark").all_inner_texts() for side in (0, 1)] == [["<b>hacked</b>"], ["word30"]]
    assert "word19 ¶ word20" in columns.nth(0).inner_text()
    opened.page.get_by_role("button", name="close").click()
    opened.compare(0)
    assert opened.page.locator("dialog .text").count() == 0
    assert opened.complaints == []


def test_labels_are_given_in_the_lists_and_beside_the_texts_and_downloaded(window: Window, tmp_path: Path) -> None:
    long = "http://www.a.com/" + "x" * 3_000
    index = index_of([*(duplicate(f"http://www.a.com/{n}", KEPT) for n in range(20)), duplicate(long, KEPT)])
    index.record(doubted("http://www.a.com/<b>", KEPT), run="one", site="s")
    opened = shown(window, tmp_path, index)
    page = opened.page
    assert page.locator("#labels").is_disabled()

    def press(table: str, page_url: str, name: str) -> Locator:
        page.locator(f"[data-table={table}] tbody tr", has_text=page_url).get_by_role("button", name=name).click()
        return page.locator(f"[data-table={table}] tbody tr", has_text=page_url).get_by_role("button", name=name)

    assert press("duplicates", "a.com/19", "same page").get_attribute("aria-pressed") == "true"
    press("duplicates", "a.com/18", "same page")
    press("duplicates", "a.com/18", "another page")  # another answer
    press("duplicates", "a.com/17", "same page")
    press("duplicates", "a.com/17", "same page")  # taken back
    press("doubt", "a.com/<b>", "another page")
    page.locator("[data-table=duplicates]").get_by_role("button", name="next").click()
    cut = page.locator("[data-table=duplicates] tbody tr", has_text="xxx")
    assert all(button.is_disabled() for button in cut.get_by_role("button", name="page", exact=False).all())
    page.locator("[data-table=duplicates]").get_by_role("button", name="back").click()
    page.locator("[data-table=duplicates] tbody tr", has_text="a.com/16").get_by_role(
        "button", name="side by side"
    ).click()
    dialog = page.locator("dialog[open]")
    dialog.get_by_role("button", name="same page").click()
    dialog.get_by_role("button", name="close").click()
    row = page.locator("[data-table=duplicates] tbody tr", has_text="a.com/16")
    assert row.get_by_role("button", name="same page").get_attribute("aria-pressed") == "true"
    with page.expect_download() as download:
        page.get_by_role("button", name="download 4 labels").click()
    download.value.save_as(tmp_path / "labels.jsonl")
    rows = [json.loads(line) for line in (tmp_path / "labels.jsonl").read_text(encoding="utf-8").splitlines()]
    assert download.value.suggested_filename == "labels.jsonl"
    assert {row["new"]: row["same"] for row in rows} == {
        "http://www.a.com/19": True,
        "http://www.a.com/18": False,
        "http://www.a.com/<b>": False,
        "http://www.a.com/16": True,
    }
    assert {row["kept"] for row in rows} == {KEPT}
    told = [(pair.new, pair.kept, pair.same) for pair in read_pairs(tmp_path / "labels.jsonl", labelled=True)]
    assert told == [(row["new"], row["kept"], row["same"]) for row in rows]
    assert opened.complaints == []


DUPLICATE = np.arange(500) % 3 == 0


def checked(plot: Plot) -> ElementTree.Element:
    """The picture, once it is sure that the page's policy and its dark colours hold for it."""
    svg = environment().get_template("plot.svg").render(plot=plot)
    assert "style" not in svg
    assert not re.search(r"#[0-9a-f]{6}\b", svg)
    assert "var(--ink)" in svg
    return ElementTree.fromstring(svg)


def texts(picture: ElementTree.Element) -> set[str]:
    return {element.text or "" for element in picture.iter("text")}


def test_the_learning_curve_tells_what_its_axes_are() -> None:
    cumulative, share = learning_curve(DUPLICATE, np.arange(500))
    assert {"duplicates fetched", "fetches saved", "pages fetched"} <= texts(checked(cumulative))
    assert {"0%", "100%", "pages fetched", "duplicates among them"} <= texts(checked(share))
    assert "pages so far" in texts(checked(cumulative))
    alone = texts(checked(learning_curve(DUPLICATE)[0]))
    assert "duplicates so far" in alone
    assert "fetches saved" not in alone


@pytest.mark.parametrize("pages", [9_000, 10_500, 12_500, 17_000, 60_000, 1_300_000])
def test_large_counts_are_short_and_exact(pages: int) -> None:
    cumulative, _ = learning_curve(np.ones(pages, dtype=np.bool_))  # both axes go to the same count
    ticks = [re.fullmatch(r"([\d.,]+)(k|M|)", text) for text in texts(checked(cumulative))]
    factors = {"": 1, "k": 1e3, "M": 1e6}
    counts = sorted(float(tick[1].replace(",", "")) * factors[tick[2]] for tick in ticks if tick)
    assert len(counts) > 2
    assert np.allclose(np.diff(counts), counts[1] - counts[0]), counts


def test_a_histogram_leaves_out_what_was_not_counted() -> None:
    (plot,) = histogram("Title", "Caption", "share", {"one": [0] * 19 + [4], "none": [0] * 20, "two": [1] * 20})
    assert {"one", "two", "share", "pages"} <= texts(checked(plot))
    assert "none" not in texts(checked(plot))
    assert histogram("Title", "Caption", "share", {"none": [0] * 20}) == []


SCRIPT = (files("dedupcrawl.report") / "assets" / "report.js").read_text(encoding="utf-8")
JSON = st.recursive(
    st.none() | st.booleans() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


def unpacked(text: str) -> Any:
    return json.loads(zlib.decompress(base64.b64decode(text)))


def test_evidence_lies_in_the_chunk_of_its_row() -> None:
    made = Listing()
    for number in range(CHUNK + 3):
        pair = row_of(duplicate(f"http://a/{number}", f"http://a/kept-{number % 2}", edits=number))
        assert pair is not None
        made.add(*pair)
    chunks = [unpacked(chunk) for chunk in made.evidence()]
    assert [len(chunk) for chunk in chunks] == [CHUNK, 3]
    assert chunks[1][2]["edits"] == CHUNK + 2
    columns = made.columns({"http://a/1": "One", "http://a/kept-1": "Kept"}, {"http://a/kept-0": "http://a/larger"})
    assert columns["url"][CHUNK + 2] == f"http://a/{CHUNK + 2}"
    assert columns["kept"] == ["http://a/kept-0", "http://a/kept-1"]
    assert columns["of"][:3] == [0, 1, 0]
    assert columns["title"][:2] == ["", "One"]
    assert columns["kept_title"] == ["", "Kept"]
    assert columns["kept_in"] == ["http://a/larger", ""]


def test_the_oldest_rows_go_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(listing, "LISTED", 2 * CHUNK)
    made = Listing()
    for number in range(3 * CHUNK + 1):
        pair = row_of(duplicate(f"http://a/{number}", "http://a/kept"))
        assert pair is not None
        made.add(*pair)
    urls = made.columns({}, {})["url"]
    assert (urls[0], urls[-1], len(urls)) == (f"http://a/{CHUNK}", f"http://a/{3 * CHUNK}", 2 * CHUNK + 1)
    assert len(made.evidence()) == 3


@given(
    st.text(),
    st.sampled_from(["duplicate", "unique", "abstained"]),
    st.none() | st.text(),
    st.none() | st.floats(),
    st.dictionaries(st.sampled_from(["in_doubt", "probability", "differs", "url"]), JSON | st.integers()),
)
def test_any_verdict_can_be_listed(
    url: str, outcome: Outcome, of: str | None, similarity: float | None, evidence: dict[str, Any]
) -> None:
    pair = row_of(Verdict(url, outcome, of, of, similarity, evidence))
    assert outcome != "duplicate" or pair is not None
    if pair is not None:
        made = Listing()
        made.add(*pair)
        assert re.fullmatch(r"[A-Za-z0-9+/=]*", made.evidence()[0]), "no markup"
        assert unpacked(made.evidence()[0]) == [pair[1]]
        for share in (pair[0].similarity, pair[0].probability):
            assert share is None or 0 <= share <= 1


def test_the_script_knows_the_size_of_a_chunk() -> None:
    assert f"const CHUNK = {CHUNK};" in SCRIPT
