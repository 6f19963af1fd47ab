"""What a crawl makes of a URL by rules that are doubted: it tries them, and `normalize` leaves them."""

from __future__ import annotations

from typing import Any

from dedupcrawl.printable import printable
from dedupcrawl.urls.normalizer import SiteNormalizer
from dedupcrawl.urls.rule import rule_facts, speaks_for
from dedupcrawl.urls.rule_files import SiteRules


def in_crawls(rules: SiteRules, url: str) -> dict[str, Any] | None:
    """What a crawl makes of a URL, as JSON values, with what there is for and against the rules that it tries.

    None where `normalize` makes the same of it.
    """
    done, tried = (SiteNormalizer(used).normalize(url) for used in (rules, rules.on_trial()))
    if (done.canonical, done.kind) == (tried.canonical, tried.kind):
        return None
    doubted = [rule for rule in rules.rules if rule.state == "doubted" and rule.id in tried.rules]
    return {
        "canonical": tried.canonical,
        "kind": tried.kind,
        "rules": list(tried.rules),
        "doubted": [rule_facts(rules.site, rule) for rule in doubted],
    }


def becomes(told: dict[str, Any]) -> str:
    """What rules make of a URL, in a line that its name stands before."""
    how = "is asked for as" if told["kind"] == "rewrite" else "is the same page as every URL with the identity"
    return f"{how} {printable(told['canonical'])}, by rule {printable(', '.join(told['rules']))}"


def in_words(told: dict[str, Any]) -> str:
    """As `becomes`, of `in_crawls`."""
    how = "is asked for as it is" if told["kind"] == "unchanged" else becomes(told)
    return f"{how} (in crawls, which try doubted rules)"


def of_doubted(told: dict[str, Any]) -> list[str]:
    """A line for each rule that is tried."""
    return [f"rule {printable(rule['id'])}: {speaks_for(rule)}" for rule in told["doubted"]]
