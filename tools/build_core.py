"""Compile the package's extensions, `dedupcrawl/core`, in place by Cython.

    python tools/build_core.py

Run when the package is built or installed (`hatch_build.py`), and by hand when a source has changed. What has not
changed since it was compiled is left as it is. CC chooses the compiler and CFLAGS adds to its options; where there is
no compiler, ziglang is one, if it is installed.
"""

from __future__ import annotations

import os
import re
import runpy
import shlex
import subprocess
import sys
import sysconfig
import tempfile
import zlib
from concurrent.futures import ThreadPoolExecutor
from importlib.machinery import EXTENSION_SUFFIXES
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CORE = ROOT / "dedupcrawl" / "core"
ZIG = "ziglang>=0.13"
"""A compiler from PyPI."""

# What Cython's memoryviews need, once for all modules: of 31,000 lines of C a module 8,000 are left.
_SHARED = "_cyutility"
_DIRECTIVES = (
    *("boundscheck=True", "wraparound=False", "initializedcheck=False", "cdivision=True"),
    "show_performance_hints=False",
)
_OPTIONS = ("-std=c11", "-O3", "-DNDEBUG", "-fwrapv", "-fPIC", "-shared", "-Werror=implicit-function-declaration")
_UNDEFINED = ("-Wl,-undefined,dynamic_lookup",) if sys.platform == "darwin" else ()  # what the interpreter brings
_CIMPORT = re.compile(r"^from (?:cython\.cimports\.)?dedupcrawl\.core\.(\w+) c?import", re.MULTILINE)
_built = runpy.run_path(str(CORE / "built.py"))


def build() -> list[Path]:
    """Compile what has changed; all files that the package needs and that are not sources.

    Raises SystemExit with one sentence where that cannot be done.
    """
    digest = _built["digest"]()  # before they are read to be compiled: a change meanwhile is seen at the next import
    record: Path = _built["record"]()
    before = dict(line.split() for line in record.read_text("ascii").splitlines()[1:]) if record.exists() else {}
    keys = _keys()
    stale = [target for target, key in keys.items() if before.get(target.name) != key or not target.exists()]
    if stale:
        record.unlink(missing_ok=True)
        with tempfile.TemporaryDirectory() as made, ThreadPoolExecutor(os.cpu_count()) as threads:
            list(threads.map(_run, _translations(stale, Path(made))))
            list(threads.map(lambda target: _compile(target, Path(made)), stale))
    lines = [digest, *(f"{target.name} {key}" for target, key in keys.items())]
    record.write_text("\n".join(lines) + "\n", "ascii")
    return [record, *keys]


def compiler() -> list[str] | None:
    """The command of a C compiler, None where there is none."""
    if named := os.environ.get("CC"):
        return shlex.split(named)
    for name in ("cc", "gcc", "clang"):
        try:  # on a Mac without developer tools there is a cc that only says so
            if not subprocess.run([name, "--version"], capture_output=True, check=False).returncode:
                return [name]
        except OSError:
            continue
    # for all processors of the platform and without debugging symbols, which zig does not do by itself
    return [sys.executable, "-m", "ziglang", "cc", "-mcpu=baseline", "-s"] if find_spec("ziglang") else None


def _keys() -> dict[Path, str]:
    """Each extension, the one that takes longest first, with a checksum of all that it is made of and by."""
    command = compiler()
    if command is None:
        sys.exit(f"dedupcrawl needs a C compiler to be built: install gcc, clang or, from PyPI, '{ZIG}'")
    header = Path(sysconfig.get_path("include"), "Python.h")
    if not header.exists():
        sys.exit(
            f"dedupcrawl needs Python's headers to be built: {header} is missing; install python3-dev or python3-devel"
        )
    try:
        cython = version("cython")
    except PackageNotFoundError:
        sys.exit("dedupcrawl needs Cython to be built: pip install cython")
    common = repr((cython, command, os.environ.get("CFLAGS"), Path(__file__).read_text("utf-8"))).encode()
    made_of: dict[Path, list[Path]] = {CORE / _SHARED: []}
    made_of |= {source.with_suffix(""): _made_of(source) for source in _built["sources"]()}
    return {
        target.with_name(
            target.name + EXTENSION_SUFFIXES[0]
        ): f"{zlib.crc32(b''.join(map(Path.read_bytes, of)), zlib.crc32(common)):08x}"
        for target, of in made_of.items()
    }


def _made_of(source: Path) -> list[Path]:
    """A module, and all declarations that it needs."""
    files = [source]
    for path in files:
        needed = {path.stem, *_CIMPORT.findall(path.read_text("utf-8"))}
        needed_files = (CORE / f"{name}.pxd" for name in sorted(needed))
        files += (one for one in needed_files if one.exists() and one not in files)
    return files


def _translations(targets: list[Path], made: Path) -> list[list[str]]:
    """The commands of Cython that write the C of `targets` into the folder `made`."""
    names = [target.name.partition(".")[0] for target in targets]
    command = [sys.executable, "-m", "cython", "-3"]
    shared = [[*command, f"--generate-shared={made / _SHARED}.c"]] if _SHARED in names else []
    modules = [f"dedupcrawl/core/{name}.py" for name in names if name != _SHARED]
    if not modules:
        return shared
    command += [f"--shared=dedupcrawl.core.{_SHARED}", "--line-directives"]
    command += [word for directive in _DIRECTIVES for word in ("-X", directive)]
    # In one process: to start takes Cython longer than a module does.
    return [[*command, *modules, "-o", f"{made}{os.sep}"], *shared]


def _compile(target: Path, made: Path) -> None:
    name = target.name.partition(".")[0]
    source = made / f"{name}.c"
    unfinished = target.with_name(f".{os.getpid()}.{target.name}")
    command = [*(compiler() or ()), *_OPTIONS, *_UNDEFINED, *shlex.split(os.environ.get("ARCHFLAGS", ""))]
    command += [*shlex.split(os.environ.get("CFLAGS", "")), f"-I{sysconfig.get_path('include')}"]
    _run([*command, str(source), "-o", str(unfinished)])
    unfinished.replace(target)


def _run(command: list[str]) -> None:
    try:
        ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    except OSError as error:
        sys.exit(f"dedupcrawl cannot be built: {command[0]}: {error.strerror}")
    if ran.returncode:
        sys.exit(f"dedupcrawl cannot be compiled: {shlex.join(command)}\n{ran.stdout}{ran.stderr}")


if __name__ == "__main__":
    build()
