"""Rows of logs as tests compare them."""

from __future__ import annotations

import gzip
import lzma
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from dedupcrawl.crawl_logs.registry import read_log
from dedupcrawl.crawl_logs.rows import LogRow
from dedupcrawl.crawl_logs.tally import Tally

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

COMPRESSORS: dict[str, Callable[[bytes], bytes]] = {"gzip": gzip.compress, "xz": lzma.compress, "zstd": zstd.compress}
compressed = pytest.mark.parametrize("compress", COMPRESSORS.values(), ids=COMPRESSORS)
"""In each way that logs are read in."""


def said(row: LogRow) -> dict[str, Any]:
    """What a row says, and its line."""
    return {name: value for name, value in msgspec.structs.asdict(row).items() if value is not None}


def read(path: Path, tally: Tally | None = None) -> list[LogRow]:
    """The usable rows of a log."""
    return [row for batch in read_log(path, tally or Tally()) for row in batch]


def urls_of(path: Path, tally: Tally | None = None) -> list[str | None]:
    return [row.url for row in read(path, tally)]
