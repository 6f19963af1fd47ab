"""Links, as a page holds them."""

from __future__ import annotations

from dedupcrawl.core.links import link_hash, local_form


def linked(*paths: str) -> frozenset[int]:
    """`Page.links` of a page that links to these paths of its host."""
    return frozenset(link_hash(local_form(path)) for path in paths)
