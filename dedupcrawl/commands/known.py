"""Finds what a command was asked for among what the index knows, and says what there is where it is not among it."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice

from dedupcrawl.commands.errors import BadInputError
from dedupcrawl.index.contract import Index
from dedupcrawl.index.runs import Run, read_runs
from dedupcrawl.printable import printable

_NAMED = 5  # of what there is


def chosen_run(index: Index, name: str) -> tuple[list[Run], str | None]:
    """All runs that the index remembers, and the name of that which is asked for.

    Args:
        index: The index.
        name: Of a run, or "last", or "all".

    Returns:
        The runs, and None for all of them, which "last" is too where there is none.

    Raises:
        BadInputError: There is no such run; the sentence names the newest.
    """
    runs = read_runs(index)
    names = [run.name for run in runs]
    if name == "all" or (name == "last" and not runs):
        return runs, None
    if name == "last":
        return runs, names[-1]
    if name not in names:
        raise unknown("run", name, reversed(names))
    return runs, name


class Asked:
    """Whether a name that was asked for has been met, and a few of those that were.

    Args:
        what: That it names.
        name: It; None: nothing was asked for.
    """

    def __init__(self, what: str, name: str | None) -> None:
        self._what = what
        self._name = name
        self._found = name is None
        self._met: dict[str, None] = {}

    @property
    def is_met(self) -> bool:
        """True when it was met, or nothing was asked for."""
        return self._found

    def meet(self, *names: str, also: str = "") -> None:
        """These were met; so was `also`, which is not told, where there is one."""
        if self._found:
            return
        self._found = self._name in (*names, also)
        if len(self._met) <= _NAMED:
            self._met |= dict.fromkeys(names)

    def check(self) -> None:
        """Raise when nothing that was met has the name.

        Raises:
            BadInputError: It was not met.
        """
        if not self._found and self._name is not None:
            raise unknown(self._what, self._name, self._met)


def unknown(what: str, name: str, known: Iterable[str]) -> BadInputError:
    """The error for a name that nothing has; `known` are those that something has."""
    some = list(islice(known, _NAMED + 1))
    shown = ", ".join(map(printable, some[:_NAMED])) + (", …" if len(some) > _NAMED else "")
    return BadInputError(
        f"the index knows no {what} '{printable(name)}', {f'but {shown}' if some else 'nor any other'}."
    )
