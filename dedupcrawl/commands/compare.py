"""`dedupcrawl compare`: whether two pages are the same, how probable that is, and what differs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import click

from dedupcrawl.commands.console import BadInputError, Command, check_output, show
from dedupcrawl.commands.options import INPUT_FILE, open_existing, read_settings, rows_option, sets_option
from dedupcrawl.commands.selection import forms_unless_file
from dedupcrawl.content.evidence import in_words
from dedupcrawl.content.html import why_unread
from dedupcrawl.content.model import TARGET_PRECISION, Model, load
from dedupcrawl.core.digests import NO_SECRET
from dedupcrawl.crawl_logs.page_files import Body, Wanted, page_of, read_pairs
from dedupcrawl.detection.pairs import Compared, Pairs, UnknownPageError
from dedupcrawl.index.contract import Index
from dedupcrawl.index.open import TemporaryIndex
from dedupcrawl.output import results, to_json
from dedupcrawl.page import Page
from dedupcrawl.printable import counted, printable
from dedupcrawl.settings import DedupSettings
from dedupcrawl.sites import host_of

_OUTCOMES = ("duplicate", "unique", "abstained")
_NO_INDEX = "no --index: what the sites repeat is not known, and a crawl, which learns it, may decide otherwise"


@click.command(cls=Command)
@click.argument("pages", nargs=-1, metavar="[OLD NEW]")
@click.option("--pairs", type=INPUT_FILE, help='Pairs of pages in JSON Lines, in place of OLD and NEW; "-" is stdin.')
@click.option(
    "--index", help="An index with their sites' templates and the pages of URLs.  [default for URLs: the project's]"
)
@click.option("--url", "urls", nargs=2, metavar="OLD NEW", help="The URLs that two files were fetched from.")
@rows_option
@sets_option
@click.option(
    "--json", "as_json", is_flag=True, help="Print one JSON object; with --pairs the counts (needs --output)."
)
def command(  # noqa: PLR0913 - the options of a command, as click passes them
    pages: Sequence[str],
    pairs: Path | None,
    index: str | None,
    urls: tuple[str, str] | None,
    output: Path | None,
    sets: Sequence[str],
    as_json: bool,
) -> None:
    """Tell whether NEW would be dropped if OLD is kept: how probably they are the same page, and what differs.

    OLD and NEW are files of HTML, or URLs of an index. A row of --pairs is {"kept": PAGE, "new": PAGE}, a page as in
    check: {"url": …, "html": …} or {"url": …, "title": …, "text": …}; or a URL of the index. For each row in, one out,
    in the same order: {"probability": …, "verdict": "duplicate" | "unique" | "abstained", "evidence": {…}}.

    \b
    dedupcrawl compare old.html new.html --url https://example.com/42 https://example.com/print/42
    dedupcrawl compare https://example.com/42 https://example.com/print/42
    dedupcrawl compare --pairs pairs.jsonl --index lmdb:pages --output compared.jsonl
    """
    if (pairs is None) == (not pages) or (pages and len(pages) != 2):
        raise click.UsageError("it takes OLD and NEW, or --pairs FILE.")
    if output is not None and pairs is None:
        raise click.UsageError("--output goes with --pairs.")
    settings = deciding(sets)
    if pairs is None:
        _two(pages, urls, index, settings, as_json=as_json)
    else:
        check_output(output, [pairs], as_json=as_json)
        _many(pairs, index, output, settings, as_json=as_json)


def deciding(sets: Sequence[str]) -> DedupSettings:
    """The settings of a command in which the model decides."""
    settings = read_settings({}, sets)
    if not settings.target_precision:
        raise BadInputError(
            "DEDUP_TARGET_PRECISION: with 0 the checks decide, and this command runs none; give .5 or more."
        )
    return settings


def _two(
    pages: Sequence[str], urls: Sequence[str] | None, index: str | None, settings: DedupSettings, *, as_json: bool
) -> None:
    all_forms = [forms_unless_file(page) for page in pages]
    if urls and (any(all_forms) or not all(map(host_of, urls))):
        raise click.UsageError("--url goes with two files, and takes two URLs such as https://example.com/42.")
    with opened(index, needed=any(all_forms)) as kept_in:
        pairs = Pairs(kept_in, load(settings.model), target_precision=settings.target_precision)
        old, new = (
            _known_form(forms, kept_in) if forms else of_file(Path(page), url, settings)
            for page, forms, url in zip(pages, all_forms, urls or (None, None), strict=True)
        )
        for page, read in zip(pages, (old, new), strict=True):
            if isinstance(read, Page) and not read.paragraphs:
                why = why_unread(read)
                raise BadInputError(f"{printable(page)} has no text to compare{': ' if why else ''}{why}.")
        row = _row(pairs.compare(new, old), settings)
    show(row, (row["verdict"], *(f"  {line}" for line in in_words(row["evidence"]))), as_json=as_json)
    if not (urls or any(all_forms)):
        click.echo("no --url: the two are taken for pages of one host, and their links are not known", err=True)
    if not (index or any(all_forms)):
        click.echo(_NO_INDEX, err=True)


def _many(path: Path, index: str | None, output: Path | None, settings: DedupSettings, *, as_json: bool) -> None:
    counts: Counter[str] = Counter()
    without = 0
    model, target = load(settings.model), settings.target_precision
    with comparing(index, model, target) as compare, results(output) as out:
        for pair in read_pairs(path):
            new, kept = (whole(page, settings) for page in (pair.new, pair.kept))
            without += index is None and isinstance(new, Page) and isinstance(kept, Page)
            try:
                row = _row(compare(new, kept), settings)
            except UnknownPageError as error:
                raise BadInputError(f"{printable(pair.where)}: {printable(str(error))}.") from error
            counts[row["verdict"]] += 1
            out.write(to_json(row) + b"\n")
    values = {"pairs": sum(counts.values())} | {outcome: counts[outcome] for outcome in _OUTCOMES}
    if as_json:
        click.echo(to_json(values))
    else:
        counts_in_words = ", ".join(f"{counts[outcome]} {outcome}" for outcome in _OUTCOMES)
        click.echo(f"{counted(values['pairs'], 'pair')}: {counts_in_words}", err=True)
    if without:
        click.echo(_NO_INDEX, err=True)


def _row(compared: Compared, settings: DedupSettings) -> dict[str, Any]:
    least = load(settings.model).threshold(settings.target_precision)
    verdict = "abstained" if not compared.values else "duplicate" if compared.probability >= least else "unique"
    return {"probability": compared.probability, "verdict": verdict, "evidence": compared.evidence}


@contextmanager
def opened(index: str | None, *, needed: bool) -> Iterator[Index]:
    """Open the named index; without a name, the project's if one is `needed`, else an empty one."""
    if index is None and not needed:
        with closing(TemporaryIndex(())) as nothing:
            yield nothing
        return
    with open_existing(index) as existing:
        yield existing


@contextmanager
def comparing(
    index: str | None, model: Model, target_precision: float = TARGET_PRECISION
) -> Iterator[Callable[[Page | str, Page | str], Compared]]:
    """Compare pages with the named index; without a name, URLs with the project's index, and whole pages with none."""
    with ExitStack() as stack:

        @cache
        def pairs(*, needed: bool) -> Pairs:
            secret = None if needed or index is not None else NO_SECRET  # an empty, temporary index needs no secret
            existing = stack.enter_context(opened(index, needed=needed))
            return Pairs(existing, model, secret, target_precision=target_precision)

        yield lambda new, kept: pairs(needed=index is None and str in map(type, (new, kept))).compare(new, kept)


def whole(page: Page | Body | str, settings: DedupSettings) -> Page | str:
    """Read a stored page with the settings of its site; a URL is returned as it is."""
    if isinstance(page, str):
        return page
    of_site = settings.for_url(page.url)
    return page_of(page, Wanted(selector=of_site.selector, ignore=of_site.ignore))


def of_file(path: Path, url: str | None, settings: DedupSettings) -> Page:
    """Read the page in an HTML file, with the URL that it was fetched from or else its path; refuses an empty file."""
    body = path.read_bytes()
    if not body.strip():
        raise BadInputError(f"{printable(str(path))} is empty: name a file of HTML.")
    page = whole(Body(url or path.absolute().as_uri(), body), settings)
    assert isinstance(page, Page)
    return page


def _known_form(forms: Sequence[str], index: Index) -> str:
    existing = (form for form in forms if index.entry(form) or index.verdict(form) or index.attachments(form))
    return next(existing, forms[0])
