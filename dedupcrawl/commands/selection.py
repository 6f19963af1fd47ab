"""The pages that a command is applied to, from its arguments and options, and their URLs in the index."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

import click
from w3lib.url import safe_url_string

from dedupcrawl.aliases.alias import Alias
from dedupcrawl.commands.console import BadInputError, not_a_url
from dedupcrawl.core.url_parts import UrlParts, split_url, without_default_port
from dedupcrawl.index.contract import Index
from dedupcrawl.index.record import Recorded
from dedupcrawl.index.runs import Run, read_runs
from dedupcrawl.page import page_of_item
from dedupcrawl.printable import printable
from dedupcrawl.setting import age as read_age
from dedupcrawl.sites import host_of, site_of, without_user
from dedupcrawl.urls.spelling import LONGEST_URL

# A name such as page.html is that of a file, not of a host.
_BARE_HOST = re.compile(
    r"(?![^/?#]*\.html?\Z)(?:localhost|\[[0-9a-fA-F:.]+\]|[^\s/?#:@]+\.[^\s/?#:@.]+)(?::\d+)?(?:[/?#]|\Z)"
)


def forms_of(url: str) -> list[str]:
    """`url` as given, and as Scrapy writes it: escaped, without fragment, host in lower case, with a scheme and a path.

    For a bare host, the form without the slash comes last. The list is empty if `url` is no web URL, or too long.

    >>> forms_of("Example.com/a b#top")
    ['http://example.com/a%20b', 'http://Example.com/a%20b', 'https://example.com/a%20b', 'https://Example.com/a%20b']
    """
    typed = without_user(url.strip())
    if len(typed) > LONGEST_URL:
        return []
    if _BARE_HOST.match(typed):
        return list(dict.fromkeys(form for scheme in ("http", "https") for form in _forms(f"{scheme}://{typed}")))
    forms = list(_forms(typed))
    return list(dict.fromkeys(forms if typed in forms else [typed, *forms])) if forms else []


def forms_unless_file(given: str) -> list[str]:
    """The `forms_of` a URL, or an empty list for an existing file; refuses anything else."""
    path = Path(given)
    forms = [] if path.is_file() else forms_of(given)
    if not forms and path.is_dir():
        raise BadInputError(f"{printable(given)!r} is a folder: name a file of HTML in it, or a URL.")
    if not forms and not path.is_file():
        raise BadInputError(f"{printable(given)!r} is neither a file nor a URL.")
    return forms


def _forms(url: str) -> Iterator[str]:
    try:
        parts = split_url(safe_url_string(url))
    except ValueError:  # also UnicodeError
        return
    if parts is None:
        return
    scheme = parts.scheme.lower()
    host = without_default_port(scheme, parts.authority)
    for authority in (host, parts.authority):
        plain = UrlParts(scheme, authority, parts.segments or [""], parts.args, parts.separators, "")
        yield plain.join()
        if plain.segments == [""]:  # http://host and http://host/ are one page to Scrapy
            yield plain.with_segments([]).join()


@dataclass(frozen=True, slots=True)
class Selection:
    """The conditions that a page must meet; all that are set must hold."""

    urls: frozenset[str] = frozenset()  # one of these, in any form that a crawl may have written; empty: any URL
    pages: frozenset[str] = frozenset()  # those of them whose items, known by position, are selected too
    site: str | None = None  # host or registrable domain
    run: str | None = None  # the crawl
    before: float | None = None  # seconds since the epoch; the page must be older

    def takes(self, *urls: str, run: str, at: float) -> bool:
        """Whether the selection includes a page that is known under these URLs."""
        return (
            (not self.urls or not self.urls.isdisjoint(urls) or not self.pages.isdisjoint(map(page_of_item, urls)))
            and (self.site is None or any(self.site in (host_of(url), site_of(url)) for url in urls))
            and (self.run is None or run == self.run)
            and (self.before is None or at < self.before)
        )


def selection(
    urls: Sequence[str], site: str | None, run: str | None, older_than: str | None = None, *, now: float = 0.0
) -> Selection:
    """The selection that the options of a command describe; refuses an invalid URL, site or age."""
    forms: set[str] = set()
    pages: set[str] = set()
    for url in urls:
        all_forms = forms_of(url)
        if not all_forms:
            raise not_a_url(url)
        forms |= {url, *all_forms}
        if page_of_item(url) is None:
            pages |= {url, *all_forms}
    if site is not None and (not site or host_of(site) != site.lower()):
        raise BadInputError(f"--site takes a host or registrable domain such as example.com, not {printable(site)!r}.")
    try:
        age = None if older_than is None else read_age(older_than)
    except ValueError:
        raise BadInputError(
            f"--older-than takes an age such as 30d or 12h, not {printable(older_than or '')!r}."
        ) from None
    return Selection(frozenset(forms), frozenset(pages), site and site.lower(), run, None if age is None else now - age)


def of_aliases(wanted: Selection) -> Callable[[str, bytes], bool]:
    """A test whether the selection includes an alias, by its URL (empty if unknown) or by its target."""

    def is_meant(url: str, content: bytes) -> bool:
        alias = Alias.from_bytes(content)
        return alias is not None and wanted.takes(url, alias.target, run=alias.run, at=alias.at)

    return is_meant


def needs_one(*conditions: object) -> None:
    """Refuse to select everything if no condition was given."""
    if not any(conditions):
        raise click.UsageError("say which pages: URLs, or one of the options.")


def standing(index: Index, rows: Iterable[Recorded]) -> Iterator[Recorded]:
    """The verdicts of duplicate among `rows` that still stand: the newest or withdrawn ones on pages not kept since.

    If several crawls recorded exactly the same verdict on a page, it appears several times.
    """
    for row in rows:
        verdict = row.verdict
        if verdict.is_duplicate and index.verdict(verdict.url) in (None, verdict):
            entry = index.entry(verdict.url)
            if entry is None or entry.kept_at < row.at:
                yield row


_NAMED = 5  # most known names that an error lists


def chosen_run(index: Index, name: str) -> tuple[list[Run], str | None]:
    """All runs that an index remembers, and the name of the chosen one: None for all of them, or if there are none."""
    runs = read_runs(index)
    names = [run.name for run in runs]
    if name == "all" or (name == "last" and not runs):
        return runs, None
    if name == "last":
        return runs, names[-1]
    _check("run", name, reversed(names))
    return runs, name


def check_known(index: Index, wanted: Selection, rule: str | None = None) -> None:
    """Refuse a run, site or rule that the index does not know; the error lists some that it knows."""
    if rule is not None:
        _check("rule", rule, (name for rewrite in index.rewrites() for name in rewrite.rules))
    if wanted.run is not None:
        runs = (run.name for run in reversed(read_runs(index)))
        _check("run", wanted.run, chain(runs, (run for _, run in _all(index))))
    if wanted.site is not None:
        site = wanted.site
        _check("site", site, (site if host_of(url) == site else site_of(url) for url, _ in _all(index)))


def _all(index: Index) -> Iterator[tuple[str, str]]:
    yield from ((rewrite.url, rewrite.run) for rewrite in index.rewrites())
    yield from ((row.verdict.url, row.run) for row in chain(index.restored(), index.recorded()))
    yield from ((entry.source, entry.run) for entry in index.entries())


def _check(what: str, name: str, names: Iterable[str]) -> None:
    """Raise BadInputError, which lists the first few known names, unless `name` is a known one."""
    some: dict[str, None] = {}
    for one in names:
        if one == name:
            return
        if len(some) <= _NAMED:
            some[one] = None
    shown = ", ".join(map(printable, list(some)[:_NAMED])) + (", …" if len(some) > _NAMED else "")
    raise BadInputError(f"the index knows no {what} '{printable(name)}', {f'but {shown}' if some else 'and no other'}.")
