"""Where the CPU of a profiled crawl goes: dedupcrawl's components, entry points, modules, functions and lines."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from benchmarks.replay.run import Run

_TOP = 20

_START = "start: modules imported, the add-on set up"

_COMPONENTS = {
    "links: rules applied, and which are new": (
        "urls/", "sites.py", "crawl/rewriter.py", "crawl/discoveries.py", "crawl/dupe_filter.py",
        "crawl/spider_output.py", "crawl/downloader.py", "crawl/rewrites.py", "crawl/packed_request.py",
        "crawl/url_set.py",
    ),
    "rules watched: trials, error pages": (
        "crawl/answers.py", "crawl/audit.py", "crawl/audits.py", "crawl/same_page.py",
        "crawl/questions.py", "crawl/falls.py", "crawl/site_memory.py",
    ),
    "known software recognized": ("software/", "crawl/software.py"),
    "aliases: what pages say of URLs": ("aliases/", "crawl/aliases.py", "crawl/alias_store.py"),
    "crawl log": ("crawl/log_file.py", "crawl_logs/"),
    "pages read: HTML to text and signatures": (
        "core/", "content/html.py", "content/encoding.py",
        "text/", "content/checks/", "detection/analysis.py", "page.py",
        "crawl/pages.py",
    ),
    "verdict: pages compared": ("content/", "detection/", "verdict.py"),
    "index: searched and added to": ("index/",),
    "items followed, batches": ("crawl/batch.py", "crawl/pipeline.py", "crawl/storing.py", "crawl/refetches.py"),
    _START: ("addon.py", "settings.py", "setting.py", "crawl/extension.py", "crawl/parts.py", "crawl/command.py"),
    "all else": ("",),
}  # fmt: skip
"""Name → beginnings of modules; the first that fits counts. What a thread does counts as what the main one waits in."""


def report(profile: Path, run: Run) -> str:
    """What the sampler wrote, as shares of the crawl's CPU and as milliseconds a page."""
    samples = json.loads(profile.read_text(encoding="utf-8"))
    entries: Counter[str] = Counter()
    components: Counter[str] = Counter()
    modules: Counter[str] = Counter()
    functions: Counter[str] = Counter()
    lines: Counter[str] = Counter()
    for outermost, innermost, line, count in samples["inside"]:
        entries[outermost] += count
        components[_component(innermost)] += count
        modules[innermost.partition(":")[0]] += count
        functions[innermost] += count
        lines[f"{innermost}:{line}"] += count
    total = samples["outside"] + entries.total()
    sections = {
        "by component": components,
        "entered by Scrapy (all below)": entries,
        "by module (own, and libraries that it calls)": modules,
        "by function": functions,
        "by line": lines,
    }
    said = [
        f"{run.pages} pages, {run.ms_a_page:.2f} ms a page, {entries.total() / total:.1%} of it in dedupcrawl; "
        f"garbage collection, wherever it comes: {samples['gc_s'] / samples['cpu_s']:.1%}; "
        f"threads beside the main one, Scrapy's included: {samples['threads_s'] / samples['cpu_s']:.1%}"
    ]
    for title, counts in sections.items():
        said += ["", title, *_rows(counts, total, run.ms_a_page)]
    return "\n".join(said)


def _component(function: str) -> str:
    """The component of a function, given as FILE:NAME."""
    module, _, name = function.partition(":")
    if name == "<module>":
        return _START
    return next(component for component, begins in _COMPONENTS.items() if module.startswith(begins))


def _rows(counts: Counter[str], total: int, ms_a_page: float) -> Iterator[str]:
    for name, count in counts.most_common(_TOP):
        yield f"  {count / total:6.1%} {ms_a_page * count / total:8.3f} ms  {name}"
