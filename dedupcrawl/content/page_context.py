"""The text around the main text of a page that is in memory."""

from __future__ import annotations

from dedupcrawl.core.links import link_hash, local_form
from dedupcrawl.core.page_context import PageContext, resource_hashes
from dedupcrawl.core.symbols import SymbolText
from dedupcrawl.page import Page
from dedupcrawl.sites import host_alike


def context_of(page: Page, asides: SymbolText, link_lines: SymbolText, secondary: SymbolText) -> PageContext:
    """Of a page whose lines beside its main text were read."""
    also_at: frozenset[int] = frozenset()
    if page.also_at:
        host = host_alike(page.url)
        also_at = frozenset([link_hash(local_form(url)) for url in page.also_at if host_alike(url) == host])
    resources = resource_hashes(page.resources)
    lines = asides.lines, link_lines.lines
    return PageContext(*lines, page.links, page.main_links, also_at, secondary.lines, resources)
