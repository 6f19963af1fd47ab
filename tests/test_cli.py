"""The command line as a newcomer meets it: help, hints, colours, completion, progress."""

from __future__ import annotations

import os
import pty
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from inspect import cleandoc
from pathlib import Path

import click
import pytest

from dedupcrawl.cli import COMMANDS, group, run
from tests import warm


def commands(parent: click.Command, path: str = "") -> Iterator[tuple[str, click.Command]]:
    """Every command by its path, those of groups too."""
    if isinstance(parent, click.Group):
        with click.Context(parent) as ctx:
            for name in parent.list_commands(ctx):
                command = parent.get_command(ctx, name)
                assert command is not None
                yield from commands(command, f"{path} {name}".strip())
    else:
        yield path, parent


ALL = dict(commands(group))


def dedupcrawl(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return warm.run(["dedupcrawl", *arguments], cwd=Path.cwd(), env={**os.environ, **environment})


def in_terminal(arguments: list[str], **environment: str) -> str:
    """What a command writes to a terminal."""
    master, slave = pty.openpty()
    env: Mapping[str, str] = {**os.environ, "TERM": "xterm", "COLUMNS": "100", **environment}
    with open(slave, "wb", buffering=0) as terminal:
        process = warm.start(["dedupcrawl", *arguments], cwd=Path.cwd(), env=env, output=(terminal, terminal))
    written = b""
    try:
        while chunk := os.read(master, 4096):
            written += chunk
    except OSError:  # Linux: the other end is closed
        pass
    process.wait()
    os.close(master)
    return written.decode()


def test_every_command_is_in_the_help_and_there() -> None:
    said = dedupcrawl("--help").stdout
    for name in COMMANDS:
        assert re.search(rf"^  {name} ", said, re.M)
    assert "ADDONS" in said


@pytest.mark.parametrize("path", ALL)
def test_help_teaches_by_example(path: str) -> None:
    text = cleandoc(ALL[path].help or "")
    assert re.search(rf"^(?:.*\| )?dedupcrawl {path}\b", text, re.M), text


@pytest.mark.parametrize("path", ALL)
def test_every_command_speaks_json(path: str) -> None:
    options = {option for parameter in ALL[path].params for option in parameter.opts}
    assert "--json" in options


@pytest.mark.parametrize("path", ALL)
def test_every_option_says_what_it_does(path: str) -> None:
    for parameter in ALL[path].params:
        if isinstance(parameter, click.Option) and parameter.name != "help":
            assert parameter.help, parameter.name


URL = "http://a.com/1"
OF_AN_INDEX = (
    f"explain {URL}", "index info", "index verify", "index list", "index compact", "index forget --site a.com",
    "index restore --check simhash", f"text {URL}", f"compare {URL} {URL}2", "report --output r.html",
)  # fmt: skip


@pytest.mark.parametrize("command", OF_AN_INDEX)
def test_an_index_that_is_none_is_said_in_one_line(
    command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("file").touch()
    Path("folder").mkdir()
    Path("strange").mkdir()
    Path("strange", "data.mdb").write_bytes(bytes(range(256)) * 400)
    Path("strange", "lock.mdb").touch()
    says = {
        "missing": "there is no index at missing: crawl first, or name one",
        "folder": "there is no index at folder: crawl first, or name one",
        "file": "file is a file: --index takes the folder of an index",
        "strange": "strange/data.mdb is no index of dedupcrawl: name another folder",
    }
    for index, said in says.items():
        assert run([*command.split(), "--index", index]) in {1, 2}
        printed = capsys.readouterr()
        assert (printed.out, printed.err.count("\n")) == ("", 1), printed.err
        assert said in printed.err
    assert {path.name for path in tmp_path.iterdir()} == {"file", "folder", "strange"}, "nothing was made"


OF_A_FILE = (
    "train FILE --rules made", "evaluate FILE --rules .", "text FILE",
    "compare FILE FILE", "compare --pairs FILE", "calibrate FILE --output m.json", "rules import FILE --rules made",
    f"rules why {URL} {URL}?a=1 FILE", "check FILE",
)  # fmt: skip


@pytest.mark.parametrize("command", OF_A_FILE)
def test_a_file_that_cannot_be_read_is_said_in_one_line(
    command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("folder").mkdir()
    for name in ("missing", "folder"):
        assert run(command.replace("FILE", name).split()) == 2
        printed = capsys.readouterr()
        assert (printed.out, printed.err.count("\n")) == ("", 1), printed.err
        assert name in printed.err
    assert {path.name for path in tmp_path.iterdir()} == {"folder"}, "nothing was made"


def test_the_package_can_be_run_as_the_command() -> None:
    done = subprocess.run([sys.executable, "-m", "dedupcrawl", "chek"], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr.startswith("dedupcrawl: No such command 'chek'. Did you mean 'check'?")


def test_an_interrupt_while_modules_are_loaded_is_said_in_one_line(tmp_path: Path) -> None:
    stub = "import os, signal\nos.kill(os.getpid(), signal.SIGINT)\n"
    (tmp_path / "click.py").write_text(stub, encoding="utf-8")
    path = os.pathsep.join([str(tmp_path), *filter(None, [os.environ.get("PYTHONPATH")])])
    done = subprocess.run(
        [sys.executable, "-m", "dedupcrawl", "train"],
        capture_output=True, text=True, check=False, env={**os.environ, "PYTHONPATH": path},
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (130, "dedupcrawl: interrupted\n")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a device of Linux")
def test_a_full_disk_behind_stdout_is_said_in_one_line(tmp_path: Path) -> None:
    with open("/dev/full", "wb") as full:
        done = subprocess.run(
            [sys.executable, "-m", "dedupcrawl.cli", "rules", "software", "--json"],
            stdout=full, stderr=subprocess.PIPE, text=True, cwd=tmp_path, check=False,
        )  # fmt: skip
    assert (done.returncode, done.stderr.count("\n")) == (1, 1), done.stderr
    assert "the output cannot be written: No space left on device. Make room, or send it elsewhere." in done.stderr


@pytest.mark.parametrize(("command", "closed"), [("normalize", "<&-"), ("check -", "<&-"), ("rules software", ">&-")])
def test_a_stream_that_is_closed_is_said_in_one_line(tmp_path: Path, command: str, closed: str) -> None:
    line = f"exec {shlex.quote(sys.executable)} -m dedupcrawl {command} {closed}"
    done = subprocess.run(["sh", "-c", line], capture_output=True, text=True, cwd=tmp_path, check=False)
    assert (done.returncode, done.stdout) == (1, "")
    said = "dedupcrawl: stdin or stdout, whichever the command needs, is closed: open it, or name a file instead."
    assert done.stderr.splitlines()[-1] == said
    assert "Traceback" not in done.stderr


def test_who_reads_no_further_is_told_nothing(tmp_path: Path) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    with open(writer, "wb") as stdout:
        done = subprocess.run(
            [sys.executable, "-m", "dedupcrawl", "rules", "software", "--json"],
            stdout=stdout, stderr=subprocess.PIPE, text=True, cwd=tmp_path, check=False,
        )  # fmt: skip
    assert (done.returncode, done.stderr) == (1, "")


def test_colours_only_on_a_terminal_and_where_they_are_wanted() -> None:
    assert "\x1b" not in dedupcrawl("chek").stderr
    assert "\x1b[31mdedupcrawl:" in in_terminal(["chek"])
    assert "\x1b" not in in_terminal(["chek"], NO_COLOR="1")


def test_progress_only_on_a_terminal(tmp_path: Path) -> None:
    log = tmp_path / "log.tsv"
    log.write_text("url\tdigest\n" + "".join(f"http://a.com/{n}\t{n}\n" for n in range(1000)), encoding="utf-8")
    arguments = ["evaluate", str(log), "--rules", str(tmp_path)]
    assert re.search(r"reading .*%", in_terminal(arguments))
    assert dedupcrawl(*arguments).stderr == ""


BASH = shutil.which("bash")


@pytest.mark.skipif(BASH is None, reason="needs bash")
def test_bash_completes(tmp_path: Path) -> None:
    offers = {
        ("dedupcrawl", "e"): {"evaluate", "explain"},
        ("dedupcrawl", "rules", "d"): {"disable"},
        ("dedupcrawl", "report", "--o"): {"--output"},
        ("dedupcrawl", "check", "--order", ""): {"stream", "batch"},
    }
    program = tmp_path / "dedupcrawl"
    program.write_text(f'#!/bin/sh\nexec "{warm.python()}" -m dedupcrawl.cli "$@"\n', encoding="utf-8")
    program.chmod(0o755)
    script = 'eval "$(_DEDUPCRAWL_COMPLETE=bash_source dedupcrawl)"'
    for words in offers:
        script += f"; COMP_WORDS=({' '.join(map(repr, words))}); COMP_CWORD={len(words) - 1}"
        script += '; COMPREPLY=(); _dedupcrawl_completion dedupcrawl; echo "${COMPREPLY[@]}"'
    path = f"{tmp_path}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        [BASH or "", "-c", script], capture_output=True, text=True, check=True, env={**os.environ, "PATH": path}
    )
    assert [set(line.split()) for line in done.stdout.splitlines()] == [*offers.values()]
