"""Template of all hosts of a crawl: the newest in memory, the rest in the index, where later crawls find it."""

from __future__ import annotations

from collections import OrderedDict

import msgspec

from dedupcrawl.core.template import Template
from dedupcrawl.detection.analysis import Analysis
from dedupcrawl.index.notes import SiteStates
from dedupcrawl.sites import site_of

_BLOCKS_IN_MEMORY = 200_000  # of all hosts, some 30 MB
_HOSTS_IN_MEMORY = 10_000  # set by hand, to bound memory
_SEVERAL = 2  # pages that a block is on, to be stored
_OFTEN, _SELDOM = 16, 64  # pages of a host after which what was learned is stored: of a new host, and of a large one


class _Known(msgspec.Struct):
    """What is known of a host."""

    template: Template  # all of it
    stored: Template  # what of it the index has
    raw: bytes | None  # the bytes of that


class SiteTemplates:
    """Host → Template. One host's pages change no other host's template.

    What is learned is stored every few pages, when a host makes room for others, and by `store`; a crash loses some
    counts. Blocks that occurred on one page only are not stored: a process forgets them when it ends, or when the host
    makes room for others. Several processes add to the template of one host, and each sees what the others stored when
    it stores itself.
    """

    def __init__(self, index: SiteStates) -> None:
        self._index = index
        self._known: OrderedDict[str, _Known] = OrderedDict()  # the longest unused first
        self._blocks = 0

    def of(self, host: str) -> Template:
        """What the pages of a host repeat."""
        known = self._known.get(host)
        if known is None:
            raw = self._index.site_state(*_key(host))
            stored = Template.from_bytes(raw)
            known = _Known(stored.copy(), stored, raw)
            self._known[host] = known
            self._blocks += len(known.template)
            self._make_room()
        else:
            self._known.move_to_end(host)
        return known.template

    def learn(self, host: str, analysis: Analysis, title: str) -> list[int]:
        """Count a page; those of its blocks that recur from now on."""
        template = self.of(host)
        known = self._known[host]
        self._blocks -= len(template)
        recur = analysis.learn(template, title)
        self._blocks += len(template)
        if template.pages - known.stored.pages >= max(_OFTEN, min(_SELDOM, template.pages // _OFTEN)):
            self._store(host, known)
        self._make_room()
        return recur

    def store(self) -> None:
        """Bring everything into the index."""
        for host, known in self._known.items():
            self._store(host, known)

    def _store(self, host: str, known: _Known) -> None:
        """Add to what is stored. What stands on one page only, most of what a site says, is not worth storing."""
        if known.template.pages == known.stored.pages:
            return
        learned = known.template.beyond(known.stored, _SEVERAL)
        template, of_others = known.stored, False

        def added(raw: bytes | None) -> bytes:
            nonlocal template, of_others
            of_others = raw != known.raw
            template = Template.from_bytes(raw) if of_others else known.stored.copy()
            template.merge(learned)
            return template.to_bytes()

        known.raw = self._index.update_site_state(*_key(host), added, known.raw)
        if of_others:
            known.stored.merge(learned)
            self._blocks -= len(known.template)
            singles, known.template = known.template.beyond(known.stored), template.copy()
            known.template.merge(singles)
            self._blocks += len(known.template)
        known.stored = template

    def _make_room(self) -> None:
        while len(self._known) > _HOSTS_IN_MEMORY or (self._blocks > _BLOCKS_IN_MEMORY and len(self._known) > 1):
            host, known = next(iter(self._known.items()))
            self._store(host, known)
            del self._known[host]
            self._blocks -= len(known.template)


def _key(host: str) -> tuple[str, str]:
    """Site and name of the state that holds a host's template."""
    return site_of(host), f"template of {host}"
