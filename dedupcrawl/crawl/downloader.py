"""Downloader middlewares: rewrite requests, fetch the original URL if a canonical one leads nowhere, log answers."""

from __future__ import annotations

from urllib.parse import urljoin

from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.exceptions import IgnoreRequest, NotConfigured
from scrapy.http import Response
from scrapy.http.request import NO_CALLBACK
from w3lib.url import safe_url_string

from dedupcrawl.crawl.extension import Component
from dedupcrawl.crawl.failures import log_failure
from dedupcrawl.crawl.request_meta import (
    CANONICAL,
    LOGGED,
    ORIGINAL_URL,
    POSTED,
    TRIAL,
    AlreadyFetchedError,
    is_for_spider,
    without_fragment,
)
from dedupcrawl.sites import host_of


class UrlMiddleware(Component):
    """Applies the rules to requests of other middlewares, pipelines and redirects, after the offsite filter.

    A request that is returned goes back to the scheduler, whose duplicate filter then knows its canonical URL.
    """

    async def process_response(self, request: Request, response: Response) -> Request | Response:
        self._dedup.refetches.answered(request, response)
        page = self._dedup.parts.pages.of(response, request)
        if self._dedup.software is not None:
            self._dedup.falls.fall((), self._dedup.software.look(page, response))
        if request.method != "GET":  # the answer to a POST says nothing about the page that a GET would fetch
            return response
        aliases, rewriter = self._dedup.aliases, self._dedup.rewriter
        if (stated := aliases.stated(request, response, page)) is not None:
            for named, source in aliases.instead(without_fragment(response.url), stated):
                if (instead := rewriter.instead_of_page(request, named, source)) is not None:
                    return instead
            aliases.store(request, response, page, stated)
        self._dedup.answers.answered(request, response, page)
        return response

    async def process_request(self, request: Request) -> Request | None:
        self._dedup.parts.credentials.asked(request)
        rewriter, batch = self._dedup.rewriter, self._dedup.parts.batch
        if batch.reads_ahead and rewriter.follows(request):
            engine = self._crawler.engine
            await batch.at_hand(request.url, len(engine.downloader.active) if engine is not None else 1)
        tried, fetched = request.meta.get(TRIAL), self._dedup.parts.fetched
        if tried is not None and self._dedup.answers.audits.converges(tried, request.url):
            raise AlreadyFetchedError(f"{request.url} was fetched when its canonical URL led there")
        is_redirected = "redirect_urls" in request.meta
        is_new = request.url == tried or not fetched.has(request.url)
        if tried is not None and is_redirected and is_for_spider(request) and not is_new:
            self._dedup.answers.audits.fetch_past_spider(request)
            raise AlreadyFetchedError(f"{request.url} is fetched as it was requested")
        if tried is None and self._dedup.parts.bypass.repeats(request):
            self._dedup.answers.dropped(request)
            raise AlreadyFetchedError(f"{request.url} is fetched for the same callback by another request")
        if not request.dont_filter and CANONICAL in request.meta and request.url in fetched.given_back:
            self._dedup.parts.savings.drop(request)
            raise AlreadyFetchedError(f"{request.url} is fetched as it was requested")
        rewritten = rewriter.rewrite(request)
        if rewritten is request:
            rewritten = rewriter.follow(request)
        return None if rewritten is request else rewritten


_FOR_NOW = (408, 425, 429)  # statuses below 500 that say nothing about the page: timeout, too early, too many requests


class RewriteFallback(Component):
    """Fetches the original URLs of the requests for a canonical URL that fails, so that a wrong rule loses no page.

    It stands between the downloader and RedirectMiddleware, so that it sees redirects before they are followed.
    """

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        settings = crawler.settings
        self._retry_codes = {int(code) for code in settings.getlist("RETRY_HTTP_CODES")}
        self._retry_times = settings.getint("RETRY_TIMES") if settings.getbool("RETRY_ENABLED") else 0

    async def process_request(self, request: Request) -> None:
        """Count a request that is about to be fetched: robots.txt has allowed it."""
        if request.url in request.meta.get(CANONICAL, ()) and is_for_spider(request):
            self._dedup.parts.fetched.for_others.add(request.url)
        self._dedup.parts.savings.fetch(request)

    async def process_response(self, request: Request, response: Response) -> Request | Response:
        self._dedup.parts.credentials.sent(request)
        status = response.status
        if request.method != "GET":
            request.meta[POSTED] = True
            return response
        if 300 <= status < 400 and not self._is_left_alone(request, status):
            if target := _location(request, response):
                self._dedup.aliases.moved(request, status, target)
                is_one_url, original = self._dedup.parts.earlier.is_one_url, _original(request)
                if original != request.url and (target == original or is_one_url(target, request.url)):
                    return self._dedup.rewriter.as_first_asked(request)  # it redirects to a variant of itself
        elif status >= 400 and (status not in self._retry_codes or self._is_last_try(request)):
            return self._fall_back(request, is_sure=status not in _FOR_NOW and status < 500) or response
        return response

    async def process_exception(self, request: Request, exception: Exception) -> Request | None:
        """Fall back if a component forbids the canonical URL, or its host cannot be reached."""
        self._dedup.parts.credentials.sent(request)
        if isinstance(exception, AlreadyFetchedError) or request.method != "GET":
            return None
        is_forbidden = isinstance(exception, IgnoreRequest)
        if is_forbidden or self._is_last_try(request) or host_of(_original(request)) != host_of(request.url):
            return self._fall_back(request, is_sure=is_forbidden)
        return None

    def _fall_back(self, request: Request, *, is_sure: bool) -> Request | None:
        """Schedule the requests that waited for the page of `request`; return the one to send in its place."""
        instead = None
        for waited in self._dedup.rewriter.refute(request, is_sure=is_sure):
            if instead is None and _original(request) != request.url:
                instead = waited
            else:
                self._dedup.parts.sending.schedule(waited)
        return instead

    def _is_left_alone(self, request: Request, status: int) -> bool:
        meta, spider = request.meta, self._crawler.spider
        handled = (*meta.get("handle_httpstatus_list", ()), *getattr(spider, "handle_httpstatus_list", ()))
        return bool(meta.get("dont_redirect") or meta.get("handle_httpstatus_all")) or status in handled

    def _is_last_try(self, request: Request) -> bool:
        meta = request.meta
        most = meta.get("max_retry_times")
        most = self._retry_times if most is None else most
        return bool(meta.get("dont_retry")) or bool(meta.get("retry_times", 0) >= most)


def _original(request: Request) -> str:
    url: str = request.meta.get(ORIGINAL_URL, request.url)
    return url


def _location(request: Request, response: Response) -> str:
    """The URL to which a redirect leads; empty if it has no valid Location."""
    location = response.headers.get("Location")
    try:
        return urljoin(request.url, safe_url_string(location)) if location else ""  # as Scrapy reads it
    except ValueError:  # http://[
        return ""


class CrawlLogMiddleware(Component):
    """Logs responses next to the spider, where bodies are decompressed; redirects are read from the request's meta."""

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        if self._dedup.settings.crawl_log is None:
            raise NotConfigured  # without a message, because the user has chosen this

    async def process_response(self, request: Request, response: Response) -> Response:
        is_of_crawl = request.callback is not NO_CALLBACK and not request.meta.get("dedup_skip")
        if is_of_crawl or request.meta.get(LOGGED):
            try:
                self._dedup.page_log.add(request, response)
                if self._dedup.learning is not None:
                    self._dedup.learning.begin_if_due()
            except Exception as error:
                log_failure(error, self._dedup.stats, "dedup/log/errors", f"{response.url!r} cannot be logged")
        return response
