"""`dedupcrawl rules software`: known programs, their signs and rules, and whether a program's file is sound.

It is if its rules do what its pairs of URLs say, and nothing else that can be told beforehand.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import click
from msgspec.structs import replace

from dedupcrawl.commands.console import BadInputError, Command, FailureError, show, table
from dedupcrawl.commands.options import json_option, software_option
from dedupcrawl.content.selection import read_ignored
from dedupcrawl.printable import counted, printable
from dedupcrawl.software.installation import ENOUGH, FEWEST, Installation
from dedupcrawl.software.program import BASE, Anchors, Program, anchor_of, anchored, programs, read_program, rules_at
from dedupcrawl.software.recognition import Recognizer
from dedupcrawl.urls.normalizer import SiteNormalizer
from dedupcrawl.urls.rule import described
from dedupcrawl.urls.rule_files import SiteRules

_HEADS = ("name", "signs", "rules", "pairs", "program")
_HOST = "www.example.org"
_SITE = "example.org"
_BASES = ("", "/some/place")  # where a program may be
_NAMED_HOST = re.compile(r"[a-z]+:|//(?!\{)")  # not one that is captured: a rule leads to no other site

# URLs of no program: one that is recognized by these is recognized anywhere.
_ORDINARY = (
    "/ /index.html /index.php /about /contact /imprint.html /login /register /sitemap.xml /robots.txt /feed "
    "/rss.xml /search?q=word /news/2010/01/02/a-title /2010/01/a-title/ /blog/ /blog/a-title /archive /category/a "
    "/tag/b /author/c /page/2 /?page=2 /?id=5 /index.php?id=5 /article.php?id=5 /news.asp?id=5 "
    "/list?sort=name&order=asc /user/5 /users/name /item/5 /products/a /cart /account /en/ /de/about /images/a.png "
    "/css/style.css /js/main.js /static/a.js /files/a.pdf /download/5 /forum/ /wiki/ /docs/ /help /faq /privacy "
    "/print/5 /?lang=en /?utm_source=a /events/2010-01-02"
)


@click.command("software", cls=Command, short_help="List and check the rules of known software.")
@click.argument("name", required=False)
@click.option("--check", "file", type=click.Path(path_type=Path), help="Check FILE, a program's file.", metavar="FILE")
@software_option
@json_option
def software(name: str | None, file: Path | None, software: bool | Path, as_json: bool) -> None:
    """List the known programs and test the pairs of URLs in their files, or show the program NAME.

    A crawl uses a program's rules, on probation, where it recognizes the program, by two signs or more of different
    URLs. --check looks at one file, which may be your own (DEDUP_SOFTWARE names their folder): its pairs are merged or
    not as they should, at the root of a host and below a path, every result is its own canonical form, nothing leaves
    the site or the program's part of it, every rule is used by a pair, what is ignored can be read, its pairs tell the
    program, and neither URLs of any site nor another program are taken for it. Exit status 1 when something is wrong.

    \b
    dedupcrawl rules software
    dedupcrawl rules software phpbb3
    dedupcrawl rules software --check my-programs/myforum.toml
    """
    if file is not None:
        if name is not None:
            raise BadInputError("--check takes a file, and then no NAME.")
        _check(file, programs(software), as_json)
    elif name is None:
        _list(programs(software), as_json)
    else:
        known = {program.name: program for program in programs(software)}
        if name not in known:
            like = get_close_matches(name.lower(), known, n=1)
            meant = f"did you mean {like[0]!r}? T" if like else "t"
            raise BadInputError(f"No program is called {printable(name)!r}: {meant}here are {', '.join(known)}.")
        _show(known[name], as_json)


def _check(file: Path, known: Sequence[Program], as_json: bool) -> None:
    program = read_program(file)
    found = problems(program, known)
    pairs = len(program.same) + len(program.different)
    told = {"name": program.name, "pairs": pairs, "problems": found}
    show(told, found, as_json=as_json)
    if found:
        raise FailureError(f"{counted(len(found), 'problem')} in {printable(str(file))}.")
    if not as_json:
        click.echo(
            f"{printable(program.name)}: {counted(len(program.rules), 'rule')}, {counted(pairs, 'pair')}, no problems"
        )


def _list(known: Sequence[Program], as_json: bool) -> None:
    found = [f"{program.name}: {problem}" for program in known for problem in problems(program)]
    told = list(map(_row, known))
    rows = [_HEADS, *(tuple(str(row[head]) for head in _HEADS) for row in told)]
    show({"programs": told, "problems": found}, (*table(rows), *found), as_json=as_json)
    if found:
        raise FailureError(f"{counted(len(found), 'problem')} in the files of known software.")
    if not as_json:
        pairs = sum(row["pairs"] for row in told)
        click.echo(f"{counted(len(known), 'program')}, {counted(pairs, 'pair')} of URLs tested, no problems", err=True)


def _row(program: Program) -> dict[str, Any]:
    pairs = len(program.same) + len(program.different)
    counts = {"signs": len(program.signs), "rules": len(program.rules), "pairs": pairs}
    return {"name": program.name, "program": program.title, **counts}


def _show(program: Program, as_json: bool) -> None:
    signs = [{"sign": str(sign), "weight": sign.weight} for sign in program.signs]
    rules = [rule.to_dict() for rule in program.rules]
    pairs = {"same": program.same, "different": program.different}
    told = {**_row(program), "source": program.source, "signs": signs, "rules": rules, **pairs}
    needed = f"signs (needed: a total weight of {ENOUGH}, of {FEWEST} signs or more)"
    lines = [program.title, f"from {program.source}", "", needed]
    lines += [f"  {sign.weight:+d}  {sign}" for sign in program.signs]
    lines += ["", "rules", *(f"  {rule.id}: {described(rule)}" for rule in program.rules)]
    for head, pairs_of in (("the same page", program.same), ("different pages", program.different)):
        lines += ["", head]
        for one, other in pairs_of:
            lines += [f"  {one}", f"  {other}", ""]
    show(told, lines, as_json=as_json)


def problems(program: Program, others: Sequence[Program] = ()) -> list[str]:
    """What is wrong with a program, one sentence each.

    Each pair is tried with the program at the root of a host and below a path; every result has to be its own
    canonical form, below the path of the program. No rule may name a host, but it may take one from the URL. Every
    rule has to be needed by a pair. The program has to be recognized by the URLs of its pairs alone, not by ordinary
    ones nor by those of another program's pairs, and no other by its. What is ignored has to be readable.
    """
    found = [*_of_rules(program)]
    if not _recognized(program, _of_all_pairs(program)):
        needed = f"{FEWEST} signs of URLs or more, of a total weight of {ENOUGH}"
        found.append(f"the URLs of its pairs alone do not tell it: they have to show {needed}")
    if by := _recognized(program, (f"http://{_HOST}{url}" for url in _ORDINARY.split())):
        found.append(f"it is recognized by URLs that any site may have: {', '.join(by[0].signs)}")
    for base in _BASES:
        found += _of_pairs(program, places(program, base))
    for other in others:
        if other.name != program.name:
            found += _taken_for(program, other)
            found += _taken_for(other, program)
    try:
        read_ignored(program.ignored)
    except ValueError as error:
        found.append(f"ignored: {error}")
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


def _of_pairs(program: Program, anchors: Anchors) -> Iterator[str]:
    normalizer = normalizer_at(program, anchors)
    # A link may carry a URL, with its host, that is no other at another place of the program.
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
        path = made.removeprefix(f"http://{_HOST}")
        if not path.startswith(f"{below}/") or not {".", ".."}.isdisjoint(unquote(path.partition("?")[0]).split("/")):
            yield f"{url} becomes {made}: a result stays on the host, below the path of the program, without . and .."
    outside = f"http://{_HOST}/elsewhere"
    for url in sorted({url for pair in program.same for url in pair}) if anchors[BASE] else ():
        if normalizer.normalize(outside + anchored(url, {})).rules:
            yield f"{url} is changed outside of the program's part of the host, too"


def _taken_for(program: Program, other: Program) -> Iterator[str]:
    """What `program` would be recognized by in the URLs of another one's pairs."""
    for found in _recognized(program, _of_all_pairs(other)):
        yield f"{other.name} is taken for {program.name}, by {', '.join(found.signs)}"


def _of_all_pairs(program: Program) -> Iterator[str]:
    anchors = places(program, "")
    return (full(url, anchors) for pair in (*program.same, *program.different) for url in pair)


def _recognized(program: Program, urls: Iterable[str]) -> list[Installation]:
    """Where a program would be that has some rules there."""
    recognizer = Recognizer([program])
    for url in urls:
        recognizer.see_url(url)
    there = recognizer.recognized(_SITE)
    return [found for found in there if found.rules(recognizer.programs) or not program.rules]
