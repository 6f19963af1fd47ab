"""What is really behind the URLs of the demo site: which text, and by which kind of URL it is reached."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal
from urllib.parse import parse_qs, unquote, urlsplit

from dedupcrawl.demo.site import MIRROR_HOST, articles, other_pages

Kind = Literal[
    "original",
    "listing",
    "print view",
    "reprint",
    "excerpt",
    "tracking",
    "session",
    "index file",
    "mirror",
    "letter case",
    "trap",
    "soft 404",
]
PREFIXES: dict[str, Kind] = {"/print": "print view", "/weekly": "reprint", "/digest": "excerpt"}
TEXTS = {text.path: text for text in (*articles(), *other_pages())}
DISTINCT = frozenset(TEXTS) - {"/gone/"}  # content of every text that a crawl must not lose


@dataclass(frozen=True, slots=True)
class Truth:
    """Two URLs are duplicates exactly when their `content` is equal; an "excerpt" only holds a part of it."""

    content: str
    kind: Kind


def truth(url: str) -> Truth:  # noqa: PLR0911 - a kind each
    """What is behind the URL of a page."""
    parts = urlsplit(url)
    path, query = unquote(parts.path), parse_qs(parts.query)
    if parts.hostname == MIRROR_HOST:
        return Truth("/mirror", "listing") if path == "/" else Truth(path, "mirror")
    for prefix, kind in PREFIXES.items():
        if path.removeprefix(prefix) in TEXTS:
            return Truth(path.removeprefix(prefix), kind if path.startswith(prefix) else _kind(path, query))
    if path.startswith("/gone/"):
        return Truth("/gone/", "soft 404")
    if path.endswith("/index.html"):
        return Truth(path.removesuffix("index.html"), "index file")
    if path.startswith("/contact/"):
        return Truth("/contact/", "trap")
    if path.startswith("/About/"):
        return Truth(path.lower(), "letter case")
    return Truth(path, "session" if "sid" in query else "listing")


def _kind(path: str, query: dict[str, list[str]]) -> Kind:
    if "sid" in query:
        return "session"
    if "view" in query:
        return "print view"
    if any(name.startswith("utm_") for name in query):
        return "tracking"
    return "soft 404" if path == "/gone/" else "original"
