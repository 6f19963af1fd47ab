"""Damage an index at random, and see what every command, and a crawl, says of it: a result, or one sentence.

    python -m benchmarks.damage_fuzz [--damages 1000] [--seed 0] [--killed] [--commands explain report]

Each is run on so many copies of an index, each damaged once, in a process of its own that is ended after a minute of
CPU time, or ten of waiting. The index is one that was closed or, with --killed, one whose process was killed. Most
damages are of the journal (data.mdb), in a part of it that is in use: a bit, other bytes, a block of zeros, a block
that lies over another, an early end, no file at all. The answer, with what is written by --output, is compared with
that on the whole index:

    whole     the same answer
    told      another, and a sentence on stderr
    silent    another, and nothing said: what should not be
    refused   one sentence and exit status 1 or 2, or a crawl that does not start
    remade    refused because of a file that can be made anew from the journal: what should not be, either

Printed one by one are silent answers, tracebacks, deaths by a signal, and what does not end. Damages that changed
nothing, such as zeros over zeros, are made again elsewhere, so each is of bytes that the index has; "journal" counts
those of the journal.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import random
import re
import resource
import shutil
import signal
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import lmdb
from scrapy import Spider
from scrapy.crawler import CrawlerProcess
from scrapy.http import Response

from benchmarks.markdown import table
from dedupcrawl import cli
from dedupcrawl.content.checks.registry import CHECK_NAMES, make_checks
from dedupcrawl.detection.analysis import Analysis
from dedupcrawl.detection.detector import Detector
from dedupcrawl.index.lmdb import LmdbIndex
from dedupcrawl.output import to_json
from dedupcrawl.page import Page

PAGES, FOLD = 400, 128  # and so many pages in a segment
NEW = 6  # pages that the index does not have; `check` and the crawl are given 10 of the others as well
A_PAGE, A_DROP = "http://site.example/7", "http://site.example/9"
OUTPUT, ITEMS, MORE = "output.html", "items.jsonl", "more.jsonl"  # beside the index
COMMANDS = (
    ("index", "info"),
    ("index", "verify"),
    ("index", "list"),
    ("index", "list", "--drops"),
    ("index", "restore", A_DROP),
    ("index", "restore", "--check", "exact"),
    ("index", "forget", "--site", "site.example"),
    ("index", "compact"),
    ("explain", A_PAGE),
    ("compare", A_PAGE, "http://site.example/8"),
    ("text", A_PAGE),
    ("report", "--output", OUTPUT),
    ("check", MORE, "--checks", ",".join(CHECK_NAMES)),  # opens the index as a crawl does, and writes to it
    ("crawl",),  # of the same pages
)
JOURNAL = "data.mdb"
OF_JOURNAL = 6  # damages for one of each other file
SECONDS, WAITED = 60, 600  # of CPU time; of time
# What differs from one time to the next, or with the size of a file.
_VARIES = re.compile(
    rb"^bytes\b.*$|[0-9.,]+ (?:s\b|[kM]?B\b)|\d{4}-\d\d-\d\d \d\d:\d\d(?: UTC)?|\d+ (?:minute|second)s? ago|"
    rb"users\.lock|127\.0\.0\.1:\d+",
    re.MULTILINE,
)
_BLOCK = 4096  # bytes

Damage = Callable[[bytearray, random.Random], None]


def flip(data: bytearray, chance: random.Random) -> None:
    """Another bit."""
    data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)


def overwrite(data: bytearray, chance: random.Random) -> None:
    """Other bytes."""
    at = chance.randrange(len(data))
    end = min(len(data), at + chance.randint(1, _BLOCK))
    data[at:end] = chance.randbytes(end - at)


def blank(data: bytearray, chance: random.Random) -> None:
    """A block of zeros, as after a power cut."""
    at = _block(data, chance)
    end = min(len(data), at + _BLOCK)
    data[at:end] = bytes(end - at)


def copy(data: bytearray, chance: random.Random) -> None:
    """A block over another, as of a write that went to the wrong place."""
    block = data[(at := _block(data, chance)) : at + _BLOCK]
    at = _block(data, chance)
    end = min(len(data), at + len(block))
    data[at:end] = block[: end - at]


def cut(data: bytearray, chance: random.Random) -> None:
    """An early end."""
    del data[chance.randrange(len(data)) :]


DAMAGES: tuple[Damage | None, ...] = (flip, flip, overwrite, blank, copy, cut, None)  # None: the file is gone


def _block(data: bytearray, chance: random.Random) -> int:
    return chance.randrange(len(data)) // _BLOCK * _BLOCK


def damage(path: Path, used: int, chance: random.Random) -> str:
    """Change a file of which so many bytes are in use, really; returns how, and in what."""
    size, whole = path.stat().st_size, path.read_bytes()[:used]
    while True:
        how = chance.choice(DAMAGES) if used else None
        data = bytearray(whole)
        if how is None:
            path.unlink()
        else:
            how(data, chance)
            if data == whole:
                continue
            with path.open("r+b") as file:
                file.write(data)
                file.truncate(len(data) if how is cut else size)
        return f"{how.__name__ if how else 'remove'} {path.name}"


def make_index(folder: Path, *, is_killed: bool = False) -> None:
    """Some hundred pages of one site, each third the text of an earlier one."""
    checks = make_checks(CHECK_NAMES, {})
    chance = random.Random(5)
    index = LmdbIndex(folder, checks, batch_pages=FOLD)
    detector = Detector(index, run="fuzz", spider="fuzz")
    more: list[bytes] = []
    texts = [" ".join(chance.choices([f"word{n}" for n in range(3_000)], k=120)) for _ in range(PAGES + NEW)]
    for number in range(PAGES + NEW):
        text = texts[number if number % 3 or number >= PAGES else chance.randrange(number + 1)]
        page = Page(f"http://site.example/{number}", title=f"Page {number}", paragraphs=(text,))
        if number % 40 == 0 or number >= PAGES:  # to be checked later, as a page of another site
            more.append(to_json({"url": f"http://other.example/{number}", "title": page.title, "text": text}))
        if number >= PAGES:
            continue
        detector.judge(Analysis(page, detector.index.secret), checks, request=lambda: b"x")
        detector.keep_text(page)
    (folder.parent / MORE).write_bytes(b"\n".join(more))
    assert index.verify() == []  # which waits until nothing is being merged
    if is_killed:
        os._exit(0)
    detector.close()
    index.close()


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
    written = [index.parent / name for name in (OUTPUT, ITEMS)]
    for path in written:
        path.unlink(missing_ok=True)
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
            status = _crawl(index) if command[0] == "crawl" else cli.run([*command, "--index", str(index)])
        except SystemExit as error:  # of a command that found nothing
            status = int(error.code or 0)
        except BaseException:
            sys.excepthook(*sys.exc_info())
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(status)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    said = err.read_bytes()
    answer = b"".join([out.read_bytes(), *(path.read_bytes() for path in written if path.exists())])
    if command[0] == "crawl":  # the order of its items may differ
        answer = b"".join(sorted(answer.splitlines(keepends=True)))
    refused = status in (1, 2) or b"the crawl does not start: " in said  # the traceback that follows is Scrapy's
    wrong = ""
    if status < 0:
        wrong = "no end" if -status in (signal.SIGALRM, signal.SIGXCPU) else "aborted"
    elif b"Traceback" in said and b"the crawl does not start: " not in said:
        wrong = "traceback"
    elif status not in (0, 1, 2) or (status and not said.strip()):
        wrong = f"exit {status} without a word"
    return Outcome(_VARIES.sub(b"", answer), said, refused, wrong)


# A crawl


class PagesSpider(Spider):
    """Asks for the pages that `check` is given."""

    name = "pages"

    def parse(self, response: Response, **_: Any) -> Iterator[Any]:
        yield {"url": response.url}


def _crawl(index: Path) -> int:
    numbers = range(len((index.parent / MORE).read_bytes().splitlines()))
    process = CrawlerProcess(
        {
            "ADDONS": {"dedupcrawl.Addon": 500},
            "DEDUP_INDEX": f"lmdb:{index}",
            "DEDUP_CRAWL_LOG": "None",
            "DEDUP_SCOPE": "all",
            "FEEDS": {str(index.parent / ITEMS): {"format": "jsonlines"}},
            "LOG_LEVEL": "WARNING",
            "CONCURRENT_REQUESTS": 1,  # in order
            "TELNETCONSOLE_ENABLED": False,
        }
    )
    process.crawl(PagesSpider, start_urls=[f"http://127.0.0.1:{os.environ['FUZZ_PORT']}/{n}" for n in numbers])
    process.start()
    return 0


@contextmanager
def serving(pages: Path) -> Iterator[None]:
    """Serve the pages of a file on a port of this machine, which FUZZ_PORT names."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            try:
                row = json.loads(pages.read_bytes().splitlines()[int(self.path[1:])])
            except (ValueError, IndexError):
                self.send_error(404)
                return
            body = f"<title>{row['title']}</title><main><p>{row['text']}</p></main>".encode()
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        os.environ["FUZZ_PORT"] = str(server.server_port)
        child = os.fork()
        if child == 0:
            server.serve_forever()
        try:
            yield
        finally:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)


def kind(found: Outcome, whole: Outcome, name: str) -> str:
    """What is counted of a command on a damaged index; `name` is that of the damaged file."""
    if found.wrong:
        return found.wrong
    if found.refused:
        return "refused" if name == JOURNAL else "remade"
    if found.answer == whole.answer:
        return "whole"
    return "told" if found.said != whole.said else "silent"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--damages", type=int, default=1000, help="of each command")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--killed", action="store_true", help="of an index that was not closed")
    parser.add_argument("--commands", nargs="+", help="their words; default: all")
    given = parser.parse_args()
    commands = [command for command in COMMANDS if not given.commands or {*command} & {*given.commands}]
    for name in dict.fromkeys(command[0] for command in commands if command[0] != "crawl"):
        importlib.import_module(f"dedupcrawl.commands.{name}")  # once, not in each process
    with tempfile.TemporaryDirectory() as folder:
        whole = Path(folder, "whole")
        child = os.fork()
        if child == 0:
            make_index(whole, is_killed=given.killed)
            os._exit(0)
        os.waitpid(child, 0)
        with serving(Path(folder, MORE)):
            rows = [_of_command(command, whole, given.damages, given.seed) for command in commands]
    kinds = list(dict.fromkeys(("whole", "told", "refused", *(name for _, counts in rows for name in counts))))
    kinds.remove("journal")
    print(table(("command", "damages", "journal", *kinds), [
        (f"`{' '.join(command[:3])}`", given.damages, counts["journal"], *(counts[name] for name in kinds))
        for command, counts in rows
    ]))  # fmt: skip


def _of_command(command: Sequence[str], whole: Path, damages: int, seed: int) -> tuple[Sequence[str], Counter[str]]:
    """What became of a command, counted."""
    chance, counts = random.Random(f"{seed} {command}"), Counter[str]()
    files = [path for path in sorted(whole.iterdir()) if path.is_file()]
    weights = [OF_JOURNAL if path.name == JOURNAL else 1 for path in files]
    answers = [outcome(_copied(whole), command) for _ in range(2)]
    if answers[0].wrong or answers[0].refused or answers[0] != answers[1]:
        sys.exit(f"undamaged, {' '.join(command)}: {answers}")
    for number in range(damages):
        (file,) = chance.choices(files, weights)
        damaged = _copied(whole)
        how = damage(damaged / file.name, _used(file), chance)
        found = outcome(damaged, command)
        what = kind(found, answers[0], file.name)
        counts.update((what, *(["journal"] if file.name == JOURNAL else [])))
        if what not in ("whole", "told", "refused"):
            said = (found.said or found.answer).decode("utf-8", "replace").strip()[-300:]
            print(f"{' '.join(command[:2])} {number}: {how}: {what} {said}", flush=True)
    print(" ".join(command[:3]), dict(counts), flush=True)
    return command, counts


def _copied(whole: Path) -> Path:
    damaged = whole.parent / "damaged"
    shutil.rmtree(damaged, ignore_errors=True)
    shutil.copytree(whole, damaged, ignore=shutil.ignore_patterns(JOURNAL))
    used = _used(whole / JOURNAL)
    with (whole / JOURNAL).open("rb") as file, (damaged / JOURNAL).open("wb") as other:  # without what is not in use
        other.write(file.read(used))
        other.truncate((whole / JOURNAL).stat().st_size)
    return damaged


@cache
def _used(file: Path) -> int:
    """Bytes of a file that hold something."""
    if file.name != JOURNAL:
        return file.stat().st_size
    with lmdb.open(str(file.parent), readonly=True, lock=False) as journal:
        return int((journal.info()["last_pgno"] + 1) * journal.stat()["psize"])


if __name__ == "__main__":
    main()
