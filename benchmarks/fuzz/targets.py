"""What is fuzzed: each target takes any bytes and raises nothing, and checks what must hold of the answer."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

from dedupcrawl.aliases.sources import SOURCES, aliases_said
from dedupcrawl.commands.selection import forms_of
from dedupcrawl.content.checks.registry import CHECK_NAMES, make_checks
from dedupcrawl.content.differences import stretches
from dedupcrawl.content.html import extract, facts_of
from dedupcrawl.core.url_parts import split_url
from dedupcrawl.crawl_logs.page_files import page_of, stored_pages
from dedupcrawl.crawl_logs.registry import read_log
from dedupcrawl.crawl_logs.tally import LogError, Tally
from dedupcrawl.detection.analysis import Analysis
from dedupcrawl.detection.attachments import text_of
from dedupcrawl.detection.detector import Detector
from dedupcrawl.index import record
from dedupcrawl.index.errors import IndexDamagedError
from dedupcrawl.index.open import TemporaryIndex
from dedupcrawl.printable import printable
from dedupcrawl.settings import DedupSettings
from dedupcrawl.sites import host_of, owner_of, site_of
from dedupcrawl.software.sightings import sight_of
from dedupcrawl.training.options import LearningOptions
from dedupcrawl.training.train import train
from dedupcrawl.urls.normalizer import Normalizer, SiteNormalizer
from dedupcrawl.urls.rule import RuleError
from dedupcrawl.urls.rule_files import file_name, read_rules
from dedupcrawl.urls.spelling import canonical_url

Target = Callable[[bytes], None]

_PAGES_AN_INDEX = 200  # then a new one: what is fuzzed is the page, not the index
_URLS_TRIED = 200  # of a log, on the rules that were learned from it


class Checks:
    """A page through every check, compared with those before it."""

    def __init__(self) -> None:
        self._checks = make_checks(CHECK_NAMES, DedupSettings.read({}).parameters)
        self._judged = 0
        self._previous: Analysis | None = None

    def __call__(self, data: bytes) -> None:
        """Judge it under two URLs: once it is kept, its copy is not."""
        if self._judged % _PAGES_AN_INDEX == 0:  # made here, in the process that uses it
            self._detector = Detector(TemporaryIndex(self._checks), run="fuzz")
        self._judged += 1
        page = extract(data, f"http://a.example/{self._judged}", fields=True)
        analysis = Analysis(page, self._detector.index.secret)
        first = self._detector.judge(analysis, self._checks)
        copy = page.replace(url=page.url + "/copy")
        second = self._detector.judge(Analysis(copy, self._detector.index.secret), self._checks[:1])
        assert "unique" not in (first.verdict, second.verdict) or first.verdict != second.verdict, (first, second)
        if self._previous is not None:
            stretches(analysis.text, self._previous.text)
        self._previous = analysis


def extraction(data: bytes) -> None:
    """All that is read of a page, decoded or not, with a selector or without."""
    extract(data, "http://a.example/", fields=True)
    extract(data, "http://a.example/", encoding="gb18030", selector="main p")
    extract(data.decode("utf-8", "surrogateescape"), "http://a.example/")
    facts = facts_of(data)
    aliases_said("http://a.example/1", facts, {}, frozenset(SOURCES))
    sight_of("http://a.example/", facts)


def urls(data: bytes) -> None:
    """A URL through all that takes one apart."""
    url = data.decode("utf-8", "surrogateescape")
    for part_of in (host_of, site_of, owner_of):
        part = part_of(url)
        assert part_of(part) == part, part_of
    parts = split_url(url)
    assert parts is None or parts.join() == url
    forms_of(url)
    name = file_name(site_of(url))
    assert not {"/", "\\", "\0"} & set(name), name
    assert name not in {".", ".."}
    shown = printable(url)
    assert all(unicodedata.category(character)[0] not in "CZ" or character == " " for character in shown)


class Rules:
    """A rule file, and what it makes of URLs: it ends, stays on the site, and does not change what it made."""

    def __init__(self, samples: tuple[bytes, ...]) -> None:
        self._urls = [sample.decode() for sample in samples]

    def __call__(self, data: bytes) -> None:
        """Read it, and normalize with it."""
        with TemporaryDirectory(prefix="dedupcrawl-fuzz-") as folder:
            path = Path(folder, "example.com.toml")
            path.write_bytes(data)
            try:
                rules = read_rules(path)
            except RuleError:
                return
        normalizer = SiteNormalizer(rules)
        for url in self._urls:
            done = normalizer.normalize(url)
            assert done.kind != "rewrite" or site_of(done.canonical) == site_of(canonical_url(url)), done
            assert done.kind == "equivalence" or normalizer.normalize(done.canonical).canonical == done.canonical, done


class Normalizing:
    """Any URL through a site's good rules."""

    def __init__(self, rules: bytes) -> None:
        with TemporaryDirectory(prefix="dedupcrawl-fuzz-") as folder:
            path = Path(folder, "example.com.toml")
            path.write_bytes(rules)
            self._normalizer = SiteNormalizer(read_rules(path))

    def __call__(self, data: bytes) -> None:
        """Normalize it twice."""
        url = data.decode("utf-8", "surrogateescape")
        done = self._normalizer.normalize(url)
        if done.kind != "equivalence":
            assert self._normalizer.normalize(done.canonical).canonical == done.canonical, done


def logs(data: bytes) -> None:
    """A file as a crawl log, and as pages."""
    with TemporaryDirectory(prefix="dedupcrawl-fuzz-") as folder:
        path = Path(folder, "log")
        path.write_bytes(data)
        try:
            for rows in read_log(path, Tally()):
                assert all(row.url for row in rows)
        except LogError:
            pass
        try:
            for stored in stored_pages([path], Tally()):
                page_of(stored)
        except LogError:
            pass


def learner(data: bytes) -> None:
    """Lines of a log that rules are learned from: no site breaks the learner, and what it learns is sound."""
    with TemporaryDirectory(prefix="dedupcrawl-fuzz-") as folder:
        log, rules = Path(folder, "log"), Path(folder, "rules")
        log.write_bytes(b"url\ttext_digest\n" + data)
        try:
            summary = train([log], rules, LearningOptions(), workers=1)
            normalizer = Normalizer.from_paths([rules] if rules.exists() else [])  # there are none to write
            urls = [row.url for rows in read_log(log, Tally()) for row in rows if row.url is not None]
        except LogError:
            return
        assert not summary.learned.failed, summary.learned.failed
        for site_rules in summary.learned.rules:
            assert read_rules(rules / file_name(site_rules.site)).rules
        for url in urls[:_URLS_TRIED]:
            done = normalizer.normalize(url)
            assert done.kind != "rewrite" or site_of(done.canonical) == site_of(canonical_url(url)), done
            assert done.kind == "equivalence" or normalizer.normalize(done.canonical).canonical == done.canonical, done


def records(data: bytes) -> None:
    """What an index holds, after something has changed it on the disk."""
    for read in (
        lambda: record.unpack(data, 1),
        lambda: record.signatures(data, 1),
        lambda: record.unpack_row(record.Recorded, data),
        lambda: record.unpack_row(record.Rewrite, data),
        lambda: text_of({"text": data}),
    ):
        try:
            read()
        except IndexDamagedError:
            continue
