"""`dedupcrawl explain`: why a URL was rewritten, and why its page was dropped or kept."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import click
import msgspec

from dedupcrawl.aliases.sources import DUPLICATE
from dedupcrawl.commands.console import Command, not_a_url, show
from dedupcrawl.commands.explained import Explainer
from dedupcrawl.commands.options import index_option, json_option, log_of, open_existing, rules_option
from dedupcrawl.commands.selection import forms_of
from dedupcrawl.commands.why import becomes, by_rules, in_words
from dedupcrawl.content.bodies import in_words as body_in_words
from dedupcrawl.content.evidence import in_words as evidence_in_words
from dedupcrawl.printable import counted, moment
from dedupcrawl.software.installation import in_words as software_in_words
from dedupcrawl.urls.rule import in_trials, speaks_for

# Facts that are told of the URL itself, even if it redirects.
_OF_URL = ("rewrite", "kind", "canonical", "in_crawls", "rules", "rule_evidence", "refuted", "software")


@click.command(cls=Command)
@click.argument("url")
@index_option
@rules_option
@json_option
def command(url: str, index: str | None, rules: Path, as_json: bool) -> None:
    """Explain why URL was rewritten, or why its page was dropped or kept, with the evidence.

    The command looks for URL as given (for a bare host, first with a slash), without its fragment, as Scrapy escapes
    it, and with its host in lower case; then in the crawl log beside the index, which has redirects and errors. It
    shows the rules that rewrote the URL and their evidence, the page that its page duplicates, and what differs: with
    both texts side by side if DEDUP_KEEP_TEXT kept them. If the items of the page were judged one by one, it shows the
    verdict on each item that is named by its position (URL#1, URL#2, …).

    \b
    dedupcrawl explain https://example.com/print/42
    dedupcrawl explain https://example.com/42 --index lmdb:/data/dedup/index
    """
    forms, log = forms_of(url), log_of(index)
    with open_existing(index) as opened:
        explainer = Explainer(rules, opened)
        facts = explainer.told(forms or [url])
        if facts["verdict"] is None and facts["kept"] is None and facts["items"] is None:
            if not forms:
                raise not_a_url(url)
            requested = [facts["rewrite"]["canonical"]] if facts["rewrite"] else []
            logged = logged_answer(log, [*forms, *requested])
            if logged is not None:
                if logged.redirect_to:
                    of_url = {name: facts[name] for name in _OF_URL}
                    facts |= explainer.told([logged.redirect_to]) | of_url | {"redirect_to": logged.redirect_to}
                facts |= {"status": logged.status, "lost": logged.lost or None}
                if logged.abstained:
                    facts["abstained"] = body_in_words(logged.abstained, logged.mime, logged.bytes)
        elif facts["went_itself"]:
            sent_to = logged_answer(log, [facts["rewrite"]["canonical"]])
            facts["canonical_status"] = sent_to.status if sent_to is not None else None
    facts = {"url": url} | facts
    show(facts, lines(facts), as_json=as_json)


_LISTED = 10  # most pages of a list that are shown; --json shows all
_OF_DOUBT = ("url", "check", "similarity")
_SAYS = {"duplicate": "its page was a duplicate of that one", "redirect": "it redirected there"}


def lines(facts: dict[str, Any]) -> list[str]:
    """The lines that describe the facts from `dedupcrawl.commands.explained`: the URL first, then its page."""
    return [facts["url"], *(f"  {line}" for line in (*_of_url(facts), *_of_page(facts)))]


def _of_url(facts: dict[str, Any]) -> Iterator[str]:
    if facts["redirect_to"]:
        yield f"redirects to {facts['redirect_to']}"
    elif facts["found_as"] != facts["url"]:
        yield f"{'found as' if _is_known(facts) else 'looked up as'} {facts['found_as']}"
    rewrite = facts["rewrite"]
    if rewrite is not None:
        yield (f"was asked for as {rewrite['canonical']} on {moment(rewrite['at'])}, {by_rules(rewrite['rules'])}")
    if facts["went_itself"]:
        yield _why_itself(facts)
    if facts["kind"] != "unchanged" and (rewrite is None or rewrite["canonical"] != facts["canonical"]):
        when = "was fetched as it is; by today's rules it " if rewrite is None and _was_fetched(facts) else ""
        yield f"{when}{becomes(facts)}"
    elif facts["kind"] == "unchanged" and facts["in_crawls"] is None:
        yield "no rule changes this URL" + (" any more" if rewrite is not None else "")
    if facts["in_crawls"] is not None:
        yield in_words(facts["in_crawls"])
    if facts["alias"] is not None:
        yield from _of_alias(facts["alias"], facts["verdict"])
    for rule in facts["rule_evidence"]:
        yield f"  rule {rule['id']}: {_known_of(rule)}"
    for software in facts["software"]:
        yield from _of_software(software)


def _known_of(rule: dict[str, Any]) -> str:
    if "state" in rule:
        return speaks_for(rule)
    if not rule.get("likely"):
        return "no rule file has it"
    trials = in_trials(rule["tried"], rule["failed"]) if rule["tried"] else "not tried yet"
    return f"likely, because pairs of URLs of the site differ by it; {trials}"


def _why_itself(facts: dict[str, Any]) -> str:
    status = facts["canonical_status"]
    if status is not None and status >= 400:
        return f"fell back: that was answered with status {status}, so this URL itself was fetched"
    whys = [f"{name} was refuted on this site ({why})" for name, why in facts["refuted"].items()]
    others = "to try the rule, because it fell back, or because there was no rule yet"
    return f"was fetched itself, too: {'; '.join(whys) or others}"


def _of_software(software: dict[str, Any]) -> Iterator[str]:
    yield software_in_words(software)
    for name, (tried, failed) in software["tried"].items():
        if tried and name not in software["failed"]:
            yield f"  rule {name}: {in_trials(tried, failed)}"
    for name, why in software["failed"].items():
        yield f"  rule {name} is not used: {why}"


def _of_alias(alias: dict[str, Any], verdict: dict[str, Any] | None) -> Iterator[str]:
    if not alias["target"]:
        yield "two pages claim this URL as an alias of theirs, so neither is believed"
        return
    is_used = not alias["refuted"] and not alias["unused"]
    are = "is" if alias["links"] == 1 else "are"
    links = f"; {counted(alias['links'], 'link')} that only its page had {are} still followed" if alias["links"] else ""
    run = f" in run {alias['run']}" if alias["run"] else ""
    says = _SAYS.get(alias["source"], f"named by pages ({alias['source']})")
    if alias["source"] == DUPLICATE and verdict is not None and verdict["duplicate_of"] not in (None, alias["target"]):
        says = "its page had the same text, to the letter, as that one, which was dropped as well"
    when = f"{moment(alias['at'])}{run}{links if is_used else ''}"
    yield f"{'is' if is_used else 'is not used as'} an alias of {alias['target']}: {says}, {when}"
    if alias["unused"]:
        yield f"  for {alias['unused']}"
    if alias["tried"]:
        yield f"  {alias['source']}: tried {counted(alias['tried'], 'time')}, {alias['failed']:,} failed"
    if alias["refuted"]:
        yield f"  {alias['source']} is no longer used on this site: {alias['refuted']}"


def _of_page(facts: dict[str, Any]) -> Iterator[str]:  # noqa: PLR0912, PLR0915 - a sentence each
    verdict, kept, keeper = facts["verdict"], facts["kept"], facts["keeper"]
    if verdict is not None and not _names_another(verdict):  # the page was dropped once and is kept now
        verdict = None
    if verdict is not None and verdict["duplicate_of"] is None:
        doubt = verdict["evidence"]["in_doubt"]
        url, check, similarity = (doubt.get(name) for name in _OF_DOUBT)
        yield f"its page was kept in doubt: it resembles {url}, by {check}, similarity {similarity}"
        evidence = {name: value for name, value in doubt.items() if name not in _OF_DOUBT}
        yield from (f"  {line}" for line in evidence_in_words(evidence))
    elif verdict is not None and verdict["duplicate_of"] == verdict["url"]:
        verdict = None
        yield "its page was fetched twice in one crawl: kept the first time, dropped the second"
    elif verdict is not None:
        yield f"its page {_is_duplicate(verdict)}"
        yield from (f"  which is no longer kept: {url}" for url in facts["chain"])
        if keeper is not None:
            yield f"  that page: {_described(keeper)}"
            if not keeper["stored"]:
                yield "  whose item is not stored yet: if it never is, this page is fetched again"
        if (larger := facts["keeper_superseded_by"]) is not None:
            is_this = larger in (verdict["url"], kept and kept["url"])
            yield f"  which {'this page has replaced' if is_this else f'a later page has replaced: {larger}'}"
        yield from (f"  {line}" for line in evidence_in_words(verdict["evidence"]))
    if facts["side_by_side"] is None and verdict is not None and verdict["check"] != "exact":
        yield "their texts were not kept, so they cannot be shown: DEDUP_KEEP_TEXT = True keeps those of later crawls"
    elif facts["side_by_side"] is not None:
        yield "side by side, the page (-) and the kept one (+):"
        for stretch in facts["side_by_side"]:
            yield from _stretch(stretch)
    if kept is not None:
        is_said = verdict is not None and verdict["duplicate_of"] is None  # for it was kept in doubt
        yield f"{'  this page' if is_said else 'its page was kept'}: {_described(kept)}"
        if not kept["stored"]:
            yield "  its item is not stored yet: if it never is, the page is forgotten, and fetched again if necessary"
        if count := kept["template_blocks"]:
            yield f"  {count} of its {counted(kept['blocks'], 'paragraph')} recur{'s' * (count == 1)} on its site"
    for url in facts["listed_by"]:
        yield f"  {url} holds its text and links to it, as lists do"
    if facts["lists"]:
        more = len(facts["lists"]) - _LISTED
        yield (
            f"  it holds the text of kept pages and links to them, as lists do: {', '.join(facts['lists'][:_LISTED])}"
            + (f", … and {counted(more, 'more page')}" if more > 0 else "")
        )
    if facts["superseded_by"] is not None:
        yield f"  a later page has replaced it: {facts['superseded_by']}"
    if facts["restored"]:
        yield "its verdict was withdrawn by 'index restore': it is never dropped as a duplicate again"
    if facts["to_be_fetched"]:
        yield (
            "is to be fetched again at the next start of its spider: 'index restore' asked for it, or the page that "
            "stood for it was lost"
        )
    if facts["items"] is not None:
        yield from _of_items(facts["items"])
    if not _is_known(facts) and not facts["restored"]:
        yield "the index knows no page of this URL" + _in_the_log(facts)
        if facts["status"] is None:
            yield (
                "if it was never requested, Scrapy's log says why (offsite, robots.txt, depth, or no link to it); "
                "--index names the index of another crawl, and 'index info' shows what this one holds"
            )


def _of_items(items: dict[str, Any]) -> Iterator[str]:
    yield (
        f"its items were judged one by one, each known by its position on the page: "
        f"{counted(items['count'], 'item')}, {counted(items['duplicates'], 'duplicate')}"
    )
    for item in items["told"]:
        yield f"  {item['url']} {_became_of(item)}"
    if more := items["count"] - len(items["told"]):
        yield f"  … and {counted(more, 'more item')}"


def _names_another(verdict: dict[str, Any]) -> bool:
    """Whether a verdict names another page: it is "duplicate", or "unique" in doubt."""
    return verdict["duplicate_of"] is not None or isinstance(verdict["evidence"].get("in_doubt"), dict)


def _became_of(item: dict[str, Any]) -> str:
    verdict = item["verdict"]
    if verdict is None:
        return "was kept" if item["kept"] else "was given back by 'index restore'"
    if not _names_another(verdict):
        return "was kept"
    return _is_duplicate(verdict) if verdict["duplicate_of"] is not None else "was kept in doubt"


def _is_duplicate(verdict: dict[str, Any]) -> str:
    by = f"by {verdict['check']}, similarity {verdict['similarity']} of their signatures"
    return f"is a duplicate of {verdict['duplicate_of']}, {by}"


def _stretch(stretch: dict[str, Any]) -> Iterator[str]:
    if "same" in stretch:
        yield f"    … {counted(stretch['same'], 'symbol')} alike …"
        return
    for sign, side in (("-", "new"), ("+", "kept")):
        if stretch[side]:
            yield f"  {sign} {stretch[side]}"


def _was_fetched(facts: dict[str, Any]) -> bool:
    """Whether the page is known to come from exactly this URL, without a rule."""
    return any(facts[name] is not None and facts[name]["url"] == facts["found_as"] for name in ("verdict", "kept"))


def _is_known(facts: dict[str, Any]) -> bool:
    return any(facts[name] is not None for name in ("verdict", "kept", "items"))


def _in_the_log(facts: dict[str, Any]) -> str:
    if facts["status"] is None:
        return ", and the crawl log beside it, if there is one, has no answer from it"
    if facts["abstained"] is not None:
        return f": it was fetched, but no check could compare it: {facts['abstained']}"
    if facts["lost"] is not None:
        how = "dropped" if facts["lost"] == "dropped" else "lost by an error"
        return f": its page was kept until a later pipeline {how} what was made of it; then it was forgotten"
    if facts["status"] == 200:
        return (
            ": it was fetched, but no item was made of it, or no check had enough text to compare, "
            "or its items have URLs of their own (DEDUP_ITEM_FIELDS): explain those"
        )
    return "" if facts["redirect_to"] else f": it was answered with status {facts['status']}"


def _described(kept: dict[str, Any]) -> str:
    by = f" by spider {kept['spider']}" if kept["spider"] else ""
    run = f" in run {kept['run']}" if kept["run"] else ""
    checks = ", ".join(kept["checks"])
    return f"“{kept['title']}”, kept {moment(kept['kept_at'])}{by}{run}, with signatures for {checks}"


class LoggedAnswer(msgspec.Struct, frozen=True):
    """A row of the crawl log."""

    url: str  # the requested URL
    status: int = 0  # HTTP status
    redirect_to: str = ""  # the final target of a redirect
    mime: str = ""
    bytes: int = 0
    abstained: str = ""  # the kind of body, if it has too little text to be compared
    lost: str = ""  # how a later pipeline lost the page's items


def logged_answer(log: Path, urls: Sequence[str]) -> LoggedAnswer | None:
    """The newest row with an answer from any of `urls`; None if there is none, or no such log."""
    if not log.is_file():
        return None
    needles = [b'"url":' + msgspec.json.encode(url) for url in urls if url.isprintable()]
    answer = None
    with log.open("rb") as file:
        for line in file:
            if any(needle in line for needle in needles):
                try:
                    row = msgspec.json.decode(line, type=LoggedAnswer)
                except msgspec.DecodeError:  # cut off when a process was killed
                    continue
                answer = row if row.url in urls and row.status else answer
    return answer
