"""What crawls of a stored site save beside Scrapy alone: the first, the next ones, and one that learns as it goes.

    python -m benchmarks.saved_fetches SITE… [--pages N] [--rate R]

    alone   Scrapy without the add-on
    first   the add-on as it comes: no rules, no log, an empty index
    second  the add-on with the rules that `train` learned from the log of the first
    learn   the add-on with DEDUP_LEARN
    again   a later crawl with index, log and rules of the first, which updates what that one kept

A page is what its main text says, by an extractor that was written for its site (`text_sha1` of the stored mirror).
Those with next to no text do not count. A fetch is redundant when an earlier one of the same crawl had its text. Saved
is the share of the redundant fetches of Scrapy alone that a crawl does not make, and beside it the same without the
trials of rules and aliases (dedup/url/tried). Lost are texts that only Scrapy alone has fetched, and then those that
only it has stored, and of which the crawl has none that is nearly the same (SimHash within 6 bits): the page at another
time. What `again` has stored are its own items and those of the first crawl.

A loopback server is done with a small site before a training run is, so the crawl that learns is slowed down (--rate).
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.replay.run import Run, Server, crawl, item_urls
from benchmarks.replay.store import NoDataError, address, load, sample, sites, table_of
from benchmarks.texts import DEFAULT_DATA, table_rows
from benchmarks.url_rules.data import LEAST_WORDS

_NEAR = 6  # bits


class Text(NamedTuple):
    """The main text of a page."""

    digest: str
    simhash: int  # 0: none

    def is_near(self, other: Text) -> bool:
        """Whether both are one page at two times."""
        return bool(self.simhash and other.simhash) and (self.simhash ^ other.simhash).bit_count() <= _NEAR


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sites", nargs="*", metavar="SITE", help="names of stored mirrors; none: list them")
    parser.add_argument("--data", type=Path, default=DEFAULT_DATA, help="the folder of real crawls")
    parser.add_argument("--pages", type=int, help="only whole sections of a site, up to so many pages")
    parser.add_argument(
        "--rate", type=float, default=40, help="requests a second of the crawl that learns [%(default)s]"
    )
    arguments = parser.parse_args()
    try:
        known = {name: path for name, path in sites(arguments.data).items() if table_of(path).exists()}
    except NoDataError as error:
        print(error, file=sys.stderr)
        return 2
    if not arguments.sites:
        print("\n".join(known))
        return 0
    if unknown := set(arguments.sites) - set(known):
        parser.error(f"no stored mirror {', '.join(sorted(unknown))}; there are {', '.join(known)}")
    cell = "saved, without trials, lost, lost items"
    print(f"| site | fetched alone | redundant | first: {cell} | second | learn | again | more CPU, first |")
    print("| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
    for name in arguments.sites:
        with tempfile.TemporaryDirectory(prefix="saved-") as folder:
            print(_measured(name, known[name], arguments, Path(folder)), flush=True)
    return 0


def _measured(name: str, path: Path, arguments: argparse.Namespace, folder: Path) -> str:
    texts = _texts(table_of(path))
    pages, urls, learned = load(path), folder / "urls.txt", folder / "learned"
    stored = sample(pages, arguments.pages) if arguments.pages else pages
    urls.write_text("".join(f"{page.url}\n" for page in stored), encoding="utf-8")
    learned.mkdir()
    with Server(path, arguments.pages) as port:

        def run(mode: str, **settings: Any) -> Run:
            rules = shutil.copytree(learned, folder / f"rules of {mode}")  # crawls write into them
            addon = {"ADDONS": {"dedupcrawl.Addon": 500}, "DEDUP_RULES": str(rules)}
            return crawl(urls, port, folder / mode, addon | settings)

        alone, first = crawl(urls, port, folder / "alone", {}), run("first")
        learn = run("learn", DEDUP_LEARN=True, DOWNLOAD_DELAY=1 / arguments.rate, RANDOMIZE_DOWNLOAD_DELAY=False)
        left = folder / "first" / ".scrapy" / "dedup"
        train = [sys.executable, "-m", "dedupcrawl.cli", "train", str(left / "crawl-log.jsonl")]
        subprocess.run([*train, "--rules", str(learned)], check=True, capture_output=True)
        second = run("second")
        again = run("again", DEDUP_INDEX=f"lmdb:{left / 'index'}", DEDUP_SCOPE="spider")
    redundant = _redundant(alone, texts)
    by_run = {"first": (first,), "second": (second,), "learn": (learn,), "again": (again, first)}
    shares = [_cell(runs, alone, texts, redundant) for runs in by_run.values()]
    cpu = f"{first.cpu_s / alone.cpu_s - 1:+.0%}"
    return f"| {name} | {len(alone.fetched):,} | {redundant:,} | {' | '.join(shares)} | {cpu} |"


def _texts(table: Path) -> dict[str, Text]:
    """Address → what its page says."""
    return {
        address(row["url"]): Text(row["text_sha1"], int(row.get("simhash64", "").strip("-") or "0", 16))
        for row in table_rows(table)
        if row.get("text_sha1", "-").strip("-") and int(row.get("n_words") or 0) >= LEAST_WORDS
    }


def _cell(runs: Sequence[Run], alone: Run, texts: Mapping[str, Text], redundant: int) -> str:
    """What the first of these runs saved and lost, and what none of them has stored."""
    run, made = runs[0], _redundant(runs[0], texts)
    trials = min(made, int(run.stats.get("dedup/url/tried", 0)))
    saved, without = (1 - count / max(1, redundant) for count in (made, made - trials))
    lost = _lost(run.fetched, alone.fetched, texts)
    lost_items = _lost([url for one in runs for url in item_urls(one)], item_urls(alone), texts)
    return f"{saved:.3f}, {without:.3f}, {lost}, {lost_items}"


def _redundant(run: Run, texts: Mapping[str, Text]) -> int:
    """Fetches of a crawl whose text an earlier one of its fetches had."""
    told = [texts[url].digest for url in map(address, run.fetched) if url in texts]
    return len(told) - len(set(told))


def _lost(urls: Iterable[str], alone: Iterable[str], texts: Mapping[str, Text]) -> int:
    """Texts that only Scrapy alone has, with none like them."""
    fetched, others = ({texts[url] for url in map(address, one) if url in texts} for one in (urls, alone))
    known = {text.digest for text in fetched}
    gone = {text.digest: text for text in others if text.digest not in known}.values()
    return sum(not any(text.is_near(other) for other in fetched) for text in gone)


if __name__ == "__main__":
    sys.exit(main())
