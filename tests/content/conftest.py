"""No deadlines for hypothesis: the first example of a test may be the one that builds a table."""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("without deadline", deadline=None)
settings.load_profile("without deadline")
