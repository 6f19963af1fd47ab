"""`dedupcrawl check`: content verdicts for pages in files, without a crawl."""

from __future__ import annotations

import re
import sqlite3
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import ExitStack, closing
from functools import partial
from pathlib import Path

import click
import msgspec

from dedupcrawl.api import USUAL, Detector
from dedupcrawl.commands import options
from dedupcrawl.commands.console import BadInputError, Command, check_output, not_read, progress
from dedupcrawl.content.checks.registry import DEFAULT_CHECKS
from dedupcrawl.content.html import extract, facts_of
from dedupcrawl.core.facts import Facts
from dedupcrawl.crawl_logs.page_files import COPY, Body, Wanted, on_disk, page_of, stored_pages
from dedupcrawl.crawl_logs.tally import LogError, Tally
from dedupcrawl.output import results, to_json
from dedupcrawl.page import Page, packed, unpacked
from dedupcrawl.printable import counted, printable
from dedupcrawl.settings import DedupSettings
from dedupcrawl.sites import site_of
from dedupcrawl.software.installation import SiteSoftware
from dedupcrawl.software.program import programs
from dedupcrawl.software.sightings import Sightings
from dedupcrawl.text.ignored import read_ignored, read_ignored_of
from dedupcrawl.verdict import Verdict

_MOST_SITES = 10_000  # most sites whose software is remembered; set by hand, to bound memory


@click.command(cls=Command)
@click.argument("files", nargs=-1, required=True, type=options.INPUT_FILE)
@options.rows_option
@click.option(
    "--index", help="Also compare with the pages in this index, and keep new ones there.  [default: a temporary one]"
)
@click.option(
    "--order",
    type=click.Choice(["stream", "batch"]),
    default="stream",
    show_default=True,
    help="stream: judge pages in their order, and ignore what known software shows a visitor only once. batch: judge "
    "the longest page first, so that an excerpt is never kept in place of its source.",
)
@click.option("--checks", help=f"Comma-separated; as in DEDUP_CHECKS.  [default: {','.join(DEFAULT_CHECKS)}]")
@options.sets_option
@options.counts_option
def command(  # noqa: PLR0913 - the options of a command, as click passes them
    files: Sequence[Path],
    output: Path | None,
    index: str | None,
    order: str,
    checks: str | None,
    sets: Sequence[str],
    as_json: bool,
) -> None:
    """Find duplicates among pages in FILES: JSON Lines or WARC, plain or compressed (.gz, .xz, .zst).

    A row is {"url": …, "html": …} or {"url": …, "title": …, "text": …}, paragraphs separated by newlines. For each row
    in, one verdict out, in the same order: unique, duplicate, or abstained, if there is too little text to judge. "-"
    is stdin; the command reads all of it before it judges the first row.

    \b
    dedupcrawl check pages.jsonl
    jq -c 'select(.lang == "en")' pages.jsonl | dedupcrawl check -
    dedupcrawl check monday.warc.gz --index lmdb:pages --output monday.jsonl
    dedupcrawl check pages.jsonl --order batch --checks exact,simhash --set SIMHASH_DISTANCE=5
    """
    check_output(output, files, as_json=as_json)
    named = {"DEDUP_INDEX": index or None, "DEDUP_CHECKS": checks}
    given = USUAL | {name: value for name, value in named.items() if value is not None}
    settings = options.read_settings(given, sets)
    if not settings.checks:
        raise BadInputError("--checks: name at least one check.")
    tally = Tally()
    counts: Counter[str] = Counter()
    try:
        with ExitStack() as stack:
            bar = order == "batch" or output is not None  # else it would appear among the rows
            verdicts = stack.enter_context(closing(_verdicts(files, order, settings, tally, bar=bar)))
            out = stack.enter_context(results(output))
            for verdict in verdicts:
                counts[verdict.verdict] += 1
                out.write(to_json(verdict.to_dict()) + b"\n")
    except (LogError, ValueError) as error:
        raise BadInputError(str(error)) from error
    _report(tally, counts, as_json)
    if (tally.skipped or tally.unread) and not counts:
        raise BadInputError(
            'no row is a page: it takes WARC, or JSON Lines such as {"url": "https://example.com/", "text": "…"}.'
        )


def _verdicts(
    files: Sequence[Path], order: str, settings: DedupSettings, tally: Tally, *, bar: bool
) -> Generator[Verdict, None, None]:
    with ExitStack() as stack:
        sources = [stack.enter_context(on_disk(path)) for path in files]
        secret = _secret_of(sources) if settings.index == "memory:" else None
        detector = stack.enter_context(Detector(settings=settings, secret=secret))
        in_batch = order == "batch"
        read = partial(page_of, wanted=_wanted(settings)) if in_batch else _Reader(settings).read
        pages = stack.enter_context(closing(_pages(sources, tally, read, bar=bar)))
        verdicts = in_batch_order(pages, detector.check_stored) if in_batch else detector.check_many(pages)
        yield from map(detector.resolved, verdicts)


def _secret_of(files: Sequence[Path]) -> bytes | None:
    """A secret that depends on the files alone, so that a second run gives the same verdicts; None if one is no file.

    It consists of their sizes, which nobody knows before all pages are written. The size of a folder can be guessed.
    """
    if not all(file.is_file() for file in files):
        return None
    return b" ".join(b"%d" % file.stat().st_size for file in files)


def _named(message: str) -> str:
    """A message in which "stdin" replaces the path of its temporary copy."""
    return re.sub(rf"\S*{COPY}", "stdin", message)


def _wanted(settings: DedupSettings) -> Wanted:
    return Wanted("mwo" in settings.checks, settings.selector, settings.ignore)


class _Reader:
    """Reads pages in their order, without the text that known software shows a visitor only once.

    Unlike a crawl, it looks for known software only on pages that may contain such text, so other pages cost hardly
    anything.
    """

    def __init__(self, settings: DedupSettings) -> None:
        self._wanted = _wanted(settings)
        all_programs = programs(settings.software)
        self._sightings = Sightings(all_programs)
        self._ignorable = read_ignored_of((f"the program {program.name}", program.ignored) for program in all_programs)
        self._sites: dict[str, SiteSoftware] = {}

    def read(self, stored: Page | Body) -> Page:
        if isinstance(stored, Page) or stored.kind != "html":
            return page_of(stored, self._wanted)
        facts = facts_of(stored.body, stored.encoding)
        ignored = read_ignored((*self._wanted.ignore, *self._ignored(stored.url, facts)))
        wanted = self._wanted
        return extract(facts, stored.url, selector=wanted.selector, ignored=ignored, fields=wanted.fields)

    def _ignored(self, url: str, facts: Facts) -> tuple[str, ...]:
        """The parts to ignore, by the software that was recognized on the page's site so far."""
        site = site_of(url)
        if not self._ignorable.may_find(facts.markup):
            return ()
        if self._sightings.wants(url) and (seen := self._sightings.look(url, facts)):
            if len(self._sites) >= _MOST_SITES:
                self._sites.clear()
            self._sites[site] = self._sites.get(site, SiteSoftware()).joined(SiteSoftware(seen=seen))
        return self._sightings.ignored_at(url, self._sites[site].installations) if site in self._sites else ()


def _pages(
    files: Sequence[Path], tally: Tally, read: Callable[[Page | Body], Page], *, bar: bool
) -> Generator[Page, None, None]:
    total = sum(path.stat().st_size for path in files)
    with progress(is_shown=bar) as advance:
        for stored in stored_pages(files, tally):
            yield read(stored)
            advance("reading", tally.bytes_read, total)


def _report(tally: Tally, counts: Counter[str], as_json: bool) -> None:
    for line in not_read(tally):
        click.echo(_named(line), err=True)
    skipped = sum(tally.skipped.values())
    if as_json:
        click.echo(to_json({"pages": sum(counts.values()), **counts, "skipped": skipped}))
        return
    counts_in_words = ", ".join(f"{counts[outcome]} {outcome}" for outcome in ("unique", "duplicate", "abstained"))
    counts_in_words += " (too little text, or over a site's quota; never dropped)" if counts["abstained"] else ""
    why = ", ".join(f"{count:,} {printable(reason)}" for reason, count in tally.skipped.most_common())
    reasons = f" ({why})" if len(tally.skipped) > 1 else ""
    pages, rows = counted(sum(counts.values()), "page"), counted(skipped, "broken row")
    click.echo(f"{pages}: {counts_in_words}; {rows} skipped{reasons}", err=True)


_encode = msgspec.msgpack.Encoder().encode
_decode_verdict = msgspec.msgpack.Decoder(Verdict).decode


def in_batch_order(pages: Iterable[Page], judge: Callable[[Page], Verdict]) -> Iterator[Verdict]:
    """Judge all pages, longest first (Guo et al., Alg. 3), and return the verdicts in the order of the pages.

    So if one of two pages contains the other, the longer one is kept. The length is that of the main text in symbols;
    the paper uses that of the feature code, which is made of the first thousand only. Equally long pages are judged in
    their order. Pages and verdicts are held in a temporary file, so memory does not grow with their number.

    Raises:
        OSError: There is no room for temporary files.
    """
    try:
        with closing(sqlite3.connect("")) as waiting:  # "": a temporary file, deleted with the connection
            waiting.execute("CREATE TABLE pages (number INTEGER PRIMARY KEY, length INTEGER, page BLOB)")
            waiting.execute("PRAGMA journal_mode = OFF")
            waiting.execute("CREATE TABLE verdicts (number INTEGER PRIMARY KEY, verdict BLOB)")
            rows = ((len(page.main_text()), packed(page)) for page in pages)
            count = waiting.executemany("INSERT INTO pages (length, page) VALUES (?, ?)", rows).rowcount
            with progress() as advance:
                longest_first = waiting.execute("SELECT number, page FROM pages ORDER BY length DESC, number")
                for done, (number, page) in enumerate(longest_first, 1):
                    verdict = _encode(judge(unpacked(page)))
                    waiting.execute("INSERT INTO verdicts VALUES (?, ?)", (number, verdict))
                    advance("judging", done, count)
            for (verdict,) in waiting.execute("SELECT verdict FROM verdicts ORDER BY number"):
                yield _decode_verdict(verdict)
    except sqlite3.Error as error:
        raise OSError(None, str(error), "temporary files (TMPDIR says where)") from error
