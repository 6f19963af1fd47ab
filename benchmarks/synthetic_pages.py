"""Signatures of made-up pages for `index_scale`, as many as are asked for, and a search of them without an index.

Symbols follow Zipf's law over 3,000 of them. As on real sites two codes in three are of the least length, 20 symbols,
the others are longer. One page in twenty starts with one of 1,000 site templates, 14 symbols, the most frequent of them
on three of these pages in a hundred, so some grams are posted under many pages. One page in fifty duplicates an earlier
one, in one of four ways.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from dedupcrawl.content.checks.feature_code import FeatureCodeCheck
from dedupcrawl.index.record import Entry

BLOCK = 10_000
KINDS = ("equal", "near fingerprint", "excerpt of the code", "larger than the kept page")

_VOCABULARY = 3_000
_SITES = 1_000
_TEMPLATE = 14
_TEMPLATED = 0.05
_REMEMBERED = 100  # one page in so many may be duplicated later
_PLANTED = 0.02

Code = NDArray[np.uint16]


@dataclass(frozen=True, slots=True)
class Signatures:
    """One page's signatures, as the checks make them."""

    exact: bytes
    fingerprint: int
    code: Code


@dataclass(slots=True)
class Block:
    """`BLOCK` consecutive pages.

    Attributes:
        first: Number of the first page.
        pages: Their signatures.
        planted: Numbers of those that were made from an earlier page.
    """

    first: int
    pages: list[Signatures]
    planted: list[int] = field(default_factory=list)


def blocks(pages: int, seed: int) -> Iterator[Block]:
    """Always the same pages for one seed."""
    probability = 1 / np.arange(1, _VOCABULARY + 1)
    heights = np.cumsum(probability / probability.sum())
    names = np.random.default_rng(seed).permutation(1 << 15)[:_VOCABULARY].astype(np.uint16)
    remembered: list[Signatures] = []
    for first in range(0, pages, BLOCK):
        rng = np.random.default_rng((seed, first))

        def text(rng: np.random.Generator, symbols: int) -> Code:
            return names[np.minimum(heights.searchsorted(rng.random(symbols)), _VOCABULARY - 1)]

        lengths = np.where(rng.random(BLOCK) < 0.65, 20, 20 + rng.exponential(45, BLOCK).astype(np.int64))
        codes = np.split(text(rng, int(lengths.sum())), np.cumsum(lengths)[:-1])
        templated = rng.random(BLOCK) < _TEMPLATED
        templates = (_SITES * rng.random(BLOCK) ** 2).astype(np.int64).tolist()
        digests, fingerprints = rng.bytes(16 * BLOCK), rng.integers(0, 1 << 64, BLOCK, dtype=np.uint64).tolist()
        block = Block(first, [])
        for number in range(BLOCK):
            page = Signatures(b"t" + digests[16 * number : 16 * number + 16], fingerprints[number], codes[number])
            if templated[number]:
                page.code[:_TEMPLATE] = text(np.random.default_rng((seed, 1, templates[number])), _TEMPLATE)
            if remembered and rng.random() < _PLANTED:
                kind = int(rng.integers(len(KINDS)))
                page = _duplicate(rng, kind, remembered[int(rng.integers(len(remembered)))], page)
                block.planted.append(first + number)
            elif number % _REMEMBERED == 0:
                remembered.append(replace(page, code=page.code.copy()))  # a view would keep the whole block's
            block.pages.append(page)
        yield block


def _duplicate(rng: np.random.Generator, kind: int, original: Signatures, page: Signatures) -> Signatures:
    if kind == 0:
        return original
    if kind == 1:
        flips = sum(1 << bit for bit in rng.choice(64, int(rng.integers(4)), replace=False).tolist())
        return Signatures(page.exact, original.fingerprint ^ flips, page.code)
    code = original.code
    if kind == 2:
        length = max(20, int(code.size * rng.uniform(0.4, 1)))
        start = int(rng.integers(code.size - length + 1))
        kept = code[start : start + length].copy()
        changed = min(length // 5, page.code.size)
        kept[:changed] = page.code[:changed]
        return Signatures(page.exact, page.fingerprint, kept)
    return Signatures(page.exact, page.fingerprint, np.concatenate([page.code, code]))


def entry_of(number: int, page: Signatures, outline: bytes) -> Entry:
    """The page as it is offered."""
    site = f"site{number % _SITES}.example.com"
    return Entry(
        url=f"https://www.{site}/section/article-{number}.html",
        site=site,
        spider="news",
        run="0123456789abcdef",
        kept_at=1.7e9 + number,
        title=f"The title of article {number}, as long as titles are",
        signatures={
            "exact": page.exact,
            "feature_code": page.code.astype("<u2").tobytes(),
            "simhash": page.fingerprint.to_bytes(8, "little"),
        },
        outline=outline,
    )


@dataclass(slots=True)
class Scan:
    """Looks for the keepers of one page among all pages, block by block, without keys or postings.

    Attributes:
        number: The page that was offered.
        page: Its signatures.
        found: For each check in order: (−similarity, page number) of the best keeper so far.
    """

    number: int
    page: Signatures
    distance: int
    share: float
    found: list[tuple[float, int] | None] = field(default_factory=lambda: [None] * 3)

    def best(self) -> tuple[str, int] | None:
        """By which check, the first that has one, the page is the duplicate of which."""
        names = ("exact", "simhash", "feature_code")
        return next(((name, row[1]) for name, row in zip(names, self.found, strict=True) if row), None)

    def look(self, block: Block, kept: NDArray[np.bool_], columns: Columns) -> None:
        """Take the kept pages of a block into account, up to the page itself."""
        before = min(BLOCK, self.number - block.first)
        if before <= 0:
            return
        alive = kept[block.first : block.first + before]
        self._take(0, block, np.flatnonzero((columns.exact[:before] == self.page.exact) & alive), 1.0)
        distances = np.bitwise_count(columns.fingerprints[:before] ^ np.uint64(self.page.fingerprint))
        for number in np.flatnonzero((distances <= self.distance) & alive).tolist():
            self._take(1, block, [number], float(np.cos(np.pi * distances[number] / 64)))
        for number in columns.holding(self._core()):
            if number < before and alive[number]:
                similarity = self._repeated(block.pages[number].code)
                if similarity is not None:
                    self._take(2, block, [number], similarity)

    def _core(self) -> Code:
        """What any piece of t of L symbols holds, for t = ⌈share · L⌉."""
        length = self.page.code.size
        least = int(np.ceil(self.share * length - 1e-9))
        return self.page.code[length - least : least]

    def _repeated(self, kept: Code) -> float | None:
        check = FeatureCodeCheck(self.share)
        return check.compare(self.page.code.astype("<u2").tobytes(), kept.astype("<u2").tobytes())

    def _take(self, check: int, block: Block, numbers: NDArray[np.intp] | list[int], similarity: float) -> None:
        for number in numbers[:1]:
            row = (-similarity, block.first + int(number))
            best = self.found[check]
            self.found[check] = row if best is None else min(best, row)


@dataclass(slots=True)
class Columns:
    """The signatures of one block as arrays."""

    exact: NDArray[np.bytes_]
    fingerprints: NDArray[np.uint64]
    symbols: Code
    page_of: NDArray[np.int64]

    @classmethod
    def of(cls, block: Block) -> Columns:
        lengths = [page.code.size for page in block.pages]
        return cls(
            np.array([page.exact for page in block.pages], dtype="S17"),
            np.array([page.fingerprint for page in block.pages], dtype=np.uint64),
            np.concatenate([page.code for page in block.pages]),
            np.repeat(np.arange(len(lengths)), lengths),
        )

    def holding(self, run: Code) -> list[int]:
        """Numbers in the block of the pages whose codes hold `run`."""
        places = np.flatnonzero(self.symbols[: self.symbols.size - run.size + 1] == run[0])
        for offset in range(1, run.size):
            places = places[self.symbols[places + offset] == run[offset]]
        same = self.page_of[places] == self.page_of[places + run.size - 1]
        return sorted(set(self.page_of[places[same]].tolist()))
