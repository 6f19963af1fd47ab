"""Known software in training: which rules the URLs of a site's log tell of.

The learner takes them as priors: they come before all that is learned, and the site's log may refute each.
"""

from __future__ import annotations

from collections.abc import Sequence

from dedupcrawl.software.program import programs
from dedupcrawl.software.recognition import Recognizer
from dedupcrawl.urls.rule import Rule


def recognized_rules(site: str, urls: Sequence[str]) -> tuple[Rule, ...]:
    """The rules of the software that the URLs of a site's log tell."""
    recognizer = Recognizer(programs())
    for url in urls:
        recognizer.see_url(url)
    return recognizer.rules_of(site)
