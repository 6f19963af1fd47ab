from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dedupcrawl.content.html import facts_of
from dedupcrawl.core.url_parts import UrlParts
from dedupcrawl.software import recognition, sightings
from dedupcrawl.software.installation import MOST_OF_A_SITE, Installation, distinct
from dedupcrawl.software.program import Program, Sign, programs
from dedupcrawl.software.recognition import News, Recognizer, Sight
from dedupcrawl.urls.normalizer import Normalizer
from dedupcrawl.urls.rule import Rule, State
from dedupcrawl.urls.spelling import canonical_url

PHPBB = ["viewtopic.php?t=1", "viewforum.php?f=2", "profile.php?mode=viewprofile&u=3"]
SID = "0123456789abcdef0123456789abcdef"


def seeing(*urls: str) -> Recognizer:
    recognizer = Recognizer(programs())
    for url in urls:
        recognizer.see_url(url)
    return recognizer


def sight_of(url: str, html: str, cookies: tuple[str, ...] = (), encoding: str = "utf-8") -> Sight:
    return sightings.sight_of(url, facts_of(html), cookies, encoding)


def runs(recognizer: Recognizer, site: str = "example.org") -> set[tuple[str, str]]:
    return {(found.program, found.where) for found in recognizer.recognized(site)}


SITE = "http://example.org"
NOTHING = {
    "one sign, however often it is seen": [f"{SITE}/profile.php?mode=viewprofile&u={n}" for n in range(50)],
    "signs in two places": [f"{SITE}/{n}/{url}" for n, url in enumerate(PHPBB)],
    "signs on two hosts": [f"http://h{n}.example.org/{url}" for n, url in enumerate(PHPBB)],
    "pages of any project": [f"{SITE}/{path}" for path in ("about", "roadmap", "timeline")],
    "a shop": [f"{SITE}/{path}" for path in ("product/x/", "cart/", "checkout/")],
    "a museum": [f"{SITE}/{path}" for path in ("collections/egypt", "collections/all", "pages/visit")],
    "a blog": [f"{SITE}/{path}" for path in ("category/a", "tag/b", "author/c")],
    "no URLs": ["", "http://", "http:///", "javascript:x", f"{SITE}/{PHPBB[0]}"],
    "strange paths": [f"{SITE}/{at}/{url}" for at in ("", "a" * 500, "a/" * 9_000) for url in PHPBB],
}


@pytest.mark.parametrize("urls", NOTHING.values(), ids=NOTHING)
def test_nothing_is_known_by_what_any_site_may_have(urls: list[str]) -> None:
    assert runs(seeing(*urls)) == set()


def test_one_url_is_not_enough_however_many_signs_it_shows() -> None:
    topic = "http://example.org/viewtopic.php?f=2&t=7"
    assert runs(seeing(topic)) == set()
    assert runs(seeing(topic, "http://example.org/viewtopic.php?f=2&t=8")) == {("phpbb3", "example.org")}


@pytest.mark.parametrize(("places", "strange", "is_known"), [(2, [], False), (3, [], True), (3, ["/a.php"], False)])
def test_where_other_places_of_a_site_run_a_program_less_tells_it(
    places: int, strange: list[str], is_known: bool
) -> None:
    """A heavy sign at another place, without one against the program; at a third place there is a light one."""
    heavy = Sign(url="/box.php?id={:digits}", weight=2)
    signs = (heavy, Sign(url="/shelf.php?nr={:digits}"), Sign(url="/a.php", weight=-1))
    recognizer = Recognizer([Program("archive", "", "", signs, (Rule("sid", "rewrite", drop=("sid",)),))])
    for n in range(places):
        recognizer.see_url(f"http://h{n}.example.org/box.php?id=1")
        recognizer.see_url(f"http://h{n}.example.org/shelf.php?nr=1")
    for url in ("/box.php?id=1", *strange):
        recognizer.see_url(f"http://other.example.org{url}")
    recognizer.see_url("http://light.example.org/shelf.php?nr=1")
    elsewhere = {where for _, where in runs(recognizer)} - {f"h{n}.example.org" for n in range(places)}
    assert elsewhere == ({"other.example.org"} if is_known else set())


def test_what_speaks_against_a_program_counts_whoever_has_seen_it() -> None:
    urls = [f"{SITE}/{url}" for url in (*PHPBB[:2], "viewtopic.php?p=5", "ucp.php?mode=login")]
    assert ("phpbb2", "example.org") not in runs(seeing(*urls))
    (before,) = seeing(*urls[:3]).recognized("example.org")
    (against,) = (one for one in seeing(urls[3]).found_at(urls[3]) if one.program == before.program == "phpbb2")
    assert against.is_spoken_against
    assert not against.is_recognized
    assert not before.joined(against).is_recognized
    assert not against.joined(before).is_recognized


MADE_UP = Program(
    "made-up",
    "Made up",
    "a test",
    (Sign(url="/heavy", weight=10), Sign(url="/light"), Sign(url="/<side>/page"), Sign(url="/never", weight=-1)),
    (),
)


def installations(*urls: str) -> list[Installation]:
    recognizer = Recognizer([MADE_UP])
    for url in urls:
        recognizer.see_url(f"http://example.org{url}")
    return recognizer.recognized("example.org")


def test_one_sign_is_not_enough_whatever_its_weight_nor_with_one_that_speaks_against() -> None:
    assert installations("/heavy") == []
    assert installations("/heavy", "/never") == []
    (found,) = installations("/heavy", "/light", "/never")
    assert found.weight == 10


@pytest.mark.parametrize("place", ["/%E8%AE%BA%E5%9D%9B", "/%c2%db%cc%b3", "/My%20Forum"])
def test_a_path_may_have_any_letters(place: str) -> None:
    recognizer = seeing(*(f"http://example.org{place}/{url}" for url in PHPBB))
    assert runs(recognizer) == {("phpbb2", canonical_url(f"http://example.org{place}").removeprefix("http://"))}
    normalizer = Normalizer(more=recognizer.rules_of)
    url = f"http://example.org{place}/viewtopic.php?t=1"
    assert normalizer.normalize(f"{url}&sid={SID}").canonical == canonical_url(url)


def test_signs_are_read_without_percent_encoding() -> None:
    seen = seeing(
        "http://example.org/index.php?title=Sp%C3%A9cial%3ARechercher", "http://example.org/wiki/Cat%C3%A9gorie%3AA"
    )
    assert runs(seen) == {("mediawiki", "example.org")}


def test_links_in_any_script_and_encoding_are_those_that_are_asked_for() -> None:
    """As browsers and Scrapy do: paths in UTF-8, arguments in the encoding of the page, escapes as they are."""
    html = """<a href="/论坛/viewtopic.php?t=1"><a href="/论坛/viewforum.php?f=2"><a href="/论坛/搜索.php?q=茶">"""
    for encoding, tea in (("utf-8", "%E8%8C%B6"), ("gb18030", "%B2%E8")):
        recognizer = seeing()
        page = f"http://example.org/%E8%AE%BA%E5%9D%9B/{PHPBB[2]}"
        sight = sight_of(page, html, encoding=encoding)
        assert sight.links[2] == f"http://example.org/%E8%AE%BA%E5%9D%9B/%E6%90%9C%E7%B4%A2.php?q={tea}"
        recognizer.see_page(sight)
        assert runs(recognizer) == {("phpbb2", "example.org/%E8%AE%BA%E5%9D%9B")}


def test_several_programs_on_a_host_each_in_its_part() -> None:
    recognizer = seeing(
        *(f"http://example.org/forum/{url}" for url in PHPBB),
        *(f"http://example.org/trac/{path}" for path in ("wiki/TitleIndex", "ticket/5", "timeline", "roadmap")),
        "http://example.org/wp-content/themes/a/style.css",
        "http://example.org/wp-includes/js/a.js",
    )
    assert runs(recognizer) == {
        ("phpbb2", "example.org/forum"), ("trac", "example.org/trac"), ("wordpress", "example.org"),
    }  # fmt: skip
    normalizer = Normalizer(more=recognizer.rules_of)

    def canonical(url: str) -> str:
        return normalizer.normalize(f"http://example.org/{url}").canonical.removeprefix("http://example.org/")

    assert canonical(f"forum/viewtopic.php?t=1&sid={SID}") == "forum/viewtopic.php?t=1"
    assert canonical(f"song?t=1&sid={SID}") == f"song?sid={SID}&t=1"  # WordPress minds no order, and knows no sid
    assert canonical("trac/ticket/5?replyto=2") == "trac/ticket/5"
    assert canonical("forum/ticket/5?replyto=2") == "forum/ticket/5?replyto=2"
    assert canonical("a-post/?replytocom=2") == "a-post/"
    assert canonical("forum/a-post/?replytocom=2") == "forum/a-post/?replytocom=2"  # the blog ends where the forum is
    assert normalizer.normalize(f"http://other.org/forum/viewtopic.php?sid={SID}").kind == "unchanged"


def test_the_start_page_is_a_programs_too_however_it_is_written() -> None:
    (found,) = seeing(*(f"http://a.example/{url}" for url in PHPBB)).recognized("a.example")
    assert found.contains("http://a.example")
    assert found.contains("http://A.example/viewtopic.php?t=1")
    assert not found.contains("http://b.example/")
    (below,) = seeing(*(f"http://a.example/forum/{url}" for url in PHPBB)).recognized("a.example")
    assert below.contains("http://a.example/forum/x")
    assert not below.contains("http://a.example/forums/x")


def test_pages_show_signs_too() -> None:
    recognizer = seeing()
    html = '<meta content="MediaWiki 1.39" name=generator><a href="/w/index.php?title=A&amp;action=history">h</a>'
    assert recognizer.see_page(sight_of("http://example.org/wiki/A", html)) == News(signs=True, programs=True)
    assert runs(recognizer) == set()  # the generator is on a page outside of /w, where the scripts are
    recognizer.see_page(sight_of("http://example.org/wiki/A", '<a href="/wiki/Special:RecentChanges">r</a>'))
    (found,) = recognizer.recognized("example.org")
    assert found.anchors == {"base": "/w", "article": "/wiki"}
    assert "generator MediaWiki" in found.signs
    normalizer = Normalizer(more=recognizer.rules_of)
    url = "http://example.org/w/index.php?title=A+B&printable=yes"
    assert normalizer.normalize(url).canonical == "http://example.org/wiki/A_B"


@pytest.mark.parametrize(("cookie", "version"), [("phpbb2mysql_sid", "phpbb2"), ("phpbb3_abc_sid", "phpbb3")])
def test_a_cookie_tells_two_versions_apart_whose_urls_and_footers_are_alike(cookie: str, version: str) -> None:
    recognizer = seeing()
    links = [f"http://example.org/{path}" for path in ("viewtopic.php?t=1", "viewforum.php?f=1", "viewtopic.php?t=2")]
    footer = 'Powered by <a href="http://www.phpbb.com/">phpBB</a> &copy; 2001, 2005 phpBB Group'
    recognizer.see_page(Sight("http://example.org/", links, cookies=[cookie], markup=footer.encode()))
    assert runs(recognizer) == {(version, "example.org")}


def test_a_link_in_a_text_is_no_sign_of_the_program_that_it_leads_to() -> None:
    recognizer = seeing()
    urls = ("wiki/RecentChanges", "wiki/Start?action=diff", "ticket/7")
    footer = '<a id="tracpowered" href="http://trac.edgewall.org/">'
    html = (
        "Popular wikis are <a href='http://moinmo.in/'>MoinMoin</a> and <a href='http://twiki.org/'>TWiki</a>." + footer
    )
    links = [f"http://example.org/{url}" for url in urls]
    recognizer.see_page(Sight("http://example.org/wiki/", links, markup=html.encode()))
    assert runs(recognizer) == {("trac", "example.org")}


def test_a_link_that_told_nothing_elsewhere_tells_at_home() -> None:
    recognizer = seeing()
    html = "".join(f'<a href="http://example.org/{url}">' for url in PHPBB)
    recognizer.see_page(sight_of("http://elsewhere.org/", html))
    assert not runs(recognizer)
    recognizer.see_page(sight_of("http://example.org/", html))
    assert runs(recognizer) == {("phpbb2", "example.org")}


def test_a_host_is_worth_another_look_when_it_has_urls_of_another_program() -> None:
    """What a page shows besides its URLs is looked for where it may count."""
    recognizer = seeing()
    page = sight_of("http://example.org/forum/", "", ("phpbb2mysql_sid",))
    assert recognizer.see_page(page) == News()
    linking = sight_of("http://example.org/forum/faq", '<a href="viewtopic.php?t=1">')
    assert recognizer.see_page(linking) == News(signs=True, programs=True)
    assert runs(recognizer) == set()
    assert recognizer.see_page(page) == News(signs=True)
    assert runs(recognizer) == {("phpbb2", "example.org/forum")}
    assert recognizer.see_page(page) == recognizer.see_page(linking) == News()


@given(st.lists(st.text(max_size=60), max_size=20), st.text(max_size=300))
def test_it_never_raises(parts: list[str], html: str) -> None:
    recognizer = Recognizer(KNOWN)
    for part in parts:
        recognizer.see_url(part)
        recognizer.see_url(f"http://example.org/{part}")
        recognizer.see_page(sight_of(f"http://example.org/{part}", html, (part,)))
    assert {found.program for found in recognizer.recognized("example.org")} <= {program.name for program in KNOWN}


def test_pages_elsewhere_take_no_place_of_those_of_a_program() -> None:
    recognizer = seeing("http://example.org/forum/viewtopic.php?t=1")
    for folder in [*range(200), "forum"]:
        recognizer.see_page(sight_of(f"http://example.org/{folder}/", "", ("phpbb2mysql_sid",)))
    assert runs(recognizer) == {("phpbb2", "example.org/forum")}


def test_a_url_is_read_once_while_its_hash_is_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recognition, "_URLS_REMEMBERED", 10)
    recognizer, read = Recognizer(programs()), list[str]()
    see = Recognizer._see

    def counted(recognizer: Recognizer, url: str, parts: UrlParts) -> None:
        read.append(url)
        see(recognizer, url, parts)

    monkeypatch.setattr(Recognizer, "_see", counted)
    urls = [f"http://example.org/{number}" for number in range(10)]
    for url in [*urls, *urls]:
        recognizer.see_url(url)
    assert read == urls
    for url in ["http://example.org/more", *urls]:
        recognizer.see_url(url)
    assert read == [*urls, "http://example.org/more", *urls], "all are forgotten at once, so that few are remembered"


def test_a_host_for_each_of_many_users() -> None:
    recognizer = seeing(*(f"http://user{n}.example.org/{url}" for n in range(300) for url in PHPBB))
    assert len(recognizer.recognized("example.org")) == MOST_OF_A_SITE
    (found,) = (one for one in recognizer.found_at("http://user299.example.org/") if one.is_recognized)
    assert (found.program, found.where) == ("phpbb2", "user299.example.org")
    assert recognizer.found_at("http://user300.example.org/") == recognizer.found_at("no URL") == []


def test_rules_are_on_probation_and_named_after_program_and_place() -> None:
    rules = seeing(*(f"http://example.org/forum/{url}" for url in PHPBB)).rules_of("example.org")
    assert {rule.state for rule in rules} == {"probation"}
    assert {rule.source for rule in rules} == {"software"}
    assert {rule.hosts for rule in rules} == {("example.org",)}
    assert "phpbb2.sid@example.org/forum" in {rule.id for rule in rules}
    assert all(rule.within or rule.match.startswith("/forum/") for rule in rules)


KNOWN: tuple[Program, ...] = programs()


WIKI = ["index.php?title=A&action=edit", "index.php?title=A&oldid=7", "index.php?title=A&printable=yes", "wiki/User:A"]


def test_what_is_doubted_is_for_crawls_and_logs_alone() -> None:
    recognizer = seeing(*(f"http://example.org/{url}" for url in WIKI))
    tried = tuple(rule.on_trial() for rule in recognizer.rules_of("example.org"))
    sure, every = Normalizer(more=recognizer.rules_of), Normalizer(more=lambda site: tried)
    article, lists = (f"http://example.org/index.php?title={title}&printable=yes" for title in ("A", "Category:A"))
    assert sure.normalize(article).rules == every.normalize(article).rules != ()
    assert "printable" not in every.normalize(lists).canonical
    assert "printable" in sure.normalize(lists).canonical


def test_of_an_archive_nothing_is_assumed() -> None:
    recognizer = seeing(*(f"http://example.org:80/{url}" for url in PHPBB))
    assert {rule.state for rule in recognizer.rules_of("example.org")} == {"doubted"}


def test_of_two_programs_one_doubts_a_rule_that_the_other_does_not() -> None:
    states: tuple[State, ...] = ("doubted", "probation")
    doubted, plain = (Rule(state, "rewrite", match="?p=1", drop=("p",), state=state) for state in states)
    assert distinct([doubted, plain]) == distinct([plain, doubted]) == (plain,)
    assert distinct([doubted, replace(doubted, id="other")]) == (doubted,)


def test_another_part_of_a_program_is_the_nearest_or_none_when_two_are() -> None:
    base = ("/a/b/heavy", "/a/b/light")
    (near,) = installations(*base, "/a/c/page", "/d/page")
    assert near.anchors == {"base": "/a/b", "side": "/a/c"}
    (unknown,) = installations(*base, "/a/c/page", "/a/d/page")
    assert unknown.anchors == {"base": "/a/b"}


DEAD = [f"http://example.org/{n}/viewtopic.php?t=1" for n in range(200)]


def test_links_to_folders_that_are_not_there_take_no_place_of_one_that_is() -> None:
    forum = [f"http://example.org/forum/{url}" for url in PHPBB]
    for urls in ([*DEAD, *forum], [*forum[:2], *DEAD, forum[2]], [*forum, *DEAD]):
        assert runs(seeing(*urls)) == {("phpbb2", "example.org/forum")}


def test_what_is_recognized_makes_no_room() -> None:
    forums = [f"http://example.org/{n}/{url}" for n in range(70) for url in PHPBB]
    assert len(runs(seeing(*forums))) == 64
    assert runs(seeing(*forums)) == runs(seeing(*forums, *DEAD))
