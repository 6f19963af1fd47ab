"""What is known of a site's software and aliases, between crawls and between workers, on real indexes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from random import Random

import pytest
from scrapy.http import HtmlResponse
from scrapy.statscollectors import StatsCollector
from scrapy.utils.test import get_crawler

from dedupcrawl.aliases.alias import Alias
from dedupcrawl.crawl import alias_store
from dedupcrawl.crawl.alias_store import AliasStore
from dedupcrawl.crawl.failures import INDEX_FAILS, LoggedFailures
from dedupcrawl.crawl.pages import FetchedPage
from dedupcrawl.crawl.site_memory import SiteMemory
from dedupcrawl.crawl.software import Software
from dedupcrawl.crawl.software_store import SoftwareStore
from dedupcrawl.index.contract import Index
from dedupcrawl.index.errors import IndexAwayError
from dedupcrawl.index.open import open_index
from dedupcrawl.index.redis import RedisIndex
from dedupcrawl.settings import DedupSettings
from dedupcrawl.software.program import programs
from dedupcrawl.urls.credits import NAME, Credits
from dedupcrawl.urls.normalizer import Normalizer
from dedupcrawl.urls.rule_book import RuleBook, Ruling
from dedupcrawl.urls.rule_files import read_rules
from dedupcrawl.urls.rules_in_use import RulesInUse
from tests.detection.judged import CHECKS as ALL_CHECKS
from tests.index.toys import CHECKS

KNOWN = programs()
SID = "0123456789abcdef0123456789abcdef"
FOR = ("/viewtopic.php?t=1", "/viewforum.php?f=2", "/profile.php?mode=viewprofile&u=3")
MORE = ("/posting.php?mode=reply", "/privmsg.php?folder=inbox", "/templates/subSilver/a.css")
AGAINST = ("/ucp.php?mode=login", "/memberlist.php?mode=team")


def topic(number: int) -> str:
    return f"http://a.com/viewtopic.php?t={number}&sid={SID}"


class Worker:
    """One crawl's knowledge of software on an index."""

    def __init__(self, address: str) -> None:
        self.index = open_index(address, CHECKS)
        self.stats = StatsCollector(get_crawler())
        store = SoftwareStore(KNOWN, self.index, self.stats)
        self.normalizer = Normalizer(more=store.rules_of, tries=True)
        logged = LoggedFailures(self.stats, "errors", "The index cannot be asked", INDEX_FAILS)
        self.book = RuleBook(self.normalizer, 0.02, Random(1), credits=SiteMemory(self.index, NAME, Credits, logged))
        self.software = Software(store, self.normalizer, self.book, self.stats)

    def look(self, *links: str, url: str = "http://a.com/", encoding: str = "utf-8") -> dict[str, Ruling]:
        body = "".join(f'<a href="{link}">' for link in links).encode(encoding)
        headers = {"Content-Type": f"text/html; charset={encoding}"}
        response = HtmlResponse(url, body=body, headers=headers)
        return self.software.look(FetchedPage(response, DedupSettings.read({})), response)

    def passed(self, times: int) -> None:
        """So many trials of topics were right."""
        rules = self.rules()
        for number in range(times):
            self.book.passed(topic(number), rules)

    def rules(self, url: str = f"http://a.com/viewtopic.php?t=1&sid={SID}") -> tuple[str, ...]:
        return tuple(RulesInUse(self.normalizer, self.book).normalize(url).rules)

    def end(self, rules: Path) -> None:
        """The crawl ends, and writes rules into this folder."""
        self.book.save()
        self.software.close(rules)

    def close(self) -> None:
        self.index.close()


Start = Callable[[], Worker]


@pytest.fixture(params=["lmdb", "redis"])
def start(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Start]:
    """Starts workers on one index."""
    if request.param == "lmdb":
        yield lambda: Worker(f"lmdb:{tmp_path / 'index'}")
    else:
        url = request.getfixturevalue("redis_url")
        yield lambda: Worker(url)


def test_what_later_pages_speak_against_is_dropped(start: Start) -> None:
    with closing(start()) as worker:
        worker.look(*FOR)
        assert worker.rules() == ("phpbb2.sid@a.com",)
        worker.look(*AGAINST, url="http://a.com/faq/")
        assert worker.rules() == ()
        assert worker.stats.get_value("dedup/software/dropped/phpbb2") == 1
        worker.look(*FOR, url="http://a.com/news/")
        assert worker.rules() == ()
        for number, link in enumerate(MORE):
            worker.look(link, url=f"http://a.com/more/{number}")
        assert worker.rules() == ("phpbb2.sid@a.com",), "its own signs outweigh what speaks against it"
        counted = [worker.stats.get_value(f"dedup/software/{what}/phpbb2") for what in ("recognized", "dropped")]
        assert counted == [2, 1]


def test_where_several_parts_run_a_program_less_is_enough_for_another(start: Start) -> None:
    """As in training from logs."""
    with closing(start()) as worker:
        for part in range(3):
            assert worker.rules(f"http://a.com/last/viewtopic.php?t=1&sid={SID}") == ()
            worker.look(*(f"/{part}{link}" for link in FOR), url=f"http://a.com/{part}/")
            worker.look("/last/profile.php?mode=viewprofile&u=3", url="http://a.com/last/")
        assert worker.rules(f"http://a.com/last/viewtopic.php?t=1&sid={SID}") == ("phpbb2.sid@a.com/last",)


def test_what_another_worker_has_seen_speak_against_it_is_dropped(start: Start) -> None:
    with closing(start()) as one, closing(start()) as other:
        one.look(*FOR)
        other.look(*AGAINST)
        assert not other.rules()
        one.look("/privmsg.php?folder=inbox", url="http://a.com/profile.php")
        assert one.rules() == ()
    with closing(start()) as later:
        later.look(*FOR)
        assert later.rules() == ()


def test_no_worker_loses_the_trials_of_another(start: Start, tmp_path: Path) -> None:
    with closing(start()) as first:
        first.look(*FOR)
        first.passed(4)
        first.end(tmp_path / "first")
    with closing(start()) as one, closing(start()) as other:
        for worker, times in ((one, 3), (other, 2)):
            worker.look(*FOR)
            worker.passed(times)
        one.end(tmp_path / "one")
        other.end(tmp_path / "other")
        known = Credits.from_bytes(other.index.site_state("a.com", NAME))
    assert {name: credit.tried for name, credit in known.of.items()} == {"phpbb2.sid@a.com": 9}
    assert [path.name for path in tmp_path.glob("*/a.com.toml")] == ["a.com.toml"] * 3


@pytest.mark.parametrize(("right", "links"), [(40, AGAINST), (1, ())], ids=["dropped since", "on probation"])
def test_a_rule_that_did_not_hold_in_the_end_is_not_written_down(
    start: Start, tmp_path: Path, right: int, links: tuple[str, ...]
) -> None:
    with closing(start()) as worker:
        worker.look(*FOR)
        worker.passed(right)
        worker.look(*links, url="http://a.com/faq/")
        worker.end(tmp_path / "rules")
    assert not (tmp_path / "rules").exists()


BLOG = ("/wp-content/themes/a/style.css", "/wp-includes/js/a.js")
REPLY = "http://a.com/post-{}/?replytocom=2"


def test_what_held_is_written_as_it_is_kept_to_its_part_now(start: Start, tmp_path: Path) -> None:
    with closing(start()) as worker:
        worker.look(*BLOG)
        for number in range(30):
            worker.book.passed(REPLY.format(number), worker.rules(REPLY.format(number)))
        worker.look(*(f"/forum{link}" for link in FOR), url="http://a.com/forum/")
        worker.end(tmp_path / "rules")
    held = [rule for rule in read_rules(tmp_path / "rules" / "a.com.toml").rules if rule.id.startswith("wordpress")]
    assert [rule.within for rule in held] == [("!/forum/{*}",)]


def test_what_held_for_one_spelling_of_a_host_holds_for_another_in_the_next_crawl(start: Start, tmp_path: Path) -> None:
    with closing(start()) as worker:
        worker.look(*FOR)
        worker.passed(30)
        worker.end(tmp_path / "rules")
    with closing(start()) as worker:
        store = SoftwareStore(KNOWN, worker.index, worker.stats)
        normalizer = Normalizer.from_paths([tmp_path / "rules"], store.rules_of, tries=True)
        book = RuleBook(normalizer, 0.02, Random(1))
        software = Software(store, normalizer, book, worker.stats)
        body = "".join(f'<a href="{link}">' for link in FOR).encode()
        response = HtmlResponse("http://www.a.com/", body=body, headers={"Content-Type": "text/html"})
        software.look(FetchedPage(response, DedupSettings.read({})), response)
        for url in (topic(1), topic(1).replace("//", "//www.")):
            assert normalizer.normalize(url).rules == ("phpbb2.sid@a.com",)


def test_what_was_refuted_stays_so_while_the_index_is_away(start: Start, tmp_path: Path) -> None:
    with closing(start()) as worker:
        worker.look(*FOR)
        rules = worker.rules()
        for number in range(10):
            worker.book.failed(topic(number), topic(number).partition("&")[0], rules)
        worker.end(tmp_path / "rules")
    with closing(start()) as worker:
        with pytest.MonkeyPatch.context() as patched:
            for name in ("site_state", "update_site_state"):
                patched.setattr(worker.index, name, _away)
            worker.look(*FOR)
        worker.look(*FOR, url="http://a.com/news/")
        assert worker.rules() == ()


def _away(*_: object) -> None:
    raise IndexAwayError("the index is away")


ROOT = Path(__file__).parents[2]
OTHER = """
import sys
from pathlib import Path
from tests.crawl.test_software import ALL_CHECKS, URLS, LmdbIndex, alias, store_of
index = LmdbIndex(Path(sys.argv[1]), ALL_CHECKS)
store_of(index).put(URLS[3], alias(URLS[9]))
index.close()
"""
URLS = [f"http://a.example/{number}" for number in range(40)]


def test_a_rule_that_is_revoked_is_written_down_with_the_trials_of_all_crawls(start: Start, tmp_path: Path) -> None:
    with closing(start()) as worker:
        worker.look(*FOR)
        worker.passed(2)
        worker.end(tmp_path / "first")
    with closing(start()) as worker:
        worker.look(*FOR)
        rules = worker.rules()
        rulings = [worker.book.failed(topic(n), topic(n).partition("&")[0], rules) for n in range(10)]
        tried = next(number for number, ruling in enumerate(rulings, 1) if ruling.revoked)
        worker.end(tmp_path / "second")
        known = Credits.from_bytes(worker.index.site_state("a.com", NAME))
    (rule,) = read_rules(tmp_path / "second" / "a.com.toml").rules
    assert (rule.state, rule.tried, rule.failed) == ("disabled", 2 + tried, tried)
    assert (known.of[rule.id].tried, known.of[rule.id].failed) == (rule.tried, rule.failed)
    assert known.refuted[rule.id] in rule.note


def store_of(index: Index) -> AliasStore:
    stats = get_crawler().stats
    assert stats is not None
    return AliasStore(index, stats, DedupSettings())


def alias(target: str) -> Alias:
    return Alias(target, "permalink", "spider", "run", 1.0)


def test_many_urls_are_one_question(redis_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with closing(RedisIndex(redis_url, ALL_CHECKS)) as index, closing(RedisIndex(redis_url, ALL_CHECKS)) as other:
        store, worker = store_of(index), store_of(other)
        worker.put(URLS[1], alias(URLS[0]))
        worker.known(URLS[1])  # so that it has arrived
        before = index.link.round_trips
        store.read(URLS)
        assert [store.known(url) for url in URLS] == [None, alias(URLS[0]), *[None] * 38]
        assert index.link.round_trips == before + 1
        store.put(URLS[2], alias(URLS[0]))
        store.detach(URLS[1])
        assert store.attach_new({URLS[3]: alias(URLS[0])}) == {}
        assert [store.known(url) for url in URLS[:4]] == [None, None, alias(URLS[0]), alias(URLS[0])], "its own news"
        worker.put(URLS[4], alias(URLS[0]))
        worker.known(URLS[4])
        monkeypatch.setattr(alias_store, "FRESH_SECONDS", 0.0)
        assert store.known(URLS[4]) == alias(URLS[0]), "and after a while that of others"
