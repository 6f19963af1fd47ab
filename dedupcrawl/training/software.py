"""Known software in training: which rules the URLs of a site's log tell of.

The learner takes them as priors: they come before all that is learned, and the site's log may refute each.
"""

from __future__ import annotations

from collections.abc import Sequence

from dedupcrawl.software.program import Program, programs
from dedupcrawl.software.recognition import Recognizer
from dedupcrawl.urls.rule import Rule

# Of a site, evenly spread. Halves of fifteen mirrors, seeds 3 and 4: the same rules as from 4,000 on all thirty, at a
# third of the time; with 500 two lose theirs.
_MOST_URLS = 1_000


def recognized_rules(site: str, urls: Sequence[str], known: Sequence[Program] | None = None) -> tuple[Rule, ...]:
    """The rules of the software that some of the URLs of a site's log tell; of the package's programs if None."""
    recognizer = Recognizer(programs() if known is None else known)
    for url in urls[:: -(-len(urls) // _MOST_URLS) or 1]:
        recognizer.see_url(url)
    return recognizer.rules_of(site)
