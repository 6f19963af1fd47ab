"""Learned URL rules beside two papers' and the fixed canonicalizers, on the nineteen sites.

    python -m benchmarks.url_rules [SITE…] [--data DIR] [--seeds 0] [--levels 0.95] [--plot FILE.png]

Prints the report; --plot writes Figure 3 as well.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from benchmarks.texts import DEFAULT_DATA
from benchmarks.url_rules.comparison import DEFAULT_LEVEL, run_sites
from benchmarks.url_rules.data import site_paths
from benchmarks.url_rules.report import draw, markdown


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.url_rules", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("sites", nargs="*", metavar="SITE", help="names of sites; all by default")
    parser.add_argument(
        "--data", type=Path, default=DEFAULT_DATA, help="folder with mirrors/ and crawls/ (default: %(default)s)"
    )
    parser.add_argument("--seeds", type=int, nargs="+", default=[0], help="of the splits (default: 0)")
    parser.add_argument("--levels", type=float, nargs="+", default=[DEFAULT_LEVEL], help="precisions of Tables 3 and 4")
    parser.add_argument("--plot", type=Path, help="write Figure 3 here, e.g. docs/measured/url-rules-coverage.png")
    arguments = parser.parse_args()
    try:
        paths = site_paths(arguments.data, arguments.sites)
    except ValueError as error:
        parser.error(str(error))
    results = run_sites(paths, arguments.seeds, arguments.levels)
    if arguments.plot:
        draw(results, arguments.plot)
    print(markdown(results, arguments.plot and arguments.plot.name))
    return 0


if __name__ == "__main__":
    sys.exit(main())
