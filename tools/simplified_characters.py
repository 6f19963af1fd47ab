"""Make the package's table of simplified characters of OpenCC's dictionaries (pip install OpenCC).

python tools/simplified_characters.py dedupcrawl/content/data/simplified.txt

The first line has the traditional characters, the second the simplified one of each. Each is converted by itself: two
pages must not differ because a phrase book knows one of their phrases. OpenCC's licence, Apache 2.0, is
dedupcrawl/content/data/LICENSE.OpenCC. A new table changes what texts fold to, so
tools/character_tables.py has to be run and SYMBOLS_VERSION raised.
"""

from __future__ import annotations

import sys
from pathlib import Path

import opencc

IDEOGRAPHS = (range(0x3400, 0xA000), range(0x20000, 0x30000))


def simplified() -> dict[str, str]:
    """Traditional → simplified, where one character becomes another one; what it becomes stays what it is."""
    characters = [chr(number) for numbers in IDEOGRAPHS for number in numbers]
    converted = opencc.OpenCC("t2s").convert("\n".join(characters)).split("\n")
    found = {one: other for one, other in zip(characters, converted, strict=True) if len(other) == 1 and one != other}
    return {one: found.get(other, other) for one, other in found.items()}


def main(output: Path) -> None:
    """Write the table."""
    found = simplified()
    output.write_text("".join(found) + "\n" + "".join(found.values()) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
