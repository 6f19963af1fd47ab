"""The spider."""

from scrapy_redis.spiders import RedisSpider


class News(RedisSpider):
    """Follows every link. It starts with what is pushed to the list news:start_urls, as {"url": "https://…"}."""

    name = "news"

    def parse(self, response):
        """One item a page."""
        yield {"url": response.url, "text": " ".join(response.css("article ::text").getall())}
        yield from response.follow_all(css="a")
