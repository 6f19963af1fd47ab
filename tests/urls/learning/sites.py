"""Small made-up sites, to learn from: clusters of URLs of one page each."""

from __future__ import annotations

import random
from collections.abc import Sequence

from dedupcrawl.sites import site_of
from dedupcrawl.urls.learning.learn import learn_site
from dedupcrawl.urls.normalizer import SiteNormalizer
from dedupcrawl.urls.rule import described
from dedupcrawl.urls.rule_files import SiteRules

Clusters = list[list[str]]
SITE = "http://a.com"


def words(chance: random.Random, count: int = 3, delimiter: str = "-") -> str:
    """A few words of small letters."""
    return delimiter.join("".join(chance.choice("abcdefghij") for _ in range(5)) for _ in range(count))


def token(chance: random.Random, length: int = 16) -> str:
    """Hexadecimal digits."""
    return "".join(chance.choice("0123456789abcdef") for _ in range(length))


def others() -> Clusters:
    """Pages that there are once, as on any site."""
    return [[f"{SITE}/about/{name}"] for name in ("us", "press", "jobs", "terms", "help")]


def learned(clusters: Sequence[Sequence[str]]) -> SiteRules:
    """The rules of a site of these clusters and of some other pages."""
    clusters = [*clusters, *others()]
    labels = [label for label, cluster in enumerate(clusters) for _ in cluster]
    return learn_site(site_of(SITE), [url for cluster in clusters for url in cluster], labels)


def rules_of(clusters: Sequence[Sequence[str]]) -> list[str]:
    """What they do, in words."""
    return list(map(described, learned(clusters).rules))


def forms(rules: SiteRules, *paths: str) -> list[str]:
    """The canonical forms of these paths of the site, as paths."""
    normalize = SiteNormalizer(rules).normalize
    return [normalize(f"{SITE}{path}").canonical.removeprefix(SITE) for path in paths]
