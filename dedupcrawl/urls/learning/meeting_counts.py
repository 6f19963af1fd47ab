"""Which URLs of a site meet at one form, and whether they should: counted by column."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dedupcrawl.urls.learning.groups import grouped, places
from dedupcrawl.urls.learning.token_runs import Hashes
from dedupcrawl.urls.learning.token_texts import ABSENT, Bools, Ints

_MOST_OF_A_CLUSTER = 20  # URLs


@dataclass(frozen=True, slots=True)
class Counts:
    """What the rules of a site bring together.

    Attributes:
        right: URLs that met others of their cluster, less one for each form; of a cluster at most `_MOST_OF_A_CLUSTER`
            at one form, so that one page with a hundred thousand URLs does not hide what is wrong with all others.
        wrong: URLs that met others of another cluster.
    """

    right: int
    wrong: int


@dataclass(frozen=True, slots=True)
class UrlMeetings:
    """The URLs that some rule has changed, and those that others have come to, sorted by form and cluster.

    Attributes:
        rows: Numbers of the URLs. Shape (m,), as all others.
        form: Number of the form, from 0 up.
        same: URLs of this URL's cluster at this form.
        leads: True when its cluster is the one that is right at this form: the largest, of equally large ones that of
            the URL which had the form from the start, else that with the smallest label.
        starts: True for the first URL of each cluster at a form.
        with_unchanged: True when one URL at this form had it from the start.
    """

    rows: Ints
    form: Ints
    same: Ints
    leads: Bools
    starts: Bools
    with_unchanged: Bools

    @classmethod
    def of(cls, forms: Hashes, histories: Ints, labels: Ints, sides: Ints) -> UrlMeetings:
        """Find them.

        Args:
            forms: Number of the form of each URL. Shape (n,), as all others; n³ must be less than 2^63.
            histories: 0 for URLs that no rule has changed.
            labels: Cluster, from 0 up, small numbers.
            sides: Negative for URLs that do not count.
        """
        there = sides >= 0
        changed = np.flatnonzero(there & (histories > 0))
        group, first = grouped(forms[changed])
        order = np.argsort(forms[changed[first]])  # forms count in the order of their hashes, which is as good as none
        first, rank = first[order], np.empty(len(first), dtype=np.int64)
        rank[order] = np.arange(len(first))
        form = rank[group]
        still = np.flatnonzero(there & (histories == 0)) if changed.size else changed
        place = places(forms[changed[first]], forms[still])
        rows = np.concatenate([changed, still[place != ABSENT]])
        form = np.concatenate([form, place[place != ABSENT]])
        # Sorted by form, cluster and row: together they are one number.
        count, clusters = len(forms), int(labels.max(initial=0)) + 1
        keys = np.sort((form * clusters + labels[rows]) * count + rows)
        rows, form = keys % max(count, 1), keys // max(count * clusters, 1)
        starts = np.ones(len(rows), dtype=np.bool_)
        starts[1:] = (form[1:] != form[:-1]) | (labels[rows][1:] != labels[rows][:-1])
        cluster = np.cumsum(starts) - 1
        same = np.bincount(cluster)[cluster] if len(rows) else cluster
        unchanged = histories[rows] == 0
        with_unchanged = np.zeros(len(first), dtype=np.bool_)
        with_unchanged[form[unchanged]] = True
        hosts = np.zeros(len(rows), dtype=np.bool_)
        hosts[cluster[unchanged]] = True
        leads = np.ones(len(rows), dtype=np.bool_)
        several = np.bincount(form[starts], minlength=len(with_unchanged)) > 1
        heads = np.flatnonzero(starts & several[form])
        ranked = heads[np.lexsort((-labels[rows[heads]], hosts[cluster[heads]], same[heads], form[heads]))]
        last = ranked[np.append(form[ranked][1:] != form[ranked][:-1], True)[: len(ranked)]]
        leader = np.full(len(several), ABSENT, dtype=np.int64)
        leader[form[last]] = cluster[last]
        contested = np.flatnonzero(several[form])
        leads[contested] = cluster[contested] == leader[form[contested]]
        return cls(rows, form, same, leads, starts, with_unchanged[form])

    @property
    def right(self) -> Bools:
        """The URLs that met another one of their cluster, which is the right one. Shape (m,)."""
        return self.leads & (self.same > 1)

    @property
    def collides(self) -> Bools:
        """The URLs at forms at which several clusters meet. Shape (m,)."""
        forms = np.zeros(len(self.rows), dtype=np.bool_)
        forms[self.form[~self.leads]] = True
        return forms[self.form]

    def colliding(self) -> list[Ints]:
        """The URLs of each form at which several clusters meet, in the order of the first URL of each."""
        those = self.collides
        rows, form = self.rows[those], self.form[those]
        if not rows.size:
            return []
        starts = np.flatnonzero(np.append(True, form[1:] != form[:-1]))
        groups = np.split(rows, starts[1:])
        return [groups[i] for i in np.argsort(np.minimum.reduceat(rows, starts)).tolist()]

    def counts(self) -> Counts:
        """What is right and wrong, over the whole site."""
        most = np.minimum(self.same, _MOST_OF_A_CLUSTER)
        right = most[self.starts & self.leads] - 1
        return Counts(int(right.sum()), int(most[self.starts & ~self.leads].sum()))
