"""`dedupcrawl rules why`: what keeps two URLs apart. And what a crawl makes of a URL, which tries rules in doubt."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from dedupcrawl.commands.errors import BadInputError, Command, not_a_url, show
from dedupcrawl.commands.options import EXISTING_FILE, folder_option, json_option
from dedupcrawl.commands.progress import progress
from dedupcrawl.printable import printable
from dedupcrawl.sites import ascii_form, site_of
from dedupcrawl.urls.learning.why import Why, why
from dedupcrawl.urls.normalizer import SiteNormalizer
from dedupcrawl.urls.rule import rule_facts, speaks_for
from dedupcrawl.urls.rule_files import SiteRules, rule_files, rules_of
from dedupcrawl.urls.url_parts import split_url


def in_crawls(rules: SiteRules, url: str) -> dict[str, Any] | None:
    """What a crawl makes of a URL, as JSON values, with what there is for and against the rules that it tries.

    None where `normalize` makes the same of it.
    """
    done, tried = (SiteNormalizer(used).normalize(url) for used in (rules, rules.on_trial()))
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
    return f"{how} (in crawls, which try doubted rules)"


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
    """Tell what keeps the URLs ONE and OTHER of a site apart, by its rules and by crawl LOGS.

    For each way to merge them: the rule that does so for other URLs, or the pages in the logs that contradict it, or
    how few clusters support it. Pages that may be the same page at two times (near SimHashes) count as neither.

    \b
    dedupcrawl rules why 'https://example.com/7?sort=a' 'https://example.com/7' .scrapy/dedup/crawl-log.jsonl
    """
    for url in (one, other):
        if split_url(url) is None:
            raise not_a_url(url)
    site = site_of(one)
    if ascii_form(site) != ascii_form(site_of(other)):
        raise BadInputError(
            f"{printable(one)} and {printable(other)} belong to two sites, and no rule leads from one site to another."
        )
    rules = rules_of(rule_files([folder]) if folder.exists() else {}, site) or SiteRules(site, ())
    pages: tuple[list[str], list[int], dict[int, int]] = [], [], {}
    if logs:
        from dedupcrawl.training.parts import urls_and_clusters  # needs an extra

        with progress() as bar:
            pages = urls_and_clusters(site, logs, bar)
    found = why(one, other, rules, *pages)
    tried = {url: told for url in (one, other) if (told := in_crawls(rules, url)) is not None}
    told = asdict(found) | {"is_met": found.is_met} | ({"in_crawls": tried} if tried else {})
    show(told, (*_lines(found), *_lines_of_crawls(found, (one, other), tried)), as_json=as_json)


def _lines_of_crawls(found: Why, urls: Sequence[str], tried: Mapping[str, dict[str, Any]]) -> Iterator[str]:
    for url, told in tried.items():
        yield f"{url} {in_words(told)}."
    forms = {tried[url]["canonical"] if url in tried else form for url, form in zip(urls, found.canonical, strict=True)}
    if tried:
        yield "So a crawl merges them." if len(forms) == 1 else "A crawl does not merge them either."
        yield from dict.fromkeys(f"  {line}" for told in tried.values() for line in of_doubted(told))


def _lines(found: Why) -> list[str]:
    by = f" by {', '.join(found.rules)}" if found.rules else ""
    if found.is_met:
        return [f"They are merged: {found.canonical[0]}{by}."]
    lines = [f"They are not merged: {' and '.join(found.canonical)}{by}.", f"In the log: {found.log}."]
    if not found.reasons:
        lines.append("No rule could turn one URL into the other.")
    for reason in found.reasons:
        lines.append(f"  {reason.rule}: {reason.why}")
        lines += [f"    {one} is not {other}" for one, other in reason.pairs]
    return lines
