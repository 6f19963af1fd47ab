"""``python -m dedupcrawl`` and the script ``dedupcrawl``. An interrupt ends it even while it loads.

So nothing is imported here before an interrupt can be caught.
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
