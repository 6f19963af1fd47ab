"""Where a Scrapy project keeps its data and its rules, from whichever of its folders a command is run."""

from __future__ import annotations

from pathlib import Path

RULES = "rules"  # beside scrapy.cfg, because people read and edit them


def data_folder() -> Path:
    """The folder `dedup` in the project's data path, or in `.scrapy` of the working directory without a project."""
    from scrapy.exceptions import NotConfigured  # takes half a second, and commands without an index don't need it
    from scrapy.utils.project import data_path

    try:
        try:
            return Path(data_path("dedup"))
        except FileExistsError:  # another worker that started at the same time has just made it
            return Path(data_path("dedup"))
    except NotConfigured:  # SCRAPY_SETTINGS_MODULE is set, but there is no scrapy.cfg
        return Path(".scrapy", "dedup").absolute()


def rules_folder() -> Path:
    """The folder `rules` beside the project's scrapy.cfg, or in the working directory without a project.

    It need not exist. The path is relative if the working directory is the project's folder.
    """
    here = Path.cwd()
    project = next((folder for folder in (here, *here.parents) if (folder / "scrapy.cfg").exists()), here)
    return Path(RULES) if project == here else project / RULES
