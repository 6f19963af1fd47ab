"""Which rules can make a URL longer, and how long it then is.

Rules are applied again and again, so of one that adds to a URL the result has to be measured each time. Of most it is
known beforehand that they do not.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from dedupcrawl.urls.template import Piece, Template
from dedupcrawl.urls.url_parts import UrlParts


def may_grow(match: Template, to: Template) -> bool:
    """True unless it is sure that a rule brings no more characters into path and query than it takes away."""
    uses = to.captures()
    gone = {c.name for piece in (match.path or () if to.path else ()) for c in piece.captures}
    gone |= {c.name for _, piece in match.args if piece for c in piece.captures}
    if len({use.name for use in uses}) < len(uses) or any(use.conversions or use.name not in gone for use in uses):
        return True
    stars = [piece for piece in match.path or () if piece.is_star]
    runs = {star.captures[0].name for star in stars} - {""}
    moved = [piece for piece in to.path or () if piece.literals == ("", "") and piece.captures[0].name in runs]
    is_bare = to.path is not None and len(moved) == len(to.path)  # then no segment at all is "/"
    return _least_size(to, moved) + is_bare > _least_size(match if to.path else replace(match, path=None), stars)


def _least_size(template: Template, runs: Sequence[Piece]) -> int:
    """Characters of path and query without the values of named captures; of these segments, which may be none, none."""
    forms = [(1, piece) for piece in template.path or () if piece not in runs]
    forms += [(len(name) + 2, piece) for name, piece in template.args if piece is not None]
    bare = sum(len(name) + 1 for name, piece in template.args if piece is None)
    return bare + sum(front + sum(map(len, p.literals)) + sum(not c.name for c in p.captures) for front, p in forms)


def size_of(parts: UrlParts) -> int:
    """Characters of path and query."""
    return sum(map(len, parts.segments)) + len(parts.segments) + sum(map(len, parts.args)) + len(parts.args)
