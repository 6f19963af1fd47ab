"""Site templates of all hosts of a crawl: the newest in memory, the rest in the index, where later crawls find them."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass, field

from dedupcrawl.content.site_template import SiteTemplate
from dedupcrawl.index.contract import Index
from dedupcrawl.sites import site_of

_BLOCKS_IN_MEMORY = 200_000  # of all hosts, some 30 MB
_HOSTS_IN_MEMORY = 10_000
_OFTEN, _SELDOM = 16, 64  # pages of a host after which what was learned is stored: of a new host, and of a large one


@dataclass(slots=True)
class _Known:
    """What is known of a host.

    Attributes:
        template: All of it.
        fresh: What is not stored.
        repeated: Blocks that stand on several pages, and on some that are not stored.
        stored: What this process stored last.
        raw: The bytes of that.
    """

    template: SiteTemplate
    fresh: SiteTemplate = field(default_factory=SiteTemplate)
    repeated: set[int] = field(default_factory=set)
    stored: SiteTemplate = field(default_factory=SiteTemplate)
    raw: bytes | None = None


class SiteTemplates:
    """Host → SiteTemplate. One host's pages change no other host's template.

    What is learned is stored every few pages, when a host makes room for others, and by `store`; a crash loses some
    counts. Blocks that were met on one page only are not stored: a process forgets them when it ends, or when a host
    makes room. Several processes add to one template, and each sees what the others stored when it stores itself.
    """

    def __init__(self, index: Index) -> None:
        self._index = index
        self._known: OrderedDict[str, _Known] = OrderedDict()  # the longest unused first
        self._blocks = 0

    def of(self, host: str) -> SiteTemplate:
        """The template of a host."""
        known = self._known.get(host)
        if known is None:
            known = _Known(SiteTemplate.from_bytes(self._index.site_state(*_key(host))))
            self._known[host] = known
            self._blocks += len(known.template)
            self._make_room()
        else:
            self._known.move_to_end(host)
        return known.template

    def in_memory(self, host: str) -> SiteTemplate:
        """The template of a host that was asked for not long ago.

        Raises:
            KeyError: It is not in memory.
        """
        return self._known[host].template

    def learn(self, host: str, blocks: Iterable[int]) -> list[int]:
        """Count a page that was kept; those of its blocks that recur from now on."""
        template = self.of(host)
        known = self._known[host]
        self._blocks -= len(template)
        different = set(blocks)
        recur = template.add(different)
        known.fresh.add(different)
        known.repeated |= template.on_several(different)
        self._blocks += len(template)
        if known.fresh.pages >= max(_OFTEN, min(_SELDOM, template.pages // _OFTEN)):
            self._store(host, known)
        return recur

    def store(self) -> None:
        """Bring everything into the index."""
        for host, known in self._known.items():
            if known.fresh.pages:
                self._store(host, known)

    def _store(self, host: str, known: _Known) -> None:
        """Add to what is stored. What stands on one page only, most of what a site says, is not worth storing."""
        learned = known.fresh.take(known.repeated)
        of_others = False
        template = SiteTemplate()

        def added(stored: bytes | None) -> bytes:
            nonlocal of_others, template
            of_others = stored != known.raw
            template = SiteTemplate.from_bytes(stored) if of_others else known.stored.copy()
            template.merge(learned)
            return template.to_bytes()

        try:
            known.raw = self._index.update_site_state(*_key(host), added)
        except BaseException:
            known.fresh.merge(learned)
            raise
        known.stored, known.repeated = template, set()
        if of_others:
            self._blocks -= len(known.template)
            known.template = template.copy()
            known.template.merge(known.fresh)
            known.repeated = known.template.on_several(known.fresh.blocks())
            self._blocks += len(known.template)

    def _make_room(self) -> None:
        while len(self._known) > _HOSTS_IN_MEMORY or (self._blocks > _BLOCKS_IN_MEMORY and len(self._known) > 1):
            host = next(iter(self._known))
            known = self._known[host]
            if known.fresh.pages:
                self._store(host, known)
            del self._known[host]
            self._blocks -= len(known.template)


class TemplatesAtHand(dict[str, SiteTemplate]):
    """Those that a page was compared by, and any other that is in memory: the index need not be asked for these.

    A template that is in neither place is a KeyError.
    """

    def __init__(self, templates: SiteTemplates) -> None:
        super().__init__()
        self._all = templates

    def __missing__(self, host: str) -> SiteTemplate:
        template = self[host] = self._all.in_memory(host)
        return template


def _key(host: str) -> tuple[str, str]:
    """Site and name of the state that holds a host's template."""
    return site_of(host), f"template of {host}"
