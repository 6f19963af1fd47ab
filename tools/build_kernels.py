"""Compile the extensions of the package (`kernels` folders), in place.

    python tools/build_kernels.py

Run when the package is built or installed (`hatch_build.py`). Where there is no compiler, or no header of Python, it
says so and the package does without.
"""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
import sysconfig
from pathlib import Path

PACKAGE = Path(__file__).resolve().parent.parent / "dedupcrawl"
KERNELS = (PACKAGE / "content" / "kernels",)


def build() -> list[Path]:
    """Compile and link; the paths of the extensions, none where that cannot be done."""
    made: list[Path] = []
    for folder in KERNELS:
        compiled = _built(folder)
        if compiled is None:
            break
        made.append(compiled)
    return made


def _built(folder: Path) -> Path | None:
    target = folder / f"_compiled{sysconfig.get_config_var('EXT_SUFFIX')}"
    unfinished = target.with_name(f".{os.getpid()}.{target.name}")
    linker = sysconfig.get_config_var("LDSHARED")
    if not linker:
        return None
    command = [
        *shlex.split(linker),
        *shlex.split(sysconfig.get_config_var("CCSHARED") or ""),
        "-std=c11",
        "-O3",
        *shlex.split(os.environ.get("CFLAGS", "")),
        f"-I{sysconfig.get_path('include')}",
        *sorted(map(str, folder.glob("*.c"))),
        "-o",
        str(unfinished),
    ]
    try:
        ran = subprocess.run(command, capture_output=True, text=True, check=False)
        failed = ran.stderr if ran.returncode else ""
    except OSError as error:
        failed = str(error)
    if failed:
        unfinished.unlink(missing_ok=True)
        lines = failed.strip().splitlines()
        why = next((line for line in lines if "error" in line), lines[-1])
        print(f"no compiled kernels, NumPy does their work: {why}", file=sys.stderr)
        return None
    unfinished.replace(target)
    return target


if __name__ == "__main__":
    build()
