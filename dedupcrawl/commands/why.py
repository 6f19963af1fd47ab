"""`dedupcrawl rules why`: what keeps two URLs apart. And what a crawl makes of a URL, which tries rules in doubt."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import click

from dedupcrawl.commands.console import BadInputError, Command, not_a_url, progress, show
from dedupcrawl.commands.options import EXISTING_FILE, folder_option, json_option
from dedupcrawl.printable import printable
from dedupcrawl.sites import ascii_form, site_of
from dedupcrawl.urls.compiled_rule import CompiledRule
from dedupcrawl.urls.learning.forms import is_near
from dedupcrawl.urls.learning.ledger import Ledger
from dedupcrawl.urls.learning.why import Pair, Reason, hypotheses, judged, made
from dedupcrawl.urls.normalizer import Normalizer, SiteNormalizer
from dedupcrawl.urls.rule import described, rule_facts, speaks_for
from dedupcrawl.urls.rule_book import RuleBook
from dedupcrawl.urls.rule_files import SiteRules, rule_files, rules_of
from dedupcrawl.urls.url_parts import split_url


def in_crawls(rules: SiteRules, url: str) -> dict[str, Any] | None:
    """What a crawl makes of a URL, as JSON values, with what there is for and against the rules that it tries.

    It tries what is doubted, and knows the parts of a site where a rule is off. None where `normalize` makes the same.
    """
    in_parts = Normalizer([rules])
    RuleBook(in_parts, 1.0)  # as in a crawl, it tells the normalizer where a rule is off
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


def becomes(told: dict[str, Any]) -> str:
    """What rules make of a URL, in a line that its name stands before."""
    how = "is asked for as" if told["kind"] == "rewrite" else "is the same page as every URL with the identity"
    return f"{how} {told['canonical']}, by rule {', '.join(told['rules'])}"


def in_words(told: dict[str, Any]) -> str:
    """As `becomes`, of `in_crawls`."""
    how = "is asked for as it is" if told["kind"] == "unchanged" else becomes(told)
    why = "which try doubted rules" if told["doubted"] else "which use no rule where trials spoke against it"
    return f"{how} (in crawls, {why})"


def of_doubted(told: dict[str, Any]) -> list[str]:
    """A line for each rule that is tried."""
    return [f"rule {rule['id']}: {speaks_for(rule)}" for rule in told["doubted"]]


@click.command("why", cls=Command, short_help="Tell what keeps two URLs apart.")
@click.argument("one")
@click.argument("other")
@click.argument("logs", nargs=-1, type=EXISTING_FILE)
@folder_option
@json_option
def why_command(one: str, other: str, logs: Sequence[Path], folder: Path, as_json: bool) -> None:
    """Tell what keeps the URLs ONE and OTHER of a site apart, by its rules and by what training on crawl LOGS would do.

    It names a disabled rule that would merge them, or one that is for other URLs; the rules by which training on the
    logs would merge them; or, for each way to do so that it would not take, the pages that contradict it, or how few
    clusters support it. Pages that may be the same at two times (near SimHashes) count as neither. Nothing is written.

    \b
    dedupcrawl rules why 'https://example.com/7?sort=a' 'https://example.com/7' .scrapy/dedup/crawl-log.jsonl
    """
    urls = one, other
    for url in urls:
        if split_url(url) is None:
            raise not_a_url(url)
    site = site_of(one)
    if ascii_form(site) != ascii_form(site_of(other)):
        raise BadInputError(
            f"{printable(one)} and {printable(other)} belong to two sites, and no rule leads from one site to another."
        )
    rules = rules_of(rule_files([folder]) if folder.exists() else {}, site) or SiteRules(site, ())
    log = None
    if logs:
        from dedupcrawl.training.parts import rows_of  # needs an extra
        from dedupcrawl.training.train import trained_on

        with progress() as bar:
            log = trained_on(rows_of(site, logs, bar), rules)
    told = _told(urls, rules, log)
    tried = {url: crawled for url in urls if (crawled := in_crawls(rules, url)) is not None}
    lines = (*_lines(told), *_lines_of_crawls(told["canonical"], urls, tried))
    pairs = (told["canonical"], *(pair for reason in told["reasons"] for pair in reason["pairs"]))
    is_clear = all(a == b or printable(a) != printable(b) for a, b in pairs)
    show(told | ({"in_crawls": tried} if tried else {}), lines, as_json=as_json, letters=is_clear)


def _told(urls: Pair, rules: SiteRules, log: Ledger | None) -> dict[str, Any]:
    """Whether two URLs are merged, and why not, as JSON values.

    `log` has what is known of the site's pages, under the rules that training on it would leave. Where a disabled rule
    would merge the two, that is why, whatever training does.
    """
    canonical, used = made(urls, rules.site, rules.rules)
    told = {"canonical": canonical, "rules": used, "log": _in_log(urls, log) if log else "", "reasons": []}
    if canonical[0] == canonical[1]:
        return told | {"is_merged": True}
    training_merges = None
    reasons = [*_of_file(urls, rules, are_off=True)]
    if not reasons:
        reasons += _of_file(urls, rules, are_off=False)
        if log is None:
            reasons += (Reason(described(one), "no log was given that may support it") for one in hypotheses(canonical))
        else:
            left, by = made(urls, log.site, log.rules)
            training_merges = left[0] == left[1]
            learned = (rule for rule in log.rules if rule.id in by)
            merged_by = [Reason(described(rule), speaks_for(rule_facts(log.site, rule))) for rule in learned]
            reasons = merged_by if training_merges else reasons + judged(urls, log)
    return told | {
        "is_merged": False,
        "training_merges": training_merges,
        "reasons": list(map(asdict, reasons)),
    }


def _in_log(urls: Pair, log: Ledger) -> str:
    one, other = map(dict(zip(log.urls, log.labels, strict=True)).get, urls)
    if one is None or other is None:
        return "not both in the log"
    if one == other:
        return "one page"
    is_one = is_near(log.bits.get(one), log.bits.get(other))
    return "near pages, which count neither way" if is_one else "different pages"


def _of_file(urls: Pair, rules: SiteRules, *, are_off: bool) -> Iterator[Reason]:
    """Disabled rules that would merge them if they were on, or others that would if they were for all URLs."""
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
            left, _ = made(urls, rules.site, [*rules.rules[:number], tried, *rules.rules[number + 1 :]])
            state = f": {speaks_for(rule_facts(rules.site, rule))}" if are_off else " is for other URLs"
            if left[0] == left[1]:
                yield Reason(described(rule), f"rule {rule.id}{state}")


def _lines_of_crawls(canonical: Pair, urls: Pair, tried: Mapping[str, dict[str, Any]]) -> Iterator[str]:
    for url, told in tried.items():
        yield f"{url} {in_words(told)}."
    forms = {tried[url]["canonical"] if url in tried else form for url, form in zip(urls, canonical, strict=True)}
    if tried:
        yield "So a crawl merges them." if len(forms) == 1 else "A crawl does not merge them either."
        yield from dict.fromkeys(f"  {line}" for told in tried.values() for line in of_doubted(told))


def _lines(told: Mapping[str, Any]) -> Iterator[str]:
    by = f" by {', '.join(told['rules'])}" if told["rules"] else ""
    if told["is_merged"]:
        yield f"They are merged: {told['canonical'][0]}{by}."
        return
    yield f"They are not merged: {' and '.join(told['canonical'])}{by}."
    if told["log"]:
        yield f"In the log: {told['log']}."
    if told["training_merges"] is not None:
        does = "would merge them:" if told["training_merges"] else "would not merge them; of what it leaves apart:"
        yield f"Training on the log {does}"
    if not told["reasons"]:
        yield "  training has no hypothesis that turns one URL into the other"
    for reason in told["reasons"]:
        yield f"  {reason['rule']}: {reason['why']}"
        yield from (f"    {one} is not {other}" for one, other in reason["pairs"])
