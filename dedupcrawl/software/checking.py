"""Check a program's file: whether its rules do what its pairs of URLs demand, and nothing else that is foreseeable."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from msgspec.structs import replace

from dedupcrawl.software.installation import ENOUGH, FEWEST, Installation
from dedupcrawl.software.program import BASE, Anchors, Program, anchor_of, anchored, rules_at
from dedupcrawl.software.recognition import Recognizer
from dedupcrawl.urls.normalizer import SiteNormalizer
from dedupcrawl.urls.rule_files import SiteRules

_HOST = "www.example.org"
_SITE = "example.org"
_BASES = ("", "/some/place")  # paths at which a program is tried
_DOMAIN = re.compile(r"[\w.-]+\.(?!(js|css|php)$)[a-z]{2,4}")  # a domain, not a file
_NAMED_HOST = re.compile(r"[a-z]+:|//(?!\{)")  # a literal host, which could lead to another site; a slot cannot

# URLs of no particular program: signs that match these would recognize a program anywhere.
_ORDINARY = (
    "/ /index.html /index.php /about /contact /imprint.html /login /register /sitemap.xml /robots.txt /feed "
    "/rss.xml /search?q=word /news/2010/01/02/a-title /2010/01/a-title/ /blog/ /blog/a-title /archive /category/a "
    "/tag/b /author/c /page/2 /?page=2 /?id=5 /index.php?id=5 /article.php?id=5 /news.asp?id=5 "
    "/list?sort=name&order=asc /user/5 /users/name /item/5 /products/a /cart /account /en/ /de/about /images/a.png "
    "/css/style.css /js/main.js /static/a.js /files/a.pdf /download/5 /forum/ /wiki/ /docs/ /help /faq /privacy "
    "/print/5 /?lang=en /?utm_source=a /events/2010-01-02"
)


def problems(program: Program, others: Sequence[Program] = ()) -> list[str]:
    """The problems of a program's file, one sentence each.

    Each pair is tried with the program at the root of a host and below a path; every result must be its own canonical
    form, below the path of the program. No rule may name a host, but it may take one from the URL, and each rule must
    be needed by a pair. The URLs of its pairs must suffice to recognize the program; ordinary URLs and those of other
    programs' pairs must not, nor may its pairs show another program.
    """
    faults = [*_of_rules(program)]
    if not _recognized(program, _of_all_pairs(program)):
        needed = f"{FEWEST} signs of URLs or more, of a total weight of {ENOUGH}"
        faults.append(f"the URLs of its pairs alone do not tell it: they have to show {needed}")
    if by := _recognized(program, (f"http://{_HOST}{url}" for url in _ORDINARY.split())):
        faults.append(f"it is recognized by URLs that any site may have: {', '.join(by[0].signs)}")
    if domains := [sign.html for sign in program.signs if _DOMAIN.fullmatch(sign.html)]:
        faults.append(f"a page of any site may link to {', '.join(domains)}: take a text that the program alone writes")
    for base in _BASES:
        faults += _of_pairs(program, places(program, base))
    for other in others:
        if other.name != program.name:
            faults += _taken_for(program, other)
            faults += _taken_for(other, program)
    return faults


def places(program: Program, base: str) -> Anchors:
    """A path for each anchor that the program uses, at or below `base`."""
    rules = [text for rule in program.rules for text in (rule.match, rule.to, *rule.within)]
    texts = [*rules, *(sign.url for sign in program.signs), *(url for pair in program.same for url in pair)]
    names = {anchor_of(text.removeprefix("!")) for text in texts if text}
    return {name: base if name == BASE else f"{base}/{name}" for name in {BASE, *names}}


def normalizer_at(program: Program, anchors: Anchors) -> SiteNormalizer:
    """A normalizer with the rules of an installation, including the doubted ones."""
    return SiteNormalizer(SiteRules(_SITE, tuple(rules_at(replace(program, doubted=()), anchors, [_HOST], _HOST))))


def full(url: str, anchors: Anchors) -> str:
    return f"http://{_HOST}{anchored(url, anchors)}"


def _of_rules(program: Program) -> Iterator[str]:
    for rule in program.rules:
        for text in (rule.match, rule.to):
            if _NAMED_HOST.match(text):
                yield f"rule {rule.id!r}: {text!r} names a scheme or a host: a program is on any"
    for rule in program.rules:
        rest = replace(program, rules=tuple(other for other in program.rules if other is not rule))
        if not any("should be merged" in problem for problem in _of_pairs(rest, places(program, ""))):
            yield f"rule {rule.id!r}: no pair of `same` needs it, so nothing tests it"


def _of_pairs(program: Program, anchors: Anchors) -> Iterator[str]:
    normalizer = normalizer_at(program, anchors)
    # If a rule takes the target from an argument of a link, that URL has a host and path of its own.
    below = "" if any(rule.to.startswith("//") for rule in program.rules) else anchors[BASE]

    def canonical(url: str) -> str:
        return normalizer.normalize(full(url, anchors)).canonical

    for one, other in program.same:
        if canonical(one) != canonical(other):
            yield f"{one} becomes {canonical(one)}, and {other} becomes {canonical(other)}: they should be merged"
    for one, other in program.different:
        if canonical(one) == canonical(other):
            yield f"{one} and {other} become {canonical(one)}: they should not be merged"
    for url in sorted({url for pair in (*program.same, *program.different) for url in pair}):
        made = canonical(url)
        again = normalizer.normalize(made).canonical
        if again != made:
            yield f"{url} becomes {made}, which becomes {again}: a canonical form should be its own"
        if not made.removeprefix(f"http://{_HOST}").startswith(f"{below}/"):
            yield f"{url} becomes {made}: a result stays on the host, below the path of the program"
    outside = f"http://{_HOST}/elsewhere"
    for url in sorted({url for pair in program.same for url in pair}) if anchors[BASE] else ():
        if normalizer.normalize(outside + anchored(url, {})).rules:
            yield f"{url} is changed outside of the program's part of the host, too"


def _taken_for(program: Program, other: Program) -> Iterator[str]:
    """Problems of pairs of `other` whose URLs are recognized as `program`."""
    for one in _recognized(program, _of_all_pairs(other)):
        yield f"{other.name} is taken for {program.name}, by {', '.join(one.signs)}"


def _of_all_pairs(program: Program) -> Iterator[str]:
    anchors = places(program, "")
    return (full(url, anchors) for pair in (*program.same, *program.different) for url in pair)


def _recognized(program: Program, urls: Iterable[str]) -> list[Installation]:
    """The places where these URLs show a program, if it has rules there or no rules at all."""
    recognizer = Recognizer([program])
    for url in urls:
        recognizer.see_url(url)
    there = recognizer.recognized(_SITE)
    return [one for one in there if one.rules(recognizer.programs) or not program.rules]
