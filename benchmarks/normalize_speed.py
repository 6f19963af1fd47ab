"""What it takes to normalize URLs of sites by the rules that were learned of them, and what it takes to learn these.

    python -m benchmarks.normalize_speed [SITE…] [--against CHECKOUT]

Rules are learned from half of a site's pages, and the URLs of the other half are normalized, without what a normalizer
remembers of a URL. CPU microseconds a URL, the best of five turns; w3lib's canonicalize_url takes turns with it. With
--against the package of another checkout does the same with the same URLs, in a process of its own.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from w3lib.url import canonicalize_url

from benchmarks.markdown import table
from benchmarks.texts import data_folder
from benchmarks.url_rules.data import load, site_name, site_paths, split
from benchmarks.url_rules.method import Row

SITES = ("www.smullinsupply.com", "awesomewm.org", "wiki.unrealengine.com")
ROOT = Path(__file__).resolve().parents[1]
MOST = 5_000  # URLs of a site that are normalized
TURNS = 5


class Speed(NamedTuple):
    """CPU seconds to learn, number of rules, CPU microseconds a URL to normalize it and to canonicalize it by w3lib."""

    learning: float
    rules: float
    ours: float
    w3lib: float


def measured(train: Sequence[Row], urls: Sequence[str]) -> Speed:
    """Learn from pages, then normalize URLs."""
    from benchmarks.url_rules.ours import learn
    from dedupcrawl.urls.normalizer import SiteNormalizer
    from dedupcrawl.urls.rule_files import SiteRules

    begin = time.process_time()
    rules = learn(train, 0.95).rules
    learning = time.process_time() - begin
    normalizer = SiteNormalizer(SiteRules(rules[0].site, tuple(own.rule for own in rules)))
    best = [float("inf"), float("inf")]
    for turn in range(2 * TURNS):
        one = (normalizer.normalize, canonicalize_url)[turn % 2]
        begin = time.process_time()
        for url in urls:
            one(url)
        best[turn % 2] = min(best[turn % 2], time.process_time() - begin)
    return Speed(learning, len(rules), *(1e6 * seconds / len(urls) for seconds in best))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sites", nargs="*", metavar="SITE", default=SITES, help=f"mirrors [{' '.join(SITES)}]")
    parser.add_argument("--data", help="folder of test data that holds mirrors/")
    parser.add_argument("--against", type=Path, metavar="CHECKOUT", help="a checkout, compiled, that does the same")
    parser.add_argument("--work", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.work:
        sys.path.insert(0, given.work)  # nothing of the package has been imported yet
        print(json.dumps(measured(*json.load(sys.stdin))))
        return
    rows = []
    for path in site_paths(data_folder(given.data), given.sites):
        train, test = split(load(path), seed=0)
        work = json.dumps([train, [url for url, _ in test][:MOST]])
        for name, code in [("here", ROOT), ("the other", given.against)][: 1 + bool(given.against)]:
            found = Speed(*_in_checkout(code, work))
            ratio = f"{found.ours / found.w3lib:.2f}"
            cells = (f"{found.learning:.1f}", f"{found.rules:.0f}", f"{found.ours:.1f}", f"{found.w3lib:.1f}", ratio)
            rows.append((site_name(path), name, *cells))
    print(table(("site", "code", "to learn, s", "rules", "µs a URL", "w3lib, µs", "ratio"), rows))


def _in_checkout(code: Path, work: str) -> list[float]:
    """Of a process with the package of this checkout."""
    command = [sys.executable, "-m", "benchmarks.normalize_speed", "--work", str(code.resolve())]
    run = subprocess.run(command, cwd=ROOT, input=work, stdout=subprocess.PIPE, text=True, check=True)
    return list(json.loads(run.stdout))


if __name__ == "__main__":
    main()
