"""Whatever the rules and the URLs: by column comes out what comes out one by one."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from dedupcrawl.urls.learning.column_normalizer import ColumnNormalizer
from dedupcrawl.urls.learning.priors import GENERAL
from dedupcrawl.urls.normalizer import SiteNormalizer
from dedupcrawl.urls.rule import Rule
from dedupcrawl.urls.rule_files import SiteRules

SITE = "a.com"
LEARNED = [
    Rule("sid", "equivalence", drop=("sid",)),
    Rule("all-but", "equivalence", match="/wiki/a?b={}", drop=("*",)),
    Rule("alone", "equivalence", match="?b={}", unless=("*",), to="?b=1"),
    Rule("index", "rewrite", match="/{p*}/index.html", to="/{p}/"),
    Rule("moved", "rewrite", match="/{p*}/{x}/b", to="/{x}/{p}"),
    Rule("front", "equivalence", match="/wiki/{}/{p*}", to="/wiki/{}/{p}", within=("/wiki/{*}", "!/wiki/{*}/b")),
    Rule("affix", "rewrite", match="/{p*}/x-{n:digits}.html", to="/{p}/x/{n}"),
    Rule("title", "rewrite", match="/?title={x}", to="/wiki/{x|decode}"),
    Rule("subpage", "rewrite", match="/a?title={x}", to="/wiki/{x|path}"),
    Rule("values", "equivalence", match="?b={x}&title={}", to="?b={x}&title={}", unless=("sid=1", "c")),
    Rule("lower", "rewrite", match="/{p*}/{x}/page", to="/{p}/{x|lower}/page"),
    Rule("shown-by-title", "rewrite", match="/x?title={x}&b={}", to="/wiki/{x|underscores}"),
    Rule("moved-title", "rewrite", match="/wiki/{y}?title={x}", to="/{x}/wiki?title={y}"),
    Rule("renamed", "rewrite", match="?c={x}", to="?b={x}"),
    Rule("escaped", "rewrite", match="/wiki/{x}?b={y}", to="/wiki/{x|spaces|encode}?b={y|decode}"),
    Rule("whole", "rewrite", match="/{p*}/url/{u}", to="{u|decode}"),
    Rule("shown", "rewrite", match="/{p*}/b64/{u}", to="/{p}/b64/{u|base64}"),
    Rule("host", "rewrite", match="//m.{host}", to="//{host}"),
    Rule("host-of-some", "rewrite", match="//m.{host}", to="//{host}", within=("/wiki/{*}",)),
    Rule("first-page", "rewrite", match="?b=1", drop=("b",)),
    Rule("www", "rewrite", hosts=("www.a.com",), match="http://", to="https://"),
    Rule("round", "rewrite", match="/wiki/a", to="/wiki/b"),
    Rule("again", "rewrite", match="/wiki/b", to="/wiki/a"),
    Rule("unpadded", "rewrite", match="/{p*}/{n:digits}?b={m:digits}", to="/{p*}/{n|unpadded}?b={m|unpadded}"),
    Rule("parameter", "equivalence", match="/{p*}/{x};sid={}", to="/{p*}/{x}"),
    Rule("before-others", "equivalence", match="/{p*}/{x};sid={};{y}", to="/{p*}/{x};{y}"),
    Rule("id", "equivalence", match="/{p*}/{}-{n:digits}", to="/{p*}/{n}"),
    Rule("longer", "rewrite", match="/long/{p*}", to="/long/x/{p}"),
    Rule("path-to-argument", "rewrite", match="/{p*}?b={x}", to="/wiki?b={p}"),
    Rule("twice", "equivalence", match="/{x}/{x}", drop=("sid",)),
    Rule("not-twice", "equivalence", drop=("sid", "b"), within=("/{p*}/{x}", "!/{z}/{z}")),
    Rule("doubled", "rewrite", match="/{p*}/{x}/page", to="/{p}/{x}-{x}/page"),
    Rule("padded", "rewrite", match="/long/{x}?b=1", to="/long/{x}-{x}" + "z" * 3000 + "?b=1"),
]
BY_ID = {rule.id: rule for rule in LEARNED}
RULES = [*LEARNED, *GENERAL.assumed, *(Rule(f"e{i}", "equivalence", match=r.match, to=r.to, drop=r.drop,
         convert=r.convert) for i, r in enumerate(GENERAL.expected))]  # fmt: skip
SEGMENTS = ["", "wiki", "a", "b", "B%7e", "..", "x", "x-12.html", "index.html", "page", "1", "007", "x-y-07", "é",
            "long", "url", "b64",
            "http%3A%2F%2Fa.com%2Fb%3Fc=1", "aHR0cDovL2EuY29tL2I_c2lkPTE,", "i;jsessionid=1",
            "i;sid=1", "i;sid=2;v=1;sid=3"]  # fmt: skip
ARGS = ["sid=1", "sid=2", "sid", "b=1", "b=2", "b=01", "b=", "c=x+y", "title=a", "title=%ed%a0%80",
        "title=a%2Fb%3Fsid=1",
        "title=a/b?sid=1", "title=/",
        "utm_source=x", "page=1", "", "amp"]  # fmt: skip
fronts = st.sampled_from(["http://a.com", "https://a.com", "http://www.a.com:80", "HTTP://m.A.com", "http://x@a.com"])
paths = st.lists(st.sampled_from(SEGMENTS), max_size=6).map(lambda found: "".join(f"/{s}" for s in found))
queries = st.lists(st.tuples(st.sampled_from("&&&;"), st.sampled_from(ARGS)), max_size=5).map(
    lambda found: ("?" + "".join(mark + arg for mark, arg in found)[1:]) if found else ""
)
urls = st.builds("{}{}{}{}".format, fronts, paths, queries, st.sampled_from(["", "", "#!top"])) | st.text(max_size=20)
rules = st.lists(st.sampled_from(RULES), unique_by=lambda rule: rule.id, max_size=12)


@settings(max_examples=400, deadline=None)
@given(st.lists(urls, min_size=1, max_size=12, unique=True), rules)
@example(["http://a.com/?sid=1;b=2&c=1", "http://a.com/?b=2&c=1"], LEARNED[:1])
@example(["HTTP://m.A.com/wiki/a?b=1"], [BY_ID["host-of-some"]])
@example(["http://a.com/?b=1&b=2", "http://a.com/?b=1&b=1"], [BY_ID["first-page"]])
@example(["http://a.com/long/" + "y" * 9000, "http://a.com/" + "y" * 20_000], [BY_ID["longer"]])
@example(["http://a.com/wiki/a?b=1", "http://a.com/?b=1"], [BY_ID["path-to-argument"]])
@example(["http://a.com/a/a?sid=1", "http://a.com/a/b?sid=1"], [BY_ID["twice"]])
@example(["http://a.com/a/a?sid=1", "http://a.com/a/b?sid=1"], [BY_ID["not-twice"]])
@example(["http://a.com/wiki/x/page"], [BY_ID["doubled"]])
@example(["http://a.com/long/x?b=1&sid=1", "http://a.com/long/x?b=1"], [BY_ID["sid"], BY_ID["padded"]])
def test_by_column_and_one_by_one_are_the_same(pages: list[str], given_rules: list[Rule]) -> None:
    check_same(pages, given_rules)


def check_same(pages: list[str], given_rules: list[Rule]) -> None:
    columns = ColumnNormalizer(SITE, pages)
    forms, histories = columns.normalize(np.arange(len(pages)), given_rules)
    one_by_one = [SiteNormalizer(SiteRules(SITE, tuple(given_rules))).normalize(url) for url in pages]
    same_form = {one.canonical: int(form) for one, form in zip(one_by_one, forms, strict=True)}
    assert [same_form[one.canonical] for one in one_by_one] == forms.tolist()
    assert len(set(same_form.values())) == len(same_form)
    assert [columns.histories[i] for i in histories] == [one.rules for one in one_by_one]


# What a rule asks for may be there as another thing, a segment for the name of an argument, or come while others are
# applied. In one of these cases rules are tried in this pass, in the other in the next: after those before them.
WITHIN = ["/wiki/{*}", "/b/{*}", "!/wiki/{*}/b", "/{x}/a", "/sid/{*}"]
MATCHES = ["", "/wiki/{p*}", "?b=1", "?b={}", "/{p*}/b", "/a?title={}", "?sid={x}&b={}", "/{x}/wiki"]
REWRITES = [
    ("?c={x}", "?b={x}"), ("?b={x}", "?c={x}"), ("?title={x}", "?sid={x}"), ("/wiki/{x}", "/{x}/wiki"),
    ("/{p*}/{x}/b", "/{x}/{p}"), ("/{p*}/b", "/{p}"), ("/{x}?b={y}", "/{y}?b={x}"), ("/a?title={x}", "/wiki/{x|path}"),
    ("/{p*}/a", "/{p}/sid"), ("/{x}/{y}", "/{y}/{x}"), ("?a={x}", "?sid={x}&b=1"), ("?sid={x}", "?title={x|lower}"),
    ("/{p*}/x", "/{p}/title/c"), ("/{p*}/1", "/{p}/wiki"),
]  # fmt: skip
some_within = st.sampled_from(WITHIN).map(lambda scope: (scope,)) | st.just(())
some_unless = st.sampled_from(["sid", "b=1", "c", "title=a"]).map(lambda name: (name,)) | st.just(())
some_drop = st.lists(st.sampled_from(["sid", "b", "c", "title", "utm_*", "t*"]), min_size=1, max_size=2, unique=True)
any_rule = (
    st.builds(
        lambda within, match, unless, drop: Rule(
            "-", "equivalence", within=within, match=match, unless=unless, drop=tuple(drop)
        ),
        some_within, st.sampled_from(MATCHES), some_unless, some_drop,
    )
    | st.builds(
        lambda within, match, convert: Rule("-", "rewrite", within=within, match=match, convert=convert),
        some_within, st.sampled_from(MATCHES),
        st.sampled_from(["sort-query", "drop-empty", "last-of-name", "collapse-slashes", "lower-path", "syntax"]),
    )
    | st.builds(
        lambda within, unless, rewrite: Rule(
            "-", "rewrite", within=within, match=rewrite[0], unless=unless, to=rewrite[1]
        ),
        some_within, some_unless, st.sampled_from(REWRITES),
    )
)  # fmt: skip
token_urls = st.builds(
    lambda segments, args: f"http://a.com{''.join(segments)}?{'&'.join(args)}",
    st.lists(st.sampled_from(["/wiki", "/a", "/b", "/sid", "/title", "/c", "/x", "/1"]), max_size=5),
    st.lists(
        st.builds(
            "{}{}".format, st.sampled_from(["sid", "b", "c", "title", "wiki", "a"]), st.sampled_from(["=1", "=a", ""])
        ),
        max_size=4,
    ),
)


@settings(max_examples=150, deadline=None)
@given(st.lists(token_urls, min_size=1, max_size=8, unique=True), st.lists(any_rule, min_size=1, max_size=6))
@example(
    ["http://a.com/b/title?c=&title=&a=1"],
    [
        Rule("-", "rewrite", match="?c={x}", to="?b={x}"),
        Rule("-", "rewrite", within=("/b/{*}",), match="?a={x}", to="?sid={x}&b=1"),
        Rule("-", "equivalence", drop=("b", "sid")),
        Rule("-", "rewrite", match="?b={x}", to="?c={x}"),
    ],
)
@example(
    ["http://a.com/x?c=1&b=2"],
    [
        Rule("-", "rewrite", match="?b={}&title={x}", to="?c={x}"),
        Rule("-", "rewrite", match="/{p*}/x", to="/wiki/title/c"),
        Rule("-", "rewrite", within=("/wiki/{*}",), convert="sort-query"),
    ],
)
def test_rules_come_in_the_order_in_which_the_normalizer_tries_them(pages: list[str], given_rules: list[Rule]) -> None:
    check_same(pages, [replace(rule, id=f"r{i}") for i, rule in enumerate(given_rules)])


def test_a_form_that_is_a_url_of_the_site_has_the_number_of_that_url() -> None:
    columns = ColumnNormalizer(SITE, ["http://a.com/x?sid=1", "http://a.com/x"])
    forms, _ = columns.normalize(np.arange(1), LEARNED[:1])
    assert forms[0] == columns.own[1]


def test_rows_may_be_chosen() -> None:
    columns = ColumnNormalizer(SITE, ["http://a.com/1?sid=1", "http://a.com/2?sid=1", "http://a.com/3"])
    forms, histories = columns.normalize(np.array([2, 1]), LEARNED[:1])
    assert forms[0] == columns.own[2]
    assert [columns.histories[i] for i in histories] == [(), ("sid",)]


@pytest.mark.parametrize("kept", range(1, 8))
def test_separators_that_stay_are_those_before_the_arguments_that_stay(kept: int) -> None:
    args = ["p=1", "q=1", "r=1"]
    gone = tuple(arg[0] for i, arg in enumerate(args) if not kept >> i & 1)
    if not gone:
        return
    url = "http://a.com/?" + args[0] + ";" + args[1] + "&" + args[2]
    rule = Rule("d", "equivalence", drop=gone)
    expected = SiteNormalizer(SiteRules(SITE, (rule,))).normalize(url).canonical
    columns = ColumnNormalizer(SITE, [url, expected])
    assert columns.normalize(np.arange(1), [rule])[0][0] == columns.own[1]
