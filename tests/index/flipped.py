"""What is said of an index whose journal has changed: ``python -m tests.index.flipped FOLDER``."""

from __future__ import annotations

import sys
from pathlib import Path

from dedupcrawl.index.errors import IndexDamagedError
from tests.index.test_lmdb import check_all_found, opened

if __name__ == "__main__":
    try:
        index = opened(Path(sys.argv[1]))
        problems = index.verify()
        print("problems" if problems else "sound")
        if not problems:
            check_all_found(index)
        index.close()
    except (IndexDamagedError, OSError) as error:
        print("error", error)
