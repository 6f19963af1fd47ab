"""`dedupcrawl rules software`: list known programs with their signs and rules, and check a program's file."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import click

from dedupcrawl.commands.console import BadInputError, Command, FailureError, show, table
from dedupcrawl.commands.options import json_option, software_option
from dedupcrawl.printable import counted, printable
from dedupcrawl.software.checking import problems
from dedupcrawl.software.installation import ENOUGH, FEWEST
from dedupcrawl.software.program import Program, programs, read_program
from dedupcrawl.text.ignored import read_ignored
from dedupcrawl.urls.rule import described

_HEADS = ("name", "signs", "rules", "pairs", "program")


@click.command("software", cls=Command, short_help="List and check the rules of known software.")
@click.argument("name", required=False)
@click.option("--check", "file", type=click.Path(path_type=Path), help="Check FILE, a program's file.", metavar="FILE")
@software_option
@json_option
def software(name: str | None, file: Path | None, software: bool | Path, as_json: bool) -> None:
    """List the known programs and test the pairs of URLs in their files, or show the program NAME.

    A crawl recognizes a program by two signs or more of different URLs, and uses its rules there, on probation. --check
    checks one file, which may be your own (DEDUP_SOFTWARE names its folder): its pairs are merged or kept apart as they
    should be, at the root of a host and below a path; every result is its own canonical form; nothing leaves the site
    or the program's part of it; every rule is used by a pair; its list of ignored text can be read; the program is
    recognized by its pairs, but not by URLs that any site may have, nor by the pairs of another program. The exit
    status is 1 if something is wrong.

    \b
    dedupcrawl rules software
    dedupcrawl rules software phpbb3
    dedupcrawl rules software --check my-programs/myforum.toml
    """
    if file is not None:
        if name is not None:
            raise BadInputError("--check takes a file; leave NAME out.")
        _check(file, programs(software), as_json)
    elif name is None:
        _list(programs(software), as_json)
    else:
        by_name = {program.name: program for program in programs(software)}
        if name not in by_name:
            like = get_close_matches(name.lower(), by_name, n=1)
            meant = f"did you mean {like[0]!r}? T" if like else "t"
            raise BadInputError(f"No program is called {printable(name)!r}: {meant}here are {', '.join(by_name)}.")
        _show(by_name[name], as_json)


def _check(file: Path, others: Sequence[Program], as_json: bool) -> None:
    program = read_program(file)
    faults = _problems(program, others)
    pairs = len(program.same) + len(program.different)
    values = {"name": program.name, "pairs": pairs, "problems": faults}
    show(values, faults, as_json=as_json)
    if faults:
        raise FailureError(f"{counted(len(faults), 'problem')} in {printable(str(file))}.")
    if not as_json:
        click.echo(
            f"{printable(program.name)}: {counted(len(program.rules), 'rule')}, {counted(pairs, 'pair')}, no problems"
        )


def _problems(program: Program, others: Sequence[Program] = ()) -> list[str]:
    faults = problems(program, others)
    try:
        read_ignored(program.ignored)
    except ValueError as error:
        faults.append(f"ignored: {error}")
    return faults


def _list(listed: Sequence[Program], as_json: bool) -> None:
    faults = [f"{program.name}: {problem}" for program in listed for problem in _problems(program)]
    facts = list(map(_row, listed))
    rows = [_HEADS, *(tuple(str(row[head]) for head in _HEADS) for row in facts)]
    show({"programs": facts, "problems": faults}, (*table(rows), *faults), as_json=as_json)
    if faults:
        raise FailureError(f"{counted(len(faults), 'problem')} in the files of known software.")
    if not as_json:
        pairs = sum(row["pairs"] for row in facts)
        click.echo(f"{counted(len(listed), 'program')}, {counted(pairs, 'pair')} of URLs tested, no problems", err=True)


def _row(program: Program) -> dict[str, Any]:
    pairs = len(program.same) + len(program.different)
    counts = {"signs": len(program.signs), "rules": len(program.rules), "pairs": pairs}
    return {"name": program.name, "program": program.title, **counts}


def _show(program: Program, as_json: bool) -> None:
    signs = [{"sign": str(sign), "weight": sign.weight} for sign in program.signs]
    rules = [rule.to_dict() for rule in program.rules]
    pairs = {"same": program.same, "different": program.different}
    values = {**_row(program), "source": program.source, "signs": signs, "rules": rules, **pairs}
    needed = f"signs (needed: a total weight of {ENOUGH}, of {FEWEST} signs or more)"
    lines = [program.title, f"from {program.source}", "", needed]
    lines += [f"  {sign.weight:+d}  {sign}" for sign in program.signs]
    lines += ["", "rules", *(f"  {rule.id}: {described(rule)}" for rule in program.rules)]
    for head, pairs_of in (("the same page", program.same), ("different pages", program.different)):
        lines += ["", head]
        for one, other in pairs_of:
            lines += [f"  {one}", f"  {other}", ""]
    show(values, lines, as_json=as_json)
