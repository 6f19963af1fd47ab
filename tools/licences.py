"""Write docs/licences.md: what comes with the package, and what is installed with it, each under its licence.

``python -m tools.licences`` reads the metadata of the libraries that are installed here. No other extra than those of
`EXTRAS` brings anything that a user runs.
"""

from __future__ import annotations

import re
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path

import msgspec
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "licences.md"
EXTRAS = ("archives", "calibrate", "concepts", "report", "redis", "scrapy-redis", "spark", "spidermon")

BEFORE_3_11 = {"async-timeout": "Apache Software License", "tomli": "MIT"}
"""What only older Pythons install, by their metadata there: of this one it need not be installed."""

_BEFORE = """# Licences

dedupcrawl is under the BSD-3-Clause licence. The package contains these files under licences of their own:

| file | what it is | licence |
| --- | --- | --- |
| `content/data/wordnet-3.0.txt.gz`, `core/data/antonyms-3.0.txt.gz` | synonyms and antonyms of Princeton WordNet 3.0, \
cut down by `tools/wordnet_synonyms.py` and `tools/wordnet_antonyms.py` | WordNet 3.0, `content/data/LICENSE.WordNet` |
| `content/data/simplified.txt` | traditional characters and their simplified ones, from OpenCC by \
`tools/simplified_characters.py` | Apache-2.0, `content/data/LICENSE.OpenCC` |
| `core/data/characters.bin` | properties of characters, from the Unicode Character Database by \
`tools/character_tables.py`; simplified characters as above | Unicode-3.0, `core/data/LICENSE.Unicode` |

These libraries are what pip installs with it, by the metadata of each, on one machine; another machine or version of
Python may need a few more or fewer. `make licences` makes the list. Only Spidermon, which nothing else needs, brings
libraries under the GPL.

| library | licence | comes with |
| --- | --- | --- |
"""


def needed(requirements: list[str]) -> set[str]:
    """Canonical names of the distributions that these bring along, in this environment."""
    found: set[str] = set()
    todo = [Requirement(text) for text in requirements]
    while todo:
        wanted = todo.pop()
        name = canonicalize_name(wanted.name)
        extras = wanted.extras or {""}
        if (wanted.marker is not None and not wanted.marker.evaluate()) or name in found:
            continue
        found.add(name)
        for text in distribution(name).requires or ():
            inner = Requirement(text)
            if inner.marker is None or any(inner.marker.evaluate({"extra": extra}) for extra in extras):
                inner.marker = None
                todo.append(inner)
    return found


def licence(of: Distribution) -> str:
    """The shortest that its metadata says: an SPDX expression, else classifiers, else the first line of free text."""
    said = of.metadata
    if expressions := said.get_all("License-Expression"):
        return " ".join(expressions)
    about = [text.split(" :: ") for text in said.get_all("Classifier", [])]
    if classified := [last for first, *_, last in about if first == "License" and last != "OSI Approved"]:
        return ", ".join(classified)
    return next(iter("\n".join(said.get_all("License", [])).strip().splitlines()), "") or "not said"


def page() -> str:
    """The whole page."""
    project = msgspec.toml.decode((ROOT / "pyproject.toml").read_bytes())["project"]
    brought = {"dedupcrawl": needed(project["dependencies"])}
    brought |= {extra: needed(project["optional-dependencies"][extra]) for extra in EXTRAS}
    core = brought["dedupcrawl"]
    rows = [f"| {name} | {found} | dedupcrawl, before Python 3.11 |\n" for name, found in BEFORE_3_11.items()]
    for name in sorted(set().union(*brought.values()) - {"dedupcrawl", *BEFORE_3_11}):
        by = ["dedupcrawl"] if name in core else [f"`[{extra}]`" for extra in EXTRAS if name in brought[extra]]
        found = re.sub(r"\s+", " ", licence(distribution(name)))
        rows.append(f"| {name} | {found} | {', '.join(by)} |\n")
    return _BEFORE + "".join(sorted(rows))


if __name__ == "__main__":
    try:
        PAGE.write_text(page(), encoding="utf-8")
    except PackageNotFoundError as error:
        raise SystemExit(f"{error}: install the extras {', '.join(EXTRAS)} first") from None
    print(PAGE.relative_to(ROOT))
