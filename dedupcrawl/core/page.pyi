# What Python code sees of page.py; other modules of the core cimport what page.pxd declares.

from collections.abc import Callable, Collection
from typing import Any, final

from dedupcrawl.core.digests import NO_SECRET, Secret
from dedupcrawl.core.facts import Facts
from dedupcrawl.core.symbols import SymbolText

@final
class Page:
    def __init__(
        self,
        url: str,
        *,
        title: str = "",
        headline: str = "",
        paragraphs: tuple[str, ...] = (),
        headings: tuple[str, ...] = (),
        keywords: str = "",
        description: str = "",
        anchors_same_site: tuple[str, ...] = (),
        anchors_other_sites: tuple[str, ...] = (),
        body_digest: bytes = b"",
        body_tells: bool = False,
        asides: tuple[str, ...] = (),
        link_lines: tuple[str, ...] = (),
        links: Collection[int] = frozenset(),
        main_links: Collection[int] = frozenset(),
        selector_missed: bool = False,
        also_at: tuple[str, ...] = (),
        secondary: tuple[str, ...] = (),
        resources: tuple[str, ...] = (),
    ) -> None: ...
    @property
    def url(self) -> str: ...
    @property
    def title(self) -> str: ...
    @property
    def headline(self) -> str: ...
    @property
    def paragraphs(self) -> tuple[str, ...]: ...
    @property
    def headings(self) -> tuple[str, ...]: ...
    @property
    def keywords(self) -> str: ...
    @property
    def description(self) -> str: ...
    @property
    def anchors_same_site(self) -> tuple[str, ...]: ...
    @property
    def anchors_other_sites(self) -> tuple[str, ...]: ...
    @property
    def body_digest(self) -> bytes: ...
    @property
    def body_tells(self) -> bool: ...
    @property
    def asides(self) -> tuple[str, ...]: ...
    @property
    def link_lines(self) -> tuple[str, ...]: ...
    @property
    def links(self) -> frozenset[int]: ...
    @property
    def main_links(self) -> frozenset[int]: ...
    @property
    def selector_missed(self) -> bool: ...
    @property
    def also_at(self) -> tuple[str, ...]: ...
    @property
    def secondary(self) -> tuple[str, ...]: ...
    @property
    def resources(self) -> tuple[str, ...]: ...
    @property
    def has_text(self) -> bool: ...
    @property
    def size(self) -> int: ...
    def main_text(self, secret: Secret = NO_SECRET) -> SymbolText: ...
    def beside(self, secret: Secret = NO_SECRET) -> tuple[SymbolText, SymbolText, SymbolText]: ...
    def replace(self, **changes: Any) -> Page: ...
    def fields(self) -> dict[str, Any]: ...

def read(
    facts: Facts,
    url: str,
    *,
    locate: Callable[[str], tuple[bytes, bytes, bytes]],
    host_alike: Callable[[str], str],
    selected: bytes | None = None,
    stays: Callable[[str, str], bool | None] | None = None,
    also_at: tuple[str, ...] = (),
) -> Page: ...
