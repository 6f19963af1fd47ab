"""The Scrapy components: thin, asynchronous, no algorithm in them."""
