"""The comparison repeats figures of other pages; they must be the same there."""

from __future__ import annotations

from pathlib import Path

DOCS = Path(__file__).parents[2] / "docs"
PEERS = ("dedupcrawl", "datasketch", "rensa", "gaoya", "simhash (PyPI)", "Nutch TextProfile")
COPIED = ("pages a CPU second", "recall, all but excerpt", "precision", "85 % templates dropped", "bulletins dropped")

Row = dict[str, str]


def rows_under(page: str, heading: str) -> list[Row]:
    """The rows of the first table under a heading, by the names of its columns; the first is named ``method``."""
    text = (DOCS / page).read_text(encoding="utf-8").partition(f"\n{heading}\n")[2]
    table = text[text.index("\n| ") :].strip().partition("\n\n")[0].splitlines()
    head, _, *rows = ([cell.strip() for cell in line.strip().strip("|").split("|")] for line in table)
    return [dict(zip(["method", *head[1:]], row, strict=True)) for row in rows]


def measured(language: str) -> dict[tuple[str, str], Row]:
    """What `benchmarks.peers` printed of the default checks and of each peer, by method and kind of setting."""
    named = [row for row in rows_under("measured/peers.md", f"## {language}") if row["method"] in PEERS]
    return {(row["method"], row["setting"].partition(":")[0]): row for row in named}


def times(row: Row, ours: Row) -> str:
    pages, of_ours = (int(one["pages a CPU second"].replace(",", "")) for one in (row, ours))
    return f"{pages / of_ours:.1f}"


def test_speed_is_what_the_page_of_the_peers_says() -> None:
    """When `benchmarks.peers` was run anew, copy its figures into the table of docs/measured/comparison.md."""
    english, chinese = measured("English"), measured("Chinese")
    ours = ("dedupcrawl", "the default checks")
    wanted = [
        [*key, english[key]["pages a CPU second"], times(english[key], english[ours])]
        + [english[key][name] for name in (*COPIED[1:], "bytes a page")]
        + [chinese[key]["pages a CPU second"], times(chinese[key], chinese[ours])]
        for key in english
    ]
    shown = [list(row.values()) for row in rows_under("measured/comparison.md", "### To judge a page")]
    assert shown == wanted


def row(rows: list[Row], name: str) -> Row:
    return next(one for one in rows if one["method"].startswith(name))


def test_rules_are_explained_with_the_figures_of_their_page() -> None:
    """When `benchmarks.url_rules` was run anew, see what docs/papers.md still says rightly."""
    page = "measured/url-rules.md"
    said = " ".join((DOCS / "papers.md").read_text(encoding="utf-8").split())
    level = "rules of precision 0.95 and more"
    recall = row(rows_under(page, f"## Recall and precision of merges, {level}"), "**macro recall**")
    ours, dust, dasgupta = (f"{float(recall[name]):.2f}".lstrip("0") for name in ("ours", "DUST", "Dasgupta"))
    assert f"({ours}; DUST {dust}, Dasgupta {dasgupta})" in said
    kept = row(rows_under(page, f"## Rules kept, {level}"), "**all**")
    ours, dust, dasgupta = (f"{float(kept[name]):,.0f}" for name in ("ours", "DUST", "Dasgupta"))
    assert f"({ours} against {dust} and {dasgupta})" in said
    reduced = row(rows_under(page, "## Rules and reduction ratio by precision (Table 3; coverage >= 10)"), ">= 0.95")
    dust, dasgupta, ours = (f"{float(reduced[f'{name}: reduction %']):.0f} %" for name in ("DUST", "Dasgupta", "ours"))
    assert f"DUST's rules remove {dust}, Dasgupta's {dasgupta} and ours {ours}" in said
