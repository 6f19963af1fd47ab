"""What compiles the package, and what is said where it is not compiled."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tarfile
import venv
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path

import pytest

from dedupcrawl.core import built

ROOT = Path(__file__).parents[1]
COMMANDS = ("sh", "make", "test", "touch", "uname")  # all that `make crawl` takes of a machine, beside Python
ASKED = "import dedupcrawl.core"


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """What is compiled, as it is here."""
    leave_out = shutil.ignore_patterns("__pycache__")
    shutil.copytree(ROOT / "dedupcrawl", tmp_path / "dedupcrawl", ignore=leave_out)
    shutil.copytree(ROOT / "tools", tmp_path / "tools", ignore=leave_out)
    return tmp_path


def run(folder: Path, *arguments: str, **env: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, *arguments]
    env = {**os.environ, "PYTHONPATH": str(folder), **env}
    return subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, timeout=300, check=False)


def refusal(ran: subprocess.CompletedProcess[str]) -> str:
    assert ran.returncode == 1
    error, _, message = ran.stderr.splitlines()[-1].partition(": ")
    assert error == "ImportError"
    return message


def extensions(folder: Path) -> dict[str, int]:
    return {path.name: path.stat().st_mtime_ns for path in folder.rglob("*.so")}


def test_a_changed_source_is_compiled_again_and_no_other(checkout: Path) -> None:
    before = extensions(checkout)
    assert run(checkout, "tools/build_core.py").returncode == 0
    assert extensions(checkout) == before, "nothing has changed"
    source = checkout / "dedupcrawl" / "core" / min(built.sources(), key=lambda path: path.stat().st_size).name
    source.write_text(source.read_text(encoding="utf-8") + "\n\nMORE = 1\n", encoding="utf-8")
    stale = run(checkout, "-c", ASKED)
    assert refusal(stale) == (
        f"dedupcrawl/core has changed since it was compiled: run {sys.executable} tools/build_core.py"
    )
    made = run(checkout, "tools/build_core.py")
    assert made.returncode == 0, made.stderr
    changed = {name for name, time in extensions(checkout).items() if before.get(name) != time}
    assert {name.partition(".")[0] for name in changed} == {source.stem}
    after = run(checkout, "-c", f"from dedupcrawl.core.{source.stem} import MORE; print(MORE)")
    assert after.stdout == "1\n", after.stderr


def test_a_source_that_cannot_be_compiled_is_named(checkout: Path) -> None:
    source = checkout / "dedupcrawl" / "core" / built.sources()[0].name
    source.write_text(source.read_text(encoding="utf-8") + "\n\nx: cython.int = no_such_name\n", encoding="utf-8")
    made = run(checkout, "tools/build_core.py")
    assert made.returncode == 1
    assert made.stderr.startswith("dedupcrawl cannot be compiled: ")
    assert f"dedupcrawl/core/{source.name}" in made.stderr
    assert "no_such_name" in made.stderr
    assert "not compiled for this Python" in refusal(run(checkout, "-c", ASKED))


@pytest.mark.parametrize("is_wheel", [False, True])
def test_extensions_of_another_python_are_refused(checkout: Path, is_wheel: bool) -> None:
    core = checkout / "dedupcrawl" / "core"
    (core / built.record().name).rename(core / "compiled.cpython-39-other.so.txt")
    if is_wheel:
        for declarations in core.glob("*.pxd"):
            declarations.unlink()
    way_out = "install dedupcrawl again with this Python" if is_wheel else f"run {sys.executable} tools/build_core.py"
    version = EXTENSION_SUFFIXES[0].split(".")[1]
    assert refusal(run(checkout, "-c", ASKED)) == f"dedupcrawl is not compiled for this Python ({version}): {way_out}"


def test_commands_say_so_in_one_line(checkout: Path) -> None:
    package = checkout / "dedupcrawl"
    (package / "core" / built.record().name).unlink()
    (package / "page.py").write_text("import dedupcrawl.core\n", encoding="utf-8")
    ran = run(checkout, "-m", "dedupcrawl", "text", "page.html")
    assert ran.returncode == 1
    assert ran.stderr.startswith("dedupcrawl: dedupcrawl is not compiled for this Python (")
    assert ran.stderr.count("\n") == 1


def test_the_global_lock_is_needed() -> None:
    free_threaded = "import sys; sys._is_gil_enabled = lambda: False; "  # as in a CPython of that kind
    message = "dedupcrawl needs the global interpreter lock: set PYTHON_GIL=1, or start Python with -X gil=1"
    assert refusal(run(ROOT, "-c", free_threaded + ASKED)) == message


def test_without_a_compiler_it_is_said_what_to_install(checkout: Path) -> None:
    core = checkout / "dedupcrawl" / "core"
    (core / built.record().name).unlink()
    for source in built.sources()[1:]:  # to translate one takes long enough
        (core / source.name).unlink()
    made = run(checkout, "-S", "tools/build_core.py", PATH="", CC="")  # -S: nothing that is installed, ziglang neither
    assert (made.returncode, made.stdout) == (1, "")
    message = "dedupcrawl needs a C compiler to be built: install gcc, clang or, from PyPI, 'ziglang>="
    assert made.stderr.startswith(message)
    assert made.stderr.count("\n") == 1
    named = run(checkout, "tools/build_core.py", CC="no-such-compiler")
    assert named.stderr == "dedupcrawl cannot be built: no-such-compiler: No such file or directory\n"


@pytest.mark.slow
def test_make_crawl_without_a_compiler(tmp_path: Path) -> None:
    """From the source distribution, where `pip` finds a compiler by itself."""
    if subprocess.run(
        [sys.executable, "-m", "pip", "index", "versions", "ziglang"], capture_output=True, check=False
    ).returncode:
        pytest.skip("PyPI cannot be reached")
    command = [sys.executable, "-m", "build", "--sdist", "--no-isolation", "--outdir", str(tmp_path), str(ROOT)]
    subprocess.run(command, capture_output=True, check=True)
    (path,) = tmp_path.glob("*.tar.gz")
    with tarfile.open(path) as archive:
        archive.extractall(tmp_path, filter="data")
    project = tmp_path / path.name.removesuffix(".tar.gz")
    venv.create(project / ".venv")  # with the pip that is here
    (packages,) = project.glob(".venv/lib/python*/site-packages")
    here = Path(pytest.__file__).parents[1]  # what is installed need not be installed again; there is no compiler in it
    (packages / "here.pth").write_text(f"{here}\n", encoding="utf-8")
    machine = tmp_path / "bin"
    machine.mkdir()
    for name in COMMANDS:
        found = shutil.which(name)
        assert found is not None
        (machine / name).symlink_to(found)
    env = {name: value for name, value in os.environ.items() if name not in ("CC", "PYTHONPATH")}
    env |= {"PATH": str(machine), "CFLAGS": "-O0 -fno-sanitize=undefined"}  # it crawls little, and Zig compiles long
    crawl = subprocess.run(
        [str(machine / "make"), "crawl"], cwd=project, env=env, capture_output=True, text=True, timeout=600, check=False
    )
    assert crawl.returncode == 0, crawl.stdout + crawl.stderr
    assert "saved" in crawl.stdout
    python = str(project / ".venv" / "bin" / "python")
    asked = "import dedupcrawl.core as core; print(core.__file__)"
    where = subprocess.run([python, "-c", asked], cwd=tmp_path, env=env, capture_output=True, text=True, check=True)
    assert Path(where.stdout.strip()).is_relative_to(project)
