"""Drop the pages that a Scrapy crawl already has, before the fetch and after it."""
