"""The report at the end of a crawl, where DEDUP_REPORT asks for it."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from pathlib import Path

from dedupcrawl import extras
from dedupcrawl.index.contract import Index
from dedupcrawl.index.errors import IndexDamagedError
from dedupcrawl.index.runs import read_runs
from dedupcrawl.output import check_place
from dedupcrawl.settings import SETTINGS, SettingError

logger = logging.getLogger(__name__)

_TAKES = SETTINGS["DEDUP_REPORT"].takes


class ReportFile:
    """Writes the report; knows before the crawl whether it can.

    Raises:
        SettingError: The packages that it needs are not installed, or there can be no such file.
    """

    def __init__(self, path: Path) -> None:
        if missing := extras.missing("report"):
            raise SettingError(f"DEDUP_REPORT {missing}.")
        try:
            check_place(path)
        except OSError as error:
            raise SettingError(f"DEDUP_REPORT: got {str(path)!r}, but {error.strerror}; takes {_TAKES}.") from error
        self._path = path

    def write(self, index: Index, log: Path | None, rules: Sequence[Path], run: str) -> None:
        """Write what this run did; what goes wrong is logged, and the crawl ends as it would have without."""
        logging.getLogger("matplotlib").setLevel(logging.INFO)  # or it says at length how it has chosen a font
        from dedupcrawl.report.collect import collect
        from dedupcrawl.report.page import write

        try:
            write(collect(index, log, rules, read_runs(index), run=run), self._path)
        except (OSError, IndexDamagedError) as error:
            logger.error("The report %s cannot be written: %s", self._path, error)
        else:
            logger.info("dedupcrawl: the report is in %s", self._path)
