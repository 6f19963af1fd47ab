"""The normalizer: what it promises for any string and any rules, and that its short cuts change no answer."""

from __future__ import annotations

import random
import tracemalloc
from collections.abc import Sequence
from dataclasses import replace
from itertools import permutations
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dedupcrawl.core.url_parts import split_url
from dedupcrawl.sites import ascii_form, site_of
from dedupcrawl.urls.compiled_rule import CompiledRule, TooLongError
from dedupcrawl.urls.conversions import URL_CONVERSIONS
from dedupcrawl.urls.normalized import Normalized
from dedupcrawl.urls.normalizer import Normalizer, SiteNormalizer
from dedupcrawl.urls.overlaps import done_in_part
from dedupcrawl.urls.rule import Rule, RuleError
from dedupcrawl.urls.rule_book import RuleBook
from dedupcrawl.urls.rule_files import SiteRules, write_rules
from dedupcrawl.urls.rules_in_use import RulesInUse
from dedupcrawl.urls.spelling import LONGEST_URL, canonical_url
from tests.fixtures import table_of

HOST = "http://a.com"
RULES = (
    Rule("sid", "rewrite", drop=("sid", "utm_*")),
    Rule("keep-id", "equivalence", match="/item?id={}", drop=("*",)),
    Rule("drop-b", "rewrite", drop=("b",), unless=("a",), within=("/p/{*}", "!/p/c")),
    Rule("index", "rewrite", match="/{folders*}/index.html", to="/{folders}/"),
    Rule("only-title", "rewrite", match="/index.php?title={t}", unless=("*",), to="/wiki/{t}"),
    Rule("printable", "rewrite", match="/index.php?title={t}&printable=yes", to="/wiki/{t}"),
    Rule("print", "rewrite", match="/print/{page*}", to="/{page}"),
    Rule("unprint", "rewrite", match="/a/{x}", to="/print/b/{x}"),
    Rule("swap", "rewrite", match="/p/{x}/{y}", to="/p/{y}/{x}"),
    Rule("grow", "rewrite", match="/g/{x}", to="/g/{x}-{x}"),
    Rule("token", "equivalence", match="/t-{}/{n}", to="/t-{}/{n}"),
    Rule("id", "rewrite", match="/{title}-{id:digits}.html", to="/item?id={id}"),
    Rule("to-path", "rewrite", match="/s?q={q}", to="/s/{q}"),
    Rule("to-arg", "rewrite", match="/s/{q}", to="/s?q={q}"),
    Rule("decode", "rewrite", match="/d/{x}", to="/d/{x|decode}"),
    Rule("lower", "rewrite", match="/About/{x}", to="/about/{x|lower}"),
    Rule("www", "rewrite", match="//www.{host}", to="//{host}"),
    Rule("mobile", "rewrite", match="//m.a.com/{p*}", to="//a.com/{p}", hosts=("m.a.com",)),
    Rule("secure", "rewrite", match="https://", to="http://"),
    Rule("away", "rewrite", match="/out?url={u}", to="{u|decode}"),
    Rule("home", "rewrite", match="/", to="/index.html"),
    Rule("slash", "rewrite", match="/{p*}/", to="/{p}"),
    Rule("spaced", "rewrite", drop=("a%20b",)),
    Rule("unless-plus", "rewrite", drop=("s",), unless=("t=a+{}",)),
    Rule("asks-for-an-escape", "rewrite", match="?a={x}%{y}", drop=("c",)),
    Rule("one-of-a", "equivalence", match="/p", to="/?a=*&c"),
    Rule("no-slash", "rewrite", match="/p/{x}", to="/p/{x}/"),
    Rule("add-a", "rewrite", match="/p?c={x}", to="/p?c={x}&a=1", unless=("a",)),
    Rule("drop-a", "rewrite", drop=("a",)),
    Rule("first-page", "rewrite", drop=("a",), match="?a=1"),
    *(Rule(name, "rewrite", convert=name) for name in URL_CONVERSIONS),
)

PLAIN = ["", "p", "a", "b", "c", "s", "d", "g", "item", "print", "index.html", "index.php", "About", "wiki", "out"]
ODD = ["t-1", "t-*", "x-7.html", "%2Fp", "%3fq=1", "%23", "..", ".", "x?y", "é", "a%2fb", "c;d", "c;b=2"]
SEGMENTS = st.sampled_from(PLAIN + ODD)
PLAIN_ARGS = ["sid=1", "utm_x=2", "a=1", "b=2", "b", "b=", "", "id=3", "title=T", "printable=yes", "q=x", "q=a/b"]
ODD_ARGS = ["title=a/b?c", "q=?", "c=%20", "c=+", "a=%3d", "url=http%3A%2F%2Fa.com%2Fp", "url=/p%3Fb=2"]
PLUS_ARGS = ["a+b=1", "a%20b=2", "t=a+b", "s=1", "a=b+1"]
LIST_ARGS = ["f[0]=b", "f[1]=a", "f%5B1%5D=c", "a[]=2", "a[]=1", "a=b,a", "a=b%2Ca", "c=1?c=2", "amp;b=2", "amp"]
ARGS = st.sampled_from([*PLAIN_ARGS, *PLUS_ARGS, *LIST_ARGS, *ODD_ARGS, "url=http%3A%2F%2Fevil.com"])
FRONTS = st.sampled_from(
    [HOST, "http://www.a.com", "https://a.com", "HTTP://A.com:80", "http://m.a.com", "http://a.com."]
)


@st.composite
def urls(draw: st.DrawFn) -> str:
    path = "".join(f"/{segment}" for segment in draw(st.lists(SEGMENTS, max_size=4)))
    args = draw(st.lists(ARGS, max_size=4))
    query = "?" + draw(st.sampled_from(["&", ";"])).join(args) if args else ""
    tail = draw(st.sampled_from(["", "", "#", "#x?y=/1", "#!/x?y=1", "&#38;b=2"]))
    return draw(FRONTS) + path + query + ("?x" if tail[:1] == "&" and not args else "") + tail


sites_rules = st.lists(st.sampled_from(RULES), unique_by=lambda rule: rule.id, max_size=7).map(tuple)


def by_the_book(url: str, rules: tuple[Rule, ...]) -> tuple[str, tuple[str, ...] | None]:
    """Every rule in order, tokenized anew after each pass, until nothing changes; no short cut.

    Returns:
        The canonical form, and the rules that made it; None for these where the URL went round in a circle.
    """
    compiled = [CompiledRule(rule) for rule in rules if rule.state != "disabled"]
    used: dict[str, None] = {}
    url = text = canonical_url(url)
    trail = [url]
    for _ in range(18):
        parts = split_url(text)
        if parts is None or len(text) > LONGEST_URL:
            return url, ()
        changed = False
        for rule in compiled:
            values: dict[str, str] = {}
            try:
                after = rule.made(parts, values, "a.com") if rule.conditions.fits(parts, values) else None
            except TooLongError:
                return url, ()
            if after is not None:
                parts, changed = after, True
                used[rule.rule.id] = None
        if not changed:
            return text, tuple(used) if text != url else ()
        text = parts.join()
        if text in trail:
            return min(trail[trail.index(text) :]), None
        trail.append(text)
    return url, ()


@settings(max_examples=500)
@given(urls(), sites_rules)
def test_short_cuts_change_no_answer(url: str, rules: tuple[Rule, ...]) -> None:
    normalizer = SiteNormalizer(SiteRules("a.com", rules))
    found = normalizer.normalize(url)
    canonical, used = by_the_book(url, rules)
    if used is None:  # a rule that is passed over when a pass begins may make another circle of it
        assert normalizer.normalize(canonical).canonical == found.canonical
    else:
        assert found.canonical == canonical
        assert set(found.rules) >= set(used)  # and one whose change another undid, if it waited for the next pass


@settings(max_examples=200)
@given(urls(), sites_rules, st.sets(st.sampled_from([rule.id for rule in RULES])), st.sampled_from(["/p", "a=1", "b"]))
def test_where_rules_are_off_the_others_make_a_canonical_url(
    url: str, rules: tuple[Rule, ...], off: set[str], mark: str
) -> None:
    class Book(RuleBook):
        def excluded(self, url: str, rules: Sequence[str]) -> frozenset[str]:
            return frozenset(off.intersection(rules) if mark in url else ())

    known = Normalizer([SiteRules("a.com", rules)])
    normalizer = RulesInUse(known, Book(known, 1.0, Random(1)))
    found, spelled = normalizer.normalize(url), canonical_url(url)  # what a site's rules are asked about
    assert normalizer.normalize(url) == found
    assert normalizer.normalize(found.canonical).canonical == found.canonical
    assert mark not in spelled or off.isdisjoint(found.rules)
    if mark not in spelled and mark not in found.canonical:
        assert found == SiteNormalizer(SiteRules("a.com", rules)).normalize(url)
    if mark in spelled and mark in found.canonical and found.kind != "unchanged":
        left = tuple(rule for rule in rules if rule.id not in off)
        assert found == SiteNormalizer(SiteRules("a.com", left)).normalize(url)


@settings(max_examples=200)
@given(urls(), sites_rules)
def test_what_can_be_asked_for_is_made_by_rewrites_alone_and_has_the_same_canonical_form(
    url: str, rules: tuple[Rule, ...]
) -> None:
    normalizer = RulesInUse(Normalizer([SiteRules("a.com", rules)]))
    found, made = normalizer.normalize(url), normalizer.fetchable(url)
    assert made.kind != "equivalence"
    assert {rule.kind for rule in rules if rule.id in made.rules} <= {"rewrite"}
    assert normalizer.normalize(made.canonical).canonical == found.canonical
    assert found.kind == "equivalence" or made == found
    assert normalizer.fetchable(made.canonical).canonical == made.canonical


def test_a_canonical_url_of_a_circle_is_canonical_itself() -> None:
    circle = tuple(rule for rule in RULES if rule.id in {"add-a", "drop-a", "sort-query"})
    normalizer = SiteNormalizer(SiteRules("a.com", circle))
    for query in ("c=3", "a=1&c=3", "a=2&c=3", "c=3&a=1"):
        assert normalizer.normalize(f"{HOST}/p?{query}").canonical == f"{HOST}/p?a=1&c=3"


@pytest.mark.parametrize("char", ["é", "中", "😀", "\ud800", "%41"])
@pytest.mark.parametrize("more", range(-3, 4))
def test_a_url_that_is_too_long_in_its_one_spelling_is_left_alone(char: str, more: int) -> None:
    """Else what a rule leaves may be short enough, and is spelled otherwise the next time."""
    times = LONGEST_URL // len(canonical_url(f"{HOST}/{char}")[len(HOST) + 1 :]) + more
    normalizer = SiteNormalizer(SiteRules("a.com", RULES[:1]))
    found = normalizer.normalize(f"{HOST}/{char * times}?utm_x=1").canonical
    assert normalizer.normalize(found).canonical == found


@settings(max_examples=200)
@given(st.one_of(urls(), st.text(), st.text().map(f"{HOST}/{{}}".format)), sites_rules)
def test_any_string(url: str, rules: tuple[Rule, ...]) -> None:
    normalizer = Normalizer([SiteRules("a.com", rules)])
    found = normalizer.normalize(url)
    assert found == normalizer.normalize(url)
    assert found.url == url
    assert (found.canonical == url) == (found.kind == "unchanged")
    assert (found.canonical == canonical_url(url)) == (found.rules == ())
    assert normalizer.normalize(canonical_url(url)).canonical == found.canonical
    if found.rules:
        assert site_of(found.canonical) == site_of(canonical_url(url)) == "a.com"
        assert set(found.rules) <= {rule.id for rule in rules}
    assert normalizer.normalize(found.canonical).canonical == found.canonical


@table_of("urls", "what_is_left_alone")
def test_what_is_left_alone(url: str) -> None:
    assert Normalizer([SiteRules("a.com", RULES)]).normalize(url) == Normalized(url, url, "unchanged", ())


@pytest.mark.parametrize("url", ["x" * 2_000_000 + "?sid=1", "?" + "sid=1&" * 400_000, "a/" * 1_000_000])
def test_what_is_longer_than_any_url_is_left_alone(url: str) -> None:
    assert Normalizer([SiteRules("a.com", RULES)]).normalize(f"{HOST}/{url}").kind == "unchanged"


@pytest.mark.parametrize(
    ("match", "to"), [("/g/{x}", "/g/{x}" + "y" * 3000), ("//{h}/g/{x}", "//{h}/g/{x}-{h}" + "y" * 3000)]
)
def test_rules_that_do_not_end_leave_a_url_alone(match: str, to: str) -> None:
    normalizer = SiteNormalizer(SiteRules("a.com", (Rule("grow", "rewrite", match=match, to=to), RULES[0])))
    for url in (f"{HOST}/g/1", f"{HOST}/g/1?sid=2"):
        assert normalizer.normalize(url).kind == "unchanged"


def test_rules_that_multiply_a_url_do_so_within_bounds() -> None:
    many = "-".join(["{x}"] * 800)
    rules = tuple(Rule(f"r{i}", "rewrite", match="/{a}/{x}", to=f"/{{a}}/{many}") for i in range(3))
    tracemalloc.start()
    assert SiteNormalizer(SiteRules("a.com", rules)).normalize(f"{HOST}/1/2").kind == "unchanged"
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2_000_000  # bytes


HOSTS = ("a.com", "www.a.com", "a.com:80", "b.a.com", "WWW.A.COM", "c.com")
OF_HOSTS = tuple(
    replace(rule, id=f"{rule.id}@{number}", hosts=hosts)
    for rule in RULES
    for number, hosts in enumerate([(), ("a.com",), ("www.a.com", "b.a.com"), ("!b.a.com",)])
)


@given(st.data())
def test_what_is_remembered_is_of_the_rules_as_they_are(data: st.DataObject) -> None:
    """Rules come, go, and become equivalences while URLs are asked for: each answer is that of a new normalizer."""
    more: list[Rule] = []
    equivalences = set[str]()
    normalizer = Normalizer(more=lambda site: more if site == "a.com" else ())
    paths = (
        "/p/x/y",
        "/?a=1&b=2&sid=3",
        "/index.php?title=t",
        "/a/b/",
        "?c",
        "/s?q=1&&A=%7e",
        "/out?url=http://b.a.com/a/",
    )
    urls = [f"http://{host}{path}" for host in HOSTS for path in paths]
    for _ in range(data.draw(st.integers(1, 8))):
        for url in data.draw(st.lists(st.sampled_from(urls), max_size=8)):
            normalizer.normalize(url)
        known = [rule.id for rule in more]
        change = data.draw(st.sampled_from(["more", "less", "equivalence"]))
        if change == "more":
            more.extend(
                one for one in data.draw(st.lists(st.sampled_from(OF_HOSTS), max_size=3)) if one.id not in known
            )
            normalizer.has_more("a.com")
        elif more and change == "less":
            more.remove(data.draw(st.sampled_from(more)))
            normalizer.has_more("a.com")
        elif more:
            name = data.draw(st.sampled_from(known))
            equivalences.add(name)
            normalizer.make_equivalence("a.com", name)
    fresh = Normalizer(more=lambda site: more if site == "a.com" else ())
    for name in equivalences:
        fresh.make_equivalence("a.com", name)
    assert [normalizer.normalize(url) for url in urls] == [fresh.normalize(url) for url in urls]


def test_what_is_known_besides_the_file_comes_before_what_was_learned_and_after_what_is_written_by_hand() -> None:
    """A rule that decodes an argument makes URLs of which known software's rules do not know."""
    by_hand = Rule("mine", "rewrite", match="/old/{p*}", to="/{p*}", source="hand")
    learned = Rule("r1", "equivalence", match="/add/{}/back/{to}/", to="/add/{}/back/{to|base64}", source="learned")
    known = Rule("shop", "equivalence", match="/add/{:digits}/back/{to}/", to="/add/back/{to}/", source="software")
    normalizer = Normalizer([SiteRules("a.com", (by_hand, learned))], more=lambda site: [known])
    there = "aHR0cDovL2EuY29tL2IvYw"
    one, other = (normalizer.normalize(f"http://a.com/{path}/back/{there}/") for path in ("add/1", "old/add/2"))
    assert one.canonical == other.canonical
    assert [one.rules, other.rules] == [("shop",), ("mine", "shop")]


def test_what_the_file_has_for_fewer_urls_is_not_used_for_all_of_them() -> None:
    """Whatever it is called there: a log, or a person, has told where it does not hold."""
    known = Rule("forum.sid@a.com", "rewrite", hosts=("a.com",), drop=("sid",), source="software")
    narrower = replace(known, id=f"{known.id}-2", unless=("t",))
    url = "http://a.com/?sid=1&t=2"
    for kept, canonical in (
        (narrower, url),
        (replace(narrower, id="mine", source="hand"), url),
        (replace(narrower, id="r1", source="learned"), "http://a.com/?t=2"),
        (replace(narrower, hosts=("b.a.com",)), "http://a.com/?t=2"),
    ):
        normalizer = Normalizer([SiteRules("a.com", (kept,))], more=lambda site: [known])
        assert normalizer.normalize(url).canonical == canonical, kept.id


SID = Rule("sid", "rewrite", drop=("sid",))


def test_a_host_of_a_million_characters_is_no_name() -> None:
    normalizer = Normalizer([SiteRules("a.com", (SID,))])
    for host in ("xn--" + "a" * 1_000_000, "é" * 1_000_000):
        assert normalizer.normalize(f"http://{host}/?sid=1").kind == "unchanged"


@pytest.mark.parametrize(
    "site", ["bücher.example", "xn--bcher-kva.example", "例え.jp", "127.0.0.1", "[::1]", "localhost"]
)
def test_any_kind_of_host_has_its_file(tmp_path: Path, site: str) -> None:
    write_rules(tmp_path, SiteRules(site, (SID,)))
    found = Normalizer.from_paths([tmp_path]).normalize(f"http://{site}:8080/a?sid=1")
    assert found.canonical == f"http://{ascii_form(site)}:8080/a"


@pytest.mark.parametrize("by_file", [True, False])
@pytest.mark.parametrize(("written", "asked"), [("bücher.de", "xn--bcher-kva.de"), ("xn--bcher-kva.de", "bücher.de")])
def test_an_international_name_in_either_form(tmp_path: Path, written: str, asked: str, by_file: bool) -> None:
    rules = SiteRules(written, (SID, Rule("www", "rewrite", match="//www.{host}", to="//{host}")))
    path = write_rules(tmp_path, rules)
    normalizer = Normalizer.from_paths([path if by_file else tmp_path])
    assert normalizer.normalize(f"http://www.{asked}/a?sid=1").canonical == "http://xn--bcher-kva.de/a"
    assert normalizer.site_count == 1


def test_files_are_opened_when_their_site_is_met(tmp_path: Path) -> None:
    for n in range(60):
        write_rules(tmp_path, SiteRules(f"s{n}.com", (SID,)))
    (tmp_path / "s0.com.toml").write_text("nonsense")
    (tmp_path / "s1.com.toml").write_text('site = "other.com"')
    normalizer = Normalizer.from_paths([tmp_path])
    assert normalizer.site_count == 60
    assert normalizer.normalize("http://www.s5.com/?sid=1").canonical == "http://www.s5.com/"
    assert normalizer.normalize("http://s0.com/?sid=1").kind == "unchanged"
    assert normalizer.normalize("http://s1.com/?sid=1").kind == "unchanged"


def test_a_broken_file_of_a_small_folder_is_an_error_at_the_start(tmp_path: Path) -> None:
    (tmp_path / "a.com.toml").write_text("nonsense")
    with pytest.raises(RuleError, match=r"a\.com\.toml"):
        Normalizer.from_paths([tmp_path])


def test_rules_that_say_the_same_for_other_sites_keep_their_own_names(tmp_path: Path) -> None:
    one, other = Rule("one", "rewrite", drop=("sid",), note="1"), Rule("other", "rewrite", drop=("sid",))
    off = Rule("off", "rewrite", drop=("sid",), state="disabled")
    normalizer = Normalizer([SiteRules("a.com", (one,)), SiteRules("b.com", (other,)), SiteRules("c.com", (off,))])
    assert normalizer.normalize("http://a.com/?sid=1").rules == ("one",)
    assert normalizer.normalize("http://b.com/?sid=1").rules == ("other",)
    assert normalizer.normalize("http://c.com/?sid=1").rules == ()


def test_names_that_are_one_in_ascii_are_one_site() -> None:
    """A circle through both of them has one canonical URL, whatever the order of its rules."""
    circle = (
        Rule("1", "rewrite", match="http://ｓtrasse.de/a", to="http://ｓtrasse.de/b"),
        Rule("2", "rewrite", match="http://ｓtrasse.de/b", to="https://strasse.de/c"),
        Rule("3", "rewrite", match="https://strasse.de/c", to="http://ｓtrasse.de/a"),
    )
    for rules in permutations(circle):
        content = SiteRules("strasse.de", rules).to_dict()
        normalizer = Normalizer([SiteRules.from_dict(content)])
        for url in ("http://ｓtrasse.de/a", "http://ｓtrasse.de/b", "https://strasse.de/c"):
            canonical = normalizer.normalize(url).canonical
            assert normalizer.normalize(canonical).canonical == canonical


def test_memory_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of many sites only the newest are remembered; answers do not change."""
    for n in range(40):
        write_rules(tmp_path, SiteRules(f"s{n}.com", (SID,)))
    monkeypatch.setattr("dedupcrawl.urls.normalizer._HOSTS_KEPT", 8)
    normalizer = Normalizer.from_paths([tmp_path])
    for n in random.Random(0).choices(range(60), k=300):
        url = f"http://s{n}.com/"
        assert normalizer.normalize(f"{url}?sid=1").canonical == (url if n < 40 else f"{url}?sid=1")
    assert len(normalizer._names) <= 8


@pytest.mark.parametrize("hosts", [("www.bücher.de",), ("www.xn--bcher-kva.de",)])
def test_hosts_of_a_rule_are_meant_in_either_spelling(hosts: tuple[str, ...]) -> None:
    on = SiteNormalizer(SiteRules("bücher.de", (Rule("r", "rewrite", hosts=hosts, drop=("x",)),)))
    off = SiteNormalizer(SiteRules("bücher.de", (Rule("r", "rewrite", hosts=(f"!{hosts[0]}",), drop=("x",)),)))
    for url in ("http://www.bücher.de/?x=1", "http://www.xn--bcher-kva.de/?x=1", "http://WWW.BÜCHER.de/?x=1"):
        assert (on.normalize(url).rules, off.normalize(url).rules) == (("r",), ())


MORE = Rule("more", "rewrite", drop=("lang", "sid"))


@table_of("urls", "what_is_done_in_part_whatever_its_name")
def test_what_is_done_in_part_whatever_its_name(used: dict[str, Any], asked: dict[str, Any], is_done: bool) -> None:
    one, other = (Rule.from_dict({**SID.to_dict(), **what}) for what in (used, asked))
    assert done_in_part([MORE, replace(one, id="other")])(other) is is_done
