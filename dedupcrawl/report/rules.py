"""The rules of all sites as rows to look at."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl

from dedupcrawl.index.rows import Rewrite
from dedupcrawl.sites import site_of
from dedupcrawl.urls.rule import Rule, RuleError, rule_row
from dedupcrawl.urls.rule_files import read_rules, rule_files

_AT_ONCE = 65_536  # rewrites that are held as objects


@dataclass(frozen=True, slots=True)
class Rewritten:
    """Figures of all rewrites; what two crawls rewrote counts in each.

    Attributes:
        variants: URLs that were rewritten.
        pages: Canonical forms that they were rewritten to.
        by_rule: Site and id of a rule → URLs that it had a part in rewriting.
        by_run: Run → URLs that were rewritten.
    """

    variants: int = 0
    pages: int = 0
    by_rule: Counter[tuple[str, str]] = field(default_factory=Counter)
    by_run: Counter[str] = field(default_factory=Counter)


def read_rewritten(rewrites: Iterable[Rewrite]) -> Rewritten:
    """Read them once, in 8 bytes a rewrite."""
    by_rule: Counter[tuple[str, str]] = Counter()
    by_run: Counter[str] = Counter()
    hashes: list[pl.Series] = []
    canonical: list[str] = []
    for rewrite in rewrites:
        canonical.append(f"{rewrite.spider}\0{rewrite.run}\0{rewrite.canonical}")
        by_rule.update((site_of(rewrite.url), rule) for rule in rewrite.rules)
        by_run[rewrite.run] += 1
        if len(canonical) == _AT_ONCE:
            hashes.append(_hashed(canonical))
            canonical.clear()
    pages = pl.concat([*hashes, _hashed(canonical)])
    return Rewritten(len(pages), pages.n_unique(), by_rule, by_run)


def _hashed(canonical: list[str]) -> pl.Series:
    return pl.Series(canonical, dtype=pl.String).hash()


_MOST = 20_000  # rules that are shown; those that rewrote or cover most
_EXAMPLES = 3  # of a rule
_PROBLEMS = 5  # that are named


@dataclass(frozen=True, slots=True)
class RuleRows:
    """Rules as rows.

    Attributes:
        rows: JSON values, those that rewrote most first, then those that cover most.
        count: How many rules there are; more than rows where there are very many.
        sites: How many sites have rules.
        problems: One sentence for a rule file that cannot be read.
    """

    rows: list[dict[str, Any]]
    count: int
    sites: int
    problems: tuple[str, ...]


def read_rule_rows(
    paths: Sequence[Path], rewritten: Mapping[tuple[str, str], int], others: Iterable[tuple[str, Rule]] = ()
) -> RuleRows:
    """The rules at `paths`, files and folders that exist, and others of some sites.

    `rewritten` counts URLs by site and id of a rule.
    """
    rows = [_row(site, rule) | {"rewrote": rewritten.get((site, rule.id), 0)} for site, rule in others]
    problems = []
    count = sites = 0
    for path in sorted(rule_files(paths).values()):
        try:
            site_rules = read_rules(path)
        except RuleError as error:
            problems.append(str(error))
            continue
        sites += 1
        count += len(site_rules.rules)
        rows += [
            _row(site_rules.site, rule) | {"rewrote": rewritten.get((site_rules.site, rule.id), 0)}
            for rule in site_rules.rules
        ]
        if len(rows) > 2 * _MOST:
            rows = _foremost(rows)
    more = [f"… and {len(problems) - _PROBLEMS} more rule files cannot be read"] if len(problems) > _PROBLEMS else []
    return RuleRows(_foremost(rows), count, sites, (*problems[:_PROBLEMS], *more))


def _foremost(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return sorted(rows, key=lambda row: (-row["rewrote"], -row["coverage"], row["site"], row["id"]))[:_MOST]


def _row(site: str, rule: Rule) -> dict[str, Any]:
    evidence = rule.evidence
    return {
        **rule_row(site, rule),
        "wrong": evidence.wrong,
        "collisions": evidence.collisions,
        "support": evidence.support,
        "tried": rule.tried,
        "failed": rule.failed,
        "learned": str(rule.learned) if rule.learned else "",
        "note": rule.note,
        "examples": rule.examples[:_EXAMPLES],
    }
