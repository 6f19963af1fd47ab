"""Two small checks with frequent collisions, a page to go with them, and an index that compares with every page."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import ClassVar

from benchmarks.offering import inside, similar
from dedupcrawl.content.checks.base import Check, Keys
from dedupcrawl.core.main_outline import packed
from dedupcrawl.core.postings import Postings
from dedupcrawl.core.search import Search
from dedupcrawl.core.symbols import SymbolText
from dedupcrawl.index.contract import Index
from dedupcrawl.index.ledger import premise_of
from dedupcrawl.index.record import Entry, Premise, Skip
from dedupcrawl.index.steps import Kept, Step
from dedupcrawl.page import Page
from dedupcrawl.verdict import Verdict

LETTERS = b"abcdefgh"
Judge = Callable[[str, Entry], "Verdict | None"]
_EDGES = (0, 1, (1 << 64) - 1, 1 << 63)


@dataclass(frozen=True)
class EqualCheck:
    """Equal signatures; the keys of the first few are the smallest and largest there are."""

    is_on: ClassVar[bool] = True
    keys_depend_on: ClassVar[frozenset[str]] = frozenset({"edges"})

    name: str = "equal"
    payload_bits: int = 0
    version: int = 1
    edges: int = 4

    def header(self) -> Mapping[str, str | int | float]:
        return {"version": self.version, "edges": self.edges}

    def signature(self, page: Page, text: SymbolText) -> bytes | None:
        return page.title.encode() or None

    def keys(self, signature: bytes) -> Keys:
        number = int.from_bytes(signature, "big")
        return array("Q", [_EDGES[number] if number < self.edges else number * 2654435761])

    def candidates(self, signature: bytes, postings: Postings) -> list[int]:
        return postings.find(self.keys(signature))[1].tolist()

    def contained(self, signature: bytes, postings: Postings) -> list[int]:
        return []

    def dissimilarity(self, new: bytes, kept: bytes) -> float:
        """0 when equal, else 1."""
        return float(new != kept)

    def compare(self, new: bytes, kept: bytes) -> float | None:
        return 1.0 if new == kept else None


class EqualOff(EqualCheck):
    """It, where the crawl does not ask it."""

    is_on: ClassVar[bool] = False


@dataclass(frozen=True)
class LettersCheck(Check):
    """One-way: three quarters of a page's letters are among the kept page's. Payload: how many letters a page has."""

    name: str = "letters"
    payload_bits: int = 4
    share: float = 0.75

    def header(self) -> Mapping[str, str | int | float]:
        return {"share": self.share}

    def signature(self, page: Page, text: SymbolText) -> bytes | None:
        return bytes(sorted(set(page.title.encode()) & set(LETTERS))) or None

    def prefixes(self, signature: bytes) -> Keys:
        top = (1 << (64 - self.payload_bits)) - 1  # "a" has the first prefix of all, "h" the last
        last = len(LETTERS) - 1
        return array("Q", [LETTERS.index(letter) * top // last for letter in signature])

    def keys(self, signature: bytes) -> Keys:
        return array("Q", [prefix << self.payload_bits | len(signature) for prefix in self.prefixes(signature)])

    def candidates(self, signature: bytes, postings: Postings) -> list[int]:
        prefixes = self.prefixes(signature)
        keys, pages = postings.find(prefixes)
        assert sum(postings.count(prefixes)) >= len(keys)
        return [page for page, shared in Counter(pages).items() if shared >= self.share * len(signature)]

    def contained(self, signature: bytes, postings: Postings) -> list[int]:
        keys, pages = postings.find(self.prefixes(signature))
        letters = {page: key & 15 for key, page in zip(keys, pages, strict=True)}
        return [page for page, shared in Counter(pages).items() if shared >= self.share * letters[page]]

    def compare(self, new: bytes, kept: bytes) -> float | None:
        share = len(set(new) & set(kept)) / len(new)
        return share if share >= self.share else None


CHECKS: tuple[Check, ...] = (EqualCheck(), LettersCheck())


def page(url: str, content: int, letters: bytes = b"", *, title: str = "", run: str = "run") -> Entry:
    """An entry: `content` is its EqualCheck signature, 0 for none; no letters for no LettersCheck signature."""
    signatures = {}
    if content:
        signatures["equal"] = content.to_bytes(3, "big")
    if letters:
        signatures["letters"] = bytes(sorted(set(letters)))
    return Entry(
        url=url,
        site="example.com",
        spider="toy",
        run=run,
        kept_at=1.5,
        title=title,
        signatures=signatures,
        outline=packed(SymbolText.of((url,))),
    )


def accept(new: Entry) -> Judge:
    """A judge that confirms every candidate of the same title."""

    def judge(check: str, kept: Entry) -> Verdict | None:
        if kept.title != new.title:
            return None
        return Verdict(new.url, "duplicate", kept.url, check, 1.0, {"kept_title": kept.title})

    return judge


def add(index: Index, found: Search, request: bytes = b"") -> Kept | None:
    """Add one page."""
    return index.carry_out([keeping(found, request)])[0]  # type: ignore[return-value]  # of a page to be kept


def keeping(found: Search, request: bytes = b"") -> Step:
    """To keep the page for which this was found."""
    entry = found.entry
    return Step(premise_of(entry), Skip(entry.spider, entry.source, request) if request else None, found)


def premise(index: Index, url: str) -> Premise:
    """That what is kept under this URL is stored."""
    kept = index.entry(url)
    return Premise(url, 0.0) if kept is None else premise_of(kept)


def drop(index: Index, keeper: str, skip: Skip) -> bool:
    """Drop one page because of another."""
    return index.carry_out([Step(premise(index, keeper), skip)]) == [True]


def store(index: Index, *urls: str) -> None:
    """What is kept under these URLs is stored."""
    index.hold([premise(index, url) for url in urls])


def lose(index: Index, *urls: str) -> list[Skip]:
    """What is kept under these URLs is lost; what is due therefore."""
    return index.fall([premise(index, url) for url in urls])


def offer(  # noqa: PLR0913 - each may be left out or is a case
    index: Index,
    entry: Entry,
    judge: Judge | None = None,
    *,
    first_id: int = 0,
    holds: Callable[[str, Entry], bool] = lambda check, kept: True,
    request: bytes = b"",
) -> Kept | Verdict:
    """Search, judge and add a page; without a judge every candidate of the same title is confirmed."""
    judge = judge or accept(entry)
    found: Search | None = None
    while True:
        found = index.search(entry, first_id=first_id, after=found)
        for check, _, kept in similar(found):
            if (verdict := judge(check, kept)) is not None:
                return verdict
        for check, page_id, kept in inside(found):
            if holds(check, kept):
                found.superseded[page_id] = kept.source
        if (added := add(index, found, request)) is not None:
            return added


def fill(index: Index, count: int, start: int = 1000) -> None:
    """Pages that are alike by no check; all are kept."""
    for number in range(start, start + count):
        assert isinstance(offer(index, page(f"http://fill/{number}", number)), Kept)


def duplicate_of(answer: Kept | Verdict) -> str | None:
    """The page that an answer says it duplicates."""
    assert isinstance(answer, Verdict)
    assert answer.is_duplicate
    return answer.duplicate_of


@dataclass
class _Row:
    entry: Entry | None
    is_kept: bool = True
    larger: list[int] = field(default_factory=list)


@dataclass
class BruteForce:
    """What an index must answer, found by comparing with every page."""

    checks: tuple[Check, ...] = CHECKS
    rows: list[_Row] = field(default_factory=list)
    newest: dict[str, Verdict] = field(default_factory=dict)
    recorded: list[Verdict] = field(default_factory=list)
    runs: dict[str, int] = field(default_factory=dict)

    def offer(self, entry: Entry, judge: Judge, first_id: int = 0) -> Kept | Verdict:
        others = [
            (number, row.entry)
            for number, row in enumerate(self.rows)
            if row.is_kept and row.entry is not None and row.entry.url != entry.url and number >= first_id
        ]
        inside: set[int] = set()
        for check in self.checks:
            made = entry.signatures.get(check.name)
            if made is None:
                continue
            alike = []
            for number, other in others:
                theirs = other.signatures.get(check.name)
                if theirs is None:
                    continue
                similarity = check.compare(made, theirs)
                if similarity is not None:
                    alike.append((-similarity, self._dissimilarity(entry, other), number, other))
                if check.name == "letters" and check.compare(theirs, made) is not None:
                    inside.add(number)
            for _, _, _, other in sorted(alike, key=lambda row: row[:3]):
                verdict = judge(check.name, other)
                if verdict is not None:
                    return verdict
        replaces = self._end(entry.url)
        number = len(self.rows)
        for smaller in inside:
            self.rows[smaller].larger.append(number)
        self.rows.append(_Row(entry))
        urls = (row.entry.url for n in sorted(inside) if (row := self.rows[n]).entry is not None)
        return Kept(number, tuple(urls), replaces)

    def _dissimilarity(self, entry: Entry, other: Entry) -> float:
        """As the index sums it up, in its order."""
        total = 0.0
        for check in self.checks:
            made, theirs = entry.signatures.get(check.name), other.signatures.get(check.name)
            if made is not None:
                total += 1.0 if theirs is None else check.dissimilarity(made, theirs)
        return total

    def renew(self, entry: Entry) -> bool:
        for number, row in enumerate(self.rows):
            if row.is_kept and row.entry is not None and row.entry.url == entry.url:
                if (row.entry.kept_at, row.entry.run) != (entry.kept_at, entry.run):
                    return False
                row.is_kept = False
                for smaller in self.rows:
                    if number in smaller.larger:
                        smaller.larger.append(len(self.rows))
                self.rows.append(_Row(entry, larger=list(row.larger)))
                return True
        return False

    def forget(self, url: str) -> int:
        if not self._end(url):
            return 0
        self.rows.append(_Row(None, is_kept=False))
        return 1

    def _end(self, url: str) -> bool:
        for row in self.rows:
            if row.is_kept and row.entry is not None and row.entry.url == url:
                row.is_kept = False
                return True
        return False

    def entries(self) -> list[Entry]:
        return [row.entry for row in self.rows if row.is_kept and row.entry is not None]

    def superseded_by(self, url: str) -> str | None:
        for row in self.rows:
            if row.is_kept and row.entry is not None and row.entry.url == url:
                kept = [larger.entry.url for n in row.larger if (larger := self.rows[n]).is_kept and larger.entry]
                return kept[-1] if kept else None
        return None

    def record(self, verdict: Verdict) -> None:
        self.newest[verdict.url] = verdict
        self.recorded = [*(one for one in self.recorded if one.url != verdict.url), verdict]

    def first_id_of_run(self, run: str) -> int:
        return self.runs.setdefault(run, len(self.rows))
