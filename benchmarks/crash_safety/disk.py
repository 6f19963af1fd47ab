"""Crawls on a disk that gets full, and then has room again."""

from __future__ import annotations

import random
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import chain
from pathlib import Path

from benchmarks.crash_safety.crawling import ON, Project
from benchmarks.crash_safety.kills import Site
from benchmarks.crash_safety.reopening import reopen
from benchmarks.markdown import table

_ROOM = 256 * 1024  # kB: enough for everything
_LEAST = 40  # kB of the smallest disk: an index can just be made


class NoDiskError(Exception):
    """No file system can be mounted here."""


@contextmanager
def small_disk(place: Path, kilobytes: int) -> Iterator[None]:
    """A file system of this size in memory, mounted at `place`.

    Raises:
        NoDiskError: We may not mount one.
    """
    place.mkdir(parents=True)
    _mount(place, f"size={kilobytes}k")
    try:
        yield
    finally:
        subprocess.run(["umount", str(place)], check=True)


def _mount(place: Path, options: str) -> None:
    command = ["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(place)]
    try:
        subprocess.run(command, check=True, capture_output=True, text=True)
    except (OSError, subprocess.CalledProcessError) as error:
        raise NoDiskError(f"{' '.join(command)}: {getattr(error, 'stderr', '') or error}".strip()) from None


def disk_table(site: Site, folder: Path, trials: int, seed: int) -> str:
    """Index, or index and feeds, on disks of random sizes; without the right to mount one: a limit of file sizes.

    No disk has room for all that an undisturbed crawl writes to it.
    """
    rng = random.Random(seed)
    roomy = Project(folder / "roomy", site.urls, site.port, ON, folder / "roomy" / "index", batch=20)
    roomy.finish()
    index, feeds = _kilobytes(roomy.index), _kilobytes(roomy.feeds)
    head = "", "disk, kB", "ended", "index errors", "lost by then", "lost in the end", "index in the end"
    rows = []
    try:
        for trial in range(trials):
            feeds_too = trial % 2 == 1
            name = "index and feeds" if feeds_too else "index"
            size = rng.randrange(_LEAST, max(_LEAST + 1, index + feeds * feeds_too))
            rows.append((name, *_on_small_disk(site, folder / str(trial), size, feeds_too)))
    except NoDiskError as error:
        limited = _limited(site, folder / "limited")
        return f"No small disk can be mounted ({error}); with a limit of 1 MB a file instead: {limited}\n"
    return "A disk that gets full, and has room again for a second crawl:\n\n" + table(head, rows)


def _on_small_disk(site: Site, folder: Path, kilobytes: int, feeds_too: bool) -> tuple[object, ...]:
    disk = folder / "disk"
    project = Project(folder / "project", site.urls, site.port, ON, disk / "index", batch=20)
    with small_disk(disk, kilobytes):
        if feeds_too:
            project.feeds = disk / "feeds"
            project.feeds.mkdir()
        process = project.start()
        process.join()
        ended = _end(process.exitcode, project)
        errors = project.stats().get("dedup/index/errors", 0)
        by_then = len(site.texts.lost(chain.from_iterable(project.feed_urls())))
        _mount(disk, f"remount,size={_ROOM}k")
        project.finish()
        in_the_end = len(site.texts.lost(chain.from_iterable(project.feed_urls())))
        problems = reopen(project.index).problems
    return kilobytes, ended, errors, by_then, in_the_end, "; ".join(problems) or "sound"


def _limited(site: Site, folder: Path) -> str:
    project = site.project(folder, ON)
    process = project.start(FILE_BYTES=1 << 20)
    process.join()
    ended = _end(process.exitcode, project)
    project.finish()
    lost = len(site.texts.lost(chain.from_iterable(project.feed_urls())))
    return f"{ended}; texts lost after a second crawl without it: {lost}."


def _kilobytes(folder: Path) -> int:
    """What the files of a folder take on disk."""
    return sum(path.stat().st_blocks for path in folder.rglob("*") if path.is_file()) // 2


def _end(exitcode: int | None, project: Project) -> str:
    """How a crawl ended, in a few words."""
    if exitcode is not None and exitcode < 0:
        return f"killed by signal {-exitcode}"
    if project.stats():
        return "finished"
    said = [line for line in project.log.read_text(encoding="utf-8").splitlines() if "does not start" in line]
    return "refused: " + said[0].partition("does not start: ")[2] if said else f"status {exitcode}, see {project.log}"
