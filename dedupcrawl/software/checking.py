"""Checking a program's file: do its rules what its pairs of URLs say, and nothing else that can be told beforehand."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from dedupcrawl.software.installation import ENOUGH
from dedupcrawl.software.program import BASE, Anchors, Program, anchor_of, anchored, rules_at
from dedupcrawl.software.recognition import Recognizer
from dedupcrawl.urls.normalizer import SiteNormalizer
from dedupcrawl.urls.rule_files import SiteRules

_HOST = "www.example.org"
_SITE = "example.org"
_BASES = ("", "/some/place")  # where a program may be
_NAMED_HOST = re.compile(r"[a-z]+:|//(?!\{)")  # not one that is captured: a rule leads to no other site


def problems(program: Program, others: Sequence[Program] = ()) -> list[str]:
    """What is wrong with a program, one sentence each.

    Each pair is tried with the program at the root of a host and below a path; every result has to be its own
    canonical form. No rule may name a host, but it may take one from the URL. Every rule has to be needed by a pair.
    The signs of URLs alone have to be enough to recognize it, and neither may it be recognized in the URLs of another
    program's pairs nor another in its.
    """
    found = [*_of_rules(program), *_of_signs(program)]
    for base in _BASES:
        found += _of_pairs(program, places(program, base))
    for other in others:
        if other.name != program.name:
            found += _taken_for(program, other)
            found += _taken_for(other, program)
    return found


def places(program: Program, base: str) -> Anchors:
    """A path for each of its anchors."""
    rules = [text for rule in program.rules for text in (rule.match, rule.to, *rule.within)]
    texts = [*rules, *(sign.url for sign in program.signs), *(url for pair in program.same for url in pair)]
    names = {anchor_of(text.removeprefix("!")) for text in texts if text}
    return {name: base if name == BASE else f"{base}/{name}" for name in {BASE, *names}}


def normalizer_at(program: Program, anchors: Anchors) -> SiteNormalizer:
    """The rules of an installation, ready to be applied, the doubted ones too."""
    return SiteNormalizer(SiteRules(_SITE, tuple(rules_at(replace(program, doubted=()), anchors, [_HOST], _HOST))))


def full(url: str, anchors: Anchors) -> str:
    """A URL of a pair on the host of the check."""
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


def _of_signs(program: Program) -> Iterator[str]:
    weights = [sign.weight for sign in program.signs if sign.url and sign.weight > 0]
    if sum(weights) < ENOUGH or len(weights) < 2:
        yield f"its URLs alone do not tell it: two signs of URLs or more, of a total weight of {ENOUGH}, are needed"


def _of_pairs(program: Program, anchors: Anchors) -> Iterator[str]:
    normalizer = normalizer_at(program, anchors)

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
    outside = f"http://{_HOST}/elsewhere"
    for url in sorted({url for pair in program.same for url in pair}) if anchors[BASE] else ():
        if normalizer.normalize(outside + anchored(url, {})).rules:
            yield f"{url} is changed outside of the program's part of the host, too"


def _taken_for(program: Program, other: Program) -> Iterator[str]:
    """What `program` would be recognized by in the URLs of another one's pairs."""
    recognizer = Recognizer([program])
    anchors = places(other, "")
    for pair in (*other.same, *other.different):
        for url in pair:
            recognizer.see_url(full(url, anchors))
    for found in recognizer.recognized(_SITE):
        if found.rules(recognizer.programs):
            yield f"{other.name} is taken for {program.name}, by {', '.join(found.signs)}"
