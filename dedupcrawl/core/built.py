"""Whether the extensions of this folder are there, and made of the sources that stand beside them."""

from __future__ import annotations

import sys
import zlib
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path

FOLDER = Path(__file__).parent
MARK = b"# cython:"
"""How the first line of a module begins that is compiled."""


def record() -> Path:
    """Written by `tools/build_core.py` when all extensions for the running version of Python are made."""
    return FOLDER / f"compiled{EXTENSION_SUFFIXES[0]}.txt"


def sources() -> list[Path]:
    """The modules that are compiled."""
    return [path for path in sorted(FOLDER.glob("*.py")) if path.read_bytes().startswith(MARK)]


def declarations() -> list[Path]:
    """What they declare for each other; a wheel has none."""
    return sorted(FOLDER.glob("*.pxd"))


def digest() -> str:
    """A checksum of what the extensions are made of."""
    checksum = 0
    for path in (*sources(), *declarations()):
        checksum = zlib.crc32(path.name.encode() + b"\0" + path.read_bytes(), checksum)
    return f"{checksum:08x}"


def check() -> None:
    """Raise ImportError where the extensions cannot be used: in one sentence that says what to do."""
    if not getattr(sys, "_is_gil_enabled", lambda: True)():
        raise ImportError("dedupcrawl needs Python's global lock: set PYTHON_GIL=1, or run it with python -X gil=1")
    try:
        made_of = record().read_text(encoding="ascii").partition("\n")[0]
    except FileNotFoundError:
        raise ImportError(
            f"dedupcrawl is not compiled for this Python ({EXTENSION_SUFFIXES[0].strip('.')}): install it again with "
            "pip install --force-reinstall --no-deps dedupcrawl, or run python tools/build_core.py in a checkout"
        ) from None
    if declarations() and made_of != digest():  # a checkout: the files of a wheel come together
        raise ImportError("dedupcrawl/core has changed since it was compiled: run python tools/build_core.py")
