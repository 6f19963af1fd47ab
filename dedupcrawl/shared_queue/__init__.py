"""scrapy-redis's scheduler, changed so that it loses no requests. Projects name it as their SCHEDULER."""

from dedupcrawl.crawl.failures import cannot_start
from dedupcrawl.extras import missing

if lacking := missing("scrapy-redis"):
    raise cannot_start(ImportError(f"this scheduler {lacking}."))
