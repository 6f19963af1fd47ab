"""The canonicalizers that know nothing of a site."""

from __future__ import annotations

import re
from collections.abc import Callable

from courlan import clean_url
from duplicate_url_discarder.url_canonicalizer import UrlCanonicalizer
from duplicate_url_discarder_rules import RULE_PATHS
from url_normalize import url_normalize
from w3lib.url import canonicalize_url

WWW = re.compile(r"^https?://(www\d?\.)?", re.IGNORECASE)
INDEX_FILE = re.compile(r"/(index|default)\.(html?|php\d?|aspx?|jsp|cgi|cfm)(?=$|\?)", re.IGNORECASE)
SLASHES = re.compile(r"(?<!:)/{2,}")


def by_hand(url: str) -> str:
    """What a careful engineer writes: scheme, www, index file, slashes, query order."""
    url = WWW.sub("http://", canonicalize_url(url))
    return SLASHES.sub("/", INDEX_FILE.sub("/", url)).rstrip("/")


def or_itself(canonicalize: Callable[[str], str | None]) -> Callable[[str], str]:
    """A URL that a canonicalizer refuses stays as it is."""

    def canonical(url: str) -> str:
        try:
            return canonicalize(url) or url
        except ValueError:
            return url

    return canonical


def fixed_canonicalizers() -> dict[str, Callable[[str], str]]:
    """All of them, by the name they have in the tables.

    duplicate-url-discarder hands its result to Scrapy's fingerprinter, which is w3lib's canonical form.
    """
    published = UrlCanonicalizer(RULE_PATHS or ())
    return {
        "w3lib": or_itself(canonicalize_url),
        "url-normalize": or_itself(url_normalize),
        "courlan": or_itself(clean_url),
        "duplicate-url-discarder": or_itself(lambda url: canonicalize_url(published.process_url(url))),
        "by hand": or_itself(by_hand),
    }
