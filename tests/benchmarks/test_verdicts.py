from __future__ import annotations

import json
import lzma
import sys
from pathlib import Path

import pytest

from benchmarks.verdicts import Row, difference, main, pages, read, sets, write
from tests.crawls.site import prose


def kept(url: str) -> Row:
    return url, "unique", None, None, None


def dropped(url: str, keeper: str, probability: float = 1.0) -> Row:
    return url, "duplicate", keeper, "exact", probability


def test_pages_with_another_verdict_and_pages_with_another_keeper_are_counted() -> None:
    before = [kept("a"), kept("b"), dropped("c", "a"), dropped("d", "a")]
    after = [kept("a"), dropped("b", "a"), dropped("c", "b"), dropped("d", "a", 0.9)]
    found = difference(before, after)
    assert found.verdicts == [(before[1], after[1])]
    assert found.keepers == [(before[2], after[2])]
    assert found.per_thousand == 500
    assert difference(before, before).per_thousand == 0


def test_other_pages_are_refused() -> None:
    with pytest.raises(ValueError, match="not the same"):
        difference([kept("a")], [kept("b")])
    with pytest.raises(ValueError, match="not the same"):
        difference([kept("a")], [])


@pytest.fixture
def data(tmp_path: Path) -> Path:
    for folder in ("text", "pairs", "crawls/site"):
        (tmp_path / folder).mkdir(parents=True)
    html = f"<title>News</title><p>{prose(1, 200)}"
    crawl = [{"url": f"http://site.example/{number}", "html": html} for number in range(3)]
    speech = {"id": "1", "url": "raw/a.txt", "title": "Text", "senator": "A", "text": prose(2, 200)}
    article = {"id": "2", "url": "http://news.example/x", "title": "Text", "text": prose(2, 200)}
    note = {"id": "3", "url": "", "title": "Text - Paper", "text": prose(3, 200)}
    for path, rows in (("crawls/site/pages", crawl), ("pairs/texts", [speech, article, note])):
        with lzma.open(tmp_path / f"{path}.jsonl.xz", "wt", encoding="utf-8") as file:
            file.writelines(json.dumps(row) + "\n" for row in rows)
    return tmp_path


def test_a_sender_and_a_paper_are_sites_of_their_own(data: Path) -> None:
    speech, article, note = pages(sets(data)["texts"])
    assert article["url"] == "http://news.example/2"
    assert (speech["title"], article["title"], note["title"]) == ("", "Text", "Text - Paper")
    assert speech["url"].endswith(".example/1")
    assert note["url"].endswith(".example/3")
    assert len({row["url"].rpartition("/")[0] for row in (speech, article, note)}) == 3


def test_verdicts_are_frozen_and_compared(
    data: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    out = data / "frozen"
    root = Path(__file__).parents[2]  # of this checkout, whatever is installed
    cli = f"env PYTHONPATH={root} {sys.executable} -m dedupcrawl"
    monkeypatch.setattr(sys, "argv", ["verdicts", "freeze", "--cli", cli, "--out", str(out), "--data", str(data)])
    assert main() == 0
    assert [path.name for path in sorted(out.iterdir())] == ["site.jsonl.gz", "texts.jsonl.gz"]
    site = read(out / "site.jsonl.gz")
    assert site[0] == kept("http://site.example/0")
    assert site[1:] == [dropped(f"http://site.example/{number}", "http://site.example/0") for number in (1, 2)]
    other = data / "other"
    other.mkdir()
    write(other / "site.jsonl.gz", [*site[:2], kept("http://site.example/2")])
    capsys.readouterr()
    monkeypatch.setattr(sys, "argv", ["verdicts", "compare", str(out), str(other), "--list"])
    assert main() == 0
    printed = capsys.readouterr()
    assert "texts" in printed.err
    assert "duplicate of http://site.example/0 by exact, probability 1.0000" in printed.out
    assert printed.out.splitlines()[-1].split() == ["all", "3", "1", "0", "333.33"]
