"""Arguments that another form of the URL packs into a segment, with delimiters of the site's own making.

`/The_Grudge_W0?_fcls=1&_pid=439` and `/The_Grudge_W0QQ_fclsZ1QQ_pidZ439` (Koppula et al., Sect. 1): every value of the
one is a deep token of the other, so the transformation is a key reference for each of them.
"""

from __future__ import annotations

from dedupcrawl.urls.template import SPECIAL
from dedupcrawl.urls.url_parts import UrlParts

_WIDEST = 3  # characters between a name and its value
_MOST_ARGS = 12


def packed(source: UrlParts, target: UrlParts) -> tuple[str, str] | None:
    """The templates `match` and `to` that take a URL with arguments to one that packs them; None if it does not."""
    if target.args or not source.args or len(source.args) > _MOST_ARGS or not source.segments or not target.segments:
        return None
    name, segment = source.segments[-1], target.segments[-1]
    if source.segments[:-1] != target.segments[:-1] or not name or not segment.startswith(name):
        return None
    if SPECIAL.search(segment):
        return None
    rest, position = segment[len(name) :], 0
    query: list[str] = []
    to = "/{p*}/{name}"
    for number, arg in enumerate(source.args):
        key, _, value = arg.partition("=")
        start = rest.find(key, position) + len(key)
        found = rest.find(value, start, start + _WIDEST + len(value))
        if not key or not value or start < position + len(key) or found <= start or SPECIAL.search(key + value):
            return None
        query.append(f"{key}={{a{number}}}")
        to += f"{rest[position:found]}{{a{number}}}"
        position = found + len(value)
    return f"/{{p*}}/{{name}}?{'&'.join(query)}", to + rest[position:]
