"""Versions: pages of a manual for two releases of a program, which differ in the number of the release alone.

The number stands in both addresses, as a folder: /docs/2.4/install.html, /docs/2.5/install.html. Where nothing else
differs than what the addresses differ in, one of the two pages is enough.
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
    """The folders in which two addresses differ, if they differ in nothing else and each is a version."""
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
    """Their symbols, two bytes each; None where there are none."""
    versions = versions_of(new, kept)
    if versions is None:
        return None
    return b"".join(symbols_of(SymbolText.of((version,), secret)) for version in versions)
