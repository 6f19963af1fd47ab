"""Anchors: the paths at which a program is installed, and texts of URLs that begin there."""

from __future__ import annotations

import re
from collections.abc import Mapping

BASE = "base"
Anchors = Mapping[str, str]
"""Name → path, such as "/forum"; empty for the root of the host."""

_ANCHOR = re.compile(r"/<([a-z]+)>(?=/)")


def anchor_of(text: str) -> str:
    """Which anchor a path begins at.

    >>> anchor_of("/viewtopic.php"), anchor_of("/<article>/{title}")
    ('base', 'article')
    """
    found = _ANCHOR.match(text)
    return found[1] if found else BASE


def anchored(text: str, anchors: Anchors) -> str:
    """A path, template or form with the path of its anchor; what begins with no path, or with a host, stays as it is.

    >>> anchored("/viewtopic.php?t={}", {"base": "/forum"}), anchored("?sid={}", {"base": "/forum"})
    ('/forum/viewtopic.php?t={}', '?sid={}')
    """
    if not text.startswith("/") or text.startswith("//"):
        return text
    found = _ANCHOR.match(text)
    return anchors.get(anchor_of(text), "") + text[found.end() if found else 0 :]
