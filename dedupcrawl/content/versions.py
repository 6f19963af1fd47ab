"""Versions: pages of a manual for two releases of a program, which differ in the number of the release alone.

The number stands in both addresses, as a folder: /docs/2.4/install.html, /docs/2.5/install.html. Where nothing else
differs than what the addresses differ in, one of the two pages is enough.
"""

from __future__ import annotations

import re
from urllib.parse import urlsplit

import numpy as np

from dedupcrawl.content.main_outline import symbols_of
from dedupcrawl.content.pair import Pair
from dedupcrawl.core.diff import ADDED
from dedupcrawl.core.symbols import SymbolText

_VERSION = re.compile(r"v?[0-9]+(?:\.[0-9]+)+|v[0-9]+|latest|stable|current|master|main|devel?|dev", re.IGNORECASE)


def versions_of(new: str, kept: str) -> tuple[str, str] | None:
    """The folders in which two addresses differ, if they differ in nothing else and each is a version."""
    one, other = (urlsplit(url) for url in (new, kept))
    mine, its = one.path.split("/"), other.path.split("/")
    if one.netloc != other.netloc or one.query != other.query or len(mine) != len(its):
        return None
    differ = [(here, there) for here, there in zip(mine, its, strict=True) if here != there]
    if len(differ) != 1 or mine[-1] != its[-1]:
        return None
    return differ[0] if all(map(_VERSION.fullmatch, differ[0])) else None


def is_only_version(pair: Pair) -> bool:
    """Whether all that differs in texts, titles and headlines of two pages is the version in their addresses."""
    versions = versions_of(pair.new.url, pair.kept.url) if pair.is_of_one_host else None
    if versions is None:
        return False
    secret = pair.new.secret
    allowed = np.concatenate([symbols_of(SymbolText.of((version,), secret)) for version in versions])
    is_own = pair.found.rows[:, 0] >= ADDED
    for begin, end, kept_begin, kept_end in pair.found.pieces[is_own].tolist():
        for side, first, last in ((pair.found.new, begin, end), (pair.found.kept, kept_begin, kept_end)):
            if not np.isin(side.symbols[first:last][side.differs[first:last]], allowed).all():
                return False
    one, other = (
        [np.frombuffer(symbols, np.uint16) for symbols in (page.title_text[0], page.headline_text[0])]
        for page in (pair.new, pair.kept)
    )
    return all(np.isin(np.setxor1d(mine, its), allowed).all() for mine, its in zip(one, other, strict=True))
