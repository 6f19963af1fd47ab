"""Steps that take most of a page's time, compiled when the package is built.

Each repeats, bit by bit, a step that is written in NumPy where it belongs; that is its reference, and what runs where
the extension is missing. A page is some hundred symbols, so in NumPy the calls cost more than the work. What the
functions take and give: `_compiled.pyi`.
"""

from __future__ import annotations

import sys

__all__ = ["compiled"]

_VERSION = 18  # of the functions; an extension of another one is left alone

try:
    from dedupcrawl.content.kernels import _compiled as compiled
except ImportError:
    compiled = None  # type: ignore[assignment]  # where the extension is missing
else:
    if sys.byteorder != "little" or compiled.VERSION != _VERSION:
        compiled = None  # type: ignore[assignment]
