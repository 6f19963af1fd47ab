"""Pages in files: JSON Lines rows with `html` or `text`, HTML responses of a WARC; and pairs of pages, with labels."""

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
    """A page of which the text is not known yet; its `body` is a str where it is HTML that was decoded before."""

    url: str
    body: bytes | str
    encoding: str | None = None
    kind: Kind = "html"


class Wanted(NamedTuple):
    """What is wanted of markup."""

    fields: bool = False  # headings, meta elements and anchors, too
    selector: str | None = None  # CSS selector of the main text; None: it is found
    ignore: tuple[str, ...] = ()  # what does not count, as in DEDUP_IGNORE; of pages that come as text, too


TEXT = Wanted()
"""Title and main text."""


class JsonPage(msgspec.Struct, frozen=True):
    """A page as a row of JSON has it."""

    url: str
    html: str | None = None
    text: str | None = None
    title: str = ""


def stored_pages(paths: Sequence[Path], tally: Tally) -> Iterator[Page | Body]:
    """The stored pages of some files, in order; a broken row is counted in `tally`, when it comes, and left out."""
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
    """The page of what `stored_pages` gives, as it is wanted; total for any markup."""
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
    """A line of JSON; a ValueError says why it is not such a row."""
    try:
        text = row.decode()
        return msgspec.convert(json.loads(text), kind)  # not msgspec.json: it refuses lone surrogates, which pages have
    except UnicodeDecodeError as error:
        raise ValueError("not UTF-8") from error
    except RecursionError as error:
        raise ValueError("nested too deeply") from error
    except msgspec.ValidationError as error:
        raise ValueError(mismatch(str(error), "the row")) from error
    except ValueError as error:  # whose own message says where, so that no two of them would be counted together
        raise ValueError("not a JSON object") from error


def stored_row(read: JsonPage) -> Page | Body:
    """The page in a row; a ValueError where it holds neither HTML nor text."""
    url = _sound(read.url)
    if read.html is not None:
        return Body(url, _sound(read.html))
    if read.text is None:
        raise ValueError("neither html nor text")
    return Page(url, title=_sound(read.title), paragraphs=paragraphs_of(_sound(read.text)))


def _sound(text: str) -> str:
    """Without lone surrogates, which no encoder takes."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")


def stored_rows(block: LineBlock, path: str, tally: Tally) -> Iterator[Page | Body]:
    """The pages in some lines of JSON, whose bytes are as they were."""
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
"""Name of the file that stdin, or another stream, is copied to."""


@contextmanager
def on_disk(path: Path) -> Iterator[Path]:
    """The file itself, or a copy of stdin ("-") or of a pipe, because its beginning is read twice."""
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


_AT_HAND = 16  # rows of pages: the same page often stands in several pairs in a row


class Pair(NamedTuple):
    """Two pages."""

    where: str  # the file and the line, for messages
    new: Page | Body | str
    kept: Page | Body | str
    same: bool | None  # whether they are one page, where somebody has said so


class _PairRow(msgspec.Struct):
    new: JsonPage | str
    kept: JsonPage | str
    same: object = None


def read_pairs(path: Path, *, labelled: bool = False) -> Iterator[Pair]:
    """The pairs of a file or stream, compressed or not, in order; if `labelled`, with whether each is the same page.

    Raises:
        LogError: The file cannot be read, or a row is no pair, or has a page without text; the message says which.
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
