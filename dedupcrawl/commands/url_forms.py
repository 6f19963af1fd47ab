"""The ways in which a crawl may have written a URL that a person types."""

from __future__ import annotations

import re
from collections.abc import Iterator

from w3lib.url import safe_url_string

from dedupcrawl.urls.compiled_rule import LONGEST_URL
from dedupcrawl.urls.url_parts import DEFAULT_PORTS, UrlParts, split_url

_BARE_HOST = re.compile(r"(?:localhost|\[[0-9a-fA-F:.]+\]|[^\s/?#:@]+\.[^\s/?#:@.]+)(?::\d+)?(?:[/?#]|\Z)")


def forms_of(url: str) -> list[str]:
    """`url`, and the same as Scrapy writes it: escaped, without fragment, host in lower case, with a scheme.

    Empty when it is no URL of the web, or longer than any.

    >>> forms_of("Example.com/a b#top")
    ['http://example.com/a%20b', 'http://Example.com/a%20b', 'https://example.com/a%20b', 'https://Example.com/a%20b']
    """
    typed = url.strip()
    if len(typed) > LONGEST_URL:
        return []
    if _BARE_HOST.match(typed):
        return list(dict.fromkeys(form for scheme in ("http", "https") for form in _forms(f"{scheme}://{typed}")))
    forms = list(_forms(typed))
    return list(dict.fromkeys([typed, *forms])) if forms else []


def _forms(url: str) -> Iterator[str]:
    try:
        parts = split_url(safe_url_string(url))
    except ValueError:  # also UnicodeError
        return
    if parts is None:
        return
    scheme = parts.scheme.lower()
    host = parts.authority.lower().removesuffix(DEFAULT_PORTS[scheme])
    for authority in (host, parts.authority):
        plain = UrlParts(scheme, authority, parts.segments, parts.args, parts.separators, "")
        yield plain.join()
        if not any(parts.segments):  # http://host and http://host/ are one page to Scrapy
            yield plain.with_segments([] if parts.segments else [""]).join()
