"""The Python interface: what `dedupcrawl` exports. (docs/python.md is run as well.)"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
from collections.abc import Callable
from contextlib import ExitStack
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest

import dedupcrawl
from dedupcrawl import Detector, Normalizer, Page, Verdict, learn, read_html, read_text
from dedupcrawl.index import mapped_files
from dedupcrawl.index.open import open_index
from tests.detection.judged import prose
from tests.fixtures import table_of
from tests.redis_server import running

untyped: Any = dedupcrawl
STORY, OTHER = "\n".join(prose(200)), "\n".join(prose(200, 1))


def test_all_that_is_exported_is_there() -> None:
    for name in dedupcrawl.__all__:
        assert getattr(dedupcrawl, name).__name__ == name
    with pytest.raises(AttributeError, match="no attribute 'Detecter'"):
        _ = dedupcrawl.Detecter


def test_a_secret_keys_an_index_that_ends_with_the_detector_and_no_other(tmp_path: Path) -> None:
    keyed = [Detector(secret=secret) for secret in (b"one", b"one", b"other", None, None)]
    one, same, other, *random = (detector._index.secret for detector in keyed)
    assert one == same
    assert len({one, other, *random}) == 4
    with pytest.raises(ValueError, match="has its own"):
        Detector(tmp_path / "index", secret=b"one")
    assert not (tmp_path / "index").exists()
    for detector in keyed:
        detector.close()


def test_it_needs_no_scrapy() -> None:
    code = (
        "import sys, dedupcrawl; dedupcrawl.Detector().close(); dedupcrawl.Normalizer(); print('scrapy' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


def test_what_was_kept_is_known_to_the_next_detector(tmp_path: Path) -> None:
    with Detector(tmp_path / "pages") as detector:
        assert detector.check(read_text(STORY, "http://a.example/1")).verdict == "unique"
        assert detector.check(read_text(OTHER, "http://a.example/2")).verdict == "unique"
    with Detector(tmp_path / "pages") as detector:
        verdict = detector.check(read_text(STORY, "http://b.example/1"))
        assert (verdict.is_duplicate, verdict.duplicate_of) == (True, "http://a.example/1")
        assert detector.check(read_text(STORY, "http://a.example/1")).verdict == "unique", "an update of itself"


def test_a_kill_loses_nothing_that_was_kept(tmp_path: Path) -> None:
    code = f"""
import os, pathlib
from dedupcrawl import Detector, read_text
detector = Detector(pathlib.Path({str(tmp_path / "pages")!r}))
detector.check(read_text({STORY!r}, "http://a.example/1"))
os.kill(os.getpid(), 9)
"""
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == -9
    with Detector(tmp_path / "pages") as detector:
        assert detector.check(read_text(STORY, "http://b.example/1")).is_duplicate


def test_many_pages_have_a_verdict_each_in_their_order() -> None:
    pages = [read_text(text, f"http://a.example/{n}") for n, text in enumerate((STORY, OTHER, STORY, "short", OTHER))]
    with Detector() as detector:
        verdicts = list(detector.check_many(iter(pages)))
    assert [verdict.url for verdict in verdicts] == [page.url for page in pages]
    assert [verdict.verdict for verdict in verdicts] == ["unique", "unique", "duplicate", "abstained", "duplicate"]


@table_of("settings_and_sites", "settings_say_what_a_page_is_compared_with")
def test_settings_say_what_a_page_is_compared_with(settings: dict[str, Any], url: str, is_dropped: bool) -> None:
    with Detector(settings=settings) as detector:
        detector.check(read_text(STORY, "http://a.example/1"))
        assert detector.check(read_text(STORY, url)).is_duplicate == is_dropped


def test_a_site_has_no_more_pages_than_its_quota_and_an_update_takes_no_room() -> None:
    with Detector(settings={"DEDUP_SITE_QUOTA": 2}) as detector:
        texts = (("1", STORY), ("1", OTHER), ("2", STORY), ("3", "\n".join(prose(200, 2))))
        verdicts = [detector.check(read_text(text, f"http://a.example/{name}")) for name, text in texts]
    assert [verdict.verdict for verdict in verdicts] == ["unique", "unique", "unique", "abstained"]
    assert verdicts[-1].evidence == {"site_quota": 2}


@pytest.mark.skipif(sys.platform != "linux", reason="there is no /proc here")
def test_memory_has_the_limit_that_is_set(monkeypatch: pytest.MonkeyPatch) -> None:
    released: list[bool] = []
    monkeypatch.setattr(mapped_files, "_LOOK_EVERY", 1)
    monkeypatch.setattr(mapped_files, "_LEAST", 0)
    monkeypatch.setattr(mapped_files, "release", lambda: released.append(True))
    for settings in ({}, {"DEDUP_INDEX_MEMORY": 1 << 20}, {"DEDUP_INDEX_MEMORY": 1}):
        assert released == []
        with Detector(settings=settings) as detector:
            detector.check(read_text(STORY, "http://a.example/1"))
    assert released == [True]


def test_a_disk_that_fails_is_an_error_and_keeps_nothing(tmp_path: Path) -> None:
    story = read_text(STORY, "http://a.example/1")
    _, most = resource.getrlimit(resource.RLIMIT_FSIZE)
    with Detector(tmp_path / "pages") as detector:
        for judge in (detector.check, lambda page: list(detector.check_many([page]))):
            resource.setrlimit(resource.RLIMIT_FSIZE, (1, most))  # no file takes more than a byte
            try:
                with pytest.raises(OSError, match="File too large"):
                    judge(story)
            finally:
                resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))
        assert not detector.explain(story.url).is_kept
        assert detector.check(story).verdict == "unique"


def test_a_server_that_is_away_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dedupcrawl.api.open_index", partial(open_index, wait=0))
    story = read_text(STORY, "http://a.example/1")
    with running(tmp_path) as server, Detector(server.url()) as detector:
        server.kill()
        for judge in (detector.check, lambda page: list(detector.check_many([page]))):
            with pytest.raises(OSError, match="cannot be reached"):
                judge(story)


def test_a_drop_is_explained_and_undone() -> None:
    with Detector() as detector:
        detector.check(read_text(STORY, "http://a.example/1"))
        detector.check(read_text(STORY, "http://b.example/1"))
        told = detector.explain("http://b.example/1")
        assert isinstance(told.verdict, Verdict)
        assert (told.keeper, told.is_kept, told.is_restored) == ("http://a.example/1", False, False)
        assert detector.explain("http://a.example/1").keeper == "http://a.example/1"
        assert detector.restore(["http://b.example/1", "http://unknown.example/"]) == 1
        assert detector.explain("http://b.example/1").is_restored
        assert detector.check(read_text(STORY, "http://b.example/1")).verdict == "unique"
        nothing = detector.explain("http://unknown.example/")
        assert (nothing.verdict, nothing.keeper, nothing.is_kept) == (None, None, False)


@table_of("settings_and_sites", "what_cannot_be_used_is_a_sentence")
def test_what_cannot_be_used_is_a_sentence(index: str | None, settings: dict[str, object], says: str) -> None:
    with pytest.raises(ValueError, match=says):
        Detector(index, settings)


def test_an_index_asks_for_the_settings_of_a_check_from_the_first_use_of_it(tmp_path: Path) -> None:
    given = {}
    for name in ("one", "other"):
        (tmp_path / name).write_text(f"灯塔 {len(name)} n\n", encoding="utf-8")
        given[name] = {"DEDUP_DICTIONARY": str(tmp_path / name), "DEDUP_CHECKS": "exact"}
    for settings in (
        {"DEDUP_CHECKS": "exact"},
        given["one"],
        {**given["other"], "DEDUP_CHECKS": "exact,mwo"},
        given["one"],
    ):
        with Detector(tmp_path / "pages", settings) as detector:
            detector.check(read_text(STORY, "http://a.example/1"))
    with pytest.raises(ValueError, match="mwo was made with dictionary"):
        Detector(tmp_path / "pages", {**given["one"], "DEDUP_CHECKS": "exact,mwo"})


def test_one_by_itself_is_not_taken_letter_by_letter(tmp_path: Path) -> None:
    row = {"url": "http://a.example/1?ref=mail", "status": 200, "text_digest": "1"}
    (tmp_path / "log.jsonl").write_text(json.dumps(row) + "\n")
    assert learn(str(tmp_path / "log.jsonl"), tmp_path / "rules").learned.urls == 1
    Normalizer.from_paths(str(tmp_path / "rules"))
    with Detector() as detector:
        for url in ("http://a.example/1", "http://b.example/1"):
            detector.check(read_text(STORY, url))
        assert detector.restore("http://b.example/1") == 1
        assert detector.forget("http://a.example/1") == 1


def test_a_page_needs_a_url() -> None:
    with Detector() as detector:
        for judge in (detector.check, lambda page: list(detector.check_many([page]))):
            with pytest.raises(ValueError, match="needs a URL"):
                judge(Page("", title="T", paragraphs=("text",)))


def test_a_page_in_place_of_its_url_is_refused() -> None:
    for swapped in ("<title>Keys</title>", "\n <p>They hang", STORY):
        for read in (read_html, read_text):
            with pytest.raises(ValueError, match="the page comes first, then its URL"):
                read("http://a.example/1", swapped)
    assert read_text(STORY, "row 17").url == "row 17", "any other name will do"


@pytest.mark.parametrize(
    ("use", "says"),
    [
        (lambda _: untyped.read_html(None, "http://a/"), "HTML is bytes or text, not NoneType"),
        (lambda _: untyped.read_html("<p>x", 5), "the URL of a page is text, not int"),
        (lambda _: untyped.read_text(None, "http://a/"), "a plain text is a str, not NoneType"),
        (lambda detector: detector.check("<p>x"), "a page is what read_html or read_text gives, not str"),
        (lambda detector: list(detector.check_many(["a"])), "a page is what read_html or read_text gives, not str"),
        (lambda detector: detector.check_many(None), "pages are a list of them, or another iterable, not NoneType"),
        (lambda detector: detector.explain(None), "a URL is text, not NoneType"),
        (lambda detector: detector.explain(read_text(STORY, "http://a/")), "a URL is text, not Page"),
        (lambda detector: detector.restore([1]), "a URL is text, not int"),
        (lambda detector: detector.restore(None), "URLs are a list of texts, or one text, not NoneType"),
        (lambda detector: detector.forget(["http://a/", None]), "a URL is text, not NoneType"),
        (lambda _: untyped.Normalizer().normalize(None), "a URL is text, not NoneType"),
        (lambda _: untyped.Page("http://a/", STORY), "positional argument"),
        (lambda _: untyped.Page(5), "the url of a page is text, not int"),
        (lambda _: untyped.Page("http://a/", title=None), "the title of a page is text, not NoneType"),
        (lambda _: untyped.Page("", paragraphs="letters"), "the paragraphs of a page are a tuple of texts, not str"),
        (lambda _: untyped.Page("", paragraphs=("a", 2)), "the paragraphs of a page are a tuple of texts, not int"),
        (lambda _: untyped.Page("", headings=None), "the headings of a page are a tuple of texts, not NoneType"),
    ],
)
def test_what_is_no_text_or_page_is_told_in_a_sentence(use: Callable[[Detector], object], says: str) -> None:
    with Detector() as detector, pytest.raises(TypeError, match=says):
        use(detector)


def test_the_version_is_that_of_the_package() -> None:
    assert dedupcrawl.__version__ == version("dedupcrawl")


@pytest.mark.parametrize("of", [{"title": "a\udc80"}, {"url": "http://a.example/\udc80"}, {"asides": ("a \udc80 b",)}])
def test_half_a_character_is_not_the_end_of_the_process(of: dict[str, Any]) -> None:
    """MurmurHash3 of a string that has no UTF-8 form ends it. JSON may hold one: "\\ud83d"."""
    links = ("http://a.example/\udc80",)
    said = (*prose(200), "a\udc80b " * 9)
    given = {"url": "http://a.example/1", "paragraphs": said, "also_at": links} | of
    with Detector(settings={"DEDUP_CHECKS": ["exact", "title", "mwo"]}) as detector:
        assert not detector.check(Page(**given)).is_duplicate
        assert detector.check(Page(**{**given, "url": "http://a.example/2"})).is_duplicate


@pytest.mark.parametrize("shares", [(0.2, 0.95), (0.95, 0.2)])
def test_each_detector_of_a_process_asks_by_its_own_thresholds(tmp_path: Path, shares: tuple[float, float]) -> None:
    """Whichever has opened the index first."""
    part, rest = " ".join(prose(1_200)), " ".join(prose(800, 1))  # long, for each index draws its sample anew
    alone = {"DEDUP_CHECKS": ["shingles"], "DEDUP_TARGET_PRECISION": 0}
    with ExitStack() as opened:
        by_share = {
            share: opened.enter_context(Detector(tmp_path / "pages", {**alone, "DEDUP_SHINGLES_SHARE": share}))
            for share in shares
        }
        by_share[0.2].check(Page("http://a.example/part", paragraphs=(part,)))
        pages = {share: Page(f"http://a.example/{share}", paragraphs=(part, rest)) for share in shares}
        assert by_share[0.2].check(pages[0.2]).is_duplicate
        assert not by_share[0.95].check(pages[0.95]).is_duplicate


def test_html_is_read_as_a_crawl_reads_it() -> None:
    page = read_html("<title>T</title><p>朝から雨。</p>".encode("shift_jis"), "http://a.example/", encoding="shift_jis")
    assert (page.title, page.paragraphs) == ("T", ("朝から雨。",))
    chosen = read_html("<p id=a>one</p><p id=b>two</p>", "http://a.example/", selector="#b")
    assert chosen.paragraphs == ("two",)
    assert read_html("<p>1<p class=x>2", "http://a.example/", ignore=["css:.x"]).paragraphs == ("1",)
    assert read_text("one\n\n two ", "http://a.example/", title="T") == Page(
        "http://a.example/", title="T", paragraphs=("one", "two")
    )
