from __future__ import annotations

from datetime import datetime

import polars as pl
import pytest

from dedupcrawl.crawl_logs.rows import LINE, NAMES, SCHEMA, UNREAD, URL_LIMIT, canonical_rows, usable_rows
from dedupcrawl.crawl_logs.tally import Tally


def one(**columns: object) -> dict[str, object]:
    """The only row, canonical, without what is not said."""
    row = canonical_rows(pl.DataFrame({name: [value] for name, value in columns.items()})).row(0, named=True)
    return {name: value for name, value in row.items() if value is not None}


def test_all_columns_in_their_types() -> None:
    rows = canonical_rows(pl.DataFrame({"url": ["http://a/"], "other": [1]}))
    assert dict(rows.schema) == {**SCHEMA, LINE: pl.Int64, UNREAD: pl.String}


@pytest.mark.parametrize(("column", "name"), [(c, n) for c, names in NAMES.items() for n in names if c in SCHEMA])
def test_every_name_of_a_column_is_known(column: str, name: str) -> None:
    value = {"fetched_at": "2020-01-02T03:04:05Z", "alias_held": "False", "unique": "true"}.get(column, "200")
    expected = {"fetched_at": datetime(2020, 1, 2, 3, 4, 5), "status": 200, "bytes": 200, "importance": 200.0}
    expected |= {"alias_held": False, "unique": True}
    assert one(**{f" {name.upper()}": value}) == {column: expected.get(column, value)}


def test_the_best_name_that_says_something_counts() -> None:
    assert one(raw_sha1="b", digest="-", sha1="c") == {"digest": "b"}


@pytest.mark.parametrize(
    "nothing", ["", "-", " ", "0000000000000000", "[]", "{}", "false", "NULL", "None", "\\N", "nan"]
)
def test_what_is_not_said_is_null(nothing: str) -> None:
    assert one(url=nothing, digest=nothing, simhash=nothing, redirect=nothing, duplicate_of=nothing) == {}


def test_digest_without_its_kind() -> None:
    assert one(digest="sha1:ABC", text_digest="md5:0f") == {"digest": "ABC", "text_digest": "0f"}


@pytest.mark.parametrize(
    ("said", "counts"), [("nan", None), ("1e999", None), ("-3", 0.0), ("1e300", 1e15), ("2.5", 2.5)]
)
def test_importance_can_be_added_up(said: str, counts: float | None) -> None:
    assert one(importance=said).get("importance") == counts
    assert one(importance=float(said)).get("importance") == counts


@pytest.mark.parametrize("column", ["alias_held", "unique"])
@pytest.mark.parametrize(
    ("said", "counts"),
    [
        *((said, False) for said in ("0", "no", "F", " False ", 0, 0.0, False)),
        *((said, True) for said in ("1", "YES", "t", "true", 1, 1.0, True)),
        *((said, None) for said in ("", "-", "NULL")),
    ],
)
def test_true_and_false_as_logs_write_them(column: str, said: object, counts: bool | None) -> None:
    assert one(**{column: said}).get(column) is counts


def test_what_is_neither_true_nor_false_is_taken_for_neither_and_its_line_is_told() -> None:
    tally, told = Tally(), ["yes", "maybe", "", "2"]
    columns = {
        "url": ["http://a.com/1"] * 4,
        "alias_of": ["http://a.com/2"] * 4,
        "alias_held": told,
        LINE: [2, 3, 4, 5],
    }
    rows = usable_rows(canonical_rows(pl.DataFrame(columns)), "log.csv", tally)
    assert rows["alias_held"].to_list() == [True, None]
    assert tally.skipped == {"alias_held is neither true nor false": 2}
    assert [row.line for row in tally.broken] == [3, 5]


def test_values_that_do_not_fit_are_null() -> None:
    assert one(status="abc", bytes="99999999999999999999999", importance="many", fetched_at="yesterday") == {}


@pytest.mark.parametrize(
    "time",
    ["2020-01-02T03:04:05Z", "2020-01-02T03:04:05.678Z", "2020-01-02 03:04:05", "20200102030405", "20200102030405678",
     "1577934245", "1577934245.25", "1577934245678", "2020-01-02T11:04:05+08:00", "2020-01-01T22:34:05.5-0430"],
)  # fmt: skip
def test_times(time: str) -> None:
    told = one(fetched_at=time)["fetched_at"]
    assert isinstance(told, datetime)
    assert told.replace(microsecond=0) == datetime(2020, 1, 2, 3, 4, 5)


def test_a_text_is_digested_where_there_is_no_signature() -> None:
    rows = canonical_rows(
        pl.DataFrame({"text": ["a b\nc", "abc", "abd", "abc", "", None], "digest": [None, None, None, "x", None, None]})
    )
    first, second, third, fourth, empty, none = rows["text_digest"]
    assert first == second != third
    assert fourth is None
    assert empty == "da39a3ee5e6b4b0d3255bfef95601890afd80709"
    assert none is None


def test_lists_of_an_item_loader() -> None:
    assert one(url=["http://a/", "http://b/"]) == {"url": "http://a/"}


def test_rows_that_cannot_be_used_are_counted_by_reason() -> None:
    rows = canonical_rows(
        pl.DataFrame(
            {
                LINE: range(1, 10),
                "url": [
                    None, "javascript:void(0)", "data:text/html,hi", "dns:example.com", "HTTPS://例え.jp/ä",
                    "http://a/" + "x" * URL_LIMIT, "http:///nohost", "http://a/", "http://b/",
                ],
                "digest": ["x"] * 7 + [None, None],
                "redirect_to": [None] * 8 + ["/c"],
            }
        )
    )  # fmt: skip
    tally = Tally()
    usable = usable_rows(rows, "log", tally)
    assert usable["url"].to_list() == ["HTTPS://例え.jp/ä", "http://b/"]
    assert usable.columns == list(SCHEMA)
    assert tally.rows == 9
    assert tally.skipped == {
        "no URL": 1,
        "not an http URL": 4,
        f"URL longer than {URL_LIMIT} bytes": 1,
        "no digest, redirect or canonical link": 1,
    }
    assert [(row.line, row.reason.split()[0]) for row in tally.broken] == [(1, "no"), (6, "URL")]


GOOD = [
    "a",
    "a.com.",
    "BÜCHER.de:80",
    "例え。テスト",
    "💩.la",
    "कि.भारत",
    "[::1]:80",
    "u:p@v@a.com",
    "a_b.-c-.com",
    "caf%E9.com",
    "%e9",
    "ｃａｆｅ－1.com",
]
BAD = [
    "..",
    ".",
    "-",
    "[::1",
    "[x]",
    "a b",
    "a\tb",
    "a..b",
    ":80",
    "u@",
    "a:b",
    "a.com:80x",
    "*",
    "。",
    "<a>",
    "\u200b",
    "{a}",
    "{{host}}",
    "%7Ba%7D.com",
    "a%zz.com",
    "｛a｝.com",
    "$host",
    "a,b",
    "'a'",
    '"a"',
    "(a)",
    "a;b",
    "a=b",
    "a&b.com",
    "a!",
    "a+b",
    "~a",
    "*.a.com",
    "`a`",
]


def test_hosts_that_are_none() -> None:
    """Each would be a site of its own, with a file of rules: `.toml`, `[.toml`, `{a}.toml`."""
    urls = [f"http://{host}{end}" for host in (*GOOD, *BAD) for end in ("/", "", "?x", "\\x", "#x")]
    tally = Tally()
    usable = usable_rows(canonical_rows(pl.DataFrame({LINE: range(len(urls)), "url": urls, "digest": "x"})), "", tally)
    assert usable["url"].to_list() == urls[: 5 * len(GOOD)]
    assert tally.skipped == {"not an http URL": 5 * len(BAD)}
