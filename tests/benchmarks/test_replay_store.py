from __future__ import annotations

import gzip
import io
import json
import lzma
import tarfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.replay.store import NoDataError, StoredPage, address, exact_clusters, load, sample, sites


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("http://example.com", "http://example.com/"),
        ("http://Example.com:80/a b?q=ü#top", "http://example.com/a%20b?q=%C3%BC"),
        ("https://example.com:443/", "https://example.com/"),
        ("http://example.com:8080/x", "http://example.com:8080/x"),
        ("https://example.com:80/", "https://example.com:80/"),
    ],
)
def test_addresses(url: str, expected: str) -> None:
    assert address(url) == expected
    assert address(expected) == expected


def test_a_crawl_in_rows_and_a_mirror_in_an_archive(tmp_path: Path) -> None:
    (tmp_path / "crawls" / "rows").mkdir(parents=True)
    rows = [{"url": f"http://a.example/{n % 2}#x", "html": f"<p>{n} ü"} for n in range(3)]
    with lzma.open(tmp_path / "crawls" / "rows" / "pages.jsonl.xz", "wt", encoding="utf-8") as file:
        file.writelines(json.dumps(row) + "\n" for row in rows)
    clusters = [["http://a.example/0#x", "http://a.example:80/1"]]
    (tmp_path / "crawls" / "rows" / "exact_clusters.json").write_text(json.dumps(clusters))
    mirrors = tmp_path / "crawls" / "mirrors"
    mirrors.mkdir()
    (mirrors / "m.index.tsv").write_text("file\turl\tmime\tmore\n00.html\thttp://m.example:80/\ttext/html\t1\n")
    with tarfile.open(mirrors / "m.tar.gz", "w:gz") as archive:
        for name, body in (("00.html", b"<p>mirrored"), ("index.tsv", b"not a page")):
            member = tarfile.TarInfo(name)
            member.size = len(body)
            archive.addfile(member, io.BytesIO(body))

    (tmp_path / "crawls" / "live").mkdir()
    with gzip.open(tmp_path / "crawls" / "live" / "l.example.jsonl.gz", "wt", encoding="utf-8") as file:
        file.write(json.dumps({"url": "http://l.example/", "html": "<p>captured"}) + "\n")
        file.write(json.dumps({"url": "http://l.example/feed", "html": "<rss>"}) + "\n")
    table = "#url\tmime\nhttp://l.example/feed\tapplication/rss+xml\n"
    (tmp_path / "crawls" / "live" / "l.example.tsv.gz").write_bytes(gzip.compress(table.encode()))

    found = sites(tmp_path)
    assert list(found) == ["rows", "m", "l.example"]
    assert load(found["rows"]) == [
        StoredPage("http://a.example/0", "text/html; charset=utf-8", "<p>0 ü".encode()),
        StoredPage("http://a.example/1", "text/html; charset=utf-8", "<p>1 ü".encode()),
    ]
    assert load(found["m"]) == [StoredPage("http://m.example/", "text/html", b"<p>mirrored")]
    assert load(found["l.example"]) == [
        StoredPage("http://l.example/", "text/html; charset=utf-8", b"<p>captured"),
        StoredPage("http://l.example/feed", "application/rss+xml; charset=utf-8", b"<rss>"),
    ]
    assert exact_clusters(found["rows"]) == [["http://a.example/0", "http://a.example/1"]]
    assert exact_clusters(found["m"]) == []


def test_a_folder_without_crawls_is_named(tmp_path: Path) -> None:
    with pytest.raises(NoDataError, match=str(tmp_path)):
        sites(tmp_path)


@given(st.lists(st.tuples(st.sampled_from("ab"), st.sampled_from("xyz"), st.integers(0, 30))), st.integers(0, 40))
def test_a_sample_holds_whole_sections_and_is_always_the_same(names: list[tuple[str, str, int]], most: int) -> None:
    pages = [
        StoredPage(f"http://{host}.example/{part}/{n}", "text/html", b"") for host, part, n in dict.fromkeys(names)
    ]
    taken = sample(pages, most)
    assert len(taken) <= most
    assert {page.url for page in taken} == {page.url for page in sample(pages[::-1], most)}
    sections = {page.url.rpartition("/")[0] for page in taken}
    assert len(taken) == sum(page.url.rpartition("/")[0] in sections for page in pages)
