"""Stored crawls: where they are, what is in them, and a part of one for a quick run."""

from __future__ import annotations

import hashlib
import tarfile
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urldefrag, urlsplit, urlunsplit

from w3lib.url import safe_url_string

from benchmarks.texts import json_lines, table_rows

_DEFAULT_PORTS = {"http": 80, "https": 443}


class NoDataError(Exception):
    """There is no such stored crawl; the message says where it was looked for."""


@dataclass(frozen=True, slots=True)
class StoredPage:
    """A page of a stored crawl: `url` as `address` writes it, `mime` as the server sends it, `body` as bytes."""

    url: str
    mime: str
    body: bytes


def address(url: str) -> str:
    """The one spelling of `url` that server and spider share: quoted, no fragment, no default port.

    Raises:
        ValueError: `url` cannot be taken apart.
    """
    parts = urlsplit(safe_url_string(urldefrag(url).url))
    host = (parts.hostname or "").lower()
    if parts.port is not None and parts.port != _DEFAULT_PORTS.get(parts.scheme):
        host = f"{host}:{parts.port}"
    return urlunsplit((parts.scheme, host, parts.path or "/", parts.query, ""))


def sites(data: Path) -> dict[str, Path]:
    """Name → folder of pages.jsonl.xz, ``.jsonl.xz``, ``.jsonl.gz`` or ``.index.tsv``, of every stored crawl below
    `data`.

    Raises:
        NoDataError: There are none.
    """
    crawls = data / "crawls"
    found = {path.parent.name: path.parent for path in sorted(crawls.glob("*/pages.jsonl.xz"))}
    for folder, end in (("mirrors", ".index.tsv"), ("mirrors", ".jsonl.xz"), ("live", ".jsonl.gz")):
        found |= {path.name.removesuffix(end): path for path in sorted(crawls.glob(f"{folder}/*{end}"))}
    if not found:
        raise NoDataError(f"There are no stored crawls in {crawls}: name the folder of real crawls with --data.")
    return found


def table_of(path: Path) -> Path:
    """The table that says what is on each page of the stored crawl at `path`; there need not be one."""
    name = (
        f"{path.name.removesuffix('.index.tsv').removesuffix('.xz').removesuffix('.gz').removesuffix('.jsonl')}.tsv.gz"
    )
    beside = path.with_name(name)
    return beside if beside.exists() else path.parents[2] / "mirrors" / name


def load(path: Path) -> list[StoredPage]:
    """All pages of the stored crawl at `path` (see `sites`), the first of each address."""
    pages: dict[str, StoredPage] = {}
    for page in _mirror(path) if path.suffix == ".tsv" else _jsonl(path / "pages.jsonl.xz" if path.is_dir() else path):
        pages.setdefault(page.url, page)
    return list(pages.values())


def sample(pages: Iterable[StoredPage], most: int) -> list[StoredPage]:
    """At most `most` of `pages`: whole sections of sites, since duplicates lie close; the same ones every time.

    A section is a host and the first part of the path; sections are taken in the order of a hash of their names.
    """
    sections: dict[str, list[StoredPage]] = defaultdict(list)
    for page in pages:
        parts = urlsplit(page.url)
        sections[f"{parts.netloc} {parts.path.split('/')[1]}"].append(page)
    taken: list[StoredPage] = []
    for name in sorted(sections, key=lambda name: hashlib.sha1(name.encode()).digest()):
        if len(taken) + len(sections[name]) <= most:
            taken += sections[name]
    return taken


def _jsonl(file: Path) -> Iterator[StoredPage]:
    table = table_of(file)
    types = {row["url"]: row["mime"] for row in table_rows(table) if row.get("mime")} if table.exists() else {}
    for row in json_lines(file):
        # The crawl stored decoded text, so a charset that the page itself declares no longer holds.
        mime = f"{types.get(row['url'], 'text/html')}; charset=utf-8"
        yield StoredPage(address(row["url"]), mime, row["html"].encode("utf-8", "replace"))


def _mirror(index: Path) -> Iterator[StoredPage]:
    _, *rows = index.read_text(encoding="utf-8").splitlines()
    about = {file: (url, mime) for file, url, mime, *_ in (row.split("\t") for row in rows)}
    archive = index.with_name(index.name.removesuffix(".index.tsv") + ".tar.gz")
    with tarfile.open(archive) as files:
        for member in files:
            body = files.extractfile(member)
            if body is not None and member.name in about:
                url, mime = about[member.name]
                yield StoredPage(address(url), mime, body.read())
