"""Console blocks, run as a reader would run them, in a folder of their own."""

from __future__ import annotations

import io
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass, field
from pathlib import Path

import msgspec
import pytest
from packaging.requirements import Requirement

from dedupcrawl.cli import run
from tests import warm
from tests.docs.blocks import Block
from tests.docs.comparing import matches

ROOT = Path(__file__).resolve().parents[2]
SERVER = "python -m dedupcrawl.demo.server"  # which the reader leaves running in a terminal; here it runs already
ADDRESS = "127.0.0.1:8000"  # where it is on the reader's machine

_SHELL = frozenset("|&;<>$`*\n")  # what a shell makes something of, unless it stands in quotes or in a comment
_QUOTED = re.compile(r"'[^']*'|\s#.*")
_INTO_A_FILE = re.compile(r"([^#]+) > ([\w.\-]+)( 2>&1)?")
_LONGEST = 120  # seconds
_NOT_A_READERS = {"SCRAPY_SETTINGS_MODULE", "NO_COLOR"}  # variables that tests of others, or a terminal, may have set


@dataclass(slots=True)
class Terminal:
    """A shell that remembers its folder, as one that a reader types into.

    Attributes:
        folder: Where it stands.
        address: Host and port of the demo site that runs here; in all that goes in and comes out it is `ADDRESS`.
        environment: Variables.
    """

    folder: Path
    address: str
    environment: dict[str, str] = field(
        default_factory=lambda: {
            **{name: value for name, value in os.environ.items() if name not in _NOT_A_READERS},
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
            "PYTHONPATH": str(ROOT),
            "COLUMNS": "100",
        }
    )

    def run(self, block: Block) -> None:
        """Run all commands of a block; what they print must be what the block shows, where it shows anything."""
        for command, shown in _commands(block):
            printed = self._run(command)
            assert not shown or matches(shown, printed), (
                f"{block}: {command}\n--- the page shows:\n{shown}\n--- printed was:\n{printed}"
            )

    def _run(self, command: str) -> str:
        words = shlex.split(command, comments=True)
        if words[:2] == ["pip", "install"]:
            return _can_be_installed(words[2:])
        if shlex.join(words) == SERVER:
            return f"The demo site is at http://{ADDRESS}/ until Ctrl-C.\n"
        into = _INTO_A_FILE.fullmatch(command)
        plain = into[1] if into else command
        if not set(_QUOTED.sub("", plain)) & _SHELL:
            ended = self._without_a_shell(shlex.split(plain, comments=True), together=into is None or bool(into[3]))
            if ended is not None:
                status, out, err = ended
                if into:
                    (self.folder / into[2]).write_text(out, encoding="utf-8")
                printed = (err if into else out).replace(self.address, ADDRESS)
                _must_succeed(command, status, printed)
                return printed
        if words[0] == "make":  # whether there is such a target
            command = f"make --dry-run --directory {shlex.quote(str(ROOT))} {shlex.join(words[1:])} > /dev/null"
        where = self.folder / ".folder"
        script = f"{command}\nstatus=$?\npwd > {shlex.quote(str(where))}\nexit $status\n"
        done = subprocess.run(
            ["bash", "-c", script.replace(ADDRESS, self.address)],
            cwd=self.folder, env=self.environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True, timeout=_LONGEST, check=False,
        )  # fmt: skip
        _must_succeed(command, done.returncode, done.stdout)
        self.folder = Path(where.read_text(encoding="utf-8").strip())
        where.unlink()
        return done.stdout.replace(self.address, ADDRESS)

    def _without_a_shell(self, words: list[str], *, together: bool) -> tuple[int, str, str] | None:
        """Run what needs no Python started anew, which is most of its time.

        Its exit status, stdout and stderr, which stands in stdout where both are together; None: it is nothing such.
        """
        words = [word.replace(ADDRESS, self.address) for word in words]
        if words[0] == "dedupcrawl":
            return self._in_this_process(words[1:], together=together)
        if words[0] == "python" and words[1].endswith(".py"):
            words = [words[1].removesuffix(".py"), *words[2:]]
        elif words[0] != "scrapy":
            return None
        done = warm.run(words, cwd=self.folder, env=self.environment, timeout=_LONGEST, together=together)
        return done.returncode, done.stdout, done.stderr

    def _in_this_process(self, arguments: list[str], *, together: bool) -> tuple[int, str, str]:
        out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True) for _ in range(2))
        with pytest.MonkeyPatch.context() as patch, redirect_stdout(out), redirect_stderr(out if together else err):
            patch.chdir(self.folder)
            patch.setenv("COLUMNS", self.environment["COLUMNS"])
            status = run(arguments)
        for stream in (out, err):
            stream.seek(0)
        return status, out.read(), err.read()


def _must_succeed(command: str, status: int, printed: str) -> None:
    assert status == 0, f"{command} failed ({status}):\n{printed}"


def _commands(block: Block) -> Iterator[tuple[str, str]]:
    """Each command with what is shown below it. `$ ` begins a command, `> ` goes on with it."""
    command, shown = "", ""
    for line in block.text.splitlines():
        if line.startswith("$ "):
            if command:
                yield command, shown
            command, shown = line[2:], ""
        elif line.startswith("> ") and not shown:
            command += f"\n{line[2:]}"
        else:
            assert command, f"{block}: a console block begins with '$ '"
            shown += f"{line}\n"
    yield command, shown


def _can_be_installed(names: list[str]) -> str:
    """Whether these are this package, with extras that it has, or something that its tests need and so have."""
    about = msgspec.toml.decode((ROOT / "pyproject.toml").read_bytes())["project"]
    extras = about["optional-dependencies"]
    known = {Requirement(line).name.lower() for lines in extras.values() for line in lines}
    for name in names:
        asked = Requirement(name)
        assert asked.name == "dedupcrawl" or asked.name.lower() in known, f"{name}: not among our dependencies"
        assert asked.name != "dedupcrawl" or asked.extras <= extras.keys(), f"{name}: has no such extra"
    return ""
