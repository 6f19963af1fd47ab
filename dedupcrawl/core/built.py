"""Check that the extensions of this folder exist and were compiled from the sources beside them."""

from __future__ import annotations

import sys
import zlib
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path

FOLDER = Path(__file__).parent
MARK = b"# cython:"
"""The first line of each compiled module begins with this."""


def record() -> Path:
    """The file that `tools/build_core.py` writes once all extensions for the running version of Python are made."""
    return FOLDER / f"compiled{EXTENSION_SUFFIXES[0]}.txt"


def sources() -> list[Path]:
    """The modules that are compiled."""
    return [path for path in sorted(FOLDER.glob("*.py")) if path.read_bytes().startswith(MARK)]


def declarations() -> list[Path]:
    """The .pxd files, in which the modules declare their C functions for each other; a wheel has none."""
    return sorted(FOLDER.glob("*.pxd"))


def digest() -> str:
    """A checksum of the files that the extensions are compiled from."""
    checksum = 0
    for path in (*sources(), *declarations()):
        checksum = zlib.crc32(path.name.encode() + b"\0" + path.read_bytes(), checksum)
    return f"{checksum:08x}"


def check() -> None:
    """Raise ImportError, with a sentence that says what to do, if the extensions cannot be used."""
    if why := _why_not():
        raise ImportError(why, name="dedupcrawl.core")


def _why_not() -> str:
    if not getattr(sys, "_is_gil_enabled", lambda: True)():
        return "dedupcrawl needs the global interpreter lock: set PYTHON_GIL=1, or start Python with -X gil=1"
    in_checkout = declarations()
    install = (
        f"run {sys.executable} tools/build_core.py" if in_checkout else "install dedupcrawl again with this Python"
    )
    try:
        made_of = record().read_text(encoding="ascii").partition("\n")[0]
    except FileNotFoundError:
        return f"dedupcrawl is not compiled for this Python ({EXTENSION_SUFFIXES[0].split('.')[1]}): {install}"
    if in_checkout and made_of != digest():  # a wheel installs sources and extensions together
        return f"dedupcrawl/core has changed since it was compiled: {install}"
    return ""
