from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from benchmarks.replay.judge import Drop, missed, scores, word_differences
from benchmarks.replay.store import StoredPage
from benchmarks.replay.texts import difference, label, visible_words

LONG = "The lock keeper still writes down every boat, and in a dry August she may ask the crews to wait a while. " * 3
OTHER = "Flour matters more than method, and rye wakes a tired starter faster than anything else in the kitchen. " * 3


def stored(**texts: str) -> dict[str, StoredPage]:
    made = (
        StoredPage(f"http://a.example/{name}", "text/html; charset=utf-8", f"<body><p>{text}</p></body>".encode())
        for name, text in texts.items()
    )
    return {page.url: page for page in made}


PAGES = stored(a=LONG, b=LONG, c=LONG, d=OTHER, e=OTHER, short="Hello")
A, B, C, D, E, SHORT = PAGES


def drop(url: str, keeper: str) -> Drop:
    return Drop(url, keeper, "exact", 1.0)


def test_scores_by_hand() -> None:
    """Two of three redundant pages were found; of three drops one is for the wrong page."""
    drops = [drop(B, A), drop(C, D), drop(SHORT, A)]
    published, main, visible = scores(drops, set(PAGES), PAGES, [[A, B]])
    assert (published.redundant, published.found, published.judged, published.right) == (1, 1, 1, 1)
    for score in (main, visible):
        assert (score.redundant, score.found, score.judged, score.right) == (3, 2, 2, 1)
        assert (score.recall, score.precision) == (2 / 3, 1 / 2)


def test_pages_that_were_not_fetched_count_for_nothing() -> None:
    *_, visible = scores([drop(B, A)], {A, B}, PAGES, [])
    assert (visible.redundant, visible.found) == (1, 1)


def test_no_drops_are_precise_and_find_nothing() -> None:
    *_, visible = scores([], set(PAGES), PAGES, [])
    assert (visible.precision, visible.recall) == (1.0, 0.0)


def test_false_drops_are_seen() -> None:
    wrong, right = word_differences([drop(D, A), drop(B, A)], PAGES)
    if wrong.drop.url != D:
        wrong, right = right, wrong
    assert wrong.false
    assert wrong.suspect
    assert not right.suspect
    assert right.own == right.visible == 0.0


def test_what_was_missed() -> None:
    assert missed([drop(B, A)], set(PAGES), PAGES) == [[A, C], [D, E]]
    assert missed([drop(B, A), drop(C, A), drop(E, D)], set(PAGES), PAGES) == []


def test_visible_text_is_free_of_scripts_and_survives_anything() -> None:
    page = StoredPage("http://a.example/", "text/html", b"<body><script>no</script><p>Yes &amp; <b>no</b>w")
    assert visible_words(page) == ("yes", "&", "no", "w")
    for body in (b"", b"\x00\xff", b"<!--", b"plain"):
        visible_words(StoredPage("http://a.example/", "text/html; charset=nonsense", body))


@given(st.lists(st.sampled_from("abc")), st.lists(st.sampled_from("abc")))
def test_difference_is_the_share_of_words_that_are_gone(dropped: list[str], kept: list[str]) -> None:
    share = difference(tuple(dropped), tuple(kept))
    rest = list(kept)
    gone = 0
    for word in dropped:
        if word in rest:
            rest.remove(word)
        else:
            gone += 1
    assert share == (gone / len(dropped) if dropped else 0.0)
    assert difference(tuple(dropped), tuple(dropped + kept)) == 0.0


def test_labels() -> None:
    assert label(("ab", "c"), 3) == label(("ab", "c"), 1) != label(("a", "bc"), 3)
    assert label(("ab", "c"), 4) is None
