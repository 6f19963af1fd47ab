from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dedupcrawl.commands.selection import forms_of
from tests.fixtures import table_of


@table_of("commands", "as_a_crawl_writes_it")
def test_as_a_crawl_writes_it(typed: str, form: str) -> None:
    assert form in forms_of(typed)


@pytest.mark.parametrize("typed", ["example.com", "http://example.com", "http://example.com/"])
def test_a_host_alone_is_first_of_all_the_page_at_its_slash(typed: str) -> None:
    assert forms_of(typed)[:2] == ["http://example.com/", "http://example.com"]


@pytest.mark.parametrize("typed", ["foo", "", "javascript:alert(1)", "data:text/html,x", "ftp://a.example/", "a b.c"])
def test_what_is_no_url(typed: str) -> None:
    assert forms_of(typed) == []


@given(st.one_of(st.text(), st.text().map("http://{}".format), st.text().map("http://a.example/{}".format)))
def test_any_text(typed: str) -> None:
    forms = forms_of(typed)
    assert len(forms) <= 9
    assert len(set(forms)) == len(forms)


def test_what_is_longer_than_any_url_is_none() -> None:
    assert forms_of("http://a.example/" + "<" * 20_000) == []
