"""`dedupcrawl calibrate`: a user's labels make a model that does better on them, or one sentence says why not."""

from __future__ import annotations

import json
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from dedupcrawl.commands.calibrate import command
from dedupcrawl.commands.check import command as check
from dedupcrawl.content.model import FORMAT, load, packaged
from tests.commands.test_check import write
from tests.commands.test_compare import compare, rows
from tests.crawls.site import prose

TARGET = "TARGET_PRECISION=0.9"


def calibrate(*arguments: object) -> Result:
    return CliRunner().invoke(command, [str(argument) for argument in arguments])


def label(number: int, *, same: bool) -> dict[str, Any]:
    """A text with three numbers exchanged, which this user takes for the same page, unless a passage differs, too."""
    words = prose(number, 120).split()
    edited = [*words]
    for place in (30, 60, 90):
        edited[place], words[place] = f"{number}{place}", f"{number + 1}{place}"
    if not same:
        edited[10:18] = [f"other{number}{place}" for place in range(8)]
    url = f"http://a.example/{number}"
    return {
        "kept": {"url": url, "title": "T", "text": " ".join(words)},
        "new": {"url": f"{url}/new", "title": "T", "text": " ".join(edited)},
        "same": same,
    }


LABELS = [label(number, same=number % 2 == 0) for number in range(1, 41)]


def test_a_few_labels_make_a_model_that_crawls_and_commands_take(tmp_path: Path) -> None:
    path, model = write(tmp_path / "labels.jsonl", *LABELS), tmp_path / "model.json"
    result = calibrate(path, "--output", model, "--json", "--set", TARGET)
    assert result.exit_code == 0, result.output
    told = json.loads(result.stdout)
    assert (told["labels"], told["same"], told["target_precision"]) == (40, 20, 0.9)
    assert told["after"]["recall"] > told["before"]["recall"]
    assert told["after"]["precision"] >= 0.9
    read = load(model)
    assert read.weights.keys() == packaged().weights.keys()
    assert [precision for precision, _ in read.thresholds] == [precision for precision, _ in packaged().thresholds]
    pairs = write(tmp_path / "pairs.jsonl", *({"kept": row["kept"], "new": row["new"]} for row in LABELS))
    before, after = (
        rows(compare("--pairs", pairs, "--set", TARGET, *more)) for more in ((), ("--set", f"MODEL={model}"))
    )
    right = [row["same"] for row in LABELS]
    hits = [
        sum((row["verdict"] == "duplicate") == same for row, same in zip(found, right, strict=True))
        for found in (before, after)
    ]
    assert hits[1] > hits[0]


def test_urls_are_looked_up_in_the_index_of_the_crawl(tmp_path: Path) -> None:
    """A dropped page is kept no more: what was recorded when it was dropped counts."""
    pages = [page for row in LABELS for page in (row["kept"], row["new"])]
    index = tmp_path / "index"
    options = ["--index", str(index), "--set", "TARGET_PRECISION=0.5"]
    result = CliRunner().invoke(check, [str(write(tmp_path / "p.jsonl", *pages)), *options])
    verdicts = [json.loads(line) for line in result.stdout.splitlines()]
    assert {row["verdict"] for row in verdicts} == {"unique", "duplicate"}
    labels = [{"new": r["new"]["url"], "kept": r["kept"]["url"], "same": r["same"]} for r in LABELS]
    told = calibrate(write(tmp_path / "l.jsonl", *labels), "--index", index, "--output", tmp_path / "m.json", "--json")
    assert told.exit_code == 0, told.output
    by_url, whole = (
        json.loads(told.stdout),
        json.loads(
            calibrate(
                write(tmp_path / "w.jsonl", *LABELS), "--index", index, "--output", tmp_path / "w.json", "--json"
            ).stdout
        ),
    )
    assert by_url["before"] == whole["before"]
    assert load(tmp_path / "m.json").weights == pytest.approx(load(tmp_path / "w.json").weights, abs=0.2)


def test_it_says_what_became_of_precision_and_recall_and_the_same_label_twice_counts_once(tmp_path: Path) -> None:
    one, twice = tmp_path / "one.json", tmp_path / "twice.json"
    said = calibrate(write(tmp_path / "l.jsonl", *LABELS), "--output", one).stdout
    assert "40 labels: 20 same page, 20 another page" in said
    assert "the new one, cross-validated" in said
    assert "uses it" in said
    calibrate(write(tmp_path / "l.jsonl", *LABELS, *LABELS[:9]), "--output", twice)
    assert one.read_bytes() == twice.read_bytes()


@pytest.mark.parametrize(
    ("labels", "said"),
    [
        ([row for row in LABELS if row["same"]], "all 20 labels say 'same page'"),
        ([row for row in LABELS if not row["same"]], "all 20 labels say 'another page'"),
        ([*LABELS, LABELS[2] | {"same": True}], "line 41 says that the two are the same page"),
        ([{"new": "http://a.example/x", "kept": "http://a.example/y", "same": True}], "line 1: the index has neither"),
        ([{"new": LABELS[0]["new"], "kept": LABELS[0]["kept"]}], "does not say whether the two are the same"),
        ([LABELS[0] | {"new": {"url": "http://a/", "html": "<p>"}}], "has no text to compare"),
        ([LABELS[0] | {"new": {"url": "http://a/", "text": ""}}], "has no text"),
        ([LABELS[0] | {"same": "yes"}], 'line 1 does not say whether the two are the same: "same" takes true or false'),
        ([LABELS[0] | {"same": None}], '"same" takes true or false'),
        ([LABELS[0] | {"new": {"url": "", "text": "word"}}], "its url is empty"),
        ([LABELS[0]], "the only label says"),
        ([], "there is no label to learn from"),
    ],
)
def test_labels_that_teach_nothing_are_one_sentence_and_nothing_is_written(
    tmp_path: Path, labels: list[dict[str, Any]], said: str
) -> None:
    CliRunner().invoke(check, [str(write(tmp_path / "p.jsonl", LABELS[0]["new"])), "--index", str(tmp_path / "index")])
    path = write(tmp_path / "labels.jsonl", *labels)
    result = calibrate(path, "--output", tmp_path / "model.json", "--index", tmp_path / "index")
    assert result.exit_code == 2
    assert said in result.stderr
    assert len(result.stderr.strip().splitlines()) == 1
    assert not (tmp_path / "model.json").exists()


def test_labels_of_equal_pages_are_left_out_and_counted(tmp_path: Path) -> None:
    """Whatever a model says, equal pages are one: such labels would only turn it over."""
    equal = [{**row, "new": {**row["kept"], "url": row["new"]["url"]}, "same": False} for row in LABELS[:6]]
    path = write(tmp_path / "l.jsonl", *equal, *LABELS)
    said = calibrate(path, "--output", tmp_path / "m.json", "--set", TARGET)
    assert said.stdout.startswith("40 labels: 20 same page, 20 another page\n6 more labels of equal pages")
    calibrate(write(tmp_path / "o.jsonl", *LABELS), "--output", tmp_path / "o.json", "--set", TARGET)
    assert (tmp_path / "m.json").read_bytes() == (tmp_path / "o.json").read_bytes()
    alone = calibrate(write(tmp_path / "e.jsonl", *equal), "--output", tmp_path / "e.json")
    assert (alone.exit_code, "6 more labels of equal pages" in alone.stderr) == (2, True)
    assert not (tmp_path / "e.json").exists()


def test_a_model_that_does_worse_is_not_written(tmp_path: Path) -> None:
    """Where the package's drops are right, one label that says otherwise of the same makes it drop less."""
    labels = []
    for number in range(20):
        words = prose(number, 120).split()
        page = {"url": f"http://a.example/{number}", "title": "T", "text": " ".join(words)}
        new = {"url": f"http://a.example/{number}/new", "title": "T", "text": " ".join([*words, f"by{number}"])}
        labels.append({"kept": page, "new": new, "same": number > 0})
    result = calibrate(write(tmp_path / "l.jsonl", *labels), "--output", tmp_path / "m.json")
    assert (result.exit_code, "is not written" in result.stderr) == (1, True), result.output
    assert "uses it" not in result.stdout
    assert not (tmp_path / "m.json").exists()


def test_whole_pages_are_themselves_and_not_their_url(tmp_path: Path) -> None:
    def at_one_url(row: dict[str, Any]) -> dict[str, Any]:
        return {**row, "new": {**row["new"], "url": "http://x/"}, "kept": {**row["kept"], "url": "http://x/"}}

    path = write(tmp_path / "l.jsonl", *map(at_one_url, LABELS))
    result = calibrate(path, "--output", tmp_path / "m.json", "--set", TARGET)
    assert result.stdout.startswith("40 labels: 20 same page, 20 another page"), result.output


def test_a_dash_is_stdin_and_a_pipe_is_read(tmp_path: Path) -> None:
    text = "".join(json.dumps(row) + "\n" for row in LABELS)
    options = ["--output", str(tmp_path / "m.json"), "--set", TARGET]
    result = CliRunner().invoke(command, ["-", *options], input=text)
    assert result.stdout.startswith("40 labels"), result.output
    assert "stdin, line 2 does" in CliRunner().invoke(command, ["-", *options], input=text.replace("true", "1")).stderr
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with ThreadPoolExecutor(1) as pool:
        pool.submit(pipe.write_text, text)
        assert calibrate(pipe, *options).stdout == result.stdout


def test_of_a_target_of_0_no_model_can_be_judged(tmp_path: Path) -> None:
    result = calibrate(write(tmp_path / "l.jsonl", *LABELS), "--output", tmp_path / "m", "--set", "TARGET_PRECISION=0")
    assert (result.exit_code, "checks decide" in result.stderr) == (2, True)


@pytest.mark.parametrize(
    ("raw", "said"),
    [
        (b"no model", "is not a model"),
        (json.dumps({"format": FORMAT - 1}).encode(), f"has format {FORMAT - 1}, this version reads {FORMAT}"),
        (b"[]", "is not a model"),
    ],
)
def test_a_file_that_is_no_model_of_this_version(tmp_path: Path, raw: bytes, said: str) -> None:
    path = tmp_path / "model.json"
    path.write_bytes(raw)
    pages = write(tmp_path / "p.jsonl", LABELS[0]["new"])
    result = CliRunner().invoke(check, [str(pages), "--set", f"MODEL={path}"])
    assert result.exit_code == 2
    assert "DEDUP_MODEL" in result.stderr
    assert said in result.stderr
    missing = CliRunner().invoke(check, [str(pages), "--set", f"MODEL={tmp_path / 'none.json'}"])
    assert (missing.exit_code, "No such file" in missing.stderr) == (2, True)
