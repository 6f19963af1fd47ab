"""Text and signatures only: extraction, symbols, checks. Knows nothing of Scrapy, storage or URL rules."""
