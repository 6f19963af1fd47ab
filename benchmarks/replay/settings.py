"""Settings of the replaying crawl: Scrapy defaults, at the speed of the loopback. Dedup is added from outside."""

BOT_NAME = "replay"
SPIDER_MODULES = ["benchmarks.replay.spider"]
DOWNLOAD_HANDLERS = {
    "http": "benchmarks.replay.components.ReplayHandler",
    "https": "benchmarks.replay.components.ReplayHandler",
}
EXTENSIONS = {"benchmarks.replay.components.StoredOnly": 0, "benchmarks.replay.components.Figures": 0}
TELNETCONSOLE_ENABLED = False
REMOTE_CONTROL_ENABLED = False
DOWNLOAD_DELAY = 0
CONCURRENT_REQUESTS_PER_DOMAIN = 16
LOG_LEVEL = "INFO"
