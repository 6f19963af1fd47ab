"""Read pages from files (JSON Lines with `html` or `text`, responses in a WARC), and labelled pairs of pages."""

from __future__ import annotations

import json
import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple, TypeVar

import msgspec

from dedupcrawl.content.bodies import Kind, kind_of, page_of_body
from dedupcrawl.content.html import extract
from dedupcrawl.crawl_logs.blocks import LineBlock, head_of, line_blocks, open_log
from dedupcrawl.crawl_logs.tally import LogError, Tally
from dedupcrawl.page import Page, paragraphs_of
from dedupcrawl.printable import mismatch
from dedupcrawl.text.ignored import read_ignored


class Body(NamedTuple):
    """A page whose text is not extracted yet; `body` is a str if it is HTML that is already decoded."""

    url: str
    body: bytes | str
    encoding: str | None = None
    kind: Kind = "html"


class Wanted(NamedTuple):
    """The parts to extract from a page."""

    fields: bool = False  # whether headings, meta elements and anchors are wanted, too
    selector: str | None = None  # CSS selector of the main text; None: the main text is recognized
    ignore: tuple[str, ...] = ()  # parts to leave out, as in DEDUP_IGNORE, also from pages of plain text


TEXT = Wanted()
"""Extracts title and main text."""


class JsonPage(msgspec.Struct, frozen=True):
    """A page in a row of JSON."""

    url: str
    html: str | None = None
    text: str | None = None
    title: str = ""


def stored_pages(paths: Sequence[Path], tally: Tally) -> Iterator[Page | Body]:
    """The stored pages of some files, in order; broken rows are left out and counted in `tally`."""
    for path in paths:
        head = head_of(path, 5)
        if not head:
            tally.empty.append(str(path))
        elif head == b"WARC/":
            yield from _of_warc(path, tally)
        else:
            for block in line_blocks(path, tally, sound=False):
                yield from stored_rows(block, str(path), tally)


def page_of(stored: Page | Body, wanted: Wanted = TEXT) -> Page:
    """Read a page that `stored_pages` returned; never fails, whatever the markup."""
    ignored = read_ignored(wanted.ignore)
    if isinstance(stored, Page):
        return ignored.page(stored)
    if stored.kind != "html" and isinstance(stored.body, bytes):
        return page_of_body(stored.kind, stored.body, stored.url, encoding=stored.encoding, ignored=ignored)
    return extract(
        stored.body,
        stored.url,
        encoding=stored.encoding,
        fields=wanted.fields,
        selector=wanted.selector,
        ignored=ignored,
    )


Row = TypeVar("Row")


def decoded(row: bytes, kind: type[Row]) -> Row:
    """Decode a line of JSON into a row of this type.

    Raises:
        ValueError: It is not such a row; the message says why.
    """
    try:
        text = row.decode()
        return msgspec.convert(json.loads(text), kind)  # msgspec.json would refuse lone surrogates, which pages contain
    except UnicodeDecodeError as error:
        raise ValueError("not UTF-8") from error
    except RecursionError as error:
        raise ValueError("nested too deeply") from error
    except msgspec.ValidationError as error:
        raise ValueError(mismatch(str(error), "the row")) from error
    except ValueError as error:  # its own message names a position, so equal errors could not be counted together
        raise ValueError("not a JSON object") from error


def stored_row(read: JsonPage) -> Page | Body:
    """The page in a row.

    Raises:
        ValueError: The row has neither HTML nor text.
    """
    url = _sound(read.url)
    if read.html is not None:
        return Body(url, _sound(read.html))
    if read.text is None:
        raise ValueError("neither html nor text")
    return Page(url, title=_sound(read.title), paragraphs=paragraphs_of(_sound(read.text)))


def _sound(text: str) -> str:
    """Replace lone surrogates, which no encoder takes."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")


def stored_rows(block: LineBlock, path: str, tally: Tally) -> Iterator[Page | Body]:
    """The pages in a block of JSON lines that `line_blocks` read without `sound`."""
    for number, row in block.texts():
        try:
            stored = stored_row(decoded(row, JsonPage))
        except ValueError as error:
            tally.skip(path, str(error), 1, [number])
        else:
            tally.rows += 1
            yield stored


def _of_warc(path: Path, tally: Tally) -> Iterator[Body]:
    from dedupcrawl.crawl_logs.warc import answers  # needs an extra

    number = 0
    with open_log(path, tally) as content:
        for number, answer in enumerate(answers(content), 1):
            if answer.problem and answer.status in {None, 200}:
                tally.skip(str(path), answer.problem, 1, [number], "record")
            elif answer.status == 200:
                tally.rows += 1
                yield Body(answer.url, answer.body, answer.charset, kind_of(answer.mime, answer.body))
        content.tell(path, number + 1, "record")


COPY = "dedupcrawl-stdin"
"""Name of the temporary file that stdin or a pipe is copied to."""


@contextmanager
def on_disk(path: Path) -> Iterator[Path]:
    """The file itself, or for stdin ("-") and pipes a temporary copy, because the beginning is read twice."""
    is_stdin = path == Path("-")
    if not is_stdin and not path.is_fifo():
        yield path
        return
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder, COPY)
        with copy.open("wb") as file, nullcontext(sys.stdin.buffer) if is_stdin else path.open("rb") as stream:
            shutil.copyfileobj(stream, file)
        try:
            yield copy
        except LogError as error:
            raise LogError(str(error).replace(str(copy), "stdin" if is_stdin else str(path))) from error


_AT_HAND = 16  # cached pages: several pairs in a row often contain the same page


class Pair(NamedTuple):
    """Two pages."""

    where: str  # the file and the line, for messages
    new: Page | Body | str
    kept: Page | Body | str
    same: bool | None  # the label, whether they are the same page; None without a label


class _PairRow(msgspec.Struct):
    new: JsonPage | str
    kept: JsonPage | str
    same: object = None


def read_pairs(path: Path, *, labelled: bool = False) -> Iterator[Pair]:
    """The pairs in a file or stream, compressed or not, in order; if `labelled`, each must have a label.

    Raises:
        LogError: The file cannot be read, or a row is not a pair, lacks a label, or has a page without text; the
            message names the row.
    """
    tally = Tally()
    name = "stdin" if path == Path("-") else path
    with on_disk(path) as file:
        for block in line_blocks(file, tally, sound=False):
            for number, line in block.texts():
                where = f"{name}, line {number}"
                try:
                    row = decoded(line, _PairRow)
                    new, kept = (page if isinstance(page, str) else _stored(page) for page in (row.new, row.kept))
                except ValueError as error:
                    raise LogError(f"{where} is not a pair of pages ({error}): {_takes(labelled)}.") from error
                if labelled and not isinstance(row.same, bool):
                    raise LogError(f'{where} does not say whether the two are the same: "same" takes true or false.')
                yield Pair(where, new, kept, row.same if isinstance(row.same, bool) else None)
    if tally.broken:
        broken = tally.broken[0]
        raise LogError(f"{name}, line {broken.line}: {broken.reason}.")
    if tally.unread:
        raise LogError(f"{tally.unread[0]._replace(path=str(name))}.")


def _takes(labelled: bool) -> str:
    if labelled:
        return 'it takes {"new": URL, "kept": URL, "same": true or false}, or whole pages in place of the URLs'
    return 'it takes {"kept": {…}, "new": {…}}, with pages such as {"url": …, "html": …} or {"url": …, "text": …}'


@lru_cache(maxsize=_AT_HAND)
def _stored(row: JsonPage) -> Page | Body:
    if not row.url:
        raise ValueError("its url is empty")
    stored = stored_row(row)
    if isinstance(stored, Page) and not stored.paragraphs:
        raise ValueError(f"{stored.url[:200]!r} has no text")
    return stored
