"""Drop the pages that a Scrapy crawl already has, before the fetch and after it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dedupcrawl.addon import Addon

__all__ = ["Addon"]


def __getattr__(name: str) -> Any:
    # Lazily: the command line and the learner must not import Scrapy to import the package.
    if name == "Addon":
        from dedupcrawl.addon import Addon

        return Addon
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
