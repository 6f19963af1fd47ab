"""Collect what is known about a URL, from its rules to the verdict on its page, as JSON values."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import count
from pathlib import Path
from typing import Any

from dedupcrawl.aliases.alias import NAME as ALIAS
from dedupcrawl.aliases.alias import RULE, SAID, Alias
from dedupcrawl.aliases.sources import DUPLICATE
from dedupcrawl.commands.why import in_crawls
from dedupcrawl.content.differences import stretches
from dedupcrawl.core import main_outline
from dedupcrawl.core.symbols import SymbolText
from dedupcrawl.core.url_parts import split_url
from dedupcrawl.detection.attachments import lists_of, text_of
from dedupcrawl.detection.site_templates import SiteTemplates
from dedupcrawl.index.contract import Index, standing_for
from dedupcrawl.index.ledger import premise_of
from dedupcrawl.index.record import Entry
from dedupcrawl.page import item_url
from dedupcrawl.sites import host_of, owner_of, site_of
from dedupcrawl.software.installation import NAME, SiteSoftware
from dedupcrawl.urls.compiled_rule import compiled
from dedupcrawl.urls.credits import NAME as CREDITS
from dedupcrawl.urls.credits import Credit, Credits
from dedupcrawl.urls.normalizer import Normalizer
from dedupcrawl.urls.rule import rule_facts
from dedupcrawl.urls.rule_files import SiteRules, rule_files, rules_of
from dedupcrawl.verdict import Verdict

_KEEPERS = 10  # most keepers in a chain: the keeper of a page may since have become a duplicate itself
_DIFFERENCES = 20  # most differences shown, with as many stretches of common text between them
_CHARACTERS = 300  # most characters shown of each difference
_GAP = 100  # most unknown positions in a row: items with URLs of their own, or without text
_TOLD = 10  # most items shown


class Explainer:
    """Looks up URLs in an index and in rules (a file or folder, which may be missing)."""

    def __init__(self, rules: Path, index: Index) -> None:
        paths = [rules] if rules.exists() else []
        self._files = rule_files(paths)
        self._normalizer = Normalizer.from_paths(paths)
        self._index = index

    def told(self, forms: Sequence[str]) -> dict[str, Any]:
        """The facts about the first of `forms` that the index knows, else about the first one.

        If no page of these was judged, a form whose items were judged takes precedence.
        """
        for form in forms:
            for existing in self._known_as(form):
                verdict, entry = self._index.verdict(existing), self._index.entry(existing)
                if verdict is not None and entry is not None and entry.source != existing:
                    # These are two pages: the one kept under this URL is a variant of the one that was judged there.
                    verdict, entry = (None, entry) if form == entry.source else (verdict, None)
                if verdict is not None or entry is not None:
                    return self._facts(form, verdict, entry)
        return self._facts(next(filter(self._items, forms), forms[0]), None, None)

    def _known_as(self, form: str) -> list[str]:
        rewrite = self._index.rewrite(form)
        sent_to = (rewrite.canonical,) if rewrite else ()
        return list(dict.fromkeys((form, *sent_to, self._normalizer.identity(form))))

    def _items(self, form: str) -> dict[str, Any] | None:
        """The verdicts on the items of the first page that is known under this form and has any; else None.

        They are looked up by their positions on the page, from 1 on, so a large index takes no longer.
        """
        for page in self._known_as(form):
            items: list[dict[str, Any]] = []
            kept = duplicates = 0
            for item in self._items_of(page):
                kept += 1
                duplicates += item["verdict"] is not None and item["verdict"]["duplicate_of"] is not None
                if kept <= _TOLD:
                    items.append(item)
            if items:
                return {"count": kept, "duplicates": duplicates, "told": items}
        return None

    def _items_of(self, page: str) -> Iterator[dict[str, Any]]:
        last = 0
        for number in count(1):
            if number - last > _GAP:
                return
            url = item_url(page, number)
            verdict, is_kept = self._index.verdict(url), self._entry_of(url) is not None
            is_restored = self._index.is_restored(url)
            if verdict is not None or is_kept or is_restored:
                last = number
                judged = verdict.to_dict() if verdict is not None else None
                yield {"url": url, "verdict": judged, "kept": is_kept, "restored": is_restored}

    def _facts(self, form: str, verdict: Verdict | None, entry: Entry | None) -> dict[str, Any]:
        asked_for = form.partition("#")[0]  # for an item, the URL of its page
        normalized, rewrite = self._normalizer.normalize(asked_for), self._index.rewrite(form)
        rules = rules_of(self._files, site_of(form)) or SiteRules(site_of(form), ())
        tried = in_crawls(rules, asked_for)
        parts = split_url(asked_for)
        off = [
            one.id
            for one in rules.rules
            if one.state == "disabled" and parts and compiled(one).apply(parts, rules.site)
        ]
        ids = [*normalized.rules, *(rewrite.rules if rewrite else ()), *(tried["rules"] if tried else ()), *off]
        evidence = {rule.id: rule_facts(rules.site, rule) for rule in rules.rules if rule.id in ids}
        kept_url = entry.source if entry is not None else None
        software = SiteSoftware.from_bytes(self._index.site_state(site_of(form), NAME))
        known = Credits.from_bytes(self._index.site_state(owner_of(form), CREDITS))
        for name in software.likely.difference(evidence).intersection(ids):
            record = known.of.get(name, Credit())
            evidence[name] = {"id": name, "likely": True, "tried": record.tried, "failed": record.failed}
        spiders = {row.spider for row in self._index.restored() if row.verdict.url == form}
        recorded = self._index.judged(form)
        spiders |= {one.spider for one in (rewrite, recorded, entry) if one is not None}
        keeper, chain = self._keeper(verdict)
        return {
            "found_as": form,
            "canonical": normalized.canonical,
            "kind": normalized.kind,
            "rules": list(normalized.rules),
            "rewrite": _part(rewrite, "canonical", "rules", "spider", "run", "at") if rewrite is not None else None,
            "in_crawls": tried,
            "rule_evidence": [
                evidence.get(name, {"id": name}) for name in dict.fromkeys(ids) if not name.startswith(RULE)
            ],
            "refuted": {name: why for name, why in known.refuted.items() if name in ids},
            "software": software.told(lambda owner: known, form),
            "alias": self._alias(form, known),
            "verdict": verdict.to_dict() if verdict is not None else None,
            "chain": chain,
            "kept": self._kept(entry),
            "keeper": self._kept(keeper),
            "superseded_by": standing_for(self._index, entry.url) if entry is not None else None,
            **self._lists(kept_url),
            "keeper_superseded_by": standing_for(self._index, keeper.url) if keeper is not None else None,
            "restored": any(self._index.is_restored(url) for url in (form, kept_url) if url),
            "to_be_fetched": any(one.url == form for spider in spiders for one in self._index.due(spider)),
            "items": self._items(form),
            "side_by_side": self._side_by_side(verdict),
            "redirect_to": None,
            "status": None,
            "abstained": None,
            "lost": None,
            "went_itself": rewrite is not None and form in (verdict.url if verdict else None, kept_url),
            "canonical_status": None,
        }

    def _keeper(self, verdict: Verdict | None) -> tuple[Entry | None, list[str]]:
        """The kept page at the end of a chain of duplicates, and the URLs of the pages between, which are not kept."""
        chain: list[str] = []
        while verdict is not None and verdict.duplicate_of is not None and len(chain) < _KEEPERS:
            url = verdict.duplicate_of
            if (entry := self._entry_of(url)) is not None:
                return entry, chain
            if url in chain:
                break
            chain.append(url)
            verdict = self._index.verdict(url)
        return None, chain

    def _entry_of(self, url: str) -> Entry | None:
        """The kept page that was fetched from exactly this URL, or None."""
        return self._index.page_at(url, self._normalizer.identity(url))

    def _kept(self, entry: Entry | None) -> dict[str, Any] | None:
        if entry is None:
            return None
        host = host_of(entry.source)
        outline = main_outline.read(entry.outline, self._index.secret)
        recurring = SiteTemplates(self._index).of(host).recurring(outline.hashes)
        of_page = {"url": entry.source, **_part(entry, "title", "spider", "run", "kept_at")}
        blocks = {"blocks": len(recurring), "template_blocks": sum(recurring)}
        is_stored = not self._index.is_open(premise_of(entry))
        return {**of_page, "checks": sorted(entry.signatures), **blocks, "stored": is_stored}

    def _lists(self, url: str | None) -> dict[str, list[str]]:
        """The kept pages that the page at `url` lists, and the kept page that lists it, by their URLs."""
        lists = lists_of(self._index.attachments(url) if url else {})
        return {key: [other for other in urls if self._entry_of(other) is not None] for key, urls in lists.items()}

    def _alias(self, form: str, trials: Credits) -> dict[str, Any] | None:
        """The alias of exactly this URL, the trials of its source, and why it is not used, if it is not."""
        alias = Alias.from_bytes(self._index.attachments(form, ALIAS).get(ALIAS))
        if alias is None:
            return None
        unused = ""
        if not alias.was_found_out and self._entry_of(form) is not None:
            unused = "the page of this URL was kept"
        elif any(map(self._index.is_restored, (form, alias.target))):
            unused = "'index restore' gave it back"
        elif alias.source == DUPLICATE and self._entry_of(alias.target) is None:
            unused = "" if self._index.attachments(alias.target, SAID) else "that page is no longer kept"
        record = trials.of.get(alias.rule, Credit())
        values = {**_part(alias, "target", "source", "run", "at"), "links": len(alias.links)}
        return {
            **values,
            **_part(record, "tried", "failed"),
            "refuted": trials.refuted.get(alias.rule),
            "unused": unused,
        }

    def _side_by_side(self, verdict: Verdict | None) -> list[dict[str, Any]] | None:
        """The texts of a page and its keeper as equal and differing stretches; None if one of them was not kept."""
        if verdict is None:
            return None
        other = verdict.duplicate_of or str((verdict.doubt or {}).get("url", ""))
        new, kept = (text_of(self._index.attachments(url)) for url in (verdict.url, other))
        if new is None or kept is None:
            return None
        differing = stretches(SymbolText.of(tuple(new)), SymbolText.of(tuple(kept)))[: 2 * _DIFFERENCES]
        return [
            {"same": one.same} if one.same else {"new": one.new[:_CHARACTERS], "kept": one.kept[:_CHARACTERS]}
            for one in differing
        ]


def _part(of: object, *names: str) -> dict[str, Any]:
    return {name: getattr(of, name) for name in names}
