"""Learned URL rules beside two papers' and the fixed canonicalizers, on the seventeen sites.

    python -m benchmarks.url_rules [SITE…] [--data DIR] [--seeds 0 1 2] [--out FILE.md] [--plot FILE.png]

Prints the report; --out and --plot write it and Figure 3 as well.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import sys
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from rich.console import Console
from rich.progress import track

from benchmarks.url_rules import dasgupta, dust, ours
from benchmarks.url_rules.comparison import Method, SiteResult, compare
from benchmarks.url_rules.data import load, site_name, site_paths
from benchmarks.url_rules.fixed import fixed_canonicalizers
from benchmarks.url_rules.report import draw, markdown

METHODS = {
    "ours": Method(ours.learn, 0, anew=True),
    "Dasgupta": Method(dasgupta.learn, 2),
    "DUST": Method(dust.learn, 2),
}

WORKERS = 2

DATA = Path(__file__).resolve().parents[3] / "shared" / "data"


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.url_rules", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("sites", nargs="*", metavar="SITE", help="names of sites; all by default")
    parser.add_argument(
        "--data", type=Path, default=DATA, help="folder with mirrors/ and crawls/ (default: %(default)s)"
    )
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2], help="of the splits (default: 0 1 2)")
    parser.add_argument("--out", type=Path, help="write the report here, e.g. docs/url-rules.md")
    parser.add_argument("--plot", type=Path, help="write Figure 3 here, e.g. docs/url-rules-coverage.png")
    arguments = parser.parse_args()
    try:
        paths = site_paths(arguments.data, arguments.sites)
    except ValueError as error:
        parser.error(str(error))
    with ProcessPoolExecutor(WORKERS, mp_context=multiprocessing.get_context("spawn")) as processes:
        # The largest sites first, so that none of them is left for the end.
        order = sorted(paths, key=lambda path: -sum(file.stat().st_size for file in [path, *path.glob("*")]))
        runs = {path: processes.submit(run_site, path, arguments.seeds) for path in order}
        results = [runs[path].result() for path in track(paths, "sites", console=Console(stderr=True))]
    if arguments.plot:
        draw(results, arguments.plot)
    plot = arguments.plot and os.path.relpath(arguments.plot, arguments.out.parent if arguments.out else None)
    report = markdown(results, plot)
    print(report)
    if arguments.out:
        arguments.out.write_text(report, encoding="utf-8")
    return 0


def run_site(path: Path, seeds: Sequence[int]) -> SiteResult:
    """Everything that is measured on one site, in a process of its own."""
    return compare(site_name(path), load(path), METHODS, fixed_canonicalizers(), seeds)


if __name__ == "__main__":
    sys.exit(main())
