"""How much of a site's redundancy its URLs can tell at all: an optimistic estimate of what any rules could reach.

    python -m benchmarks.url_rules_bound [SITE…] [--data DIR] [--seed 0]

Two URLs of one page can be brought together by a rule only if what they have in common says which page it is. Here they
are when no URL of another page has all that is common to both and the same frequent tokens as one of them: `/?p=1939`
and `/p/updating-my-key/` share nothing but what all pages have, so no rule can join them; `/wiki/X` and `/?title=X` do.
All labels are looked at, those of the test part too. Pages that changed between two visits are not taken into account,
and an estimate it is: what is made of tokens that are not words (a dot at the end) can be told, and is not seen.
"""

from __future__ import annotations

import argparse
import base64
import binascii
import re
import sys
from collections import defaultdict
from collections.abc import Sequence
from itertools import combinations
from pathlib import Path
from urllib.parse import unquote, urlsplit

from benchmarks.url_rules.data import load, site_name, site_paths, split
from benchmarks.url_rules.method import Row

DATA = Path(__file__).resolve().parents[2] / "shared" / "data"
FREQUENT = 6  # labels that a token is found with
WORD = re.compile(r"[a-z0-9]+")
BASE64 = re.compile(r"[A-Za-z0-9_,-]{20,}")
SUFFIX = re.compile(r"\.[a-z0-9]{0,5}$")

Tokens = frozenset[str]


def tokens(url: str) -> Tokens:
    """All that a rule could compare: scheme, host, depth, segments, arguments, and what they are made of."""
    parts = urlsplit(url)
    found = {f"scheme {parts.scheme}", f"host {parts.netloc}"}
    segments = parts.path.split("/")[1:]
    found.add(f"depth {len(segments)}")
    for segment in segments:
        embedded = decoded(segment)
        found |= tokens(embedded) if embedded else words(unquote(segment).lower())
    for arg in re.split("[&;]", parts.query) if parts.query else ():
        name, _, value = arg.partition("=")
        value = unquote(value.replace("+", " ")).lower()
        found |= {f"name {name}", f"argument {name}={value}", value.replace(" ", "_")} | words(value)
    return frozenset(found - {""})


def words(text: str) -> set[str]:
    return {text, SUFFIX.sub("", text), *text.split("/"), *WORD.findall(text)}


def decoded(segment: str) -> str:
    """The URL that a segment carries in base64, if it does."""
    if not BASE64.fullmatch(segment):
        return ""
    try:
        text = base64.b64decode(segment.translate(str.maketrans("-_,", "+/=")) + "===").decode()
    except (binascii.Error, ValueError):
        return ""
    return text if text.startswith("http") else ""


def bound(rows: Sequence[Row], test: Sequence[Row]) -> tuple[int, int]:
    """Redundant URLs of the test part, and how many of them could be told."""
    labels = [label for _, label in rows]
    of_url = {url: tokens(url) for url, _ in rows}
    where: dict[str, set[int]] = defaultdict(set)
    for number, (url, _) in enumerate(rows):
        for token in of_url[url]:
            where[token].add(number)
    frequent = {token for token, found in where.items() if len({labels[i] for i in found}) >= FREQUENT}
    common = {url: frozenset(found & frequent) for url, found in of_url.items()}

    def has_other(shared: Tokens, kind: Tokens, label: str) -> bool:
        found: set[int] | None = None
        for token in sorted(shared | kind, key=lambda token: len(where[token])):
            found = where[token] if found is None else found & where[token]
        return any(labels[i] != label and common[rows[i][0]] == kind for i in found or range(len(rows)))

    by_label: dict[str, list[str]] = defaultdict(list)
    for url, label in test:
        by_label[label].append(url)
    told = 0
    for label, urls in by_label.items():
        parent = {url: url for url in urls}

        def root(url: str, parent: dict[str, str] = parent) -> str:
            while parent[url] != url:
                url = parent[url]
            return url

        for one, other in combinations(urls, 2):
            shared = of_url[one] & of_url[other]
            if root(one) != root(other) and not any(has_other(shared, common[u], label) for u in (one, other)):
                parent[root(one)] = root(other)
                told += 1
    return len(test) - len(by_label), told


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("sites", nargs="*", metavar="SITE")
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    try:
        paths = site_paths(given.data, given.sites)
    except ValueError as error:
        sys.exit(str(error))
    print("| site | redundant test URLs | could be told | bound of recall |\n| --- | --: | --: | --: |")
    shares = []
    for path in paths:
        rows = load(path)
        redundant, told = bound(rows, split(rows, given.seed)[1])
        if redundant >= 50:
            shares.append(told / redundant)
        print(f"| {site_name(path)} | {redundant} | {told} | {told / redundant if redundant else 0:.3f} |", flush=True)
    mean = sum(shares) / len(shares) if shares else 0.0
    print(f"| **macro**, {len(shares)} sites of 50 redundant test URLs | | | {mean:.3f} |")


if __name__ == "__main__":
    main()
