"""Where a Scrapy project keeps its data and its rules, whichever of its folders a command is run in."""

from __future__ import annotations

from pathlib import Path

RULES = "rules"  # beside scrapy.cfg, for they are read and edited by people


def data_folder() -> Path:
    """The folder `dedup` in the project's data path; in the working directory's `.scrapy` where there is none."""
    from scrapy.exceptions import NotConfigured  # half a second, which commands without an index need not wait
    from scrapy.utils.project import data_path

    try:
        try:
            return Path(data_path("dedup"))
        except FileExistsError:  # workers that start at once: another one has made it since Scrapy looked
            return Path(data_path("dedup"))
    except NotConfigured:  # SCRAPY_SETTINGS_MODULE is set, and no scrapy.cfg says where the project lies
        return Path(".scrapy", "dedup").absolute()


def rules_folder() -> Path:
    """The folder `rules` beside the project's scrapy.cfg; in the working directory where there is none.

    It need not exist. In the project's own folder it is relative, as people name it there.
    """
    here = Path.cwd()
    project = next((folder for folder in (here, *here.parents) if (folder / "scrapy.cfg").exists()), here)
    return Path(RULES) if project == here else project / RULES
