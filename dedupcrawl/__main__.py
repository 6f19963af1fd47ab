"""``python -m dedupcrawl`` and the script ``dedupcrawl``.

This module imports nothing until it can catch an interrupt, so that Ctrl-C ends the program even while it loads.
"""

from __future__ import annotations

import sys


def main() -> None:
    """Entry point of the `dedupcrawl` script."""
    try:
        from dedupcrawl.cli import main as run

        run()
    except KeyboardInterrupt:
        sys.stderr.write("dedupcrawl: interrupted\n")
        sys.exit(130)


if __name__ == "__main__":
    main()
