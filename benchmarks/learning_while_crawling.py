"""What a crawl that learns as it goes saves in its second half, beside rules that were trained on its first half.

    python -m benchmarks.learning_while_crawling [SITE…] [--pages N]

A stored site is crawled without rules: that crawl's log is cut in two. Rules trained on the first half would save in
the second half every fetch of a URL whose canonical form was met before. The same site is then crawled with
DEDUP_LEARN and no rules to start with: what of the second half it has not fetched, it has saved. A page is lost when
none of the URLs with its main text was fetched. The site answers at most so many requests a second as a real one may:
a loopback server would be done before the first training run is.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.replay.run import Run, Server, crawl
from benchmarks.replay.store import DATA, NoDataError, load, sample, sites
from dedupcrawl.urls.normalizer import Normalizer


@dataclass(frozen=True, slots=True)
class Row:
    """A response of the crawl log."""

    url: str
    text_digest: str


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sites", nargs="*", metavar="SITE", help="names of stored crawls; none: list them")
    parser.add_argument("--data", type=Path, default=DATA, help="the folder of real crawls")
    parser.add_argument("--pages", type=int, default=4_000, help="whole sections of a site up to so many [%(default)s]")
    parser.add_argument("--rate", type=float, default=40, help="requests a second [%(default)s]")
    arguments = parser.parse_args()
    try:
        known = sites(arguments.data)
    except NoDataError as error:
        print(error, file=sys.stderr)
        return 2
    if not arguments.sites:
        print("\n".join(known))
        return 0
    print(
        "| site | fetched | of these redundant | second half: saved offline | saved learning | share"
        " | runs | texts lost | redundancy saved |"
    )
    print("| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
    for name in arguments.sites:
        with tempfile.TemporaryDirectory(prefix="learning-") as folder:
            print(_measured(name, known[name], arguments, Path(folder)), flush=True)
    return 0


def _measured(name: str, path: Path, arguments: argparse.Namespace, folder: Path) -> str:
    pages = sample(load(path), arguments.pages)
    urls = folder / "urls.txt"
    urls.write_text("".join(f"{page.url}\n" for page in pages), encoding="utf-8")
    addon = {
        "ADDONS": {"dedupcrawl.Addon": 500},
        "DEDUP_RULES": str(_made(folder / "rules")),
        "DOWNLOAD_DELAY": 1 / arguments.rate,
        "RANDOMIZE_DOWNLOAD_DELAY": False,
    }
    with Server(path, arguments.pages) as port:
        plain = crawl(urls, port, folder / "plain", {**addon, "DEDUP_URL_MODE": "off"})
        learning = crawl(urls, port, folder / "learning", {**addon, "DEDUP_LEARN": True})
    rows, learned = _rows(plain), _rows(learning)
    half = len(rows) // 2
    offline = _saved(rows[:half], rows[half:], folder)
    fetched = {row.url for row in learned}
    saved = sum(row.url not in fetched for row in rows[half:])
    texts = {row.text_digest for row in rows if row.text_digest}
    lost = len(texts - {row.text_digest for row in learned})
    redundant = len(rows) - len(texts) - sum(not row.text_digest for row in rows)
    not_fetched = sum(row.url not in fetched for row in rows)
    share = f"{saved / offline:.2f}" if offline else "–"
    runs = learning.stats.get("dedup/learn/runs", 0)
    return (
        f"| {name} | {len(rows):,} | {redundant:,} | {offline:,} | {saved:,} | {share} | {runs}"
        f" | {lost} | {not_fetched / max(1, redundant):.2f} |"
    )


def _made(folder: Path) -> Path:
    folder.mkdir()
    return folder


def _rows(run: Run) -> list[Row]:
    """The pages of a crawl in the order in which they were fetched, each URL once."""
    found: dict[str, Row] = {}
    with (run.folder / ".scrapy" / "dedup" / "crawl-log.jsonl").open(encoding="utf-8") as lines:
        for line in lines:
            row = json.loads(line)
            if row["status"] == 200:
                found.setdefault(row["url"], Row(row["url"], row.get("text_digest", "")))
    return list(found.values())


def _saved(first: Sequence[Row], second: Sequence[Row], folder: Path) -> int:
    """Fetches of the second half that rules trained on the first half would save."""
    log, rules = folder / "first.jsonl", folder / "offline"
    log.write_text(
        "".join(json.dumps({"url": row.url, "status": 200, "text_digest": row.text_digest}) + "\n" for row in first),
        encoding="utf-8",
    )
    trained = subprocess.run(
        [sys.executable, "-m", "dedupcrawl.cli", "train", str(log), "--rules", str(rules)],
        check=False,
        capture_output=True,
        text=True,
    )
    if not rules.exists():  # a half of which nothing can be learned
        print(trained.stderr, file=sys.stderr)
        return 0
    normalizer = Normalizer.from_paths([rules])
    met = {normalizer.normalize(row.url).canonical for row in first}
    saved = 0
    for row in second:
        canonical = normalizer.normalize(row.url).canonical
        saved += canonical in met
        met.add(canonical)
    return saved


if __name__ == "__main__":
    sys.exit(main())
