"""The Python interface, for programs that crawl with something other than Scrapy.

docs/python.md shows all of it. Anything that `dedupcrawl.__all__` does not name may change with any version.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import msgspec

from dedupcrawl.content.checks.registry import PARAMETERS
from dedupcrawl.content.html import extract
from dedupcrawl.content.model import load
from dedupcrawl.core.digests import Secret
from dedupcrawl.detection import detector as detection
from dedupcrawl.detection.analysis import Analysis
from dedupcrawl.detection.batch import Steps, judge_batch
from dedupcrawl.detection.comparison import Asked
from dedupcrawl.detection.trust import Trust
from dedupcrawl.index.contract import standing_for
from dedupcrawl.index.open import TemporaryIndex, open_index, shown
from dedupcrawl.page import Page, paragraphs_of
from dedupcrawl.setting import listed
from dedupcrawl.settings import PREFIX, START, DedupSettings, SettingError
from dedupcrawl.text.ignored import read_ignored
from dedupcrawl.verdict import Verdict

if TYPE_CHECKING:
    from dedupcrawl.training.train import TrainingSummary

_RUN = "check"
_AHEAD = 500  # pages that are read before the first is judged: some 20 MB
_OF_READING = {"DEDUP_SELECTOR": "selector", "DEDUP_IGNORE": "ignore"}
_TAKEN = frozenset(
    f"{PREFIX}{name}"
    for name in (
        *("CHECKS", "INDEX", "INDEX_MEMORY", "KEEP_TEXT", "MODEL", "SCOPE", "SITE_QUOTA", "TARGET_PRECISION"),
        *("TRUSTED_SITES", "TTL", *(parameter.name for parameter in PARAMETERS)),
    )
)
_TAKES = f"it takes {', '.join(sorted(_TAKEN))}"
USUAL = {"DEDUP_INDEX": "memory:", "DEDUP_SCOPE": "all", "DEDUP_TRUSTED_SITES": "all", "DEDUP_SITE_QUOTA": "none"}
"""Defaults outside a crawl: a user who names the pages wants to find every duplicate among them."""


@dataclass(frozen=True, slots=True)
class Explanation:
    """What an index knows about a URL.

    Attributes:
        url: The URL.
        verdict: The newest recorded verdict: duplicate, in doubt, or no longer a duplicate; None if there is none.
        is_kept: Whether the index keeps the page of this URL, so that others may be duplicates of it.
        keeper: URL of the kept page that stands for it now: its own if it is kept and not superseded; None without any.
        is_restored: Whether a user has withdrawn a verdict on it, so that it is never a duplicate.
    """

    url: str
    verdict: Verdict | None
    is_kept: bool
    keeper: str | None
    is_restored: bool


class Detector(AbstractContextManager["Detector"]):
    """Decides for each page whether it duplicates an earlier one, and keeps it if not.

    The index records every duplicate, so that it can be explained and restored. Kept pages survive a kill of the
    process, and several processes may use one index at a time. Several threads, or a process and its forked child, must
    not share a detector.

    Args:
        index: A folder, which is created if it is missing, or text as in DEDUP_INDEX ("redis://localhost/0"). None: a
            temporary index that is deleted with the detector.
        settings: DEDUP_ settings by name, as in a Scrapy project: {"DEDUP_TARGET_PRECISION": 0.99}. Pages are compared
            with all others in the index unless DEDUP_SCOPE says otherwise. A `DedupSettings` object is used as it is,
            with its index.
        secret: Keys the digests and sketches of a temporary index: any bytes that the authors of the pages cannot know.
            None: random bytes; then two pages near a threshold may be duplicates in one run and not in another.

    Raises:
        ValueError: A setting is unusable or only used by crawls, or the index was made with other settings.
        IndexDamagedError: The index is damaged.
        OSError: The index cannot be read or written.
    """

    def __init__(
        self,
        index: Path | str | None = None,
        settings: Mapping[str, Any] | DedupSettings | None = None,
        *,
        secret: bytes | None = None,
    ) -> None:
        if not isinstance(settings, DedupSettings):
            given = {**USUAL, **(settings or {})}
            if index is not None:
                given["DEDUP_INDEX"] = f"lmdb:{index}" if isinstance(index, Path) else index
            settings = DedupSettings.read(given)
            for name in sorted(given.keys() - _TAKEN):
                instead = f"read_html takes it as '{_OF_READING[name]}'" if name in _OF_READING else _TAKES
                raise SettingError(f"{name} is no setting of a Detector; {instead}.")
        if not settings.checks:
            raise SettingError("DEDUP_CHECKS: got none; takes at least one here.")
        if secret is not None and settings.index != "memory:":
            raise ValueError(f"secret: the index {shown(settings.index)} has its own; leave one of the two out")
        if settings.trusted_sites == START:
            raise SettingError("DEDUP_TRUSTED_SITES: files have no start; take 'all' or a list of hosts.")
        run = uuid4().hex if settings.scope == "run" else _RUN  # "run": compare with no page of another detector
        self._settings = settings
        with ExitStack() as opened:
            kept = settings.index_checks()
            self._index = (
                TemporaryIndex(kept, Secret.of(secret)) if secret is not None else open_index(settings.index, kept)
            )
            opened.enter_context(closing(self._index))
            self._detector = detection.Detector(
                self._index,
                run=run,
                trust=Trust(settings.trusted_sites),
                memory=settings.index_memory,
                model=load(settings.model),
            )
            opened.enter_context(closing(self._detector))
            self._opened = opened.pop_all()

    def check(self, page: Page) -> Verdict:
        """Judge a page, and keep it if it is not a duplicate. A page with the URL of a kept one updates that page.

        Raises:
            TypeError: The argument is not a `Page`, or a part of it is not text.
            ValueError: The page has no URL.
            OSError: The index cannot be used; it may have kept the page, and then the next check is an update of it.
        """
        _check_page(page)
        return self.check_stored(page)

    def check_many(self, pages: Iterable[Page]) -> Iterator[Verdict]:
        """Judge pages in their order, and keep those that are not duplicates.

        The more pages of a site the detector has read, the better it knows the site template. So it reads up to 500
        pages ahead of the one that it judges; if you leave the iterator early, it has not kept those. A page without a
        URL raises ValueError, anything that is not a page TypeError.
        """
        _expect(pages, Iterable, "pages are a list of them, or another iterable")
        return self._verdicts(pages)

    def _verdicts(self, pages: Iterable[Page]) -> Iterator[Verdict]:
        waiting: deque[Analysis] = deque()
        for page in pages:
            _check_page(page)
            read = Analysis(page, self._index.secret)
            self._detector.learn(read)
            waiting.append(read)
            if len(waiting) >= _AHEAD + self._index.pages_at_once:
                yield from self._check_next(waiting)
        while waiting:
            yield from self._check_next(waiting)

    def _check_next(self, waiting: deque[Analysis]) -> list[Verdict]:
        """The verdicts on as many pages as the index handles best at once."""
        reads = [waiting.popleft() for _ in range(min(len(waiting), self._index.pages_at_once))]
        verdicts = judge_batch(self._index, map(self._steps, reads))
        if self._settings.keep_text:
            for read in reads:
                self._detector.keep_text(read.page)
        return verdicts

    def check_stored(self, page: Page) -> Verdict:
        """Like `check`, for a page that was read from a file: its URL may be any text."""
        return self._check_next(deque([Analysis(page, self._index.secret)]))[0]

    def _steps(self, read: Analysis) -> Steps[Verdict]:
        settings = self._settings
        return self._detector.steps(
            read,
            Asked(
                settings.made_checks,
                scope=settings.scope,
                target_precision=settings.target_precision,
                ttl=settings.ttl,
                quota=settings.site_quota,
                keeps_text=settings.keep_text,
            ),
        )

    def resolved(self, verdict: Verdict) -> Verdict:
        """A verdict of duplicate, with "superseded_by" if a page that was judged later has replaced its keeper."""
        larger = standing_for(self._index, verdict.duplicate_of) if verdict.duplicate_of is not None else None
        if larger is None:
            return verdict
        return msgspec.structs.replace(verdict, evidence=verdict.evidence | {"superseded_by": larger})

    def explain(self, url: str) -> Explanation:
        """What the index knows about a URL: nothing if there is no verdict and the page is not kept."""
        _expect(url, str, "a URL is text")
        verdict, entry = self._index.verdict(url), self._index.entry(url)
        keeper = url if entry is not None else verdict.duplicate_of if verdict is not None else None
        if keeper is not None:
            keeper = standing_for(self._index, keeper) or keeper
        return Explanation(url, verdict, entry is not None, keeper, self._index.is_restored(url))

    def restore(self, urls: Iterable[str]) -> int:
        """Withdraw the verdicts on these URLs (or one URL), which are never duplicates again; returns their number."""
        return self._index.withdraw(_urls(urls))

    def forget(self, urls: Iterable[str]) -> int:
        """Erase these pages (or one page), so that no page is their duplicate any more; returns how many were kept."""
        gone = [url for url in _urls(urls) if self._index.forget([url])]
        self._detector.erased(gone)
        return len(gone)

    def close(self) -> None:
        """Write the rest to the index and close it; the detector cannot be used afterwards."""
        self._opened.close()

    def __exit__(self, *_: object) -> None:
        self.close()


def _check_page(page: Page) -> None:
    _expect(page, Page, "a page is what read_html or read_text gives")
    _check_name(page.url)


def _expect(value: object, kinds: type | tuple[type, ...], said: str) -> None:
    if not isinstance(value, kinds):
        raise TypeError(f"{said}, not {type(value).__name__}.")


def _urls(given: Iterable[str]) -> list[str]:
    _expect(given, Iterable, "URLs are a list of texts, or one text")
    urls = list(listed(given))
    for url in urls:
        _expect(url, str, "a URL is text")
    return urls


def _check_name(url: str) -> None:
    _expect(url, str, "the URL of a page is text")
    if not url:
        raise ValueError("a page needs a URL, or any other name: verdicts on later pages name it by that.")
    if url.lstrip().startswith("<") or len(url.splitlines()) > 1:
        raise ValueError(f"{url[:40]!r} is a page, not its URL: the page comes first, then its URL.")


def read_html(
    body: bytes | str,
    url: str,
    *,
    encoding: str | None = None,
    selector: str | None = None,
    ignore: Sequence[str] = (),
) -> Page:
    """Read a page from HTML, which may be broken.

    Args:
        body: The undecoded bytes, or decoded text.
        url: The URL of the page, after redirects.
        encoding: The charset in the headers of the response; it may be wrong.
        selector: CSS selector of the elements that hold the main text; None: the main text is recognized.
        ignore: Parts to leave out, as in DEDUP_IGNORE: ["css:.stats", "re:Read [0-9]+ times"].

    Raises:
        TypeError: `body` is neither bytes nor text, or `url` is not text.
        ValueError: `url` is a page, `selector` is not a CSS selector, or `ignore` has an invalid entry.
    """
    _expect(body, (bytes, str), "HTML is bytes or text")
    _check_name(url)
    return extract(body, url, encoding=encoding, selector=selector, ignored=read_ignored(tuple(listed(ignore))))


def read_text(text: str, url: str, *, title: str = "") -> Page:
    """Read a page from plain text with one paragraph per line; raises what `read_html` raises."""
    _expect(text, str, "a plain text is a str")
    _check_name(url)
    return Page(url, title=title, paragraphs=paragraphs_of(text))


def learn(logs: Sequence[Path | str] | Path | str, rules: Path | str) -> TrainingSummary:
    """Learn URL rules from crawl logs and write them into the folder `rules`, as `dedupcrawl train` does.

    Args:
        logs: One file, or several with the oldest first, in any format that `dedupcrawl train` takes.
        rules: The folder; rules that people wrote there stay.

    Raises:
        ImportError: A log is WARC or Parquet, and the extra "archives" is not installed.
        LogError: A log cannot be read; nothing is written then.
        OSError: The folder cannot be written.
    """
    from dedupcrawl.training.options import LearningOptions
    from dedupcrawl.training.train import train

    return train([Path(log) for log in listed(logs)], Path(rules), LearningOptions())
