"""The nineteen sites, and their split into a half to learn from and a half to be judged on.

A site is a TSV with a header (url, mime, text_sha1, n_words) or a folder with pages.jsonl.xz (url, html). A page's
label is the digest of its text; pages with next to no text have none and are left out.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import urldefrag

import lxml.html  # type: ignore[import-untyped]  # lxml ships no types

from benchmarks.texts import json_lines, table_rows
from benchmarks.url_rules.method import Row

LEAST_WORDS = 20
"""Words of main text below which a row of a TSV has no label."""

LEAST_WORD_CHARACTERS = 100
"""Word characters of visible text below which a page has no label."""

LARGEST_CLUSTER = 20
"""Test URLs of one label, so that one login page with 11,000 URLs does not decide a site's score."""

WORD_CHARACTER = re.compile(r"\w")
NO_PATH = re.compile(r"^(https?://[^/?]+)(?=\?|$)")


def site_paths(data: Path, names: Sequence[str] = ()) -> list[Path]:
    """The sites under a data folder, all or those named.

    Raises:
        ValueError: A name is no site of the folder, or the folder holds no site.
    """
    paths = sorted((data / "mirrors").glob("*.tsv.gz"))
    paths += [page_file.parent for page_file in sorted((data / "crawls").glob("*/pages.jsonl.xz"))]
    by_name = {site_name(path): path for path in paths}
    if not by_name:
        raise ValueError(f"{data}: no sites here; name the folder that holds mirrors/ and crawls/ with --data")
    if unknown := [name for name in names if name not in by_name]:
        raise ValueError(f"{unknown[0]}: no such site in {data}; there are {', '.join(by_name)}")
    return [by_name[name] for name in names] if names else paths


def site_name(path: Path) -> str:
    return path.name.removesuffix(".tsv.gz")


def load(path: Path) -> list[Row]:
    """Distinct URLs as they are requested, in the order of the file; of two rows of one URL the first counts."""
    return load_pages(path / "pages.jsonl.xz") if path.is_dir() else load_table(path)


def load_pages(path: Path) -> list[Row]:
    rows: dict[str, str] = {}
    for page in json_lines(path):
        text = visible_text(page["html"])
        if len(WORD_CHARACTER.findall(text)) >= LEAST_WORD_CHARACTERS:
            label = hashlib.sha1(text.encode("utf-8", "replace")).hexdigest()
            rows.setdefault(_requested(page["url"]), label)
    return list(rows.items())


def load_table(path: Path) -> list[Row]:
    rows: dict[str, str] = {}
    for row in table_rows(path):
        label = row.get("text_sha1", "").strip("-")
        if "html" in row.get("mime", "html") and label and int(row.get("n_words") or 0) >= LEAST_WORDS:
            rows.setdefault(_requested(row["url"]), label)
    return list(rows.items())


def _requested(url: str) -> str:
    """Without a fragment, and with the path "/" where there is none: both spellings are one request."""
    return NO_PATH.sub(r"\1/", urldefrag(url).url)


def visible_text(html: str) -> str:
    """The words of the body, scripts, styles and templates left out; empty for what no parser takes."""
    try:
        doc = lxml.html.document_fromstring(
            html.encode("utf-8", "replace"), parser=lxml.html.HTMLParser(encoding="utf-8")
        )
    except (lxml.etree.LxmlError, ValueError):
        return ""
    for unseen in doc.xpath("//script|//style|//noscript|//template"):
        if unseen.getparent() is not None:
            unseen.drop_tree()
    body = doc.find("body")
    return " ".join((body if body is not None else doc).text_content().split())


def split(rows: Sequence[Row], seed: int) -> tuple[list[Row], list[Row]]:
    """The rows to learn from, and at most LARGEST_CLUSTER of each label to be judged on; no cluster is cut in two."""
    train = [row for row in rows if half(row[1], seed) == 0]
    test = capped([row for row in rows if half(row[1], seed) == 1], seed)
    return train, test


def half(label: str, seed: int) -> int:
    return hashlib.sha1(f"{seed}:{label}".encode()).digest()[0] & 1


def capped(rows: Sequence[Row], seed: int) -> list[Row]:
    by_label: dict[str, list[str]] = {}
    for url, label in rows:
        by_label.setdefault(label, []).append(url)

    def shuffled(urls: list[str]) -> list[str]:
        return sorted(urls, key=lambda url: hashlib.sha1(f"{seed}:{url}".encode()).digest())

    keep = {url for urls in by_label.values() for url in shuffled(urls)[:LARGEST_CLUSTER]}
    return [row for row in rows if row[0] in keep]
