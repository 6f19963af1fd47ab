"""A setting: a field of a class, with a description of the accepted values and a function that reads them.

A value comes from Python, a command line or a scrapy.cfg, so even a number may be a string. A reader that cannot read a
value raises ValueError or TypeError; `dedupcrawl.settings` adds the name of the setting.
"""

from __future__ import annotations

import dataclasses
import json
import math
import sys
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
from msgspec.structs import replace

_METADATA = "setting"


class Takes(NamedTuple):
    """The values that a setting takes: in words, for errors and the reference page, and a function that reads them."""

    words: str
    read: Callable[[Any], Any]


class Setting(msgspec.Struct, frozen=True):
    """One setting as users see it."""

    name: str  # without the DEDUP_ prefix; empty: the name of the field, in capitals
    default: Any
    takes: str  # the accepted values, in words
    read: Callable[[Any], Any]  # turns a given value into the value used, or raises ValueError or TypeError
    per_site: bool = True  # whether DEDUP_SITES may override it
    about: str = ""  # its effect, in one sentence; empty if the reference page says more
    # Picks from several values the one with which a check finds everything that it finds with any of them. None if
    # signatures depend on the setting, so that an index can hold only one value.
    loosest: Callable[[Iterable[Any]], Any] | None = None


def setting(default: Any, takes: Takes, *, per_site: bool = True) -> Any:
    """Declare a field of a dataclass that is a setting of the same name."""
    return _field(Setting("", default, *takes, per_site))


def parameter(
    name: str, default: Any, takes: Takes, about: str, loosest: Callable[[Iterable[Any]], Any] | None = None
) -> Any:
    """Declare a field of a content check that is a setting of this name; sites may override it if it has `loosest`."""
    return _field(Setting(name, default, *takes, loosest is not None, about, loosest))


def _field(made: Setting) -> Any:
    return dataclasses.field(default_factory=lambda: made.default, metadata={_METADATA: made})


def settings_of(owner: type) -> dict[str, Setting]:
    """The settings among the fields of a dataclass, by the name of the field."""
    found = {field.name: field.metadata.get(_METADATA) for field in dataclasses.fields(owner)}
    return {name: replace(one, name=one.name or name.upper()) for name, one in found.items() if one is not None}


def _float(value: Any) -> float:
    """Like `float`, but without its message: `Takes.words` already tells the user what is wrong."""
    try:
        return float(value)
    except ValueError:
        raise ValueError from None


def number(words: str, fits: Callable[[float], bool]) -> Takes:
    """A finite number that fits a condition."""

    def read(value: Any) -> float:
        read = _float(value)
        if isinstance(value, bool) or not math.isfinite(read) or not fits(read):
            raise ValueError
        return read

    return Takes(words, read)


FROM_0_TO_1 = number("a number from 0 to 1", lambda x: 0 <= x <= 1)
BELOW_1 = number("a number from 0 to below 1", lambda x: 0 <= x < 1)
SECONDS = number("a number of seconds", lambda x: x >= 0)


def share(above: float = 0) -> Takes:
    """A share that is greater than `above`."""
    return number(f"a number above {above:g} and up to 1", lambda x: above < x <= 1)


def whole(low: int, high: int = sys.maxsize, *, or_zero: bool = False) -> Takes:
    """A whole number within bounds."""

    def read(value: Any) -> int:
        number = value if isinstance(value, int) else _float(value)
        is_within = low <= number <= high or (or_zero and number == 0)
        if isinstance(value, bool) or not is_within or number != int(number):
            raise ValueError
        return int(number)

    return Takes(f"{'0, or ' if or_zero else ''}a whole number from {low} to {high}", read)


def _boolean(value: Any) -> bool:
    if isinstance(value, str):
        lowered = value.strip().lower()
        if lowered in {"1", "true", "yes", "on"}:
            return True
        if lowered in {"0", "false", "no", "off", ""}:
            return False
    elif isinstance(value, (int, float)) and value in {0, 1}:
        return bool(value)
    raise ValueError


BOOLEAN = Takes("True or False", _boolean)


def one_of(*choices: str) -> Takes:
    """One of these choices."""

    def read(value: Any) -> str:
        if value not in choices:
            raise ValueError
        return str(value)

    *first, last = map(repr, choices)
    return Takes(f"{', '.join(first)} or {last}", read)


def _text(value: Any) -> str:
    if not isinstance(value, str) or not value.strip():
        raise ValueError
    return value.strip()


def text(words: str) -> Takes:
    """A string that is not empty."""
    return Takes(words, _text)


def optional(words: str, read: Callable[[Any], Any]) -> Takes:
    """None, which may be written "none" or "", or any value that the reader takes."""

    def read_optional(value: Any) -> Any:
        is_none = value is None or (isinstance(value, str) and value.strip().lower() in {"", "none"})
        return None if is_none else read(value)

    return Takes(words, read_optional)


def names(value: Any) -> tuple[str, ...]:
    """Names without repetition; in a string they are separated by commas."""
    if isinstance(value, str):
        value = [part.strip() for part in value.split(",") if part.strip()]
    if not isinstance(value, Iterable) or not all(isinstance(name, str) for name in value):
        raise ValueError
    return tuple(dict.fromkeys(value))


_UNITS = {"": 1, "s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 604_800}  # seconds


def age(value: Any) -> float:
    """An age in seconds, from a number or a number with a unit such as "30d"."""
    text = str(value).strip().lower()
    unit = text[-1:] if text[-1:] in _UNITS else ""
    seconds = _float(text.removesuffix(unit)) * _UNITS[unit]
    if isinstance(value, bool) or not 0 < seconds < math.inf:
        raise ValueError
    return seconds


def listed(values: Any) -> Iterable[Any]:
    """Several strings or paths; a single one counts as a list of one."""
    return (values,) if isinstance(values, (str, Path)) else values


def existing_paths(value: Any) -> tuple[Path, ...]:
    if isinstance(value, Path):
        value = [value]
    if not isinstance(value, str) and isinstance(value, Iterable):
        value = [str(path) for path in value]
    paths = tuple(Path(name) for name in names(value))
    for path in paths:
        if not path.exists():
            raise ValueError(f"there is no file or folder {path}")
    return paths


def path(value: Any) -> Path:
    if not isinstance(value, (str, Path)):
        raise ValueError
    return Path(value)


def file(kind: str, read_it: Callable[[Path], object]) -> Takes:
    """The path of a file that `read_it` can read, or "" for none."""

    def read(value: Any) -> str:
        if name := str(value):
            read_it(Path(name))
        return name

    return Takes(f"the path of {kind}, or '' for none", read)


def mapping(value: Any) -> Mapping[str, Any]:
    """A mapping with strings as keys; a string is parsed as JSON."""
    if isinstance(value, str):
        value = json.loads(value)
    if not isinstance(value, Mapping) or not all(isinstance(key, str) for key in value):
        raise ValueError
    return value
