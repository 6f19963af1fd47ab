"""Output that a page shows against output that a command printed."""

from __future__ import annotations

import re


def matches(shown: str, printed: str) -> bool:
    """Whether `printed` is what the page shows, but for spaces at the ends of lines.

    "…" stands for what varies: in a line for any piece of it, alone in a line for any number of lines.
    """
    pattern = "".join(
        r"(?:[^\n]*\n)*" if line.strip() == "…" else "[^\\n]*".join(map(re.escape, line.rstrip().split("…"))) + r"\n"
        for line in shown.strip("\n").split("\n")
    )
    said = "".join(f"{line.rstrip()}\n" for line in printed.strip("\n").split("\n"))
    return re.fullmatch(pattern, said) is not None
