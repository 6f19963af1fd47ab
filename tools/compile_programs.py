"""Write `dedupcrawl/software/programs.json`: all programs in one file, which a crawl reads faster than TOML.

    python -m tools.compile_programs

To be run when a file of `dedupcrawl/software` has changed. Until then, and where it is missing, the files themselves
are read.
"""

from __future__ import annotations

import msgspec

from dedupcrawl.software.program import COMPILED, PACKAGE_FOLDER, Compiled, digest_of, read_program
from dedupcrawl.urls.rule_files import SUFFIX


def main() -> None:
    """Write it."""
    files = sorted(PACKAGE_FOLDER.glob(f"*{SUFFIX}"))
    compiled = Compiled(digest_of(files), tuple(map(read_program, files)))
    COMPILED.write_bytes(msgspec.json.encode(_bare(msgspec.to_builtins(compiled))) + b"\n")


def _bare(value: object) -> object:
    """Without what has its default."""
    if isinstance(value, dict):
        return {key: _bare(one) for key, one in value.items() if one and not _is_default(key, one)}
    return [_bare(one) for one in value] if isinstance(value, (list, tuple)) else value


def _is_default(key: str, value: object) -> bool:
    return key == "evidence" or (key, value) in [("state", "active"), ("source", "hand"), ("weight", 1)]


if __name__ == "__main__":
    main()
