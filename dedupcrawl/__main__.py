"""``python -m dedupcrawl`` and the script ``dedupcrawl``: the command line; an interrupt ends its loading, too.

So nothing is imported here before it can be caught.
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
