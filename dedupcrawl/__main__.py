"""``python -m dedupcrawl`` is the command ``dedupcrawl``."""

from __future__ import annotations

from dedupcrawl.cli import main

if __name__ == "__main__":
    main()
