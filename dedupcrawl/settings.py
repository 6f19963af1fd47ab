"""Every DEDUP_ setting: its default, what it takes, its check, and overrides by site.

Values come from Python files, from `-s NAME=VALUE` and from `--set NAME=VALUE`, so each may also be a string.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

from dedupcrawl.aliases.sources import SOURCES
from dedupcrawl.content.checks.registry import CHECK_NAMES, DEFAULT_CHECKS, PARAMETERS, Parameter
from dedupcrawl.content.ignored import entries_of
from dedupcrawl.project import RULES, rules_folder
from dedupcrawl.setting_values import (
    read_age,
    read_aliases,
    read_boolean,
    read_checks,
    read_existing_paths,
    read_item_fields,
    read_mapping,
    read_model,
    read_one_of,
    read_optional_path,
    read_run_name,
    read_seconds,
    read_selector,
    read_share,
    read_software,
    read_text,
    read_trusted,
    read_whole_number,
)
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


def _parameter(parameter: Parameter) -> Setting:
    return Setting(
        PREFIX + parameter.name, parameter.default, parameter.takes, parameter.read, parameter.loosest is not None
    )


_ALL_SOURCES = frozenset(SOURCES)
_SAYING_WHY = (
    "DEDUP_CHECKS",
    "DEDUP_DICTIONARY",
    "DEDUP_IGNORE",
    "DEDUP_MODEL",
)  # with their readers' errors
AUTOMATIC = "automatic"  # DEDUP_CRAWL_LOG: beside the index

SETTINGS: Mapping[str, Setting] = {
    setting.name: setting
    for setting in (
        Setting("DEDUP_ENABLED", True, "True or False", read_boolean),
        Setting("DEDUP_URL_MODE", "rewrite", "'rewrite', 'observe' or 'off'", read_one_of("rewrite", "observe", "off")),
        Setting(
            "DEDUP_RULES", (f"{RULES}/",), "a list of rule files or folders that exist", read_existing_paths, False
        ),
        Setting("DEDUP_LEARN", False, "True or False", read_boolean, False),
        Setting("DEDUP_SOFTWARE", True, "True, False, or a folder that exists", read_software, False),
        Setting(
            "DEDUP_ALIASES",
            True,
            f"True, False, or a list of {', '.join(map(repr, SOURCES))}",
            read_aliases,
        ),
        Setting("DEDUP_KEEP", "first", "'first' or 'canonical'", read_one_of("first", "canonical")),
        Setting("DEDUP_TRIAL_SHARE", 0.02, "a number from 0 to 1", read_share, False),
        Setting("DEDUP_CHECKS", DEFAULT_CHECKS, f"a list of {', '.join(map(repr, CHECK_NAMES))}", read_checks),
        Setting("DEDUP_ACTION", "drop", "'drop', 'mark' or 'observe'", read_one_of("drop", "mark", "observe")),
        Setting("DEDUP_MARK_FIELD", "dedup", "the name of an item field", read_text),
        Setting(
            "DEDUP_INDEX",
            "lmdb:",
            "'memory:', 'lmdb:', 'lmdb:/path' or 'redis://host/db?prefix=name'",
            read_text,
            False,
        ),
        Setting("DEDUP_INDEX_MEMORY", None, "megabytes, or None for no limit", read_whole_number, False),
        Setting("DEDUP_GC_FREEZE", True, "True or False", read_boolean, False),
        Setting("DEDUP_INDEX_WAIT", 60.0, "a number of seconds", read_seconds, False),
        Setting("DEDUP_RUN", None, "a name other than 'last' and 'all', or None", read_run_name, False),
        Setting("DEDUP_SCOPE", "run", "'run', 'spider', 'site' or 'all'", read_one_of("run", "spider", "site", "all")),
        Setting("DEDUP_TTL", None, "seconds, a number with s, m, h, d or w such as '30d', or None", read_age),
        Setting(
            "DEDUP_TRUSTED_SITES",
            "start",
            "'start', 'all' or a list of hosts or registrable domains",
            read_trusted,
            False,
        ),
        Setting("DEDUP_SITE_QUOTA", 1_000_000, "a whole number, or None for no limit", read_whole_number),
        Setting("DEDUP_KEEP_TEXT", False, "True or False", read_boolean),
        Setting("DEDUP_CONFIRM", "feed", "'feed' or 'item'", read_one_of("feed", "item"), False),
        Setting("DEDUP_REPORT", None, "the path of an HTML file, or None for no report", read_optional_path, False),
        Setting("DEDUP_CRAWL_LOG", AUTOMATIC, "the path of a file, or None for no log", read_optional_path, False),
        Setting(
            "DEDUP_ITEM_FIELDS",
            {},
            "a dict of item class or spider name to a dict of 'url', 'title', 'text' or 'html' to item field names, "
            "with at least 'text' or 'html'",
            read_item_fields,
        ),
        Setting("DEDUP_MODEL", None, "a file that 'dedupcrawl calibrate' wrote, or None", read_model, False),
        Setting("DEDUP_IGNORE", (), "a list such as ['css:.stats', 're:Read [0-9]+ times']", entries_of),
        Setting("DEDUP_SELECTOR", None, "a CSS selector of the main text, or None", read_selector),
        Setting(
            "DEDUP_SITES",
            {},
            "a dict of host or registrable domain to a dict of other DEDUP_ settings",
            read_mapping,
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
    software: bool | Path
    aliases: bool | frozenset[str]
    keep: str
    trial_share: float
    checks: tuple[str, ...]
    action: str
    mark_field: str
    index: str
    index_memory: int | None
    gc_freeze: bool
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
    model: Path | None
    ignore: tuple[str, ...]
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

    @property
    def alias_sources(self) -> frozenset[str]:
        """Those of aliases that are used."""
        if isinstance(self.aliases, bool):
            return _ALL_SOURCES if self.aliases else frozenset()
        return self.aliases

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
            says_why = name in _SAYING_WHY or (isinstance(error, ValueError) and str(error).startswith("there is no"))
            why = f" ({str(error).rstrip('.')})" if says_why and str(error) else ""
            raise SettingError(f"{where}{name}: got {value!r}{why}; takes {setting.takes}.") from error
    return values


@lru_cache(maxsize=64)
def _nearest(name: str, likeness: float = 0.6) -> str:
    from difflib import get_close_matches

    close = get_close_matches(name, SETTINGS, n=1, cutoff=likeness)
    return f"; did you mean {close[0]}?" if close else "."
