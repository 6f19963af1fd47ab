from __future__ import annotations

import polars as pl

from dedupcrawl.training.by_site import pages_by_site


def test_one_slice_a_site() -> None:
    urls = pl.DataFrame({"site": ["a", "a", "b", "c", "c"], "url": list("12345")})
    assert [(site, pages["url"].to_list()) for site, pages in pages_by_site(urls)] == [
        ("a", ["1", "2"]),
        ("b", ["3"]),
        ("c", ["4", "5"]),
    ]
    assert not list(pages_by_site(urls.clear()))
