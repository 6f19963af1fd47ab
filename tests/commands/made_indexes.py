"""Indexes of which transcripts tell: what crawls leave in one, made without a crawl. Each is `index` of the folder."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from dedupcrawl.aliases.alias import NAME as ALIAS
from dedupcrawl.aliases.alias import SAID, Alias
from dedupcrawl.index.errors import IndexMismatchError
from dedupcrawl.index.lmdb import LmdbIndex
from dedupcrawl.index.record import Rewrite, Skip
from dedupcrawl.index.runs import RunTally
from dedupcrawl.software.installation import NAME, Installation, SiteSoftware
from dedupcrawl.urls.credits import NAME as CREDITS
from dedupcrawl.urls.credits import Credit, Credits
from dedupcrawl.verdict import Verdict
from tests.index.toys import CHECKS, drop, lose, offer
from tests.index.toys import page as entry
from tests.report.made import tell_run

SITE = "http://a.example/"


@contextmanager
def opened() -> Iterator[LmdbIndex]:
    try:
        index = LmdbIndex(Path("index"), CHECKS)
    except IndexMismatchError:  # one that `check` has made
        index = LmdbIndex(Path("index"), ())
    yield index
    index.close()


def duplicate(url: str, keeper: str, check: str = "exact") -> Verdict:
    return Verdict(SITE + url, "duplicate", SITE + keeper, check, 1.0)


def record(index: LmdbIndex, url: str, keeper: str, check: str = "exact", **more: Any) -> None:
    index.record(duplicate(url, keeper, check), **{"run": "r", "site": "a.example", "spider": "toy", **more})


def keep(index: LmdbIndex, url: str, **more: Any) -> None:
    offer(index, entry(SITE + url, 1), lambda check, kept: None, **more)


def alias(index: LmdbIndex, url: str, target: str, source: str, links: tuple[bytes, ...] = ()) -> None:
    index.attach(url, ALIAS, Alias(target, source, "s", "", 0.0, links).to_bytes())


def rewritten() -> None:
    with opened() as index:
        index.record_rewrites([Rewrite(f"{SITE}one?x=1", f"{SITE}one", ("x",), "toy", "one", 1e9)])


def alike() -> None:
    """Two URLs that are shown alike."""
    with opened() as index:
        keep(index, "%E6%96%B0")
        record(index, "%e6%96%b0", "%E6%96%B0")


def chains() -> None:
    """Keepers that are kept no more, in a chain and in a circle; pages that were dropped once, and twice."""
    with opened() as index:
        for url, keeper in (("1", "2"), ("2", "3"), ("3", "4"), ("8", "9"), ("9", "8")):
            record(index, url, keeper)
        for url in ("4", "again", "twice"):
            keep(index, url)
        index.record(Verdict(f"{SITE}again", "unique"), run="", site="")
        record(index, "twice", "twice")


def restored() -> None:
    with opened() as index:
        record(index, "back", "2", request=b"r")
        index.make_due([Skip("toy", f"{SITE}back", b"r")])
        index.withdraw([f"{SITE}back"])


def software() -> None:
    """A program that runs there, one that does not, and one elsewhere; and an alias."""
    signs = {"sign 1": 1, "sign 2": 2, "sign 3": 1}
    seen = Installation("forum", "a.example", signs, {"base": ""}, ("a.example",))
    against = Installation("phpbb3", "a.example", {**signs, "sign 4": -3}, {"base": ""}, ("a.example",))
    elsewhere = Installation("forum", "b.a.example", signs, {"base": ""}, ("b.a.example",))
    trials = {"sid": (9, 0), "never": (0, 0), "off": (9, 5)}  # rule → how many there were, and how many failed
    tried = {f"forum.{name}@a.example": Credit(*counts) for name, counts in trials.items()}
    known, credit = SiteSoftware((seen, against, elsewhere)), Credits(tried, {"forum.off@a.example": "it was wrong"})
    with opened() as index:
        index.update_site_state("a.example", NAME, lambda _: known.to_bytes())
        index.update_site_state("a.example", CREDITS, lambda _: credit.to_bytes())
        alias(index, f"{SITE}2", f"{SITE}1", "permalink")


def unused_aliases() -> None:
    why = "1 of 1 trial led to another page, such as http://a.example/x → http://a.example/1"
    known = Credits({"alias.og": Credit(1, 1)}, {"alias.og": why})
    with opened() as index:
        keep(index, "own")
        index.update_site_state("a.example", CREDITS, lambda _: known.to_bytes())
        for name, source in {"own": "canonical", "x": "og", "gone": "duplicate", "back": "redirect"}.items():
            alias(index, f"{SITE}{name}", f"{SITE}1", source)
        record(index, "back", "own")
        index.withdraw([f"{SITE}back"])
        index.record_rewrites([Rewrite(f"{SITE}own", f"{SITE}1", ("alias.og",), "s", "r", 0.0)])
        index.make_due([Skip("s", f"{SITE}own", b"")])
        alias(index, "http://a.example", SITE, "canonical")


def unstored() -> None:
    """A page whose item is not stored yet, and one that was dropped for it."""
    with opened() as index:
        index.start_leasing()
        keep(index, "1", request=b"r")
        drop(index, f"{SITE}1", Skip("toy", f"{SITE}copy", b"r"))
        record(index, "copy", "1", request=b"r")


def lost() -> None:
    with opened() as index:
        lose(index, f"{SITE}1")


def dropped_as_well() -> None:
    """A URL that is not fetched for another one, whose page was dropped itself."""
    with opened() as index:
        for url in ("other", "this"):
            record(index, url, "keeper", "shingles", request=b"r")
        index.attach(f"{SITE}other", SAID, b"digest")
        alias(index, f"{SITE}this", f"{SITE}other", "duplicate", (b"link",))


def eight_runs() -> None:
    with opened() as index:
        for number in range(8):
            tell_run(index, f"run-{number}")


def two_crawls() -> None:
    """Of pages whose titles a spreadsheet may take for formulas, and of a URL in Chinese."""
    titles = ("=1+1", "+1", "-1", "@SUM(1)", "1=1", "＝1+1", "a;=1", "a; ＋1")
    with opened() as index:
        for run, some in (("one", titles[:4]), ("two", titles[4:])):
            RunTally(index, run, "toy").close()
            for number, title in enumerate(some):
                page = entry(f"{SITE}%E6%96%B0/{run}/{number}", titles.index(title), title=title, run=run)
                offer(index, page, lambda check, kept: None)
            record(index, f"copy/{run}", run, run=run, request=b"asked")


def of_a_job() -> None:
    LmdbIndex(Path("job/dedup/index"), CHECKS).close()
