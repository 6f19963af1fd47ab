from __future__ import annotations

import errno
import gzip
import json
import os
import pty
import re
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import mmh3
import pytest
from click.testing import CliRunner

from dedupcrawl.commands.train import command
from dedupcrawl.urls.rule import Rule
from dedupcrawl.urls.rule_files import SiteRules, read_rules, write_rules
from tests import warm

TRAIN = [sys.executable, "-m", "dedupcrawl.cli", "train"]


def write_log(path: Path, sites: int = 1, pages: int = 60) -> Path:
    with path.open("w") as file:
        for site in range(sites):
            for page in range(pages):
                for variant in range(3):
                    url = f"http://s{site}.com/page/{page}?sid={page * 97 + variant * 13:06x}"
                    file.write(json.dumps({"url": url, "text_digest": f"{site} {page}", "status": 200}) + "\n")
    return path


def test_uses_that_the_log_says_nothing_of_are_told(tmp_path: Path) -> None:
    log = write_log(tmp_path / "log.jsonl")
    with log.open("a") as file:
        for page in range(100, 160):  # each at two URLs of which one is changed, but not to the other
            for url in (f"http://s0.com/page/{page}?sid={page:06x}", f"http://s0.com/{mmh3.hash(str(page)):x}.html"):
                file.write(json.dumps({"url": url, "text_digest": f"0 {page}", "status": 200}) + "\n")
    said = CliRunner().invoke(command, [str(log), "--rules", str(tmp_path / "rules")]).stdout
    uses = r"(\d+) uses of rules, (\d+) led to the right page and 0 to another one "
    told = re.search(uses + r"\((\d+) to a URL that the log says nothing of, which count as right\)", said)
    assert told is not None, said
    assert int(told[1]) == int(told[2]) + int(told[3])


def test_for_people(tmp_path: Path) -> None:
    log = write_log(tmp_path / "log.jsonl")
    rules = ["--rules", str(tmp_path / "rules")]
    with log.open("a") as file:
        file.write("broken\n")
    twice = CliRunner().invoke(command, [str(log), str(log), "--rules", str(tmp_path / "others")])
    assert "180 URLs, 60 duplicate clusters, 120 redundant URLs, each counted once" in twice.stdout
    result = CliRunner().invoke(command, [str(log), *rules])
    assert result.exit_code == 0
    lines = result.stdout.splitlines()
    assert lines[0].startswith("181 rows of 1 site in ")
    assert lines[1:3] == ["180 URLs, 60 duplicate clusters, 120 redundant URLs", "false clusters left out: none"]
    assert lines[3].endswith(f" for 1 site in {tmp_path}/rules")
    proved = re.fullmatch(
        r"held-out clusters: (\d+) uses of rules, (\d+) led to the right page and 0 to another one, "
        r"precision 1\.0000 \(at least (0\.\d{4}), 95% sure\)",
        lines[4],
    )
    assert proved is not None
    assert float(proved[3]) == round(0.05 ** (1 / int(proved[1])), 4), "Clopper and Pearson, where all were right"
    assert lines[5].startswith("the whole log: 180 URLs changed, 120 merged, 0 URLs sent to a URL of another cluster")
    assert lines[6] == "Where to look next:"
    assert lines[7].startswith(f"  dedupcrawl rules list --rules {tmp_path}/rules ")
    assert result.stderr == f"{log}, line 181: skipped, not a JSON object\nskipped rows: 1 (not a JSON object)\n"


def test_urls_that_no_row_is_of_are_accounted_for(tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    rows = [
        {"url": f"http://a.com/{n}", "text_digest": str(n), "canonical": f"http://a.com/page/{n}"} for n in range(20)
    ]
    log.write_text("".join(json.dumps(row) + "\n" for row in rows))
    result = CliRunner().invoke(command, [str(log), "--rules", str(tmp_path / "rules")])
    assert "20 rows of 1 site" in result.stdout
    assert "those that redirects and canonical links name among them" in result.stdout


def test_no_rule_is_said_to_be_none(tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    log.write_text('{"url": "http://a.com/", "text_digest": "1"}\n')
    result = CliRunner().invoke(command, [str(log), "--rules", str(tmp_path / "rules")])
    assert "0 rules for 0 sites" in result.stdout
    assert result.stdout.splitlines()[-1].startswith("No two URLs of this log have the same page")
    log.write_text('{"url": "http://a.com/", "text_digest": "1"}\n{"url": "http://a.com/?a=1", "text_digest": "1"}\n')
    result = CliRunner().invoke(command, [str(log), "--rules", str(tmp_path / "rules")])
    assert result.stdout.splitlines()[-1].startswith("No rule was sure enough.")


@pytest.mark.parametrize(
    "options", [["--min-coverage", "1000"], ["--min-precision", "1"], ["--holdout", "0.1"], ["--software", "False"]]
)
def test_options_that_may_be_why_there_is_no_rule_are_named(tmp_path: Path, options: list[str]) -> None:
    log = tmp_path / "log.jsonl"
    log.write_text('{"url": "http://a.com/", "text_digest": "1"}\n{"url": "http://a.com/?a=1", "text_digest": "1"}\n')
    result = CliRunner().invoke(command, [str(log), "--rules", str(tmp_path / "rules"), *options])
    option = " ".join(options) if "False" in options else options[0]
    assert f"No rule was sure enough with {option}: there may be some without." in result.stdout


def test_a_broken_rule_file_ends_it_before_anything_is_written(tmp_path: Path) -> None:
    folder = tmp_path / "rules"
    folder.mkdir()
    (folder / "s0.com.toml").write_text("nonsense")
    log = write_log(tmp_path / "log.jsonl")
    result = CliRunner().invoke(command, [str(log), "--rules", str(folder)])
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.startswith(f"Error: {folder / 's0.com.toml'}, line 1, where the file ends: ")
    assert (folder / "s0.com.toml").read_text() == "nonsense"


def test_the_real_command_for_programs(tmp_path: Path) -> None:
    log = write_log(tmp_path / "log.jsonl")
    done = subprocess.run([*TRAIN, log, "--rules", tmp_path / "rules", "--json"], capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, b"")
    told = json.loads(done.stdout)
    assert (told["rows"], told["clusters"], told["sites_with_rules"]) == (180, 60, 1)
    assert read_rules(tmp_path / "rules" / "s0.com.toml").rules


def test_options_reach_the_learner(tmp_path: Path) -> None:
    log = write_log(tmp_path / "log.jsonl")
    args = [str(log), "--rules", str(tmp_path / "rules"), "--json", "--min-coverage", "100000", "--holdout", "0.3"]
    result = CliRunner().invoke(command, [*args, "--seed", "7", "--min-precision", "1"])
    assert result.exit_code == 0
    assert json.loads(result.stdout)["rules"] == 0
    result = CliRunner().invoke(command, [*args[:5], "20"])
    assert json.loads(result.stdout)["rules"] == 1


@pytest.mark.parametrize(
    ("args", "message"),
    [
        ([], "Missing argument 'LOGS...'"),
        (["nowhere.jsonl", "--rules", "x"], "'nowhere.jsonl' does not exist"),
        ([__file__], "Missing option '--rules'"),
        ([__file__, "--rules", "x", "--holdout", "1"], "'--holdout': 1.0 is not in the range 0<x<1"),
        ([__file__, "--rules", "x", "--min-precision", "1.1"], "not in the range 0<=x<=1"),
        ([__file__, "--rules", "x", "--holdout", "nan"], "nan is not a number between 0 and 1"),
        ([__file__, "--rules", "x", "--min-coverage", "0"], "not in the range x>=1"),
        ([__file__, "--rules", __file__], "is a file"),
        ([__file__, "--rules", os.devnull], "--rules takes a folder of rule files, and /dev/null is a file."),
        ([__file__, "--rules", "x"], "is not a crawl log in a known format"),
    ],
)
def test_mistakes(args: list[str], message: str) -> None:
    result = CliRunner().invoke(command, args)
    assert result.exit_code == 2
    assert message in result.stderr
    assert result.stdout == ""


def test_rows_that_say_nothing_of_their_page_are_told_in_words(tmp_path: Path) -> None:
    log = tmp_path / "log.csv"
    log.write_text("url,digest\nhttp://a.com/1,x\nhttp://a.com/2,\nhttp://a.com/3,\n")
    result = CliRunner().invoke(command, [str(log), "--rules", str(tmp_path / "rules")])
    assert result.stderr == "skipped rows: 2 (no digest, redirect or canonical link)\n"


def test_error_pages_without_a_digest_are_told_as_what_they_are(tmp_path: Path) -> None:
    log = tmp_path / "log.csv"
    log.write_text("url,status,digest\nhttp://a.com/1,200,x\nhttp://a.com/2,404,\nhttp://a.com/3,500,\n")
    result = CliRunner().invoke(command, [str(log), "--rules", str(tmp_path / "rules")])
    assert result.stderr == "skipped rows: 1 (error status, without a digest)\n", "rules should not lead to the 404"


@pytest.mark.parametrize("content", ["", " \n"])
def test_an_empty_log_is_named(tmp_path: Path, content: str) -> None:
    empty, log = tmp_path / "empty.csv", write_log(tmp_path / "log.jsonl")
    empty.write_text(content)
    result = CliRunner().invoke(command, [str(empty), "--rules", str(tmp_path / "rules")])
    assert result.exit_code == 2
    assert result.stderr.startswith(f"Error: there is nothing in {empty}: take the crawl log")
    assert result.stderr.count("\n") == 1
    beside = CliRunner().invoke(command, [str(log), str(empty), "--rules", str(tmp_path / "rules")])
    assert (beside.exit_code, beside.stderr) == (0, f"{empty} is empty.\n")


@pytest.mark.parametrize("end", [slice(-400), slice(-1)])
def test_what_is_not_read_of_a_damaged_log_is_told(tmp_path: Path, end: slice) -> None:
    log = tmp_path / "log.gz"
    log.write_bytes(gzip.compress(write_log(tmp_path / "log").read_bytes())[end])
    result = CliRunner().invoke(command, [str(log), "--rules", str(tmp_path / "rules")])
    assert result.exit_code == 0
    assert re.fullmatch(
        rf"{re.escape(str(log))}: nothing was read from about line [\d,]+ on: the file was cut off there; "
        r"copy or compress the file again\.\n",
        result.stderr,
    )


def test_a_wrong_checksum_is_told_as_one(tmp_path: Path) -> None:
    log = tmp_path / "log.gz"
    packed = bytearray(gzip.compress(write_log(tmp_path / "log").read_bytes()))
    packed[-6] ^= 1
    log.write_bytes(packed)
    result = CliRunner().invoke(command, [str(log), "--rules", str(tmp_path / "rules")])
    assert "its checksum is wrong, so rows before may be damaged as well (CRC check failed" in result.stderr


@pytest.mark.parametrize("content", ["url,digest\n", "url\nhttp://a.com/\n"])
def test_a_log_of_nothing(tmp_path: Path, content: str) -> None:
    log = tmp_path / "log.csv"
    log.write_text(content)
    result = CliRunner().invoke(command, [str(log), "--rules", str(tmp_path / "rules")])
    assert result.exit_code == 2
    assert result.stderr.splitlines()[-1].startswith("Error: no row has both a URL and a digest")
    assert not (tmp_path / "rules").exists()


def test_a_folder_that_cannot_be_written(tmp_path: Path) -> None:
    log = write_log(tmp_path / "log.jsonl")
    (tmp_path / "file").touch()
    result = CliRunner().invoke(command, [str(log), "--rules", str(tmp_path / "file" / "rules")])
    assert result.exit_code == 1
    assert "each rule file is whole, the old one or the new one" in result.stderr


def test_a_disk_that_is_full_half_way_is_told_as_such(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log, rules, moved = write_log(tmp_path / "log.jsonl", sites=3), tmp_path / "rules", []

    def replace(source: str, target: Path) -> None:
        moved.append(target)
        if len(moved) == 2:
            raise OSError(errno.ENOSPC, "No space left on device", str(target))
        Path(source).rename(target)

    monkeypatch.setattr(os, "replace", replace)
    result = CliRunner().invoke(command, [str(log), "--rules", str(rules)])
    assert result.exit_code == 1
    assert result.stderr.splitlines()[-1] == (
        f"Error: {rules / 's1.com.toml'}: No space left on device; make room there, or name a place on another disk; "
        "each rule file is whole, the old one or the new one."
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
    _, told = process.communicate(timeout=120)
    assert process.returncode == 130
    assert told.decode().splitlines()[-1] == "dedupcrawl: interrupted"
    assert read_rules(folder / "s0.com.toml").rules == (old,)
    assert len(list(folder.iterdir())) == 1
    assert list(work.iterdir()) == []


def test_bars_on_a_terminal_only(tmp_path: Path) -> None:
    log = write_log(tmp_path / "log.jsonl")
    ours, theirs = pty.openpty()
    command = ["dedupcrawl", "train", str(log), "--rules", str(tmp_path / "rules")]
    with open(theirs, "wb", buffering=0) as terminal, open(os.devnull, "wb") as nowhere:
        process = warm.start(command, cwd=tmp_path, output=(nowhere, terminal))
    told = b""
    with suppress(OSError):  # how a terminal ends
        while chunk := os.read(ours, 65_536):
            told += chunk
    assert process.wait(timeout=120) == 0
    assert b"reading" in told
    assert b"learning" in told
    assert b"100%" in told
