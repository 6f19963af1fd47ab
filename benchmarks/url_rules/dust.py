"""DUST: Bar-Yossef, Keidar, Schonfeld, "Do not crawl in the DUST: different URLs with similar text", WWW 2007.

A rule α → β replaces a substring of a URL. The paper finds likely rules in a list of URLs (Algorithm 1), drops those
that say the same as another (Algorithm 2), checks the rest against pages (Algorithms 3 and 4) and applies what is left
until nothing changes. Here the pages are those of the training clusters: two URLs are similar when they have one label,
and a rule is checked against all pairs of training URLs instead of a sample that is fetched.

URLs are sequences of tokens: runs of letters and digits, and every other character by itself, between a first token `^`
and a last token `$`.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from benchmarks.url_rules.method import Learned, Row

LONGEST_SUBSTRING = 35
"""Tokens of α or β (the paper's S)."""

LARGEST_BUCKET = 11
"""Substrings in one envelope, beyond which they are values of a parameter and no aliases (the paper's T)."""

LEAST_SUPPORT = 3
"""Pairs of URLs behind a likely rule (the paper's MS)."""

WINDOW = 1_100
"""Rules of next smaller support that a rule is compared with in Algorithm 2 (the paper's MW)."""

RELATIVE_DEFICIENCY = 0.05
ABSOLUTE_DEFICIENCY = 1
"""How much smaller the support of a rule may be that is eliminated for another (the paper's MRD and MAD)."""

MOST_STEPS = 100
"""Replacements in one URL; each makes it shorter or smaller, so this bounds the time and not the result."""

START, END, BOUND = "\x02", "\x03", "\x1f"
TOKEN = re.compile(r"[A-Za-z0-9]+|.", re.DOTALL)

Tokens = tuple[str, ...]


def tokenize(url: str) -> list[str]:
    return [START, *TOKEN.findall(url), END]


@dataclass(frozen=True, slots=True)
class SubstringRule:
    """α → β with the pairs of training URLs (u, v), u = pαs and v = pβs, that have one label."""

    alpha: Tokens
    beta: Tokens
    support: int

    @property
    def kind(self) -> Literal["rewrite", "equivalence"]:
        return "rewrite"

    def apply(self, url: str) -> str | None:
        bounded, alpha = _bounded(tokenize(url)), _bounded(self.alpha)
        return _plain(bounded.replace(alpha, _bounded(self.beta), 1)) if alpha in bounded else None

    def __str__(self) -> str:
        alpha, beta = ("".join(side).replace(START, "^").replace(END, "$") for side in (self.alpha, self.beta))
        return f'"{alpha}" → "{beta}"'


def _bounded(tokens: Sequence[str]) -> str:
    return BOUND + "".join(token + BOUND for token in tokens)


def _plain(bounded: str) -> str:
    return bounded.replace(BOUND, "").removeprefix(START).removesuffix(END)


def learn(rows: Sequence[Row], precision: float = 0.0) -> Learned[SubstringRule]:
    """Likely rules without redundant ones, those of large support first, and which are valid for any precision."""
    rules = eliminate_redundancies(likely_rules(rows))
    return Learned(rules, SubstringMatcher, partial(validate, rules, check(rules, rows)))


def likely_rules(rows: Sequence[Row]) -> list[SubstringRule]:
    """Algorithm 1: buckets of substrings by their envelope, and the support of each pair of a bucket.

    Each rule is given in one direction, towards the shorter or, of equal length, the smaller string.
    """
    urls = [tokenize(url) for url, _ in rows]
    numbers: dict[str, int] = {}
    labels = [numbers.setdefault(label, len(numbers)) for _, label in rows]
    support: Counter[tuple[Tokens, Tokens]] = Counter()
    for bucket in _buckets(urls, labels):
        for (one, i, j), (other, k, m) in combinations(bucket, 2):
            if labels[one] == labels[other]:
                sides = sorted((tuple(urls[one][i:j]), tuple(urls[other][k:m])), key=_size, reverse=True)
                support[sides[0], sides[1]] += 1
    rules = [
        SubstringRule(alpha, beta, n) for (alpha, beta), n in support.items() if n >= LEAST_SUPPORT and alpha != beta
    ]
    return sorted(rules, key=_importance)


def _size(tokens: Sequence[str]) -> tuple[int, str]:
    text = "".join(tokens)
    return len(text), text


def _importance(rule: SubstringRule) -> tuple[int, int, Tokens, Tokens]:
    return -rule.support, len(rule.alpha), rule.alpha, rule.beta


def _buckets(urls: Sequence[Sequence[str]], labels: Sequence[int]) -> Iterator[list[tuple[int, int, int]]]:
    """(URL, first token, end) of the substrings of each envelope, for envelopes of at most LARGEST_BUCKET substrings.

    Only those in which two URLs have one label. An envelope is known by a 64-bit hash of its prefix and suffix: numbers
    are sorted, not a table of strings.
    """
    ids: dict[str, int] = {}
    envelopes: list[NDArray[np.uint64]] = []
    places: list[NDArray[np.int32]] = []
    spans: dict[int, NDArray[np.int32]] = {}
    for number, tokens in enumerate(urls):
        codes = [ids.setdefault(token, len(ids) + 1) for token in tokens]
        n = len(codes)
        if n not in spans:
            pairs = [(i, j) for i in range(n + 1) for j in range(i, min(n, i + LONGEST_SUBSTRING) + 1)]
            spans[n] = np.array(pairs, dtype=np.int32)
        start, end = spans[n].T
        prefix = np.array(_prefix_hashes(codes), dtype=np.uint64)
        suffix = np.array(_prefix_hashes(codes[::-1])[::-1], dtype=np.uint64)
        envelopes.append(prefix[start] * np.uint64(0x9E3779B97F4A7C15) ^ suffix[end])
        places.append(np.column_stack((np.full(len(start), number, dtype=np.int32), start, end)))
    if not urls:
        return
    all_places = np.concatenate(places)
    keys, groups = np.concatenate(envelopes), np.array(labels)[all_places[:, 0]]
    order = np.lexsort((groups, keys))
    keys, groups, all_places = keys[order], groups[order], all_places[order]
    new = np.concatenate(([True], keys[1:] != keys[:-1]))
    twins = np.concatenate((~new[1:] & (groups[1:] == groups[:-1]), [False]))
    firsts = np.flatnonzero(new)
    sizes = np.diff(np.append(firsts, len(keys)))
    wanted = np.logical_or.reduceat(twins, firsts) & (sizes <= LARGEST_BUCKET)
    for first, size in zip(firsts[wanted].tolist(), sizes[wanted].tolist(), strict=True):
        yield [(u, i, j) for u, i, j in all_places[first : first + size].tolist()]


def _prefix_hashes(codes: Sequence[int]) -> list[int]:
    """A 64-bit hash of each prefix, the empty one first."""
    hashes = [0xCBF29CE484222325]
    for code in codes:
        mixed = ((hashes[-1] ^ code) * 0xFF51AFD7ED558CCD) & 0xFFFFFFFFFFFFFFFF
        hashes.append(mixed ^ (mixed >> 29))
    return hashes


def eliminate_redundancies(rules: Sequence[SubstringRule]) -> list[SubstringRule]:
    """Algorithm 2: of two rules of nearly equal support of which one refines the other, the refined (longer) one stays.

    Instead of comparing all rules of a window, the few rules that a rule can refine are built and looked up.
    """
    position = {(rule.alpha, rule.beta): i for i, rule in enumerate(rules)}
    later: dict[int, dict[int, bool]] = defaultdict(dict)
    for i, rule in enumerate(rules):
        for sides in refined_by(rule.alpha, rule.beta):
            j = position.get(sides)
            if j is not None and abs(i - j) <= WINDOW:
                later[min(i, j)][max(i, j)] = i < j
    eliminated = [False] * len(rules)
    for i, rule in enumerate(rules):
        if eliminated[i]:
            continue
        for j in sorted(later[i]):
            if rule.support - rules[j].support > max(RELATIVE_DEFICIENCY * rule.support, ABSOLUTE_DEFICIENCY):
                break
            if eliminated[j]:
                continue
            if not later[i][j]:
                eliminated[i] = True
                break
            eliminated[j] = True
    return [rule for rule, gone in zip(rules, eliminated, strict=True) if not gone]


def refined_by(alpha: Tokens, beta: Tokens) -> Iterator[tuple[Tokens, Tokens]]:
    """Every other rule that α → β refines: α' → β' with α = γα'δ and β = γβ'δ (the paper's refinement lemma)."""
    shorter = min(len(alpha), len(beta))
    front = _common(alpha, beta)
    for head in range(front + 1):
        back = min(_common(alpha[::-1], beta[::-1]), shorter - head)
        for tail in range(back + 1):
            if head or tail:
                yield alpha[head : len(alpha) - tail], beta[head : len(beta) - tail]


def _common(one: Sequence[str], other: Sequence[str]) -> int:
    length = 0
    while length < min(len(one), len(other)) and one[length] == other[length]:
        length += 1
    return length


def check(rules: Sequence[SubstringRule], rows: Sequence[Row]) -> list[tuple[int, int]]:
    """Algorithm 3: for each rule, the URLs that it takes to a URL of the same label, and to one of another label.

    An image that is no training URL says nothing, as a page that could not be fetched.
    """
    labels = dict(rows)
    right, wrong = Counter[int](), Counter[int]()
    matcher = SubstringMatcher(rules)
    for url, label in rows:
        for i, image in matcher.images(url):
            if image in labels:
                (right if labels[image] == label else wrong)[i] += 1
    return [(right[i], wrong[i]) for i in range(len(rules))]


def validate(rules: Sequence[SubstringRule], checked: Sequence[tuple[int, int]], precision: float) -> list[int]:
    """Algorithm 4: the rules that hold for a share `precision` (the paper's 1 - ε) of the URLs they were checked on.

    A rule that refines a valid one is not looked at.
    """
    valid: list[int] = []
    sides: set[tuple[Tokens, Tokens]] = set()
    for i, (rule, (right, wrong)) in enumerate(zip(rules, checked, strict=True)):
        if any(coarser in sides for coarser in refined_by(rule.alpha, rule.beta)):
            continue
        if right and right >= precision * (right + wrong):
            valid.append(i)
            sides.add((rule.alpha, rule.beta))
    return valid


class SubstringMatcher:
    """Rules by the rarest token of their α, so that a URL meets only rules of which it may hold the α."""

    def __init__(self, rules: Iterable[SubstringRule]) -> None:
        rules = list(rules)
        frequency = Counter(token for rule in rules for token in set(rule.alpha))
        self._by_token: dict[str, list[tuple[int, str, str]]] = defaultdict(list)
        for i, rule in enumerate(rules):
            rarest = min(rule.alpha, key=lambda token: (frequency[token], token))
            self._by_token[rarest].append((i, _bounded(rule.alpha), _bounded(rule.beta)))

    def form(self, url: str) -> str:
        return url

    def images(self, url: str) -> Iterator[tuple[int, str]]:
        tokens = tokenize(url)
        bounded = _bounded(tokens)
        for i, alpha, beta in self._applicable(tokens, bounded):
            yield i, _plain(bounded.replace(alpha, beta, 1))

    def canonical(self, url: str) -> str:
        for _ in range(MOST_STEPS):
            tokens = tokenize(url)
            bounded = _bounded(tokens)
            rule = min(self._applicable(tokens, bounded), default=None)
            if rule is None:
                break
            url = _plain(bounded.replace(rule[1], rule[2], 1))
        return url

    def _applicable(self, tokens: Iterable[str], bounded: str) -> list[tuple[int, str, str]]:
        return [rule for token in set(tokens) for rule in self._by_token.get(token, ()) if rule[1] in bounded]
