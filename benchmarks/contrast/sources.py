"""Real pages by source: test data, files of rows, and translated books that are downloaded once, by `apt-get`.

The downloads are free texts of Debian's packages (GPL), and stay outside of the project: its installation guide and
handbook, HTML, and MediaWiki's messages, of which ten make a page; Thai is in the last only.
"""

from __future__ import annotations

import html
import json
import random
import subprocess
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice
from pathlib import Path
from urllib.parse import urlsplit

import mmh3

from benchmarks.contrast.languages import language_of, languages
from benchmarks.contrast.lines import sheets
from benchmarks.contrast.others import SiteContext, names_of
from benchmarks.contrast.pages import Document, dressed, parse, shown
from benchmarks.contrast.same import common_words
from benchmarks.texts import json_lines

DOWNLOADS = {"guide": "installation-guide-amd64", "handbook": "debian-handbook", "messages": "mediawiki"}

_CONTEXT = 10  # pages of a site that are given beside its pairs
_LEAST_PARAGRAPHS, _MOST_LETTERS = 5, 60_000  # of its own; of the HTML
_LEAST_PAGES, _MOST_SITES = 15, 3  # of a host; of a language
_REPEATED = 3  # pages that have a text on a site: it is not their own
_MOST_ROWS = 2000  # read of a source
_TOGETHER = 10  # messages a page

Rows = Iterator[tuple[str, str]]  # URL, HTML


@dataclass(frozen=True)
class Site:
    """Pages of one host in one language: those that are given beside its pairs, and those that pairs are made of."""

    name: str
    source: str
    language: str
    context: list[Document]
    originals: list[Document]

    @cached_property
    def site_context(self) -> SiteContext:
        """What its pages have."""
        some = [*self.context, *self.originals[:20]]
        titles = tuple(dict.fromkeys(page.name for page in (*self.context, *self.originals[:60]) if page.name))
        words = [page.pieces[at][start:end] for page in some for at, start, end in common_words(page)]
        names = tuple(dict.fromkeys(name for page in some for name in names_of(page)))
        paragraphs = [shown(line) for page in self.context for line in page.paragraphs]
        lines = sheets(languages()[self.language], random.Random(self.name))
        return SiteContext(titles, paragraphs, names, words, lines)


def sites(source: str, data: Path, cache: Path, chance: random.Random) -> Iterator[Site]:
    """The sites of a source that have enough pages, at most three of a language, the largest first.

    Args:
        source: A key of `DOWNLOADS`; a folder of data/crawls, or of a mirror there; a set of data/pairs; or a file of
            JSON rows, packed or not, with url and html or url, title and text.
        data: Folder of test data.
        cache: Where downloads are kept.
        chance: Which pages are context.

    Raises:
        FileNotFoundError: There is no such source.
    """
    hosts: defaultdict[tuple[str, str], list[Document]] = defaultdict(list)
    rows = _downloaded(source, cache) if source in DOWNLOADS else islice(_stored(source, data), _MOST_ROWS)
    for url, code in rows:
        page = parse(code, url, languages()["en"])
        if len(code) <= _MOST_LETTERS and (language := language_of(page.text)):
            hosts[language, urlsplit(url).netloc].append(replace(page, speech=languages()[language]))
    count: Counter[str] = Counter()
    for (language, host), pages in sorted(hosts.items(), key=lambda item: -len(item[1])):
        own = without_repeated(pages)
        if len(own) >= _LEAST_PAGES and count[language] < _MOST_SITES:
            count[language] += 1
            some = chance.sample(own, len(own))
            yield Site(f"{source} {language} {host}", source, language, some[:_CONTEXT], some[_CONTEXT:])


def without_repeated(pages: Sequence[Document]) -> list[Document]:
    """Those that have enough text of their own, in their language; what a site repeats is no page's own."""
    times = Counter(text for page in pages for text in set(map(shown, page.paragraphs)))
    own = [
        replace(page, own=tuple(index for index in page.own if times[shown(page.pieces[index])] < _REPEATED))
        for page in pages
    ]
    return [one for one in own if len(one.own) >= _LEAST_PARAGRAPHS and language_of(one.text) == one.speech.name]


def _stored(source: str, data: Path) -> Rows:
    names = (f"crawls/{source}/pages.jsonl.xz", f"crawls/mirrors/{source}.jsonl.xz", f"pairs/{source}.jsonl.xz")
    path = next((one for one in (Path(source), *map(data.joinpath, names)) if one.is_file()), None)
    if path is None:
        raise FileNotFoundError(f"{source}: no file, no crawl and no set of pairs in {data}")
    for row in json_lines(path):
        url = row["url"] if row["url"].startswith("http") else f"http://{Path(source).stem}.example/{row.get('id')}"
        if "html" in row:
            yield url, row["html"]
        elif language := language_of(row["text"]):
            yield url, _made(url, row.get("title") or row["text"][:60], row["text"].splitlines(), language)


def _made(url: str, title: str, lines: Sequence[str], language: str) -> str:
    host, body = urlsplit(url).netloc, "".join(f"<p>{html.escape(line)}</p>\n" for line in lines)
    menu = [*languages()[language].places[:4], host]
    return dressed(url, languages()[language], title, body, menu, mmh3.hash(host, 0, False))


def _downloaded(source: str, cache: Path) -> Rows:
    folder = cache / source
    if not folder.exists():
        cache.mkdir(parents=True, exist_ok=True)
        subprocess.run(["apt-get", "download", DOWNLOADS[source]], cwd=cache, check=True, capture_output=True)
        package = next(cache.glob(f"{DOWNLOADS[source]}_*.deb"))
        subprocess.run(["dpkg-deb", "-x", package, folder], check=True)
    if source == "messages":
        names = {name.lower(): name for name in languages()}
        for path in sorted(folder.glob("**/languages/i18n/*.json")):
            if path.stem in names:
                yield from _messages(json.loads(path.read_text("utf-8")), names[path.stem])
        return
    for path in sorted(folder.glob("**/*.html")):
        if path.parent.name[:2] in ("zh", *languages()):
            yield f"http://{source}-{path.parent.name.lower()}.example/{path.name}", path.read_text("utf-8", "replace")


def _messages(read: dict[str, str], language: str) -> Rows:
    least = 20 if language in ("ja", "ko", "zh-Hans", "zh-Hant") else 40
    plain = [text for text in read.values() if isinstance(text, str) and not set(text) & set("{}[]$<>|")]
    long, short = ([text for text in plain if (len(text) >= least) == is_long] for is_long in (True, False))
    titles = [text for text in short if len(text) >= least // 4]
    for number in range(len(long) // _TOGETHER):
        url = f"http://messages-{language.lower()}.example/help/{number}"
        yield url, _made(url, titles[number % len(titles)], long[number * _TOGETHER :][:_TOGETHER], language)
