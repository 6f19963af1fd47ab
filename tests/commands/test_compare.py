"""`dedupcrawl compare`: whether two pages are one, of files, of URLs of an index, and row by row."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from click.testing import Result

from dedupcrawl.content.model import TARGET_PRECISION, packaged
from tests.commands.invoked import checked, rows, run, told, write
from tests.crawls.site import page, prose

SAME = prose(1)
EDITED = " ".join([*SAME.split()[:40], "brewery", *SAME.split()[41:]])
OTHER = prose(2)


def compare(*arguments: object) -> Result:
    return run("compare", *arguments)


def pair(new: str, kept: str, host: str = "a.example") -> dict[str, Any]:
    return {
        "kept": {"url": f"http://{host}/kept", "title": "Kept", "text": kept},
        "new": {"url": f"http://{host}/new", "title": "Kept", "text": new},
    }


@pytest.fixture
def index(tmp_path: Path) -> Path:
    """An index of twelve pages with one line that all have, a copy that was dropped, and all texts."""
    pages = [
        {"url": f"http://a.example/{n}", "title": f"Page {n}", "text": f"{prose(n)}\nGuests online on this board: {n}"}
        for n in range(1, 13)
    ]
    pages.append({**pages[0], "url": "http://a.example/copy"})
    assert checked(tmp_path, pages, "--set", "KEEP_TEXT=True")[-1]["verdict"] == "duplicate"
    return tmp_path / "index"


def test_one_row_out_for_each_row_in(tmp_path: Path) -> None:
    path = write(tmp_path / "p.jsonl", pair(SAME, SAME), pair(OTHER, SAME), pair(SAME, OTHER), pair(EDITED, SAME))
    found = rows(compare("--pairs", path))
    assert [row["verdict"] for row in found] == ["duplicate", "unique", "unique", found[3]["verdict"]]
    assert all(list(row) == ["probability", "verdict", "evidence"] for row in found)
    assert found[0]["probability"] == 1
    assert found[1]["probability"] < 0.1 < found[3]["probability"] < 1
    assert [piece["says"] for piece in found[3]["evidence"]["differs"]] == ["brewery"]


def test_an_index_tells_what_a_site_repeats(tmp_path: Path, index: Path) -> None:
    """The board's line is site template there: another value in it is a slot, not a number of the page's own."""
    path = write(
        tmp_path / "p.jsonl",
        pair(f"{OTHER}\nGuests online on this board: 77", f"{OTHER}\nGuests online on this board: 31"),
    )
    (alone,), (known,) = rows(compare("--pairs", path)), rows(compare("--pairs", path, "--index", index))
    assert [row["evidence"]["differs"][0]["kind"] for row in (alone, known)] == ["counted", "slot"]
    assert known["evidence"]["differs"][0]["own"] is False


def test_urls_of_an_index_kept_or_dropped(index: Path) -> None:
    copy = told(compare("http://a.example/1", "http://a.example/copy", "--index", index, "--json"))
    assert (copy["verdict"], copy["probability"]) == ("duplicate", 1), "as was recorded when it was dropped"
    other = told(compare("http://a.example/2", "http://a.example/copy", "--index", index, "--json"))
    assert other["verdict"] == "unique", "by its kept text"
    kept = compare("http://a.example/1", "a.example/2", "--index", index)
    least = packaged().threshold(TARGET_PRECISION)
    assert kept.stdout.startswith("unique\n")
    assert f" probability that this page duplicates the kept one, {least:.1%} needed to drop it\n" in kept.stdout
    assert "against a duplicate: " in kept.stdout


def test_files_with_their_urls_are_compared_as_pages_of_their_sites(tmp_path: Path, index: Path) -> None:
    for name, guests in (("old", 31), ("new", 77)):
        text = page(f"{OTHER}</p><p>Guests online on this board: {guests}")
        (tmp_path / f"{name}.html").write_text(text, encoding="utf-8")
    files = tmp_path / "old.html", tmp_path / "new.html"
    at = "--url", "http://a.example/old", "http://a.example/new"
    known = compare(*files, *at, "--index", index, "--json")
    assert told(known)["evidence"]["differs"][0]["kind"] == "slot"
    assert known.stderr == ""
    assert told(compare(*files, "--json"))["evidence"]["differs"][0]["kind"] == "counted"
    for wrong in (("http://a.example/1", "http://a.example/2", *at), (*files, "--url", "old", "http://")):
        assert "--url goes with two files" in compare(*wrong, "--index", index).stderr


def test_whether_a_row_needs_an_index_is_a_matter_of_that_row(
    tmp_path: Path, index: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without --index: URLs are of the project's, and whole pages are compared by none, in whichever order."""
    (tmp_path / "scrapy.cfg").touch()
    (tmp_path / ".scrapy" / "dedup").mkdir(parents=True)
    index.rename(tmp_path / ".scrapy" / "dedup" / "index")
    monkeypatch.chdir(tmp_path)
    by_url = {"new": "http://a.example/1", "kept": "http://a.example/2"}
    both = pair(SAME, SAME), by_url
    there, back = (rows(compare("--pairs", write(tmp_path / "p.jsonl", *order))) for order in (both, both[::-1]))
    assert there == back[::-1]
    assert [row["verdict"] for row in there] == ["duplicate", "unique"]


def test_the_target_precision_and_the_model_decide(tmp_path: Path) -> None:
    path = write(tmp_path / "p.jsonl", pair(EDITED, SAME))
    (row,) = rows(compare("--pairs", path))
    loose, strict = (packaged().threshold(target) for target in (0.5, 0.999))
    for target, least in (("0.5", loose), ("0.999", strict)):
        (again,) = rows(compare("--pairs", path, "--set", f"TARGET_PRECISION={target}"))
        assert again["probability"] == row["probability"]
        assert (again["verdict"] == "duplicate") == (row["probability"] >= least)
