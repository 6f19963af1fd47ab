from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from dedupcrawl.urls.compiled_rule import CompiledRule
from dedupcrawl.urls.learning.corpus import Corpus, Form
from dedupcrawl.urls.learning.hypotheses import hypothesis
from dedupcrawl.urls.rule import Rule
from dedupcrawl.urls.url_parts import split_url

RULES = [
    hypothesis(drop=("a",)),
    hypothesis(drop=("*",)),
    hypothesis("/{p*}/x/", "/{p*}/"),
    hypothesis("/{p*}/{y}", "/{y}"),
    hypothesis("?a={v}", "/{v}"),
    hypothesis("?b={url}", "{url|decode}"),
    hypothesis(convert="collapse-repeats"),
    hypothesis(convert="sort-query"),
    hypothesis("//www.{host}", "//{host}"),
]
SEGMENTS = st.sampled_from(["", "x", "y", "x%2Fy", "12"])
ARGS = st.sampled_from(["a=x", "a=http:", "a=x/y", "b=http%3A%2F%2Fa.com%2Fx", "b=javascript:", "a", "c=1"])


@st.composite
def urls(draw: st.DrawFn) -> str:
    host = draw(st.sampled_from(["a.com", "www.a.com"]))
    path = "".join(f"/{segment}" for segment in draw(st.lists(SEGMENTS, max_size=3)))
    args = draw(st.lists(ARGS, max_size=3))
    return f"http://{host}{path}{'?' if args else ''}{'&'.join(args)}{draw(st.sampled_from(['', '#!f']))}"


def forms_of(corpus: Corpus) -> list[Form]:
    return corpus.forms(np.arange(len(corpus.columns)))


def labels_of(corpus: Corpus) -> list[list[int]]:
    labels = corpus.labels
    return [labels.clusters[labels.of_form(row)].tolist() for row in range(len(corpus.columns))]


def texts_of(corpus: Corpus) -> dict[str, list[int]]:
    return {form.text: sorted(labels) for form, labels in zip(forms_of(corpus), labels_of(corpus), strict=True)}


@given(st.dictionaries(urls(), st.integers(0, 3), max_size=12), st.lists(st.sampled_from(RULES), max_size=4))
def test_rules_do_to_a_corpus_what_they_do_to_each_url(found: dict[str, int], rules: list[Rule]) -> None:
    corpus = Corpus.of("a.com", list(found), list(found.values()))
    expected: dict[str, list[int]] = {}
    for url, label in found.items():
        parts = split_url(url)
        assert parts is not None
        parts.fragment, parts.segments = "", parts.segments or [""]
        expected.setdefault(parts.join(), [label])
    for rule in rules:
        compiled = CompiledRule(rule)
        before = [form.text for form in forms_of(corpus)]
        tried = corpus.tried(compiled)
        corpus.apply(compiled)
        after: dict[str, list[int]] = {}
        changed = set()
        for text, labels in expected.items():
            parts = split_url(text)
            made = parts and compiled.apply(parts, "a.com")
            again = split_url(made.join()) if made else None
            if again is not None:
                changed.add(text)
                again.segments = again.segments or [""]
            after.setdefault(again.join() if again else text, []).extend(labels)
        assert {before[row] for row in tried.rows.tolist()} == changed
        expected = after
        assert texts_of(corpus) == {text: sorted(labels) for text, labels in expected.items()}


def test_forms_that_meet_become_one_with_the_labels_of_both() -> None:
    corpus = Corpus.of("a.com", ["http://a.com/x?a=1", "http://a.com/x?a=2", "http://a.com/x"], [1, 1, 2])
    corpus.apply(CompiledRule(hypothesis(drop=("a",))))
    assert texts_of(corpus) == {"http://a.com/x": [1, 1, 2]}
    assert forms_of(corpus)[0].label == 1


def test_a_page_with_no_path_is_that_of_the_empty_one() -> None:
    corpus = Corpus.of("a.com", ["http://a.com", "http://a.com/", "data:x", "http://a.com/y#!z"], [1, 2, 3, 4])
    assert texts_of(corpus) == {"http://a.com/": [1], "http://a.com/y": [4]}


def test_slots_with_values_of_several_kinds_have_patterns() -> None:
    urls = [f"http://a.com/w?title=Special:Links/{i}" for i in range(20)]
    urls += [f"http://a.com/w?title=Page_{i}" for i in range(20)]
    patterns = Corpus.of("a.com", urls, range(40)).patterns
    assert list(patterns) == [("arg", "title")]
    assert patterns["arg", "title"].path_of("Special:Links/77")[-1].startswith("Special:")


def test_forms_are_found_by_what_is_in_a_segment() -> None:
    corpus = Corpus.of("a.com", ["http://a.com/x/y", "http://a.com/z?x", "http://a.com/z/x/x"], [0, 1, 2])
    assert [form.text for form in corpus.with_segment("x".__eq__)] == ["http://a.com/x/y", "http://a.com/z/x/x"]


def test_labels_are_those_of_most_urls_first() -> None:
    urls = [f"http://a.com/x?s={i}" for i in range(7)]
    corpus = Corpus.of("a.com", ["http://a.com/x", *urls], [1, 2, 3, 3, 4, 4, 4, 4])
    corpus.apply(CompiledRule(hypothesis(drop=("s",))))
    assert labels_of(corpus) == [[4, 4, 4, 4, 3, 3, 1, 2]]
