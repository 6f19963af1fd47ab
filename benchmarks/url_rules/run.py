"""All methods on all sites, in a few processes."""

from __future__ import annotations

import multiprocessing
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from rich.console import Console
from rich.progress import track

from benchmarks.url_rules import dasgupta, dust, ours
from benchmarks.url_rules.comparison import Method, SiteResult, compare
from benchmarks.url_rules.data import load, site_name
from benchmarks.url_rules.fixed import fixed_canonicalizers

METHODS = {
    "ours": Method(ours.learn, 0, anew=True),
    "Dasgupta": Method(dasgupta.learn, 2),
    "DUST": Method(dust.learn, 2),
}

WORKERS = 2


def run_sites(paths: Sequence[Path], seeds: Sequence[int], levels: Sequence[float]) -> list[SiteResult]:
    """The results in the order of the paths, with a progress bar on stderr."""
    largest_first = sorted(paths, key=lambda path: -sum(file.stat().st_size for file in (path, *path.glob("*"))))
    with ProcessPoolExecutor(WORKERS, mp_context=multiprocessing.get_context("spawn")) as processes:
        runs = {path: processes.submit(run_site, path, seeds, levels) for path in largest_first}
        for path in track(largest_first, "sites", console=Console(stderr=True)):
            runs[path].result()
    return [runs[path].result() for path in paths]


def run_site(path: Path, seeds: Sequence[int], levels: Sequence[float]) -> SiteResult:
    """Everything that is measured on one site."""
    return compare(site_name(path), load(path), METHODS, fixed_canonicalizers(), seeds, levels)
