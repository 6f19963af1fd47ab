"""What a merge is worth: the one judge of learning, of its test, of `evaluate` and of `rules why`.

Two URLs have one page if they are in one cluster: with one digest, or joined by a verdict of the content checks or by a
link from one to the other (`training.clusters`). Pages with different digests that nothing has compared are different
pages, however similar their SimHashes are: whoever merges them has to wait for a crawl's trial.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from typing import NamedTuple


class Merge(NamedTuple):
    """URLs that come to one form.

    Attributes:
        owner: The page for which the form stands: that of the URL which has it unchanged, else that of most URLs; None
            if no two have one page.
        right: URLs of this page minus one: so many need not be fetched.
        wrong: URLs of other pages, which would be lost; minus one if there is no owner.
    """

    owner: int | None
    right: int
    wrong: int


def judged(labels: Collection[int], own: int | None) -> Merge:
    """Judge URLs with these labels, one a URL; `own` is the label of the one that has the form unchanged, if any.

    >>> judged([7, 7, 8], None)
    Merge(owner=7, right=1, wrong=1)
    >>> judged([7, 7, 8], 8)
    Merge(owner=8, right=0, wrong=2)
    >>> judged([7, 8], None)
    Merge(owner=None, right=0, wrong=1)
    """
    pages = set(labels)
    if len(pages) == 1:
        return Merge(pages.pop(), len(labels) - 1, 0)
    counts = Counter(labels) if len(pages) < len(labels) else dict.fromkeys(pages, 1)
    owner = own
    if owner is None:
        owner, most = max(counts.items(), key=lambda item: (item[1], -item[0]))
        if most == 1:
            return Merge(None, 0, len(labels) - 1)
    return Merge(owner, counts[owner] - 1, len(labels) - counts[owner])
