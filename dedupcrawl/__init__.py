"""Drop the pages that a Scrapy crawl already has, before the fetch and after it."""

from __future__ import annotations

from importlib import import_module

TYPE_CHECKING = False  # mypy takes it for True; importing `typing` would take most of this module's import time
if TYPE_CHECKING:
    from dedupcrawl.addon import Addon
    from dedupcrawl.api import Detector, Explanation, learn, read_html, read_text
    from dedupcrawl.page import Page
    from dedupcrawl.urls.normalized import Normalized
    from dedupcrawl.urls.normalizer import Normalizer
    from dedupcrawl.verdict import Verdict

    __version__: str

__all__ = [
    "Addon",
    "Detector",
    "Explanation",
    "Normalized",
    "Normalizer",
    "Page",
    "Verdict",
    "learn",
    "read_html",
    "read_text",
]

_ROOMS = {
    "Addon": "addon",
    "Normalized": "urls.normalized",
    "Normalizer": "urls.normalizer",
    "Page": "page",
    "Verdict": "verdict",
}


def __getattr__(name: str) -> object:
    # Lazily: the command line and the learner must not import Scrapy to import the package.
    if name == "__version__":
        return import_module("importlib.metadata").version("dedupcrawl")
    if name in __all__:
        return getattr(import_module(f"dedupcrawl.{_ROOMS.get(name, 'api')}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
