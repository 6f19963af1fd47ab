"""Build the distributions, install the wheel into an empty environment, and use it there as a stranger would.

``python -m tools.dist_check [PYTHON]`` takes another interpreter than the one that it runs with. Nothing of the
checkout can be imported where it works: a Scrapy project is made by `scrapy startproject`, one line turns dedup on, the
demo site that comes with the package is crawled, rules are learned; mypy reads the package's types from outside.
The README's links, which have no public address in front yet, must lead to files of the source distribution.
"""

from __future__ import annotations

import os
import posixpath
import re
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
_LINK = re.compile(r"\]\((?!https?:|mailto:|#)([^)#\s]+)")

_SPIDER = """
import scrapy


class Pages(scrapy.Spider):
    name = "pages"
    allowed_domains = ["127.0.0.1"]

    async def start(self):
        yield scrapy.Request(self.origin)

    def parse(self, response):
        if isinstance(response, scrapy.http.TextResponse):
            yield {"url": response.url, "text": " ".join(response.css("main ::text").getall())}
            yield from response.follow_all(css="a")
"""
_SETTINGS = """
ADDONS = {"dedupcrawl.Addon": 500}
DOWNLOAD_DELAY = 0
DEPTH_LIMIT = 3
"""
_CRAWL = """
import subprocess, sys
from dedupcrawl.demo.server import serving

with serving() as server:
    command = [sys.executable, "-m", "scrapy", "crawl", "pages", "-a", f"origin={server.url}", "-o", "items.jsonl"]
    sys.exit(subprocess.run(command).returncode)
"""
_TYPED = """
from dedupcrawl import Addon
from dedupcrawl.index.contract import Index
from dedupcrawl.index.open import open_index
from dedupcrawl.verdict import Verdict

addon: Addon = Addon()
index: Index = open_index("memory:", [])
verdict: Verdict | None = index.verdict("http://a/")
wrong: int = index.verdict("http://a/")
"""


def main() -> None:
    """Check them all; the first thing that fails ends it with what it printed."""
    python = sys.argv[1] if len(sys.argv) > 1 else sys.executable
    with tempfile.TemporaryDirectory() as folder:
        there = Path(folder)
        _run([sys.executable, "-m", "build", "--quiet", "--outdir", folder, str(ROOT)], there)
        (wheel,) = there.glob("*.whl")
        (source,) = there.glob("*.tar.gz")
        print(f"built {wheel.name} and {source.name}")
        _links(source)
        _run([python, "-m", "venv", str(there / "venv")], there)
        inside = there / "venv" / "bin"
        _run([str(inside / "pip"), "install", "--quiet", "--disable-pip-version-check", str(wheel)], there)
        _run([str(inside / "pip"), "check"], there)
        _crawl(inside, there)
        _types(inside, there)


def _links(source: Path) -> None:
    with tarfile.open(source) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
        top = source.name.removesuffix(".tar.gz")
        readme = archive.extractfile(f"{top}/README.md")
        assert readme is not None
        links = {posixpath.normpath(link) for link in _LINK.findall(readme.read().decode())}
    folders = {posixpath.dirname(name) for name in names}
    if lost := sorted(links - names - folders):
        sys.exit(f"the README links to what the source distribution does not have: {', '.join(lost)}")
    print(f"links: the {len(links)} files that the README links to are in {source.name}")


def _crawl(inside: Path, there: Path) -> None:
    _run([str(inside / "scrapy"), "startproject", "shop", "."], there)
    with (there / "shop" / "settings.py").open("a", encoding="utf-8") as settings:
        settings.write(_SETTINGS)
    (there / "shop" / "spiders" / "pages.py").write_text(_SPIDER, encoding="utf-8")
    said = _run([str(inside / "python"), "-c", _CRAWL], there)
    print(*(line.partition("INFO: ")[2] for line in said.splitlines() if "] INFO: dedupcrawl: " in line), sep="\n")
    ours = str(inside / "dedupcrawl")
    _must("items dropped: ", said)
    size = sum(file.stat().st_size for file in (inside.parent / "lib").rglob("*") if file.is_file())
    print(f"the environment: {size / 1e6:.0f} MB, Scrapy and pip included")
    train = [ours, "train", ".scrapy/dedup/crawl-log.jsonl", "--rules", "rules"]
    _must("rules for 1 site", _run(train, there))
    _must("pip install 'dedupcrawl[report]'", _run([ours, "report", "--output", "report.html"], there, status=1))
    _must("pages", _run([ours, "index", "info"], there))


def _types(inside: Path, there: Path) -> None:
    (there / "outside.py").write_text(_TYPED, encoding="utf-8")
    command = [sys.executable, "-m", "mypy", "--strict", "--python-executable", str(inside / "python"), "outside.py"]
    said = _run(command, there, status=1)
    _must("outside.py:10: error: Incompatible types in assignment", said)
    _must("Found 1 error in 1 file", said)
    print("types: read from the installed package")


def _run(command: list[str], there: Path, status: int = 0) -> str:
    """What a command printed, in an environment that knows nothing of the checkout."""
    env = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "VIRTUAL_ENV")}
    ran = subprocess.run(command, cwd=there, env=env, capture_output=True, text=True, check=False)
    if ran.returncode != status:
        sys.exit(f"{' '.join(command)} ended with {ran.returncode}:\n{ran.stdout}{ran.stderr}")
    return ran.stdout + ran.stderr


def _must(text: str, said: str) -> None:
    if text not in said:
        sys.exit(f"{text!r} is missing in:\n{said}")


if __name__ == "__main__":
    main()
