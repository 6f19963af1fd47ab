"""Make contrast pairs of real pages, or judge some with today's product.

    python -m benchmarks.contrast SOURCE… --seed N --out FILE.jsonl[.xz] [--each 4] [--data DIR] [--cache DIR]
    python -m benchmarks.contrast --score FILE.jsonl[.xz] [--rows FILE.tsv]

A SOURCE is guide, handbook or messages (downloaded once, eleven languages), a crawl, mirror or set of pairs of the test
data (uci, eaglecraft.fr, bbc), or a file of rows with url and html, or url, title and text. A line that is written is
{"kind": "site", "id", "pages"}, other pages of a site, as in a file of cases, or a pair: id, language, kind, source,
new, kept; label ("same": `new` may be dropped for `kept`); direction (which of the two the edit made); what (differs);
added (a sentence was added to both for it); slots (the clock, counter and advertisement of the page differ, too); site
("": the pair stands alone).
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import tempfile
from collections import Counter
from pathlib import Path

from benchmarks.contrast.making import made
from benchmarks.contrast.score import score
from benchmarks.contrast.sources import sites
from benchmarks.texts import DEFAULT_DATA, opened


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sources", nargs="*", metavar="SOURCE")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--each", type=int, default=4, help="pairs of a kind for each site")
    parser.add_argument("--out", type=Path)
    parser.add_argument("--data", type=Path, default=DEFAULT_DATA)
    parser.add_argument("--cache", type=Path, default=Path(tempfile.gettempdir(), "contrast-cache"))
    parser.add_argument("--score", type=Path, metavar="FILE", help="judge these pairs")
    parser.add_argument("--rows", type=Path, help="with --score: one line a pair, with its probability")
    given = parser.parse_args()
    if given.score:
        score(given.score, given.rows)
        return
    if not (given.sources and given.out):
        parser.error("it takes SOURCE and --out, or --score")
    with opened(given.out, "wt") as out:
        for source in given.sources:
            chance = random.Random(f"{given.seed} {source}")  # a source's pairs do not hang on the others
            try:
                for site in sites(source, given.data, given.cache, chance):
                    counts: Counter[str] = Counter()
                    for row in made(site, given.each, chance):
                        out.write(json.dumps(row, ensure_ascii=False) + "\n")
                        counts[row.get("label", "context")] += 1
                    print(f"{site.name}: {len(site.originals)} pages, {counts['same']} same, {counts['other']} other")
            except FileNotFoundError as error:
                sys.exit(str(error))


if __name__ == "__main__":
    main()
