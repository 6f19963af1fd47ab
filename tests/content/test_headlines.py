from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dedupcrawl.content.headlines import are_of_others, headlines

SHIRT = "T-shirt red size M | Shop"


@pytest.mark.parametrize(
    ("title", "asides", "kept", "others"),
    [
        (SHIRT, ["T-shirt red size M", "EUR 19.90"], "T-shirt blue size M | Shop", True),
        (SHIRT, ["T-shirt red size M"], "Coat | Shop", True),
        (SHIRT, ["T-shirt red size M"], SHIRT, False),
        (SHIRT, ["T-shirt red size M"], "T-shirt red size M – print | Shop", False),
        ("T-shirt red size M – print | Shop", ["T-shirt red size M – print"], SHIRT, False),
        ("Phone 12 | Shop", ["Phone 12"], "Phone 13 | Shop", True),
        ("红色衬衫 - 商店", ["红色衬衫"], "蓝色衬衫 - 商店", True),
        # What only the title names is no headline.
        ("Inbox (3)", ["Inbox", "3 new letters"], "Inbox (5)", False),
        ("A storm at sea | Politics", ["A storm at sea", "All the news of politics"], "A storm at sea | World", False),
        ("Mending a puncture | Weekly", ["Weekly", "Mending a puncture"], "Mending a puncture | Notebook", False),
        # Of a page without anything else the title decides, if it is another one altogether.
        ("Red shirt", [], "Blue coat", True),
        ("Red shirt", [], "Blue shirt", False),
        ("", ["Red shirt"], "Blue shirt", False),
        ("Red shirt", ["Red shirt"], "", False),
    ],
)
def test_what_pages_are_about(title: str, asides: list[str], kept: str, others: bool) -> None:
    assert are_of_others(headlines(title, asides), kept, is_bare=not asides) == others


@given(st.text(max_size=40), st.lists(st.text(max_size=40), max_size=4))
def test_a_page_is_about_what_it_is_about(title: str, asides: list[str]) -> None:
    assert not are_of_others(headlines(title, asides), title, is_bare=not asides)
    assert not are_of_others(headlines(title, asides), f"{title} more", is_bare=not asides)
