"""What is published: a wheel that is enough, and a source distribution that makes one.

`make dist-check` installs them, which takes longer.
"""

from __future__ import annotations

import ast
import doctest
import json
import os
import re
import subprocess
import sys
import tarfile
import zipfile
from email import message_from_bytes
from functools import cache
from importlib.machinery import EXTENSION_SUFFIXES
from importlib.metadata import distributions
from pathlib import Path

import msgspec
import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from dedupcrawl import cli, extras
from dedupcrawl.core import built as built_core
from tests.crawls.project import items, make_project
from tests.crawls.site import page, prose, serve
from tools.licences import EXTRAS, PAGE, needed

ROOT = Path(__file__).parents[1]
PROJECT = msgspec.toml.decode((ROOT / "pyproject.toml").read_bytes())["project"]
EXTRA_OF = {
    "fastwarc": "archives",
    "scipy": "calibrate",
    "redis": "redis",
    "jinja2": "report",
    "markupsafe": "report",
    "numpy": "concepts",
    "py4j": "spark",
    "pyarrow": "archives",
    "pyspark": "spark",
    "scrapy_redis": "scrapy-redis",
    "spidermon": "spidermon",
}

STANDARD = sys.stdlib_module_names | {"compression", "tomllib"}  # of newer versions, too

ONLY = """
import sys
from importlib.machinery import PathFinder

class Only(PathFinder):
    # Finds nothing that a plain `pip install dedupcrawl` would not have installed.

    @classmethod
    def find_spec(cls, fullname, path=None, target=None):
        return None if path is None and fullname in REFUSED else super().find_spec(fullname, path, target)

REFUSED = set(sys.argv.pop(1).split(","))
sys.meta_path[:] = [Only if finder is PathFinder else finder for finder in sys.meta_path]
"""
CRAWL = """
from scrapy.crawler import CrawlerProcess
from scrapy.utils.project import get_project_settings

process = CrawlerProcess(get_project_settings())
process.crawl("pages", origin=sys.argv[1])
process.start()
"""  # not `scrapy crawl`, which loads what other packages here add to it
STARTS = """
import os
from scrapy.crawler import CrawlerProcess
from scrapy.utils.project import get_project_settings

for setting in sys.argv[1:]:
    if not os.fork():
        process = CrawlerProcess(get_project_settings())
        process.settings.set(*setting.split("="), priority="cmdline")
        process.crawl("pages", origin="http://127.0.0.1:9/")
        process.start()
        os._exit(0)
    os.wait()
"""
COMMANDS = """
import contextlib, io, json
from dedupcrawl.cli import run

for command in sys.argv[1:]:
    out, err = (io.TextIOWrapper(io.BytesIO(), "utf-8", write_through=True) for _ in range(2))
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        status = run(command.split())
    print(json.dumps([status, err.buffer.getvalue().decode()]))
"""
NEED_AN_EXTRA = {  # command → the extra
    "train pages.warc --rules rules": "archives",
    "evaluate pages.parquet --rules rules": "archives",
    "check pages.warc": "archives",
    "report --output report.html": "report",
    "train --engine spark items.jsonl --rules rules": "spark",
}
NEED_NONE = (
    "index info",
    "train .scrapy/dedup/crawl-log.jsonl --rules rules",
    "evaluate .scrapy/dedup/crawl-log.jsonl --rules rules",
    "check items.jsonl",
    "normalize --rules rules http://a.example/?b=1",
    "rules software",
    *(f"{name} --help" for name in cli.COMMANDS),
)


@cache
def owners_of() -> dict[str, list[str]]:
    """Module at the top of what is installed here → distributions that bring it.

    As importlib.metadata.packages_distributions, which before Python 3.11 knows only those that have a top_level.txt.
    """
    found: dict[str, list[str]] = {}
    for one in distributions():
        named = (one.read_text("top_level.txt") or "").split()
        brought = {path.parts[0].partition(".")[0] for path in one.files or () if path.suffix in (".py", ".so")}
        for name in named or brought - {""}:
            found.setdefault(name, []).append(one.metadata["Name"])
    return found


@cache
def refused() -> str:
    """What is installed here and only extras bring."""
    core = needed(PROJECT["dependencies"]) | {"dedupcrawl"}
    return ",".join(name for name, of in owners_of().items() if core.isdisjoint(map(canonicalize_name, of)))


def plainly(code: str, *arguments: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run code as in an environment that has the package and what it needs, and nothing else."""
    command = [sys.executable, "-c", ONLY + code, refused(), *arguments]
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, timeout=120, check=False)


def test_what_is_refused_is_what_only_extras_bring() -> None:
    assert {"pytest", "redis", "jinja2", "numpy", "pyarrow", "scipy"} <= set(refused().split(","))
    assert not {"scrapy", "lxml", "twisted", "rjieba"} & set(refused().split(","))


@cache
def imported() -> set[tuple[str, str]]:
    """Libraries that modules of the package import anywhere, each with the module."""
    found = set()
    for module in sorted((ROOT / "dedupcrawl").rglob("*.py")):
        for node in ast.walk(ast.parse(module.read_text(encoding="utf-8"))):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module] if isinstance(node, ast.ImportFrom) and node.module else []
            for name in (
                {name.partition(".")[0] for name in names} - STANDARD - {"cython", "dedupcrawl"}
            ):  # compiled modules do without
                found.add((name, str(module.relative_to(ROOT))))
    return found


def test_every_library_that_is_imported_is_declared() -> None:
    declared = {canonicalize_name(Requirement(text).name) for text in PROJECT["dependencies"]}
    extras = {
        name: {canonicalize_name(Requirement(text).name) for text in PROJECT["optional-dependencies"][extra]}
        for name, extra in EXTRA_OF.items()
    }
    undeclared = {
        (name, module)
        for name, module in imported()
        if not {canonicalize_name(owner) for owner in owners_of().get(name, (name,))} & extras.get(name, declared)
    }
    assert undeclared == set()


def test_a_crawl_and_commands_need_no_extra_or_name_the_one_they_need(tmp_path: Path) -> None:
    project = make_project(tmp_path, {"FEEDS": {"items.jsonl": {"format": "jsonlines"}}})
    (project / "rules").mkdir(exist_ok=True)
    (project / "pages.warc").write_bytes(b"WARC/1.0\r\nWARC-Type: response\r\nContent-Length: 0\r\n\r\n\r\n\r\n")
    (project / "pages.parquet").write_bytes(b"PAR1")
    site_pages = {
        "/": page("Start " + prose(0), "/story", "/reprint"),
        "/story": page(prose(1, 200)),
        "/reprint": page(prose(1, 200)),
    }
    with serve(site_pages) as site:
        done = plainly(CRAWL, f"{site.base}/", folder=project)
    assert len(items(project)) == 2, done.stderr
    assert "items dropped: exact 1" in done.stderr
    works = [f"explain {site.base}/reprint", *NEED_NONE]
    ran = plainly(COMMANDS, *NEED_AN_EXTRA, *works, folder=project)
    told = [json.loads(line) for line in ran.stdout.splitlines()]
    assert [status for status, _ in told[len(NEED_AN_EXTRA) :]] == [0] * len(works), ran.stderr
    for (command, extra), (status, said) in zip(NEED_AN_EXTRA.items(), told, strict=False):
        assert status in {1, 2}, command
        assert f"pip install 'dedupcrawl[{extra}]'" in said, command
        assert said.startswith(f"dedupcrawl {command.partition(' ')[0]}"), command
        assert said.count("\n") == 1, command


def test_a_setting_that_needs_an_extra_says_so_at_the_start(tmp_path: Path) -> None:
    says = {
        "DEDUP_REPORT=report.html": "DEDUP_REPORT needs the extra 'report': pip install 'dedupcrawl[report]'",
        "DEDUP_CHECKS=exact,concepts": "the check 'concepts' needs the extra 'concepts': pip install",
        "DEDUP_INDEX=redis://127.0.0.1/0": "pip install 'dedupcrawl[redis]'",
        "SCHEDULER=dedupcrawl.shared_queue.scheduler.Scheduler": "pip install 'dedupcrawl[scrapy-redis]'",
    }
    done = plainly(STARTS, *says, folder=make_project(tmp_path, {}))
    assert [said for said in says.values() if said not in done.stderr] == [], done.stderr
    assert set(extras._LIBRARIES) <= PROJECT["optional-dependencies"].keys()
    assert doctest.testmod(extras).failed == 0


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the source distribution, and the wheel that was built from it."""
    folder = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(folder), str(ROOT)]
    env = {**os.environ, "CFLAGS": "-O0"}  # nobody runs it
    ran = subprocess.run(command, env=env, capture_output=True, text=True, timeout=300, check=False)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    return folder


def wheel_of(folder: Path) -> zipfile.ZipFile:
    (path,) = folder.glob("*.whl")
    return zipfile.ZipFile(path)


def tags_of(wheel: zipfile.ZipFile) -> list[str]:
    (name,) = (name for name in wheel.namelist() if name.endswith(".dist-info/WHEEL"))
    return [str(tag) for tag in message_from_bytes(wheel.read(name)).get_all("Tag", [])]


def test_the_wheel_has_the_package_and_nothing_else(built: Path) -> None:
    with wheel_of(built) as wheel:
        names = {name for name in wheel.namelist() if ".dist-info/" not in name}
        tags = tags_of(wheel)
    tracked = {str(path.relative_to(ROOT)) for path in (ROOT / "dedupcrawl").rglob("*") if path.is_file()}
    left_out = re.compile(r".*(__pycache__.*|\.[ch]|\.pxd|\.so)|.*/\..*|.*/core/compiled\..*")
    record = f"dedupcrawl/core/{built_core.record().name}"
    sources = {name for name in tracked if not left_out.fullmatch(name)}
    assert {name for name in names if not name.endswith(".so")} == sources | {record}
    assert "dedupcrawl/py.typed" in names
    assert "dedupcrawl/core/data/characters.bin" in names
    suffix = EXTENSION_SUFFIXES[0]
    modules = [path.stem for path in built_core.sources()]
    compiled = {f"dedupcrawl/core/{name}{suffix}" for name in ("_cyutility", *modules)}
    assert {name for name in names if name.endswith(".so")} == compiled
    version = f"cp3{sys.version_info.minor}"
    assert all(tag.startswith(f"{version}-{version}-") for tag in tags)


def test_the_source_distribution_has_all_that_is_needed_to_work_on_it(built: Path) -> None:
    (path,) = built.glob("*.tar.gz")
    with tarfile.open(path) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    for wanted in ("Makefile", "CONTRIBUTING.md", "CHANGELOG.md", "tests/test_packaging.py", "tools/build_core.py"):
        assert wanted in names
    assert {str(path.relative_to(ROOT)) for path in (ROOT / "tests").rglob("*.py")} <= names
    assert not [name for name in names if name.endswith((".so", ".pyc"))]


def test_every_python_that_is_supported_is_named() -> None:
    versions = {text.rpartition(" ")[2] for text in PROJECT["classifiers"] if ":: Python :: 3." in text}
    assert min(versions, key=lambda text: int(text.partition(".")[2])) == PROJECT["requires-python"].removeprefix(">=")
    assert f"3.{sys.version_info.minor}" in versions


def test_every_library_that_is_declared_is_imported() -> None:
    """What nobody imports is megabytes for nothing."""
    used = {canonicalize_name(owner) for name, _ in imported() for owner in owners_of().get(name, (name,))}
    declared = {canonicalize_name(Requirement(text).name) for text in PROJECT["dependencies"]}
    assert declared - used == {"tomli", "tomli-w"}, "those two are how msgspec reads and writes TOML"


def test_the_licence_of_whatever_pip_installs_is_on_the_page() -> None:
    listed = set(re.findall(r"^\| (\S+) \| .* \|$", PAGE.read_text(encoding="utf-8"), re.MULTILINE))
    assert listed >= needed(PROJECT["dependencies"])
    extras = PROJECT["optional-dependencies"]
    assert set(EXTRAS) == extras.keys() - {"dev", "docs", "bench"}
    for extra in EXTRAS:
        assert {canonicalize_name(Requirement(text).name) for text in extras[extra]} - {"dedupcrawl"} <= listed
    for bundled in (ROOT / "dedupcrawl").rglob("LICENSE.*"):
        assert bundled.name in PAGE.read_text(encoding="utf-8")
