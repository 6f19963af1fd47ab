"""What the programs are filled with: the same few texts, files and changes for all of them."""

from __future__ import annotations

import os
import random
import subprocess
from collections.abc import Iterator
from pathlib import Path

_TEXT = """harbour lantern meadow granite window ferry copper violin orchard anchor thunder basket pepper glacier
mirror compass saddle velvet chimney river falcon ribbon cellar market candle bridge hammer garden winter timber
signal marble kettle forest pillow engine ladder summer island wagon needle castle letter button carpet desert"""
_WORDS = _TEXT.split()
_PEOPLE = ("Ada Stone", "Ben Rivers", "Cleo Marsh")


def title(number: int) -> str:
    """Two words, others for each number up to some thousand."""
    one, other = divmod(number, len(_WORDS))
    return f"{_WORDS[other].title()} {_WORDS[(other * 7 + one + 3) % len(_WORDS)].title()}"


def text(number: int, paragraphs: int = 3) -> str:
    """Paragraphs of some fifty words each."""
    rng = random.Random(number)
    return "\n\n".join(
        " ".join(f"{' '.join(rng.choices(_WORDS, k=10)).capitalize()}." for _ in range(5)) for _ in range(paragraphs)
    )


def folder_tree(root: Path) -> None:
    """Twenty folders of three files of other sizes and ages, half of them within others."""
    for number in range(60):
        folder = root / (title(number % 10) if number % 20 < 10 else f"{title(number % 10)}/{title(number % 20)}")
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"{title(number + 99).replace(' ', '-')}.txt"
        path.write_text(text(number, 1 + number * 5 % 7), encoding="utf-8")
        os.utime(path, (1_700_000_000 + number * 7919 % 60 * 86_400,) * 2)


def repository(path: Path, commits: int = 7) -> None:
    """A git repository with a few files, two branches, a merge and two tags."""
    path.mkdir(parents=True)

    def git(*arguments: str, **environment: str) -> None:
        subprocess.run(
            ["git", "-C", str(path), *arguments], check=True, capture_output=True, env={**os.environ, **environment}
        )

    git("init", "-q", "-b", "main")
    for number in range(commits):
        name = path / ("src", "docs", ".")[number % 3] / f"{_WORDS[number % 6]}.txt"
        name.parent.mkdir(exist_ok=True)
        name.write_text(text(number), encoding="utf-8")
        who, when = _PEOPLE[number % len(_PEOPLE)], f"{1_700_000_000 + number * 90_000} +0000"
        by = {
            f"GIT_{role}_{part}": value
            for role in ("AUTHOR", "COMMITTER")
            for part, value in (("NAME", who), ("EMAIL", f"{who[:3].lower()}@example.org"), ("DATE", when))
        }
        if number == commits - 2:
            git("checkout", "-q", "-b", "next")
        git("add", ".", **by)
        git("commit", "-q", "-m", f"{title(number)}\n\n{text(number, 1)}", **by)
        if number in (2, 4):
            git("tag", "-a", "-m", title(number), f"v{number}", **by)
    git("checkout", "-q", "main")


def mails(count: int = 40) -> Iterator[str]:
    """Messages of a mailing list in threads of five, in the format of an mbox."""
    for number in range(count):
        first = number - number % 5
        who = _PEOPLE[number % len(_PEOPLE)]
        reply = f"In-Reply-To: <{first}@example.org>\n" if number > first else ""
        yield (
            f"From {who[:3].lower()}@example.org Mon Jan  {1 + number % 9} 10:{number:02d}:00 2024\n"
            f"From: {who} <{who[:3].lower()}@example.org>\nTo: list@example.org\n"
            f"Date: Mon, {1 + number % 28} Jan 2024 10:{number:02d}:00 +0000\n"
            f"Message-ID: <{number}@example.org>\n{reply}"
            f"Subject: {'Re: ' if number > first else ''}{title(first)}\n\n{text(number, 2)}\n\n"
        )
