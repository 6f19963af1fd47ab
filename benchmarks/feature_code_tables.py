"""Tables I to IV of the feature-code paper (Guo, Chen, Xin, Wang), beside what it printed.

    python -m benchmarks.feature_code_tables [--data DIR] [--figures DIR]

The paper's 25,476 news pages are not at hand. Table I is made of the 69 labelled Chinese articles; Tables II to IV of a
crawl of one university's sites, and of planted pages ("report" half), where it is known what duplicates what.
"""

from __future__ import annotations

import hashlib
import statistics
import time
from collections.abc import Callable, Hashable, Sequence
from pathlib import Path

from benchmarks.markdown import folders, show, table
from benchmarks.period_codes import feature_string, m2
from benchmarks.planted import Paragraphs
from benchmarks.purified_pages import Collection, crawl, planted
from dedupcrawl.content.checks.feature_code import MIN_CODE, CodeRules, FeatureCodeCheck, feature_code
from dedupcrawl.core.symbols import SymbolText
from dedupcrawl.page import Page, paragraphs_of

THRESHOLDS = (0.70, 0.75, 0.80, 0.85, 0.90, 0.95, 1.00)
UNIT = 300  # L_pth
LOOKED_AT = 1000  # symbols
LINKS = ("[1] [2] [3] [我来说两句]", "相关专题: 法治在线节目实录")  # what the paper names as noise
SHORT_TEXT = (
    "“中国制造”由于毒奶事件而在全球声誉下挫，在不顾公共道德追逐暴利的逆流之中，"
    "幸好还有“神七”成功飞天令世人对“中国制造”重拾信心。"
)
LONG_TEXT = (  # the paper leaves out what stands between
    "在神七科研攻关中，哈尔滨工业大学承担着宇航员舱外宇航服的地面实验系统，学院气动技术中心课题组负责“水平舱环控系统改造”"
    "和“紧急复压系统”的研制。",
    "而在神七发射前 38 分钟，上海的一名科研人员拔掉地面连接神七的最后一个重要插座，成为最后一位撤离发射架的人。",
)
EDITS = ("links at the end deleted", "2nd paragraph: a long text", "2nd paragraph: a short text")
PAPER_1 = (("1", "1"), ("0.05", "0.05"), ("1", "1"))
PAPER_2 = {  # effective, duplicates, rate, precision, seconds
    "I": ("24,633", "1,552", "6.30 %", "34.84 %", "32"),
    "II": ("25,476", "684", "2.68 %", "100.00 %", "36"),
    "III": ("25,476", "747", "2.93 %", "100.00 %", "43"),
    "IV": ("25,476", "1,410", "5.53 %", "99.29 %", "36"),
    "V": ("25,476", "1,769", "6.94 %", "99.03 %", "44"),
}
PAPER_3 = {
    "M1": ("25,476", "1,769", "6.94 %", "99.03 %"),
    "M2": ("25,226", "2,512", "9.96 %", "85.37 %"),
    "M3": ("25,476", "1,172", "4.60 %", "94.92 %"),
}
PAPER_4 = ((7.03, 98.78), (6.94, 99.03), (6.70, 99.06), (6.51, 99.10), (6.11, 99.17), (5.70, 99.24), (5.53, 99.29))

Keepers = Sequence[int | None]


def longest_common_substring(a: str, b: str) -> int:
    """Its length, by bisection: a common substring of some length has common substrings of all shorter ones."""
    low, high = 0, min(len(a), len(b))
    while low < high:
        middle = (low + high + 1) // 2
        pieces = {a[start : start + middle] for start in range(len(a) - middle + 1)}
        if any(b[start : start + middle] in pieces for start in range(len(b) - middle + 1)):
            low = middle
        else:
            high = middle - 1
    return low


def repeatability(code_i: str, code_j: str) -> float:
    """S_ij = len(longest common substring of C_i and C_j) / len(C_j), or 0: how much of page j is in page i (eq. 1)."""
    return longest_common_substring(code_i, code_j) / len(code_j) if code_j else 0.0


def equal(keys: Sequence[Hashable | None]) -> Keepers:
    """Pages with the key of an earlier one; None is no key."""
    first: dict[Hashable, int] = {}
    return [
        None if key is None or first.setdefault(key, number) == number else first[key]
        for number, key in enumerate(keys)
    ]


def in_batch(pages: Sequence[Paragraphs], threshold: float, anchors: str = "punctuation") -> Keepers:
    """Longest code first, as in the paper; keepers by the pages' own numbers."""
    from benchmarks.peers.run import run_published  # needs the peers, which tests of this module need not

    check = FeatureCodeCheck(threshold, anchors=anchors)
    codes = [check.signature(Page(""), SymbolText.of(page)) or b"" for page in pages]
    order = sorted(range(len(pages)), key=lambda number: -len(codes[number]))
    matches = run_published(check, [pages[number] for number in order]).matches
    found: list[int | None] = [None] * len(pages)
    for place, keepers in enumerate(matches):
        for keeper in keepers:
            found[order[place]] = order[keeper]
    return found


def judged(some: Collection, found: Keepers) -> tuple[int, float, float]:
    """Duplicates, share of the pages, share of these that are right."""
    drops = [(number, keeper) for number, keeper in enumerate(found) if keeper is not None]
    right = sum(some.right(number, keeper) for number, keeper in drops)
    return len(drops), len(drops) / len(found), right / max(1, len(drops))


def table_1(data: Path) -> str:
    """Repeatability of edited pages over the page and back, for articles with a short second paragraph."""
    folder = data / "html" / "zh-articles" / "cleaned"
    articles = [paragraphs_of(path.read_text(encoding="utf-8", errors="replace")) for path in sorted(folder.iterdir())]
    middle = max((paragraph for article in articles for paragraph in article), key=len)[: 2 * UNIT]
    sums: dict[tuple[str, str], list[tuple[float, float]]] = {}
    for article in articles:
        lengths = [len(SymbolText.of((paragraph,)).symbols) for paragraph in article]
        if len(article) < 3 or lengths[1] >= UNIT:
            continue
        inside = [min(length, LOOKED_AT - sum(lengths[:place])) for place, length in enumerate(lengths)]
        kind = "with a unit" if max(inside) >= UNIT else "without"
        base = article + LINKS
        long = (*base[:1], LONG_TEXT[0] + middle + LONG_TEXT[1], *base[2:])
        for edit, edited in zip(EDITS, (article, long, (*base[:1], SHORT_TEXT, *base[2:])), strict=True):
            one, other = _code(base), _code(edited)
            sums.setdefault((edit, kind), []).append((repeatability(one, other), repeatability(other, one)))
    rows = []
    for edit, paper in zip(EDITS, PAPER_1, strict=True):
        cells = []
        for kind in ("with a unit", "without"):
            cells += [f"{statistics.mean(column):.2f}" for column in zip(*sums[edit, kind], strict=True)]
        rows.append((edit, *paper, *cells))
    counts = [len(sums[EDITS[0], kind]) for kind in ("with a unit", "without")]
    head = ["A′", "the paper: S_AA′", "S_A′A"]
    for kind, count in zip(("with a unit", "without one"), counts, strict=True):
        head += [f"{count} articles {kind}: S_AA′", "S_A′A"]
    return table(head, rows)


def _code(page: Paragraphs) -> str:
    text = SymbolText.of(page)
    return "".join(text.symbols[place] for place in feature_code(text, CodeRules("words", UNIT, 0.75, LOOKED_AT)))


def table_2(some: Collection) -> str:
    """Five ways to find duplicates."""
    check = FeatureCodeCheck()
    ways: dict[str, tuple[str, Callable[[], Keepers]]] = {
        "I": ("equal titles", lambda: equal([title or None for title in some.titles])),
        "II": ("MD5 of the content", lambda: equal([_md5(content) for content in some.contents])),
        "III": (
            "MD5 of the purified page",
            lambda: equal([_md5("".join(SymbolText.of(p).symbols)) for p in some.pages]),
        ),
        "IV": ("equal codes", lambda: equal([check.signature(Page(""), SymbolText.of(page)) for page in some.pages])),
        "V": ("repeatability >= .75", lambda: in_batch(some.pages, 0.75)),
        "V, words": ("V with 的 and the like as anchors", lambda: in_batch(some.pages, 0.75, anchors="words")),
    }
    rows: list[Sequence[object]] = []
    for number, (name, way) in ways.items():
        paper = PAPER_2.get(number, ("–",) * 5)
        if number == "I" and not some.titles:
            continue
        begin = time.process_time()
        found = way()
        spent = time.process_time() - begin
        count, share, precision = judged(some, found)
        rows.append((number, name, *paper[1:], f"{count:,}", f"{share:.2%}", f"{precision:.2%}", f"{spent:.1f}"))
    head = (
        "",
        "duplicates by",
        "the paper: found",
        "rate",
        "precision",
        "s",
        "here: found",
        "rate",
        "precision",
        "CPU s",
    )
    return table(head, rows)


def _md5(text: str) -> bytes:
    return hashlib.md5(text.encode("utf-8", "surrogatepass"), usedforsecurity=False).digest()


def table_3(some: Collection) -> str:
    """The paper's method against codes at full stops."""
    by_m2, effective = m2(some.pages)
    found = {
        "M1": (in_batch(some.pages, 0.75), len(some.pages)),
        "M2": (by_m2, effective),
        "M3": (equal([feature_string(page) for page in some.pages]), len(some.pages)),
    }
    rows: list[Sequence[object]] = []
    for name, (keepers, count) in found.items():
        dropped, share, precision = judged(some, keepers)
        bulletins = [keepers[number] is not None for number in some.bulletins]
        lost = f"{statistics.mean(bulletins):.1%}" if bulletins else "–"
        rows.append((name, *PAPER_3[name], f"{count:,}", f"{dropped:,}", f"{share:.2%}", f"{precision:.2%}", lost))
    head = (
        *("", "the paper: effective", "found", "rate", "precision"),
        *("here: effective", "found", "rate", "precision", "bulletins dropped"),
    )
    return table(head, rows)


def table_4(collections: Sequence[Collection], figure: Path) -> str:
    """Thresholds of the repeatability."""
    rows: list[Sequence[object]] = []
    lines: dict[str, list[tuple[float, float]]] = {some.name: [] for some in collections}
    for threshold, (rate, right) in zip(THRESHOLDS, PAPER_4, strict=True):
        cells: list[str] = []
        for some in collections:
            count, share, precision = judged(some, in_batch(some.pages, threshold))
            cells += [f"{count:,}", f"{share:.2%}", f"{precision:.2%}"]
            lines[some.name].append((share, precision))
        rows.append((f"{threshold:.2f}", f"{rate:.2f} %", f"{right:.2f} %", *cells))
    lines["the paper"] = [(rate / 100, right / 100) for rate, right in PAPER_4]
    from benchmarks.plots import plt  # tests need none

    panels, axes = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
    for name, points in lines.items():
        for axis, values in zip(axes, zip(*points, strict=True), strict=True):
            axis.plot(THRESHOLDS, values, marker="o", label=name)
    for axis, label in zip(axes, ("share of the pages that is removed", "precision of these"), strict=True):
        axis.set_xlabel("repeatability threshold δ")
        axis.set_ylabel(label)
        axis.grid(alpha=0.3)
    axes[0].legend()
    panels.savefig(figure, dpi=100)
    plt.close(panels)
    head = ["δ", "the paper: rate", "precision"]
    for some in collections:
        head += [f"{some.name}: found", "rate", "precision"]
    return table(head, rows)


def main() -> None:
    data, figures = folders(__doc__, "text/, html/ and crawls/")
    show("Table I", table_1(data))
    both = crawl(data), planted(data)
    for some in both:
        show(f"{some.name}: {len(some.pages):,} pages of {MIN_CODE} symbols or more", table_2(some), table_3(some))
    show("Table IV", table_4(both, figures / "feature-code-threshold.png"))


if __name__ == "__main__":
    main()
