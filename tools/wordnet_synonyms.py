"""Make the package's English thesaurus of Princeton WordNet's database files (Debian: apt install wordnet-base).

python tools/wordnet_synonyms.py /usr/share/wordnet dedupcrawl/content/data/wordnet-3.0.txt.gz

Of each synset with two or more words it writes one line in the form of a thesaurus that
`dedupcrawl.content.checks.concepts` reads: the part of speech, "=", and the words, with underscores for
spaces. Names keep their capitals. Glosses, relations and synsets of one word are left out. WordNet's licence, which
asks to be shipped with copies and changed copies, is dedupcrawl/content/data/LICENSE.WordNet.
"""

from __future__ import annotations

import gzip
import re
import sys
from collections.abc import Iterator
from pathlib import Path

PARTS_OF_SPEECH = {"noun": "n", "verb": "v", "adj": "a", "adv": "r"}
MARKER = re.compile(r"\((?:a|p|ip)\)$")  # where an adjective may stand


def synonyms(folder: Path) -> Iterator[str]:
    """The lines, in the order of the database (wndb(5WN) describes it)."""
    for name, letter in PARTS_OF_SPEECH.items():
        for line in (folder / f"data.{name}").read_text("ascii").splitlines():
            if line.startswith("  "):  # the licence, at the top of each file
                continue
            parts = line.split()
            words = [MARKER.sub("", word) for word in parts[4 : 4 + 2 * int(parts[3], 16) : 2]]
            if len({word.lower() for word in words}) > 1:
                yield f"{letter}= {' '.join(dict.fromkeys(words))}\n"


def main() -> None:
    """Write the file, the same bytes on every run."""
    folder, target = map(Path, sys.argv[1:])
    data = "".join(synonyms(folder)).encode("ascii")
    target.write_bytes(gzip.compress(data, mtime=0))
    print(f"{target}: {data.count(10):,} synsets, {len(data):,} bytes, {target.stat().st_size:,} packed")


if __name__ == "__main__":
    main()
