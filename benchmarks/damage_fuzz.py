"""Damage the files of an index at random, and see what every command says of it: a result, or one sentence.

    python -m benchmarks.damage_fuzz [--damages 1000] [--seed 0] [--commands explain report]

Each command is run on so many copies of an index, each damaged once, in a process of its own that is ended after a
minute of CPU time, or ten of waiting. Its answer on the whole index is what it is compared with:

    whole     the same answer
    told      another, and a sentence on stderr
    silent    another, and nothing said: what should not be
    refused   one sentence and exit status 1 or 2; apart by what was damaged: the journal (data.mdb), or a file that can
              be made anew from it

Printed one by one are silent answers, refusals of what could be made anew, tracebacks, deaths by a signal, and what
does not end.
"""

from __future__ import annotations

import argparse
import importlib
import os
import random
import re
import resource
import shutil
import signal
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dedupcrawl import cli
from dedupcrawl.content.checks.registry import CHECK_NAMES, make_checks
from dedupcrawl.detection.analysis import Analysis
from dedupcrawl.detection.detector import Detector
from dedupcrawl.index.lmdb import LmdbIndex
from dedupcrawl.output import to_json
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
    ("check", "more.jsonl", "--checks", ",".join(CHECK_NAMES)),  # opens the index as a crawl does, and writes to it
)
JOURNAL = "data.mdb"
SECONDS, WAITED = 60, 600  # of CPU time; of time
_VARIES = re.compile(rb"^bytes\b.*$|[0-9.]+ s\b|[0-9.]+ [kM]B\b", re.MULTILINE)  # also by what is damaged
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
    more: list[bytes] = []
    texts = [" ".join(chance.choices([f"word{n}" for n in range(3_000)], k=120)) for _ in range(PAGES)]
    for number in range(PAGES):
        text = texts[number if number % 3 else chance.randrange(number + 1)]
        page = Page(f"http://site.example/{number}", f"Page {number}", (text,))
        if number % 40 == 0:  # to be checked later, as a page of another site
            more.append(to_json({"url": f"http://other.example/{number}", "title": page.title, "text": text}))
        detector.judge(Analysis(page), checks)
        detector.keep_text(page)
    detector.close()
    index.close()
    (folder.parent / "more.jsonl").write_bytes(b"\n".join(more))


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a command: its answer and what it said besides, or what went wrong."""

    answer: bytes = b""
    said: bytes = b""
    refused: bool = False
    wrong: str = ""


def outcome(index: Path, command: Sequence[str]) -> Outcome:
    """Run a command in a process of its own."""
    out, err = index.parent / "stdout", index.parent / "stderr"
    child = os.fork()
    if child == 0:
        resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS + 1))
        signal.alarm(WAITED)
        os.chdir(index.parent)
        for path, stream in ((out, sys.stdout), (err, sys.stderr)):
            os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), stream.fileno())
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        status = 70
        try:
            status = cli.run([*command, "--index", str(index)])
        except BaseException:
            sys.excepthook(*sys.exc_info())
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(status)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    answer, said = _VARIES.sub(b"", out.read_bytes()), err.read_bytes()
    if -status in (signal.SIGALRM, signal.SIGXCPU):
        return Outcome(wrong="no end")
    if status < 0:
        return Outcome(wrong=f"signal {signal.Signals(-status).name}")
    if b"Traceback" in said:
        return Outcome(wrong=f"traceback: {said.decode('utf-8', 'replace').strip().splitlines()[-1][:150]}")
    if status not in (0, 1, 2):
        return Outcome(wrong=f"exit {status}")
    if status and not said.strip():
        return Outcome(wrong="exit without a word")
    return Outcome(answer, said, refused=status != 0)


def kind(found: Outcome, whole: Outcome, file: Path) -> str:
    """What is counted of a command on a damaged index."""
    if found.wrong:
        return found.wrong
    if found.refused:
        return "refused" if file.name == JOURNAL else "refused though it can be made anew"
    if found.answer == whole.answer:
        return "whole"
    return "told" if found.said != whole.said else "silent"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--damages", type=int, default=1000, help="of each command")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--commands", nargs="+", help="first words; default: all")
    given = parser.parse_args()
    commands = [command for command in COMMANDS if not given.commands or {*command} & {*given.commands}]
    for name in dict.fromkeys(command[0] for command in commands):
        importlib.import_module(f"dedupcrawl.commands.{name}")  # once, not in each process
    chance, found = random.Random(given.seed), Counter[str]()
    with tempfile.TemporaryDirectory() as folder:
        whole, damaged = Path(folder, "whole"), Path(folder, "damaged")
        make_index(whole)
        files = sorted(path.relative_to(whole) for path in whole.rglob("*") if path.is_file() and path.stat().st_size)
        print(f"{len(files)} files: {', '.join(map(str, files))}", flush=True)
        for command in commands:
            answers = [_on_a_copy(whole, damaged, command) for _ in range(2)]
            if answers[0].wrong or answers[0].refused or answers[0] != answers[1]:
                sys.exit(f"undamaged, {' '.join(command)}: {answers}")
            of_this = Counter[str]()
            for number in range(given.damages):
                file, how = chance.choice(files), chance.choice(DAMAGES)
                one = _on_a_copy(whole, damaged, command, how, file, chance)
                what = kind(one, answers[0], file)
                of_this[what.partition(":")[0]] += 1
                if what not in ("whole", "told", "refused"):
                    said = one.said.decode("utf-8", "replace").strip()[-300:]
                    print(f"{number}: {how.__name__} {file}: {what} {said}", flush=True)
            print(" ".join(command[:2]), "|", _counts(of_this), flush=True)
            found += of_this
    print(f"{found.total()} damages: {_counts(found)}")


def _on_a_copy(whole: Path, copy: Path, command: Sequence[str], how: Damage | None = None, *of: Any) -> Outcome:
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(whole, copy)
    if how is not None:
        file, chance = of
        how(copy / file, chance)
    return outcome(copy, command)


def _counts(found: Counter[str]) -> str:
    return ", ".join(f"{what} {count}" for what, count in found.most_common())


if __name__ == "__main__":
    main()
