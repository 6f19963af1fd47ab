"""Pairs of real pages of which it is known whether the one duplicates the other, with the features of each.

Two kinds of sources. *Read*: pairs that readers labelled, news and universities' pages. *Archives*: whole sites of
stock software, whose main text is known by the digest of an extractor written for the site; pages of one digest are
the same, others are not. In an archive a page that stands inside another one of its title, in the same order, and that
the other does not link to, is left out: the digest calls it another page, and an editor would call it contained. A pair
goes both ways.
"""

from __future__ import annotations

import csv
import random
import tarfile
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urldefrag, urlsplit

import mmh3
import numpy as np

from benchmarks.long_pages import long_documents, long_look_alikes
from benchmarks.planted_cases import Case, bulletins_in_words, look_alikes, originals, other_things, variants
from benchmarks.texts import json_lines, table_rows
from dedupcrawl.content.checks.shingles import FEWEST, LEVELS
from dedupcrawl.content.html import extract
from dedupcrawl.core import main_outline
from dedupcrawl.core.features import FEATURES, features
from dedupcrawl.core.links import link_hash, local_form
from dedupcrawl.core.page_context import PageContext
from dedupcrawl.core.pair import Pair, unknown_lines
from dedupcrawl.core.signatures import sampled_shingles
from dedupcrawl.core.template import Template
from dedupcrawl.core.view import View
from dedupcrawl.core.words import FUNCTION, KIND, NEGATION, PARTICLE, SIGN
from dedupcrawl.detection.analysis import Analysis
from dedupcrawl.page import Page, paragraphs_of
from dedupcrawl.sites import host_alike, host_of

NEWS = ("bbc", "duyaya", "eventmonitor", "freeway", "grimmer", "nankai_news", "newslonglk", "reuters")
WEB = ("nankai", "nku_b", "uci", "uic")
ARCHIVES = (
    "archive.glftpd.io",
    "awesomewm.org",
    "eaglecraft.fr",
    "freetz.org",
    "openenergymonitor.org",
    "ripper234.com",
    "wiki.xkyle.com",
    "www.smullinsupply.com",
    "www.theavalanches.com_phpBB2",
)
PLANTED = ("planted",)
"""Variants of documents, and other pages in nearly the same words, made from the half "tune"."""
FREE = ("version", "listed")
"""Labels of pairs that are neither."""

_PAIRS_OF_AN_ARCHIVE = 700  # of either kind
_LEAST_WORDS = 20
_ALIKE = 0.3  # share of sampled shingles, as the check asks for
_MOST_POSTINGS = 400
_INSIDE = 0.03  # share of a page's own text that is new, below which it stands inside the other
_LISTED, _BESIDE = 0.2, 4  # at most so much of a list, and fewer words around the text that are new
_NEAR_BITS = 6
_PLANTED = 40  # pairs of each kind

csv.field_size_limit(1 << 30)


@dataclass(frozen=True, slots=True)
class Labelled:
    """A new page beside a kept one.

    Attributes:
        source: Where both are from.
        label: As the reader gave it; "same" or "other" in an archive.
        values: Of `FEATURES`.
        duplicate: Whether the new page may be dropped for the kept one.
        is_of_one_host: Whether both are pages of one host.
    """

    source: str
    label: str
    values: list[float]
    duplicate: bool
    is_of_one_host: bool


def _labelled(source: str, label: str, pair: Pair, duplicate: bool) -> Labelled:
    return Labelled(source, label, features(pair), duplicate, pair.is_of_one_host)


class Pages:
    """Pages of one source, and what their hosts repeat."""

    def __init__(self, pages: dict[str, Page]) -> None:
        self.pages = pages
        self._read = {name: Analysis(page) for name, page in pages.items()}
        self.texts = {name: read.text for name, read in self._read.items()}
        self._page_context = {name: read.page_context for name, read in self._read.items()}
        self._templates: defaultdict[str, Template] = defaultdict(Template)
        for name, page in pages.items():
            template = self._templates[host_of(page.url)]
            if page.name and template.is_new(page.name):
                self._read[name].learn(template, page.name)

    def pair(self, new: str, kept: str) -> Pair:
        """Two pages side by side, the kept one as an index has it."""
        return Pair(self._view(new, self._page_context[new]), self._view(kept, self._stored(kept)))

    def _stored(self, name: str) -> PageContext:
        template = self._templates[host_of(self.pages[name].url)]
        return PageContext.from_bytes(self._page_context[name].without(template).to_bytes())

    def _view(self, name: str, page_context: PageContext) -> View:
        page = self.pages[name]
        template = self._templates[host_of(page.url)]
        return View(
            page.url,
            host_alike(page.url),
            page.title,
            self._read[name].outline,
            page_context,
            template,
            headline=page.headline,
        )


def labelled_pairs(data: Path, sources: tuple[str, ...] = (*NEWS, *WEB, *ARCHIVES, *PLANTED)) -> Iterator[Labelled]:
    """All pairs of these sources."""
    for source in sources:
        if source in PLANTED:
            yield from planted_pairs(data, "tune")
            continue
        yield from _archived(data, source) if source in ARCHIVES else _read(data, source)


def planted_pairs(data: Path, half: str) -> Iterator[Labelled]:
    """`_PLANTED` pairs of each kind that is made from documents."""
    chance = random.Random(11)
    documents = originals(data, half, chance)
    made: defaultdict[str, list[Case]] = defaultdict(list)
    for making in (variants, look_alikes, other_things, bulletins_in_words):
        for case in making(documents, chance):
            made[case.kind].append(case)
    for case in long_look_alikes(long_documents(data, half, chance), chance):
        made[case.kind].append(case)
    for kind, cases in sorted(made.items()):
        for number, case in enumerate(chance.sample(cases, min(_PLANTED, len(cases)))):
            new = Page(f"http://new{number}.example/", paragraphs=case.new)
            pages = Pages({"new": new, "kept": Page(f"http://kept{number}.example/", paragraphs=case.kept)})
            yield _labelled("planted", kind, pages.pair("new", "kept"), case.duplicate)


def read_pages(data: Path, source: str) -> dict[str, Page]:
    """The pages of a source that readers labelled, by the names that its labels have."""
    if source in WEB:
        rows = json_lines(data / "crawls" / source / "pages.jsonl.xz")
        return {(url := urldefrag(str(row["url"])).url): extract(str(row["html"]), url) for row in rows}
    return {str(row["id"]): _news(row) for row in json_lines(data / "pairs" / f"{source}.jsonl.xz")}


def _news(row: dict[str, object]) -> Page:
    """A source of its own for each sender, or for what the title says at its end; press releases have no titles."""
    name, title = str(row["id"]), str(row["title"])
    url = str(row["url"])
    host = urlsplit(url).netloc if url.startswith("http") else ""
    if not host:
        sender = str(row.get("senator") or title.replace("_", "-").replace("|", "-").replace("－", "-").split("-")[-1])
        host = f"{mmh3.hash(sender.strip(), 0, False):08x}.example"
    text = paragraphs_of(str(row["text"]))
    return Page(f"http://{host}/{name}", title="" if "senator" in row else title, paragraphs=text)


def _read(data: Path, source: str) -> Iterator[Labelled]:
    pages = Pages(read_pages(data, source))
    with (data / "pairs" / f"{source}.labels.tsv").open(encoding="utf-8") as file:
        for row in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE):
            keys = ("url_a", "url_b") if source in WEB else ("id_a", "id_b")
            a, b = (urldefrag(row[key]).url if source in WEB else row[key] for key in keys)
            inside = {row["id_a"]: a, row["id_b"]: b}.get(row.get("inside") or "", "")
            if a == b or a not in pages.pages or b not in pages.pages or row["label"] in FREE:
                continue
            length = {name: len(pages.texts[name]) for name in (a, b)}
            shorter = inside or min((a, b), key=length.__getitem__)
            whole = b if shorter == a else a
            if (
                row["label"] == "contained"
                and link_hash(local_form(pages.pages[shorter].url)) in pages.pages[whole].links
            ):
                continue  # a list that links to its original: both may be kept
            for new, kept in ((a, b), (b, a)):
                duplicate = row["label"] == "dup" or (row["label"] == "contained" and new == shorter)
                yield _labelled(source, row["label"], pages.pair(new, kept), duplicate)


def archive_pages(data: Path, site: str) -> Iterator[tuple[str, str]]:
    """URL and HTML of the pages of an archive."""
    folder = data / "crawls" / "mirrors"
    packed = folder / f"{site}.tar.gz"
    if not packed.exists():
        for row in json_lines(folder / f"{site}.jsonl.xz"):
            yield urldefrag(str(row["url"])).url, str(row["html"])
        return
    with (folder / f"{site}.index.tsv").open(encoding="utf-8") as file:
        urls = {row["file"]: row["url"] for row in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE)}
    with tarfile.open(packed) as archive:
        for member in archive:
            if member.isfile() and member.name in urls and (opened := archive.extractfile(member)):
                yield urldefrag(urls[member.name]).url, opened.read().decode("utf-8", "replace")


def archive_texts(data: Path, site: str) -> dict[str, dict[str, str]]:
    """URL → row of its main text's digest, simhash and sizes."""
    rows: dict[str, dict[str, str]] = {}
    for row in table_rows(data / "mirrors" / f"{site}.tsv.gz"):
        if int(row.get("n_words") or 0) >= _LEAST_WORDS and row.get("text_sha1", "").strip("-"):
            rows.setdefault(urldefrag(row["url"]).url, row)
    return rows


def _archived(data: Path, site: str) -> Iterator[Labelled]:
    texts = archive_texts(data, site)
    pages = Pages({url: extract(html, url) for url, html in archive_pages(data, site) if url in texts})
    chance, count = random.Random(1), {True: 0, False: 0}
    alike = list(_alike(pages))
    chance.shuffle(alike)
    for new, candidates in alike:
        same = [kept for kept in candidates if texts[new]["text_sha1"] == texts[kept]["text_sha1"]]
        others = [kept for kept in candidates if kept not in same and not _is_near(texts[new], texts[kept])]
        chosen = [(kept, True) for kept in chance.sample(same, min(1, len(same)))]
        chosen += [(kept, False) for kept in (*others[:2], *chance.sample(others[2:], min(1, len(others[2:]))))]
        for kept, duplicate in chosen:
            if count[duplicate] == _PAIRS_OF_AN_ARCHIVE:
                continue
            pair = pages.pair(new, kept)
            if duplicate or not _stands_inside(pair):
                count[duplicate] += 1
                yield _labelled(site, "same" if duplicate else "other", pair, duplicate)


_NO_CONTENT = {FUNCTION, PARTICLE, SIGN, NEGATION}
_OF_LISTS = ("listed", "kept_links")


def _titles_differ(pair: Pair) -> bool:
    return bool(pair.new.title and pair.kept.title and pair.new.title != pair.kept.title)


def _stands_inside(pair: Pair) -> bool:
    return (
        _new_words(pair) < _INSIDE * max(1, pair.new.own_count)
        and max(feature.value(pair) for feature in FEATURES if feature.name in _OF_LISTS) <= _LISTED
        and not _titles_differ(pair)
        and not pair.moves
        and max(pair.beside, unknown_lines(pair.new.page_context.link_lines, pair.kept, False)) < _BESIDE
    )


def _new_words(pair: Pair) -> int:
    """Content words and numbers of the new page's own text that the kept page has nowhere."""
    new, said = pair.new, set(pair.kept.main.symbols[: len(pair.in_new)])
    symbols = zip(new.main.symbols, new.main.kinds, new.own, pair.in_kept, strict=False)
    return sum(
        own and not is_kept and symbol not in said and kind & KIND not in _NO_CONTENT
        for symbol, kind, own, is_kept in symbols
    )


def _is_near(one: dict[str, str], other: dict[str, str]) -> bool:
    try:
        bits = (int(one["simhash64"], 16) ^ int(other["simhash64"], 16)).bit_count()
    except (KeyError, ValueError):
        return False
    sizes = sorted(int(row.get("text_chars") or 0) for row in (one, other))
    return bits <= _NEAR_BITS and sizes[1] - sizes[0] <= 0.1 * sizes[1]


def _alike(pages: Pages) -> Iterator[tuple[str, list[str]]]:
    """Each page, and the earlier ones that share `_ALIKE` of its sampled shingles, most alike first."""
    postings: defaultdict[int, list[str]] = defaultdict(list)
    for name, text in pages.texts.items():
        packed = sampled_shingles(text, main_outline.OUTLINE_SYMBOLS, LEVELS, FEWEST)[1]
        sample = np.frombuffer(packed, "<u4").tolist()
        shared: defaultdict[str, int] = defaultdict(int)
        for shingle in sample:
            if len(postings[shingle]) < _MOST_POSTINGS:
                for other in postings[shingle]:
                    shared[other] += 1
            postings[shingle].append(name)
        enough = [(count, other) for other, count in shared.items() if count >= _ALIKE * len(sample)]
        yield name, [other for _, other in sorted(enough, reverse=True)[:60]]
