"""Start as many `scrapy crawl news` as you like, on as many machines; all need REDIS_URL."""

import os

REDIS_URL = os.environ.get("REDIS_URL", "redis://localhost:6379/0")

BOT_NAME = "news"
SPIDER_MODULES = ["news.spiders"]

# The queue of requests and the set of those seen, for all workers.
SCHEDULER = "dedupcrawl.shared_queue.scheduler.Scheduler"  # scrapy-redis's; loses nothing when a worker or Redis dies
SCHEDULER_PERSIST = True  # or the first worker that is done empties the queue of the others
DUPEFILTER_CLASS = "scrapy_redis.dupefilter.RFPDupeFilter"
MAX_IDLE_TIME_BEFORE_CLOSE = 5

# What is kept, for all workers. Those of one DEDUP_RUN compare their pages with each other.
ADDONS = {"dedupcrawl.Addon": 500}
DEDUP_INDEX = f"{REDIS_URL}{'&' if '?' in REDIS_URL else '?'}prefix=news"
DEDUP_RUN = os.environ.get("CRAWL", "first")

# Each worker has a feed of its own; in all of them together each text stands once.
FEEDS = {os.environ.get("FEED", "items-%(time)s.jsonl"): {"format": "jsonlines"}}
