"""`dedupcrawl normalize`: the canonical form of URLs."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Sequence
from itertools import chain, islice
from pathlib import Path

import click
import msgspec

from dedupcrawl.commands.console import Command
from dedupcrawl.commands.options import json_anyway, rules_option, software_option
from dedupcrawl.core.url_parts import split_url
from dedupcrawl.crawl_logs.blocks import utf8
from dedupcrawl.output import to_json
from dedupcrawl.printable import counted, printable
from dedupcrawl.sites import host_of, without_user
from dedupcrawl.software.program import programs
from dedupcrawl.software.recognition import Recognizer
from dedupcrawl.urls.learning.likely import LikelyRules
from dedupcrawl.urls.normalizer import Normalizer
from dedupcrawl.urls.rule import Rule

_AHEAD = 100_000  # URLs that are read before the first is answered, to recognize software by; some 20 MB
_NAMED = 5  # of what is not a URL
_NO_RULES = (
    "only spellings are changed, because there are no rules for these URLs: a program's rules are used if URLs show "
    "two different signs of it, likely ones if a site has three pairs of spellings, and 'dedupcrawl train' learns "
    "others from a crawl log"
)


@click.command(cls=Command)
@click.argument("urls", nargs=-1)
@rules_option
@software_option
@json_anyway
def command(urls: Sequence[str], rules: Path, software: bool | Path) -> None:
    """Print the canonical form of URLs, one JSON object per line, in input order.

    Without arguments, URLs are read from stdin, one per line; blanks around a URL are removed, and bytes that are not
    UTF-8 are percent-encoded. Two URLs are the same page exactly if their "canonical" is equal; "kind" says whether it
    can be fetched ("unchanged", "rewrite") or only compared ("equivalence"), "rules" which rules made it: none if only
    the spelling differs, such as the case of the host or a default port. Anything that is not a URL is printed
    unchanged and reported on stderr; the exit status is 1 if it was an argument.

    The command uses the rules in rule files, those of known software if the URLs show two different signs of the
    program, and likely rules: for spellings of which the URLs have three pairs, such as /a/index.html and /a/. It does
    not use those that a rule file switches off, because a log or a crawl speaks against them.

    \b
    dedupcrawl normalize https://example.com/wp-login.php 'https://example.com/tea/?replytocom=7'
    dedupcrawl normalize --rules rules/example.com.toml < urls.txt
    cut -f1 crawl.tsv | dedupcrawl normalize | jq -r .canonical | sort -u | wc -l
    """
    if not rules.exists():  # named they must be there: see `rules_option`
        click.echo(
            f"there are no rules at {printable(str(rules))}: only known software's and likely ones are used", err=True
        )
    is_typed = not urls and sys.stdin.isatty()
    raw: Iterable[bytes] = map(os.fsencode, urls) if urls else sys.stdin.buffer
    given = (utf8(url).decode().strip() for url in raw)
    if is_typed:
        click.echo("Type URLs, one a line; Ctrl-D ends.", err=True)
    ahead = [] if is_typed else list(islice(given, _AHEAD))
    recognizer = Recognizer(programs(software))
    likely = LikelyRules()
    for url in ahead:
        recognizer.see_url(url)
        likely.see_url(url)

    def told_by_urls(site: str) -> tuple[Rule, ...]:
        return (*recognizer.rules_of(site), *likely.rules_of(site))

    normalizer = Normalizer.from_paths([rules] if rules.exists() else [], None if is_typed else told_by_urls)
    number = others = 0
    has_rules = False
    for number, url in enumerate(chain(ahead, given), 1):
        normalized = normalizer.normalize(url)
        has_rules = has_rules or normalizer.has_rules_for(url)
        sys.stdout.buffer.write(to_json(msgspec.structs.asdict(normalized)) + b"\n")
        if (url or urls) and normalized.kind == "unchanged" and not _is_url(url):
            others += 1
            if others <= _NAMED:
                place = "" if urls else f"line {number:,}: "
                what = "names a user, as no page's URL does" if without_user(url) != url else "is not a URL"
                click.echo(f"{place}{printable(url)!r} {what}: printed unchanged", err=True)
    sys.stdout.buffer.flush()
    if others > _NAMED:
        click.echo(f"{counted(others - _NAMED, 'more line')} that are not URLs", err=True)
    if number and not has_rules:
        click.echo(_NO_RULES, err=True)
    if others and urls:
        raise SystemExit(1)


def _is_url(text: str) -> bool:
    host = host_of(text)
    return split_url(text) is not None and host.startswith("[") == host.endswith("]")  # of an IPv6 address
