"""Content: extraction of text, checks and evidence. Independent of Scrapy, storage and URL rules."""
