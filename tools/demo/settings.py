"""Settings of the demo's Scrapy project: polite to foreign sites, and one line that turns dedup on."""

BOT_NAME = "dedupcrawl-demo"
SPIDER_MODULES = ["tools.demo.spiders"]

ADDONS = {"dedupcrawl.Addon": 500}

ROBOTSTXT_OBEY = True
AUTOTHROTTLE_ENABLED = True
DOWNLOAD_DELAY = 0.5
CONCURRENT_REQUESTS_PER_DOMAIN = 4
CLOSESPIDER_PAGECOUNT = 1000
DEPTH_LIMIT = 12  # levels: a trap has no end of its own

# Breadth first: what the front page links to is fetched before what lies deeper.
DEPTH_PRIORITY = 1
SCHEDULER_DISK_QUEUE = "scrapy.squeues.PickleFifoDiskQueue"
SCHEDULER_MEMORY_QUEUE = "scrapy.squeues.FifoMemoryQueue"

EXTENSIONS = {"tools.demo.spiders.StatsFile": 900}
LOG_LEVEL = "INFO"
FEED_EXPORT_ENCODING = "utf-8"
TELNETCONSOLE_ENABLED = False
