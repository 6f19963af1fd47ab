from __future__ import annotations

import pytest

from dedupcrawl.urls.learning.corpus import Corpus
from dedupcrawl.urls.learning.identities import identities, path_shape


def kept(urls: list[tuple[str, int]]) -> set[str]:
    corpus = Corpus.of("a.com", [url for url, _ in urls], [label for _, label in urls])
    return {rule.match for rule, _ in identities(corpus) if rule.drop == ("*",)}


def test_the_arguments_that_tell_pages_apart() -> None:
    urls = [
        (f"http://a.com/bugs?do={do}&task={task}&{more}", 2 * task + (do == "edit"))
        for task in range(8)
        for do in ("show", "edit")
        for more in ("x=1", f"y={task + 3}&z=", "x=2&pagenum=4")
    ]
    assert "/bugs?do={}&task={}" in kept(urls)
    assert "/bugs?task={}" not in kept(urls)  # brings show and edit together


def test_nothing_tells_the_pages_of_a_login_apart() -> None:
    urls = [(f"http://a.com/{n}/login?returnto={i}", n) for n in range(3) for i in range(5)]
    assert "/{:digits}/login" in kept(urls)


def test_a_kind_of_value_has_an_identity_of_its_own() -> None:
    urls = []
    for i in range(40):
        urls += [(f"http://a.com/w?title=Special:Links/Page_{i}&limit={n}", i) for n in (20, 50)]
        urls += [(f"http://a.com/w?title=Page_{i}&limit={n}", 1000 + 2 * i + n) for n in (0, 1)]
    assert "/w?title=Special:Links/Page_{}" in kept(urls)
    assert "/w?title={}" not in kept(urls)


@pytest.mark.parametrize(
    ("segments", "shape"),
    [(["a", "12", ""], "/a/{:digits}/"), ([""], "/"), (["{x}"], None), (["٣"], "/٣"), (["", "a.com"], None)],
)
def test_path_shape(segments: list[str], shape: str | None) -> None:
    assert path_shape(segments) == shape
