"""Every page of the demo site that links lead to, without a network."""

from __future__ import annotations

from collections import deque
from urllib.parse import urldefrag, urljoin, urlsplit

from parsel import Selector

from dedupcrawl.demo.site import Answer, Site

PORT = 8000
FRONT = f"http://127.0.0.1:{PORT}/"


def ask(site: Site, url: str) -> Answer:
    parts = urlsplit(url)
    return site.answer(parts.netloc, f"{parts.path}?{parts.query}")


def links(url: str, answer: Answer) -> list[str]:
    if answer.location:
        return [urljoin(url, answer.location)]
    return [urldefrag(urljoin(url, href)).url for href in Selector(answer.body).css("a::attr(href)").getall()]


def walk(site: Site) -> dict[str, Answer]:
    """URL → answer, breadth first."""
    answers: dict[str, Answer] = {}
    ahead = deque([FRONT])
    while ahead:
        url = ahead.popleft()
        if url not in answers:
            answers[url] = ask(site, url)
            ahead.extend(links(url, answers[url]))
    return answers
