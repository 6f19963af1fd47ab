from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from dedupcrawl.urls.learning.context_keys import NO_VALUE, ContextKey, ContextKeys, Patterns, keys_of
from dedupcrawl.urls.learning.deep_tokens import deep_patterns
from dedupcrawl.urls.learning.token_texts import ABSENT
from dedupcrawl.urls.learning.url_columns import UrlColumns
from dedupcrawl.urls.url_parts import split_url

TITLES = [f"{kind}{page}" for kind in ("Special:Links/", "File:", "") for page in ("A", "B_c", "Da", "Ee")]
PATTERNS: Patterns = {("arg", "t"): deep_patterns(TITLES * 3), ("", "0"): deep_patterns(TITLES * 3)}
ARGS = st.sampled_from(
    ["", "a", "a=", "a=1", "b=1", "b=2", "b={x}", "{c}=1", "=1", *(f"t={title}" for title in TITLES)]
)
URLS = st.builds(
    lambda host, path, args: f"http://{host}{path}" + (f"?{'&'.join(args)}" if args else ""),
    st.sampled_from(["a.com", "A.com", "www.a.com"]),
    st.sampled_from(["", "/", "//", "/x", "/x/y", "/x/y/z/", "/x/y/z/u/v", *(f"/{title}" for title in TITLES)]),
    st.lists(ARGS, max_size=5),
)


def words(keys: ContextKeys, row: int) -> list[tuple[ContextKey, str]]:
    codes = keys.flat(np.array([row]))[1].tolist()
    return [(keys.keys[keys.key_of[code]], keys.value(code)) for code in codes]


@given(st.lists(URLS, min_size=1, max_size=12), st.booleans())
def test_codes_say_what_the_keys_of_each_url_say(urls: list[str], with_patterns: bool) -> None:
    patterns = PATTERNS if with_patterns else {}
    keys = ContextKeys.of(UrlColumns.of(urls), patterns)
    for row, url in enumerate(urls):
        parts = split_url(url)
        assert parts is not None
        assert words(keys, row) == list(keys_of(parts, patterns).items())
    of_code = [(int(key), keys.value(code)) for code, key in enumerate(keys.key_of)]
    assert len(set(of_code)) == len(of_code)


@given(st.lists(URLS, min_size=1, max_size=12))
def test_the_value_of_a_key_is_told_for_many_urls(urls: list[str]) -> None:
    keys = ContextKeys.of(UrlColumns.of(urls))
    rows = np.arange(len(urls))[::-1]
    for place, key in enumerate(keys.keys):
        found = [keys.value(code) for code in keys.values_of(rows, place).tolist()]
        assert found == [dict(words(keys, row)).get(key, NO_VALUE) for row in rows]
    assert keys.place(("arg", "nobody")) == ABSENT


def test_several_arguments_together_are_a_key_of_the_urls_that_have_them_all() -> None:
    urls = ["http://a.com/?b=1&a=2", "http://a.com/?a=1", "http://a.com/?a=2&b=1&c", "http://a.com/?b=3&a=2"]
    keys = ContextKeys.of(UrlColumns.of(urls))
    joint = keys.with_joint(("a", "b"), np.array([3, 0, 1]))
    place = joint.place(("args", "a&b"))
    assert [joint.value(c) for c in joint.values_of(np.arange(4), place).tolist()] == ["2&1", NO_VALUE, NO_VALUE, "2&3"]
    assert words(joint, 0)[:-1] == words(keys, 0)
    assert words(joint, 2) == words(keys, 2)
    assert keys.with_joint(("a", "nobody"), np.arange(4)) is keys
