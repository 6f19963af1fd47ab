"""Where a Scrapy project keeps its data."""

from __future__ import annotations

from pathlib import Path

from scrapy.exceptions import NotConfigured
from scrapy.utils.project import data_path


def data_folder() -> Path:
    """The folder `dedup` in the project's data path; in the working directory's `.scrapy` where there is none."""
    try:
        return Path(data_path("dedup"))
    except NotConfigured:  # SCRAPY_SETTINGS_MODULE is set, and no scrapy.cfg says where the project lies
        return Path(".scrapy", "dedup").absolute()
