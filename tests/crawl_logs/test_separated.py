from __future__ import annotations

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dedupcrawl.crawl_logs.blocks import LineBlock
from dedupcrawl.crawl_logs.delimited import cut, parsed
from dedupcrawl.crawl_logs.tally import Tally

fields = st.text("ab\"' é%\\", max_size=4)
separators = st.sampled_from(["\t", ",", " "])


@given(st.lists(st.lists(fields, min_size=1, max_size=4), min_size=1, max_size=8), separators)
def test_lines_are_cut_at_every_separator_and_quotes_mean_nothing(rows: list[list[str]], separator: str) -> None:
    rows = [[field.replace(separator, "") for field in row] for row in rows]
    tally = Tally(rows=7)
    lines = [separator.join(row) for row in rows]
    found = cut(LineBlock(5, "".join(f"{line}\n" for line in lines).encode()), separator, ["x", "y", "z"], "log", tally)
    good = [(number, row) for number, row in enumerate(rows, 5) if len(row) == 3]
    read = found.select("line", "x", "y", "z").rows()
    assert [(number, [field or "" for field in row]) for number, *row in read] == good
    bad = [number for number, row in enumerate(rows, 5) if len(row) != 3 and separator.join(row)]
    assert tally.rows == 7 + len(bad)
    assert tally.skipped == ({"not 3 fields": len(bad)} if bad else {})
    assert [row.line for row in tally.broken] == bad[:5]


def test_of_a_repeated_name_the_first_column_stays() -> None:
    found = cut(LineBlock(1, b"a,b,c\n"), ",", ["url", "x", "url"], "log", Tally())
    assert found.rows(named=True) == [{"url": "a", "x": "b", "line": 1}]


def test_nothing_left_has_all_columns() -> None:
    found = cut(LineBlock(1, b"a\n\nb\n"), ",", ["url", "x"], "log", Tally())
    assert found.schema == {"url": pl.String, "x": pl.String, "line": pl.Int64}
    assert found.is_empty()


def test_line_ends_of_windows_are_no_part_of_the_last_field() -> None:
    assert cut(LineBlock(1, b"a\tb\r\nc\td\r\n"), "\t", ["x", "y"], "log", Tally())["y"].to_list() == ["b", "d"]


def test_quoted_fields_hold_separators_and_line_ends() -> None:
    found = parsed(b'"a,""b""\nc",d\ne,\n', ",", ["x", "y"], quote='"')
    assert found.select("x", "y").rows() == [('a,"b"\nc', "d"), ("e", None)]


@pytest.mark.parametrize("data", [b"a,b,c\n", b'a,"b\n'])
def test_what_is_no_table_is_an_error_of_polars(data: bytes) -> None:
    with pytest.raises(pl.exceptions.PolarsError):
        parsed(data, ",", ["x", "y"], quote='"')
