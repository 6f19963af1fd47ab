"""Make the package's English opposites of Princeton WordNet's database files (Debian: apt install wordnet-base).

python -m tools.wordnet_antonyms /usr/share/wordnet dedupcrawl/core/data/antonyms-3.0.txt.gz

Each line is a form of a word and one of its antonym's, inflected or not: "rises fall", "rises falls" …. Words of
several parts are left out. WordNet's licence is dedupcrawl/core/data/LICENSE.WordNet.
"""

from __future__ import annotations

import gzip
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping
from itertools import product
from pathlib import Path

from tools.wordnet_synonyms import MARKER, PARTS_OF_SPEECH

_ANTONYM = "!"
_POINTER = 4  # fields of each
_DATA = {"n": "noun", "v": "verb", "a": "adj", "s": "adj", "r": "adv"}
_SIBILANTS = ("s", "x", "z", "ch", "sh")

Words = Mapping[tuple[str, str], tuple[str, ...]]
"""Database and offset of a synset → its words."""


def pairs(folder: Path) -> Iterator[tuple[str, str, str]]:
    """Database, word and antonym, each pair once (wndb(5WN) describes the files)."""
    words: dict[tuple[str, str], tuple[str, ...]] = {}
    pointers: list[tuple[tuple[str, str], int, tuple[str, str], int]] = []
    for name in PARTS_OF_SPEECH:
        for line in (folder / f"data.{name}").read_text("ascii").splitlines():
            if line.startswith("  "):
                continue
            parts = line.split()
            count = int(parts[3], 16)
            words[name, parts[0]] = tuple(MARKER.sub("", word) for word in parts[4 : 4 + 2 * count : 2])
            rest = parts[4 + 2 * count :]
            for number in range(int(rest[0])):
                symbol, offset, part, source = rest[1 + _POINTER * number : 1 + _POINTER * (number + 1)]
                if symbol == _ANTONYM:
                    place, other = int(source[:2], 16) - 1, int(source[2:], 16) - 1
                    pointers.append(((name, parts[0]), place, (_DATA[part], offset), other))
    for one, place, two, other in pointers:
        word, antonym = words[one][place].lower(), words[two][other].lower()
        if word < antonym and word.isalpha() and antonym.isalpha():
            yield one[0], word, antonym


def forms(name: str, word: str, irregular: Mapping[str, list[str]]) -> list[str]:
    """A word and its inflected forms, near enough."""
    if name not in ("noun", "verb"):
        return [word, *irregular.get(word, ())]
    y = word[:-1] if word.endswith("y") and word[-2:-1] not in "aeiou" else ""
    found = [word, f"{y}ies" if y else f"{word}es" if word.endswith(_SIBILANTS) else f"{word}s"]
    if name == "verb":
        stem = word.removesuffix("e")
        past = [] if word in irregular else [f"{y}ied" if y else f"{stem}ed"]
        found += [*past, f"{stem}ing"]
    return [*found, *irregular.get(word, ())]


def main() -> None:
    """Write the file, the same bytes on every run."""
    folder, target = map(Path, sys.argv[1:])
    lines = set()
    irregular: dict[str, defaultdict[str, list[str]]] = {}
    for name in PARTS_OF_SPEECH:
        irregular[name] = defaultdict(list)
        for line in (folder / f"{name}.exc").read_text("ascii").splitlines():
            form, *of = line.split()
            for word in of:
                irregular[name][word].append(form)
    for name, word, antonym in pairs(folder):
        one, two = (dict.fromkeys(forms(name, it, irregular[name])) for it in (word, antonym))
        lines |= {f"{form} {other}\n" for form, other in product(one, two)}
    data = "".join(sorted(lines)).encode("ascii")
    target.write_bytes(gzip.compress(data, mtime=0))
    print(f"{target}: {len(lines):,} pairs, {len(data):,} bytes, {target.stat().st_size:,} packed")


if __name__ == "__main__":
    main()
