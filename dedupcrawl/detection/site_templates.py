"""Site templates of all hosts of a crawl: recently used ones in memory, all in the index for later crawls."""

from __future__ import annotations

from collections import OrderedDict

import msgspec

from dedupcrawl.core.template import Template
from dedupcrawl.detection.analysis import Analysis
from dedupcrawl.index.notes import SiteStates
from dedupcrawl.sites import site_of

_BLOCKS_IN_MEMORY = 200_000  # of all hosts, some 30 MB
_HOSTS_IN_MEMORY = 10_000  # set by hand, to bound memory
_SEVERAL = 2  # least number of pages with a block for it to be stored
_OFTEN, _SELDOM = 16, 64  # pages of a host between two writes to the index: for a new host, and for a large one


class _Known(msgspec.Struct):
    """The template of a host, as known here and as stored."""

    template: Template  # with what is not stored yet
    stored: Template  # as the index has it
    raw: bytes | None  # `stored` as bytes


class SiteTemplates:
    """Host → Template. One host's pages change no other host's template.

    The counts are written to the index every few pages, when a host is evicted from memory, and by `store`; a crash
    loses some counts. Blocks that occur on a single page are not stored: a process forgets them when it ends or evicts
    the host. Several processes may add to the template of one host; each reads the others' counts when it stores its
    own.
    """

    def __init__(self, index: SiteStates) -> None:
        self._index = index
        self._known: OrderedDict[str, _Known] = OrderedDict()  # least recently used first
        self._blocks = 0

    def of(self, host: str) -> Template:
        """The template of a host."""
        cached = self._known.get(host)
        if cached is None:
            raw = self._index.site_state(*_key(host))
            stored = Template.from_bytes(raw)
            cached = _Known(stored.copy(), stored, raw)
            self._known[host] = cached
            self._blocks += len(cached.template)
            self._make_room()
        else:
            self._known.move_to_end(host)
        return cached.template

    def learn(self, host: str, analysis: Analysis, title: str) -> list[int]:
        """Count a page in the template of a host; returns the blocks that have just become template."""
        template = self.of(host)
        cached = self._known[host]
        self._blocks -= len(template)
        recur = analysis.learn(template, title)
        self._blocks += len(template)
        new = template.pages - cached.stored.pages
        if new >= _OFTEN and new >= min(_SELDOM, template.pages // _OFTEN):
            self._store(host, cached)
        self._make_room()
        return recur

    def store(self) -> None:
        """Write all templates to the index."""
        for host, cached in self._known.items():
            self._store(host, cached)

    def _store(self, host: str, cached: _Known) -> None:
        """Add the new counts to the index, except blocks that occur on one page only, as most do."""
        if cached.template.pages == cached.stored.pages:
            return
        learned = cached.template.beyond(cached.stored, _SEVERAL)
        template, of_others = cached.stored, False

        def added(raw: bytes | None) -> bytes:
            nonlocal template, of_others
            of_others = raw != cached.raw
            template = Template.from_bytes(raw) if of_others else cached.stored.copy()
            template.merge(learned)
            return template.to_bytes()

        cached.raw = self._index.update_site_state(*_key(host), added, cached.raw)
        if of_others:
            cached.stored.merge(learned)
            self._blocks -= len(cached.template)
            singles, cached.template = cached.template.beyond(cached.stored), template.copy()
            cached.template.merge(singles)
            self._blocks += len(cached.template)
        cached.stored = template

    def _make_room(self) -> None:
        while len(self._known) > _HOSTS_IN_MEMORY or (self._blocks > _BLOCKS_IN_MEMORY and len(self._known) > 1):
            host, cached = next(iter(self._known.items()))
            self._store(host, cached)
            del self._known[host]
            self._blocks -= len(cached.template)


def _key(host: str) -> tuple[str, str]:
    return site_of(host), f"template of {host}"
