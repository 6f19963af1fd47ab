"""`dedupcrawl train` and `evaluate`: rules learned from logs, and what they would save."""

from __future__ import annotations

import errno
import gzip
import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import mmh3
import pytest
from click.testing import Result

from dedupcrawl.urls.rule import Rule
from dedupcrawl.urls.rule_files import SiteRules, read_rules, write_rules
from tests import warm
from tests.commands.invoked import check_refused, run, write
from tests.fixtures import table_of

TRAIN = [sys.executable, "-m", "dedupcrawl.cli", "train"]


def train(folder: Path, *arguments: object) -> Result:
    """Train on `log` of this folder, whichever format it has; the rules go to `rules` beside it."""
    return run("train", folder / "log", *arguments, "--rules", folder / "rules")


def write_log(path: Path, sites: int = 1, pages: int = 60) -> Path:
    with path.open("w") as file:
        for site in range(sites):
            for page in range(pages):
                for variant in range(3):
                    url = f"http://s{site}.com/page/{page}?sid={page * 97 + variant * 13:06x}"
                    file.write(json.dumps({"url": url, "text_digest": f"{site} {page}", "status": 200}) + "\n")
    return path


def test_uses_that_the_log_says_nothing_of_are_told(tmp_path: Path) -> None:
    with write_log(tmp_path / "log").open("a") as file:
        for page in range(100, 160):  # each at two URLs of which one is changed, but not to the other
            for url in (f"http://s0.com/page/{page}?sid={page:06x}", f"http://s0.com/{mmh3.hash(str(page)):x}.html"):
                file.write(json.dumps({"url": url, "text_digest": f"0 {page}", "status": 200}) + "\n")
    said = train(tmp_path).stdout
    uses = r"(\d+) uses of rules, (\d+) led to the right page and 0 to another one "
    found = re.search(uses + r"\((\d+) to a URL that the log says nothing of, which count as right\)", said)
    assert found is not None, said
    assert int(found[1]) == int(found[2]) + int(found[3])


@table_of("commands", "train_mistakes")
def test_mistakes(tmp_path: Path, arguments: list[str], says: str) -> None:
    write(tmp_path / "log", "hello\n")
    check_refused(train(tmp_path, *arguments), says)
    assert not (tmp_path / "rules").exists()


@table_of("commands", "train_rows_that_say_nothing_of_their_page_are_told_in_words")
def test_rows_that_say_nothing_of_their_page_are_told_in_words(tmp_path: Path, log: str, says: str) -> None:
    write(tmp_path / "log", log)
    assert train(tmp_path).stderr == f"skipped rows: {says}\n"


def test_what_is_not_read_of_a_damaged_log_is_told(tmp_path: Path) -> None:
    log = tmp_path / "log"
    whole = gzip.compress(write_log(log).read_bytes())
    log.write_bytes(whole[:-400])
    cut = train(tmp_path)
    assert cut.exit_code == 0
    assert re.fullmatch(
        rf"{re.escape(str(log))}: nothing was read from about line [\d,]+ on: the file was cut off there; "
        r"copy or compress the file again\.\n",
        cut.stderr,
    )
    log.write_bytes(whole[:-6] + bytes([whole[-6] ^ 1]) + whole[-5:])
    said = train(tmp_path).stderr
    assert "its checksum is wrong, so rows before may be damaged as well (CRC check failed" in said


def test_a_disk_that_is_full_half_way_is_told_as_such(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rules, moved = tmp_path / "rules", []
    write_log(tmp_path / "log", sites=3)

    def replace(source: str, target: Path) -> None:
        moved.append(target)
        if len(moved) == 2:
            raise OSError(errno.ENOSPC, "No space left on device", str(target))
        Path(source).rename(target)

    monkeypatch.setattr(os, "replace", replace)
    assert train(tmp_path).stderr.splitlines()[-1] == (
        f"Error: {rules / 's1.com.toml'}: No space left on device; make room there, or name a place on another disk; "
        "each rule file is intact, in its old or its new version."
    )
    assert [path.name for path in rules.iterdir()] == ["s0.com.toml"]


@pytest.mark.parametrize("delay", [0.2, 1.0, 2.0])
def test_killed_at_any_time_leaves_whole_files(tmp_path: Path, delay: float) -> None:
    folder = tmp_path / "rules"
    old = Rule("old", "rewrite", drop=("old",), source="learned")
    for site in range(30):
        write_rules(folder, SiteRules(f"s{site}.com", (old,)))
    log = write_log(tmp_path / "log.jsonl", sites=30, pages=30)
    process = subprocess.Popen([*TRAIN, log, "--rules", folder], start_new_session=True, stdout=subprocess.DEVNULL)
    time.sleep(delay)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    for site in range(30):
        rules = read_rules(folder / f"s{site}.com.toml").rules
        assert rules == (old,) or (len(rules) > 1 and rules[-1] == old)  # nothing speaks against it


def test_an_interrupt_leaves_the_old_rules_and_says_so(tmp_path: Path) -> None:
    folder = tmp_path / "rules"
    old = Rule("old", "rewrite", drop=("old",), source="learned")
    write_rules(folder, SiteRules("s0.com", (old,)))
    log = write_log(tmp_path / "log.jsonl", sites=300, pages=60)
    work = tmp_path / "work"
    work.mkdir()
    process = subprocess.Popen(
        [*TRAIN, log, "--rules", folder],
        stderr=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        env={**os.environ, "TMPDIR": str(work)},
    )
    while not any(work.glob("*/*")):  # in the folder, which an interrupt amid its making would leave
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=120)
    assert process.returncode == 130
    assert said.decode().splitlines()[-1] == "dedupcrawl: interrupted"
    assert read_rules(folder / "s0.com.toml").rules == (old,)
    assert len(list(folder.iterdir())) == 1
    assert list(work.iterdir()) == []


ONE_ROW = '{"url": "http://a.com/", "text_digest": "1"}\n'


def trained_by(folder: Path, engine: str, *logs: str) -> tuple[int, str]:
    """Exit status and sentence of a training where there is no Java."""
    command = ["dedupcrawl", "train", *logs, "--rules", str(folder / "rules"), "--engine", engine]
    done = warm.run(command, cwd=folder, env={**os.environ, "JAVA_HOME": str(folder)})
    assert done.stdout == ""
    return done.returncode, done.stderr


@pytest.fixture
def logs(tmp_path: Path) -> Path:
    for name, content in {
        "good": ONE_ROW,
        "digests": "name\tdigest\nhttp://a.com/\t1\n",
        "tsv": "url\tdigest\n",
    }.items():
        (tmp_path / name).write_text(content, encoding="utf-8")
    return tmp_path


def test_without_java(logs: Path) -> None:
    pytest.importorskip("pyspark")
    assert trained_by(logs, "spark", "good") == (
        1,
        f"dedupcrawl train: Spark needs Java 17 or newer, which is not in JAVA_HOME ({logs}): "
        "install it, or set JAVA_HOME.\n",
    )


def test_a_path_that_is_not_there_and_a_log_that_spark_cannot_read(logs: Path) -> None:
    pytest.importorskip("pyspark")
    for log, says in {"nowhere": "'nowhere' does not exist", "tsv": "tsv is TSV, which Spark cannot split"}.items():
        status, said = trained_by(logs, "spark", "good", log)
        assert (status, says in said) == (2, True), said
    assert trained_by(logs, "spark", "good", "digests") == trained_by(logs, "local", "good", "digests")


def test_only_spark_reads_folders_and_uris(logs: Path) -> None:
    assert "is a directory" in trained_by(logs, "local", str(logs))[1]
    assert "'s3a://bucket/log' does not exist" in trained_by(logs, "local", "s3a://bucket/log")[1]
