from __future__ import annotations

import pytest

from dedupcrawl.core.url_forms import PathForm
from dedupcrawl.urls.template import parse_template


@pytest.mark.parametrize(
    ("form", "path", "values"),
    [
        ("/a/{x}", "/a/b", {"x": "b"}), ("/a/{x}", "/a/b/c", None), ("/a/{x}", "/a/", None), ("/a/", "/a/", {}),
        ("/{f*}/index.html", "/index.html", {"f": ""}), ("/{f*}/index.html", "/x/y/index.html", {"f": "x/y"}),
        ("/a/{f*}/{last}", "/a/b", {"f": "", "last": "b"}), ("/a/{*}", "/a", {}), ("/a/{*}", "/b", None),
        ("/{x}/{f*}/{x}", "/a/b/a", {"x": "a", "f": "b"}), ("/{x}/{f*}/{x}", "/a/b/c", None),
        ("/a/{f*}/a", "/a", None),
    ],
)  # fmt: skip
def test_paths(form: str, path: str, values: dict[str, str] | None) -> None:
    pieces = parse_template(form).path
    assert pieces is not None
    found: dict[str, str] = {}
    assert PathForm(pieces).fits(path[1:].split("/"), found) == (values is not None)
    assert values is None or found == values
