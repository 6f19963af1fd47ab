"""`dedupcrawl explain`: why a URL was rewritten, and why its page was dropped or kept."""

from __future__ import annotations

from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import click
import msgspec

from dedupcrawl.commands.errors import BadInputError
from dedupcrawl.commands.open_existing import DEFAULT_INDEX_HELP, open_existing
from dedupcrawl.commands.terminal import printable
from dedupcrawl.urls.normalizer import Normalizer
from dedupcrawl.urls.rule import RuleError


@click.command()
@click.argument("url")
@click.option("--index", help=DEFAULT_INDEX_HELP)
@click.option("--rules", default="rules", show_default=True, type=click.Path(path_type=Path), help="Rule files.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def command(url: str, index: str | None, rules: Path, as_json: bool) -> None:
    """Why URL was rewritten, or its page dropped or kept, with the evidence.

    \b
    dedupcrawl explain https://example.com/print/42
    dedupcrawl explain https://example.com/42 --index lmdb:/data/dedup/index
    """
    try:
        normalizer = Normalizer.from_paths([rules] if rules.exists() else [])
    except RuleError as error:
        raise BadInputError(str(error)) from error
    normalized = normalizer.normalize(url)
    with open_existing(index) as opened:
        verdict = opened.verdict(url) or opened.verdict(normalized.canonical)
        entry = opened.entry(url) or opened.entry(normalized.canonical)
        keeper = opened.entry(verdict.duplicate_of) if verdict is not None and verdict.duplicate_of else None
    told: dict[str, Any] = {
        "url": url,
        "canonical": normalized.canonical,
        "kind": normalized.kind,
        "rules": list(normalized.rules),
        "verdict": verdict.to_dict() if verdict is not None else None,
        "kept": _kept(entry),
        "keeper": _kept(keeper),
    }
    if as_json:
        click.echo(msgspec.json.encode(told))
    else:
        click.echo("\n".join(_lines(told)))


def _kept(entry: Any) -> dict[str, Any] | None:
    if entry is None:
        return None
    return {
        "url": entry.source,
        "title": entry.title,
        "spider": entry.spider,
        "run": entry.run,
        "kept_at": entry.kept_at,
        "checks": sorted(entry.signatures),
    }


def _lines(told: dict[str, Any]) -> list[str]:
    lines = [printable(told["url"])]
    if told["kind"] == "unchanged":
        lines.append("  no rule changes this URL")
    else:
        how = "is asked for as" if told["kind"] == "rewrite" else "is the same page as every URL with the identity"
        lines.append(f"  {how} {printable(told['canonical'])}, by rule {printable(', '.join(told['rules']))}")
    verdict, kept, keeper = told["verdict"], told["kept"], told["keeper"]
    if verdict is not None:
        lines.append(
            f"  its page is a duplicate of {printable(verdict['duplicate_of'])}, "
            f"by {verdict['check']}, similarity {verdict['similarity']}"
        )
        if keeper is not None:
            lines.append(f"    that page: {_described(keeper)}")
        lines.extend(f"    {printable(name)}: {printable(str(value))}" for name, value in verdict["evidence"].items())
    if kept is not None:
        lines.append(f"  its page was kept: {_described(kept)}")
    if verdict is None and kept is None:
        lines.append("  the index knows no page of this URL")
    return lines


def _described(kept: dict[str, Any]) -> str:
    day = datetime.fromtimestamp(kept["kept_at"], tz=timezone.utc).strftime("%Y-%m-%d %H:%M UTC")
    by = f" by spider {printable(kept['spider'])}" if kept["spider"] else ""
    return f"“{printable(kept['title'])}”, kept {day}{by}, known to {', '.join(kept['checks'])}"
