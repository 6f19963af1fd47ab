"""What it takes to read pages of HTML and to sign them: microseconds or instructions a page, of one version or of two.

    python -m benchmarks.reading_speed [SITE…] [--pages 200] [--against CHECKOUT] [--instructions]

    read    from the body to what is known of the page, but for its headings and anchors
    four    read, and signed by exact, simhash, shingles and title
    default read with its headings and anchors, and signed by the default checks

Pages are signed knowing what their site repeats, which was learned from all of them before. With --against the code of
another checkout does the same: two processes that take turns, 20 pages each, so that what else the machine does
meanwhile slows both down alike. Of each turn the quickest of three runs counts; × is how much longer the other takes,
the median of all turns. With --instructions callgrind counts what a page takes: all pages less the first quarter.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from importlib import import_module
from itertools import product
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from benchmarks.instructions import hand_back, handed_over, is_counting, per_page, start_again
from benchmarks.replay.store import load, sites
from benchmarks.texts import data_folder

SITES = ("uci", "nankai")
FOUR = ("exact", "simhash", "shingles", "title")
DEFAULT = (*FOUR, "feature_code", "mwo")
WAYS: Mapping[str, Sequence[str]] = {"read": (), "four": FOUR, "default": DEFAULT}  # name → checks that sign
PAGES = 200
TURN = 20  # pages
RUNS = 3

_CODE = "BENCHMARKS_READING_CODE"  # the checkout whose package is measured


class Html(NamedTuple):
    """A page as a crawl stored it, decoded."""

    url: str
    text: str


class Code(NamedTuple):
    """How a version of the package reads and signs.

    Attributes:
        read: Body in UTF-8, URL, whether headings and the like are wanted → what is known of the page.
        learn: What was read of a site's pages → what the site repeats.
        sign: What was read of a page, what its site repeats, names of checks → signatures.
    """

    read: Callable[[bytes, str, bool], Any]
    learn: Callable[[Sequence[Any]], Any]
    sign: Callable[[Any, Any, Sequence[str]], Any]


def measured_code() -> Code:
    """The code that is to be measured: that of this checkout, or of the one that the environment names."""
    if os.environ.get(_CODE):
        sys.path.insert(0, os.environ[_CODE])
        import dedupcrawl  # its modules are found where it is from now on

        assert dedupcrawl.__file__ is not None
        assert Path(dedupcrawl.__file__).is_relative_to(os.environ[_CODE]), dedupcrawl.__file__
        del sys.path[0]
    return _by_analysis()


def _by_analysis() -> Code:
    """This version, and 0.2."""
    from dedupcrawl.content.checks.registry import make_checks
    from dedupcrawl.content.html import extract
    from dedupcrawl.detection.analysis import Analysis, Reading

    made = {tuple(names): make_checks(names, {}) for names in WAYS.values()}

    try:
        template_module, name = import_module("dedupcrawl.core.template"), "Template"
    except ImportError:
        template_module, name = import_module("dedupcrawl.content.furniture"), "Furniture"

    def learn(pages: Sequence[Any]) -> Any:
        template = getattr(template_module, name)()
        for page in pages:
            if template.is_new(page.title):
                read: Any = Analysis(page)
                if name == "Template":
                    read.learn(template, page.title)
                else:
                    template.add(read.hashes, page.title)
        return template

    return Code(
        read=lambda body, url, fields: extract(body, url, encoding="utf-8", fields=fields),
        learn=learn,
        sign=lambda page, furniture, names: Reading.of(Analysis(page), furniture).signatures(made[tuple(names)]),
    )


class Cost(NamedTuple):
    """Of a page: what it takes by each code, and by the last as a multiple of the first."""

    each: Sequence[float]
    ratio: float


class Work:
    """The pages, and the code that reads and signs them."""

    def __init__(self, pages: Sequence[Html]) -> None:
        self._code = measured_code()
        self._pages = [(page.text.encode(), page.url, urlsplit(page.url).netloc) for page in pages]
        of_host = defaultdict(list)
        for body, url, host in self._pages:
            of_host[host].append(self._code.read(body, url, False))
        self._repeated = {host: self._code.learn(read) for host, read in of_host.items()}

    def __call__(self, way: str, begin: int, end: int) -> float:
        """Read some pages, and sign them; seconds of CPU."""
        (read, _, sign), checks, repeated = self._code, WAYS[way], self._repeated
        started = time.process_time()
        for body, url, host in self._pages[begin:end]:
            facts = read(body, url, "mwo" in checks)
            if checks:
                sign(facts, repeated[host], checks)
        return time.process_time() - started


@contextmanager
def worker(code: str, pages: Sequence[Html]) -> Iterator[Callable[[str, int, int], float]]:
    """`Work` as a process of its own, which measures the code of a checkout; empty: of this one."""
    command = [sys.executable, "-m", "benchmarks.reading_speed", "--work"]
    environment = {**os.environ, _CODE: code}
    process = subprocess.Popen(command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    with process:
        assert process.stdin is not None
        assert process.stdout is not None
        given, answers = process.stdin, process.stdout

        def ask(*asked: Any) -> float:
            print(json.dumps(asked), file=given, flush=True)
            return float(answers.readline())

        print(json.dumps(pages), file=given, flush=True)
        yield ask
        given.close()


def work() -> None:
    """Be a worker: on stdin the pages, then a turn a line; on stdout its seconds."""
    do = Work([Html(*page) for page in json.loads(sys.stdin.readline())])
    for line in sys.stdin:
        print(do(*json.loads(line)), flush=True)


def timed(pages: Sequence[Html], codes: Sequence[str]) -> dict[str, Cost]:
    """What each way takes by each code, and the median ratio of two that took the same turn."""
    spent = defaultdict(list)  # way, code and turn → seconds of each run
    with ExitStack() as workers:
        asked = [workers.enter_context(worker(code, pages)) for code in codes]
        turns = range(0, len(pages), TURN)
        for begin, way, number in [*product(turns, WAYS, range(len(codes)))] * RUNS:
            spent[way, number, begin].append(asked[number](way, begin, begin + TURN))
    found = {}
    for way in WAYS:
        each = [1e6 / len(pages) * sum(min(spent[way, code, turn]) for turn in turns) for code in range(len(codes))]
        ratios = [
            b / a for turn in turns for a, b in zip(spent[way, 0, turn], spent[way, len(codes) - 1, turn], strict=True)
        ]
        found[way] = Cost(each, median(ratios))
    return found


def counted(pages: Sequence[Html]) -> dict[str, float]:
    """Way → instructions a page, in a process that runs under callgrind."""
    do, few = Work(pages), len(pages) // 4
    return {way: per_page(partial(do, way, 0), few, len(pages)) for way in WAYS}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sites", nargs="*", metavar="SITE", default=SITES, help="stored crawls [uci nankai]")
    parser.add_argument("--data", help="folder of test data that holds crawls/")
    parser.add_argument("--pages", type=int, default=PAGES, help="of each, spread over the crawl [%(default)s]")
    parser.add_argument("--against", metavar="CHECKOUT", help="a checkout, compiled, whose code does the same")
    parser.add_argument("--instructions", action="store_true", help="count instructions in place of microseconds")
    parser.add_argument("--work", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.work:
        work()
        return
    if is_counting():
        hand_back([counted([Html(*page) for page in pages]) for pages in handed_over()])
        return
    known = sites(data_folder(given.data))
    if unknown := set(given.sites) - set(known):
        parser.error(f"no stored crawl {', '.join(sorted(unknown))}; there are {', '.join(known)}")
    samples = [sampled(known[site], given.pages) for site in given.sites]
    codes = ["", *([str(Path(given.against).resolve())] if given.against else [])]
    if given.instructions:
        runs = zip(*(start_again(samples, {_CODE: code}) for code in codes), strict=True)
        counts = [{way: [found[way] / 1e6 for found in of_site] for way in WAYS} for of_site in runs]
        costs = [{way: Cost(each, each[-1] / each[0]) for way, each in found.items()} for found in counts]
    else:
        costs = [timed(pages, codes) for pages in samples]
    unit = "million instructions" if given.instructions else "µs"
    for site, pages, found in zip(given.sites, samples, costs, strict=True):
        print(f"| {site}, {len(pages)} pages | {unit} a page |" + (" the other | × |" if given.against else ""))
        print("| --- | ---: |" + (" ---: | ---: |" if given.against else ""))
        for way, cost in found.items():
            cells = [f"{each:.4g}" for each in cost.each] + ([f"{cost.ratio:.2f}"] if given.against else [])
            print(f"| {way} | {' | '.join(cells)} |")


def sampled(path: Path, count: int) -> list[Html]:
    """So many pages of a stored crawl, evenly spread."""
    pages = load(path)
    chosen = pages[:: max(1, len(pages) // count)][:count]
    return [Html(page.url, page.body.decode("utf-8", "replace")) for page in chosen]


if __name__ == "__main__":
    main()
