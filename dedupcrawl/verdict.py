"""The verdict on a page: which page it duplicates, by which check, how similar they are, and the evidence."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

Outcome = Literal["unique", "duplicate", "abstained"]

SURE = 0.97
"""Probability from which later crawls do not fetch a duplicate's URL again, if the main texts differ.

Of the verdicts on nine archives, if the main texts differ, 193 of 195 from .97 on were on the same text or nearly the
same by its SimHash, 244 of 269 from .95 to .97, and 565 of 628 from .9 to .95; on four live sites there were none from
.97 on, 6 of 6, and 25 of 85 (no command prints it). If the main texts are identical, the verdict is sure at any
probability: by an earlier fit, on four archives, 295 of 296 such verdicts below .98 were right, of others 280 of 406.
"""


class Verdict(msgspec.Struct, frozen=True):
    """The verdict on one page. `to_dict` is the row that `dedupcrawl check` prints.

    Attributes:
        url: The judged page.
        verdict: "abstained" if no check had enough text, or the site's quota is used up; such a page is never dropped.
        duplicate_of: URL of the keeper of a duplicate, else None.
        check: Name of the check that found it, else None.
        similarity: That check's own measure in [0, 1], else None.
        evidence: What the two pages have in common and what differs; JSON values only.
    """

    url: str
    verdict: Outcome
    duplicate_of: str | None = None
    check: str | None = None
    similarity: float | None = None
    evidence: dict[str, Any] = {}

    @property
    def is_sure(self) -> bool:
        """True for a duplicate that is certain enough for crawls to skip its URL and for training to learn from."""
        return self.is_duplicate and (self.check == "exact" or self.evidence.get("probability", 0.0) >= SURE)

    @property
    def doubt(self) -> dict[str, Any] | None:
        """The evidence that a kept page may be a duplicate; None if there is no doubt."""
        doubt = self.evidence.get("in_doubt")
        return doubt if isinstance(doubt, dict) else None  # an index may hold what another version wrote

    @property
    def was_judged_again(self) -> bool:
        """True if the page was stored before its site's template was known, and was found to be a duplicate later."""
        return "judged_again" in self.evidence

    @property
    def is_duplicate(self) -> bool:
        """True when the page may be dropped."""
        return self.verdict == "duplicate"

    def to_dict(self) -> dict[str, Any]:
        """The verdict as one JSON object, with the similarity rounded to four places."""
        similarity = None if self.similarity is None else round(self.similarity, 4)
        return msgspec.structs.asdict(self) | {"similarity": similarity}
