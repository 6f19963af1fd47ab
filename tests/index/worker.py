"""A process that offers pages: ``python -m tests.index.worker FOLDER NAME SEED CONTENTS``; or the URL of a Redis.

Prints "kept ID CONTENT" once a page is acknowledged, and "duplicate CONTENT" else.
"""

from __future__ import annotations

import random
import sys
from pathlib import Path

from dedupcrawl.index import journal, segment
from dedupcrawl.index.lmdb import LmdbIndex
from dedupcrawl.index.redis import RedisIndex
from dedupcrawl.index.steps import Kept
from tests.index.toys import CHECKS, offer, page

BATCH = 16


def main(folder: str, name: str, seed: str, contents: str) -> None:
    segment.FAN_OUT, journal.FIRST_MAP_BYTES = 2, 1 << 18
    index: LmdbIndex | RedisIndex
    if folder.startswith("redis:"):
        index = RedisIndex(folder, CHECKS, batch_pages=BATCH, wait=60)
    else:
        index = LmdbIndex(Path(folder), CHECKS, batch_pages=BATCH)
    print("open", flush=True)
    sys.stdin.readline()  # all start at once
    order = list(range(1, int(contents) + 1))
    random.Random(int(seed)).shuffle(order)
    for content in order:
        entry = page(f"http://{name}/{content}", content)
        answer = offer(index, entry)
        print(f"kept {answer.page_id} {content}" if isinstance(answer, Kept) else f"duplicate {content}", flush=True)
    index.close()
    print("done", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
