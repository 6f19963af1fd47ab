"""An example: several workers on one queue (scrapy-redis) and one index (dedupcrawl)."""
