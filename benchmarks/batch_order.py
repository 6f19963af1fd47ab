"""`dedupcrawl check --order batch` over many pages: seconds, and the memory that it takes.

    python -m benchmarks.batch_order [--data DIR] [--pages 50000 200000]

Pages are made up of real ones: some paragraphs of any of them, three words in ten replaced by others, so that every
page has a text of its own. One in ten is a near copy of one of the last thousand: 5 % of its words edited, an excerpt
of 40 %, or cut to 70 %. They are of 2,000 sites and lie in a JSON Lines file. The command runs with its defaults, in a
process of its own with its index and its sorted runs in temporary files. Memory is the highest seen, of two kinds:
what the process has for itself, and what it has mapped of the index's files, which the system may take back.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections import deque
from collections.abc import Iterator
from pathlib import Path

from benchmarks.planted import Paragraphs, cut, edited, excerpt, head, replaced, words
from benchmarks.planted_cases import originals
from benchmarks.texts import data_folder

SITES = 2_000
WORDS = 60, 450
REPLACED = 0.3
COPIES = 0.1
REMEMBERED = 1_000  # pages, of which copies are made
POLL_SECONDS = 0.5


def made_up(data: Path, count: int) -> Iterator[tuple[Paragraphs, bool]]:
    """Pages, and whether each is a near copy of an earlier one."""
    chance = random.Random(13)
    real = [page for name, page in originals(data, "tune", chance).items() if name.startswith("en")]
    pool = [paragraph for page in real for paragraph in page]
    vocabulary = [word for page in real for word in words(page)]
    last: deque[Paragraphs] = deque(maxlen=REMEMBERED)
    for _ in range(count):
        copied = bool(last) and chance.random() < COPIES
        if copied:
            page = chance.choice(last)
            ways = (edited(page, 0.05, vocabulary, chance), excerpt(page, 0.4, chance), cut(page, 0.7))
            yield chance.choice(ways), True
        else:
            page = head(tuple(chance.choices(pool, k=60)), chance.randint(*WORDS))
            page = replaced(page, REPLACED, vocabulary, chance)
            last.append(page)
            yield page, False


def write(path: Path, data: Path, count: int) -> int:
    """Write the pages; how many are near copies."""
    copies = 0
    with path.open("w", encoding="utf-8") as out:
        for number, (page, copied) in enumerate(made_up(data, count)):
            url = f"https://www.site{number % SITES}.example/{number}"
            out.write(json.dumps({"url": url, "text": "\n".join(page)}, ensure_ascii=False) + "\n")
            copies += copied
    return copies


def measured(command: list[str]) -> tuple[float, float, int, int]:
    """Run a command: wall seconds, CPU seconds of all that were run, most bytes of memory of its own and of files."""
    started, own, mapped = time.perf_counter(), 0, 0
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    status = Path("/proc", str(process.pid), "status")
    while process.poll() is None:
        fields = dict(line.split(":", 1) for line in status.read_text().splitlines())
        if "RssAnon" in fields:  # it is not ending
            own = max(own, int(fields["RssAnon"].split()[0]) << 10)
            mapped = max(mapped, int(fields["RssFile"].split()[0]) << 10)
        time.sleep(POLL_SECONDS)
    if process.returncode:
        sys.exit(f"check failed with {process.returncode}")
    used = os.times()
    return time.perf_counter() - started, used.children_user + used.children_system, own, mapped


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", help="folder of test data that holds text/")
    parser.add_argument("--pages", type=int, nargs="+", default=[50_000, 200_000])
    given = parser.parse_args()
    data = data_folder(given.data)
    print("| pages | MB | near copies | dropped | wall s | CPU s | ms of CPU a page | MB of its own | MB mapped |")
    print("| ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
    before = 0.0
    with tempfile.TemporaryDirectory(prefix="batch-order-") as folder:
        pages, verdicts = Path(folder, "pages.jsonl"), Path(folder, "verdicts.jsonl")
        for count in given.pages:
            copies = write(pages, data, count)
            check = [sys.executable, "-m", "dedupcrawl.cli", "check", str(pages), "--order", "batch"]
            wall, used, own, mapped = measured([*check, "--output", str(verdicts)])
            cpu, before = used - before, used
            with verdicts.open(encoding="utf-8") as rows:
                dropped = sum(json.loads(row)["verdict"] == "duplicate" for row in rows)
            print(
                f"| {count:,} | {pages.stat().st_size / 1e6:,.0f} | {copies:,} | {dropped:,} | {wall:,.0f} "
                f"| {cpu:,.0f} | {1e3 * cpu / count:.2f} | {own / 1e6:,.0f} | {mapped / 1e6:,.0f} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
