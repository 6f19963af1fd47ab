"""One page against what is kept: what a detector answers when an index asks about its candidates."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from dedupcrawl.content import evidence
from dedupcrawl.content.asides import says_more
from dedupcrawl.content.checks.base import Check
from dedupcrawl.content.headlines import are_of_others, headlines
from dedupcrawl.content.probability import DOUBTED_PRECISION, threshold
from dedupcrawl.content.site_template import SiteTemplate
from dedupcrawl.detection.analysis import Reading
from dedupcrawl.detection.trust import Trust
from dedupcrawl.index.rows import Entry
from dedupcrawl.sites import host_of, site_of
from dedupcrawl.verdict import Verdict


class UnknownHostError(Exception):
    """The template of a kept page's host is needed, and the index, which has it, must not be asked meanwhile."""

    def __init__(self, host: str) -> None:
        super().__init__(host)
        self.host = host


class Comparison:
    """`judge`, `holds` and `counts` are those of Index.offer; `judge` and `holds` may raise UnknownHostError.

    Args:
        entry: The new page.
        reading: How it is read.
        checks: The checks that are asked, with their thresholds.
        templates: Host → what its pages repeat, of the new page's host and of others as they are needed.
        scope: What to compare with: the pages of this "run", "spider" or "site", or "all".
        ttl: Seconds after which a kept page is no reason to drop others; None: never.
        trust: Whose pages may be the reason to drop pages of others.
        target_precision: Share of the drops that shall be right; 0: the checks decide, and nothing is said in doubt.
        apart: URLs of kept pages that are no reason to drop this one.

    Attributes:
        url: The new page's own.
        keeper: The URL of the page that `judge` was last asked about.
        doubt: What resembles the new page most without being sure enough; empty when nothing does.
    """

    def __init__(
        self,
        entry: Entry,
        reading: Reading,
        checks: Sequence[Check],
        templates: Mapping[str, SiteTemplate],
        *,
        scope: str,
        ttl: float | None,
        trust: Trust,
        target_precision: float,
        apart: Collection[str] = (),
    ) -> None:
        self.url = entry.source
        self.keeper = ""
        self.doubt: dict[str, Any] = {}
        self._probability_of_doubt = 0.0
        self._entry = entry
        self._reading = reading
        self._checks = {check.name: check for check in checks}
        self._templates = templates
        self._template = templates[host_of(self.url)]
        self._scope = scope
        self._oldest = -math.inf if ttl is None else entry.kept_at - ttl
        self._trust = trust
        self._apart = apart
        self._checks_decide = not target_precision
        self._least = threshold(target_precision)
        self._doubted = min(self._least, threshold(DOUBTED_PRECISION))
        self._compared: dict[str, evidence.Evidence | None] = {}
        self._page_asides = reading.analysis.page.asides
        self._headlines: list[frozenset[int]] | None = None  # made when they are needed

    def judge(self, check: str, kept: Entry) -> Verdict | None:
        """The verdict when the page duplicates `kept`, else None."""
        self.keeper = kept.url
        if check not in self._checks:
            return None
        similarity = self._checks[check].compare(self._entry.signatures[check], kept.signatures[check])
        if similarity is None:
            return None
        if self._checks_decide and check != "exact":
            seen = evidence.confirm(self._entry.outline, kept.outline, self._template, self._template_of(kept))
            said = seen.to_dict(self._reading.analysis.text)
            return Verdict(self.url, "duplicate", kept.source, check, similarity, said)
        if not self._checks_decide and self._is_another_of_its_site(kept):
            return None
        if check == "exact":
            return Verdict(self.url, "duplicate", kept.source, check, similarity)
        if kept.url not in self._compared:  # several checks bring up the same page
            self._compared[kept.url] = evidence.duplicates(
                self._entry.outline, kept.outline, self._doubted, self._template, self._template_of(kept)
            )
        found = self._compared[kept.url]
        if found is None:
            return None
        if found.probability >= self._least:
            said = found.to_dict(self._reading.analysis.text)
            return Verdict(self.url, "duplicate", kept.source, check, similarity, said)
        if found.probability > self._probability_of_doubt:
            self._probability_of_doubt = found.probability
            self.doubt = {"url": kept.source, "check": check, "similarity": round(similarity, 4)}
            self.doubt |= found.to_dict(self._reading.analysis.text)
        return None

    def _is_another_of_its_site(self, kept: Entry) -> bool:
        """Whether what stands around its main text makes the page another one of the kept one's site."""
        if site_of(kept.source) != site_of(self.url):
            return False
        own = self._reading.asides if _same_frame(kept.source, self.url) else None
        if own and says_more(own, kept.asides, *self._reading.elsewhere):
            return True
        if not self._entry.title or not kept.title or self._entry.title == kept.title:
            return False
        if self._headlines is None:
            self._headlines = headlines(self._entry.title, self._page_asides)
        return are_of_others(self._headlines, kept.title, is_bare=not self._page_asides)

    def holds(self, check: str, kept: Entry) -> bool:
        """Whether the page holds all of `kept`; only what is shorter lies inside."""
        if len(kept.outline) >= len(self._entry.outline):
            return False
        template = self._template_of(kept)
        return evidence.duplicates(kept.outline, self._entry.outline, self._least, template, self._template) is not None

    def _template_of(self, kept: Entry) -> SiteTemplate:
        host = host_of(kept.source)
        try:
            return self._templates[host]
        except KeyError:
            raise UnknownHostError(host) from None

    def counts(self, check: str, kept: Entry, inside: bool) -> bool:
        """Whether `kept` is in scope, not too old, not to be left apart, and trusted when it is only alike.

        What lies inside is superseded by this page: then it is this one that has to be trusted.
        """
        if kept.kept_at < self._oldest or kept.url in self._apart or not self._in_scope(kept):
            return False
        keeper, other = (self.url, kept.source) if inside else (kept.source, self.url)
        return check == "exact" or self._trust.may_replace(keeper, other)

    def _in_scope(self, kept: Entry) -> bool:
        if self._scope == "run":
            return kept.run == self._entry.run
        if self._scope == "spider":
            return kept.spider == self._entry.spider
        return self._scope == "all" or kept.site == self._entry.site


def _same_frame(one: str, other: str) -> bool:
    """Whether what stands around the main text of two pages is of one layout, as far as their hosts tell."""
    return host_of(one).removeprefix("www.") == host_of(other).removeprefix("www.")


def no_duplicate(check: str, kept: Entry) -> None:
    """The judge of a page that is none, whatever it looks like."""
