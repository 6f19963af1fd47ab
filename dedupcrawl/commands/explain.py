"""`dedupcrawl explain`: why a URL was rewritten, and why its page was dropped or kept."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import click
import msgspec

from dedupcrawl.commands.errors import BadInputError, FailureError
from dedupcrawl.commands.logged import logged_answer
from dedupcrawl.commands.open_existing import DEFAULT_INDEX_HELP, index_folder, open_existing
from dedupcrawl.commands.terminal import printable
from dedupcrawl.commands.url_forms import forms_of
from dedupcrawl.index.contract import Entry, Index
from dedupcrawl.urls.normalizer import Normalizer
from dedupcrawl.urls.rule import RuleError
from dedupcrawl.verdict import Verdict


@click.command()
@click.argument("url")
@click.option("--index", help=DEFAULT_INDEX_HELP)
@click.option("--rules", default="rules", show_default=True, type=click.Path(path_type=Path), help="Rule files.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def command(url: str, index: str | None, rules: Path, as_json: bool) -> None:
    """Why URL was rewritten, or its page dropped or kept, with the evidence.

    URL is looked for as it is, without its fragment, as Scrapy escapes it, and with its host in lower case; then in the
    crawl log beside the index, which knows redirects and errors.

    \b
    dedupcrawl explain https://example.com/print/42
    dedupcrawl explain https://example.com/42 --index lmdb:/data/dedup/index
    """
    forms = forms_of(url)
    try:
        normalizer = Normalizer.from_paths([rules] if rules.exists() else [])
    except RuleError as error:
        raise BadInputError(str(error)) from error
    with open_existing(index) as opened:
        told = _told(forms or [url], normalizer, opened)
        if told["verdict"] is None and told["kept"] is None:
            if not forms:
                raise BadInputError(f"{printable(url)!r} is no URL: it takes one such as https://example.com/42.")
            try:
                logged = logged_answer(index_folder(index).parent / "crawl-log.jsonl", forms)
            except OSError as error:
                raise FailureError(f"{error.filename}: {error.strerror or error}") from error
            if logged is not None:
                told["status"] = logged.status
                if logged.redirect_to:
                    told |= _told([logged.redirect_to], normalizer, opened) | {"redirect_to": logged.redirect_to}
        told = {"url": url} | told
    if as_json:
        click.echo(msgspec.json.encode(told))
    else:
        click.echo("\n".join(_lines(told)))


def _told(forms: Sequence[str], normalizer: Normalizer, index: Index) -> dict[str, Any]:
    """What is known of the first of `forms` that the index knows, or else of the first one."""
    for form in forms:
        for known in dict.fromkeys((form, normalizer.normalize(form).canonical)):
            verdict, entry = index.verdict(known), index.entry(known)
            if verdict is not None or entry is not None:
                return _facts(form, normalizer, verdict, entry, index)
    return _facts(forms[0], normalizer, None, None, index)


def _facts(
    form: str, normalizer: Normalizer, verdict: Verdict | None, entry: Entry | None, index: Index
) -> dict[str, Any]:
    normalized = normalizer.normalize(form)
    keeper = index.entry(verdict.duplicate_of) if verdict is not None and verdict.duplicate_of else None
    return {
        "found_as": form,
        "canonical": normalized.canonical,
        "kind": normalized.kind,
        "rules": list(normalized.rules),
        "verdict": verdict.to_dict() if verdict is not None else None,
        "kept": _kept(entry),
        "keeper": _kept(keeper),
        "redirect_to": None,
        "status": None,
    }


def _kept(entry: Entry | None) -> dict[str, Any] | None:
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
    if told["redirect_to"]:
        lines.append(f"  redirects to {printable(told['redirect_to'])}")
    elif told["found_as"] != told["url"]:
        lines.append(
            f"  found as {printable(told['found_as'])}"
            if _is_known(told)
            else f"  taken for {printable(told['found_as'])}"
        )
    if told["kind"] == "unchanged":
        lines.append("  no rule changes this URL")
    else:
        how = "is asked for as" if told["kind"] == "rewrite" else "is the same page as every URL with the identity"
        lines.append(f"  {how} {printable(told['canonical'])}, by rule {printable(', '.join(told['rules']))}")
    verdict, kept, keeper = told["verdict"], told["kept"], told["keeper"]
    if verdict is not None and verdict["duplicate_of"] is None:  # kept in doubt
        doubt = verdict["evidence"].get("in_doubt", {})
        lines.append(f"  its page was kept in doubt: it resembles {printable(str(doubt.get('url')))}")
        lines.extend(
            f"    {printable(name)}: {printable(str(value))}" for name, value in doubt.items() if name != "url"
        )
    elif verdict is not None:
        lines.append(
            f"  its page is a duplicate of {printable(verdict['duplicate_of'])}, "
            f"by {verdict['check']}, similarity {verdict['similarity']}"
        )
        if keeper is not None:
            lines.append(f"    that page: {_described(keeper)}")
        lines.extend(f"    {printable(name)}: {printable(str(value))}" for name, value in verdict["evidence"].items())
    if kept is not None:
        lines.append(f"  its page was kept: {_described(kept)}")
    if not _is_known(told):
        lines.append("  the index knows no page of this URL" + _in_the_log(told))
    return lines


def _is_known(told: dict[str, Any]) -> bool:
    return told["verdict"] is not None or told["kept"] is not None


def _in_the_log(told: dict[str, Any]) -> str:
    if told["status"] is None:
        return ", and the crawl log beside it, if there is one, has no answer from it"
    if told["status"] == 200:
        return ": it was fetched, but no item was made of it, or no check had enough text to compare"
    return "" if told["redirect_to"] else f": it was answered with status {told['status']}"


def _described(kept: dict[str, Any]) -> str:
    day = datetime.fromtimestamp(kept["kept_at"], tz=timezone.utc).strftime("%Y-%m-%d %H:%M UTC")
    by = f" by spider {printable(kept['spider'])}" if kept["spider"] else ""
    return f"“{printable(kept['title'])}”, kept {day}{by}, known to {', '.join(kept['checks'])}"
