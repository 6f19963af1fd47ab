"""The Scrapy components: thin and asynchronous, without algorithms of their own."""
