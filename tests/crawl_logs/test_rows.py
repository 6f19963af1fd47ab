from __future__ import annotations

import pytest

from dedupcrawl.crawl_logs.rows import COLUMNS, NAMES, URL_LIMIT, canonical_row, usable_rows
from dedupcrawl.crawl_logs.tally import Tally
from tests.crawl_logs.rows import said
from tests.fixtures import table_of

AT = 1_577_934_245_000  # 2020-01-02T03:04:05Z in milliseconds


def one(**columns: object) -> dict[str, object]:
    """What a row of these values says."""
    return said(canonical_row(columns))


def test_a_name_that_is_not_known_says_nothing() -> None:
    assert one(url="http://a/", other=1) == {"url": "http://a/"}
    assert one(**{f"x{number}": number for number in range(1_000)}, url="u", **{"y" * 10_000: 1}) == {"url": "u"}


@pytest.mark.parametrize(("column", "name"), [(c, n) for c, names in NAMES.items() for n in names if c in COLUMNS])
def test_every_name_of_a_column_is_known(column: str, name: str) -> None:
    value = {"fetched_at": "2020-01-02T03:04:05Z", "alias_held": "False", "unique": "true"}.get(column, "200")
    expected = {"fetched_at": AT, "status": 200, "bytes": 200, "importance": 200.0}
    expected |= {"alias_held": False, "unique": True}
    assert one(**{f" {name.upper()}": value}) == {column: expected.get(column, value)}


@pytest.mark.parametrize(
    "nothing", ["", "-", " ", "0000000000000000", "[]", "{}", "false", "NULL", "None", "\\N", "nan"]
)
def test_what_is_not_said_is_null(nothing: str) -> None:
    assert one(url=nothing, digest=nothing, simhash=nothing, redirect=nothing, duplicate_of=nothing) == {}


@pytest.mark.parametrize(
    ("said", "counts"), [("nan", None), ("1e999", None), ("-3", 0.0), ("1e300", 1e15), ("2.5", 2.5)]
)
def test_importance_can_be_added_up(said: str, counts: float | None) -> None:
    assert one(importance=said).get("importance") == counts
    assert one(importance=float(said)).get("importance") == counts


@pytest.mark.parametrize("column", ["alias_held", "unique"])
@table_of("logs_and_training", "true_and_false_as_logs_write_them")
def test_true_and_false_as_logs_write_them(column: str, said: object, counts: bool | None) -> None:
    assert one(**{column: said}).get(column) is counts


def test_what_is_neither_true_nor_false_is_taken_for_neither_and_its_line_is_told() -> None:
    tally, alias = Tally(), {"url": "http://a.com/1", "alias_of": "http://a.com/2"}
    told = [canonical_row({**alias, "alias_held": it}, line) for line, it in enumerate(["yes", "maybe", "", "2"], 2)]
    rows = usable_rows(told, "log.csv", tally)
    assert [row.alias_held for row in rows] == [True, None]
    assert tally.skipped == {"alias_held is neither true nor false": 2}
    assert [row.line for row in tally.broken] == [3, 5]


@pytest.mark.parametrize(
    "time",
    ["2020-01-02T03:04:05Z", "2020-01-02T03:04:05.678Z", "2020-01-02 03:04:05", "20200102030405", "20200102030405678",
     "1577934245", "1577934245.25", "1577934245678", "2020-01-02T11:04:05+08:00", "2020-01-01T22:34:05.5-0430"],
)  # fmt: skip
def test_a_time_is_read_however_a_log_writes_it(time: str) -> None:
    told = one(fetched_at=time)["fetched_at"]
    assert isinstance(told, int)
    assert told // 1000 * 1000 == AT


def test_a_text_is_digested_where_there_is_no_signature() -> None:
    texts = zip(["a b\nc", "abc", "abd", "abc", "", None], [None, None, None, "x", None, None], strict=True)
    rows = [canonical_row({"text": text, "digest": digest}) for text, digest in texts]
    first, second, third, fourth, empty, none = (row.text_digest for row in rows)
    assert first == second != third
    assert fourth is None
    assert empty == "da39a3ee5e6b4b0d3255bfef95601890afd80709"
    assert none is None


def test_rows_that_cannot_be_used_are_counted_by_reason() -> None:
    urls = [
        None, "javascript:void(0)", "data:text/html,hi", "dns:example.com", "HTTPS://例え.jp/ä",
        "http://a/" + "x" * URL_LIMIT, "http:///nohost", "http://a/", "http://b/",
    ]  # fmt: skip
    digests, links = ["x"] * 7 + [None, None], [None] * 8 + ["/c"]
    columns = enumerate(zip(urls, digests, links, strict=True), 1)
    rows = [
        canonical_row({"url": url, "digest": digest, "redirect_to": to}, line) for line, (url, digest, to) in columns
    ]
    tally = Tally()
    usable = usable_rows(rows, "log", tally)
    assert [row.url for row in usable] == ["HTTPS://例え.jp/ä", "http://b/"]
    assert tally.rows == 9
    assert tally.skipped == {
        "no URL": 1,
        "not an http URL": 4,
        f"URL longer than {URL_LIMIT} bytes": 1,
        "no digest, redirect or canonical link": 1,
    }
    assert [(row.line, row.reason.split()[0]) for row in tally.broken] == [(1, "no"), (6, "URL")]


_GOOD = """a a.com. BÜCHER.de:80 例え。テスト 💩.la कि.भारत [::1]:80 u:p@v@a.com a_b.-c-.com
caf%E9.com %e9 ｃａｆｅ－1.com"""
_BAD = """.. . - [::1 [x] a..b :80 u@ a:b a.com:80x * 。 <a> {a} {{host}} %7Ba%7D.com a%zz.com ｛a｝.com $host a,b
'a' "a" (a) a;b a=b a&b.com a! a+b ~a *.a.com `a`"""
GOOD = _GOOD.split()
BAD = [*_BAD.split(), "a b", "a\tb", "\u200b"]


def test_a_url_whose_host_is_none_is_left_out() -> None:
    """Each would be a site of its own, with a file of rules: `.toml`, `[.toml`, `{a}.toml`."""
    urls = [f"http://{host}{end}" for host in (*GOOD, *BAD) for end in ("/", "", "?x", "\\x", "#x")]
    tally = Tally()
    usable = usable_rows([canonical_row({"url": url, "digest": "x"}) for url in urls], "", tally)
    assert [row.url for row in usable] == urls[: 5 * len(GOOD)]
    assert tally.skipped == {"not an http URL": 5 * len(BAD)}


def test_values_that_do_not_fit_are_null() -> None:
    assert one(status="abc", bytes="99999999999999999999999", importance="many", fetched_at="yesterday") == {}
