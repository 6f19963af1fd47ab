"""`dedupcrawl compare`: whether two pages are one, how probable that is, and what differs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import click

from dedupcrawl.commands.errors import BadInputError, Command, check_output, show
from dedupcrawl.commands.options import EXISTING_FILE, open_existing, read_settings, rows_option, sets_option
from dedupcrawl.commands.selection import forms_unless_file
from dedupcrawl.content.evidence import in_words
from dedupcrawl.content.html import why_unread
from dedupcrawl.content.model import load
from dedupcrawl.counts import counted
from dedupcrawl.crawl_logs.page_files import Markup, Wanted, page_of, read_pairs
from dedupcrawl.detection.pairs import Compared, Pairs, UnknownPageError
from dedupcrawl.index.contract import Index
from dedupcrawl.index.open import TemporaryIndex
from dedupcrawl.output import results, to_json
from dedupcrawl.page import Page
from dedupcrawl.printable import printable
from dedupcrawl.settings import DedupSettings

_OUTCOMES = ("duplicate", "unique", "abstained")


@click.command(cls=Command)
@click.argument("pages", nargs=-1, metavar="[OLD NEW]")
@click.option("--pairs", type=EXISTING_FILE, help="Pairs of pages in JSON Lines, in place of OLD and NEW.")
@click.option(
    "--index", help="An index that knows what their sites repeat, and URLs.  [default for URLs: the project's]"
)
@rows_option
@sets_option
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object for OLD and NEW.")
def command(  # noqa: PLR0913 - the options of a command, as click passes them
    pages: Sequence[str], pairs: Path | None, index: str | None, output: Path | None, sets: Sequence[str], as_json: bool
) -> None:
    """Tell whether NEW would be dropped if OLD is kept: how probably they are the same page, and what differs.

    OLD and NEW are files of HTML, or URLs of an index. A row of --pairs is {"kept": PAGE, "new": PAGE}, a page as in
    check: {"url": …, "html": …} or {"url": …, "title": …, "text": …}; or a URL of the index. For each row in, one out,
    in the same order: {"probability": …, "verdict": "duplicate" | "unique" | "abstained", "evidence": {…}}.

    \b
    dedupcrawl compare old.html new.html
    dedupcrawl compare https://example.com/42 https://example.com/print/42
    dedupcrawl compare --pairs pairs.jsonl --index lmdb:pages --output compared.jsonl
    """
    if (pairs is None) == (not pages) or (pages and len(pages) != 2):
        raise click.UsageError("it takes OLD and NEW, or --pairs FILE.")
    if output is not None and pairs is None:
        raise click.UsageError("--output goes with --pairs.")
    settings = read_settings({}, sets)
    if not settings.target_precision:
        raise BadInputError(
            "DEDUP_TARGET_PRECISION: with 0 checks decide, and none is asked here; take one from .5 on."
        )
    if pairs is None:
        _two(pages, index, settings, as_json=as_json)
    else:
        check_output(output)
        _many(pairs, index, output, settings)


def _two(pages: Sequence[str], index: str | None, settings: DedupSettings, *, as_json: bool) -> None:
    all_forms = [forms_unless_file(page) for page in pages]
    with opened(index, needed=any(all_forms)) as kept_in:
        pairs = Pairs(kept_in, load(settings.model))
        old, new = (
            _known_form(forms, kept_in) if forms else of_file(Path(page), None, settings)
            for page, forms in zip(pages, all_forms, strict=True)
        )
        for page, read in zip(pages, (old, new), strict=True):
            if isinstance(read, Page) and not read.paragraphs:
                why = why_unread(read)
                raise BadInputError(f"{printable(page)} has no text to compare{': ' if why else ''}{why}.")
        row = _row(pairs.compare(new, old), settings)
    least = load(settings.model).threshold(settings.target_precision)
    head = f"{row['verdict']}: from a probability of {least:.1%} on, NEW is dropped for OLD"
    show(row, (head, *(f"  {line}" for line in in_words(row["evidence"]))), as_json=as_json)


def _many(path: Path, index: str | None, output: Path | None, settings: DedupSettings) -> None:
    counts: Counter[str] = Counter()
    with opened(index, needed=names_urls(path)) as kept_in, results(output) as out:
        compared = Pairs(kept_in, load(settings.model))
        for pair in read_pairs(path):
            new, kept = (whole(page, settings) for page in (pair.new, pair.kept))
            try:
                row = _row(compared.compare(new, kept), settings)
            except UnknownPageError as error:
                raise BadInputError(f"{printable(pair.where)}: {printable(str(error))}.") from error
            counts[row["verdict"]] += 1
            out.write(to_json(row) + b"\n")
    said = ", ".join(f"{counts[outcome]} {outcome}" for outcome in _OUTCOMES)
    click.echo(f"{counted(sum(counts.values()), 'pair')}: {said}", err=True)


def _row(found: Compared, settings: DedupSettings) -> dict[str, Any]:
    least = load(settings.model).threshold(settings.target_precision)
    verdict = "abstained" if not found.values else "duplicate" if found.probability >= least else "unique"
    return {"probability": found.probability, "verdict": verdict, "evidence": found.evidence}


@contextmanager
def opened(index: str | None, *, needed: bool) -> Iterator[Index]:
    """The index that is named; where it is `needed` the project's; else one that knows nothing."""
    if index is None and not needed:
        with closing(TemporaryIndex(())) as nothing:
            yield nothing
        return
    with open_existing(index) as found:
        yield found


def names_urls(path: Path) -> bool:
    """Whether the first row of a file of pairs names a page by its URL, so that there must be an index."""
    first = next(read_pairs(path), None)
    return first is not None and (isinstance(first.new, str) or isinstance(first.kept, str))


def whole(page: Page | Markup | str, settings: DedupSettings) -> Page | str:
    """A page as the content half reads it; a URL stays one."""
    if isinstance(page, str):
        return page
    of_site = settings.for_url(page.url)
    return page_of(page, Wanted(selector=of_site.selector, ignore=of_site.ignore))


def of_file(path: Path, url: str | None, settings: DedupSettings) -> Page:
    """A file of HTML that was fetched from this URL, or that stands for itself."""
    page = whole(Markup(url or path.absolute().as_uri(), path.read_bytes(), None), settings)
    assert isinstance(page, Page)
    return page


def _known_form(forms: Sequence[str], index: Index) -> str:
    known = (form for form in forms if index.entry(form) or index.verdict(form) or index.attachments(form))
    return next(known, forms[0])
