"""Learning the rules of all sites of one part: what a worker process does, here or on another machine."""

from __future__ import annotations

import gc
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, fields

from dedupcrawl.software.installation import distinct
from dedupcrawl.software.program import Program, programs
from dedupcrawl.software.recognition import Recognizer
from dedupcrawl.training.clusters import SitePages, clusters_of
from dedupcrawl.training.evaluate import Measured, measured
from dedupcrawl.training.merging import is_learned, merged
from dedupcrawl.training.options import LearningOptions
from dedupcrawl.training.page_rows import SiteRows
from dedupcrawl.urls.learning.learn import ASSUMED, learn_site
from dedupcrawl.urls.learning.ledger import Price, judge_carried_over
from dedupcrawl.urls.learning.likely import likely_rules
from dedupcrawl.urls.rule import Rule, RuleError
from dedupcrawl.urls.rule_files import SiteRules

RulesBefore = Callable[[str], Sequence[Rule]]  # site → the rules that its file has
MOST_URLS = 20_000  # of a site that its rules are proved on
MOST_LEARNED = 4_000  # ... that they are learned from: docs/measured/url-rules.md, "How many URLs it takes"
MOST_OF_A_CLUSTER = 8  # of either
SHARE_OF_CLUSTERS = 0.6  # of either, at most, are URLs with duplicates; the rest are single pages, the evidence against
LONGEST_URL = 4_096  # bytes; of longer ones nothing is learned, so that tokens have a bound
# URLs of a site that known software is told by, evenly spread. Halves of fifteen mirrors, seeds 3 and 4: the same rules
# as from 4,000 on all thirty, at a third of the time; with 500 two lose theirs.
_MOST_RECOGNIZED_BY = 1_000
_MULTIPLIER, _MODULUS = 2_654_435_761, 1 << 32  # Knuth's multiplicative hash: spreads consecutive numbers


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


def learn_sites(rows: SiteRows, options: LearningOptions, rules_before: RulesBefore = lambda _: ()) -> Learned:
    """Learn the rules of some sites from all rows of each, in the order of the log.

    What is learned depends on nothing but the rows of each site and its rules before, so sites may be parted in any
    way.
    """
    learned = Learned()
    with without_cycle_detection():
        for site in sorted(rows):
            site_pages = clusters_of(rows[site])
            pages, sizes = site_pages.pages, site_pages.pages.sizes()
            of_site = Learned(urls=len(pages.urls), false_clusters=site_pages.false, left_out=site_pages.left_out)
            if pages.urls:
                clusters = sum(size > 1 for size in sizes.values())
                of_site += Learned(sites=1, clusters=clusters, redundant=len(pages.urls) - len(sizes))
                of_site += _learn_pages(site, pages, options, rules_before)
            learned += of_site
    return learned


def _learn_pages(site: str, pages: SitePages, options: LearningOptions, rules_before: RulesBefore) -> Learned:
    try:
        before = rules_before(site)
    except RuleError:  # of a person's file
        raise
    except Exception as error:
        return _failed(site, error)
    learned = learn_bounded(site, pages.at(bounded(pages, MOST_URLS)), options, before)
    learned.measured += measured(site, pages, rules_after(before, learned))
    return learned


def rules_after(before: Sequence[Rule], learned: Learned) -> tuple[Rule, ...]:
    """The rules of a site, once what was `learned` of it alone is written beside those that its file had."""
    rules = [*learned.rules, *learned.carried_over]
    return merged(before, (rule for one in rules for rule in one.rules)) if rules else tuple(before)


def learn_bounded(site: str, pages: SitePages, options: LearningOptions, before: Sequence[Rule] = ()) -> Learned:
    """The rules of one site, or why there are none: a site that breaks the learner must not cost others theirs.

    `pages` are those that `bounded` takes, `before` the rules that its file has.
    """
    known = {rule.effect for rule in before}
    before = tuple(filter(is_learned, before))
    try:
        pages = pages.at([row for row, url in enumerate(pages.urls) if len(url.encode()) <= LONGEST_URL])
        rules = SiteRules(site, ())
        if before or len(set(pages.clusters)) < len(pages.urls):
            rules = _learn_site(site, pages, options, [rule for rule in before if _is_borne_out(rule)])
        new = [rule for rule in rules.rules if not rule.is_off]
        doubted = {rule.effect for rule in rules.rules if rule.is_off}  # by this log, whatever an earlier one has said
        likely = (rule for rule in likely_rules(site, pages.urls) if rule.effect not in known)
        rest = [rule for rule in (*before, *likely) if rule.effect not in doubted]
        old = judge_carried_over(site, pages.urls, pages.clusters, new, rest, Price(options.min_precision))
    except Exception as error:
        return _failed(site, error)
    # The URLs of the site would bring back what is known of other sites if its file did not switch it off.
    found = (*rules.rules, *(rule for rule in old.refuted if rule.source != "learned"))
    stay = tuple(rule for rule in old.stay if rule.effect in known)
    return Learned(
        rules=[SiteRules(site, found)] if found else [],
        carried_over=[SiteRules(site, stay)] if before else [],
        refuted=len({rule.effect for rule in old.refuted} & known),
    )


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


def bounded(pages: SitePages, most: int) -> Sequence[int]:
    """A sample of about so many rows of a site's pages: first those with duplicates, then single pages.

    URLs of a cluster are taken at equal steps of their order by importance and URL, where neighbours are alike, so that
    every pattern stays; which clusters are taken depends on their numbers alone.
    """
    if len(pages.urls) <= most:
        return range(len(pages.urls))
    sizes = pages.sizes()
    steps = {cluster: (size - 1) // MOST_OF_A_CLUSTER + 1 for cluster, size in sizes.items()}
    shared = sum((size - 1) // steps[cluster] + 1 for cluster, size in sizes.items() if size > 1)
    of_shared, of_single = _below(most, shared, sum(size == 1 for size in sizes.values()))
    drawn = defaultdict[int, list[int]](list)
    for row, cluster in enumerate(pages.clusters):
        if cluster * _MULTIPLIER % _MODULUS < (of_shared if sizes[cluster] > 1 else of_single):
            drawn[cluster].append(row)
    taken = list[int]()
    for cluster, rows in drawn.items():
        if steps[cluster] > 1:
            rows.sort(key=lambda row: (-pages.importance[row], pages.urls[row]))
        taken += rows[:: steps[cluster]]
    return sorted(taken)


def _below(most: int, shared: int, single: int) -> tuple[int, int]:
    """The hashes below which those clusters lie that make up so many URLs: of clusters of several, and of single pages.

    Of these two there are so many URLs.
    """
    taken = min(shared, int(most * SHARE_OF_CLUSTERS))
    pairs = ((taken, shared), (most - taken, single))
    of_shared, of_single = (_MODULUS if some >= of else some * _MODULUS // of for some, of in pairs)
    return of_shared, of_single


def recognized_rules(site: str, urls: Sequence[str], all_programs: Sequence[Program] | None = None) -> tuple[Rule, ...]:
    """The rules of the software that some of the URLs of a site's log tell; of the package's programs if None.

    The learner takes them as priors: they come before all that is learned, and the site's log may refute each.
    """
    recognizer = Recognizer(programs() if all_programs is None else all_programs)
    for url in urls[:: -(-len(urls) // _MOST_RECOGNIZED_BY) or 1]:
        recognizer.see_url(url)
    return recognizer.rules_of(site)


def _learn_site(site: str, pages: SitePages, options: LearningOptions, tried: Sequence[Rule]) -> SiteRules:
    sample = bounded(pages, MOST_LEARNED)
    looked_at = [pages.urls[row] for row in sample]
    software = distinct((*recognized_rules(site, looked_at, options.software), *tried))
    return learn_site(
        site,
        pages.urls,
        pages.clusters,
        sample=sample,
        holdout=options.holdout,
        seed=options.seed,
        min_precision=options.min_precision,
        min_coverage=options.min_coverage,
        assumed=(*software, *ASSUMED),
    )
