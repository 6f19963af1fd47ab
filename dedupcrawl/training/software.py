"""Known software in training: which rules the URLs of a site's log tell of.

The learner takes them as priors: they come before all that is learned, and the site's log may refute each.
"""

from __future__ import annotations

from collections.abc import Sequence

from dedupcrawl.software.program import programs
from dedupcrawl.software.recognition import Recognizer
from dedupcrawl.urls.rule import Rule

_MOST_LOOKED_AT = 20_000  # URLs of a site, at equal steps: signs are of whole sites


def recognized_rules(site: str, urls: Sequence[str]) -> tuple[Rule, ...]:
    """The rules of the software that the URLs of a site's log tell."""
    recognizer = Recognizer(programs())
    for url in urls[:: len(urls) // _MOST_LOOKED_AT + 1]:
        recognizer.see_url(url)
    return recognizer.rules_of(site)
