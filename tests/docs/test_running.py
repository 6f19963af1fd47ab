"""What runs the pages sees when a page is wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.docs.blocks import blocks
from tests.docs.comparing import matches
from tests.docs.running import run_page
from tests.docs.terminal import Terminal


@pytest.mark.parametrize(
    ("shown", "printed"),
    [
        ("one", "one\n"),
        ("one\ntwo", "one  \ntwo"),
        ("a … line", "a whole line"),
        ("…\nlast", "last"),
        ("…\nlast", "first\nsecond\nlast"),
        ("first\n…", "first"),
        ("in (…) text", "in (1.5) text"),
    ],
)
def test_what_a_page_may_show(shown: str, printed: str) -> None:
    assert matches(shown, printed)


@pytest.mark.parametrize(
    ("shown", "printed"),
    [("one", "two"), ("one", "one\ntwo"), ("a … line", "a whole\nline"), ("…\nlast", "last\nnot"), ("1.5", "125")],
)
def test_what_a_page_may_not_show(shown: str, printed: str) -> None:
    assert not matches(shown, printed)


def page_of(folder: Path, text: str) -> Path:
    page = folder / "page.md"
    page.write_text(text, encoding="utf-8")
    return page


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("```console\n$ echo one\ntwo\n```\n", r"page.md:1: echo one\n--- the page shows:\ntwo"),
        ("```console\n$ false\n```\n", "false failed"),
        ("```console\nfalse\n```\n", "begins with"),
        ("```console\n$ pip install dedupcrawl[no-such-extra]\n```\n", "no such extra"),
        ("```console\n$ pip install no-such-thing\n```\n", "not among our dependencies"),
        ("```console\n$ make no-such-target\n```\n", "no-such-target"),
        ("Text.\n\n```python\n1 / 0\n```\n", "division by zero"),
        ("```python\n>>> 1 + 1\n3\n```\n", "page.md:1"),
        ("In `settings.py`:\n\n```python\nDEDUP_SCOPES = 1\n```\n", "DEDUP_SCOPES"),
        ("In `settings.py`:\n\n```python\nADDONS = {'dedupcrawl.Adon': 5}\n```\n", "Adon"),
        ('```toml\nsite = "example.com"\n[[rules]]\nid = "x"\n```\n', "x"),
        ("```json\n{1}\n```\n", "line 1"),
        ("```text\n$ ls\n```\n", "console blocks"),
        ("```\n$ ls\n```\n", "no way to run ''"),
    ],
)
def test_a_page_that_is_wrong(text: str, why: str, tmp_path: Path) -> None:
    with pytest.raises(Exception, match=why):
        run_page(page_of(tmp_path, text), Terminal(tmp_path, "127.0.0.1:8000"))


def test_a_page_is_one_session(tmp_path: Path) -> None:
    text = """
Save this as `made/one.txt`:

```text
at 127.0.0.1:8000
```

```console
$ cd made
$ cat one.txt
at 127.0.0.1:8000
$ cat <<END
> two
> END
two
```

```python
x = 1
```

```python
>>> x + 1
2
```
"""
    run_page(page_of(tmp_path, text), Terminal(tmp_path, "127.0.0.1:8001"))
    assert (tmp_path / "made" / "one.txt").read_text(encoding="utf-8") == "at 127.0.0.1:8001\n"


def test_what_is_not_run(tmp_path: Path) -> None:
    text = "*Not run by the tests: it is\nfar away.*\n\n```console\n$ false\n```\n\n```console\n$ true\n```\n"
    page = page_of(tmp_path, text)
    assert [block.not_run for block in blocks(page)] == ["it is far away.", None]
    run_page(page, Terminal(tmp_path, "127.0.0.1:8000"))
