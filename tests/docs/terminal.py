"""Console blocks, run as a reader would run them, in a folder of their own."""

from __future__ import annotations

import io
import os
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

_SHELL = frozenset("|&;<>$`*\n")  # what a shell makes something of; quotes are undone here
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
        if words[0] == "dedupcrawl" and not set(command) & _SHELL:
            return self._in_this_process(words[1:], command)
        if words[0] == "scrapy" and not set(command) & _SHELL:
            arguments = [word.replace(ADDRESS, self.address) for word in words]
            crawled = warm.run(arguments, cwd=self.folder, env=self.environment, timeout=_LONGEST, together=True)
            _must_succeed(command, crawled.returncode, crawled.stdout)
            return crawled.stdout.replace(self.address, ADDRESS)
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

    def _in_this_process(self, arguments: list[str], command: str) -> str:
        """A command of ours that needs no shell: most of its time would go into starting Python."""
        written = io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True)
        with pytest.MonkeyPatch.context() as patch, redirect_stdout(written), redirect_stderr(written):
            patch.chdir(self.folder)
            patch.setenv("COLUMNS", self.environment["COLUMNS"])
            status = run([argument.replace(ADDRESS, self.address) for argument in arguments])
        written.seek(0)
        printed = written.read().replace(self.address, ADDRESS)
        _must_succeed(command, status, printed)
        return printed


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
