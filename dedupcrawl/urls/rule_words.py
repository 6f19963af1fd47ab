"""How often a rule was right and wrong, in logs and in trials, and what follows: in the same words everywhere."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dedupcrawl.counts import counted
from dedupcrawl.printable import printable
from dedupcrawl.urls.rule import State

_STATES: Mapping[State, str] = {
    "active": "",
    "probation": "on probation",
    "doubted": "doubted: crawls try it, `normalize` does not use it",
    "disabled": "switched off",
}


def speaks_for(facts: Mapping[str, Any]) -> str:
    """What there is for a rule and against it, of its `rule_facts`."""
    said = [_STATES[facts["state"]], f"learned {facts['learned']}" if facts["learned"] else facts["source"]]
    if facts["coverage"]:
        learned_from = f"from {counted(facts['support'], 'cluster')}; " if facts["support"] else ""
        said.append(
            f"{learned_from}of {counted(facts['coverage'], 'URL')}{' in others' if learned_from else ''} "
            f"{facts['correct']:,} led to the same page and {facts['wrong']:,} to another one"
        )
    if facts["tried"]:
        said.append(in_trials(facts["tried"], facts["failed"]))
    if facts["note"]:
        said.append(printable(facts["note"]))
    return ", ".join(filter(None, said))


def in_trials(tried: int, failed: int) -> str:
    """How its trials ended.

    >>> in_trials(50, 1)
    'tried 50 times in crawls, 1 failed'
    """
    return f"tried {counted(tried, 'time')} in crawls, {failed:,} failed"
