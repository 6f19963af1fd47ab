"""Mirrors: which of the hosts of one page is the target.

Algorithm 4 of Koppula et al. ranks targets by form, length and depth of the URL, and by in-links. Of hosts that have a
page at one path the shorter name would win: `m.` before `www.`, and all pages of the desktop would go to a mobile host
that has only some of them. So hosts are ranked by what they have.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

import numpy as np

from dedupcrawl.urls.learning.groups import grouped_pairs
from dedupcrawl.urls.learning.token_texts import Ints
from dedupcrawl.urls.learning.url_columns import UrlColumns

_OF_DEVICES = {"m", "mobile", "amp", "print", "wap"}  # labels of hosts that show the pages of others in another way

HostRanks = Mapping[str, tuple[int, bool]]
"""Host, with its port → its rank as a target, smaller is better; see `host_ranks`."""
NO_RANKS: HostRanks = MappingProxyType({})
_UNKNOWN = 0, False


def host_ranks(columns: UrlColumns, clusters: Ints) -> HostRanks:
    """Of each host how many pages it has, negative, and whether its name is that of a host for some devices.

    Of two hosts that share pages, the one that has more has more of its own.

    Args:
        columns: URLs.
        clusters: The cluster of each, negative for those that do not count. Shape (n,).
    """
    rows = np.flatnonzero(columns.split & (clusters >= 0))
    pages = rows[grouped_pairs(columns.authorities[rows], clusters[rows])[1]]
    hosts, counts = np.unique(columns.authorities[pages], return_counts=True)
    names = [columns.texts[number] for number in hosts.tolist()]
    return {name: (-count, _is_of_devices(name)) for name, count in zip(names, counts.tolist(), strict=True)}


def mirror_first(hosts: Sequence[str], ranks: HostRanks) -> list[str]:
    """The hosts, those that are to be left for others first; of equal ones those first that were.

    >>> mirror_first(["www.a.com", "m.a.com"], {"www.a.com": (-7, False), "m.a.com": (-7, True)})
    ['m.a.com', 'www.a.com']
    """
    return sorted(hosts, key=lambda host: ranks.get(host, _UNKNOWN), reverse=True)


def _is_of_devices(host: str) -> bool:
    return not _OF_DEVICES.isdisjoint(host.split(".")[:-2])
