"""What rules make of a URL."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import msgspec

from dedupcrawl.urls.rule import Kind

NormalizedKind = Literal["unchanged", "rewrite", "equivalence"]


class Normalized(msgspec.Struct, frozen=True, gc=False):
    """A URL and what the rules make of it. Thousands are remembered; the garbage collector does not scan them.

    Two URLs are the same page, as far as the rules can tell, exactly when their `canonical` is equal.

    Attributes:
        canonical: The URL to fetch instead ("rewrite"), the same URL ("unchanged"), or an identity ("equivalence").
        kind: What `canonical` is; only an "equivalence" may be a string that cannot be fetched.
        rules: Ids of the rules that changed the URL, in the order in which they did; none where only its spelling is
            another (`spelling.canonical_url`).
    """

    url: str
    canonical: str
    kind: NormalizedKind
    rules: tuple[str, ...]


def left(url: str, spelled: str) -> Normalized:
    """A URL of which rules make nothing, in its one spelling."""
    return Normalized(url, spelled, "unchanged" if spelled == url else "rewrite", ())


def as_of(url: str, normalized: Normalized) -> Normalized:
    """What is made of another spelling of a URL."""
    if normalized.url == url:
        return normalized
    return (
        left(url, normalized.canonical)
        if normalized.kind == "unchanged"
        else msgspec.structs.replace(normalized, url=url)
    )


def result(url: str, spelled: str, canonical: str, used: Sequence[tuple[str, Kind]]) -> Normalized:
    """What rules, given by ids and kinds, make of a URL; if they change nothing, they are not named."""
    if canonical == spelled:
        return left(url, spelled)
    if len(used) == 1:
        return Normalized(url, canonical, used[0][1], (used[0][0],))
    kind: NormalizedKind = "equivalence" if any(of == "equivalence" for _, of in used) else "rewrite"
    return Normalized(url, canonical, kind, tuple(dict.fromkeys(name for name, _ in used)))
