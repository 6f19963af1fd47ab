"""Where the CPU of a profiled crawl goes: dedupcrawl's entry points, modules, functions and lines."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from benchmarks.replay.run import Run

_TOP = 20


def report(profile: Path, run: Run) -> str:
    """What the sampler wrote, as shares of the crawl's CPU and as milliseconds a page."""
    samples = json.loads(profile.read_text(encoding="utf-8"))
    entries: Counter[str] = Counter()
    modules: Counter[str] = Counter()
    functions: Counter[str] = Counter()
    lines: Counter[str] = Counter()
    for outermost, innermost, line, count in samples["inside"]:
        entries[outermost] += count
        modules[innermost.partition(":")[0]] += count
        functions[innermost] += count
        lines[f"{innermost}:{line}"] += count
    total = samples["outside"] + entries.total()
    sections = {
        "entered by Scrapy (all below)": entries,
        "by module (own, and libraries that it calls)": modules,
        "by function": functions,
        "by line": lines,
    }
    said = [f"{run.pages} pages, {run.ms_a_page:.2f} ms a page, {entries.total() / total:.1%} of it in dedupcrawl"]
    for title, counts in sections.items():
        said += ["", title, *_rows(counts, total, run.ms_a_page)]
    return "\n".join(said)


def _rows(counts: Counter[str], total: int, ms_a_page: float) -> Iterator[str]:
    for name, count in counts.most_common(_TOP):
        yield f"  {count / total:6.1%} {ms_a_page * count / total:8.3f} ms  {name}"
