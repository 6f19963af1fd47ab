"""The arrows of the house: which room may know which. An import that is not allowed here is a design that is wrong."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "dedupcrawl"
LONGEST = 400  # lines of a module
LONGEST_COMPILED = 720  # each variable of a compiled function is declared, mostly on a line of its own

# Know of nobody but each other; the core, which is compiled, of itself alone.
VALUES = {"core", "page", "verdict", "printable", "setting", "sites", "system_errors", "zstandard"}
TOOLS = {"extras", "output", "project", "workers"}
MAY_KNOW = {
    **dict.fromkeys(VALUES, VALUES),
    **dict.fromkeys(TOOLS, VALUES),
    "core": set(),
    "urls": VALUES | {"output"},
    "software": VALUES | {"urls"},
    "aliases": VALUES | {"content", "urls"},
    "content": VALUES | {"text"},
    "text": VALUES,
    "index": VALUES | {"content", "output"},
    "settings": VALUES | {"aliases", "content", "extras", "project", "text"},
    "detection": VALUES | {"content", "index"},
    "crawl_logs": VALUES | TOOLS | {"content", "text"},
    "training": VALUES | TOOLS | {"crawl_logs", "software", "urls"},
    "spark": VALUES | TOOLS | {"content", "crawl_logs", "detection", "index", "settings", "training", "urls"},
    "report": VALUES | TOOLS | {"aliases", "content", "crawl_logs", "detection", "index", "software", "urls"},
    "api": VALUES | TOOLS | {"content", "detection", "index", "settings", "text", "training"},
    "commands": VALUES
    | TOOLS
    | {"aliases", "api", "content", "crawl_logs", "detection", "index", "report", "settings", "software", "spark"}
    | {"text", "training", "urls"},
    "cli": {"commands", "output"},
    "crawl": VALUES
    | TOOLS
    | {"aliases", "cli", "content", "detection", "index", "report", "settings", "software", "text", "urls"},
    "shared_queue": {"crawl", "extras", "index"},  # which nobody imports: a project names it as its SCHEDULER
    "addon": {"crawl", "setting", "settings"},
    "demo": set(),  # a site to crawl, which knows nothing of what crawls it
    "__init__": {"addon", "api", "page", "urls", "verdict"},
    "__main__": {"cli"},
}
LIBRARIES_OF = {  # only these rooms know Scrapy; nobody else may
    "scrapy": {"crawl", "addon", "project", "shared_queue"},
    "twisted": {"crawl"},
    "lmdb": {"index"},
    "redis": {"index", "shared_queue"},
    "click": {"cli", "commands", "demo", "crawl"},
    "jinja2": {"report"},
    "pyspark": {"spark"},
    "pyarrow": {"spark", "crawl_logs"},
    "scrapy_redis": {"shared_queue"},
    "spidermon": {"crawl"},
}
MODULES = sorted(PACKAGE.rglob("*.py"))
UNSAID = {  # numbers of which nothing is said where they stand, so far
    *(f"core/diff.py {name}" for name in ("_EDGE", "_FOOT_MOST", "_FOOT_SHARE", "_HEAD_SHARE")),
    "urls/learning/learn.py _EXAMPLES",
}


def room(module: Path) -> str:
    return module.relative_to(PACKAGE).with_suffix("").parts[0]


@cache
def imported(module: Path) -> tuple[str, ...]:
    """Names of all modules that are imported anywhere in a file."""
    return tuple(_imported(module))


def _imported(module: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(module.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom):
            assert node.module, f"{module}: a relative import hides where it leads"
            assert not node.level, f"{module}: a relative import hides where it leads"
            yield from [f"dedupcrawl.{alias.name}" for alias in node.names] if node.module == "dedupcrawl" else []
            yield node.module
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)


def test_every_room_is_on_the_map() -> None:
    assert {room(module) for module in MODULES} == MAY_KNOW.keys()


@pytest.mark.parametrize("name", sorted(MAY_KNOW))
def test_the_arrows_of_a_room(name: str) -> None:
    found = {
        f"{module.relative_to(PACKAGE)} → {target}"
        for module in MODULES
        if room(module) == name
        for target in imported(module)
        if target.startswith("dedupcrawl.") and target.split(".")[1] not in MAY_KNOW[name] | {name}
    }
    assert found == set()


@pytest.mark.parametrize("library", sorted(LIBRARIES_OF))
def test_who_knows_a_library(library: str) -> None:
    found = {
        str(module.relative_to(PACKAGE))
        for module in MODULES
        for target in imported(module)
        if target.split(".")[0] == library and room(module) not in LIBRARIES_OF[library]
    }
    assert found == set()


@pytest.mark.parametrize("folder", ["dedupcrawl", "benchmarks", "tools"])
def test_no_module_is_too_long(folder: str) -> None:
    modules = (ROOT / folder).rglob("*.py")
    lengths = {str(module): len(module.read_text(encoding="utf-8").splitlines()) for module in modules}
    most = {name: LONGEST_COMPILED if "/core/" in name else LONGEST for name in lengths}
    assert {name: lines for name, lines in lengths.items() if lines > most[name]} == {}


def test_tests_mirror_the_package() -> None:
    """A folder of the package has a folder of tests."""
    rooms = {path.name for path in PACKAGE.iterdir() if path.is_dir() and (path / "__init__.py").exists()}
    assert rooms <= {path.name for path in Path(__file__).parent.iterdir() if path.is_dir()}


def numbers(module: Path) -> Iterator[tuple[str, bool]]:
    """Name of each number that stands at the top of a module, and whether something is said of it there.

    That is a comment on its line, comments on the lines before, or a docstring behind.
    """
    lines = module.read_text(encoding="utf-8").splitlines()
    body = ast.parse("\n".join(lines)).body
    for node, behind in zip(body, [*body[1:], None], strict=True):
        value = node.value if isinstance(node, (ast.Assign, ast.AnnAssign)) else None
        if isinstance(value, ast.Call) and ast.unparse(value.func) == "cython.declare" and len(value.args) == 2:
            value = value.args[1]
        if value is None or not _is_number(value):
            continue
        documented = isinstance(behind, ast.Expr) and isinstance(behind.value, ast.Constant)
        commented = any("#" in line for line in lines[node.lineno - 1 : node.end_lineno])
        commented = commented or lines[node.lineno - 2].startswith("#")
        yield lines[node.lineno - 1].partition(" ")[0], documented or commented


def _is_number(value: ast.expr) -> bool:
    parts = [part for part in ast.walk(value) if isinstance(part, ast.expr)]
    constants = [part.value for part in parts if isinstance(part, ast.Constant)]
    return all(isinstance(part, (ast.Constant, ast.BinOp, ast.UnaryOp, ast.Tuple)) for part in parts) and all(
        isinstance(constant, (int, float)) and not isinstance(constant, bool) for constant in constants
    )


def test_every_number_says_what_it_is() -> None:
    """Where it was measured or comes from, what it counts, or that it was set by hand."""
    found = {
        f"{module.relative_to(PACKAGE)} {name}" for module in MODULES for name, said in numbers(module) if not said
    }
    assert found - UNSAID == set()
