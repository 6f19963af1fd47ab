"""Extras: optional libraries that a crawl with the default checks does not need, and the command that installs them."""

from __future__ import annotations

from importlib.util import find_spec

_LIBRARIES = {
    "archives": ("fastwarc", "pyarrow"),
    "calibrate": ("scipy", "numpy"),
    "concepts": ("numpy",),
    "report": ("jinja2", "numpy"),
    "redis": ("redis",),
    "scrapy-redis": ("scrapy_redis", "redis"),
    "spark": ("pyspark", "pyarrow", "pandas"),
}
"""Extra, as in pyproject.toml → the modules that it installs."""

_OF = {library: extra for extra, libraries in reversed(_LIBRARIES.items()) for library in libraries}


def missing(extra: str) -> str | None:
    """The advice to install this extra if one of its libraries is missing, else None.

    >>> missing("archives")
    """
    if all(map(find_spec, _LIBRARIES[extra])):
        return None
    return f"needs the extra {extra!r}: pip install 'dedupcrawl[{extra}]'"


def advice(error: ModuleNotFoundError) -> str | None:
    """The advice to install the extra that a missing module belongs to, or None if it belongs to none.

    >>> advice(ModuleNotFoundError("No module named 'fastwarc'", name="fastwarc"))
    "this needs fastwarc: pip install 'dedupcrawl[archives]'"
    """
    library = (error.name or "").partition(".")[0]
    return f"this needs {library}: pip install 'dedupcrawl[{_OF[library]}]'" if library in _OF else None
