"""URL strings only: tokenizing, rules, learning, the normalizer. Knows nothing of Scrapy, storage or content."""
