"""Fuzz one target, guided by coverage (atheris, libFuzzer).

    python -m benchmarks.fuzz.guided TARGET [-max_total_time=600] [other options of libFuzzer] [CORPUS]

It begins with our own examples and those in the folder CORPUS, where it keeps what reaches new code. It ends with an
error at the first input that raises, takes more than five seconds or more than two gigabytes.
"""

from __future__ import annotations

import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import atheris  # type: ignore[import-untyped]  # ships no types

with atheris.instrument_imports(include=["dedupcrawl"]):
    from benchmarks.fuzz.run import targets

_LIMITS = ("-timeout=5", "-rss_limit_mb=2048", "-max_len=100000")


def main() -> None:
    """Run until it is told to stop."""
    by_name = {one.name: one for one in targets()}
    if len(sys.argv) < 2 or sys.argv[1] not in by_name:
        sys.exit(f"{__doc__}\nTargets: {', '.join(by_name)}")
    chosen = by_name[sys.argv[1]]
    with TemporaryDirectory(prefix="dedupcrawl-fuzz-") as folder:
        for number, example in enumerate(chosen.examples):
            Path(folder, str(number)).write_bytes(example)
        atheris.Setup([sys.argv[0], *_LIMITS, *sys.argv[2:], folder], chosen.target)
        atheris.Fuzz()


if __name__ == "__main__":
    main()
