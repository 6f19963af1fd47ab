"""Drop the pages that a Scrapy crawl already has, before the fetch and after it."""

from __future__ import annotations

TYPE_CHECKING = False  # as mypy reads it: `typing` would be most of what this import takes
if TYPE_CHECKING:
    from dedupcrawl.addon import Addon

__all__ = ["Addon"]


def __getattr__(name: str) -> object:
    # Lazily: the command line and the learner must not import Scrapy to import the package.
    if name == "Addon":
        from dedupcrawl.addon import Addon

        return Addon
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
