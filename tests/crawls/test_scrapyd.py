"""Under Scrapyd: a real daemon, to which the project is deployed as an egg, as docs/tools.md says."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.crawls.project import items, make_project
from tests.crawls.site import page, prose, serve

CONFIG = """
[scrapyd]
bind_address = 127.0.0.1
http_port = {port}
poll_interval = 0.1
items_dir = {folder}/items
"""
DEPLOY = """
[deploy]
url = {url}
project = shop
"""
SITE = {
    "/": page("Start " + prose(0), "/story", "/reprint"),
    "/story": page(prose(1, 200)),
    "/reprint": page(prose(1, 200)),
    "/later": page(prose(1, 200)),
}
PATIENCE = 60  # seconds


@dataclass(frozen=True)
class Scrapyd:
    """A running daemon.

    Attributes:
        url: Where it listens.
        folder: Where it works.
    """

    url: str
    folder: Path

    def ask(self, service: str, **form: str) -> dict[str, Any]:
        """Call a service; with a form by POST."""
        data = urllib.parse.urlencode(form).encode() if service == "schedule" else None
        query = "" if data else f"?{urllib.parse.urlencode(form)}"
        with urllib.request.urlopen(f"{self.url}{service}.json{query}", data, timeout=PATIENCE) as answer:
            said: dict[str, Any] = json.load(answer)
        assert said["status"] == "ok", said
        return said

    def crawl(self, origin: str, *settings: str) -> tuple[str, list[dict[str, Any]]]:
        """Run a job to its end; its log and its items."""
        form = {"project": "shop", "spider": "pages", "origin": origin}
        job = self.ask("schedule", **form, **({"setting": settings[0]} if settings else {}))["jobid"]
        deadline = time.monotonic() + PATIENCE
        while job not in {done["id"] for done in self.ask("listjobs", project="shop")["finished"]}:
            assert time.monotonic() < deadline, "the job does not end"
            time.sleep(0.1)
        log = (self.folder / "logs" / "shop" / "pages" / f"{job}.log").read_text(encoding="utf-8")
        return log, items(self.folder, f"items/shop/pages/{job}.jl")


@pytest.fixture
def scrapyd(tmp_path: Path) -> Iterator[Scrapyd]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    folder = tmp_path / "scrapyd"
    folder.mkdir()
    (folder / "scrapyd.conf").write_text(CONFIG.format(port=port, folder=folder), encoding="utf-8")
    daemon = Scrapyd(f"http://127.0.0.1:{port}/", folder)
    with (folder / "daemon.log").open("wb") as log:
        process = subprocess.Popen([sys.executable, "-m", "scrapyd"], cwd=folder, stdout=log, stderr=log)
    try:
        deadline = time.monotonic() + PATIENCE
        while True:
            try:
                daemon.ask("daemonstatus")
                break
            except (urllib.error.URLError, OSError):
                said = (folder / "daemon.log").read_text(encoding="utf-8")
                assert process.poll() is None, said
                assert time.monotonic() < deadline, said
                time.sleep(0.1)
        yield daemon
    finally:
        process.terminate()
        process.wait(PATIENCE)


def test_jobs_of_a_deployed_project_share_an_index(scrapyd: Scrapyd, tmp_path: Path) -> None:
    index = tmp_path / "kept" / "index"
    settings = {
        "DEDUP_INDEX": f"lmdb:{index}",
        "DEDUP_CRAWL_LOG": str(index.with_name("crawl-log.jsonl")),
        "DEDUP_SCOPE": "spider",
    }
    project = make_project(tmp_path / "project", settings)
    with (project / "scrapy.cfg").open("a", encoding="utf-8") as config:
        config.write(DEPLOY.format(url=scrapyd.url))
    deploy = Path(sys.executable).with_name("scrapyd-deploy")
    ran = subprocess.run([deploy], cwd=project, capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert '"status": "ok"' in ran.stdout, ran.stdout + ran.stderr
    assert scrapyd.ask("listspiders", project="shop")["spiders"] == ["pages"]
    with serve(SITE) as site:
        log, kept = scrapyd.crawl(f"{site.base}/")
        assert "items dropped: exact 1" in log
        assert "'dedup/content/duplicate': 1" in log
        assert len(kept) == 2
        log, kept = scrapyd.crawl(f"{site.base}/later")
        assert "items dropped: exact 1" in log
        assert kept == []
        log, kept = scrapyd.crawl(f"{site.base}/later", "DEDUP_INDEX=lmdb:")
        assert len(kept) == 1
        assert (scrapyd.folder / ".scrapy" / "dedup" / "index").is_dir()
    command = [sys.executable, "-m", "dedupcrawl.cli", "index", "info", "--index", str(index), "--json"]
    told = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    assert told["pages"] == 2
