"""Damage the files of an index at random, and see what every command says of it: a result, or one sentence.

    python -m benchmarks.damage_fuzz [--damages 1000] [--seed 0]

Counted are exits other than 0, 1 and 2, deaths by a signal, and tracebacks. Each command runs in a process of its own
on a copy of its own, and is ended after a minute.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from dedupcrawl.content.checks.registry import CHECK_NAMES, make_checks
from dedupcrawl.detection.analysis import Analysis
from dedupcrawl.detection.detector import Detector
from dedupcrawl.index.lmdb import LmdbIndex
from dedupcrawl.page import Page

PAGES, FOLD = 400, 128  # and so many pages in a segment
A_PAGE = "http://site.example/7"
COMMANDS = (
    ("index", "info"),
    ("index", "verify"),
    ("index", "list", "--drops"),
    ("index", "restore", "--check", "exact"),
    ("index", "forget", "--site", "site.example"),
    ("index", "compact"),
    ("explain", A_PAGE),
    ("compare", A_PAGE, "http://site.example/8"),
    ("text", A_PAGE),
    ("report", "--output", os.devnull),
)
SECONDS = 60
_BLOCK = 4096  # bytes, at most, that one damage changes

Damage = Callable[[Path, random.Random], None]


def overwrite(path: Path, chance: random.Random) -> None:
    """Other bytes somewhere."""
    size = path.stat().st_size
    with path.open("r+b") as file:
        file.seek(chance.randrange(max(1, size)))
        file.write(chance.randbytes(min(chance.randint(1, _BLOCK), max(1, size - file.tell()))))


def blank(path: Path, chance: random.Random) -> None:
    """Zeros somewhere, as after a power cut."""
    size = path.stat().st_size
    with path.open("r+b") as file:
        file.seek(chance.randrange(max(1, size)) // _BLOCK * _BLOCK)
        file.write(bytes(min(_BLOCK, max(1, size - file.tell()))))


def cut(path: Path, chance: random.Random) -> None:
    """The file ends early."""
    os.truncate(path, chance.randrange(path.stat().st_size + 1))


def remove(path: Path, _chance: random.Random) -> None:
    """The file is gone."""
    path.unlink()


DAMAGES: tuple[Damage, ...] = (overwrite, overwrite, blank, cut, remove)


def make_index(folder: Path) -> None:
    """Some hundred pages of one site, each third the text of an earlier one."""
    checks = make_checks(CHECK_NAMES, {})
    chance = random.Random(5)
    index = LmdbIndex(folder, checks, batch_pages=FOLD)
    detector = Detector(index, run="fuzz", spider="fuzz")
    texts = [" ".join(chance.choices([f"word{n}" for n in range(3_000)], k=120)) for _ in range(PAGES)]
    for number in range(PAGES):
        text = texts[number if number % 3 else chance.randrange(number + 1)]
        page = Page(f"http://site.example/{number}", f"Page {number}", (text,))
        detector.judge(Analysis(page), checks)
        detector.keep_text(page)
    detector.close()
    index.close()


def outcome(index: Path, command: tuple[str, ...]) -> str:
    """What became of a command: "answered", "refused", or what went wrong."""
    arguments = [sys.executable, "-m", "dedupcrawl", *command, "--index", str(index)]
    try:
        done = subprocess.run(
            arguments, capture_output=True, timeout=SECONDS, check=False, cwd=index.parent, stdin=subprocess.DEVNULL
        )
    except subprocess.TimeoutExpired:
        return "no end"
    if b"Traceback" in done.stderr:
        return f"traceback: {done.stderr.decode('utf-8', 'replace').strip().splitlines()[-1][:150]}"
    if done.returncode < 0:
        return f"signal {signal.Signals(-done.returncode).name}"
    if done.returncode not in (0, 1, 2):
        return f"exit {done.returncode}"
    if done.returncode and not done.stderr.strip():
        return "silent"
    return "refused" if done.returncode else "answered"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--damages", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    chance, found = random.Random(given.seed), Counter[str]()
    with tempfile.TemporaryDirectory() as folder:
        whole, damaged = Path(folder, "whole"), Path(folder, "damaged")
        make_index(whole)
        files = sorted(path.relative_to(whole) for path in whole.rglob("*") if path.is_file() and path.stat().st_size)
        print(f"{len(files)} files: {', '.join(map(str, files))}")
        for command in COMMANDS:
            shutil.rmtree(damaged, ignore_errors=True)
            shutil.copytree(whole, damaged)
            if (what := outcome(damaged, command)) != "answered":
                sys.exit(f"undamaged, {' '.join(command)}: {what}")
        for number in range(given.damages):
            file, how, command = chance.choice(files), chance.choice(DAMAGES), COMMANDS[number % len(COMMANDS)]
            shutil.rmtree(damaged, ignore_errors=True)
            shutil.copytree(whole, damaged)
            how(damaged / file, chance)
            what = outcome(damaged, command)
            found[what.partition(":")[0]] += 1
            if what not in ("answered", "refused"):
                print(f"{number}: {how.__name__} {file}, {' '.join(command)}: {what}", flush=True)
    print(f"{given.damages} damages: " + ", ".join(f"{what} {count}" for what, count in found.most_common()))


if __name__ == "__main__":
    main()
