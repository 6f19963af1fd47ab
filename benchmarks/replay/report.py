"""The figures of a replayed site, off beside on, as text."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from statistics import median

from benchmarks.replay.run import Run

_DROPPED = "dedup/content/dropped/"


def costs(off: Sequence[Run], on: Sequence[Run]) -> Iterator[str]:
    """What was done and what it took. Counts are of the first crawl of each kind, measures are medians."""
    a, b = off[0], on[0]
    index = sum(file.stat().st_blocks * 512 for file in b.index.rglob("*") if file.is_file())
    yield _row("", "off", "on")
    yield _row("requests", str(a.requests), str(b.requests))
    yield _row("pages fetched", str(a.pages), str(b.pages))
    yield _row("items kept", str(a.items), str(b.items))
    for stat in sorted(stat for stat in b.stats if stat.startswith(_DROPPED)):
        yield _row(f"  dropped by {stat.removeprefix(_DROPPED)}", "", str(b.stats[stat]))
    yield _row("CPU, s", *_medians(off, on, lambda run: run.cpu_s, "{:.1f}"))
    yield _row("  of it before the crawl, s", *_medians(off, on, lambda run: run.startup_cpu_s, "{:.1f}"))
    yield _row("CPU a page, ms", *_medians(off, on, lambda run: run.ms_a_page, "{:.2f}"))
    yield _row("peak memory, MB", *_medians(off, on, lambda run: run.peak_mb, "{:.0f}"))
    yield _row("index, bytes a page kept", "", f"{index / max(b.items, 1):.0f}")
    yield _more(off, on, lambda run: run.cpu_s, "for the crawl, with what it did not fetch")
    yield _more(off, on, lambda run: run.ms_a_page, "for a page fetched")


def calls(off: Run, on: Run) -> Iterator[str]:
    """Calls for each page fetched, of two crawls that counted them, and what the add-on brings."""
    yield _row("calls a page, main thread", "off", "on") + f"{'on less off':>14}"
    for name, a, b in (("Python", off.python_calls, on.python_calls), ("C", off.c_calls, on.c_calls)):
        without, with_it = a / max(off.pages, 1), b / max(on.pages, 1)
        yield _row(f"  {name}", f"{without:.0f}", f"{with_it:.0f}") + f"{with_it - without:>14.0f}"
    yield _row("  transactions of LMDB", "0.0", f"{on.transactions / max(on.pages, 1):.1f}")


def _more(off: Sequence[Run], on: Sequence[Run], measure: Callable[[Run], float], of: str) -> str:
    """By how many percent more each crawl took than the one without the add-on before it."""
    ratios = sorted(100 * (measure(one) / measure(other) - 1) for one, other in zip(on, off, strict=True))
    each = ", ".join(f"{ratio:+.1f}" for ratio in ratios)
    return f"  CPU {of}: {median(ratios):+.1f} % (median of {len(ratios)}: {each})"


def _row(title: str, off: str, on: str) -> str:
    return f"  {title:32}{off:>12}{on:>12}"


def _medians(off: Sequence[Run], on: Sequence[Run], measure: Callable[[Run], float], written: str) -> tuple[str, str]:
    return written.format(median(map(measure, off))), written.format(median(map(measure, on)))
