"""Values of settings: how what somebody wrote is read, from Python, a command line or a scrapy.cfg.

Every reader raises ValueError for what it cannot read; `dedupcrawl.settings` says which setting it was.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from cssselect import SelectorError
from parsel.csstranslator import HTMLTranslator

from dedupcrawl import extras
from dedupcrawl.aliases.sources import SOURCES
from dedupcrawl.content.checks.registry import CHECK_NAMES, OF_TERMS
from dedupcrawl.content.model import load
from dedupcrawl.sites import host_of


def read_boolean(value: Any) -> bool:
    """True or False, or a word for either."""
    if isinstance(value, str):
        lowered = value.strip().lower()
        if lowered in {"1", "true", "yes", "on"}:
            return True
        if lowered in {"0", "false", "no", "off", ""}:
            return False
    elif value in (0, 1):
        return bool(value)
    raise ValueError


def read_one_of(*choices: str) -> Callable[[Any], str]:
    """Reads one of these choices."""

    def read(value: Any) -> str:
        if value not in choices:
            raise ValueError
        return str(value)

    return read


def read_share(value: Any) -> float:
    """A number from 0 to 1."""
    share = float(value)
    if isinstance(value, bool) or not 0 <= share <= 1:
        raise ValueError
    return share


def read_text(value: Any) -> str:
    """A text that is not empty."""
    if not isinstance(value, str) or not value.strip():
        raise ValueError
    return value.strip()


def read_optional_text(value: Any) -> str | None:
    """A text, or None for none."""
    return None if value is None or value == "" else read_text(value)


def read_run_name(value: Any) -> str | None:
    """The name of a run that is no word of the commands."""
    name = read_optional_text(value)
    if name in {"last", "all"}:  # which commands take for the last run, and for all
        raise ValueError
    return name


def read_seconds(value: Any) -> float:
    """A number of seconds."""
    seconds = float(value)
    if isinstance(value, bool) or not 0 <= seconds < math.inf:
        raise ValueError
    return seconds


def read_names(value: Any) -> tuple[str, ...]:
    """Names, each once."""
    if isinstance(value, str):
        value = [part.strip() for part in value.split(",") if part.strip()]
    if not isinstance(value, Iterable) or not all(isinstance(name, str) for name in value):
        raise ValueError
    return tuple(dict.fromkeys(value))


_UNITS = {"": 1, "s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 604_800}  # seconds


def read_age(value: Any) -> float | None:
    """An age in seconds: a number, or one with its unit as in "30d"; None for none.

    Raises:
        ValueError: It is nothing of the kind.
    """
    if value is None or (isinstance(value, str) and value.strip().lower() in {"", "none"}):
        return None
    text = str(value).strip().lower()
    unit = text[-1:] if text[-1:] in _UNITS else ""
    seconds = float(text.removesuffix(unit)) * _UNITS[unit]
    if isinstance(value, bool) or not 0 < seconds < float("inf"):
        raise ValueError
    return seconds


def read_whole_number(value: Any) -> int | None:
    """A whole number, or None for none."""
    if value is None or (isinstance(value, str) and value.strip().lower() in {"", "none"}):
        return None
    number = float(value)
    if isinstance(value, bool) or not math.isfinite(number) or number < 0 or number != int(number):
        raise ValueError
    return int(number)


def read_trusted(value: Any) -> str | tuple[str, ...]:
    """Whose pages are trusted."""
    names = read_names(value)
    if names in (("start",), ("all",)):
        return names[0]
    for name in names:
        if host_of(name) != name.lower() or not name:
            raise ValueError
    return names


def read_checks(value: Any) -> tuple[str, ...]:
    """Names of checks."""
    names = read_names(value)
    if not set(names) <= set(CHECK_NAMES):
        raise ValueError
    if (needing := [name for name in names if name in OF_TERMS]) and (missing := extras.missing("terms")):
        raise ValueError(f"{' and '.join(needing)} {missing}")
    return names


def read_existing_paths(value: Any) -> tuple[Path, ...]:
    """Paths that exist."""
    if isinstance(value, Path):
        value = [value]
    if not isinstance(value, str) and isinstance(value, Iterable):
        value = [str(path) for path in value]
    paths = tuple(Path(name) for name in read_names(value))
    for path in paths:
        if not path.exists():
            raise ValueError(f"there is no file or folder {path}")
    return paths


def read_software(value: Any) -> bool | Path:
    """Whether known software is used, or a folder of one's own files."""
    if isinstance(value, (str, Path)) and Path(value).is_dir():
        return Path(value)
    try:
        return read_boolean(value)
    except ValueError:
        if isinstance(value, (str, Path)):
            raise ValueError(f"there is no folder {value}") from None
        raise


def read_aliases(value: Any) -> bool | frozenset[str]:
    """Whether aliases are used, or the sources that are."""
    try:
        return read_boolean(value)
    except ValueError:
        names = frozenset(read_names(value))
        if unknown := sorted(names - frozenset(SOURCES)):
            raise ValueError(f"there is no source {unknown[0]!r}") from None
        return names


def read_optional_path(value: Any) -> Path | None:
    """A path, or None for none."""
    if value is None or (isinstance(value, str) and value.strip().lower() in {"", "none"}):
        return None
    if not isinstance(value, (str, Path)):
        raise ValueError
    return Path(value)


def read_mapping(value: Any) -> Mapping[str, Any]:
    """A mapping of names."""
    if isinstance(value, str):
        value = json.loads(value)
    if not isinstance(value, Mapping) or not all(isinstance(key, str) for key in value):
        raise ValueError
    return value


def read_item_fields(value: Any) -> Mapping[str, Mapping[str, str]]:
    """Item class or spider to its fields."""
    roles = {"url", "title", "text", "html"}
    read: dict[str, Mapping[str, str]] = {}
    for name, fields in read_mapping(value).items():
        fields_of_name = read_mapping(fields)
        if not set(fields_of_name) <= roles or not {"text", "html"} & set(fields_of_name):
            raise ValueError
        read[name] = {role: read_text(item_field) for role, item_field in fields_of_name.items()}
    return read


def read_selector(value: Any) -> str | None:
    """A CSS selector, or None for none."""
    if value is None or value == "":
        return None
    selector = read_text(value)
    try:
        HTMLTranslator().css_to_xpath(selector)
    except SelectorError as error:
        raise ValueError(f"it is no CSS selector: {error}") from error
    return selector


def read_model(value: Any) -> Path | None:
    """A model that can be read, or None for the package's own."""
    load(path := read_optional_path(value))
    return path
