"""Every DEDUP_ setting: its default, what it takes, its check, and overrides by site.

Values come from Python files, from `-s NAME=VALUE` and from `--set NAME=VALUE`, so each may also be a string.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

from cssselect import SelectorError
from parsel.csstranslator import HTMLTranslator

from dedupcrawl.content.checks.registry import CHECK_NAMES, DEFAULT_CHECKS, PARAMETERS, Parameter
from dedupcrawl.project import RULES, rules_folder
from dedupcrawl.sites import host_of, site_of

PREFIX = "DEDUP_"
_TYPING_ERROR = 0.9  # likeness (difflib's ratio) from which a name without the prefix was meant to have it


class SettingError(ValueError):
    """A DEDUP_ setting that cannot be used; the message names it, says what it got and what it takes."""


@dataclass(frozen=True, slots=True)
class Setting:
    """One setting as users see it.

    Attributes:
        name: With the DEDUP_ prefix.
        default: What holds when it is not set.
        takes: What it accepts, in words: for errors and for the reference page.
        read: Turns a given value into the value used, or raises ValueError.
        per_site: Whether DEDUP_SITES may override it.
    """

    name: str
    default: Any
    takes: str
    read: Callable[[Any], Any]
    per_site: bool = True


def _boolean(value: Any) -> bool:
    if isinstance(value, str):
        lowered = value.strip().lower()
        if lowered in {"1", "true", "yes", "on"}:
            return True
        if lowered in {"0", "false", "no", "off", ""}:
            return False
    elif value in {0, 1}:
        return bool(value)
    raise ValueError


def _one_of(*choices: str) -> Callable[[Any], str]:
    def read(value: Any) -> str:
        if value not in choices:
            raise ValueError
        return str(value)

    return read


def _share(value: Any) -> float:
    share = float(value)
    if isinstance(value, bool) or not 0 <= share <= 1:
        raise ValueError
    return share


def _text(value: Any) -> str:
    if not isinstance(value, str) or not value.strip():
        raise ValueError
    return value.strip()


def _optional_text(value: Any) -> str | None:
    return None if value is None or value == "" else _text(value)


def _run_name(value: Any) -> str | None:
    name = _optional_text(value)
    if name in {"last", "all"}:  # which commands take for the last run, and for all
        raise ValueError
    return name


def _seconds(value: Any) -> float:
    seconds = float(value)
    if isinstance(value, bool) or not 0 <= seconds < math.inf:
        raise ValueError
    return seconds


def _names(value: Any) -> tuple[str, ...]:
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


def _whole_number(value: Any) -> int | None:
    if value is None or (isinstance(value, str) and value.strip().lower() in {"", "none"}):
        return None
    number = float(value)
    if isinstance(value, bool) or not math.isfinite(number) or number < 0 or number != int(number):
        raise ValueError
    return int(number)


def _trusted(value: Any) -> str | tuple[str, ...]:
    names = _names(value)
    if names in (("start",), ("all",)):
        return names[0]
    for name in names:
        if host_of(name) != name.lower() or not name:
            raise ValueError
    return names


def _checks(value: Any) -> tuple[str, ...]:
    names = _names(value)
    if not set(names) <= set(CHECK_NAMES):
        raise ValueError
    return names


def _existing_paths(value: Any) -> tuple[Path, ...]:
    if isinstance(value, Path):
        value = [value]
    if not isinstance(value, str) and isinstance(value, Iterable):
        value = [str(path) for path in value]
    paths = tuple(Path(name) for name in _names(value))
    for path in paths:
        if not path.exists():
            raise ValueError(f"there is no file or folder {path}")
    return paths


def _optional_path(value: Any) -> Path | None:
    if value is None or (isinstance(value, str) and value.strip().lower() in {"", "none"}):
        return None
    if isinstance(value, (str, Path)):
        return Path(value)
    raise ValueError


def _mapping(value: Any) -> Mapping[str, Any]:
    if isinstance(value, str):
        value = json.loads(value)
    if not isinstance(value, Mapping) or not all(isinstance(key, str) for key in value):
        raise ValueError
    return value


def _item_fields(value: Any) -> Mapping[str, Mapping[str, str]]:
    roles = {"url", "title", "text", "html"}
    read: dict[str, Mapping[str, str]] = {}
    for name, fields in _mapping(value).items():
        fields_of_name = _mapping(fields)
        if not set(fields_of_name) <= roles or not {"text", "html"} & set(fields_of_name):
            raise ValueError
        read[name] = {role: _text(item_field) for role, item_field in fields_of_name.items()}
    return read


def _selector(value: Any) -> str | None:
    if value is None or value == "":
        return None
    selector = _text(value)
    try:
        HTMLTranslator().css_to_xpath(selector)
    except SelectorError as error:
        raise ValueError(f"it is no CSS selector: {error}") from error
    return selector


def _parameter(parameter: Parameter) -> Setting:
    return Setting(
        PREFIX + parameter.name, parameter.default, parameter.takes, parameter.read, parameter.loosest is not None
    )


AUTOMATIC = "automatic"  # DEDUP_CRAWL_LOG: beside the index

SETTINGS: Mapping[str, Setting] = {
    setting.name: setting
    for setting in (
        Setting("DEDUP_ENABLED", True, "True or False", _boolean),
        Setting("DEDUP_URL_MODE", "rewrite", "'rewrite', 'observe' or 'off'", _one_of("rewrite", "observe", "off")),
        Setting("DEDUP_RULES", (f"{RULES}/",), "a list of rule files or folders that exist", _existing_paths, False),
        Setting("DEDUP_LEARN", False, "True or False", _boolean, False),
        Setting("DEDUP_TRIAL_SHARE", 0.02, "a number from 0 to 1", _share, False),
        Setting("DEDUP_CHECKS", DEFAULT_CHECKS, f"a list of {', '.join(map(repr, CHECK_NAMES))}", _checks),
        Setting("DEDUP_ACTION", "drop", "'drop', 'mark' or 'observe'", _one_of("drop", "mark", "observe")),
        Setting("DEDUP_MARK_FIELD", "dedup", "the name of an item field", _text),
        Setting(
            "DEDUP_INDEX", "lmdb:", "'memory:', 'lmdb:', 'lmdb:/path' or 'redis://host/db?prefix=name'", _text, False
        ),
        Setting("DEDUP_INDEX_MEMORY", None, "megabytes, or None for no limit", _whole_number, False),
        Setting("DEDUP_INDEX_WAIT", 60.0, "a number of seconds", _seconds, False),
        Setting("DEDUP_RUN", None, "a name other than 'last' and 'all', or None", _run_name, False),
        Setting("DEDUP_SCOPE", "run", "'run', 'spider', 'site' or 'all'", _one_of("run", "spider", "site", "all")),
        Setting("DEDUP_TTL", None, "seconds, a number with s, m, h, d or w such as '30d', or None", read_age),
        Setting(
            "DEDUP_TRUSTED_SITES", "start", "'start', 'all' or a list of hosts or registrable domains", _trusted, False
        ),
        Setting("DEDUP_SITE_QUOTA", 1_000_000, "a whole number, or None for no limit", _whole_number),
        Setting("DEDUP_KEEP_TEXT", False, "True or False", _boolean),
        Setting("DEDUP_CONFIRM", "feed", "'feed' or 'item'", _one_of("feed", "item"), False),
        Setting("DEDUP_REPORT", None, "the path of an HTML file, or None for no report", _optional_path, False),
        Setting("DEDUP_CRAWL_LOG", AUTOMATIC, "the path of a file, or None for no log", _optional_path, False),
        Setting(
            "DEDUP_ITEM_FIELDS",
            {},
            "a dict of item class or spider name to a dict of 'url', 'title', 'text' or 'html' to item field names, "
            "with at least 'text' or 'html'",
            _item_fields,
        ),
        Setting("DEDUP_SELECTOR", None, "a CSS selector of the main text, or None", _selector),
        Setting(
            "DEDUP_SITES",
            {},
            "a dict of host or registrable domain to a dict of other DEDUP_ settings",
            _mapping,
            False,
        ),
        *map(_parameter, PARAMETERS),
    )
}


@dataclass(frozen=True, slots=True)
class DedupSettings:
    """All settings, checked. `for_url` gives those of one site.

    Attributes are named after the settings, without the prefix; `parameters` holds the checks' own, by name without
    the prefix.
    """

    enabled: bool
    url_mode: str
    rules: tuple[Path, ...]
    learn: bool
    trial_share: float
    checks: tuple[str, ...]
    action: str
    mark_field: str
    index: str
    index_memory: int | None
    index_wait: float
    run: str | None
    scope: str
    ttl: float | None
    trusted_sites: str | tuple[str, ...]
    site_quota: int | None
    keep_text: bool
    confirm: str
    report: Path | None
    crawl_log: Path | str | None
    item_fields: Mapping[str, Mapping[str, str]]
    selector: str | None
    parameters: Mapping[str, Any]
    sites: Mapping[str, DedupSettings] = field(default_factory=dict)

    @classmethod
    def read(cls, given: Mapping[str, Any]) -> DedupSettings:
        """Check `given` (only names that start with DEDUP_ matter).

        Raises:
            SettingError: for the first unknown name or unusable value.
        """
        values = _read_values(given, "")
        sites = values.pop("DEDUP_SITES")
        parameter_names = {PREFIX + parameter.name for parameter in PARAMETERS}

        def build(all_values: Mapping[str, Any], overrides: Mapping[str, DedupSettings]) -> DedupSettings:
            own = {name.removeprefix(PREFIX).lower(): value for name, value in all_values.items()}
            parameters = {
                name.removeprefix(PREFIX): own.pop(name.removeprefix(PREFIX).lower()) for name in parameter_names
            }
            return cls(**own, parameters=parameters, sites=overrides)

        overrides: dict[str, DedupSettings] = {}
        for site, site_given in sites.items():
            where = f"DEDUP_SITES[{site!r}]"
            if host_of(site) != site.lower() or not site:
                raise SettingError(f"DEDUP_SITES: got the site {site!r}; takes a bare host or registrable domain.")
            if not isinstance(site_given, Mapping):
                raise SettingError(f"{where}: got {site_given!r}; takes a dict of DEDUP_ settings.")
            for name in site_given:
                if name in SETTINGS and not SETTINGS[name].per_site:
                    raise SettingError(f"{where}: {name} holds for the whole crawl; set it outside DEDUP_SITES.")
            changed = _read_values(site_given, f"{where}: ", defaults=values)
            overrides[site.lower()] = build(changed, {})
        return build(values, overrides)

    def for_url(self, url: str) -> DedupSettings:
        """The settings of the URL's host, else of its registrable domain, else these."""
        if not self.sites:
            return self
        host = host_of(url)
        return self.sites.get(host) or self.sites.get(site_of(host)) or self

    def index_checks(self) -> tuple[tuple[str, ...], Mapping[str, Any]]:
        """What an index must find so that every site's own settings can be applied to its answers.

        An index has a place for the signatures of every check, so that spiders that ask different ones can share it.

        Returns:
            The names of all checks, those that any site asks first and in order, and for each parameter the loosest
            value of any site. No names when no site asks any.
        """
        every = (self, *self.sites.values())
        names = dict.fromkeys(name for settings in every for name in settings.checks)
        loosest = {
            parameter.name: parameter.loosest(settings.parameters[parameter.name] for settings in every)
            for parameter in PARAMETERS
            if parameter.loosest is not None
        }
        return (*names, *(name for name in CHECK_NAMES if name not in names)) if names else (), {
            **self.parameters,
            **loosest,
        }


def _read_values(given: Mapping[str, Any], where: str, *, defaults: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Every setting's value; the whole of `given` must be known."""
    values = dict(defaults) if defaults is not None else {name: setting.default for name, setting in SETTINGS.items()}
    if defaults is None:
        values["DEDUP_RULES"] = tuple(path for path in (rules_folder(),) if path.exists())
    for name, value in given.items():
        if not name.startswith(PREFIX):
            if defaults is not None:
                raise SettingError(f"{where}got {name!r}; takes DEDUP_ settings only.")
            if name.startswith("DEDUP") and (near := _nearest(name, _TYPING_ERROR)) != ".":  # DEDUPE_SCOPE
                raise SettingError(f"{name} is no setting{near}")
            continue
        setting = SETTINGS.get(name)
        if setting is None:
            raise SettingError(f"{where}{name} is no setting{_nearest(name)}")
        try:
            values[name] = setting.read(value)
        except (ValueError, TypeError) as error:
            why = f" ({error})" if isinstance(error, ValueError) and str(error).startswith("there is no") else ""
            raise SettingError(f"{where}{name}: got {value!r}{why}; takes {setting.takes}.") from error
    return values


@lru_cache(maxsize=64)
def _nearest(name: str, likeness: float = 0.6) -> str:
    from difflib import get_close_matches

    close = get_close_matches(name, SETTINGS, n=1, cutoff=likeness)
    return f"; did you mean {close[0]}?" if close else "."
