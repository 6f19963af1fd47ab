from __future__ import annotations

import pytest

from dedupcrawl.urls.learning.learn import learn_site
from dedupcrawl.urls.normalizer import SiteNormalizer


@pytest.mark.parametrize("slash", ["", "/"])
def test_folders_that_moved_keep_their_slash(slash: str) -> None:
    words = ["anvil", "barrel", "candle", "dragon", "engine", "falcon", "garden", "hammer", "island", "jacket"]
    paths = [*words, *(f"{one}/{two}" for one, two in zip(words, reversed(words), strict=True))]
    urls = [f"http://a.com/{front}/{path}{slash}" for path in paths for front in ("old", "new")]
    normalizer = SiteNormalizer(learn_site("a.com", urls, [i // 2 for i in range(len(urls))]))
    for page in ("oven", "oven/parts", "oven/parts/grill"):
        canonical = {normalizer.normalize(f"http://a.com/{front}/{page}{slash}").canonical for front in ("old", "new")}
        assert canonical == {f"http://a.com/new/{page}{slash}"}
