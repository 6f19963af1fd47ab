"""The content checks by name, and the parameters that settings may change. A new check is one line in `_CHECKS`."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import cache
from typing import Any

from dedupcrawl.content.checks.base import Check
from dedupcrawl.content.checks.concepts import ConceptsCheck
from dedupcrawl.content.checks.exact import ExactCheck
from dedupcrawl.content.checks.feature_code import FeatureCodeCheck
from dedupcrawl.content.checks.mwo import MwoCheck
from dedupcrawl.content.checks.shingles import ShinglesCheck
from dedupcrawl.content.checks.simhash import SimHashCheck
from dedupcrawl.content.checks.title import TitleCheck
from dedupcrawl.setting import Setting, settings_of

_CHECKS: Mapping[str, type[Check]] = {
    "exact": ExactCheck,
    "feature_code": FeatureCodeCheck,
    "simhash": SimHashCheck,
    "shingles": ShinglesCheck,
    "title": TitleCheck,
    "mwo": MwoCheck,
    "concepts": ConceptsCheck,
}

CHECK_NAMES: tuple[str, ...] = tuple(_CHECKS)
DEFAULT_CHECKS: tuple[str, ...] = ("exact", "simhash", "shingles", "title", "feature_code", "mwo")
"""All but `concepts`; those that find most at the least cost come first: docs/measured/content-checks.md."""
PAPERS = "papers"
"""A value of DEDUP_CHECKS that stands for `OF_PAPERS`; each decides by its own threshold, without a model."""
OF_PAPERS = ("exact", "feature_code", "simhash", "mwo")
PAPER_THRESHOLDS: Mapping[str, Any] = {"MWO_THRESHOLD": 0.5}
"""Their thresholds that differ from the defaults: for MWO, that of the experiment of Das et al. (Table 4)."""
PARAMETERS: tuple[Setting, ...] = tuple(
    {one.name: one for check in _CHECKS.values() for one in settings_of(check).values()}.values()
)
"""The fields of all checks, named like settings without the prefix; checks may share one."""


def make_checks(names: Sequence[str], thresholds: Mapping[str, Any], off: Collection[str] = frozenset()) -> list[Check]:
    """The checks called `names`, in that order.

    `thresholds` are values of `PARAMETERS` by name, already read; a missing one has its default. `off` are the names of
    checks that are listed only for their place in an index.

    Raises:
        KeyError: A name is not that of a check.
    """
    fields = {name: settings_of(_CHECKS[name]).items() for name in names}
    return [
        (_switched_off(name) if name in off else _CHECKS[name])(
            **{field: thresholds[one.name] for field, one in fields[name] if one.name in thresholds}
        )
        for name in names
    ]


@cache  # checks are equal only within one class
def _switched_off(name: str) -> type[Check]:
    return type(name, (_CHECKS[name],), {"__slots__": (), "is_on": False})
