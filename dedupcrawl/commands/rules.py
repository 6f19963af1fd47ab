"""`dedupcrawl rules`: look at rules, try them, switch one off, exchange them with duplicate-url-discarder."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import click
import msgspec

from dedupcrawl.commands.console import BadInputError, FailureError, Group, check_there_are, not_a_url, show, table
from dedupcrawl.commands.options import EXISTING_FILE, folder_option, json_anyway, json_option
from dedupcrawl.commands.software import software
from dedupcrawl.commands.why import in_crawls, in_words, of_doubted, why_command
from dedupcrawl.core.url_parts import split_url
from dedupcrawl.output import to_json
from dedupcrawl.printable import counted, printable
from dedupcrawl.sites import site_of
from dedupcrawl.urls.compiled_rule import CompiledRule
from dedupcrawl.urls.discarder import Refused, exported, imported
from dedupcrawl.urls.normalizer import SiteNormalizer
from dedupcrawl.urls.probation import state_in_use
from dedupcrawl.urls.rule import Rule, RuleError, rule_facts, speaks_for
from dedupcrawl.urls.rule_files import (
    MOST_RULES,
    SUFFIX,
    SiteRules,
    added,
    checked,
    file_of,
    path_in,
    read_named,
    read_rules,
    replace_rules,
    rule_files,
    rules_of,
    write_rules,
)
from dedupcrawl.urls.spelling import canonical_url

_HEADS = ("site", "rule", "state", "kind", "source", "coverage", "precision", "at least", "what it does")
_WIDEST = 60  # characters that a column is made wide for
_NAMED = 5  # sites


@click.group(cls=Group)
def command() -> None:
    """Look at rules, try them, switch them off, exchange them.

    Rule files are TOML, one per site, meant to be read and edited; 'rules test' shows what an edit does.

    \b
    dedupcrawl rules list
    dedupcrawl rules show example.com
    dedupcrawl rules test 'https://example.com/print/42?sid=77'
    dedupcrawl rules disable example.com print --note "the print view has the comments"
    dedupcrawl rules import published.json
    dedupcrawl rules export > mine.json
    dedupcrawl rules software
    dedupcrawl rules why 'https://example.com/7?sort=a' 'https://example.com/7' crawl-log.jsonl
    """


@command.command("list", short_help="List rules, one per line.")
@click.argument("sites", nargs=-1)
@folder_option
@json_option
def list_rules(sites: Sequence[str], folder: Path, as_json: bool) -> None:
    """List all rules, or those of SITES: what each does, its coverage and precision on held-out clusters.

    Coverage counts the URLs there that the rule changed. Precision is the share of these that the rule led to their own
    page. The list also shows its 95 % lower bound, because one right use out of one says little. For a rule that is
    doubted, or that a log or a crawl has switched off, the list shows how often it was right and wrong in logs and in
    trials. The rules of a site are applied in the order of this list, again and again until nothing changes.

    \b
    dedupcrawl rules list
    dedupcrawl rules list example.com --json | jq '.rules[] | select(.precision < 0.98)'
    """
    listed = [(site_rules.site, rule) for site_rules in _chosen(folder, sites) for rule in site_rules.rules]
    facts = [rule_facts(*row) for row in listed]
    rows = [_HEADS, *(_cells(*row) for row in listed)]
    show({"rules": facts}, table(rows, _WIDEST) if listed else (), as_json=as_json)


@command.command("show", short_help="Show the rules of a site, with counts and examples.")
@click.argument("site")
@click.argument("rule_id", required=False)
@folder_option
@json_option
def show_rules(site: str, rule_id: str | None, folder: Path, as_json: bool) -> None:
    """Show the rules of SITE, or the one named RULE_ID, as they are in the file, with counts and examples.

    For rules that are off, it first shows how often they were right and wrong in logs and in trials.

    \b
    dedupcrawl rules show example.com
    dedupcrawl rules show example.com sid
    """
    path, site_rules = _of_site(folder, site)
    rules = site_rules.rules if rule_id is None else (_of_id(site_rules, rule_id),)
    shown = SiteRules(site_rules.site, rules)
    found_out = [f"# {rule.id}: {speaks_for(rule_facts(shown.site, rule))}" for rule in rules if _is_found_out(rule)]
    toml = msgspec.toml.encode(shown.to_dict()).decode().rstrip().split("\n")
    show(shown.to_dict(), (f"# {path}", *found_out, *toml), as_json=as_json)


@command.command(short_help="Try the rules on URLs, or on their own examples.")
@click.argument("urls", nargs=-1)
@folder_option
@json_option
def test(urls: Sequence[str], folder: Path, as_json: bool) -> None:
    """Try the rules on URLS, step by step; without URLS, on the examples that the rules themselves carry.

    If a crawl, which tries doubted rules, would rewrite a URL differently, the command says so and why. Without URLS,
    it reads every rule file; the exit status is 1 if one cannot be read, or an example no longer holds.

    \b
    dedupcrawl rules test 'https://example.com/print/42?sid=77'
    dedupcrawl rules test
    """
    if not urls:
        _test_examples(folder, as_json)
        return
    for url in urls:
        if split_url(url) is None:
            raise not_a_url(url)
    files = _files(folder)
    tried = [_steps(url, files) for url in urls]
    show({"tests": tried}, (line for one in tried for line in _lines_of_test(one)), as_json=as_json)


def _lines_of_test(one: dict[str, Any]) -> Iterator[str]:
    yield one["url"]
    yield from (f"  {step['rule']} → {step['url']}" for step in one["steps"])
    yield f"  {one['kind']}: {one['canonical']}"
    if crawled := one.get("in_crawls"):
        yield f"  it {in_words(crawled)}"
        yield from (f"    {line}" for line in of_doubted(crawled))


@command.command(short_help="Switch a rule off, or on again.")
@click.argument("site")
@click.argument("rule_id")
@click.option("--note", default="", help="Why, for the next reader of the file.")
@click.option("--undo", is_flag=True, help="Switch it on again.")
@folder_option
@json_option
def disable(site: str, rule_id: str, note: str, undo: bool, folder: Path, as_json: bool) -> None:  # noqa: PLR0913 - the options of a command, as click passes them
    """Switch off the rule RULE_ID of SITE. It stays in the file, and off when it is learned again.

    --undo switches it on again, without the note: on probation if its trials were not finished, or some of them failed.

    \b
    dedupcrawl rules disable example.com print --note "the print view has the comments"
    dedupcrawl rules disable example.com print --undo
    """
    path, site_rules = _of_site(folder, site)
    rule = _of_id(site_rules, rule_id)
    if not undo:
        changed = replace(rule, state="disabled", note=note or rule.note)
    elif rule.state == "disabled":
        changed = replace(rule, state=state_in_use(rule), note=note)  # the old note said why it was off
    else:
        changed = replace(rule, note=note or rule.note)
    if changed != rule:
        replace_rules(path, [changed if one is rule else one for one in site_rules.rules])
    if as_json:
        click.echo(to_json(rule_facts(site_rules.site, changed)))
    else:
        was_on = "not disabled, its state is " if undo and rule.state != "disabled" else ""
        state = "on probation" if changed.state == "probation" and not was_on else changed.state
        click.echo(f"{printable(str(path))}: {printable(rule_id)} is {was_on}{state}", err=True)


@command.command("import", short_help="Import rules from duplicate-url-discarder.")
@click.argument("files", nargs=-1, required=True, type=EXISTING_FILE)
@folder_option
@json_option
def import_rules(files: Sequence[Path], folder: Path, as_json: bool) -> None:
    """Add the rules in duplicate-url-discarder's JSON FILES after those that are there.

    Left out, and reported on stderr: rules for every site, arguments to keep rather than drop, its normalizer,
    patterns with a query, fragment, scheme, port or exception, a * inside a segment. Imported rules are case-sensitive
    and match whole segments, so they never apply to more URLs than the original.

    \b
    dedupcrawl rules import queryRemoval/*.json --rules rules/
    """
    count, sites, refused = 0, set(), list[Refused]()
    for file in files:
        try:
            rules_read, not_taken = imported(msgspec.json.decode(file.read_bytes()))
        except (msgspec.DecodeError, RecursionError) as error:
            why = "too deep" if isinstance(error, RecursionError) else printable(str(error))
            raise BadInputError(
                f"{file} is not JSON ({why}): it takes files of rules as duplicate-url-discarder has "
                "them, arrays of objects."
            ) from error
        except RuleError as error:
            raise BadInputError(f"{file}: {printable(str(error))}") from error
        refused += not_taken
        for new in rules_read:
            path = path_in(folder, new.site)
            old = read_rules(path).rules if path.exists() else ()
            more = added(old, new.rules)[len(old) :]
            if len(old) + len(more) > MOST_RULES:  # the file could not be read any more
                raise BadInputError(
                    f"{printable(str(path))}: a site has at most {MOST_RULES:,} rules; {file} has more."
                )
            if more:
                count += len(more)
                sites.add(new.site)
                if path.exists():
                    replace_rules(path, [*old, *more])
                else:
                    write_rules(folder, SiteRules(new.site, more))
    _tell_refused(refused)
    if as_json:
        reasons = Counter(one.why for one in refused)
        click.echo(to_json({"imported": count, "sites": len(sites), "refused": dict(reasons)}))
    else:
        click.echo(f"{counted(count, 'rule')} for {counted(len(sites), 'site')}")


command.add_command(software)
command.add_command(why_command)


@command.command("export", short_help="Print rules for duplicate-url-discarder.")
@click.argument("sites", nargs=-1)
@folder_option
@json_anyway
def export_rules(sites: Sequence[str], folder: Path) -> None:
    """Print the active rules, or those of SITES, as a JSON file of duplicate-url-discarder.

    Left out, and reported on stderr: equivalences, conversions, rewritten values, changes of paths other than the
    removal of segments, and rules for some hosts or values only.

    \b
    dedupcrawl rules export > rules.json
    """
    rows, refused = exported(_chosen(folder, sites))
    _tell_refused(refused)
    sys.stdout.buffer.write(to_json(rows, indent=2) + b"\n")


def _cells(site: str, rule: Rule) -> tuple[str, ...]:
    """A row under `_HEADS`."""
    facts = rule_facts(site, rule)
    proof = ("-", "-", "-")
    if facts["coverage"]:
        proof = (f"{facts['coverage']:,}", f"{facts['precision']:.3f}", f"{facts['precision_at_least']:.3f}")
    does = facts["does"]
    if _is_found_out(rule):
        does += f": {speaks_for(facts)}"
    return tuple(map(printable, (site, rule.id, rule.state, rule.kind, rule.source, *proof, does)))


def _is_found_out(rule: Rule) -> bool:
    """True when it is off, and a log or trials tell why."""
    return rule.is_off and bool(rule.tried or rule.evidence.coverage)


def _files(folder: Path) -> dict[str, Path]:
    check_there_are(folder)
    return checked(rule_files([folder]))


def _chosen(folder: Path, sites: Sequence[str]) -> Iterator[SiteRules]:
    if sites:
        for site in sites:
            yield _of_site(folder, site)[1]
        return
    for _, path in sorted(_files(folder).items()):
        yield read_rules(path)


def _of_site(folder: Path, site: str) -> tuple[Path, SiteRules]:
    """The rules of the site that a URL, host or site belongs to."""
    files = _files(folder)
    path = file_of(files, site_of(site))
    if path is None and Path(site).exists():
        raise BadInputError(f"{printable(site)} is a path: rules are named by their site, and their folder by --rules.")
    if path is None:
        sites = [printable(name.removesuffix(SUFFIX)) for name in sorted(files)]
        some = ", ".join(sites[:_NAMED]) + (", …" if len(sites) > _NAMED else "")
        raise BadInputError(
            f"{folder} has no rules for {printable(site)}, {f'but for {some}' if some else 'and none for other sites'}."
        )
    return path, read_rules(path)


def _of_id(site_rules: SiteRules, rule_id: str) -> Rule:
    for rule in site_rules.rules:
        if rule.id == rule_id:
            return rule
    ids = ", ".join(printable(rule.id) for rule in site_rules.rules)
    raise BadInputError(f"{printable(site_rules.site)} has no rule {printable(rule_id)!r}: it has {ids}.")


def _steps(url: str, files: dict[str, Path]) -> dict[str, Any]:
    site = site_of(url)
    rules = rules_of(files, site) or SiteRules(site, ())
    normalizer = SiteNormalizer(rules)
    done = normalizer.normalize(url)
    steps = [{"rule": name, "url": after} for name, after in normalizer.steps(url)]
    values = {"url": url, "site": site, "steps": steps, "canonical": done.canonical, "kind": done.kind}
    tried = in_crawls(rules, url)
    return values if tried is None else values | {"in_crawls": tried}


def _test_examples(folder: Path, as_json: bool) -> None:
    check_there_are(folder)
    examples, problems = 0, []
    for _, path in sorted(rule_files([folder]).items()):
        try:
            site_rules = read_named(path)
        except RuleError as error:
            problems.append(str(error))
            continue
        for rule in site_rules.rules:
            for url, expected in rule.examples:
                examples += 1
                parts = split_url(canonical_url(url))
                after = CompiledRule(rule).apply(parts, site_rules.site) if parts else None
                result = after.join() if after else url
                if result != canonical_url(expected):
                    problems.append(f"{path}: {rule.id} makes {result} of {url}, not {expected}")
    show({"examples": examples, "problems": problems}, problems, as_json=as_json)
    if problems:
        raise FailureError(f"{counted(len(problems), 'problem')} in {folder}.")
    if not as_json:
        click.echo(f"{counted(examples, 'example')} hold{'s' if examples == 1 else ''}")


def _tell_refused(refused: Sequence[Refused]) -> None:
    for why, count in Counter(one.why for one in refused).most_common():
        example = next(one.what for one in refused if one.why == why)
        click.echo(f"{count} left out: {why} ({printable(example)})", err=True)
