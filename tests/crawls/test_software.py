"""Known software is recognized in a real crawl, its rules are tried, and what becomes of them is kept."""

from __future__ import annotations

import shutil
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from scrapy import Request

from dedupcrawl.index.open import open_index
from dedupcrawl.report.collect import collect
from dedupcrawl.settings import DedupSettings, SettingError
from dedupcrawl.sites import owner_of
from dedupcrawl.software.installation import NAME, SiteSoftware
from dedupcrawl.urls.credits import NAME as CREDITS
from dedupcrawl.urls.credits import Credits
from dedupcrawl.urls.rule_files import read_rules
from tests.crawls.site import NEEDS_PROXIES, Answer, Follower, crawl, crawled, page, prose, redirect, serve, texts
from tests.fixtures import table_of

TOPICS, SESSIONS = 12, 4


def forum(base: str = "", *, session_matters: bool = False) -> dict[str, Any]:
    """A phpBB 2: each list links to all topics, under a session id of its own."""
    pages: dict[str, Any] = {}
    for session in range(SESSIONS):
        sid = f"{session}123456789abcdef0123456789abcdef"
        topics = [f"{base}/viewtopic.php?t={t}&sid={sid}" for t in range(TOPICS)]
        others = [f"{base}/profile.php?mode=viewprofile&u=2", f"{base}/viewforum.php?f={session + 1}"]
        pages[f"{base}/viewforum.php?f={session}"] = page(prose(900 + session), *topics, *others)
        for t, topic in enumerate(topics):
            pages[topic] = page(prose(t + 1_000 * session * session_matters))
    pages |= {f"{base}/viewtopic.php?t={t}": page(prose(t)) for t in range(TOPICS)}
    pages[f"{base}/viewforum.php?f={SESSIONS}"] = page(prose(990))
    pages[f"{base}/profile.php?mode=viewprofile&u=2"] = page(prose(991))
    return pages


def settings(folder: Path, **more: Any) -> dict[str, Any]:
    (folder / "rules").mkdir(exist_ok=True)
    return {
        "DEDUP_INDEX": f"lmdb:{folder / 'index'}",
        "DEDUP_RULES": [str(folder / "rules")],
        "CONCURRENT_REQUESTS": 1,
        **more,
    }


def known(folder: Path) -> SiteSoftware:
    with closing(open_index(f"lmdb:{folder / 'index'}", [])) as index:
        return SiteSoftware.from_bytes(index.site_state("127.0.0.1", NAME))


def credits_of(folder: Path, base: str) -> Credits:
    with closing(open_index(f"lmdb:{folder / 'index'}", [])) as index:
        return Credits.from_bytes(index.site_state(owner_of(base), CREDITS))


EVERYTHING = {prose(t) for t in range(TOPICS)} | {prose(900 + s) for s in range(SESSIONS)} | {prose(990), prose(991)}


async def test_a_first_crawl_saves_and_writes_down_what_held(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level("DEBUG", "dedupcrawl"):
        done = await crawled(forum("/forum"), settings(tmp_path), start="/forum/viewforum.php?f=0")
        fetched = sum(done.requests.values())
    assert texts(done) == EVERYTHING
    assert done.stats["dedup/software/recognized/phpbb2"] == 1
    (said,) = (line for line in caplog.messages if " are written into " in line)
    assert f"written into {tmp_path / 'rules' / '127.0.0.1.toml'}, for later crawls" in said
    assert done.stats["dedup/url/saved"] > TOPICS
    assert fetched < TOPICS * SESSIONS
    (rule,) = read_rules(tmp_path / "rules" / "127.0.0.1.toml").rules
    assert (rule.drop, rule.source, rule.state, rule.failed) == (("sid",), "software", "active", 0)
    assert rule.tried > 1
    assert rule.within == ("/forum/{*}",)
    (found,) = known(tmp_path).installations
    assert found.program == "phpbb2"
    assert found.where.endswith("/forum")
    record = credits_of(tmp_path, done.base).of[rule.id]
    assert (record.tried, record.failed) == (rule.tried, 0)
    with closing(open_index(f"lmdb:{tmp_path / 'index'}", [])) as index:
        (row,) = collect(index, None, [], []).software
    assert row["tried"] == {rule.id: [rule.tried, 0]}, "the owner is no site: its host has a port"


async def test_what_is_fetched_first_under_another_url_is_a_fetch_saved_once_its_own_is_met(tmp_path: Path) -> None:
    rule = '[[rules]]\nid = "print"\nkind = "rewrite"\ndrop = ["print"]\n'
    (tmp_path / "rules").mkdir()
    (tmp_path / "rules" / "127.0.0.1.toml").write_text('site = "127.0.0.1"\n' + rule)
    pages: dict[str, Any] = {"/": page(prose(0), *(f"/a{n}?print=1" for n in range(9)), "/list")}
    pages |= {"/list": page(prose(1), *(f"/a{n}" for n in range(6)))}
    pages |= {f"/a{n}": page(prose(10 + n)) for n in range(9)}
    pages |= {f"/a{n}?print=1": page(prose(10 + n)) for n in range(9)}
    with serve(pages) as site:
        done = await crawl(f"{site.base}/", settings(tmp_path, DEDUP_TRIAL_SHARE=0))
        assert done.stats["dedup/url/saved"] == 6
        other = tmp_path / "other"
        other.mkdir()
        shutil.copytree(tmp_path / "rules", other / "rules")
        tried = await crawl(f"{site.base}/", settings(other, DEDUP_TRIAL_SHARE=1))
    assert tried.stats["dedup/url/saved"] == -3, "both of each, three without a link"


async def test_the_next_crawl_knows_it_from_the_first_page_on(tmp_path: Path) -> None:
    pages = forum() | {"/start": page(prose(0), f"/viewtopic.php?t=1&sid={'7' * 32}")}
    with serve(pages) as site:
        await crawl(f"{site.base}/viewforum.php?f=0", settings(tmp_path))
        (tmp_path / "rules" / "127.0.0.1.toml").unlink()
        done = await crawl(f"{site.base}/start", settings(tmp_path))
    assert done.stats["dedup/url/rewritten"] == 1
    assert "dedup/software/recognized/phpbb2" not in done.stats


async def test_a_rule_that_is_wrong_there_is_revoked_loses_nothing_and_is_not_tried_again(tmp_path: Path) -> None:
    pages = forum(session_matters=True)
    every = {prose(t + 1_000 * s) for t in range(TOPICS) for s in range(SESSIONS)}
    with serve(pages) as site:
        done = await crawl(f"{site.base}/viewforum.php?f=0", settings(tmp_path))
        assert every <= texts(done)
        assert done.stats["dedup/url/revoked"] >= 1
        assert done.stats["dedup/software/failed"] == len(credits_of(tmp_path, site.base).refuted)
        rule, *_ = read_rules(tmp_path / "rules" / "127.0.0.1.toml").rules  # the URLs alone make another one likely
        why = credits_of(tmp_path, site.base).refuted[rule.id]
        assert "led to another page" in why
        assert (rule.id.partition("@")[0], rule.source, rule.state) == ("phpbb2.sid", "software", "disabled")
        assert rule.note.endswith(why)
        assert rule.tried >= rule.failed >= 1, "whoever reads the file sees how often it was tried"
        record = credits_of(tmp_path, site.base).of[rule.id]
        assert (record.tried, record.failed) == (rule.tried, rule.failed)
        again = await crawl(f"{site.base}/viewforum.php?f=0", settings(tmp_path, DEDUP_ALIASES=False))
        assert credits_of(tmp_path, site.base).of[rule.id] == record
        shutil.rmtree(tmp_path / "index")  # the rule file alone says it, too
        anew = await crawl(f"{site.base}/viewforum.php?f=0", settings(tmp_path, DEDUP_ALIASES=False))
    assert "dedup/url/rewritten" not in anew.stats
    for later in (again, anew):
        assert every <= texts(later)


@pytest.mark.parametrize("off", [{"DEDUP_SOFTWARE": False}, {"DEDUP_TRIAL_SHARE": 0}, {"DEDUP_URL_MODE": "off"}])
async def test_it_can_be_switched_off(tmp_path: Path, off: dict[str, Any]) -> None:
    done = await crawled(forum(), settings(tmp_path, **off), start="/viewforum.php?f=0")
    assert "dedup/url/rewritten" not in done.stats
    assert texts(done) == EVERYTHING


async def test_a_folder_of_ones_own(tmp_path: Path) -> None:
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / "archive.toml").write_text(
        """
name = "archive"
title = "Our archive"
source = "us"
signs = [{url = "/box/{:digits}", weight = 2}, {url = "/shelf"}]
rules = [{id = "from", drop = ["from"]}]
same = [["/box/1?from=2", "/box/1"]]
different = [["/box/1", "/box/2"]]
""",
        encoding="utf-8",
    )
    links = [f"/box/{n}?from={other}" for other in range(3) for n in range(8)]
    pages = {"/shelf": page(prose(99), *links), **{link: page(prose(int(link[5]))) for link in links}}
    pages |= {f"/box/{n}": page(prose(n)) for n in range(8)}
    done = await crawled(pages, settings(tmp_path, DEDUP_SOFTWARE=str(mine)), start="/shelf")
    assert done.stats["dedup/software/recognized/archive"] == 1
    assert done.stats["dedup/url/saved"] > 0
    assert texts(done) == {prose(99), *map(prose, range(8))}


async def test_what_a_program_says_to_a_visitor_once_makes_no_other_page(tmp_path: Path) -> None:
    """As a shop does: what was put on a list is said above the page that one comes back to."""
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / "shop.toml").write_text(
        """
name = "shop"
title = "Our shop"
source = "us"
signs = [{url = "/compare/{:digits}/{:digits}", weight = 2}, {url = "/shelf/{:digits}"}]
rules = [{id = "back", kind = "equivalence", match = "/compare/{:digits}/{to:digits}", to = "/compare/{to}"}]
same = [["/compare/1/2", "/compare/3/2"]]
different = [["/compare/1/2", "/compare/1/3"]]
ignored = ["css:.note"]
""",
        encoding="utf-8",
    )

    def shelf(number: int, *links: str, note: str = "") -> str:
        said = f'<div class="note"><p>{note} was put on your list.</p></div>' if note else ""
        return page(prose(number, 12), *links, title=f"Shelf {number}").replace("<article>", f"<article>{said}")

    numbers = range(10)
    adding = {(n, to): f"/compare/{n}/{to}" for to in numbers for n in numbers}
    pages = {"/": page(prose(99), *(f"/shelf/{to}" for to in numbers))}
    pages |= {f"/shelf/{to}": shelf(to, *(adding[n, to] for n in numbers)) for to in numbers}
    pages |= {url: shelf(to, note=prose(200 + n, 6)) for (n, to), url in adding.items()}
    done = await crawled(pages, settings(tmp_path, DEDUP_SOFTWARE=str(mine)))
    assert done.stats["dedup/software/recognized/shop"] == 1
    assert "dedup/url/tried_wrong" not in done.stats
    assert done.stats["dedup/url/saved"] > 50
    assert texts(done) >= {prose(99), *(prose(to, 12) for to in numbers)}


async def test_a_site_of_none_of_them_is_left_alone(tmp_path: Path) -> None:
    pages = {"/": page(prose(0), *(f"/{n}?sid={n}" for n in range(40)))}
    pages |= {f"/{n}?sid={n}": page(prose(n)) for n in range(40)}
    done = await crawled(pages, settings(tmp_path))
    assert not [name for name in done.stats if "software/recognized" in name]
    assert "dedup/url/rewritten" not in done.stats
    assert known(tmp_path) == SiteSoftware()


def test_a_wrong_setting_says_what_it_takes(tmp_path: Path) -> None:
    with pytest.raises(SettingError, match=r"DEDUP_SOFTWARE.*there is no folder"):
        DedupSettings.read({"DEDUP_SOFTWARE": str(tmp_path / "none")})
    assert DedupSettings.read({"DEDUP_SOFTWARE": str(tmp_path)}).software == tmp_path
    assert DedupSettings.read({"DEDUP_SOFTWARE": "off"}).software is False


@table_of("crawls", "a_broken_file_of_ones_own_ends_the_crawl_at_its_start")
async def test_a_broken_file_of_ones_own_ends_the_crawl_at_its_start(tmp_path: Path, text: str, says: str) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "a.toml").write_text(text, encoding="utf-8")
    with pytest.raises(Exception, match=says):
        await crawled({"/": page(prose(1))}, settings(tmp_path, DEDUP_SOFTWARE=str(tmp_path / "mine")))


async def test_what_the_rules_of_a_program_sent_elsewhere_that_is_not_there_is_fetched(tmp_path: Path) -> None:
    pages = forum("/forum")
    own = next(url for url in pages if "viewtopic.php?t=10&sid=0" in url)  # no use at which a rule is tried early
    pages[own] = page(prose(2_000))
    of_version_3 = ["/forum/ucp.php?mode=login", "/forum/styles/prosilver/theme/print.css"]
    pages["/news/1"] = page(prose(2_001), *of_version_3)
    topics = [url for url in pages if url.startswith("/forum/viewtopic.php") and "&sid=0" in url]
    profile = "/forum/profile.php?mode=viewprofile&u=2"
    pages["/forum/viewforum.php?f=0"] = page(prose(900), *topics, profile, "/news/1")
    done = await crawled(pages, settings(tmp_path), start="/forum/viewforum.php?f=0")
    assert done.stats["dedup/software/dropped/phpbb2"] == 1
    assert {prose(t) for t in range(TOPICS)} - {prose(10)} <= texts(done)
    assert prose(2_000) in texts(done)


class ThroughProxy:
    """Asks the test site for the pages of all hosts."""

    proxy: str

    @classmethod
    def from_crawler(cls, crawler: Any) -> ThroughProxy:
        made = cls()
        made.proxy = crawler.settings["TEST_PROXY"]
        return made

    def process_request(self, request: Request) -> None:
        request.meta["proxy"] = self.proxy


@NEEDS_PROXIES
@pytest.mark.parametrize("port", [":80", ""])
async def test_links_with_the_port_that_http_stands_for_lead_to_one_page(tmp_path: Path, port: str) -> None:
    """As an archived site has them: links are to either, and one redirects to the other, once."""
    plain, named = "http://forum.example", "http://forum.example:80"
    others = (f"{plain}/viewforum.php?f=1", f"{plain}/profile.php?mode=viewprofile&u=2", f"{named}/", f"{plain}/")
    once = [redirect(f"{named}/viewtopic.php?t=19", 302)]
    pages: dict[str, Any] = {f"{plain}/viewtopic.php?t={n}": page(prose(n), *others) for n in range(19)}
    pages[f"{plain}/viewtopic.php?t=19"] = lambda: once.pop() if once else Answer(page(prose(19)))
    links = [f"{host}/viewtopic.php?t={n}" for n in range(20) for host in (plain, named)]
    pages |= {f"{plain}/": page(prose(99), *others, *links), **{url: page(prose(len(url))) for url in others[:2]}}
    with serve(pages) as site:
        through = {"TEST_PROXY": site.base, "DOWNLOADER_MIDDLEWARES": {ThroughProxy: 1}}
        done = await crawl(f"{plain}{port}/", settings(tmp_path, **through))
    assert texts(done) == {prose(99), *map(prose, range(20)), *(prose(len(url)) for url in others[:2])}
    assert done.stats["dedup/url/saved"] > 10


class Own(Request):
    """It cannot be made anew by its URL."""

    def __init__(self, url: str, why: str, **more: Any) -> None:
        super().__init__(url, **more)
        self.why = why


class OwnRequests(Follower):
    def parse(self, response: Any) -> Any:
        yield {"url": response.url, "text": " ".join(response.css("article ::text").getall())}
        for link in response.css("a::attr(href)").getall():
            yield Own(response.urljoin(link), "why")


async def test_requests_of_a_class_of_their_own_are_left_alone(tmp_path: Path) -> None:
    rule = '[[rules]]\nid = "sid"\nkind = "rewrite"\ndrop = ["sid"]\n'
    given = settings(tmp_path)
    (tmp_path / "rules" / "127.0.0.1.toml").write_text(f'site = "127.0.0.1"\n{rule}', encoding="utf-8")
    pages = {"/": page(prose(0), *(f"/p?n={n}&sid=1" for n in range(1, 5)))}
    pages |= {f"/p?n={n}&sid=1": page(prose(n)) for n in range(1, 5)}
    done = await crawled(pages, given, OwnRequests)
    assert texts(done) == set(map(prose, range(5)))
