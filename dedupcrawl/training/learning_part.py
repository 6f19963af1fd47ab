"""Learning the rules of all sites of one part: what a worker process does, here or on another machine."""

from __future__ import annotations

import gc
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, fields

import numpy as np
import polars as pl

from dedupcrawl.software.installation import distinct
from dedupcrawl.software.program import Program, programs
from dedupcrawl.software.recognition import Recognizer
from dedupcrawl.training.clusters import clusters_of
from dedupcrawl.training.evaluate import Measured, measured
from dedupcrawl.training.known_parameters import known_parameters
from dedupcrawl.training.merging import is_learned, merged
from dedupcrawl.training.options import LearningOptions
from dedupcrawl.urls.learning.learn import ASSUMED, learn_site
from dedupcrawl.urls.learning.ledger import Price, judge_carried_over
from dedupcrawl.urls.rule import Rule
from dedupcrawl.urls.rule_files import SiteRules

RulesBefore = Callable[[str], Sequence[Rule]]  # site → the rules that its file has
MOST_URLS = 20_000  # of a site that its rules are proved on
MOST_LEARNED = 4_000  # ... that they are learned from: docs/learning.md, "How many URLs it takes"
MOST_OF_A_CLUSTER = 8  # of either
SHARE_OF_CLUSTERS = 0.6  # of either, at most, are URLs with duplicates; the rest are single pages, the evidence against
LONGEST_URL = 4_096  # bytes; of longer ones nothing is learned, so that tokens have a bound
# URLs of a site that known software is told by, evenly spread. Halves of fifteen mirrors, seeds 3 and 4: the same rules
# as from 4,000 on all thirty, at a third of the time; with 500 two lose theirs.
_MOST_RECOGNIZED_BY = 1_000
MULTIPLIER, MODULUS = 2_654_435_761, 1 << 32  # Knuth's multiplicative hash: spreads consecutive numbers


@dataclass(slots=True)
class Learned:
    """What was learned from some sites, and from what."""

    rules: list[SiteRules] = field(default_factory=list)
    # the sites that have rules from earlier logs, and those of these that stay, see `judge_carried_over`
    carried_over: list[SiteRules] = field(default_factory=list)
    refuted: int = 0  # how many rules from earlier logs the pages of these speak against
    sites: int = 0
    urls: int = 0  # distinct URLs with a known page
    clusters: int = 0  # duplicate clusters of at least two URLs
    redundant: int = 0  # URLs less clusters and single pages: what perfect rules would save
    false_clusters: Counter[str] = field(default_factory=Counter)  # reason → clusters that were left out
    left_out: Counter[str] = field(default_factory=Counter)  # reason → URLs that were left out
    measured: Measured = field(default_factory=Measured)  # the rules as they are written, on the URLs of these logs
    # sites that broke the learner, each with its error: a flaw of ours, not of the log
    failed: list[str] = field(default_factory=list)

    def __iadd__(self, other: Learned) -> Learned:
        for one in fields(self):
            total = getattr(self, one.name)
            total += getattr(other, one.name)  # in place where it can be: there may be millions of sites
            setattr(self, one.name, total)
        return self


def learn_sites(rows: pl.DataFrame, options: LearningOptions, rules_before: RulesBefore = lambda _: ()) -> Learned:
    """Learn the rules of the sites in `rows` (`page_rows.PAGE_ROWS`, in the order of the log), all rows of each site.

    What is learned depends on nothing but the rows of each site and its rules before, so sites may be parted in any
    way.
    """
    found = clusters_of(rows)
    learned = Learned(urls=found.urls.height, false_clusters=found.false, left_out=found.left_out)
    with without_cycle_detection():
        for site, pages in found.by_site():
            sizes = np.bincount(pages["cluster"].to_numpy())
            learned += Learned(sites=1, clusters=int((sizes > 1).sum()), redundant=pages.height - len(sizes))
            try:
                before = rules_before(site)
            except Exception as error:
                learned += _failed(site, error)
                continue
            of_site = Learned()
            if before or len(sizes) < pages.height:
                of_site = learn_bounded(site, bounded(pages, MOST_URLS), options, before)
            learned += of_site
            learned.measured += measured(site, pages, rules_after(before, of_site))
    return learned


def rules_after(before: Sequence[Rule], learned: Learned) -> tuple[Rule, ...]:
    """The rules of a site, once what was `learned` of it alone is written beside those that its file had."""
    found = [*learned.rules, *learned.carried_over]
    return merged(before, (rule for one in found for rule in one.rules)) if found else tuple(before)


def learn_bounded(site: str, pages: pl.DataFrame, options: LearningOptions, before: Sequence[Rule] = ()) -> Learned:
    """The rules of one site, or why there are none: a site that breaks the learner must not cost others theirs.

    `pages` are as `bounded` leaves them, `before` the rules that its file has.
    """
    before = tuple(filter(is_learned, before))
    try:
        pages = pages.filter(pl.col("url").str.len_bytes() <= LONGEST_URL)
        rules = _learn_site(site, pages, options, [rule for rule in before if _is_borne_out(rule)])
        urls, labels = pages["url"].to_list() if before else [], pages["cluster"].to_list() if before else []
        new = [rule for rule in rules.rules if not rule.is_off]
        doubted = {rule.effect for rule in rules.rules if rule.is_off}  # by this log, whatever an earlier one has said
        rest = [rule for rule in before if rule.effect not in doubted]
        old = judge_carried_over(site, urls, labels, new, rest, Price(options.min_precision))
    except Exception as error:
        return _failed(site, error)
    carried_over = [SiteRules(site, old.stay)] if before else []
    return Learned(rules=[rules] if rules.rules else [], carried_over=carried_over, refuted=old.refuted)


def _is_borne_out(rule: Rule) -> bool:
    """Known software's, by trials of crawls, which may know the program by more than its URLs."""
    return rule.source == "software" and rule.tried > 0 and not rule.failed


def _failed(site: str, error: Exception) -> Learned:
    return Learned(failed=[f"{site}: {type(error).__name__}: {error}"])


@contextmanager
def without_cycle_detection() -> Iterator[None]:
    """Learning makes many objects and no cycles of them: looking for some would cost a tenth of its time."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def bounded(pages: pl.DataFrame, most: int) -> pl.DataFrame:
    """About so many of a site's rows of `Clusters.urls`: those with duplicates first, single pages beside them.

    URLs of a cluster are taken at equal steps of their order by importance and URL, where neighbours are alike, so that
    every pattern stays; which clusters are taken depends on their numbers alone.
    """
    if pages.height <= most:
        return pages
    sizes = pages.group_by("cluster").agg(size=pl.len())
    sizes = sizes.with_columns(step=(pl.col("size") - 1) // MOST_OF_A_CLUSTER + 1)
    several = pl.col("size") > 1
    left = (pl.col("size") - 1) // pl.col("step") + 1
    clustered, single = sizes.select(left.filter(several).sum(), (~several).sum().alias("single")).row(0)
    of_shared, of_single = below(most, clustered, single)
    mixed = (pl.col("cluster").cast(pl.UInt64) * MULTIPLIER) % MODULUS
    drawn = sizes.filter(mixed < pl.when(several).then(of_shared).otherwise(of_single)).drop("size")
    place = pl.struct(-pl.col("importance").fill_null(0.0), "url").rank("ordinal").over("cluster") - 1
    pages = pages.join(drawn, on="cluster", maintain_order="left")  # before they are put in order, which costs most
    return pages.filter(place % pl.col("step") == 0).drop("step")


def below(most: int, shared: int, single: int) -> tuple[int, int]:
    """The hashes below which those clusters lie that make up so many URLs: of clusters of several, and of single pages.

    Of these two there are so many URLs.
    """
    taken = min(shared, int(most * SHARE_OF_CLUSTERS))
    pairs = ((taken, shared), (most - taken, single))
    of_shared, of_single = (MODULUS if some >= of else some * MODULUS // of for some, of in pairs)
    return of_shared, of_single


def recognized_rules(site: str, urls: Sequence[str], known: Sequence[Program] | None = None) -> tuple[Rule, ...]:
    """The rules of the software that some of the URLs of a site's log tell; of the package's programs if None.

    The learner takes them as priors: they come before all that is learned, and the site's log may refute each.
    """
    recognizer = Recognizer(programs() if known is None else known)
    for url in urls[:: -(-len(urls) // _MOST_RECOGNIZED_BY) or 1]:
        recognizer.see_url(url)
    return recognizer.rules_of(site)


def _learn_site(site: str, pages: pl.DataFrame, options: LearningOptions, tried: Sequence[Rule]) -> SiteRules:
    urls = pages["url"].to_list()
    sample = bounded(pages.with_row_index(), MOST_LEARNED)["index"].to_list()
    looked_at = [urls[row] for row in sample]
    names = known_parameters(looked_at, options.knowledge) if options.knowledge else ()
    known = [Rule(f"known-{name}", "rewrite", drop=(name,), source="prior") for name in names]
    software = distinct((*recognized_rules(site, looked_at, options.software), *tried))
    return learn_site(
        site,
        urls,
        pages["cluster"].to_list(),
        sample=sample,
        holdout=options.holdout,
        seed=options.seed,
        min_precision=options.min_precision,
        min_coverage=options.min_coverage,
        assumed=(*software, *ASSUMED, *known),
    )
