from __future__ import annotations

import pytest

from dedupcrawl.urls.learning.argument_forms import OPEN, argument_forms, with_argument


@pytest.mark.parametrize(
    ("match", "expected"),
    [
        ("", "?id=7"),
        ("/p", "/p?id=7"),
        ("?id={}", "?id=7"),
        ("/p?id={}&x=1", "/p?id=7&x=1"),
        ("/p?x=1&id={}", "/p?x=1&id=7"),
        ("?xid={}", "?xid={}&id=7"),
        ("?x.id={}&id={}", "?x.id={}&id=7"),
        ("?xid={}&ids={}", "?xid={}&ids={}&id=7"),
        ("?aid={}&id={}&bid={}", "?aid={}&id=7&bid={}"),
        ("/id={}/x", "/id={}/x?id=7"),
    ],
)
def test_an_argument_is_put_in_under_its_whole_name(match: str, expected: str) -> None:
    assert with_argument(match, "id", "id=7") == expected


def test_names_and_forms_are_plain_text() -> None:
    assert with_argument("?xid={}", ".id", ".id=1") == "?xid={}&.id=1"
    assert with_argument("?id={}", "id", r"id=\1\g<0>") == r"?id=\1\g<0>"


def test_forms_of_the_arguments() -> None:
    forms = argument_forms("/p?id={}&page=2&raw")
    assert list(forms) == ["id", "page", "raw"]
    assert forms["id"] == OPEN
    assert forms["page"] not in (OPEN, None)
    assert forms["raw"] is None
    assert argument_forms("") == {}
