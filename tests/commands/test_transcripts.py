"""What commands print, scenario by scenario: `transcripts/*.txt`.

`=== TITLE` begins a scenario, in an empty folder. `--- FILE` begins a file of it, `--- FILE *N` one in which each line
stands N times, with `{n}` from 0 on, or with two digits as `{nn}`; a name that was there before goes on with that file,
and `{prose:N}` is a text. `@ NAME` makes an index, by `made_indexes.py`.
`$ COMMAND` is run (`< FILE` is its stdin; `cat`, `ls` and `rm` are there), and below it stand what it prints to stdout,
behind `! ` to stderr, and in brackets a status that is not 0; of a command with `| tail` only the last line of stdout,
with `| only NAME…` these fields of its rows.
`TRANSCRIPTS=write pytest tests/commands/test_transcripts.py` writes that anew: read what has changed as a user would.
"""

from __future__ import annotations

import io
import json
import os
import re
import shlex
import sys
from collections.abc import Iterator
from contextlib import redirect_stderr, redirect_stdout
from functools import cache
from pathlib import Path

import pytest

from dedupcrawl.cli import run
from tests.commands import made_indexes
from tests.crawls.site import prose

FILES = sorted((Path(__file__).parent / "transcripts").glob("*.txt"))
_PROSE = re.compile(r"\{prose:(\d+)\}")
_VARIES = (  # what a command prints → what stands in the file
    (r" in \d+\.\d s$", " in … s"),
    (r'"seconds":[\d.]+', '"seconds":…'),
    (r"(?:(?<=learned )|(?<=log of ))\d{4}-\d\d-\d\d", "…"),
    (r"\d{4}-\d\d-\d\d \d\d:\d\d UTC", "…"),
    (r'"(kept_at|at|started|ended|bytes)":[\d.]+', r'"\1":…'),
    (r"[\d.]+ [kM]B\b", "… kB"),
    (r"\d+\.\d% needed", "…% needed"),
    (r"(is not a (?:CSS selector|regular expression)): [^\n\"]*", r"\1: …"),  # as libraries say
    (r"with signatures for [a-z_, ]+", "with signatures for …"),
)


def scenarios() -> Iterator[object]:
    for file in FILES:
        for text in file.read_text(encoding="utf-8").split("=== ")[1:]:
            title = text.partition("\n")[0]
            yield pytest.param(file, text, id=f"{file.stem}: {title}")


@cache
def _text(number: int) -> str:
    return prose(number)


def _save(head: str, lines: list[str]) -> None:
    name, _, times = head.partition(" *")
    Path(name).parent.mkdir(parents=True, exist_ok=True)
    with Path(name).open("a", encoding="utf-8") as file:
        for n in range(int(times or 1)):
            numbered = (line.replace("{n}", f"{n}").replace("{nn}", f"{n:02}") if times else line for line in lines)
            file.writelines(_PROSE.sub(lambda found: _text(int(found[1])), f"{line}\n") for line in numbered)


def _piped(lines: list[str], pipe: str) -> list[str]:
    name, *fields = pipe.split() or [""]
    if name == "tail":
        return lines[-1:]
    if name == "only":
        return [" ".join(str(json.loads(line)[field]) for field in fields) for line in lines]
    return lines


def _printed(command: str, scenario: str) -> list[str]:
    command, _, pipe = command.partition(" | ")
    command, _, given = command.partition(" < ")
    name, *arguments = shlex.split(command)
    if name == "rm":
        Path(arguments[0]).unlink()
        return []
    if name == "ls":
        return [" ".join(sorted(path.name for path in Path().iterdir()))]
    if name == "cat":
        return _piped(Path(arguments[0]).read_text(encoding="utf-8").splitlines(), pipe)
    out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True) for _ in range(2))
    stdin = io.TextIOWrapper(io.BytesIO(Path(given).read_bytes() if given else b""))
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(out), redirect_stderr(err):
        patch.setattr(sys, "stdin", stdin)
        try:
            status = run([name, *arguments])
        except SystemExit as end:
            status = int(end.code or 0)
    said, told = (stream.buffer.getvalue().decode().splitlines() for stream in (out, err))
    text = "\n".join([*_piped(said, pipe), *(f"! {line}" for line in told)])
    text = text.replace(str(Path.cwd()), "FOLDER")
    for number in {*range(12), *map(int, _PROSE.findall(scenario))}:
        text = text.replace(_text(number), f"{{prose:{number}}}")
    for pattern, instead in _VARIES:
        text = re.sub(pattern, instead, text, flags=re.MULTILINE)
    return [*text.splitlines(), *([f"[{status}]"] if status else [])]


@pytest.mark.parametrize(("file", "text"), list(scenarios()))
def test_what_is_printed(file: Path, text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    title, *parts = re.split(r"^(?=--- |\$ |@ )", text, flags=re.MULTILINE)
    result = title
    for part in parts:
        head, *lines = part.rstrip("\n").split("\n")
        if head.startswith("--- "):
            _save(head.removeprefix("--- "), lines)
            result += f"{part.rstrip()}\n"
        elif head.startswith("@ "):
            getattr(made_indexes, head.removeprefix("@ "))()
            result += f"{head}\n"
        else:
            result += "\n".join([head, *_printed(head.removeprefix("$ "), text), ""])
    result += "\n" if text.endswith("\n\n") else ""
    if os.environ.get("TRANSCRIPTS") == "write":
        file.write_text(file.read_text(encoding="utf-8").replace(f"=== {text}", f"=== {result}"), encoding="utf-8")
    assert result == text
