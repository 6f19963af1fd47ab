"""From the duplicate clusters of one site to proven rules, and what is known of URLs before a site is looked at."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import islice
from zlib import crc32

from dedupcrawl.core.url_parts import split_url
from dedupcrawl.urls.compiled_rule import CompiledRule, example
from dedupcrawl.urls.learning.forms import Forms
from dedupcrawl.urls.learning.ledger import Ledger, Price, Use
from dedupcrawl.urls.learning.references import hypothesis
from dedupcrawl.urls.learning.search import Candidate, accepted, suggestions
from dedupcrawl.urls.learning.written import only, where_of
from dedupcrawl.urls.rule import Evidence, Rule
from dedupcrawl.urls.rule_files import SiteRules

_INDEX_FILES = tuple(
    f"{name}.{suffix}"
    for name in ("index", "default")
    for suffix in ("html", "htm", "shtml", "php", "asp", "aspx", "jsp", "cgi", "cfm")
)
_TRACKING = ("utm_*", "gclid", "dclid", "gbraid", "wbraid", "fbclid", "msclkid", "yclid", "mc_cid", "mc_eid", "igshid")
_SESSIONS = (
    "PHPSESSID", "phpsessid", "JSESSIONID", "jsessionid", "ASPSESSIONID*", "CFID", "CFTOKEN", "osCsid", "zenid"
)  # fmt: skip
# Names that mean one thing wherever they are: `s` is a session here and a search there, `sid` a story or a song.
_USUALLY_IRRELEVANT = ("sessionid", "printable")
_MAYBE_SESSIONS = ("s", "sid", "session", "session_id")
_ENDS_OF_A_POST = ("trackback", "comment-page-1")
_ENDS = ("page/1", "amp", "print")
_FIRST_PAGES = ("start=0", "offset=0", "page=0", "page=1", "paged=1")


ASSUMED = (
    Rule("tracking", "rewrite", drop=_TRACKING, source="prior"),
    Rule("session-arguments", "rewrite", drop=_SESSIONS, source="prior"),
    Rule("session-path", "rewrite", match="/{path*}/{name};jsessionid={}", to="/{path}/{name}", source="prior"),
)
"""Rules that are used wherever there are URLs for them, unless the site speaks against them."""

SPELLINGS = (
    *(hypothesis(match=f"/{{p*}}/{name}", to="/{p*}/") for name in _INDEX_FILES),
    *(hypothesis(match=f"/{{p*}}/{{last}}/{name}", to="/{p*}/{last}") for name in _INDEX_FILES),
    hypothesis(match="/{p*}/{last}.", to="/{p*}/{last}"),
    *(
        hypothesis(
            match=f"/{{p*}}/{{y:digits}}/{{m:digits}}{day}/{{post}}{end}",
            to=f"/{{p}}/{{y}}/{{m|unpadded}}{day.replace(':digits', '|unpadded')}/{{post}}{end}",
        )
        for day in ("/{d:digits}", "")
        for end in ("", "/")
    ),
    *(hypothesis(match=f"/{{p*}}/{last}{end}", to=f"/{{p*}}{end}") for last in _ENDS_OF_A_POST for end in ("/", "")),
    *(hypothesis(match=f"?{name}={{:token}}", drop=(name,)) for name in _MAYBE_SESSIONS),
    hypothesis(drop=("replytocom",)),
    hypothesis(drop=("amp",)),
    hypothesis(convert="sort-query"),
    hypothesis(convert="collapse-slashes"),
    hypothesis(match="http://", to="https://"),
    hypothesis(match="//www.{host}", to="//{host}"),
    hypothesis(match="/{p*}/", to="/{p*}"),
)
"""Hypotheses of two spellings of one URL: nobody gives such names to two pages, at least not several times."""

EXPECTED = (
    *SPELLINGS,
    *(hypothesis(match=f"?{arg}", drop=(arg.partition("=")[0],)) for arg in _FIRST_PAGES),
    *(hypothesis(drop=(name,)) for name in _USUALLY_IRRELEVANT),
    hypothesis(convert="drop-empty"),
    hypothesis(convert="last-of-name"),
    *(hypothesis(match=f"/{{p*}}/{last}/", to="/{p*}/") for last in _ENDS),
    *(hypothesis(match=f"/{{p*}}/{last}", to="/{p*}") for last in _ENDS),
)
"""Hypotheses that are tried on every site, and believed when a single cluster speaks for them."""

_ROUNDS = 2  # six mirrors, seed 3: recall .591 at .986, with three .596 at .986 in twice the time
# Share of the URLs of a rewrite whose target is a URL of the site. .25 and 1: the same merges, seeds 3 and 4.
_REAL_TARGETS = 0.5
_EXAMPLES = 3


def learn_site(  # noqa: PLR0913 - URLs, labels, and numbers with defaults that were measured
    site: str,
    urls: Sequence[str],
    labels: Sequence[int],
    *,
    sample: Sequence[int] | None = None,
    holdout: float = 0.5,
    seed: int = 0,
    min_precision: float = 0.95,
    min_coverage: int = 0,
    assumed: Sequence[Rule] = ASSUMED,
) -> SiteRules:
    """Learn the rules of a site and test them.

    The clusters are split in two. Transformations are learned from the first part and tested on the second. Contexts
    are fitted to both, because evidence against a rule is rare.

    Args:
        site: Registrable domain of all URLs, as `sites.site_of` tells it.
        urls: Distinct URLs, pages without duplicates included: they are the evidence against.
        labels: Cluster of each URL; equal for URLs that lead to one page. Negative ones are left out.
        sample: Places of the URLs from which rules are learned; they are tested on all. All if None.
        holdout: Share of the clusters in the second part, on which rules are tested.
        seed: Of the split.
        min_precision: Least share of right merges among those of a rule.
        min_coverage: Least number of URLs of the second part to which any rule must apply.
        assumed: Prior knowledge: of URLs in general, of names of arguments, of the software of the site.

    Returns:
        Rules with their evidence, in the order in which they are applied. They include, as disabled or doubted, the
        rules of known software against which the log speaks. None if no rule passed.
    """
    chosen = range(len(urls)) if sample is None else sample

    def split(rows: Iterable[int]) -> Ledger:
        """Those of the URLs that can be learned from, in their order."""
        good = sorted((row for row in rows if labels[row] >= 0 and split_url(urls[row])), key=urls.__getitem__)
        own = [labels[row] for row in good]
        return Ledger(site, [urls[row] for row in good], own, sides(own, holdout, seed))

    ledger = split(chosen)
    price = Price(min_precision)
    pages = {(url.split("/", 3)[2], label) for url, label in zip(ledger.urls, ledger.labels, strict=True)}
    hosts = Counter(host for host, _ in pages)
    proved = _proved([Candidate(rule.on_trial()) for rule in assumed], ledger, price)
    lost = list(ledger.refuted)
    for number in range(_ROUNDS + 1):
        if number == _ROUNDS:  # of a large site all URLs: what the sample did not refute they may, in some part of it
            if len(chosen) < len(urls):
                refuted, ledger = ledger.refuted, split(range(len(urls)))
                ledger.refuted = refuted
            proved, before = _proved(proved, ledger, price, min_coverage), proved
            lost += _lost(before, proved)
        forms = Forms(site, ledger.forms, ledger.labels, ledger.sides)
        if number and not forms.clusters():
            continue
        hypotheses: list[tuple[Rule, int, bool]] = []
        if number < _ROUNDS or len(chosen) < len(urls):
            hypotheses += [(rule, support, False) for rule, support in suggestions(forms, hosts)]
        hypotheses += [(_learned(rule), 0, False) for one in lost for rule in dict.fromkeys((one, _anywhere(one)))]
        if not number:
            hypotheses += [(rule, 0, True) for rule in EXPECTED]
        named = _named(accepted(hypotheses, forms, price), number + 1)
        before = [*proved, *named]
        proved = _proved(before, ledger, price, min_coverage if number == _ROUNDS else 0)
        lost = _lost(before, proved)
    rules = [_with_evidence(one, ledger.uses[one.rule.id], ledger) for one in proved]
    order = {rule.id: place for place, rule in enumerate(assumed)}  # a doubted one is tried before
    return SiteRules(site, tuple(sorted((*rules, *ledger.refuted), key=lambda rule: order.get(rule.id, len(order)))))


def _lost(before: Iterable[Candidate], proved: Iterable[Candidate]) -> list[Rule]:
    """What is to be tried again in contexts: where a rule is wrong may be some part of the site."""
    held = {one.rule.id for one in proved}
    return [one.rule for one in before if one.rule.id not in held and one.rule.source != "prior"]


def _anywhere(rule: Rule) -> Rule:
    return only(replace(rule, within=()), replace(where_of(rule), paths=()))


def _learned(rule: Rule) -> Rule:
    """What is left of a rule that was not thought of because of this log."""
    return replace(rule, source="learned", state="probation", evidence=Evidence(), note="")


def _named(candidates: Iterable[Candidate], number: int) -> list[Candidate]:
    return [replace(one, rule=replace(one.rule, id=f"r{number}-{i}")) for i, one in enumerate(candidates, 1)]


def sides(labels: Sequence[int], holdout: float, seed: int) -> list[int]:
    """The part of each URL, by its cluster: 1 for about a share of `holdout`, else 0; -1 for negative labels."""
    part = {n: -1 if n < 0 else int(crc32(f"{seed}:{n}".encode()) < holdout * (1 << 32)) for n in set(labels)}
    return [part[label] for label in labels]


def _proved(candidates: list[Candidate], ledger: Ledger, price: Price, min_coverage: int = 0) -> list[Candidate]:
    """Those of the candidates that hold, together.

    Each is judged by what it adds to the others; the one that costs most goes first.
    """
    while True:
        ledger.apply([one.rule for one in candidates])
        proved = [one for one in candidates if _is_proved(one, ledger.uses[one.rule.id], price, min_coverage)]
        if proved != candidates:
            ledger.refute(one.rule for one in candidates if one not in proved)
            candidates = proved
            continue
        wrong = [one for one in proved if sum(ledger.uses[one.rule.id].wrong)]
        added = {one.rule.id: ledger.adds(one.rule.id) for one in wrong}
        bad = [one for one in wrong if not price.is_safe(*added[one.rule.id])]
        if not bad:
            return proved
        worst = max(bad, key=lambda one: (_share_of_wrong(*added[one.rule.id]), one.rule.id))
        ledger.refute([worst.rule])
        candidates = [one for one in proved if one is not worst]


def _share_of_wrong(right: int, wrong: int) -> float:
    """Where several rules have a part in the same wrong merges, it is largest for the one that does least besides."""
    return wrong / max(1, right + wrong)


def _is_proved(one: Candidate, use: Use, price: Price, min_coverage: int) -> bool:
    """True when the log bears a rule out; what is assumed or expected of all sites needs less."""
    right, wrong = sum(use.right), sum(use.wrong)
    if use.coverage[1] < min_coverage:
        return False
    if one.rule.source == "software":
        return sum(use.coverage) > 0
    if right < price.min_precision * (right + wrong):
        return False
    if one.rule.source == "prior":
        return sum(use.coverage) > 0
    return use.right[1] > 0 or (one.expected and right > 0)


def _with_evidence(one: Candidate, use: Use, ledger: Ledger) -> Rule:
    """The rule as it goes into the file: a rewrite if most of its targets are URLs of the site."""
    rule = one.rule
    is_prior = rule.source in {"prior", "software"}
    is_real = not is_prior and "{}" not in rule.to and use.real >= _REAL_TARGETS * sum(use.coverage)
    ready = CompiledRule(rule)
    tried = (example(ready, ledger.urls[row], ledger.site) for row in use.rows)
    examples = islice((pair for pair in tried if pair is not None), _EXAMPLES)
    return replace(
        rule,
        kind="rewrite" if is_real else rule.kind,
        source=rule.source if is_prior else "learned",
        evidence=Evidence(one.support, use.coverage[1], use.right[1], use.wrong[1], use.collisions),
        examples=tuple(examples),
    )
