"""`dedupcrawl rules why`: why two URLs are not merged; and how a crawl, which tries doubted rules, rewrites a URL."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from math import ceil
from pathlib import Path
from random import Random
from typing import Any

import click

from dedupcrawl.commands.console import BadInputError, Command, not_a_url, not_read, progress, show
from dedupcrawl.commands.options import EXISTING_FILE, folder_option, json_option
from dedupcrawl.core.url_parts import split_url
from dedupcrawl.crawl_logs.tally import Tally as LogTally
from dedupcrawl.printable import counted, printable
from dedupcrawl.sites import ascii_form, site_of
from dedupcrawl.urls.compiled_rule import CompiledRule
from dedupcrawl.urls.learning.diff import diff
from dedupcrawl.urls.learning.forms import Forms, Tally
from dedupcrawl.urls.learning.learn import EXPECTED
from dedupcrawl.urls.learning.ledger import Ledger, Price
from dedupcrawl.urls.learning.narrowing import specialized
from dedupcrawl.urls.learning.search import candidates, cost_of
from dedupcrawl.urls.normalizer import Normalizer, SiteNormalizer
from dedupcrawl.urls.rule import Rule, described, rule_facts, speaks_for
from dedupcrawl.urls.rule_book import RuleBook
from dedupcrawl.urls.rule_files import SiteRules, checked, rule_files, rules_of
from dedupcrawl.urls.rules_in_use import RulesInUse
from dedupcrawl.urls.spelling import canonical_url

_NAMED = 2  # most pairs of URLs that are shown as evidence against a hypothesis
_PRICE = Price(0.95)  # as in `learn_site`
_OF_ONE_HALF = "no held-out cluster confirms it", "all its clusters are held out for the proof"

Pair = tuple[str, str]


def in_crawls(rules: SiteRules, url: str) -> dict[str, Any] | None:
    """How a crawl rewrites a URL, as JSON values, with the evidence for and against the doubted rules that it tries.

    Unlike `normalize`, a crawl tries doubted rules and knows the sections of a site where a rule is off. None if both
    give the same result.
    """
    normalizer = Normalizer([rules], tries=True)
    in_parts = RulesInUse(normalizer, RuleBook(normalizer, 1.0, Random()))
    done, tried = SiteNormalizer(rules).normalize(url), in_parts.normalize(url)
    if (done.canonical, done.kind) == (tried.canonical, tried.kind):
        return None
    doubted = [rule for rule in rules.rules if rule.state == "doubted" and rule.id in tried.rules]
    return {
        "canonical": tried.canonical,
        "kind": tried.kind,
        "rules": list(tried.rules),
        "doubted": [rule_facts(rules.site, rule) for rule in doubted],
    }


def becomes(values: dict[str, Any]) -> str:
    """The rest of a line that begins with a URL: how rules rewrite it."""
    how = "is asked for as" if values["kind"] == "rewrite" else "is the same page as every URL with the identity"
    return f"{how} {values['canonical']}, {by_rules(values['rules'])}"


def by_rules(rules: Sequence[str]) -> str:
    """The cause of a rewrite: the ids of the rules, or the spelling alone."""
    return f"by rule {', '.join(rules)}" if rules else "as it is spelled"


def in_words(values: dict[str, Any]) -> str:
    """Like `becomes`, for a result of `in_crawls`."""
    how = "is asked for as it is" if values["kind"] == "unchanged" else becomes(values)
    why = "which try doubted rules" if values["doubted"] else "which use no rule that failed its trials there"
    return f"{how} (in crawls, {why})"


def of_doubted(values: dict[str, Any]) -> list[str]:
    """One line for each doubted rule that a crawl tries."""
    return [f"rule {rule['id']}: {speaks_for(rule)}" for rule in values["doubted"]]


@click.command("why", cls=Command, short_help="Say why two URLs are not merged.")
@click.argument("one")
@click.argument("other")
@click.argument("logs", nargs=-1, type=EXISTING_FILE)
@folder_option
@json_option
def why_command(one: str, other: str, logs: Sequence[Path], folder: Path, as_json: bool) -> None:
    """Say why the URLs ONE and OTHER of a site are not merged: by its rules, and by training on crawl LOGS.

    It names a disabled rule that would merge them, or one that does not apply to them; the rules by which training on
    the logs would merge them; or, for each rule that could merge them and that training rejects, the pages that
    contradict it, or how few clusters support it. Nothing is written.

    \b
    dedupcrawl rules why 'https://example.com/7?sort=a' 'https://example.com/7' .scrapy/dedup/crawl-log.jsonl
    """
    for url in (one, other):
        if split_url(url) is None:
            raise not_a_url(url)
    urls = canonical_url(one), canonical_url(other)
    site = site_of(one)
    if ascii_form(site) != ascii_form(site_of(other)):
        raise BadInputError(
            f"{printable(one)} and {printable(other)} belong to two sites, and no rule leads from one site to another."
        )
    rules = rules_of(checked(rule_files([folder])) if folder.exists() else {}, site) or SiteRules(site, ())
    log = None
    if logs:
        from dedupcrawl.training.parts import rows_of
        from dedupcrawl.training.train import trained_on

        tally = LogTally()
        with progress() as bar:
            log = trained_on(rows_of(site, logs, tally, bar), rules)
        for line in not_read(tally):
            click.echo(line, err=True)
    values = _told(urls, rules, log)
    tried = {url: crawled for url in urls if (crawled := in_crawls(rules, url)) is not None}
    lines = (*_lines(values), *_lines_of_crawls(values["canonical"], urls, tried))
    show(values | ({"in_crawls": tried} if tried else {}), lines, as_json=as_json)


def _told(urls: Pair, rules: SiteRules, log: Ledger | None) -> dict[str, Any]:
    """Whether two URLs are merged, or why not, as JSON values.

    `log` knows the site's pages, under the rules that training on it would leave. If a disabled rule would merge the
    two URLs, that rule is the reason, whatever training does.
    """
    canonical, used = _made(urls, rules.site, rules.rules)
    values = {"canonical": canonical, "rules": used, "log": _in_log(urls, log) if log else "", "reasons": []}
    if canonical[0] == canonical[1]:
        return values | {"is_merged": True}
    training_merges = None
    reasons = [*_of_file(urls, rules, are_off=True)]
    if not reasons:
        reasons += _of_file(urls, rules, are_off=False)
        if log is None:
            reasons += (_reason(one, "no log was given that could support it") for one in _hypotheses(canonical))
        else:
            left, by = _made(urls, log.site, log.rules)
            training_merges = left[0] == left[1]
            learned = (rule for rule in log.rules if rule.id in by)
            merged_by = [_reason(rule, speaks_for(rule_facts(log.site, rule))) for rule in learned]
            reasons = merged_by if training_merges else reasons + _judged_by(urls, log)
    return values | {"is_merged": False, "training_merges": training_merges, "reasons": reasons}


def _reason(rule: Rule, why: str, pairs: Sequence[Pair] = ()) -> dict[str, Any]:
    """Why one rule does not merge the two; `pairs` are URLs of different pages that it would merge."""
    return {"rule": described(rule), "why": why, "pairs": pairs}


def _in_log(urls: Pair, log: Ledger) -> str:
    one, other = map(dict(zip(log.urls, log.labels, strict=True)).get, urls)
    if one is None or other is None:
        return "not both in the log"
    if one == other:
        return "one page"
    return "different pages"


def _of_file(urls: Pair, rules: SiteRules, *, are_off: bool) -> Iterator[dict[str, Any]]:
    """Disabled rules that would merge the two if enabled, or else enabled ones that would if they held for all URLs."""
    steps = SiteNormalizer(rules).steps
    parts = [split_url(text) for text in {*urls, *(text for url in urls for _, text in steps(url))}]
    for number, rule in enumerate(rules.rules):
        if are_off != (rule.state == "disabled"):
            continue
        tried = replace(rule, state="active")
        if not are_off:
            tried = replace(rule, hosts=(), within=(), unless=(), match=rule.match if rule.to else "")
        ready = CompiledRule(tried)
        if any(one and ready.apply(one, rules.site) for one in parts):
            left, _ = _made(urls, rules.site, [*rules.rules[:number], tried, *rules.rules[number + 1 :]])
            state = f": {speaks_for(rule_facts(rules.site, rule))}" if are_off else " does not apply to them"
            if left[0] == left[1]:
                yield _reason(rule, f"rule {rule.id}{state}")


def _made(urls: Pair, site: str, rules: Sequence[Rule]) -> tuple[Pair, tuple[str, ...]]:
    """The canonical forms of two URLs of a site under these rules, and the ids of the rules used."""
    one, other = map(SiteNormalizer(SiteRules(site, tuple(rules))).normalize, urls)
    return (one.canonical, other.canonical), tuple(dict.fromkeys((*one.rules, *other.rules)))


def _hypotheses(urls: Pair) -> Iterable[Rule]:
    """Rules that would turn one URL into the other, or make them more similar, for values like theirs."""
    parts = sorted(filter(None, map(split_url, urls)), key=lambda own: (len(own.args), len(own.join())))
    seen: dict[Rule, defaultdict[str, set[str]]] = {}
    for rule, values in diff(parts[1], parts[0], {}) if len(parts) > 1 else ():
        held = seen.setdefault(rule, defaultdict(set))
        for name, value in values.items():
            held[name].add(value)
    return dict.fromkeys(filter(None, (specialized(rule, held, 1) for rule, held in seen.items())))


def _judged_by(urls: Pair, log: Ledger) -> list[dict[str, Any]]:
    """The result of one more round of learning for each hypothesis: the first step that it fails.

    `log` has the site's pages under the rules that training on it leaves; these do not merge the two.
    """
    forms = Forms(log.site, log.forms, log.labels, log.sides)
    return [_judged(rule, urls, forms, log.rules) for rule in _hypotheses(_made(urls, log.site, log.rules)[0])]


def _judged(rule: Rule, urls: Pair, forms: Forms, rules: Sequence[Rule]) -> dict[str, Any]:
    tried = forms.tried(rule)
    is_expected = rule.effect in {one.effect for one in EXPECTED}
    least = 1 if is_expected else ceil(cost_of(rule))
    pairs = _different(tried, forms)
    reason = f"{tried.wrong:,} of {counted(tried.right + tried.wrong, 'merge')} would be wrong"
    if not tried.right and not tried.wrong:
        reason = "no page of the log supports or contradicts it"
    elif tried.right and tried.clusters < least:
        support = f"{counted(tried.clusters, 'cluster')} of the log support{'s' * (tried.clusters == 1)} it"
        reason = f"{support}, and {least} are needed" + f"; {reason}" * (tried.wrong > 0)
    elif tried.right:
        refinements = [*candidates([(rule, tried.clusters, is_expected)], forms, _PRICE)]
        mine = [one for one in refinements if len(set(_made(urls, forms.site, [*rules, one.rule])[0])) == 1]
        if mine:
            halves = {forms.sides[forms.all[row].label] for row in mine[0].counts.rows_with(1)}
            is_of_one = len(halves) == 1 and not is_expected
            but = _OF_ONE_HALF[halves.pop()] if is_of_one else "training does not choose it"
            reason += f"; right as {described(mine[0].rule)}, but {but}"
        elif refinements:
            reason += f"; right only for other URLs, as {described(refinements[0].rule)}"
        else:
            reason += "; no narrower rule is right often enough"
    return _reason(rule, reason, pairs if tried.wrong else ())


def _different(tried: Tally, forms: Forms) -> list[Pair]:
    """A few pairs of different pages that a rule would merge."""
    changed = set(tried.rows)
    first = {form.text: row for row, form in forms.all.items() if row not in changed}
    pairs: list[Pair] = []
    for row, after in zip(tried.rows, tried.after, strict=True):
        one, other = forms.all[first.setdefault(after, row)], forms.all[row]
        if one.label != other.label and len(pairs) < _NAMED:
            pairs.append((one.text, other.text))
    return pairs


def _lines_of_crawls(canonical: Pair, urls: Pair, tried: Mapping[str, dict[str, Any]]) -> Iterator[str]:
    for url, sent in tried.items():
        yield f"{url} {in_words(sent)}."
    forms = {tried[url]["canonical"] if url in tried else form for url, form in zip(urls, canonical, strict=True)}
    if tried:
        yield "So a crawl merges them." if len(forms) == 1 else "A crawl does not merge them either."
        yield from dict.fromkeys(f"  {line}" for sent in tried.values() for line in of_doubted(sent))


def _lines(values: Mapping[str, Any]) -> Iterator[str]:
    by = f" by {', '.join(values['rules'])}" if values["rules"] else ""
    if values["is_merged"]:
        yield f"They are merged: {values['canonical'][0]}{by}."
        return
    yield f"They are not merged: {' and '.join(values['canonical'])}{by}."
    if values["log"]:
        yield f"In the log: {values['log']}."
    if values["training_merges"] is not None:
        does = "would merge them:" if values["training_merges"] else "would not merge them, for these reasons:"
        yield f"Training on the log {does}"
    if not values["reasons"]:
        yield "  training has no hypothesis that turns one URL into the other"
    for reason in values["reasons"]:
        yield f"  {reason['rule']}: {reason['why']}"
        yield from (f"    {one} is not {other}" for one, other in reason["pairs"])
