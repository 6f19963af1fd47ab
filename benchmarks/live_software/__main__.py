"""Programs that sites run, live: what crawls of each save beside Scrapy alone, and how often its rules are wrong.

    python -m benchmarks.live_software [PROGRAM…] [--folder DIR] [--no-install]

Installs each program from Debian's and PyPI's packages (as root; Debian's with apt-get, PyPI's into DIR/packages),
fills it with made-up content, serves it on 127.0.0.1 and crawls it twice: with Scrapy alone, and with the add-on as it
comes, without rules, log or index. Prints a row a program.

A page is what the program's main part says, and its redundant fetches are those whose text an earlier fetch of the same
crawl had. Merges are of the URLs that Scrapy alone fetched, by the rules of what their strings show (as in
benchmarks.known_software, doubted ones too): right when both pages have one text, near when their SimHashes differ by
6 bits at most. Saved is the share of the redundant fetches that the crawl with the add-on does not make, lost the
texts that it never fetched, nor nearly the same.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from benchmarks.known_software import by_rules, study
from benchmarks.live_software.programs import PROGRAMS, Live, Place

_ROOT = Path(__file__).resolve().parents[2]
_LEAST_WORDS = 5
_MOST_PAGES = 6_000
_NEAR = 6  # bits
_PATIENCE = 30  # seconds until a server answers
_SETTINGS = {
    "ROBOTSTXT_OBEY": "False",
    "TELNETCONSOLE_ENABLED": "False",
    "REMOTE_CONTROL_ENABLED": "False",
    "CONCURRENT_REQUESTS_PER_DOMAIN": "4",
    "DOWNLOAD_DELAY": "0",
    "LOG_LEVEL": "INFO",
    "CLOSESPIDER_PAGECOUNT": str(_MOST_PAGES),
}

Row = dict[str, str]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("programs", nargs="*", metavar="PROGRAM", help="all by default")
    parser.add_argument("--folder", type=Path, help="where packages and crawls are kept; else removed at the end")
    parser.add_argument("--no-install", action="store_true", help="all packages are there")
    parser.add_argument("--rules", action="store_true", help="a row a rule, too")
    arguments = parser.parse_args()
    chosen = {live.name: live for live in PROGRAMS if live.name in arguments.programs or not arguments.programs}
    if unknown := set(arguments.programs) - chosen.keys():
        parser.error(f"no program {', '.join(sorted(unknown))}; there are {', '.join(live.name for live in PROGRAMS)}")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # so that servers are ended
    with tempfile.TemporaryDirectory(prefix="live-") as made:
        folder = (arguments.folder or Path(made)).resolve()
        folder.mkdir(exist_ok=True)
        folder.chmod(0o755)
        if not arguments.no_install:
            install(list(chosen.values()), folder / "packages")
        print("| program | pages | redundant | recognized | right | near | wrong | fetched | saved | lost |")
        print("| --- | ---: | ---: | --- | ---: | ---: | ---: | ---: | ---: | ---: |")
        for live in chosen.values():
            try:
                print(row_of(live, folder, arguments.rules), flush=True)
            except (OSError, subprocess.CalledProcessError) as error:
                print(f"| {live.name} | {error} |", flush=True)
    return 0


def install(chosen: Sequence[Live], packages: Path) -> None:
    """Bring what the programs need."""
    debian = sorted({name for live in chosen for name in live.debian})
    if debian:
        subprocess.run(["apt-get", "update", "-qq"], check=True)
        command = ["apt-get", "install", "-qq", "-y", "--no-install-recommends", *debian]
        environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
        subprocess.run(command, check=True, env=environment, stdout=subprocess.DEVNULL)
    if pypi := sorted({name for live in chosen for name in live.pypi}):
        subprocess.run([sys.executable, "-m", "venv", str(packages)], check=True)
        subprocess.run([str(packages / "bin" / "pip"), "install", "-q", *pypi], check=True)


def row_of(live: Live, folder: Path, by_rule: bool) -> str:
    """Fill, serve and crawl one program; its row."""
    own = folder / live.name
    shutil.rmtree(own, ignore_errors=True)
    (own / "site").mkdir(parents=True)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = int(free.getsockname()[1])
    place = Place(own / "site", port, folder / "packages" / "bin")
    with served(live, place):
        alone = crawl(live, place, own / "alone", {})
        first = crawl(live, place, own / "first", {"ADDONS": json.dumps({"dedupcrawl.Addon": 500})})
    pages = list({row["url"]: row for row in alone}.values())
    studied = study(live.name, pages)
    kinds = Counter(kind for kind, _ in studied.merges)
    redundant, made = redundant_of(alone), redundant_of(first)
    there = ", ".join(sorted({one.program for one in studied.recognizer.recognized("127.0.0.1")})) or "–"
    cells = [f"{len(alone):,}", f"{redundant / max(1, len(alone)):.3f}", there]
    cells += [f"{kinds[kind]:,}" for kind in ("right", "near", "wrong")]
    cells += [f"{len(first):,}", f"{1 - made / max(1, redundant):.3f}", f"{lost_of(alone, first):,}"]
    rows = [f"| {live.name} | {' | '.join(cells)} |"]
    if by_rule:
        rows += [
            f"|   {name} | {' | '.join(counts.cells)} |" for name, counts in sorted(by_rules([studied.merges]).items())
        ]
    return "\n".join(rows)


@contextmanager
def served(live: Live, place: Place) -> Iterator[None]:
    """The program, filled, until the end of the block."""
    command = list(live.make(place))
    process = place.start(*command)
    try:
        for _ in range(_PATIENCE * 10):
            with socket.socket() as client:
                if client.connect_ex(("127.0.0.1", place.port)) == 0:
                    break
            time.sleep(0.1)
        else:
            raise OSError(f"{command[0]} does not answer: see {place.folder}")
        yield
    finally:
        for one in (process, *place.helpers):
            os.killpg(one.pid, signal.SIGTERM)
            try:
                one.wait(_PATIENCE)
            except subprocess.TimeoutExpired:
                os.killpg(one.pid, signal.SIGKILL)


def crawl(live: Live, place: Place, folder: Path, settings: dict[str, str]) -> list[Row]:
    """The pages with some text that a crawl fetched, in the order of the answers."""
    folder.mkdir()
    pages = folder / "pages.jsonl"
    given = {"start": place.root + live.start, "main": live.main, "passing": live.passing, "skip": live.skip}
    options = [part for name, value in (given | {"pages": str(pages)}).items() for part in ("-a", f"{name}={value}")]
    options += [part for name, value in (_SETTINGS | settings).items() for part in ("-s", f"{name}={value}")]
    (folder / "scrapy.cfg").write_text("[settings]\n", encoding="utf-8")
    command = [sys.executable, "-m", "scrapy", "runspider", str(Path(__file__).with_name("spider.py")), *options]
    with (folder / "crawl.log").open("wb") as log:
        subprocess.run(
            command, cwd=folder, check=True, stdout=log, stderr=log, env={**os.environ, "PYTHONPATH": str(_ROOT)}
        )
    rows = [json.loads(line) for line in pages.read_text(encoding="utf-8").splitlines()]
    return [row for row in rows if row["words"] >= _LEAST_WORDS]


def redundant_of(rows: Sequence[Row]) -> int:
    """Fetches whose text an earlier one had."""
    return len(rows) - len({row["text_sha1"] for row in rows})


def lost_of(alone: Sequence[Row], others: Sequence[Row]) -> int:
    """Texts that only Scrapy alone has, with none like them."""
    texts = {row["text_sha1"] for row in others}
    hashes = {int(row["simhash64"], 16) for row in others}
    gone = {row["text_sha1"]: int(row["simhash64"], 16) for row in alone if row["text_sha1"] not in texts}
    return sum(not any((value ^ other).bit_count() <= _NEAR for other in hashes) for value in gone.values())


if __name__ == "__main__":
    sys.exit(main())
