"""Where the CPU of a profiled crawl goes: dedupcrawl's entry points, modules and hottest functions."""

from __future__ import annotations

import pstats
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

_PACKAGE = "/dedupcrawl/"
_TOP = 25

Function = tuple[str, int, str]


def report(profile: Path) -> str:
    """The profile as text. Only the main thread is profiled, and Python calls weigh more than they do unprofiled."""
    stats: dict[Function, Any] = pstats.Stats(str(profile)).stats  # type: ignore[attr-defined]  # not in the stubs
    total = sum(own for _, _, own, _, _ in stats.values())
    entries: Counter[str] = Counter()
    modules: Counter[str] = Counter()
    functions: Counter[str] = Counter()
    for function, (_, _, own, _, callers) in stats.items():
        if _is_ours(function):
            modules[_module(function)] += own
            functions[_named(function)] += own
            entries[_named(function)] += sum(row[3] for caller, row in callers.items() if not _is_ours(caller))
        else:  # a library function counts for the module of ours that called it
            for caller, row in callers.items():
                if _is_ours(caller):
                    modules[_module(caller)] += row[3]
                    functions[f"{_named(caller)} → {_named(function)}"] += row[3]
    return "\n".join(
        [
            f"profiled {total:.1f} s of CPU in the main thread; shares of it",
            *_section("entered by Scrapy and others (own and below)", entries, total),
            *_section("by module (own, and libraries called from it)", modules, total),
            *_section("by function (own), and by library call", functions, total),
        ]
    )


def _section(title: str, seconds: Counter[str], total: float) -> Iterator[str]:
    yield f"\n{title}"
    for name, spent in seconds.most_common(_TOP):
        if spent / total >= 0.001:
            yield f"  {100 * spent / total:5.1f} %  {spent:7.2f} s  {name}"


def _is_ours(function: Function) -> bool:
    return _PACKAGE in function[0] and "/site-packages/" not in function[0]


def _module(function: Function) -> str:
    return function[0].rpartition(_PACKAGE)[2]


def _named(function: Function) -> str:
    file, _, name = function
    return f"{_module(function)}:{name}" if _is_ours(function) else name if file == "~" else f"{Path(file).stem}.{name}"
