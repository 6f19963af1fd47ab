"""All DEDUP_ settings, with their defaults, accepted values and overrides by site."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

import msgspec

from dedupcrawl.aliases.sources import SOURCES
from dedupcrawl.content.checks.base import Check
from dedupcrawl.content.checks.registry import (
    CHECK_NAMES,
    DEFAULT_CHECKS,
    OF_PAPERS,
    PAPER_THRESHOLDS,
    PAPERS,
    PARAMETERS,
    make_checks,
)
from dedupcrawl.content.model import TARGET_PRECISION, load
from dedupcrawl.extras import missing
from dedupcrawl.project import RULES, rules_folder
from dedupcrawl.setting import (
    BOOLEAN,
    FROM_0_TO_1,
    SECONDS,
    Setting,
    Takes,
    age,
    existing_paths,
    mapping,
    names,
    one_of,
    optional,
    path,
    setting,
    settings_of,
    text,
    whole,
)
from dedupcrawl.sites import host_of, site_of
from dedupcrawl.text.ignored import entries_of

PREFIX = "DEDUP_"
_TYPING_ERROR = 0.9  # difflib's ratio from which a name without the prefix is taken for a misspelled setting
_ALL_SOURCES = frozenset(SOURCES)
START = "start"  # DEDUP_TRUSTED_SITES: trust the sites of the spider's start requests and allowed domains
AUTOMATIC = "automatic"  # DEDUP_CRAWL_LOG: the log is written beside the index


class SettingError(ValueError):
    """A DEDUP_ setting cannot be used; the message names it, the value it got and the values it takes."""


def _run_name(value: Any) -> str:
    name = text("").read(value)
    if name in {"last", "all"}:  # in commands these mean the last run and all runs
        raise ValueError
    return str(name)


def _trusted(value: Any) -> str | tuple[str, ...] | None:
    given = names(value)
    if given == ("all",):
        return None
    if given == (START,):
        return START
    if not all(name and host_of(name) == name.lower() for name in given):
        raise ValueError
    return given


def _checks(value: Any) -> tuple[str, ...]:
    given = names(value)
    if given != (PAPERS,) and not set(given) <= set(CHECK_NAMES):
        raise ValueError
    return given


def _software(value: Any) -> bool | Path:
    if isinstance(value, (str, Path)) and Path(value).is_dir():
        return Path(value)
    try:
        return bool(BOOLEAN.read(value))
    except ValueError:
        if isinstance(value, (str, Path)):
            raise ValueError(f"there is no folder {value}") from None
        raise


def _aliases(value: Any) -> bool | frozenset[str]:
    try:
        return bool(BOOLEAN.read(value))
    except ValueError:
        given = frozenset(names(value))
        if unknown := sorted(given - _ALL_SOURCES):
            raise ValueError(f"there is no source {unknown[0]!r}") from None
        return given


def _item_fields(value: Any) -> Mapping[str, Mapping[str, str]]:
    roles = {"url", "title", "text", "html"}
    read: dict[str, Mapping[str, str]] = {}
    for name, fields in mapping(value).items():
        fields_of_name = mapping(fields)
        if not set(fields_of_name) <= roles or not {"text", "html"} & set(fields_of_name):
            raise ValueError
        read[name] = {role: text("").read(item_field) for role, item_field in fields_of_name.items()}
    return read


def _selector(value: Any) -> str:
    from dedupcrawl.text.selection import parsed_selectors

    selector = str(text("").read(value))
    parsed_selectors(selector)
    return selector


def _model(value: Any) -> Path:
    load(file := path(value))
    return file


_COUNT = whole(1)
_MEGABYTES = whole(0)


def _list(of: Iterable[str]) -> str:
    return f"a list of {', '.join(map(repr, of))}"


@dataclass(frozen=True, slots=True)
class DedupSettings:
    """All settings, validated. `for_url` returns those of one site.

    The name of a setting is that of its attribute in capitals, with the DEDUP_ prefix; `parameters` holds the settings
    of the checks by name without the prefix, `made_checks` are the checks that `checks` names, with these parameters,
    and `alias_sources` the sources that `aliases` stands for.
    """

    enabled: bool = setting(True, BOOLEAN)
    url_mode: str = setting("rewrite", one_of("rewrite", "observe", "off"))
    rules: tuple[Path, ...] = setting(
        (f"{RULES}/",), Takes("a list of rule files or folders that exist", existing_paths), per_site=False
    )
    learn: bool = setting(False, BOOLEAN, per_site=False)
    software: bool | Path = setting(True, Takes("True, False, or a folder that exists", _software), per_site=False)
    aliases: bool | frozenset[str] = setting(True, Takes(f"True, False, or {_list(SOURCES)}", _aliases))
    keep: str = setting("first", one_of("first", "canonical"))
    trial_share: float = setting(0.02, FROM_0_TO_1, per_site=False)
    checks: tuple[str, ...] = setting(DEFAULT_CHECKS, Takes(f"{_list(CHECK_NAMES)}, or {PAPERS!r}", _checks))
    action: str = setting("drop", one_of("drop", "mark", "observe"))
    mark_field: str = setting("dedup", text("the name of an item field"))
    index: str = setting(
        "lmdb:", text("'memory:', 'lmdb:', 'lmdb:/path' or 'redis://host/db?prefix=name'"), per_site=False
    )
    index_memory: int | None = setting(
        None, optional(f"megabytes, {_MEGABYTES.words}, or None for no limit", _MEGABYTES.read), per_site=False
    )
    gc_freeze: bool = setting(True, BOOLEAN, per_site=False)
    index_wait: float = setting(60.0, SECONDS, per_site=False)
    run: str | None = setting(None, optional("a name other than 'last' and 'all', or None", _run_name), per_site=False)
    scope: str = setting("run", one_of("run", "spider", "site", "all"))
    ttl: float | None = setting(None, optional("seconds, a number with s, m, h, d or w such as '30d', or None", age))
    trusted_sites: str | tuple[str, ...] | None = setting(  # None: all
        START, Takes("'start', 'all' or a list of hosts or registrable domains", _trusted), per_site=False
    )
    site_quota: int | None = setting(1_000_000, optional(f"{_COUNT.words}, or None for no limit", _COUNT.read))
    keep_text: bool = setting(False, BOOLEAN)
    confirm: str = setting("feed", one_of("feed", "item"), per_site=False)
    report: Path | None = setting(
        None, optional("the path of an HTML file, or None for no report", path), per_site=False
    )
    crawl_log: Path | str | None = setting(
        AUTOMATIC, optional("the path of a file, or None for no log", path), per_site=False
    )
    item_fields: Mapping[str, Mapping[str, str]] = setting(
        {},
        Takes(
            "a dict of item class or spider name to a dict of 'url', 'title', 'text' or 'html' to item field names, "
            "with at least 'text' or 'html'",
            _item_fields,
        ),
    )
    model: Path | None = setting(
        None, optional("a file that 'dedupcrawl calibrate' wrote, or None", _model), per_site=False
    )
    target_precision: float = setting(TARGET_PRECISION, FROM_0_TO_1)
    ignore: tuple[str, ...] = setting((), Takes("a list such as ['css:.stats', 're:Read [0-9]+ times']", entries_of))
    selector: str | None = setting(None, optional("a CSS selector of the main text, or None", _selector))
    parameters: Mapping[str, Any] = field(default_factory=dict)
    sites: Mapping[str, DedupSettings] = setting(
        {}, Takes("a dict of host or registrable domain to a dict of other DEDUP_ settings", mapping), per_site=False
    )
    alias_sources: frozenset[str] = field(init=False, repr=False)
    made_checks: list[Check] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        used = (_ALL_SOURCES if self.aliases else frozenset()) if isinstance(self.aliases, bool) else self.aliases
        object.__setattr__(self, "alias_sources", used)
        object.__setattr__(self, "made_checks", make_checks(self.checks, self.parameters))

    @classmethod
    def read(cls, given: Mapping[str, Any]) -> DedupSettings:
        """Read and validate the settings in `given`; only names that start with DEDUP_ matter.

        Raises:
            SettingError: A name is unknown or a value unusable; the message names the first one.
        """
        values = _read_values(given, "")
        sites = values.pop("DEDUP_SITES")

        def build(
            all_values: Mapping[str, Any], named: Collection[str], overrides: Mapping[str, DedupSettings]
        ) -> DedupSettings:
            own = {name.removeprefix(PREFIX): value for name, value in all_values.items()}
            if own["CHECKS"] == (PAPERS,):
                own |= {"CHECKS": OF_PAPERS, "TARGET_PRECISION": 0.0}
                own |= {name: value for name, value in PAPER_THRESHOLDS.items() if PREFIX + name not in named}
            parameters = {parameter.name: own.pop(parameter.name) for parameter in PARAMETERS}
            return cls(**{name.lower(): value for name, value in own.items()}, parameters=parameters, sites=overrides)

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
            overrides[site.lower()] = build(changed, {*given, *site_given}, {})
        return build(values, set(given), overrides)

    def for_url(self, url: str) -> DedupSettings:
        """The settings for the URL's host, else for its registrable domain, else these."""
        if not self.sites:
            return self
        host = host_of(url)
        return self.sites.get(host) or self.sites.get(site_of(host)) or self

    def index_checks(self) -> list[Check]:
        """All checks, for an index that finds enough for the settings of every site; those that no site uses are off.

        An index has room for the signatures of every check, so that spiders with different checks can share it. The
        checks that some site uses come first, in their order; parameters have the loosest value of any site.
        """
        every = (self, *self.sites.values())
        names = dict.fromkeys(name for settings in every for name in settings.checks)
        loosest = {
            parameter.name: parameter.loosest(settings.parameters[parameter.name] for settings in every)
            for parameter in PARAMETERS
            if parameter.loosest is not None
        }
        off = [name for name in CHECK_NAMES if name not in names]
        return make_checks((*names, *off), {**self.parameters, **loosest}, off)


SETTINGS: Mapping[str, Setting] = {
    PREFIX + one.name: msgspec.structs.replace(one, name=PREFIX + one.name)
    for one in (*settings_of(DedupSettings).values(), *PARAMETERS)
}
"""All settings, by name with the prefix."""


def unusable(name: str, got: object, why: str, where: str = "") -> SettingError:
    """The error for an unusable value of `name`; `why` may be empty, since the message lists the accepted values."""
    reason = f" ({why.rstrip('.')})" if why else ""
    return SettingError(f"{where}{name}: got {got!r}{reason}; takes {SETTINGS[name].takes}.")


def _read_values(given: Mapping[str, Any], where: str, *, defaults: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """The value of every setting, given or default; each DEDUP_ name in `given` must be known."""
    values = dict(defaults) if defaults is not None else {name: setting.default for name, setting in SETTINGS.items()}
    if defaults is None:
        values["DEDUP_RULES"] = tuple(path for path in (rules_folder(),) if path.exists())
    for name, value in given.items():
        if not name.startswith(PREFIX):
            if defaults is not None:
                raise SettingError(f"{where}got {name!r}; takes DEDUP_ settings only.")
            if name.startswith("DEDUP") and (near := _nearest(name, _TYPING_ERROR)) != ".":  # DEDUPE_SCOPE
                raise SettingError(f"{name} is not a setting{near}")
            continue
        setting = SETTINGS.get(name)
        if setting is None:
            raise SettingError(f"{where}{name} is not a setting{_nearest(name)}")
        try:
            values[name] = setting.read(value)
        except (ValueError, TypeError) as error:
            raise unusable(name, value, str(error) if isinstance(error, ValueError) else "", where) from error
    if "concepts" in values["DEDUP_CHECKS"] and (lacking := missing("concepts")):
        raise SettingError(f"DEDUP_CHECKS: the check 'concepts' {lacking}.")
    if values["DEDUP_CHECKS"] == (PAPERS,) and given.get("DEDUP_TARGET_PRECISION"):
        why = f"with DEDUP_CHECKS = {PAPERS!r} no model decides: remove one of the two"
        raise unusable("DEDUP_TARGET_PRECISION", given["DEDUP_TARGET_PRECISION"], why, where)
    return values


@lru_cache(maxsize=64)
def _nearest(name: str, likeness: float = 0.6) -> str:
    from difflib import get_close_matches

    shared = PREFIX if name.startswith(PREFIX) else ""  # not compared, because all names share it
    known = [setting.removeprefix(shared) for setting in SETTINGS]
    close = get_close_matches(name.removeprefix(shared), known, n=1, cutoff=likeness)
    return f"; did you mean {shared}{close[0]}?" if close else "."
