from __future__ import annotations

from dedupcrawl.core.url_forms import PathForm
from dedupcrawl.urls.template import parse_template
from tests.fixtures import table_of


@table_of("core", "paths")
def test_paths(form: str, path: str, values: dict[str, str] | None) -> None:
    pieces = parse_template(form).path
    assert pieces is not None
    found: dict[str, str] = {}
    assert PathForm(pieces).fits(path[1:].split("/"), found) == (values is not None)
    assert values is None or found == values
