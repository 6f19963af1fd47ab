"""Error pages of a crawl's hosts, and canonical URLs that redirect: what is suspected to be another page.

Some error pages come with a status of success ("soft 404"). A suspicion costs only one trial, so little evidence is
enough for one. The crawl suspects an answer that looks like the host's answers of status 404 or 410, or like its answer
to a made-up URL (Bar-Yossef, Broder, Kumar and Tomkins, WWW 2004); one with the title and headline of such an answer,
whose text may change from request to request; a text that answers several canonical URLs; and a canonical URL that
redirects to another.
"""

from __future__ import annotations

from collections import Counter

from scrapy.utils.datatypes import LocalCache

from dedupcrawl.core.digests import digest_of
from dedupcrawl.core.main_outline import values_of
from dedupcrawl.crawl.same_page import Look
from dedupcrawl.sites import owner_of

_ALIKE = 0.8  # share of the symbols of either text that occur in the other
_TEXTS_OF_A_HOST = 4  # different error pages of a host that are remembered; set by hand, to bound memory
_PAGES_OF_A_HOST = 20  # answers of status 404 or 410 of a host that are read for them; set by hand
_HOSTS = 1_000  # hosts whose error pages are remembered; set by hand, to bound memory
_TEXTS = 20_000  # texts whose URLs are remembered; set by hand, to bound memory
_SAME_TEXT = 3  # canonical URLs that must lead to the same text for it to be suspected
_USUAL = 20  # redirects of canonical URLs to the page asked for, if none led to another
_NEVER = 1_000_000_000  # weight of a wrong redirect: no number of right ones makes up for it


class ErrorPages:
    """What is known of the error pages of a crawl's hosts, in bounded memory."""

    def __init__(self) -> None:
        self._errors: LocalCache[str, list[Look]] = LocalCache(_HOSTS)  # by host
        self._urls: LocalCache[int, list[str]] = LocalCache(_TEXTS)  # hash of host and outline → canonical URLs
        self._looked_at: LocalCache[str, int] = LocalCache(_HOSTS)  # host → number of its pages of status 404 or 410
        self._trusted: LocalCache[int, None] = LocalCache(_TEXTS)  # hashes of host and outline, or title and headline

    def is_new(self, host: str) -> bool:
        """True the first time that this, or `learn`, is called for a host."""
        if host in self._errors:
            return False
        self._errors[host] = []
        return True

    def wants(self, host: str) -> bool:
        """True for the first few error pages of a host, which may show something new."""
        count = self._looked_at[host] = self._looked_at.get(host, 0) + 1
        return count <= _PAGES_OF_A_HOST

    def learn(self, host: str, look: Look) -> None:
        if not look.outline:
            return
        self.is_new(host)
        errors, names = self._errors[host], _names(look)
        is_known = any(_names(one) == names and _alike(look, one) for one in errors)
        if len(errors) < _TEXTS_OF_A_HOST and not is_known:
            errors.append(look.lasting)

    def suspects(self, host: str, canonical: str, look: Look) -> list[str]:
        """The canonical URLs that led to this text, this one among them, if it may be an error page; else []."""
        key, names, errors = _key(host, look.outline), _names(look), self._errors.get(host, ())
        if not look.outline or key in self._trusted:
            return []
        urls = self._urls.setdefault(key, [])
        self._urls.move_to_end(key)
        if canonical not in urls and len(urls) < _SAME_TEXT:
            urls.append(canonical)
        is_named_so = (
            bool(names) and any(_names(one) == names for one in errors) and _key(host, names) not in self._trusted
        )
        if is_named_so or len(urls) >= _SAME_TEXT or any(_alike(look, one) for one in errors):
            return list(dict.fromkeys([*urls, canonical]))
        return []

    def trust(self, host: str, look: Look) -> None:
        """Never again suspect this text, or a page called like this one; also forget error pages that look like it."""
        self._trusted |= {_key(host, look.outline): None, _key(host, _names(look)): None}
        if host in self._errors:
            self._errors[host] = [one for one in self._errors[host] if not _alike(look, one)]


class LeadingOn:
    """What trials have shown of canonical URLs that redirect, for each owner and set of rules."""

    def __init__(self) -> None:
        self._led: Counter[tuple[str, tuple[str, ...]]] = Counter()

    def learn(self, canonical: str, rules: tuple[str, ...], *, held: bool) -> None:
        """Count a canonical URL that redirects: to the page that was asked for (`held`), or to another."""
        self._led[owner_of(canonical), rules] += 1 if held else -_NEVER

    def is_usual(self, canonical: str, url: str, rules: tuple[str, ...]) -> bool:
        """True if canonical URLs of these rules redirect to the page asked for, as every trial has found.

        Only if the redirect's URL extends the canonical one: where items redirect to URLs with their titles, one
        that is sold out may redirect to its category.
        """
        before, _, added = url.partition(canonical.rstrip("/"))
        if before or not added or added[0].isalnum():
            return False
        return self._led[owner_of(canonical), rules] >= _USUAL


def _key(host: str, text: bytes) -> int:
    """Hash a host, and an outline or names: outlines take up to 64 KB each."""
    return int.from_bytes(digest_of(host.encode() + b"\0" + text)[:8], "big")


def _names(look: Look) -> bytes:
    """What a page is called; empty if it has neither a title nor a headline."""
    return f"{look.title}\n{look.headline}".encode("utf-8", "surrogatepass").strip()


def _alike(one: Look, other: Look) -> bool:
    outlines = one.outline, other.outline
    return _occurring(*outlines) >= _ALIKE and _occurring(*reversed(outlines)) >= _ALIKE


def _occurring(outline: bytes, other: bytes) -> float:
    own, others = values_of(outline), set(values_of(other))
    return sum(value in others for value in own) / max(1, len(own))
