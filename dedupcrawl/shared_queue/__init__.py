"""scrapy-redis's scheduler, changed to lose nothing: a project names it as its SCHEDULER; no other code imports it."""

from dedupcrawl.crawl.failures import cannot_start
from dedupcrawl.extras import missing

if lacking := missing("scrapy-redis"):
    raise cannot_start(ImportError(f"this scheduler {lacking}."))
