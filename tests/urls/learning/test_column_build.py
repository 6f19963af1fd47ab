from __future__ import annotations

import base64

from hypothesis import example, given, settings
from hypothesis import strategies as st

from dedupcrawl.urls.compiled_rule import CompiledRule
from dedupcrawl.urls.learning.column_rule import column_rule
from dedupcrawl.urls.learning.url_columns import UrlColumns
from dedupcrawl.urls.rule import Rule
from dedupcrawl.urls.url_parts import UrlParts, split_url


def encoded(text: str) -> str:
    return base64.urlsafe_b64encode(text.encode()).decode()


ENDS = ["x", "x/y", "/", "//", "x?", "x?a=1&b", "x?a;b", "x#f", "x?a#f", "?", "x/?q/y?z", "http://a.com/y?p=4", " ", ""]
VALUES = [*map(encoded, ENDS), "x", "", "a%2Fb", "%41", "_", "x+y", "e" * 40, "%20%3F"]
FRONTS = st.lists(st.sampled_from(["", "a", "uenc"]), max_size=2)
QUERIES = ["", "", "/", "?", "/?a=1", "?v=x%2Fy", "?v=x/y?z", "?v=x/y&a;b", "#!f", "?v=/#!f"]
PAGES = st.tuples(FRONTS, st.sampled_from(VALUES), st.sampled_from(QUERIES))
RULES = [
    Rule("r", "rewrite", match="/{p*}/uenc/{url}", to="/{p}/uenc/{url|base64}"),
    Rule("r", "rewrite", match="/{p*}/{url}/", to="/{p}/{url|base64}"),
    Rule("r", "rewrite", match="/{p*}/{url}", to="/{url|base64}/{p}"),
    Rule("r", "rewrite", match="/{p*}/{x}?v={v}", to="/{p}/{x}/{v}"),
    Rule("r", "rewrite", match="/{p*}/{x}?v={v}", to="/{p}/{x|base64}?v={v|path}"),
    Rule("r", "rewrite", match="/{p*}?v={v}", to="/{p}/{v|path}"),
    Rule("r", "rewrite", match="/{p*}/{x}?v={v}", to="/{p}/{v|decode}/{x}"),
    Rule("r", "rewrite", match="/{x}/{y}", to="/{y|base64}-{x}"),
    Rule("r", "equivalence", match="/{x}/{y}/{z}", to="/{z}/{}/{x}"),
]


def tokens_of(parts: UrlParts) -> str:
    return "\n".join(
        [parts.scheme, parts.authority, *parts.segments, "?", *parts.args, parts.separators, parts.fragment]
    )


@settings(max_examples=300)
@given(
    st.lists(PAGES, min_size=1, max_size=8),
    st.sampled_from(RULES),
)
@example([([], encoded(end), "/") for end in ENDS], RULES[1])
@example([([], encoded(end), "/?a=1") for end in ENDS], RULES[1])
def test_by_column_as_one_by_one(pages: list[tuple[list[str], str, str]], rule: Rule) -> None:
    urls = [f"http://a.com/{'/'.join([*front, value])}{end}" for front, value, end in pages]
    columns = UrlColumns.of(urls)
    ready = column_rule(rule)
    fitting = ready.fitting(columns)
    changed = ready.change(columns, fitting, "a.com", {}).tolist()
    for row, url in enumerate(urls):
        parts = split_url(url)
        assert parts is not None
        after = CompiledRule(rule).apply(parts, "a.com")
        assert (row in changed) == (after is not None)
        assert tokens_of(columns.parts(row)) == tokens_of(parts if after is None else after)
