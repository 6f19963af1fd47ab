"""`scrapy` with workers that are soon taken for dead."""

from __future__ import annotations

import sys

from scrapy.cmdline import execute

from dedupcrawl.index import redis_leases
from dedupcrawl.shared_queue import queue

if __name__ == "__main__":
    redis_leases.LIFE_SECONDS = 2.0
    queue.LIFE_SECONDS = 4.0
    execute(["scrapy", *sys.argv[1:]])
