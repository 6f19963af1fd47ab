"""Versions: two pages of a manual that differ only in the release number that is a folder of their URLs.

Examples are /docs/2.4/install.html and /docs/2.5/install.html. If the texts differ in nothing but these numbers, one of
the two pages is enough.
"""

from __future__ import annotations

import re
from urllib.parse import urlsplit

from dedupcrawl.core.digests import Secret
from dedupcrawl.core.main_outline import symbols_of
from dedupcrawl.core.symbols import SymbolText

_NAME = r"v?[0-9]+(?:\.[0-9]+)+|v[0-9]+|latest|stable|current|master|main|devel?|dev"
_VERSION = re.compile(_NAME, re.IGNORECASE)
_HAS_VERSION = re.compile(rf"(?:\A|/)(?:{_NAME})/", re.IGNORECASE)


def versions_of(new: str, kept: str) -> tuple[str, str] | None:
    """The version folders of two URLs that differ in nothing else; None for any other two URLs."""
    if not _HAS_VERSION.search(new):
        return None
    one, other = (urlsplit(url) for url in (new, kept))
    mine, its = one.path.split("/"), other.path.split("/")
    if one.netloc != other.netloc or one.query != other.query or len(mine) != len(its):
        return None
    differ = [(here, there) for here, there in zip(mine, its, strict=True) if here != there]
    if len(differ) != 1 or mine[-1] != its[-1]:
        return None
    return differ[0] if all(map(_VERSION.fullmatch, differ[0])) else None


def symbols_of_versions(new: str, kept: str, secret: Secret) -> bytes | None:
    """The symbols of both folders that `versions_of` finds, two bytes each; None if it finds none."""
    versions = versions_of(new, kept)
    if versions is None:
        return None
    return b"".join(symbols_of(SymbolText.of((version,), secret)) for version in versions)
