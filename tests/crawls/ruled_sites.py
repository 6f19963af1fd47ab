"""Sites, and rules for them, that are right or wrong."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from dedupcrawl.urls.rule import Rule
from dedupcrawl.urls.rule_files import read_rules
from tests.crawls.site import page, prose

SESSION = 'id = "sid"\nkind = "rewrite"\ndrop = ["sid"]'
KNOWN = SESSION + '\nstate = "active"\ntried = 50\n[rules.evidence]\ncorrect = 500'
NO_ID = 'id = "no-id"\nkind = "rewrite"\ndrop = ["id"]'
FIRST_ID = 'id = "first-id"\nkind = "rewrite"\nmatch = "?id={}"\nto = "?id=0"'
FOLDER = 'id = "folder"\nkind = "equivalence"\nmatch = "/{folder}/{}"\nto = "/{folder}/{}"'
SORRY = page("Sorry, there is nothing here. " + prose(77, 30))


def rules(folder: Path, *tables: str, base: str = "http://127.0.0.1") -> dict[str, Any]:
    """Settings with these rules, whose examples are of the site at `base`."""
    folder.mkdir(exist_ok=True)
    body = "".join(f"\n[[rules]]\n{table}\n" for table in tables).replace("http://127.0.0.1/", f"{base}/")
    (folder / "127.0.0.1.toml").write_text(f'site = "127.0.0.1"\n{body}', encoding="utf-8")
    return settings_of(folder)


def settings_of(folder: Path) -> dict[str, Any]:
    """Settings with the rules that are there."""
    return {"DEDUP_RULES": [str(folder)], "DEDUP_INDEX": f"lmdb:{folder / 'index'}"}


def rule(folder: Path, name: str) -> Rule:
    return next(rule for rule in read_rules(folder / "127.0.0.1.toml").rules if rule.id == name)


def shop(count: int, *, sessions: int = 0, bare: Any = None) -> dict[str, Any]:
    """A front page with links to `count` items that differ in their id, each also under other session ids."""
    links = [f"/p?id={n}" for n in range(count)] + [f"/p?id={n}&sid={s}" for n in range(count) for s in range(sessions)]
    pages: dict[str, Any] = {link: page(prose(int(link.split("id=")[1].split("&")[0]) + 1)) for link in links}
    pages["/"] = page("Start " + prose(0), *links)
    if bare is not None:
        pages["/p"] = bare
    return pages


def every(count: int) -> set[str]:
    return {"Start " + prose(0), *(prose(n + 1) for n in range(count))}
