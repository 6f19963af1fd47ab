"""Verdicts of `dedupcrawl check` on stored crawls and labelled texts: freeze one version's, compare with another's.

    python -m benchmarks.verdicts freeze --cli "PATH/TO/dedupcrawl" --out FOLDER [--checks a,b] [SET…]
    python -m benchmarks.verdicts compare BEFORE AFTER [--list]

`freeze` passes each set (all of them, or those that are named) through the public command and writes
FOLDER/SET.jsonl.gz: for each page, in the order of the set, an array of url, verdict, duplicate_of, check and
probability. `compare` counts the pages with another verdict, and the duplicates whose kept page is another.

The version that is measured is the one that `--cli` starts, whatever PYTHONPATH says. A checkout that is not installed:
--cli "env PYTHONPATH=/path/of/checkout python -m dedupcrawl".
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import json
import lzma
import os
import re
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from benchmarks.replay.store import load, sites
from benchmarks.texts import data_folder

_END = ".jsonl.gz"

Row = tuple[str, str, "str | None", "str | None", "float | None"]  # url, verdict, duplicate_of, check, probability


@dataclass(frozen=True, slots=True)
class Difference:
    """What two versions say of one set.

    Attributes:
        verdicts: Rows before and after with another verdict.
        keepers: Rows that are duplicates before and after, of another page.
    """

    pages: int
    verdicts: Sequence[tuple[Row, Row]]
    keepers: Sequence[tuple[Row, Row]]

    @property
    def per_thousand(self) -> float:
        """Rows that differ, of a thousand."""
        return 1000 * (len(self.verdicts) + len(self.keepers)) / max(1, self.pages)


def sets(data: Path) -> dict[str, Path]:
    """Name → file or folder of each stored crawl and each labelled set of texts."""
    texts = {path.name.removesuffix(".jsonl.xz"): path for path in sorted((data / "pairs").glob("*.jsonl.xz"))}
    return {**sites(data), **texts}


def pages(path: Path) -> Iterator[dict[str, str]]:
    """The rows for `check` of a set."""
    if path.parent.name == "pairs":
        with lzma.open(path, "rt", encoding="utf-8") as lines:
            for line in lines:
                yield _text_row(json.loads(line))
        return
    for page in load(path):
        if "html" in page.mime:
            yield {"url": page.url, "html": page.body.decode("utf-8", "replace")}


def _text_row(row: Mapping[str, Any]) -> dict[str, str]:
    """A labelled text; where it has no URL, each sender, or the end of its title, is a site of its own."""
    host = urlsplit(row["url"]).netloc if row["url"].startswith("http") else ""
    if not host:
        source = row.get("senator") or re.split(r"[-_|－—]", row["title"])[-1].strip()
        host = f"{hashlib.md5(source.encode()).hexdigest()[:8]}.example"
    title = "" if "senator" in row else row["title"]  # which is the beginning of the text there
    return {"url": f"http://{host}/{row['id']}", "title": title, "text": row["text"]}


def judged(cli: Sequence[str], rows: Iterator[dict[str, str]], checks: str | None) -> list[Row]:
    """What the command says of each row.

    Raises:
        RuntimeError: The command failed, or did not answer each row.
    """
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    with tempfile.TemporaryDirectory(prefix="verdicts-") as folder:
        given, answers, number = Path(folder, "pages.jsonl"), Path(folder, "verdicts.jsonl"), 0
        with given.open("w", encoding="utf-8") as file:
            for number, row in enumerate(rows, 1):  # noqa: B007  # how many they were
                file.write(json.dumps(row, ensure_ascii=False) + "\n")
        command = [*cli, "check", str(given), "--output", str(answers), *(["--checks", checks] if checks else [])]
        # Elsewhere than in a checkout, which `python -m` would import from.
        run = subprocess.run(command, capture_output=True, text=True, cwd=folder, env=environment, check=False)
        if run.returncode:
            raise RuntimeError(f"{shlex.join(command)}: {run.stderr.strip()[-500:]}")
        with answers.open(encoding="utf-8") as file:
            found = [_row(json.loads(line)) for line in file]
    if len(found) != number:
        raise RuntimeError(f"{shlex.join(command)}: {len(found)} answers for {number} pages")
    return found


def _row(answer: Mapping[str, Any]) -> Row:
    probability = answer["evidence"].get("probability")
    return answer["url"], answer["verdict"], answer["duplicate_of"], answer["check"], probability


def write(path: Path, rows: Sequence[Row]) -> None:
    """A frozen set."""
    with gzip.open(path, "wt", encoding="utf-8") as file:
        file.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


def read(path: Path) -> list[Row]:
    """A set that `write` has written."""
    with gzip.open(path, "rt", encoding="utf-8") as file:
        return [tuple(json.loads(line)) for line in file]


def difference(before: Sequence[Row], after: Sequence[Row]) -> Difference:
    """Compare two answers for the same pages.

    Raises:
        ValueError: They are of other pages.
    """
    if [row[0] for row in before] != [row[0] for row in after]:
        raise ValueError("the pages are not the same")
    pairs = list(zip(before, after, strict=True))
    return Difference(
        len(pairs),
        [(old, new) for old, new in pairs if old[1] != new[1]],
        [(old, new) for old, new in pairs if old[1] == new[1] and old[2] != new[2]],
    )


def freeze(arguments: argparse.Namespace) -> int:
    """Write the verdicts of one version."""
    known = sets(data_folder(arguments.data))
    if unknown := set(arguments.sets) - set(known):
        sys.exit(f"no set {', '.join(sorted(unknown))}; there are {', '.join(known)}")
    arguments.out.mkdir(parents=True, exist_ok=True)
    for name in arguments.sets or known:
        rows = judged(shlex.split(arguments.cli), pages(known[name]), arguments.checks)
        write(arguments.out / f"{name}{_END}", rows)
        print(f"{name:32} {len(rows):6} pages {sum(row[1] == 'duplicate' for row in rows):6} duplicates", flush=True)
    return 0


def compare(arguments: argparse.Namespace) -> int:
    """Print what differs between two folders."""
    before, after = _frozen(arguments.before), _frozen(arguments.after)
    if alone := before.keys() ^ after.keys():
        print(f"in one of the folders only: {', '.join(sorted(alone))}", file=sys.stderr)
    total = Difference(0, [], [])
    print(f"{'set':32} {'pages':>7} {'verdict':>8} {'keeper':>8} {'of 1,000':>9}")
    for name in [name for name in before if name in after]:
        found = difference(read(before[name]), read(after[name]))
        print(_line(name, found))
        if arguments.list:
            for old, new in (*found.verdicts, *found.keepers):
                print(f"    {old[0]}\n        {_said(old)}\n        {_said(new)}")
        total = Difference(
            total.pages + found.pages, [*total.verdicts, *found.verdicts], [*total.keepers, *found.keepers]
        )
    print(_line("all", total))
    return 0


def _frozen(folder: Path) -> dict[str, Path]:
    return {path.name.removesuffix(_END): path for path in sorted(folder.glob(f"*{_END}"))}


def _line(name: str, found: Difference) -> str:
    counts = f"{found.pages:7} {len(found.verdicts):8} {len(found.keepers):8}"
    return f"{name:32} {counts} {found.per_thousand:9.2f}"


def _said(row: Row) -> str:
    _, verdict, keeper, check, probability = row
    of = "" if keeper is None else f" of {keeper} by {check}"
    return f"{verdict}{of}" + ("" if probability is None else f", probability {probability:.4f}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True)
    frozen = commands.add_parser("freeze", help="write the verdicts of one version")
    frozen.add_argument("--cli", required=True, help="the command of the version to measure")
    frozen.add_argument("--out", type=Path, required=True, help="folder to write to")
    frozen.add_argument("--checks", help="as in `check`")
    frozen.add_argument("--data", help="folder of test data that holds crawls/ and pairs/")
    frozen.add_argument("sets", nargs="*", metavar="SET")
    frozen.set_defaults(run=freeze)
    compared = commands.add_parser("compare", help="print what differs between two frozen versions")
    compared.add_argument("before", type=Path)
    compared.add_argument("after", type=Path)
    compared.add_argument("--list", action="store_true", help="print the rows that differ")
    compared.set_defaults(run=compare)
    arguments = parser.parse_args()
    run: int = arguments.run(arguments)
    return run


if __name__ == "__main__":
    sys.exit(main())
